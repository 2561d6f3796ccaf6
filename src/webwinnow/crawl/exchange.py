"""`Exchange`: a request and its response, as the bytes on the wire."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from webwinnow.io.unpacking import HTML_TYPES, media_type

_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_STATUS: Final = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})")


@dataclass(frozen=True, slots=True)
class FetchFailed:
    """A failed request. `may_pass`: another attempt may succeed. `refused`: we did not want the response."""

    reason: str
    may_pass: bool = False
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and the response to it.

    `request` and `response` are the bytes as sent and received, with chunks and packing, without interim responses
    (1xx). `address` is the IP address of the server. The body of a response that is not a page may be incomplete.
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
        """The body as sent, chunked and packed."""
        return self.response[head_end(self.response) :]

    @property
    def location(self) -> str:
        """The target of a redirect, or ""; servers write it in UTF-8, whatever the standard says."""
        written = self.header("location")
        try:
            return written.encode("latin-1").decode("utf-8")
        except UnicodeDecodeError:
            return written

    def header(self, name: str) -> str:
        """Return the first header of this name, or ""."""
        return next((value for key, value in self.headers if key.lower() == name), "")


def head_end(response: bytes, start: int = 0) -> int:
    """Return where the header that begins at `start` ends."""
    found = _HEAD_END.search(response, start)
    return found.end() if found else len(response)


def status_of(response: bytes, start: int = 0) -> int:
    """Return the status code of a response that begins at `start`, 0 if there is none."""
    found = _STATUS.match(response, start)
    return int(found[1]) if found else 0


def headers_of(head: bytes) -> list[tuple[str, str]]:
    """Return the headers of a response as written."""
    lines = re.sub(rb"\r?\n[ \t]+", b" ", head).splitlines()[1:]
    pairs = (line.decode("latin-1").partition(":") for line in lines if b":" in line)
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def claims_another_type(content_type: str) -> bool:
    """Whether a Content-Type is not that of a page."""
    kind = media_type(content_type)
    return bool(kind) and kind not in HTML_TYPES
