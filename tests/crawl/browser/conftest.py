"""Fixtures of rendering: a server that pages may reach, on 127.0.0.2. They may reach nothing on 127.0.0.1."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator

import pytest
from webserver import WebServer

from webwinnow.crawl.browser.devtools import PROGRAMS
from webwinnow.crawl.browser.renderer import Renderer
from webwinnow.crawl.browser.settings import RenderSettings
from webwinnow.crawl.guard import AddressGuard, Route

ALLOWED = "127.0.0.2"
SETTINGS = RenderSettings(quiet_seconds=0.2, load_seconds=120.0, capture_seconds=60.0)
"""Limits that a busy machine does not reach; a test of a limit sets its own."""


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a browser on a busy machine take longer for what takes milliseconds on an idle one."""
    monkeypatch.setattr("webwinnow.crawl.browser.capture.ANSWER_SECONDS", 60.0)


@pytest.fixture(scope="session")
def chromium() -> str:
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    return found


@pytest.fixture(scope="session")
def guard_for() -> Callable[[WebServer], AddressGuard]:
    """A guard that allows a server on 127.0.0.2, for all hosts below `.test`, and no other private address."""
    return lambda server: AddressGuard(allow=(f"{ALLOWED}/32",), routes=(Route.parse(server.route()),))


@pytest.fixture(scope="module")
def server(chromium: str) -> Iterator[WebServer]:
    with WebServer({}, address=ALLOWED) as server:
        yield server


@pytest.fixture
def site(server: WebServer) -> WebServer:
    """A server that pages may reach; a test sets its `pages`."""
    server.pages, server.log = {}, []
    return server


@pytest.fixture(scope="module")
def pool(server: WebServer, guard_for: Callable[[WebServer], AddressGuard]) -> Iterator[Renderer]:
    with Renderer(SETTINGS, guard_for(server)) as pool:
        yield pool


@pytest.fixture
def renderer(pool: Renderer) -> Renderer:
    """A browser that the tests of a module share, with settings that a test may change."""
    pool.settings = SETTINGS
    return pool
