"""Parquet: read pages and rows, write records, a few rows at a time. Needs the extra `parquet`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, BinaryIO, Final

from webwinnow.errors import InputError, MissingExtra
from webwinnow.io.rows import PAGE_FIELDS, ROW_FIELDS, FieldKind, Fields, Record, ordered, page_of_row
from webwinnow.io.unpacking import MB, ProblemListener, ReadLimits
from webwinnow.records import PageRecord

PARQUET_MAGIC: Final = b"PAR1"
BATCH_ROWS: Final = 16  # pages in memory at once while reading
READ_BUFFER: Final = MB  # per column, instead of the whole column of a row group
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


def check_parquet(file: IO[bytes], name: str) -> None:
    """Raise `InputError` if `file` is damaged or has no column of pages."""
    _opened(file, name)


def read_parquet(
    file: IO[bytes], *, name: str, limits: ReadLimits, on_problem: ProblemListener, label: str | None = None
) -> Iterator[PageRecord]:
    """Read one page per row: `html` (text or bytes), and optionally `url`, `site`, `page_id` and so on.

    `label` names the column that labels pages. Row groups are read one after the other. If the file is damaged, or a
    row group declares sizes of a decompression bomb, that is reported to `on_problem` and reading ends.
    """
    table = _opened(file, name)
    pages = 0
    problem = None
    try:
        names = table.schema_arrow.names
        wanted = ROW_FIELDS if label is None else dict.fromkeys((*ROW_FIELDS, label))
        for row in _rows(table, limits, [field for field in wanted if names.count(field) == 1]):
            yield page_of_row(row, where=f"row {pages}", limits=limits, label=label)
            pages += 1
    except InputError as error:
        problem = str(error)
    except (OSError, ValueError, NotImplementedError) as error:  # raised by pyarrow for damaged data
        problem = f"cannot be read on ({_first_line(error)})"
    if problem:
        on_problem(f"{name}: {problem}, after {pages} pages")


def parquet_columns(file: IO[bytes], name: str) -> list[str]:
    """Return the names of a file's columns."""
    return list(_table(file, name).schema_arrow.names)


def read_parquet_rows(
    file: IO[bytes], columns: Sequence[str], *, name: str, limits: ReadLimits
) -> Iterator[dict[str, Any]]:
    """Read those of `columns` that the file has, a few rows at a time."""
    table = _table(file, name)
    names = table.schema_arrow.names
    try:
        yield from _rows(table, limits, [column for column in columns if names.count(column) == 1])
    except (OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"{name}: cannot be read on ({_first_line(error)})") from error


def write_parquet(records: Iterable[Record], out: BinaryIO, fields: Fields = PAGE_FIELDS) -> None:
    """Write records to an open file, packed with zstd, in row groups whose size depends on the records alone."""
    pa, schema = needs_pyarrow(), _schema(fields)
    packing: dict[str, Any] = {"compression": "zstd", "compression_level": ZSTD_LEVEL, "write_batch_size": BATCH_ROWS}
    with pa.parquet.ParquetWriter(out, schema, **packing) as writer:
        for group in _groups(records, fields):
            writer.write_table(pa.Table.from_pylist(group, schema=schema), row_group_size=len(group))


def _table(file: IO[bytes], name: str) -> Any:
    file.seek(0)
    try:
        return needs_pyarrow().parquet.ParquetFile(file, buffer_size=READ_BUFFER, pre_buffer=False)
    except (OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"{name}: is a damaged Parquet file ({_first_line(error)})") from error


def _opened(file: IO[bytes], name: str) -> Any:
    table = _table(file, name)
    found = table.schema_arrow.names
    if found.count("html") != 1:
        raise InputError(
            f"{name}: has {found.count('html') or 'no'} column 'html'; expected one 'html' and one 'url', and maybe "
            f"{', '.join(ROW_FIELDS[2:])}; found {', '.join(found) or 'no columns'}"
        )
    kind = table.schema_arrow.field("html").type
    if not _holds_text(kind):
        raise InputError(f"{name}: column 'html' has the type {kind}; expected text or bytes")
    return table


def _holds_text(kind: Any) -> bool:
    pa = needs_pyarrow()
    if pa.types.is_dictionary(kind):
        return _holds_text(kind.value_type)
    texts = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())
    return kind in texts or bool(pa.types.is_fixed_size_binary(kind))


def _rows(table: Any, limits: ReadLimits, columns: list[str]) -> Iterator[dict[str, Any]]:
    for group in range(table.num_row_groups):
        _refuse_bomb(table, group, limits)
        for batch in table.iter_batches(BATCH_ROWS, row_groups=[group], columns=columns, use_threads=False):
            held = {field: batch.column(field) for field in columns}
            for at in range(batch.num_rows):
                yield {field: _value(column[at]) for field, column in held.items()}


def _value(scalar: Any) -> object:
    """Convert an Arrow value; text that is not UTF-8 becomes bytes."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return bytes(scalar.as_buffer())


def _refuse_bomb(table: Any, group: int, limits: ReadLimits) -> None:
    """Raise `InputError` if a column of a row group claims to unpack beyond the ratio limit."""
    columns = table.metadata.row_group(group)
    for at in range(columns.num_columns):
        column = columns.column(at)
        packed, size = column.total_compressed_size, column.total_uncompressed_size
        if limits.ratio_floor < size > limits.max_ratio * packed:
            raise InputError(f"row group {group} unpacks to more than {limits.max_ratio} times its size")


def _schema(fields: Fields) -> Any:
    pa = needs_pyarrow()
    kinds = {
        FieldKind.TEXT: pa.string(),
        FieldKind.TEXTS: pa.list_(pa.string()),
        FieldKind.INTEGER: pa.int64(),
        FieldKind.NUMBER: pa.float64(),
        FieldKind.FLAG: pa.bool_(),
    }
    return pa.schema([pa.field(field.name, kinds[field.kind]) for field in fields])


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


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
