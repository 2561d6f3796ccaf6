"""`WebServer`: an HTTP server on loopback for tests, benchmarks and tools: pages by host name, faults on demand, a log.

    with WebServer({"http://a.test/": "<p>Hello", "http://a.test/slow": Reply(b"<p>Late", wait=2)}) as server:
        ...  # every host name is served on server.port; server.log lists the requests and their times

A page may also be a function of the request, and one function (`answer`) may answer all requests.
"""

from __future__ import annotations

import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Self
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
REASONS = {200: "OK", 301: "Moved Permanently", 302: "Found", 404: "Not Found", 503: "Service Unavailable"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request; `url` is without the server's port."""

    url: str
    headers: Mapping[str, str]

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def path(self) -> str:
        parts = urlsplit(self.url)
        return parts.path + (f"?{parts.query}" if parts.query else "")


@dataclass(frozen=True, slots=True)
class Reply:
    """A response. `wait`: seconds before it is sent. `claims`: a Content-Length other than the body's. `chunked`: size
    of the chunks of the body. `pieces`: sent after `body`, until the client disconnects. `raw`: the whole response,
    headers included.
    """

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)
    wait: float = 0.0
    claims: int | None = None
    chunked: int = 0
    pieces: Callable[[], Iterable[bytes]] | None = None
    raw: bytes | None = None


def redirect(target: str, status: int = 302) -> Reply:
    """A redirect."""
    return Reply(status=status, headers=(("Location", target),))


@dataclass(slots=True)
class Logged:
    """A line of the log, by `time.monotonic`: when the request was read, and when the response began and was sent."""

    asked: Asked
    began: float
    answered: float = 0.0
    ended: float = 0.0
    connection: int = 0


Answer = str | bytes | Reply | Callable[[Asked], "str | bytes | Reply"]


@dataclass
class WebServer:
    """Serves `pages` by URL, or by path alone for every host; other requests go to `answer`, else 404."""

    pages: Mapping[str, Answer] = field(default_factory=dict)
    answer: Callable[[Asked], str | bytes | Reply] | None = None
    address: str = LOOPBACK
    port: int = 0
    keep_alive: bool = True
    secure: ssl.SSLContext | None = None

    def __post_init__(self) -> None:
        self.log: list[Logged] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()

    def __enter__(self) -> Self:
        outer = self

        class Handler(_Handler):
            server_of_pages = outer

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            block_on_close = False
            request_queue_size = 64

            def get_request(self) -> tuple[socket.socket, object]:
                connection, address = super().get_request()
                if outer.secure is not None:
                    connection = outer.secure.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
                return connection, address

            def handle_error(self, request: object, client_address: object) -> None:
                """Ignore errors: clients may disconnect at any time."""

        self._server = Server((self.address, self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            for connection in self._connections:
                _shut(connection)

    def route(self, host: str = "*.test") -> str:
        """The argument of `--resolve` that maps a host name to this server."""
        return f"{host}={self.address}:{self.port}"

    @property
    def paths(self) -> list[str]:
        """The requested paths, in order."""
        return [line.asked.path for line in self.log]

    def reply_to(self, asked: Asked) -> Reply:
        found: Answer | None = self.pages.get(asked.url, self.pages.get(asked.path))
        if found is None and self.answer is not None:
            found = self.answer(asked)
        if found is None:
            found = Reply(b"<p>Not here", status=404)
        if callable(found):
            found = found(asked)
        if isinstance(found, str):
            found = found.encode()
        return Reply(found) if isinstance(found, bytes) else found

    def begin(self, asked: Asked, connection: int) -> Logged:
        line = Logged(asked, time.monotonic(), connection=connection)
        with self._lock:
            self.log.append(line)
        return line

    def opened(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.add(connection)

    def closed(self, connection: socket.socket) -> None:
        with self._lock:
            self._connections.discard(connection)


class _Handler(socketserver.StreamRequestHandler):
    server_of_pages: WebServer
    disable_nagle_algorithm = True

    def handle(self) -> None:
        server = self.server_of_pages
        server.opened(self.connection)
        with suppress(OSError):  # the client has disconnected
            while self._one() and server.keep_alive and not server.closing.is_set():
                pass
        server.closed(self.connection)

    def _one(self) -> bool:
        """Answer one request; return whether the connection stays open."""
        server = self.server_of_pages
        asked = _read_request(self.rfile)
        if asked is None:
            return False
        line = server.begin(asked, id(self.connection))
        reply = server.reply_to(asked)
        try:
            if reply.wait and server.closing.wait(reply.wait):
                return False
            line.answered = time.monotonic()  # before the client can know
            return self._send(reply)
        finally:
            line.ended = time.monotonic()

    def _send(self, reply: Reply) -> bool:
        if reply.raw is not None:
            self.wfile.write(reply.raw)
            return False
        headers = [f"{name}: {value}" for name, value in reply.headers]
        if reply.chunked:
            headers.append("Transfer-Encoding: chunked")
        elif reply.pieces is None or reply.claims is not None:
            headers.append(f"Content-Length: {len(reply.body) if reply.claims is None else reply.claims}")
        status = f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Status')}"
        self.wfile.write("\r\n".join([status, *headers, "", ""]).encode("latin-1"))
        if reply.chunked:
            for at in range(0, len(reply.body), reply.chunked):
                piece = reply.body[at : at + reply.chunked]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")
            return True
        self.wfile.write(reply.body)
        if reply.pieces is not None:
            for piece in reply.pieces():
                self.wfile.write(piece)
        return reply.pieces is None and reply.claims is None


def _read_request(stream: IO[bytes]) -> Asked | None:
    first = stream.readline(65536).split()
    if len(first) < 2:
        return None
    headers: dict[str, str] = {}
    while (line := stream.readline(65536).strip()) != b"":
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    host = headers.get("host", "").partition(":")[0]
    return Asked(f"http://{host}{first[1].decode('latin-1')}", headers)


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
