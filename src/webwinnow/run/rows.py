"""Rows: rows of JSONL and Parquet as pages, and JSON Lines."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Final

from webwinnow.errors import InputError, PageRefused
from webwinnow.page.records import PageRecord
from webwinnow.record.fields import FieldKind, Fields, page_fields
from webwinnow.run.unpacking import ReadLimits, media_type
from webwinnow.settings import Settings, setting
from webwinnow.storage.parquetreader import UnreadableValue

if TYPE_CHECKING:
    pass

# Rows as pages

TEXT_FIELDS: Final = ("url", "site", "page_id", "content_type", "fetched_at")
ROW_FIELDS: Final = (*TEXT_FIELDS, "html", "layout")
_PACKED: Final = b"PK"
"""What a packed layout begins with; another column of that name is ignored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNames(Settings):
    """The columns of JSONL and Parquet files that have the URL, the HTML and the id of a page."""

    url: Annotated[str, setting("Column of JSONL or Parquet files with the URL.", "--url-column")] = "url"
    html: Annotated[str, setting("Column of JSONL or Parquet files with the HTML.", "--html-column")] = "html"
    page_id: Annotated[str, setting("Column of JSONL or Parquet files with the page id.", "--id-column")] = "page_id"

    def of(self, field: str) -> str:
        """The column of a field in `ROW_FIELDS`."""
        return str(getattr(self, field, field))

    def check(self, found: Collection[str], wanted: Collection[str], name: str) -> None:
        """Raise `InputError` unless a file has the columns of the `wanted` fields, and those that were renamed."""
        renamed = [field for field in _OPTIONS if self.of(field) != field]
        missing = [field for field in dict.fromkeys((*wanted, *renamed)) if self.of(field) not in found]
        if missing:
            columns = " and no ".join(repr(self.of(field)) for field in missing)
            options = ", ".join(f"--{_OPTIONS[field]}-column" for field in missing)
            shown = ", ".join(list(found)[:MOST_COLUMNS_SHOWN]) or "none"
            hint = _RECORDS_HINT if set(RECORD_KEYS) <= set(found) and "html" in missing else ""
            raise InputError(
                f"{name}: has no column {columns}; the columns are: {shown}{hint} ({options} names another)"
            )


DEFAULT_COLUMNS: Final = ColumnNames()
RECORD_KEYS: Final = ("outcome", "text")
"""Names that a record of `clean` has and a page does not."""
MOST_COLUMNS_SHOWN: Final = 40
_OPTIONS: Final = {"url": "url", "html": "html", "page_id": "id"}
_RECORDS_HINT: Final = "; these are records of webwinnow clean, and the pages that they were made of are needed"


def page_of_row(
    row: Mapping[str, object],
    *,
    where: str,
    limits: ReadLimits,
    label: str | None = None,
    columns: ColumnNames = DEFAULT_COLUMNS,
) -> PageRecord:
    """Make a page of a row; it is refused if its `html` is missing or too long, or a value has the wrong type.

    `html` that came as text, not bytes, was decoded when the row was written. It is encoded again as UTF-8, and
    `content_type` says so, whatever charset the page or the row names. `label` names the column of the page's label.
    """
    html = row.get(columns.html)
    texts: dict[str, str | None] = {}
    refused = None
    for field in TEXT_FIELDS:
        try:
            texts[field] = _text(row.get(columns.of(field)), field)
        except PageRefused as refusal:
            texts[field], refused = None, f"{where}: {refusal}"
    body = b""
    if refused is None:
        try:
            body = _body(html, limits)
        except PageRefused as refusal:
            refused = f"{where}: {refusal}"
    layout = row.get("layout")
    content_type = texts["content_type"]
    if isinstance(html, str):
        content_type = f"{media_type(content_type) or 'text/html'}; charset=utf-8"
    return PageRecord(
        url=texts["url"] or "",
        body=body,
        content_type=content_type,
        fetched_at=texts["fetched_at"],
        site=texts["site"],
        page_id=texts["page_id"],
        refused=refused,
        label=None if label is None else text_of_value(row.get(label)),
        layout=layout if isinstance(layout, bytes) and layout.startswith(_PACKED) else None,
    )


def text_of_value(value: object) -> str | None:
    """Return a value as stripped text; None if that is empty, or if the value is neither text nor a number."""
    return (_text_or_none(value) or "").strip() or None


def well_typed(record: dict[str, Any], fields: Fields | None = None) -> dict[str, Any]:
    """Return a record whose texts and lists of texts are that: numbers become text, and what has no text is left out.

    Records are files that anybody may have edited; lone surrogates, which no output can contain, are replaced.
    """
    for field in fields or page_fields():
        value = record.get(field.name)
        if value is None:
            continue
        if field.kind is FieldKind.TEXT:
            record[field.name] = _text_or_none(value)
        elif field.kind is FieldKind.TEXTS:
            texts = map(_text_or_none, value if isinstance(value, list) else [value])
            record[field.name] = [text for text in texts if text is not None]
    return record


def _text_or_none(value: object) -> str | None:
    try:
        return _text(None if isinstance(value, float) and math.isnan(value) else value, "value")
    except PageRefused:
        return None


def _text(value: object, field: str) -> str | None:
    """Return a value as text; numbers and dates are converted."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8") if not value.isascii() else value  # lone surrogates
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise PageRefused(f"{field!r} is {_named(value)}, expected text or a number")


def _named(value: object) -> str:
    """What a value is, for messages."""
    return value.reason if isinstance(value, UnreadableValue) else f"a {type(value).__name__}"


def _body(html: object, limits: ReadLimits) -> bytes:
    if html is None:
        raise PageRefused("there is no 'html'")
    if isinstance(html, str):
        html = html.encode("utf-8", "replace")
    if not isinstance(html, bytes):
        raise PageRefused(f"'html' is {_named(html)}, expected text of up to {limits.max_page_bytes} bytes")
    if len(html) > limits.max_page_bytes:
        raise PageRefused(f"'html' has {len(html)} bytes, more than {limits.max_page_bytes}")
    return html
