"""Pages out of WARC files: HTML responses with status 200, and HTML resources (ISO 28500)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Final

from webwinnow.errors import PageRefused
from webwinnow.io.http import HTML_TYPES, decode_http_body, media_type
from webwinnow.io.limits import ReadLimits
from webwinnow.io.sniff import looks_like_html
from webwinnow.io.streams import ProblemListener, UnpackedStream
from webwinnow.records import PageRecord

with warnings.catch_warnings():  # fastwarc 1.1 warns of its own old names when it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

__all__ = ["read_warc"]

STATUS_OK: Final = 200
MANDATORY: Final = frozenset({"warc-type", "content-length"})  # fastwarc lets a cut header pass
NO_PAGES: Final = "holds no pages (HTML responses with status 200)"


def read_warc(
    stream: UnpackedStream, *, name: str, limits: ReadLimits, on_problem: ProblemListener
) -> Iterator[PageRecord]:
    """Read the pages of a WARC file; where the file breaks, tell `on_problem` and end.

    A page that is cut off or cannot be decoded is yielded as refused. What is no page (requests, redirects, images,
    revisits) is passed over.
    """
    pages = 0
    problem = None
    try:
        for record in ArchiveIterator(stream, parse_http=False, stream_detect=False):
            stream.mark()
            if not MANDATORY.issubset(map(str.lower, record.headers.keys())):
                problem = "a record has a damaged header or ends inside it"
                break
            page, whole = _read_record(record, limits)
            if page is not None:
                pages += 1
                yield page
            if not whole:
                problem = "ends in the middle of a record"
                break
    except OSError as error:  # fastwarc's own name for a damaged record
        problem = f"cannot be read on ({error})"
    problem = stream.problem or problem or (None if pages else NO_PAGES)
    if problem:
        on_problem(f"{name}: {problem}" if problem == NO_PAGES else f"{name}: {problem}, after {pages} pages")


def _read_record(record: WarcRecord, limits: ReadLimits) -> tuple[PageRecord | None, bool]:
    """Take the page from a record, if it is one, and whether the record was whole."""
    fault = None
    try:
        claim = _claimed_type(record)
    except OSError as error:  # a header longer than fastwarc takes
        claim, fault = "", f"the HTTP header is damaged ({error})"
    size = record.content_length
    raw = b"" if claim is None or fault else _read_up_to(record, min(size, limits.max_page_bytes + 1))
    whole = len(raw) + record.consume() >= size
    if claim is None:
        return None, whole
    if not whole:
        fault = "the WARC record ends early"
    elif size > limits.max_page_bytes:
        fault = fault or f"the page has {size} bytes, more than {limits.max_page_bytes}"
    body = b""
    if fault is None:
        try:
            body = decode_http_body(record.http_headers.items() if record.is_http else (), raw, limits)
        except PageRefused as refusal:
            fault = str(refusal)
        if not claim and fault is None and not looks_like_html(body):
            return None, whole
    return _page(record, claim, body, fault), whole


def _claimed_type(record: WarcRecord) -> str | None:
    """Tell the content type that a record claims, "" where it claims none; None where it cannot be a page."""
    if record.record_type == WarcRecordType.response and record.is_http:
        record.parse_http(auto_decode="none", quirks_mode=True)
        if record.http_headers.status_code != STATUS_OK:
            return None
        claim = record.http_headers.get("Content-Type") or ""
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


def _page(record: WarcRecord, claim: str, body: bytes, fault: str | None) -> PageRecord:
    url = record.headers.get("WARC-Target-URI") or ""
    return PageRecord(
        url=url.strip().removeprefix("<").removesuffix(">"),  # wget writes the angle brackets of WARC 1.0
        body=body,
        content_type=claim or None,
        fetched_at=record.headers.get("WARC-Date"),
        refused=fault,
    )
