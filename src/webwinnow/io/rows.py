"""A row of named values, from JSONL or Parquet, as a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from typing import Final

from webwinnow.errors import PageRefused
from webwinnow.io.httpbody import media_type
from webwinnow.io.unpacking import ReadLimits
from webwinnow.records import PageRecord

ROW_FIELDS: Final = ("url", "html", "site", "page_id", "content_type", "fetched_at")


def page_of_row(row: Mapping[str, object], *, where: str, limits: ReadLimits, label: str | None = None) -> PageRecord:
    """Make a page of a row; it is refused if its `html` is missing or too long, or a value has the wrong type.

    `html` that came as text, not bytes, was decoded when the row was written. It is encoded again as UTF-8, and
    `content_type` says so, whatever charset the page or the row names. `label` names the column of the page's label.
    """
    texts: dict[str, str | None] = {}
    refused = None
    for field in ROW_FIELDS:
        if field != "html":
            try:
                texts[field] = _text(row.get(field), field)
            except PageRefused as refusal:
                texts[field], refused = None, f"{where}: {refusal}"
    body = b""
    if refused is None:
        try:
            body = _body(row.get("html"), limits)
        except PageRefused as refusal:
            refused = f"{where}: {refusal}"
    content_type = texts["content_type"]
    if isinstance(row.get("html"), str):
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
    )


def text_of_value(value: object) -> str | None:
    """Return a value as stripped text; None if that is empty, or if the value is neither text nor a number."""
    try:
        text = _text(None if isinstance(value, float) and math.isnan(value) else value, "value")
    except PageRefused:
        return None
    return (text or "").strip() or None


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
    raise PageRefused(f"{field!r} is a {type(value).__name__}, expected text or a number")


def _body(html: object, limits: ReadLimits) -> bytes:
    if html is None:
        raise PageRefused("there is no 'html'")
    if isinstance(html, str):
        html = html.encode("utf-8", "replace")
    if not isinstance(html, bytes):
        raise PageRefused(f"'html' is a {type(html).__name__}, expected text")
    if len(html) > limits.max_page_bytes:
        raise PageRefused(f"'html' has {len(html)} bytes, more than {limits.max_page_bytes}")
    return html
