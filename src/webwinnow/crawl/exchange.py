"""`Exchange`: a request and its response, the bytes as they went over the wire."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from webwinnow.io.httpbody import HTML_TYPES, media_type

__all__ = ["Exchange", "FetchFailed", "claims_another_type", "head_end", "headers_of", "status_of"]

_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_STATUS: Final = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})")


@dataclass(frozen=True, slots=True)
class FetchFailed:
    """A page that did not come, and why. `may_pass`: it is worth another attempt. `refused`: we did not want it."""

    reason: str
    may_pass: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and the response to it.

    `request` and `response` are the bytes as sent and received, header and body, chunks and packing included; interim
    responses (1xx) left out. `address` is where the connection went. The body of what is no page may not be whole.
    """

    request: bytes
    response: bytes
    address: str
    fetched_at: str

    @property
    def status(self) -> int:
        """The status code."""
        return status_of(self.response)

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers of the response."""
        return headers_of(self.response[: head_end(self.response)])

    @property
    def body(self) -> bytes:
        """The body as sent: chunked and packed where the headers say so."""
        return self.response[head_end(self.response) :]

    @property
    def location(self) -> str:
        """Where a redirect leads, "" where it does not say; servers write it in UTF-8, whatever the standard says."""
        return _utf8(self.header("location"))

    def header(self, name: str) -> str:
        """The first header of this name, "" where there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")


def _utf8(text: str) -> str:
    """Text that was read byte by byte, as UTF-8 where it is."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return text


def head_end(response: bytes, start: int = 0) -> int:
    """Where the header that begins at `start` ends and the body begins."""
    found = _HEAD_END.search(response, start)
    return found.end() if found else len(response)


def status_of(response: bytes, start: int = 0) -> int:
    """The status code that a response which begins at `start` begins with, 0 where it does not."""
    found = _STATUS.match(response, start)
    return int(found[1]) if found else 0


def headers_of(head: bytes) -> list[tuple[str, str]]:
    """The headers of a response, as written."""
    lines = re.sub(rb"\r?\n[ \t]+", b" ", head).splitlines()[1:]
    pairs = (line.decode("latin-1").partition(":") for line in lines if b":" in line)
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def claims_another_type(content_type: str) -> bool:
    """Whether a Content-Type says that this is no page."""
    kind = media_type(content_type)
    return bool(kind) and kind not in HTML_TYPES
