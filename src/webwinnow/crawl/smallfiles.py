"""`fetch`: a small file of a site, such as a robots.txt or a sitemap, over connections to checked addresses."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from threading import Event, Timer
from typing import Final
from urllib.parse import urljoin, urlsplit

from webwinnow.crawl.guard import AddressGuard, Peer
from webwinnow.crawl.scope import page_url
from webwinnow.errors import InputError

REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})


class FileMissing(InputError):
    """A file that could not be fetched."""


class TooManyRedirects(FileMissing):
    """A file that was redirected too often."""


def fetch(
    url: str, guard: AddressGuard, *, user_agent: str, most: int, redirects: int, timeout: float, seconds: float
) -> tuple[int, bytes]:
    """Return the status and body of a file, after redirects. Of a longer body there are `most` + 1 bytes.

    `timeout` limits each wait for a server, `seconds` each request. Raises `FileMissing`, `AddressRefused`, `OSError`
    or `ValueError` if that fails.
    """
    for _ in range(redirects + 1):
        try:
            status, location, body = _get(url, guard, user_agent, most, timeout, seconds)
        except HTTPException as problem:
            raise FileMissing(str(problem) or type(problem).__name__) from None
        target = page_url(urljoin(url, location)) if location and status in REDIRECTS else None
        if target is None:
            return status, body
        url = target
    raise TooManyRedirects("too many redirects")


def _get(
    url: str, guard: AddressGuard, user_agent: str, most: int, timeout: float, seconds: float
) -> tuple[int, str, bytes]:
    """Status, Location header and body of a response, from an address that the guard permits."""
    parts = urlsplit(url)
    host, secure = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    used = _connected(guard.peers(host, port), timeout)
    connection = HTTPConnection(host, port, timeout=timeout)
    try:
        if secure:  # the handshake comes later, within the limit of time
            context = ssl.create_default_context()
            used = context.wrap_socket(used, server_hostname=host, do_handshake_on_connect=False)
        connection.sock = used
        with _ended_after(seconds, used):
            if isinstance(used, ssl.SSLSocket):
                used.do_handshake()
            target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
            agent = {"User-Agent": user_agent} if user_agent else {}
            connection.request("GET", target, headers={**agent, "Host": parts.netloc, "Connection": "close"})
            response = connection.getresponse()
            return response.status, response.getheader("Location") or "", response.read(most + 1)
    finally:
        used.close()
        connection.close()


def _connected(peers: tuple[Peer, ...], timeout: float) -> socket.socket:
    """Connect to the first of some checked addresses that answers."""
    problem: OSError = OSError("no address")
    for peer in peers:
        try:
            return socket.create_connection((peer.address, peer.port), timeout)
        except OSError as error:
            problem = error
    raise problem


@contextmanager
def _ended_after(seconds: float, connection: socket.socket) -> Iterator[None]:
    """Shut a connection down after some seconds, and raise `FileMissing`.

    The timeout of a socket limits each wait for the server: one that sends a byte now and then would never end.
    """
    is_late = Event()

    def end() -> None:
        is_late.set()
        with suppress(OSError):  # it was closed at this moment
            socket.socket.shutdown(connection, socket.SHUT_RDWR)

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if is_late.is_set():
            raise FileMissing(f"took longer than {seconds:g} s")
