"""Rows: rows of JSONL and Parquet as pages, and JSON Lines."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from webwinnow.counted import counted
from webwinnow.errors import InputError, PageRefused
from webwinnow.page.records import PageRecord
from webwinnow.record.fields import FieldKind, Fields, Record, ordered, page_fields
from webwinnow.run.unpacking import InputProblem, ProblemListener, ReadLimits, UnpackedStream, media_type
from webwinnow.settings import Settings, setting
from webwinnow.storage.fastjson import from_json, to_json
from webwinnow.storage.parquetreader import UnreadableValue

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

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


# JSON Lines

LINES_BYTES: Final = 1 << 18  # read at once
CHECKED_LINES: Final = 20
"""Lines of a file of which one must have HTML."""
BOM: Final = b"\xef\xbb\xbf"


def check_jsonl(stream: UnpackedStream, *, name: str, limits: ReadLimits, columns: ColumnNames) -> None:
    """Raise `InputError` if the first lines are objects of which none has the column with the HTML."""
    names: dict[str, None] = {}
    for _, line in islice(_lines(stream, limits), CHECKED_LINES):
        try:
            row = None if line is None else from_json(line.decode())
        except (ValueError, RecursionError):
            return
        if not isinstance(row, dict):
            return
        names |= dict.fromkeys(row)
    if names:
        columns.check(names, ("html",), name)


def read_jsonl(
    stream: UnpackedStream,
    *,
    name: str,
    limits: ReadLimits,
    on_problem: ProblemListener,
    label: str | None = None,
    columns: ColumnNames = DEFAULT_COLUMNS,
) -> Iterator[PageRecord]:
    """Read one page per line: `url`, `html`, and optionally `site`, `page_id`, `content_type`, `fetched_at`.

    `label` names the value that labels a page, `columns` those with other names. A line that is too long or not a JSON
    object is yielded as a refused page; blank lines are skipped.
    """
    pages = 0
    for number, line in _lines(stream, limits):
        yield _page_of_line(line, f"line {number}", limits, label, columns)
        pages += 1
    if stream.problem:
        on_problem(f"{name}: {stream.problem}, after {counted(pages, 'page')}")


def _page_of_line(
    line: bytes | None, where: str, limits: ReadLimits, label: str | None, columns: ColumnNames
) -> PageRecord:
    if line is None:
        return PageRecord(url="", body=b"", refused=f"{where} has more than {limits.max_line_bytes} bytes")
    try:
        row = from_json(line.decode())
    except (ValueError, RecursionError) as error:
        return PageRecord(url="", body=b"", refused=f"{where} is no JSON ({error})")
    if not isinstance(row, dict):
        return PageRecord(url="", body=b"", refused=f"{where} is a JSON {type(row).__name__}, expected an object")
    return page_of_row(row, where=where, limits=limits, label=label, columns=columns)


def read_jsonl_rows(
    stream: UnpackedStream,
    *,
    name: str,
    limits: ReadLimits,
    on_problem: ProblemListener,
    required: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Read the JSON objects that have the `required` names; other lines are reported to `on_problem`."""
    for number, line in _lines(stream, limits):
        try:
            row = None if line is None else from_json(line.decode())
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict) and row.keys() >= set(required):
            yield row
        else:
            expected = f" with {', '.join(required)}" if required else ""
            on_problem(InputProblem(f"{name}: line {number} is no JSON object{expected}"))
    if stream.problem:
        on_problem(InputProblem(f"{name}: {stream.problem}"))


def record_line(record: Record, fields: Fields | None = None) -> bytes:
    """Return a record as one line of JSON; equal records give equal bytes."""
    return to_json(ordered(record, fields)) + b"\n"


def write_jsonl(records: Iterable[Record], out: SupportsWrite[bytes], fields: Fields | None = None) -> None:
    """Write one record per line to an open file."""
    for record in records:
        out.write(record_line(record, fields))


def part_lines(parts: Iterable[Path]) -> Iterator[bytes]:
    """Read the lines of finished parts of a run, one part after the other."""
    for part in parts:
        with part.open("rb") as lines:
            yield from lines


def read_parts(parts: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Read the records of finished parts of a run, as `record_line` wrote them, one part after the other."""
    for part in parts:
        with part.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    record = from_json(line)
                except ValueError as error:
                    raise InputError(
                        f"{part}: line {number} is damaged ({error}); remove the part and resume"
                    ) from error
                yield record


def _lines(stream: UnpackedStream, limits: ReadLimits) -> Iterator[tuple[int, bytes | None]]:
    """Yield number and content of the lines that are not blank; None for one that is too long."""
    for number, line in enumerate(split_lines(stream, limits.max_line_bytes), start=1):
        if line is None:
            yield number, None
        elif line.strip():
            yield number, line.removeprefix(BOM) if number == 1 else line


def split_lines(stream: UnpackedStream, max_bytes: int) -> Iterator[bytes | None]:
    """Split a stream into lines; a line over `max_bytes` is never held in memory and is yielded as None."""
    held: list[bytes] = []
    size = 0
    while chunk := stream.read(LINES_BYTES):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            size += len(end)
            if size:  # empty lines count with the next one
                stream.mark()
            yield b"".join([*held, end]) if size <= max_bytes else None
            held, size = [], 0
        size += len(rest)
        if size <= max_bytes:
            held.append(rest)
        else:
            held.clear()
    if size:
        yield b"".join(held) if size <= max_bytes else None
