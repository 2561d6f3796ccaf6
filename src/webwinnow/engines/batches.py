"""What passes between the stages of a run on a cluster, as Arrow record batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from webwinnow.collection.pagestore import SIGN, PageRow
from webwinnow.io.rows import ROW_FIELDS, page_of_row
from webwinnow.io.unpacking import ReadLimits
from webwinnow.records import PageRecord

BATCH_PAGES: Final = 256
BATCH_BYTES: Final = 8_000_000
"""Pages in a batch, and bytes of their trees, at most, but for one page that is larger."""


def _schema(columns: dict[str, pa.DataType]) -> pa.Schema:
    return pa.schema(columns)


PAGES: Final[pa.Schema] = _schema(
    {
        "ordinal": pa.int64(),
        "url": pa.large_string(),
        "html": pa.large_binary(),
        "site": pa.large_string(),
        "page_id": pa.large_string(),
        "content_type": pa.large_string(),
        "fetched_at": pa.large_string(),
    }
)
"""Pages as they were fetched; all but `ordinal` may be null. Ordinals are all different and give the order."""
TREES: Final[pa.Schema] = _schema(
    {
        "site": pa.large_string(),
        "ordinal": pa.int64(),
        "url": pa.large_string(),
        "page_id": pa.large_string(),
        "fetched_at": pa.large_string(),
        "key": pa.int64(),
        "content": pa.large_string(),
        "error": pa.large_string(),
        "packed": pa.large_binary(),
    }
)
"""Parsed pages: a row of the run's index, and what its spool keeps. `key` is less 2^63, since Spark has no unsigned."""
PARTED_TREES: Final = TREES.append(pa.field("part", pa.int64()))
"""Parsed pages with the part of the output that they belong to."""
DONE: Final = pa.schema([("number", pa.int64()), ("pages", pa.int64())])
"""What a task tells: which number it has done, and how many pages that were."""
MODELS: Final[pa.Schema] = _schema(
    {
        "site": pa.large_string(),
        "is_update": pa.bool_(),
        "error": pa.large_string(),
        "model": pa.large_binary(),
        "sums": pa.large_binary(),
        "familiar": pa.float64(),
        "redesigned": pa.bool_(),
    }
)
"""The models of sites (`SiteModelBuilt`)."""


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
    """The pages of batches that have an `html`, an `ordinal` and maybe the other columns of `PAGES`."""
    for batch in batches:
        names: list[str] = [name for name in ("ordinal", *ROW_FIELDS) if name in batch.schema.names]
        held = {name: batch.column(name) for name in names}
        for at in range(batch.num_rows):
            row = {name: _value(column[at]) for name, column in held.items()}
            ordinal = row.pop("ordinal")
            yield replace(page_of_row(row, where=f"row {ordinal}", limits=limits), ordinal=ordinal)


def _value(scalar: Any) -> Any:
    """Take a value out of Arrow; text that is no UTF-8 stays bytes."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return bytes(scalar.as_buffer())


def tree_batches(rows: Iterable[tuple[PageRow, bytes | None]]) -> Iterator[pa.RecordBatch]:
    """Parsed pages as batches of bounded size."""
    held: list[tuple[Any, ...]] = []
    size = 0
    for row, packed in rows:
        about = (row.site, row.ordinal, row.url, row.page_id, row.fetched_at, row.key - SIGN, row.content, row.error)
        held.append((*about, packed))
        size += len(packed or b"")
        if len(held) >= BATCH_PAGES or size >= BATCH_BYTES:
            yield batch_of(TREES, held)
            held, size = [], 0
    if held:
        yield batch_of(TREES, held)


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[PageRow, bytes | None]]:
    """Read what `tree_batches` made; other columns are passed over."""
    for batch in batches:
        columns = [batch.column(name) for name in TREES.names]
        for at in range(batch.num_rows):
            site, ordinal, url, page_id, fetched_at, key, content, error, packed = (c[at].as_py() for c in columns)
            row = PageRow(ordinal, site, url, page_id, key + SIGN, content, error=error, fetched_at=fetched_at)
            yield row, packed


def tree_file(path: str) -> Iterator[pa.RecordBatch]:
    """The TREES of a Parquet file, a batch at a time."""
    with pq.ParquetFile(path, pre_buffer=False) as table:
        for group in range(table.num_row_groups):
            yield from table.iter_batches(BATCH_PAGES, row_groups=[group], columns=TREES.names, use_threads=False)
