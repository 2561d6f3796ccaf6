"""Parquet: a row is a page; a few rows are read at a time, in another process. Needs the extra `parquet`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from webwinnow.counted import counted
from webwinnow.errors import InputError, MissingExtra
from webwinnow.page.records import PageRecord
from webwinnow.run.readers import Reader, Source
from webwinnow.run.rows import RECORD_KEYS, ROW_FIELDS, ColumnNames, page_of_row
from webwinnow.run.unpacking import ReadLimits
from webwinnow.storage.parquetreader import ParquetReader

PARQUET_MAGIC: Final = b"PAR1"


class PageTable(Reader):
    """A Parquet file with one row per page."""

    kind, suffixes, magic, seeks = "Parquet", (".parquet", ".pq"), (PARQUET_MAGIC,), True

    def check(self, source: Source) -> None:
        """Raise `InputError` if the file is damaged or has no columns of pages."""
        _opened(source.file.name, source.name, source.columns)

    def count(self, path: Path) -> int | None:
        """The number of rows that a file claims to have."""
        try:
            return int(ParquetReader(path).row_count)
        except (InputError, MissingExtra):  # reported when it is read
            return None

    def pages(self, source: Source) -> Iterator[PageRecord]:
        """Read one page per row: `url`, `html` (text or bytes), and optionally `site`, `page_id` and so on.

        Row groups are read one after the other. If the file is damaged, crashes the Parquet library or unpacks as a
        decompression bomb, that is reported and reading ends.
        """
        columns, label, limits = source.columns, source.label, source.limits
        table = _opened(source.file.name, source.name, columns)
        fields = [columns.of(field) for field in ROW_FIELDS]
        wanted = dict.fromkeys(fields if label is None else [*fields, label])
        pages = 0
        try:
            for row in _rows(table, wanted, limits):
                yield page_of_row(row, where=f"row {pages}", limits=limits, label=label, columns=columns)
                pages += 1
        except InputError as error:
            source.on_problem(f"{source.name}: {error}, after {counted(pages, 'page')}")


READER = PageTable()


def parquet_columns(path: str, name: str) -> list[str]:
    """Return the names of a file's columns."""
    return _table(path, name).names


def read_parquet_rows(path: str, columns: Iterable[str], *, name: str, limits: ReadLimits) -> Iterator[dict[str, Any]]:
    """Read those of `columns` that the file has, a few rows at a time."""
    table = _table(path, name)
    try:
        yield from _rows(table, columns, limits)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _table(path: str, name: str) -> ParquetReader:
    try:
        return ParquetReader(path)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _opened(path: str, name: str, columns: ColumnNames) -> ParquetReader:
    table = _table(path, name)
    without_html = [column for column in table.names if column != columns.html]
    columns.check(without_html if _are_records(table, columns) else table.names, ("html", "url"), name)
    for column in (columns.html, columns.url):
        if table.names.count(column) != 1:
            raise InputError(f"{name}: has {table.names.count(column)} columns {column!r}; expected one")
    html = next(column for column in table.columns if column.name == columns.html)
    if not html.is_text and not html.is_bytes:
        raise InputError(f"{name}: column {columns.html!r} has the type {html.kind}; expected text or bytes")
    return table


def _are_records(table: ParquetReader, columns: ColumnNames) -> bool:
    """Whether a file has the columns of records, and nothing in that of the HTML, which `write_parquet` always has."""
    if not set(RECORD_KEYS) <= set(table.names) or table.names.count(columns.html) != 1 or not table.row_count:
        return False
    return all(row[0] is None for _, row in table.rows([columns.html]))


def _rows(table: ParquetReader, wanted: Iterable[str], limits: ReadLimits) -> Iterator[dict[str, Any]]:
    columns = [field for field in wanted if table.names.count(field) == 1]
    for _, row in table.rows(columns, max_ratio=limits.max_ratio, max_value_bytes=limits.max_line_bytes):
        yield dict(zip(columns, row, strict=True))
