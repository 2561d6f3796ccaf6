"""Parquet: read pages and rows, write records, a few rows at a time. Needs the extra `parquet`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final

from webwinnow.counted import counted
from webwinnow.errors import InputError, MissingExtra
from webwinnow.page.records import PageRecord
from webwinnow.record.fields import Field, FieldKind, Fields, Record, ordered, page_fields
from webwinnow.run.rows import DEFAULT_COLUMNS, RECORD_KEYS, ROW_FIELDS, ColumnNames, page_of_row
from webwinnow.run.unpacking import MB, ProblemListener, ReadLimits
from webwinnow.storage.parquetreader import ParquetReader

PARQUET_MAGIC: Final = b"PAR1"
BATCH_ROWS: Final = 16  # rows of a data page
GROUP_ROWS: Final = 1000  # rows and bytes of text after which a row group is written
GROUP_BYTES: Final = 32 * MB
ZSTD_LEVEL: Final = 3


def needs_pyarrow() -> Any:
    """Import and return pyarrow; `MissingExtra` if it is not installed."""
    try:
        import pyarrow.parquet  # noqa: PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra("Parquet", "parquet") from error
    return pyarrow


def check_parquet(path: str, name: str, columns: ColumnNames = DEFAULT_COLUMNS) -> None:
    """Raise `InputError` if the file is damaged or has no columns of pages."""
    _opened(path, name, columns)


def count_rows(path: str) -> int | None:
    """The number of rows that a Parquet file claims to have; None for any other file."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 (a name that is not UTF-8 stays as it is)
            if file.read(len(PARQUET_MAGIC)) != PARQUET_MAGIC:
                return None
        return int(ParquetReader(path).row_count)
    except (OSError, InputError, MissingExtra):  # reported when it is read
        return None


def read_parquet(
    path: str,
    *,
    name: str,
    limits: ReadLimits,
    on_problem: ProblemListener,
    label: str | None = None,
    columns: ColumnNames = DEFAULT_COLUMNS,
) -> Iterator[PageRecord]:
    """Read one page per row: `url`, `html` (text or bytes), and optionally `site`, `page_id` and so on.

    `label` names the column that labels pages, `columns` those with other names. Row groups are read one after the
    other, in another process (`ParquetReader`). If the file is damaged, crashes the Parquet library or unpacks as a
    decompression bomb, that is reported to `on_problem` and reading ends.
    """
    table = _opened(path, name, columns)
    fields = [columns.of(field) for field in ROW_FIELDS]
    wanted = dict.fromkeys(fields if label is None else [*fields, label])
    pages = 0
    try:
        for row in _rows(table, wanted, limits):
            yield page_of_row(row, where=f"row {pages}", limits=limits, label=label, columns=columns)
            pages += 1
    except InputError as error:
        on_problem(f"{name}: {error}, after {counted(pages, 'page')}")


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


def write_parquet(records: Iterable[Record], out: BinaryIO, fields: Fields | None = None) -> None:
    """Write records to an open file, packed with zstd, in row groups whose size depends on the records alone."""
    fields = fields or page_fields()
    pa, schema = needs_pyarrow(), arrow_schema(fields)
    packing: dict[str, Any] = {"compression": "zstd", "compression_level": ZSTD_LEVEL, "write_batch_size": BATCH_ROWS}
    with pa.parquet.ParquetWriter(out, schema, **packing) as writer:
        for group in _groups(records, fields):
            writer.write_table(pa.Table.from_pylist(group, schema=schema), row_group_size=len(group))


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


def arrow_schema(fields: Fields, *, large: bool = False) -> Any:
    """The columns of records in Arrow. `large`: texts have 64-bit offsets, so a batch may have more than 2 GB."""
    pa = needs_pyarrow()
    text = pa.large_string() if large else pa.string()
    kinds = {
        FieldKind.TEXT: text,
        FieldKind.TEXTS: pa.list_(text),
        FieldKind.INTEGER: pa.int64(),
        FieldKind.NUMBER: pa.float64(),
        FieldKind.FLAG: pa.bool_(),
    }

    def kind_of(field: Field) -> Any:
        if field.kind is FieldKind.NUMBERS:
            return pa.struct([(name, pa.float64()) for name in field.values])
        return kinds[field.kind]

    return pa.schema([(field.name, kind_of(field)) for field in fields])


def _groups(records: Iterable[Record], fields: Fields) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    size = 0
    for record in records:
        group.append(ordered(record, fields))
        size += sum(len(value) for value in record.values() if isinstance(value, str))
        if len(group) >= GROUP_ROWS or size >= GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
