"""WARC (ISO 28500): pages are HTML responses with status 200, and HTML resources.

A page that was rendered has, after its response, the page that a browser made of it (a `conversion` record) and its
layout (a `metadata` record), which refer to the response. It is one page: the rendered one.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from webwinnow.counted import counted
from webwinnow.errors import PageRefused
from webwinnow.page.records import LAYOUT_TYPE, PageRecord
from webwinnow.run.readers import Reader, Source, looks_like_html
from webwinnow.run.resync import Place, next_record
from webwinnow.run.unpacking import (
    HTML_TYPES,
    ProblemListener,
    ReadLimits,
    UnpackedStream,
    decode_http_body,
    media_type,
)

with warnings.catch_warnings():  # fastwarc 1.1 warns of its own old names when it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

STATUS_OK: Final = 200
MANDATORY: Final = frozenset({"warc-type", "content-length"})  # fastwarc accepts a truncated header
NO_PAGES: Final = "holds no pages (HTML responses with status 200)"
MOST_HEADER_BYTES: Final = 1 << 18
"""The longest HTTP header of a page, which the crawler keeps, too. Ours: the limit of browsers."""
MOST_DAMAGES: Final = 100
"""Damaged places of a file after which it is not read on. Ours: each is reported."""
MOST_CUT_OFF: Final = 10
"""Records of a file that reach beyond its end, after which it is not read on. Ours: for each the file is read again."""
_STATUS_LINE: Final = re.compile(rb"HTTP/\S* +([0-9]{3})(?![0-9])")


def read_warc(
    stream: UnpackedStream, *, name: str, limits: ReadLimits, on_problem: ProblemListener
) -> Iterator[PageRecord]:
    """Read the pages of a WARC file; damage is reported to `on_problem`, and reading continues at the next record.

    A page that is cut off or cannot be decoded is yielded as refused. Records that are not pages (requests, redirects,
    images, revisits) are skipped.
    """
    pages = cut_off = 0
    for _ in range(MOST_DAMAGES):
        part = _Undamaged(stream, limits)
        for page in part.pages():
            pages += 1
            yield page
        if part.problem is None:
            break
        cut_off += not part.damage.complete
        following = next_record(stream, part.damage, limits) if cut_off <= MOST_CUT_OFF else None
        if following is not None and part.records and _begins_damaged(following):  # its own first line was found
            following = next_record(following, Place(following.tell(), following.tell(), complete=True), limits)
        further = "" if following is None else "; reading continues at the next record"
        on_problem(f"{name}: {part.problem}, after {counted(pages, 'page')}{further}")
        if following is None:
            return
        stream = following
    else:
        on_problem(f"{name}: is damaged in more than {MOST_DAMAGES} places, after {counted(pages, 'page')}")
    if not pages:
        on_problem(f"{name}: {NO_PAGES}")


def _begins_damaged(stream: UnpackedStream) -> bool:
    """Whether the first record of a stream has a damaged header; the stream stays where it is."""
    start = stream.tell()
    try:
        record = next(ArchiveIterator(stream, parse_http=False, stream_detect=False), None)
        return record is None or _has_damaged_header(record)
    except OSError:
        return True
    finally:
        stream.rewind(start)


def _has_damaged_header(record: WarcRecord) -> bool:
    names = [name.lower() for name in record.headers.keys()]  # noqa: SIM118 (no dictionary)
    return any(names.count(name) != 1 for name in MANDATORY)  # twice: a header that runs into the next one


class _Undamaged:
    """The records of a stream up to the first damage. `problem` says what that is, None at the end of the file."""

    def __init__(self, stream: UnpackedStream, limits: ReadLimits) -> None:
        self.stream, self.limits = stream, limits
        self.problem: str | None = None
        self.records = 0
        self.damage = Place(stream.tell(), stream.tell(), complete=True)

    def pages(self) -> Iterator[PageRecord]:
        last: PageRecord | None = None  # the page of the response that the records after it may refer to
        number = ""
        try:
            for record in ArchiveIterator(self.stream, parse_http=False, stream_detect=False):
                at = record.stream_pos  # from the beginning of the stream, wherever the iterator began
                self.stream.mark(at)
                if _has_damaged_header(record):
                    self.problem = "a record has a damaged header or ends inside it"
                    break
                if last is not None and _adds_to(record, number):
                    last, complete = _with_record(last, record, self.limits)
                else:
                    page, complete = _read_record(record, self.limits)
                    if page is not None:
                        if last is not None:
                            yield last
                        last, number = page, record.headers.get("WARC-Record-ID") or ""
                self.records += 1
                self.damage = Place(at + record.content_length * complete, at, complete)
                if not complete:
                    self.problem = "ends in the middle of a record"
                    break
        except OSError as error:  # raised by fastwarc for a damaged record
            self.problem = f"cannot be read on ({error})"
        if last is not None:
            yield last
        self.problem = self.stream.problem or self.problem


def _read_record(record: WarcRecord, limits: ReadLimits) -> tuple[PageRecord | None, bool]:
    """Return the page in a record, if it is one, and whether the record was complete."""
    is_response = record.record_type == WarcRecordType.response and record.is_http
    head = _read_http_head(record) if is_response else NO_HEAD
    claim = _claimed_type(record, head if is_response else None)
    fault = None
    if head.length > MOST_HEADER_BYTES:
        fault = f"the HTTP header has more than {MOST_HEADER_BYTES:,} bytes"
    size = record.content_length - head.length
    raw = b"" if claim is None or fault else _read_up_to(record, min(size, limits.max_page_bytes + 1))
    complete = len(raw) + record.consume() >= size
    if claim is None:
        return None, complete
    if not complete:
        fault = "the WARC record ends early"
    elif size > limits.max_page_bytes:
        fault = fault or f"the page has {size} bytes, more than {limits.max_page_bytes}"
    body = b""
    if fault is None:
        try:
            body = decode_http_body(head.fields, raw, limits)
        except PageRefused as refusal:
            fault = str(refusal)
        if not claim and fault is None and not looks_like_html(body):
            return None, complete
    url = record.headers.get("WARC-Target-URI") or ""
    page = PageRecord(
        url=url.strip().removeprefix("<").removesuffix(">"),  # wget writes the angle brackets of WARC 1.0
        body=body,
        content_type=claim or None,
        fetched_at=record.headers.get("WARC-Date"),
        refused=fault,
    )
    return page, complete


class _HttpHead(NamedTuple):
    """The status (0 if there is none) and the fields of an HTTP header, and how many bytes of it were read."""

    status: int
    fields: Sequence[tuple[str, str]]
    length: int


NO_HEAD: Final = _HttpHead(0, (), 0)


def _read_http_head(record: WarcRecord) -> _HttpHead:
    """Read the header of a response, at most one byte more than is allowed.

    fastwarc could read it, but does not report how much it has read of one that is too long. Lines may end with LF.
    """
    lines: list[bytearray] = []
    length = 0
    while length <= MOST_HEADER_BYTES and (line := record.reader.readline(MOST_HEADER_BYTES + 1 - length)):
        length += len(line)
        text = line.strip()
        if lines and not text:
            break
        if len(lines) > 1 and line[:1] in b" \t":  # a folded line
            lines[-1] += b" " + text
        else:
            lines.append(bytearray(text))
    status = _STATUS_LINE.match(lines[0]) if lines else None
    pairs = (line.decode("latin-1").partition(":") for line in lines[1:] if b":" in line)
    return _HttpHead(
        int(status[1]) if status else 0, [(name.rstrip(), value.lstrip()) for name, _, value in pairs], length
    )


def _adds_to(record: WarcRecord, number: str) -> bool:
    """Whether a record is the rendered page or the layout of the response with this number."""
    if record.record_type not in (WarcRecordType.conversion, WarcRecordType.metadata):
        return False
    if not number or record.headers.get("WARC-Refers-To") != number:
        return False
    kind = "text/html" if record.record_type == WarcRecordType.conversion else LAYOUT_TYPE
    return media_type(record.headers.get("Content-Type") or "") == kind


def _with_record(page: PageRecord, record: WarcRecord, limits: ReadLimits) -> tuple[PageRecord, bool]:
    """Return a page as it was rendered, or with its layout, and whether the record was complete.

    A rendered page that is too long or cut off leaves the page as it was fetched.
    """
    size = record.content_length
    body = _read_up_to(record, min(size, limits.max_page_bytes + 1))
    complete = len(body) + record.consume() >= size
    if not complete or size > limits.max_page_bytes:
        return page, complete
    if record.record_type == WarcRecordType.conversion:
        return replace(page, body=body, content_type=record.headers.get("Content-Type"), refused=None), complete
    return replace(page, layout=body), complete


def _claimed_type(record: WarcRecord, head: _HttpHead | None) -> str | None:
    """Return the content type that a record claims, "" if none; None if the record cannot be a page."""
    if head is not None:
        if head.status != STATUS_OK:
            return None
        claim = next((value for name, value in head.fields if name.lower() == "content-type"), "")
    elif record.record_type == WarcRecordType.resource:
        claim = record.headers.get("Content-Type") or ""
    else:
        return None
    return claim if media_type(claim) in HTML_TYPES or not claim else None


def _read_up_to(record: WarcRecord, size: int) -> bytes:
    parts = []
    while size > 0 and (part := record.reader.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class WarcReader(Reader):
    """A WARC file, packed or not."""

    kind, suffixes, magic, may_be_empty = "WARC", (".warc",), (b"WARC/",), True

    def pages(self, source: Source) -> Iterator[PageRecord]:
        """The pages of all records."""
        return read_warc(source.stream, name=source.name, limits=source.limits, on_problem=source.on_problem)


READER = WarcReader()
