"""Write records as Parquet. Needs the extra `parquet`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final

from webwinnow.errors import MissingExtra
from webwinnow.record.fields import Field, FieldKind, Fields, Record, ordered, page_fields
from webwinnow.run.unpacking import MB

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


def write_parquet(records: Iterable[Record], out: BinaryIO, fields: Fields | None = None) -> None:
    """Write records to an open file, packed with zstd, in row groups whose size depends on the records alone."""
    fields = fields or page_fields()
    pa, schema = needs_pyarrow(), arrow_schema(fields)
    packing: dict[str, Any] = {"compression": "zstd", "compression_level": ZSTD_LEVEL, "write_batch_size": BATCH_ROWS}
    with pa.parquet.ParquetWriter(out, schema, **packing) as writer:
        for group in _groups(records, fields):
            writer.write_table(pa.Table.from_pylist(group, schema=schema), row_group_size=len(group))


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
