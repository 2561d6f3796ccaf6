"""Write records to files, folders and standard output; an output appears complete or not at all."""

from __future__ import annotations

import errno
import gzip
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, TypeVar, get_args

import zstandard

from webwinnow.errors import SettingsError
from webwinnow.plugins import meant
from webwinnow.record.fields import Fields, Record, record_line
from webwinnow.run.formats import (
    write_csv,
    write_dublin_core,
    write_edges,
    write_graphml,
    write_html_files,
    write_markdown_files,
)
from webwinnow.run.parquet import needs_pyarrow, write_parquet
from webwinnow.storage.atomic import atomic_file, atomic_folder

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

OutputFormat = Literal["jsonl", "parquet", "csv", "markdown", "html", "dublin-core", "graphml", "edges"]

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
    ".graphml": "graphml",
    ".edges": "edges",
}
"""Formats by file name; .gz or .zst may follow except for Parquet, which has its own compression."""
PACKINGS: Final = (".gz", ".zst")
_FILE_SUFFIXES: Final = {name: f".{name}" for name in FORMATS} | {"dublin-core": ".xml"}
_SUFFIX: Final = re.compile(r"\.[a-z]\w*")  # `clean.2026-11` has none
_FOLDER_WRITERS: Final = {"markdown": write_markdown_files, "html": write_html_files}
LINK_FORMATS: Final = frozenset({"graphml", "edges"})
"""Formats of links, which have a source and a target; `webwinnow links` writes them."""
PAGE_FORMATS: Final = frozenset({"markdown", "html", "dublin-core"})
"""Formats of pages; the others are for any record."""


def output_format(out: str | Path, wanted: str | None = None, *, links: bool = False) -> OutputFormat:
    """Return the format of an output: `wanted`, or by the output's name; JSONL if the name has no suffix.

    An error names the formats of `links` or those of pages.
    """
    others = PAGE_FORMATS if links else LINK_FORMATS
    if wanted is None:
        return _format_by_name(out, [suffix for suffix, known in SUFFIXES.items() if known not in others])
    for known in FORMATS:
        if wanted.lower() == known:
            return known
    formats = [name for name in FORMATS if name not in others]
    formats = [name for name in FORMATS if name not in others]
    raise SettingsError(f"there is no format {wanted!r}; {meant(wanted, formats)}")


def _format_by_name(out: str | Path, expected: list[str]) -> OutputFormat:
    path = Path(str(out).lower())
    is_packed = path.suffix in (".gz", ".zst")
    suffix = path.with_suffix("").suffix if is_packed else path.suffix
    if _SUFFIX.fullmatch(suffix) is None:
        return "jsonl"
    known = SUFFIXES.get(suffix)
    if known is None or (is_packed and known == "parquet"):
        shown = suffix + path.suffix * is_packed
        raise SettingsError(
            f"{out}: the suffix {shown} is not a known format; give --format, or a name in {', '.join(expected)}"
        )
    return known


def check_apart(inputs: Iterable[str | Path], *outputs: str | Path | None) -> None:
    """Raise `SettingsError` if an output would replace an input or another output.

    Pipes, devices and folders pass, and so does a file inside an input folder.
    """
    read = {Path(os.path.realpath(given)) for given in inputs if Path(given).is_file()}
    written: set[Path] = set()
    if sum(str(out) == STDOUT for out in outputs) > 1:
        raise SettingsError("- (standard output) is given for two outputs; give one of them a file")
    for out in outputs:
        if out is None or str(out) == STDOUT:
            continue
        path = Path(os.path.realpath(out))
        if path in read:
            raise SettingsError(f"{out}: is an input, which the output would replace; give another name")
        if path in written:
            raise SettingsError(f"{out}: is named for two outputs, of which one would replace the other")
        if path.is_file() or not path.exists():
            written.add(path)


def check_name(out: str | Path) -> None:
    """Raise `SettingsError` if an output cannot have this name: a loop of links, or bytes that are not UTF-8.

    The files of an index or a crawl contain names, and UTF-8 is what they are written in.
    """
    try:
        str(out).encode()
    except UnicodeEncodeError:
        raise SettingsError(f"{str(out)!r}: the name is not UTF-8; give the output another name") from None
    _check_no_loop(out)


def _check_no_loop(out: str | Path) -> None:
    try:
        os.stat(out)  # noqa: PTH116 (a name that is not UTF-8 stays as it is)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SettingsError(f"{out}: cannot be written (it is a loop of links); give another name") from None


def check_writable(out: str | Path) -> None:
    """Raise `SettingsError` if no file or folder could be made at `out`, or where it links to."""
    path = Path(out)
    if path.is_symlink():
        path = Path(os.path.realpath(path))
    parent = path.absolute().parent
    file = next((above for above in path.parents if above.exists() and not above.is_dir()), None)
    if file is not None:
        raise SettingsError(f"{out}: {file} is a file, not a folder; give another name")
    if not parent.is_dir():
        raise SettingsError(f"{out}: the folder {path.parent} does not exist; make it first")
    if path.exists() and not path.is_file() and not path.is_dir():  # a pipe or a device
        parent = path
    if not os.access(parent, os.W_OK):
        raise SettingsError(f"{out}: {'it' if parent == path else path.parent} cannot be written; give another name")


def check_folder(out: str | Path) -> None:
    """Raise `SettingsError` if no folder could be made at `out`, with those that it is in, or nothing written in it."""
    path = Path(out)
    there = next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
    if not there.is_dir():
        shown = out if there == path.absolute() else there
        raise SettingsError(f"{out}: {'is' if shown == out else f'{shown} is'} a file; expected a folder")
    if not os.access(there, os.W_OK):
        raise SettingsError(f"{out}: {there} cannot be written; give another name")


def check_output(out: str | Path, format: OutputFormat, *, shards: bool = False, again: bool = False) -> None:
    """Raise `SettingsError` or `MissingExtra` if `write_output` could not write: to know before the work is done.

    `again`: a folder may have files, if they are those that are to be written.
    """
    if format == "parquet":
        needs_pyarrow()
    if shards and format in _FOLDER_WRITERS:
        raise SettingsError(f"{format} makes one file per page, which cannot be put into shards")
    makes = "an output in shards" if shards else format
    if str(out) == STDOUT:
        if shards or format in _FOLDER_WRITERS:
            raise SettingsError(f"{makes} makes a folder of files; give one with -o, not -")
        return
    path = Path(out)
    _check_no_loop(path)
    check_writable(path)
    if not shards and format not in _FOLDER_WRITERS:
        if path.is_dir():
            raise SettingsError(f"{out}: is a folder; {format} makes a file")
    elif path.exists() and not path.is_dir():
        raise SettingsError(f"{out}: is a file; {makes} makes a folder")
    elif path.is_dir() and any(path.iterdir()) and not again:
        raise SettingsError(f"{out}: is a folder with files in it; {makes} makes a new folder")


def write_output(
    records: Iterable[Record],
    out: str | Path,
    format: OutputFormat,
    *,
    fields: Fields | None = None,
    shard_size: int | None = None,
    again: bool = False,
) -> None:
    """Write records as they come to a file, a folder (`markdown`, `html`) or standard output ("-").

    JSONL, CSV and Dublin Core are packed if the name ends in .gz or .zst. The same records give the same bytes. A file
    or folder is written under a temporary name beside its destination and renamed when it is complete (a file also:
    synced to disk). On any error, a full disk or Ctrl-C, it is removed and whatever was at `out` before is unchanged.
    The caller handles `OSError`.

    With `shard_size` the output is a folder with files of that many records: `part-00000.parquet` and so on.
    """
    check_output(out, format, shards=shard_size is not None, again=again)
    if shard_size is not None:
        for shard, path in _shards(records, Path(out), format, shard_size):
            _write_file(shard, path, format, fields)
    elif format in _FOLDER_WRITERS:
        with atomic_folder(Path(out)) as folder:
            _FOLDER_WRITERS[format](records, folder, fields)
    else:
        _write_file(records, out, format, fields)


def _write_file(records: Iterable[Record], out: str | Path, format: OutputFormat, fields: Fields | None) -> None:
    with opened_output(out) as file:
        if format == "parquet":
            write_parquet(records, file, fields)
        else:
            with _packed(file, str(out)) as packed:
                _TEXT_WRITERS[format](records, packed, fields)


def write_lines(lines: Iterable[bytes], out: str | Path, *, shard_size: int | None = None, again: bool = False) -> None:
    """Write finished lines of JSONL to a file, a folder of shards or standard output, as `write_output` does."""
    check_output(out, "jsonl", shards=shard_size is not None, again=again)
    files = [(lines, out)] if shard_size is None else _shards(lines, Path(out), "jsonl", shard_size)
    for shard, path in files:
        with opened_output(path) as file, _packed(file, str(path)) as packed:
            for line in shard:
                packed.write(line)


def write_jsonl(records: Iterable[Record], out: SupportsWrite[bytes], fields: Fields | None = None) -> None:
    """Write one record per line to an open file."""
    for record in records:
        out.write(record_line(record, fields))


_TEXT_WRITERS: Final[dict[str, Callable[[Iterable[Record], Any, Fields | None], None]]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "dublin-core": write_dublin_core,
    "graphml": write_graphml,
    "edges": write_edges,
}


_Item = TypeVar("_Item")


def _shards(
    items: Iterable[_Item], folder: Path, format: OutputFormat, size: int
) -> Iterator[tuple[Iterator[_Item], Path]]:
    """Items in groups of `size`, each with the file to write it to; the folder appears when all are written.

    Without items there is one empty file. Files are packed as the folder's name says.
    """
    packing = next((suffix for suffix in PACKINGS if folder.name.lower().endswith(suffix)), "")
    suffix = f"{_FILE_SUFFIXES[format]}{'' if format == 'parquet' else packing}"
    rest = iter(items)
    with atomic_folder(folder) as made:
        for number in count():
            first = list(islice(rest, 1))
            if number and not first:
                return
            yield chain(first, islice(rest, size - 1)), made / f"part-{number:05}{suffix}"


def write_bytes(out: str | Path, data: bytes) -> None:
    """Write a whole file, or standard output ("-")."""
    with opened_output(out) as file:
        file.write(data)


@contextmanager
def opened_output(out: str | Path) -> Iterator[BinaryIO]:
    """A file that appears when it is complete, a pipe or device, or standard output ("-")."""
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
