"""`WarcFile`: a WARC file that grows page by page (ISO 28500, version 1.1), each record a gzip member of its own."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import platform
import uuid
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from webwinnow import _version
from webwinnow.crawl.crawlsettings import CrawlSettings
from webwinnow.crawl.exchange import Exchange, head_end

with warnings.catch_warnings():  # fastwarc 1.1 warns of its own old names when it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import WarcRecord, WarcRecordType

GZIP_LEVEL: Final = 6
CONFORMS_TO: Final = "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


class WarcFile:
    """Appends exchanges. They are in the file when `append` returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_packed = path.suffix.lower() == ".gz"
        self._file = path.open("ab")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    @property
    def length(self) -> int:
        """The size of the file in bytes."""
        return self._file.tell()

    def truncate(self, length: int) -> None:
        """Remove everything after `length`."""
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

    def append(self, url: str, exchange: Exchange) -> int:
        """Write the response and the request to it; returns the length of the file."""
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
        self._file.flush()
        return self.length

    def _write(self, kind: WarcRecordType, headers: list[tuple[str, str]], body: bytes) -> str:
        """Write one record; returns its id."""
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
