"""The data between the stages of a run on a cluster, as Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from webwinnow.page.records import PageRecord
from webwinnow.record.fields import page_fields
from webwinnow.run.pagestore import SIGN, PageRow
from webwinnow.run.parquet import arrow_schema
from webwinnow.run.rows import ROW_FIELDS, page_of_row
from webwinnow.run.unpacking import ReadLimits
from webwinnow.storage.parquetreader import UnreadableValue

BATCH_PAGES: Final = 256
BATCH_BYTES: Final = 8_000_000
"""Pages in a batch, and bytes of their trees, except for one page that is larger."""


_TEXT, _BYTES, _NUMBER = pa.large_string(), pa.large_binary(), pa.int64()


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(columns)


PAGES: Final = _schema(
    ordinal=_NUMBER,
    url=_TEXT,
    html=_BYTES,
    site=_TEXT,
    page_id=_TEXT,
    content_type=_TEXT,
    fetched_at=_TEXT,
    layout=_BYTES,
)
"""Pages as they were fetched or rendered; all but `ordinal` may be null. Ordinals are unique and give the order."""
TREES: Final = _schema(
    site=_TEXT,
    ordinal=_NUMBER,
    url=_TEXT,
    page_id=_TEXT,
    fetched_at=_TEXT,
    key=_NUMBER,
    content=_TEXT,
    error=_TEXT,
    packed=_BYTES,
)
"""Parsed pages: a row of the index, and a packed `StoredPage`. `key` is stored less 2^63 (`SIGN`)."""
PARTED_TREES: Final = TREES.append(pa.field("part", _NUMBER))
"""Parsed pages with their part of the output."""
DONE: Final = _schema(number=_NUMBER, pages=_NUMBER)
"""The result of a task: its number, and its number of pages."""
MODELS: Final = _schema(
    site=_TEXT,
    is_update=pa.bool_(),
    error=_TEXT,
    model=_BYTES,
    sums=_BYTES,
    familiar=pa.float64(),
    redesigned=pa.bool_(),
)
"""The models of sites (`SiteModelBuilt`)."""
RECORDS: Final = arrow_schema(page_fields(), large=True)
"""What a run writes about each page."""

_SPARK_TYPES: Final = {
    pa.int64(): "bigint",
    pa.float64(): "double",
    _TEXT: "string",
    _BYTES: "binary",
    pa.list_(_TEXT): "array<string>",
}


def ddl(schema: pa.Schema | pa.StructType, between: str = " ") -> str:
    """A schema in Spark's notation, in which the names and types of a struct have a colon between them."""
    kinds = (
        f"struct<{ddl(field.type, ': ')}>" if pa.types.is_struct(field.type) else _SPARK_TYPES[field.type]
        for field in schema
    )
    return ", ".join(f"{field.name}{between}{kind}" for field, kind in zip(schema, kinds, strict=True))


def batch_of(schema: pa.Schema, rows: Iterable[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows as one batch."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    return pa.RecordBatch.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def values(batch: pa.RecordBatch | pa.Table, name: str) -> list[Any]:
    """A column of a batch in Python."""
    found: list[Any] = batch.column(name).to_pylist()
    return found


def pages_of(batches: Iterable[pa.RecordBatch], limits: ReadLimits) -> Iterator[PageRecord]:
    """The pages of batches with `html`, `ordinal` and maybe the other columns of `PAGES`."""
    for batch in batches:
        names: list[str] = [name for name in ("ordinal", *ROW_FIELDS) if name in batch.schema.names]
        columns = {name: batch.column(name) for name in names}
        for at in range(batch.num_rows):
            row = {name: _value(column[at]) for name, column in columns.items()}
            ordinal = row.pop("ordinal")
            yield replace(page_of_row(row, where=f"row {ordinal}", limits=limits), ordinal=ordinal)


def _value(scalar: Any) -> Any:
    """An Arrow value in Python; text that is not UTF-8 stays bytes."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return bytes(scalar.as_buffer())
    except (ValueError, OverflowError, ArithmeticError):  # a time that Python has no date for
        return UnreadableValue(f"a {scalar.type} out of range")


def tree_batches(rows: Iterable[tuple[PageRow, bytes | None]]) -> Iterator[pa.RecordBatch]:
    """Parsed pages as batches of bounded size."""
    waiting: list[tuple[Any, ...]] = []
    size = 0
    for row, packed in rows:
        about = (row.site, row.ordinal, row.url, row.page_id, row.fetched_at, row.key - SIGN, row.content, row.error)
        waiting.append((*about, packed))
        size += len(packed or b"")
        if len(waiting) >= BATCH_PAGES or size >= BATCH_BYTES:
            yield batch_of(TREES, waiting)
            waiting, size = [], 0
    if waiting:
        yield batch_of(TREES, waiting)


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[PageRow, bytes | None]]:
    """Read the batches of `tree_batches`; other columns are ignored."""
    for batch in batches:
        columns = [batch.column(name) for name in TREES.names]
        for at in range(batch.num_rows):
            site, ordinal, url, page_id, fetched_at, key, content, error, packed = (c[at].as_py() for c in columns)
            row = PageRow(ordinal, site, url, page_id, key + SIGN, content, error=error, fetched_at=fetched_at)
            yield row, packed


def tree_file(path: str) -> Iterator[pa.RecordBatch]:
    """The TREES of a Parquet file, batch by batch."""
    with pq.ParquetFile(path, pre_buffer=False) as table:
        for group in range(table.num_row_groups):
            yield from table.iter_batches(BATCH_PAGES, row_groups=[group], columns=TREES.names, use_threads=False)
