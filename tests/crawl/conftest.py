"""Fixtures of the crawler's tests: settings for servers on loopback, and the contents of a WARC file."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from webserver import LOOPBACK, WebServer

from webwinnow.crawl.guard import AddressGuard, Route
from webwinnow.crawl.settings import CrawlSettings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.warc import ArchiveIterator, WarcRecordType


@pytest.fixture(scope="session")
def settings_for() -> Callable[..., CrawlSettings]:
    """Settings of a crawl that may connect to these servers on 127.0.0.1, and to no other private address."""

    def make(*servers: WebServer, routes: tuple[str, ...] = (), **settings: Any) -> CrawlSettings:
        given = [Route.parse(text) for text in (*routes, *(server.route() for server in servers))]
        guard = AddressGuard(allow=(f"{LOOPBACK}/32",), routes=tuple(given))
        return CrawlSettings(**{"delay": 0.0, "backoff": 0.01, "guard": guard} | settings)

    return make


@pytest.fixture(scope="session")
def stored_pages() -> Callable[[Path], Counter[str]]:
    """Count the responses of each URL in a WARC file, as fastwarc reads it; every digest is checked."""

    def read(path: Path) -> Counter[str]:
        found: Counter[str] = Counter()
        with path.open("rb") as file:
            for record in ArchiveIterator(file, parse_http=False):
                assert record.verify_block_digest()
                if record.record_type == WarcRecordType.response:
                    found[record.headers["WARC-Target-URI"]] += 1
        return found

    return read
