"""Pages from WARC files (HTML responses with status 200, and HTML resources; ISO 28500) and from WACZ archives."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import IO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from webwinnow.errors import InputError, PageRefused
from webwinnow.io.sniff import looks_like_html
from webwinnow.io.unpacking import HTML_TYPES, ProblemListener, ReadLimits, UnpackedStream, decode_http_body, media_type
from webwinnow.records import PageRecord

with warnings.catch_warnings():  # fastwarc 1.1 warns of its own old names when it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

STATUS_OK: Final = 200
MANDATORY: Final = frozenset({"warc-type", "content-length"})  # fastwarc accepts a truncated header
NO_PAGES: Final = "holds no pages (HTML responses with status 200)"
ENCRYPTED: Final = 0x1  # flag bit 0 of a zip member
_WARC_MEMBER: Final = re.compile(r"archive/.+\.warc(\.gz|\.zst)?", re.IGNORECASE)


def read_warc(
    stream: UnpackedStream, *, name: str, limits: ReadLimits, on_problem: ProblemListener
) -> Iterator[PageRecord]:
    """Read the pages of a WARC file; if the file is damaged, report it to `on_problem` and end.

    A page that is cut off or cannot be decoded is yielded as refused. Records that are not pages (requests, redirects,
    images, revisits) are skipped.
    """
    pages = 0
    problem = None
    try:
        for record in ArchiveIterator(stream, parse_http=False, stream_detect=False):
            stream.mark()
            if not MANDATORY.issubset(map(str.lower, record.headers.keys())):
                problem = "a record has a damaged header or ends inside it"
                break
            page, complete = _read_record(record, limits)
            if page is not None:
                pages += 1
                yield page
            if not complete:
                problem = "ends in the middle of a record"
                break
    except OSError as error:  # raised by fastwarc for a damaged record
        problem = f"cannot be read on ({error})"
    problem = stream.problem or problem or (None if pages else NO_PAGES)
    if problem:
        on_problem(f"{name}: {problem}" if problem == NO_PAGES else f"{name}: {problem}, after {pages} pages")


def _read_record(record: WarcRecord, limits: ReadLimits) -> tuple[PageRecord | None, bool]:
    """Return the page in a record, if it is one, and whether the record was complete."""
    fault = None
    try:
        claim = _claimed_type(record)
    except OSError as error:  # a header longer than fastwarc accepts
        claim, fault = "", f"the HTTP header is damaged ({error})"
    size = record.content_length
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
            body = decode_http_body(record.http_headers.items() if record.is_http else (), raw, limits)
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


def _claimed_type(record: WarcRecord) -> str | None:
    """Return the content type that a record claims, "" if none; None if the record cannot be a page."""
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


# WACZ


def warcs_in(file: IO[bytes], name: str) -> list[str]:
    """Name the WARC files in the WACZ archive `file` (WACZ 1.1, 4.1); `InputError` if it has none or is damaged."""
    with _opened(file, name) as archive:
        found = sorted(member for member in archive.namelist() if _WARC_MEMBER.fullmatch(member))
    if not found:
        raise InputError(f"{name}: is a zip archive without archive/*.warc.gz, so no WACZ; unpack it first")
    return found


def read_wacz(file: IO[bytes], *, name: str, limits: ReadLimits, on_problem: ProblemListener) -> Iterator[PageRecord]:
    """Read the pages of all WARC files in a WACZ, in the order of their names, without unpacking it to disk."""
    members = warcs_in(file, name)
    with _opened(file, name) as archive:
        for member in members:
            where = f"{name}/{member}"
            fault = _fault(archive.getinfo(member), limits)
            if fault:
                on_problem(f"{where}: {fault}")
                continue
            try:
                source = archive.open(member)
            except (BadZipFile, OSError) as error:
                on_problem(f"{where}: cannot be read ({error})")
                continue
            with source:
                stream = UnpackedStream(source, limits)
                yield from read_warc(stream, name=where, limits=limits, on_problem=on_problem)


def _opened(file: IO[bytes], name: str) -> ZipFile:
    try:
        return ZipFile(file)
    except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"{name}: is a damaged zip archive ({error})") from error


def _fault(member: ZipInfo, limits: ReadLimits) -> str | None:
    if member.flag_bits & ENCRYPTED:
        return "is encrypted"
    if member.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        return "is compressed by a method that WACZ does not allow"
    if limits.ratio_floor < member.file_size > limits.max_ratio * member.compress_size:
        return f"unpacks to more than {limits.max_ratio} times its size"
    return None
