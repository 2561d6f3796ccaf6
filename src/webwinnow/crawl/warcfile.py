"""`Exchange`, a request and its response as bytes on the wire, and `WarcFile`, which appends them (ISO 28500, 1.1)."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import platform
import re
import uuid
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from webwinnow import _version
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.page.records import LAYOUT_TYPE
from webwinnow.run.unpacking import HTML_TYPES, media_type

if TYPE_CHECKING:
    from webwinnow.crawl.browser.capture import RenderedPage

with warnings.catch_warnings():  # fastwarc 1.1 warns of its own old names when it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import WarcRecord, WarcRecordType

_HEAD_END: Final = re.compile(rb"\r?\n\r?\n")
_FOLD: Final = re.compile(rb"\r?\n[ \t]+")
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
        return status_of(self.response)

    @property
    def headers(self) -> list[tuple[str, str]]:
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
    lines = _FOLD.sub(b" ", head).splitlines()[1:]
    pairs = (line.decode("latin-1").partition(":") for line in lines if b":" in line)
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def claims_another_type(content_type: str) -> bool:
    """Whether a Content-Type is not that of a page."""
    kind = media_type(content_type)
    return bool(kind) and kind not in HTML_TYPES


GZIP_LEVEL: Final = 6
CONFORMS_TO: Final = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


class WarcFile:
    """Appends exchanges. They are in the file when `append` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_packed = path.suffix.lower() == ".gz"
        self._file = path.open("ab")

    def close(self) -> None:
        self._file.close()

    @property
    def length(self) -> int:
        return self._file.tell()

    def truncate(self, length: int) -> None:
        self._file.truncate(length)
        self._file.seek(0, io.SEEK_END)

    def begin(self, settings: CrawlSettings) -> int:
        """Write the record about the file itself; returns the length of the file."""
        fields = {
            "software": f"webwinnow/{_version.__version__} Python/{platform.python_version()}",
            "format": "WARC File Format 1.1",
            "conformsTo": CONFORMS_TO,
            "robots": "obey" if settings.robots else "ignore",
            "http-header-user-agent": settings.user_agent,
        }
        body = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
        headers = [
            ("WARC-Filename", self.path.name),
            ("WARC-Date", datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")),
            ("Content-Type", "application/warc-fields"),
        ]
        self._write(WarcRecordType.warcinfo, headers, body)
        self._file.flush()
        return self.length

    def append(self, url: str, exchange: Exchange, rendered: RenderedPage | None = None) -> int:
        """Write the response, the request and what a browser made of the response; returns the length of the file."""
        about = [("WARC-Target-URI", url), ("WARC-Date", exchange.fetched_at), ("WARC-IP-Address", exchange.address)]
        response = [
            *about,
            ("Content-Type", "application/http; msgtype=response"),
            ("WARC-Payload-Digest", _digest(exchange.body)),
        ]
        number = self._write(WarcRecordType.response, response, exchange.response)
        request = [
            *about,
            ("Content-Type", "application/http; msgtype=request"),
            ("WARC-Concurrent-To", number),
            ("WARC-Payload-Digest", _digest(exchange.request[head_end(exchange.request) :])),
        ]
        self._write(WarcRecordType.request, request, exchange.request)
        if rendered is not None:
            refers = [("WARC-Target-URI", url), ("WARC-Date", exchange.fetched_at), ("WARC-Refers-To", number)]
            page = [*refers, ("Content-Type", "text/html; charset=utf-8")]
            self._write(WarcRecordType.conversion, page, rendered.html)
            layout = [*refers, ("Content-Type", LAYOUT_TYPE)]
            self._write(WarcRecordType.metadata, layout, rendered.layout.to_bytes())
        self._file.flush()
        return self.length

    def _write(self, kind: WarcRecordType, headers: list[tuple[str, str]], body: bytes) -> str:
        record = WarcRecord()
        number = str(uuid.uuid4())
        record.init_headers(record_type=kind, record_urn=f"uuid:{number}".encode())
        record.headers.status_line = "WARC/1.1"
        for name, value in (*headers, ("WARC-Block-Digest", _digest(body))):
            record.headers.set(name, value)
        record.set_bytes_content(body)
        written = io.BytesIO()
        record.write(written, checksum_data=False)
        whole = written.getvalue()
        self._file.write(gzip.compress(whole, GZIP_LEVEL, mtime=0) if self.is_packed else whole)
        return f"<urn:uuid:{number}>"


def _digest(body: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode("ascii")
