"""`GuardProxy`: the HTTP proxy on loopback that carries all traffic of a page, and refuses what is not allowed.

A name is resolved once, its addresses are checked, and the connection goes to a checked address, as in the crawler
(`crawl.guard`). TLS is tunnelled (CONNECT), not intercepted: the host is checked, and the browser checks the
certificate. WebSockets are tunnelled too. A connection carries one plain HTTP request, so that each is checked.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from webwinnow.crawl.browser.lookups import HEAD_BYTES, Connection, Lookups, connected
from webwinnow.crawl.guard import AddressGuard, AddressRefused

LOOPBACK: Final = "127.0.0.1"
CHUNK: Final = 1 << 16
HOP_HEADERS: Final = frozenset(b"connection keep-alive proxy-connection proxy-authorization te upgrade".split())
"""Headers of one connection, which are not passed on (RFC 9110, 7.6.1)."""
_CLOSE: Final = b"Connection: close"


@dataclass(slots=True)
class ProxiedRequest:
    """A request of the browser. `refused` says why it was not allowed or failed, "" if it was answered.

    `target` is a URL, or HOST:PORT of a tunnel. `address` is the checked IP address that it went to. A request over TLS
    is listed by its URL, and without an address: its tunnel, which further requests may use too, has that.
    """

    method: str
    target: str
    refused: str = ""
    address: str = ""
    received: int = 0


class _Refused(Exception):
    """A request that is not allowed."""


class GuardProxy:
    """Proxy of one page. Its `log` has every request; without a `guard` it refuses all of them.

    It counts connections: one for each plain request, and one for each tunnel, whatever goes through it. `_PageVisit`
    counts the requests themselves.
    """

    def __init__(self, guard: AddressGuard | None, *, max_bytes: int = 0, max_requests: int = 0) -> None:
        self.guard = guard
        self.max_bytes = max_bytes
        self.max_requests = max_requests
        self.log: list[ProxiedRequest] = []
        self.received = 0
        self.opened = 0
        self.lookups = Lookups()
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, LOOPBACK, 0, limit=HEAD_BYTES)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._serve(reader, writer)
            writer.close()
        except (OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
            writer.transport.abort()  # either end has disconnected, or the page has ended
        finally:
            self._connections.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, headers = _split_head(await reader.readuntil(b"\r\n\r\n"))
        method, target = [*first.split(b" "), b"", b""][:2]
        request = ProxiedRequest(method.decode("latin-1"), target.decode("latin-1"))
        self.log.append(request)
        self.opened += 1
        try:
            if any(_name(line) == b"transfer-encoding" for line in headers):
                raise _Refused("its body has no length")
            upstream = await self._connect(request)
        except (_Refused, AddressRefused, OSError) as why:
            request.refused = str(why) or type(why).__name__
            writer.write(b"HTTP/1.1 403 Refused\r\nContent-Length: 0\r\n" + _CLOSE + b"\r\n\r\n")
            await writer.drain()
            return
        try:
            if request.method == "CONNECT":
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                await self._relay(request, (reader, writer), upstream)
            else:
                await self._exchange(request, headers, (reader, writer), upstream)
        finally:
            upstream[1].transport.abort()

    async def _connect(self, request: ProxiedRequest) -> Connection:
        """Check a request and connect to the checked address."""
        if self.guard is None:
            raise _Refused("no page asked for it")
        if (over := self.why_too_many(self.opened)) is not None:
            raise _Refused(over)
        self._check_bytes()
        host, port = _host_of(request)
        if host == LOOPBACK and port == self.port:
            raise _Refused("it is the proxy itself")
        opened, request.address = await connected(await self.lookups.peers(self.guard, host, port))
        return opened

    def why_too_many(self, requests: int) -> str | None:
        """Return why no further request is allowed after this many; None if one is."""
        return f"the page made more than {self.max_requests:,} requests" if requests > self.max_requests else None

    def _check_bytes(self) -> None:
        if self.received > self.max_bytes:
            raise _Refused(f"the page received more than {self.max_bytes:,} bytes")

    async def _exchange(
        self,
        request: ProxiedRequest,
        headers: list[bytes],
        client: Connection,
        upstream: Connection,
    ) -> None:
        """Send one request and pass its response on. The browser then needs a new connection for the next one."""
        parts = urlsplit(request.target)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        kept = [line for line in headers if _name(line) not in {*HOP_HEADERS, b"host"}]
        host = parts.netloc.rpartition("@")[2]
        first = f"{request.method} {path} HTTP/1.1\r\nHost: {host}\r\n".encode("latin-1")
        upstream[1].write(first + b"".join(line + b"\r\n" for line in [*kept, _CLOSE]) + b"\r\n")
        left = _length(kept) or 0
        while left > 0 and (piece := await client[0].read(min(left, CHUNK))):
            left -= len(piece)
            self._count(request, len(piece))
            upstream[1].write(piece)
            await upstream[1].drain()
        status = b"100"
        while len(status) == 3 and status.startswith(b"1"):
            answer, fields = _split_head(await upstream[0].readuntil(b"\r\n\r\n"))
            status = [*answer.split(b" "), b""][1]
            kept = [line for line in fields if _name(line) not in HOP_HEADERS]
            ending = [] if status.startswith(b"1") else [_CLOSE]
            client[1].write(b"".join(line + b"\r\n" for line in [answer, *kept, *ending]) + b"\r\n")
        await self._relay(request, client, upstream, _length(kept))

    async def _relay(
        self,
        request: ProxiedRequest,
        client: Connection,
        upstream: Connection,
        length: int | None = None,
    ) -> None:
        """Pass bytes on until all `length` have come or one end closes; to the server only through a tunnel."""
        sends = upstream[1] if request.method == "CONNECT" else None
        both = [
            asyncio.ensure_future(self._pump(request, upstream[0], client[1], length)),
            asyncio.ensure_future(self._pump(request, client[0], sends)),
        ]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in both:
                pump.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    async def _pump(
        self,
        request: ProxiedRequest,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter | None,
        left: int | None = None,
    ) -> None:
        while piece := await source.read(CHUNK if left is None else min(left, CHUNK)):
            self._count(request, len(piece))
            left = None if left is None else left - len(piece)
            if sink is not None:
                sink.write(piece)
                await sink.drain()

    def _count(self, request: ProxiedRequest, size: int) -> None:
        self.received += size
        request.received += size
        try:
            self._check_bytes()
        except _Refused as why:
            request.refused = str(why)
            raise ConnectionAbortedError from None


def _host_of(request: ProxiedRequest) -> tuple[str, int]:
    """Return the host and port of a request; `_Refused` if it is none that a proxy takes."""
    tunnel = request.method == "CONNECT"
    try:
        parts = urlsplit(f"//{request.target}" if tunnel else request.target)
        port = parts.port or (None if tunnel else 80)
    except ValueError:
        raise _Refused("its URL is no URL") from None
    if parts.scheme != ("" if tunnel else "http") or not parts.hostname or port is None:
        raise _Refused("it is no request to a proxy")
    return parts.hostname, port


def _split_head(head: bytes) -> tuple[bytes, list[bytes]]:
    first, *headers = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    return first, headers


def _length(headers: list[bytes]) -> int | None:
    """Return the length of a body; None if the headers do not say it."""
    written = next((line.partition(b":")[2].strip() for line in headers if _name(line) == b"content-length"), b"")
    return int(written) if written.isdigit() else None


def _name(line: bytes) -> bytes:
    return line.partition(b":")[0].strip().lower()
