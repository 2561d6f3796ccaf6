"""The proxy by itself: what it connects to, what it refuses, and its limits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from ownloop import awaited
from webserver import Reply, WebServer, redirect

from webwinnow.crawl.browser.proxy import GuardProxy
from webwinnow.crawl.guard import AddressGuard

ALLOWED = "127.0.0.2"


async def asked(proxy: GuardProxy, *requests: str) -> list[bytes]:
    """Send each request over a connection of its own and return the responses."""
    found = []
    for request in requests:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(request.encode())
        found.append(await reader.read())
        writer.close()
    return found


def through(guard: AddressGuard | None, *requests: str, **limits: Any) -> tuple[list[bytes], GuardProxy]:
    async def run() -> tuple[list[bytes], GuardProxy]:
        async with GuardProxy(guard, **{"max_bytes": 1 << 20, "max_requests": 10} | limits) as proxy:
            return await asked(proxy, *requests), proxy

    return awaited(run())


def get(url: str) -> str:
    return f"GET {url} HTTP/1.1\r\nHost: elsewhere.test\r\nProxy-Connection: keep-alive\r\nX-Own: yes\r\n\r\n"


def test_a_request_goes_to_the_checked_address_with_the_host_of_its_url(
    guard_for: Callable[[WebServer], AddressGuard],
) -> None:
    with WebServer({"http://a.test/x?y=1": "<p>Hello"}, address=ALLOWED) as server:
        (answer,), proxy = through(guard_for(server), get("http://a.test/x?y=1"))
    assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"<p>Hello")
    assert b"Connection: close" in answer
    (line,) = server.log
    assert "proxy-connection" not in line.asked.headers
    assert (line.asked.headers["host"], line.asked.headers["x-own"]) == ("a.test", "yes")
    (request,) = proxy.log
    assert (request.refused, request.address, request.target) == ("", ALLOWED, "http://a.test/x?y=1")


def test_a_second_request_on_a_connection_is_not_passed_on(guard_for: Callable[[WebServer], AddressGuard]) -> None:
    """A server that ignores `Connection: close` must not get requests that were not checked."""
    with WebServer({}, answer=lambda asked: "<p>Hello", address=ALLOWED) as server:
        through(guard_for(server), get("http://a.test/first") + get("http://b.test/second"))
    assert server.paths == ["/first"]


@pytest.mark.parametrize(
    ("request_line", "why"),
    [
        ("GET http://127.0.0.1:{port}/ HTTP/1.1", "loopback"),
        ("GET http://localhost:{port}/ HTTP/1.1", "loopback"),
        ("GET http://2130706433:{port}/ HTTP/1.1", "loopback"),
        ("GET http://[::ffff:127.0.0.1]:{port}/ HTTP/1.1", "loopback"),
        ("GET http://u@127.0.0.1:{port}/ HTTP/1.1", "loopback"),
        ("CONNECT 127.0.0.1:{port} HTTP/1.1", "loopback"),
        ("CONNECT 10.0.0.1:443 HTTP/1.1", "private"),
        ("CONNECT 169.254.169.254:80 HTTP/1.1", "link-local"),
        ("CONNECT 127.0.0.2:25 HTTP/1.1", "port"),
        ("CONNECT a.test HTTP/1.1", "no request to a proxy"),
        ("GET /path HTTP/1.1", "no request to a proxy"),
        ("GET ftp://a.test/ HTTP/1.1", "no request to a proxy"),
        ("GET http://[/ HTTP/1.1", "no URL"),
        ("nonsense", "no request to a proxy"),
    ],
)
def test_other_addresses_are_refused(
    request_line: str, why: str, guard_for: Callable[[WebServer], AddressGuard]
) -> None:
    with WebServer({"/": "secret"}) as victim:
        guard = AddressGuard(allow=(f"{ALLOWED}/32",))
        (answer,), proxy = through(guard, request_line.format(port=victim.port) + "\r\nHost: a.test\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 403")
    assert why in proxy.log[0].refused
    assert victim.log == []


def test_a_redirect_is_passed_on_so_that_its_target_is_a_request_of_its_own(
    guard_for: Callable[[WebServer], AddressGuard],
) -> None:
    with WebServer({"/": "secret"}) as victim, WebServer({}, address=ALLOWED) as server:
        server.pages = {"/go": redirect(f"http://127.0.0.1:{victim.port}/")}
        (answer,), _ = through(guard_for(server), get("http://a.test/go"))
    assert answer.startswith(b"HTTP/1.1 302")
    assert victim.log == []


def test_requests_over_the_limit_are_refused(guard_for: Callable[[WebServer], AddressGuard]) -> None:
    with WebServer({"/": "<p>Hello"}, address=ALLOWED) as server:
        _, proxy = through(guard_for(server), *[get("http://a.test/")] * 4, max_requests=2)
    assert [bool(request.refused) for request in proxy.log] == [False, False, True, True]
    assert len(server.log) == 2


def test_a_body_without_end_is_cut_off_and_nothing_more_is_received(
    guard_for: Callable[[WebServer], AddressGuard],
) -> None:
    def endless() -> Any:
        while True:
            yield b"x" * 4096

    with WebServer({"/": Reply(pieces=endless)}, address=ALLOWED) as server:
        (first, second), proxy = through(guard_for(server), *[get("http://a.test/")] * 2, max_bytes=100_000)
    assert len(first) < 200_000
    assert second.startswith(b"HTTP/1.1 403")
    assert all("more than 100,000 bytes" in request.refused for request in proxy.log)


def test_without_a_guard_everything_is_refused() -> None:
    (answer,), proxy = through(None, get("http://example.org/"))
    assert answer.startswith(b"HTTP/1.1 403")
    assert proxy.log[0].refused == "no page asked for it"
