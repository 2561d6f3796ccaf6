"""Records as CSV (RFC 4180), for spreadsheets and graph tools."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from webwinnow.io.jsonl import Writable
from webwinnow.io.schema import PAGE_FIELDS, Fields, Record, ordered

__all__ = ["write_csv"]

_RISKY = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for a formula at the start of a cell."""


def write_csv(records: Iterable[Record], out: Writable, fields: Fields = PAGE_FIELDS) -> None:
    """Write a line of names, then one record a line; nothing for null, lists as JSON.

    Text that a spreadsheet would run as a formula gets an apostrophe in front: pages are written by strangers.
    """
    held = io.StringIO()
    writer = csv.writer(held, lineterminator="\r\n")
    writer.writerow([field.name for field in fields])
    for record in records:
        row = ordered(record, fields)
        writer.writerow([_cell(row.get(field.name)) for field in fields])
        _flush(held, out)
    _flush(held, out)


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_RISKY) else value
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def _flush(held: io.StringIO, out: Writable) -> None:
    out.write(held.getvalue().encode("utf-8", "replace"))
    held.seek(0)
    held.truncate()
