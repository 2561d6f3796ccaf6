"""Small crawls made with the real libraries."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from webwinnow.page.records import PageRecord
from webwinnow.run.inputs import open_pages
from webwinnow.run.unpacking import ReadLimits

with warnings.catch_warnings():  # fastwarc 1.1 warns of its own old names when it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import WarcRecord, WarcRecordType

HTML = b"<!doctype html><html><body><p>Hello</p></body></html>"

MakeRecord = Callable[..., bytes]
ReadAll = Callable[..., list[PageRecord]]


def warc_record(
    url: str = "http://a.test/",
    body: bytes = HTML,
    *,
    headers: str = "Content-Type: text/html\r\n",
    status: str = "200 OK",
    kind: WarcRecordType = WarcRecordType.response,
    content_type: str = "text/html",
) -> bytes:
    """Write one WARC record, plain."""
    record = WarcRecord()
    record.init_headers(record_type=kind)
    record.headers["WARC-Target-URI"] = url
    record.headers["WARC-Date"] = "2024-05-06T07:08:09Z"
    if kind == WarcRecordType.response or kind == WarcRecordType.request:  # noqa: PLR1714 (kinds have no hash)
        record.is_http = True
        start = f"HTTP/1.1 {status}\r\n" if kind == WarcRecordType.response else "GET / HTTP/1.1\r\n"
        record.set_bytes_content(f"{start}{headers}\r\n".encode() + body)
    else:
        record.headers["Content-Type"] = content_type
        record.set_bytes_content(body)
    written = io.BytesIO()
    record.write(written)
    return written.getvalue()


@pytest.fixture
def make_record() -> MakeRecord:
    return warc_record


@pytest.fixture
def problems() -> list[str]:
    return []


@pytest.fixture
def read_all(problems: list[str]) -> ReadAll:
    """Read all pages of some inputs; the fixture `problems` collects the calls of `on_problem`."""

    def read(*inputs: str | Path, **limits: int) -> list[PageRecord]:
        return list(open_pages(inputs, on_problem=problems.append, limits=ReadLimits(**limits)))

    return read
