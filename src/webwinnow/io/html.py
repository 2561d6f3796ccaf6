"""One HTML file is one page."""

from __future__ import annotations

from collections.abc import Iterator

from webwinnow.io.limits import ReadLimits
from webwinnow.io.streams import UnpackedStream
from webwinnow.records import PageRecord

__all__ = ["read_html"]


def read_html(stream: UnpackedStream, *, url: str, limits: ReadLimits) -> Iterator[PageRecord]:
    """Read the page; refused where it is broken off or over a limit."""
    body = stream.read(limits.max_page_bytes + 1)
    refused = None
    if stream.problem:
        refused = stream.problem
    elif len(body) > limits.max_page_bytes:
        refused = f"the page has more than {limits.max_page_bytes} bytes"
    elif stream.packing and limits.ratio_floor < len(body) > limits.max_ratio * stream.taken:
        refused = f"the page unpacks to more than {limits.max_ratio} times its {stream.packing} size"
    yield PageRecord(url=url, body=b"" if refused else body, refused=refused)
