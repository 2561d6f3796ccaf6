"""Parquet and JSONL files with one row per page: pages with further columns, labels, and records of `clean`."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, Final

from webwinnow.errors import InputError, SettingsError
from webwinnow.lazy import lazy_property
from webwinnow.page.records import PageRecord
from webwinnow.record.fields import page_fields
from webwinnow.run.inputs import SPOOL_CHUNK, STDIN, PageFile
from webwinnow.run.reader_jsonl import BOM, read_jsonl_rows, split_lines
from webwinnow.run.reader_parquet import PARQUET_MAGIC, parquet_columns, read_parquet_rows
from webwinnow.run.readers import HEAD_BYTES, Reader, reader_by_name, reader_of
from webwinnow.run.rows import RECORD_KEYS, ROW_FIELDS, page_of_row, text_of_value, well_typed
from webwinnow.run.unpacking import ProblemListener, ReadLimits, UnpackedStream, ignore_problem

SAMPLED_LINES: Final = 1000
"""Lines of a JSONL file whose names are taken for its columns."""
MAX_NAMES_SHOWN: Final = 40
_PAGE_KEYS: Final = ("page_id", "url")
_EXPECTED: Final = "expected JSONL, Parquet, CSV or TSV with page_id or url, and label"


class TableFile:
    """A Parquet or JSONL file (packed or not). Each call of `values`, `pages` or `rows` reads it from the start."""

    def __init__(self, path: Path, limits: ReadLimits | None = None) -> None:
        self.path = path
        self.limits = limits or ReadLimits()
        with self._opened() as file:
            self.is_parquet = file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
            file.seek(0)
            if self.is_parquet:
                self.columns = parquet_columns(str(path), str(path))
            elif reader_of(UnpackedStream(file, self.limits).peek(HEAD_BYTES), str(path)).kind != "JSONL":
                raise InputError(f"{path}: expected Parquet or JSONL with one row per page")

    @lazy_property
    def columns(self) -> list[str]:
        """The names of the columns; for JSONL those of the first lines."""
        return list(dict.fromkeys(name for row in islice(self.rows((), ignore_problem), SAMPLED_LINES) for name in row))

    def check(self, columns: Sequence[str]) -> None:
        missing = [name for name in dict.fromkeys(columns) if self.columns.count(name) != 1]
        if missing:
            names = ", ".join(self.columns) or "none"
            raise InputError(f"{self.path}: has no column {', '.join(missing)}; the columns are: {names}")

    def check_pages(self) -> None:
        """Raise `InputError` if the rows are records of `clean` without HTML."""
        if set(RECORD_KEYS) <= set(self.columns):
            PageFile(str(self.path), "", str(self.path)).check(self.limits)

    def values(self, columns: Sequence[str], on_problem: ProblemListener) -> Iterator[tuple[str | None, ...]]:
        """Yield the values of some columns as text, row by row; None for missing, blank and other values."""
        for row in self.rows(columns, on_problem):
            yield tuple(text_of_value(row.get(name)) for name in columns)

    def pages(self, on_problem: ProblemListener) -> Iterator[PageRecord]:
        """Yield the pages, row by row, refused ones too: as many as `values` yields."""
        for number, row in enumerate(self.rows(ROW_FIELDS, on_problem)):
            yield page_of_row(row, where=f"row {number}", limits=self.limits)

    def rows(
        self, columns: Sequence[str], on_problem: ProblemListener, required: Sequence[str] = ()
    ) -> Iterator[dict[str, Any]]:
        """Yield some columns, row by row; a row of JSONL has its other values too, and must have the `required`."""
        with self._opened() as file:
            if self.is_parquet:
                found = [name for name in dict.fromkeys(columns) if self.columns.count(name) == 1]
                yield from read_parquet_rows(str(self.path), found, name=str(self.path), limits=self.limits)
            else:
                stream = UnpackedStream(file, self.limits)
                yield from read_jsonl_rows(
                    stream, name=str(self.path), limits=self.limits, on_problem=on_problem, required=required
                )

    def _opened(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror})") from error


# Records of `webwinnow clean`


@contextmanager
def spooled_tables(inputs: Sequence[str | Path], limits: ReadLimits | None = None) -> Iterator[list[str | Path]]:
    """The inputs, with JSONL or Parquet on standard input copied to a temporary file, which can be read twice.

    Whether the lines are records is known only after some were read. Pages of other formats are left on standard input.
    """
    if STDIN not in map(str, inputs) or not _stdin_is_table(limits or ReadLimits()):
        yield list(inputs)
        return
    most = (limits or ReadLimits()).max_spool_bytes
    with NamedTemporaryFile(prefix="standard-input-") as file:
        size = 0
        while chunk := sys.stdin.buffer.read(SPOOL_CHUNK):
            size += len(chunk)
            if size > most:
                raise InputError(f"standard input has more than {most} bytes; give it as a file, not a pipe")
            file.write(chunk)
        file.flush()
        yield [file.name if str(given) == STDIN else given for given in inputs]


def _stdin_is_table(limits: ReadLimits) -> bool:
    stdin = sys.stdin.buffer
    if not isinstance(stdin, io.BufferedReader):  # replaced by a caller; it cannot be looked into
        return False
    head = UnpackedStream(io.BytesIO(stdin.peek(HEAD_BYTES)), limits).peek(HEAD_BYTES)
    try:
        return _is_table(reader_of(head, STDIN))
    except InputError:  # reported when it is read
        return False


def _is_table(reader: Reader | None) -> bool:
    return reader is not None and reader.kind in ("JSONL", "Parquet")


def are_records(inputs: Sequence[str | Path], limits: ReadLimits | None = None) -> bool:
    """Whether the inputs are records rather than pages; `SettingsError` if some are and some are not."""
    return are_tables(inputs, RECORD_KEYS, "records of webwinnow clean", limits)


def are_tables(
    inputs: Sequence[str | Path], columns: Sequence[str], what: str, limits: ReadLimits | None = None
) -> bool:
    """Whether the inputs are tables with these columns (`what`) rather than pages; `SettingsError` if only some are."""
    found = [_has_columns(path, columns, limits) for path in table_files(inputs)]
    if any(found) and not all(found):
        raise SettingsError(f"some inputs are pages and some are {what}; expected one or the other")
    return any(found)


def _has_columns(path: Path, columns: Sequence[str], limits: ReadLimits | None) -> bool:
    if not path.is_file():
        return False
    try:
        table = TableFile(path, limits)
    except InputError:  # HTML, WARC and so on
        return False
    return set(columns) <= set(table.columns if table.is_parquet else next(table.rows((), ignore_problem), {}))


def table_files(inputs: Sequence[str | Path]) -> list[Path]:
    """The inputs, with the JSONL and Parquet files of a folder, such as an output in shards, in place of the folder."""
    found: list[Path] = []
    for path in map(Path, inputs):
        inside = sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else []
        tables = [file for file in inside if _is_table(reader_by_name(file.name))]
        found += tables or [path]
    return found


def read_records(
    inputs: Sequence[str | Path],
    *,
    on_problem: ProblemListener,
    limits: ReadLimits | None = None,
    columns: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """Read the records of all inputs in their order; lines that are not records are reported to `on_problem`.

    `columns` are further columns of Parquet to read.
    """
    for path in table_files(inputs):
        table = TableFile(path, limits)
        if table.is_parquet and not set(RECORD_KEYS) <= set(table.columns):
            raise InputError(f"{path}: contains no records; expected the output of webwinnow clean")
        rows = table.rows([*(field.name for field in page_fields()), *columns], on_problem, RECORD_KEYS)
        yield from map(well_typed, rows)


# Labels


def check_label_column(inputs: Sequence[str | Path], column: str, hint: str = "") -> None:
    """Raise `InputError` if no file has this column; the message lists the columns and the `hint`.

    Pipes and folders pass unchecked.
    """
    names: dict[str, None] = {}
    problems: list[str] = []
    for path in table_files(inputs):
        if not path.is_file():
            return
        try:
            names |= dict.fromkeys(TableFile(path).columns)
        except InputError as error:  # a file without columns, or a damaged one
            problems.append(str(error))
    if column not in names:
        shown = "; ".join([", ".join(islice(names, MAX_NAMES_SHOWN)) or "none", *problems])
        further = f"; {hint}" if hint else ""
        raise InputError(f"no column {column!r} in {', '.join(map(str, inputs))}; the columns are: {shown}{further}")


def read_labels(path: Path, limits: ReadLimits | None = None) -> dict[str, str]:
    """Read labels by page id or URL. CSV and TSV have a line of names, or two columns without one."""
    limits = limits or ReadLimits()
    try:
        with path.open("rb") as file:
            stream = UnpackedStream(file, limits)
            head = stream.peek(16)
            if not head.startswith(PARQUET_MAGIC) and not head.removeprefix(BOM).lstrip().startswith(b"{"):
                return _labels_of_csv(stream, limits, path)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read ({error}); {_EXPECTED}") from None
    table = TableFile(path, limits)
    _check_names(table.columns, path)
    return _by_page(table.values((*_PAGE_KEYS, "label"), ignore_problem))


def read_label_column(paths: Sequence[str | Path], column: str, limits: ReadLimits | None = None) -> dict[str, str]:
    """Read a column of Parquet or JSONL files of pages, by page id or, for pages without one, by URL.

    `InputError` if a file is neither, or if no row has the column.
    """
    found: dict[str, str] = {}
    for path in table_files(paths):
        for page_id, url, label in TableFile(path, limits).values((*_PAGE_KEYS, column), ignore_problem):
            page = page_id or url
            if page is not None and label is not None:
                found[page] = label
    if not found:
        names = ", ".join(map(str, paths))
        raise InputError(f"{names}: no page with a {column!r}; expected Parquet or JSONL with page_id or url beside it")
    return found


def _check_names(names: Sequence[str], path: Path) -> None:
    if "label" not in names or not any(name in names for name in _PAGE_KEYS):
        raise InputError(f"{path}: has no column label beside page_id or url; {_EXPECTED}")


def _by_page(rows: Iterable[tuple[str | None, ...]]) -> dict[str, str]:
    """Return labels by page id and by URL from rows of page id, URL and label."""
    found: dict[str, str] = {}
    for *pages, label in rows:
        if label is not None:
            found |= {page: label for page in pages if page is not None}
    return found


def _labels_of_csv(stream: UnpackedStream, limits: ReadLimits, path: Path) -> dict[str, str]:
    lines = (b"" if line is None else line for line in split_lines(stream, limits.max_line_bytes))
    text = io.StringIO(b"\n".join(lines).removeprefix(BOM).decode("utf-8"), newline="")
    head = text.readline()
    text.seek(0)
    rows = csv.reader(text, delimiter="\t" if "\t" in head else ",")
    first = next(rows, [])
    names = [name.strip() for name in first]
    if len(first) == 2 and "label" not in names:
        return _by_page((None, text_of_value(row[0]), text_of_value(row[1])) for row in (first, *rows) if len(row) == 2)
    _check_names(names, path)
    named = (dict(zip(names, row, strict=False)) for row in rows)
    return _by_page(tuple(text_of_value(row.get(name)) for name in (*_PAGE_KEYS, "label")) for row in named)
