"""A column of labels by page, from the rows that pages came in or from a file beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from webwinnow.errors import InputError
from webwinnow.io.jsonl import split_lines
from webwinnow.io.limits import ReadLimits
from webwinnow.io.parquet import parquet_columns, read_parquet_rows
from webwinnow.io.streams import UnpackedStream

__all__ = ["read_labels"]

_PARQUET = b"PAR1"


def read_labels(paths: Sequence[str | Path], column: str, limits: ReadLimits | None = None) -> dict[str, str]:
    """What a column says of each page, by the page's id and, where it has none, its URL; pages without a value are out.

    Files are Parquet or JSONL, packed or not. `InputError` where one is neither, or where no row has the column.
    """
    limits = limits or ReadLimits()
    found: dict[str, str] = {}
    for path in map(Path, paths):
        try:
            with path.open("rb") as file:
                for row in _rows(file, str(path), column, limits):
                    name, label = row.get("page_id") or row.get("url"), row.get(column)
                    if name is not None and isinstance(label, str | int | float) and label != "":
                        found[str(name)] = str(label)
        except OSError as error:
            raise InputError(f"{path}: cannot be read for labels ({error.strerror})") from error
    if not found:
        names = ", ".join(map(str, paths))
        raise InputError(f"{names}: no page with a {column!r}; expected Parquet or JSONL with page_id or url beside it")
    return found


def _rows(file: BinaryIO, name: str, column: str, limits: ReadLimits) -> Iterator[dict[str, Any]]:
    head = file.read(len(_PARQUET))
    file.seek(0)
    if head == _PARQUET:
        known = parquet_columns(file, name)
        columns = [field for field in dict.fromkeys(("page_id", "url", column)) if known.count(field) == 1]
        yield from read_parquet_rows(file, columns, name=name, limits=limits)
        return
    for line in split_lines(UnpackedStream(file, limits), limits.max_line_bytes):
        try:
            row = json.loads(line) if line else None
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row
