"""Write records to files, folders and standard output; an output appears complete or not at all."""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, get_args

import zstandard

from webwinnow.errors import SettingsError
from webwinnow.io.formats import write_csv, write_dublin_core, write_html_files, write_markdown_files
from webwinnow.io.parquet import needs_pyarrow, write_parquet
from webwinnow.io.rows import PAGE_FIELDS, Fields, Record, write_jsonl
from webwinnow.storage import atomic_file, atomic_folder

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

OutputFormat = Literal["jsonl", "parquet", "csv", "markdown", "html", "dublin-core"]

FORMATS: Final[tuple[OutputFormat, ...]] = get_args(OutputFormat)
STDOUT: Final = "-"
GZIP_LEVEL: Final = 6
ZSTD_LEVEL: Final = 9
SUFFIXES: Final[dict[str, OutputFormat]] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""Formats by file name; .gz or .zst may follow except for Parquet, which has its own compression."""
_SUFFIX: Final = re.compile(r"\.[a-z]\w*")  # `clean.2026-11` has none
_FOLDER_WRITERS: Final = {"markdown": write_markdown_files, "html": write_html_files}
_TEXT_WRITERS: Final[dict[str, Callable[[Iterable[Record], Any, Fields], None]]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "dublin-core": write_dublin_core,
}


def output_format(out: str | Path, wanted: str | None = None) -> OutputFormat:
    """Return the format of an output: `wanted`, or by the output's name; JSONL if the name has no suffix."""
    if wanted is None:
        return _format_by_name(out)
    for known in FORMATS:
        if wanted.lower() == known:
            return known
    raise SettingsError(f"no format {wanted!r}; expected {', '.join(FORMATS)}")


def _format_by_name(out: str | Path) -> OutputFormat:
    path = Path(str(out).lower())
    is_packed = path.suffix in (".gz", ".zst")
    suffix = path.with_suffix("").suffix if is_packed else path.suffix
    if _SUFFIX.fullmatch(suffix) is None:
        return "jsonl"
    known = SUFFIXES.get(suffix)
    if known is None or (is_packed and known == "parquet"):
        shown = suffix + path.suffix * is_packed
        raise SettingsError(
            f"{out}: the suffix {shown} is not a known format; give --format, or a name in {', '.join(SUFFIXES)}"
        )
    return known


def check_apart(inputs: Iterable[str | Path], *outputs: str | Path | None) -> None:
    """Raise `SettingsError` if an output would replace an input or another output.

    Pipes, devices and folders pass, and so does a file inside an input folder.
    """
    read = {Path(given).resolve() for given in inputs if Path(given).is_file()}
    written: set[Path] = set()
    for out in outputs:
        if out is None or str(out) == STDOUT:
            continue
        path = Path(out).resolve()
        if path in read:
            raise SettingsError(f"{out}: is an input, which the output would replace; give another name")
        if path in written:
            raise SettingsError(f"{out}: is named for two outputs, of which one would replace the other")
        if path.is_file() or not path.exists():
            written.add(path)


def check_output(out: str | Path, format: OutputFormat) -> None:
    """Raise `SettingsError` or `MissingExtra` if `write_output` could not write: to know before the work is done."""
    if format == "parquet":
        needs_pyarrow()
    if str(out) == STDOUT:
        if format in _FOLDER_WRITERS:
            raise SettingsError(f"{format} makes a folder of files; give one with -o, not -")
        return
    path = Path(out)
    if not path.absolute().parent.is_dir():
        raise SettingsError(f"{out}: the folder {path.parent} does not exist; make it first")
    if format not in _FOLDER_WRITERS:
        if path.is_dir():
            raise SettingsError(f"{out}: is a folder; {format} makes a file")
    elif path.exists() and not path.is_dir():
        raise SettingsError(f"{out}: is a file; {format} makes a folder")
    elif path.is_dir() and any(path.iterdir()):
        raise SettingsError(f"{out}: is a folder with files in it; {format} makes a new folder")


def write_output(
    records: Iterable[Record], out: str | Path, format: OutputFormat, *, fields: Fields = PAGE_FIELDS
) -> None:
    """Write records as they come to a file, a folder (`markdown`, `html`) or standard output ("-").

    JSONL, CSV and Dublin Core are packed if the name ends in .gz or .zst. The same records give the same bytes. A file
    or folder is written under a temporary name beside its destination and renamed when it is complete (a file also:
    synced to disk). On any error, a full disk or Ctrl-C, it is removed and whatever was at `out` before is unchanged.
    The caller handles `OSError`.
    """
    check_output(out, format)
    if format in _FOLDER_WRITERS:
        with atomic_folder(Path(out)) as folder:
            _FOLDER_WRITERS[format](records, folder, fields)
    else:
        with _opened(out) as file:
            if format == "parquet":
                write_parquet(records, file, fields)
            else:
                with _packed(file, str(out)) as packed:
                    _TEXT_WRITERS[format](records, packed, fields)


def write_lines(lines: Iterable[bytes], out: str | Path) -> None:
    """Write finished lines of JSONL to a file or standard output, with the guarantees of `write_output`."""
    check_output(out, "jsonl")
    with _opened(out) as file, _packed(file, str(out)) as packed:
        for line in lines:
            packed.write(line)


@contextmanager
def _opened(out: str | Path) -> Iterator[BinaryIO]:
    path = Path(out)
    if str(out) == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif path.exists() and not path.is_file():  # a pipe or /dev/null: nothing to replace
        with path.open("wb") as file:
            yield file
    else:
        with atomic_file(path) as file:
            yield file


@contextmanager
def _packed(file: BinaryIO, name: str) -> Iterator[SupportsWrite[bytes]]:
    """Pack what is written to `file` as its name says; the bytes do not depend on date or machine."""
    if name.lower().endswith(".gz"):
        with gzip.GzipFile(filename="", mode="wb", compresslevel=GZIP_LEVEL, fileobj=file, mtime=0) as packed:
            yield packed
    elif name.lower().endswith(".zst"):
        packer = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True)
        with packer.stream_writer(file, closefd=False) as packed:
            yield packed
    else:
        yield file
