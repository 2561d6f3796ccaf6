"""The server: uvicorn with our application, our log, and a time limit for request heads."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from webwinnow.errors import SettingsError, WebwinnowError
from webwinnow.platforms import locked_file
from webwinnow.serve.app import create_app
from webwinnow.serve.settings import ServiceSettings

HEAD_SECONDS = 15.0
"""A connection without a complete request head by then is closed."""
MOST_CONNECTIONS = 512
BACKLOG = 2_048
"""Connections that may wait; uvicorn's default."""
KEPT_SECONDS = 75
"""Idle connections are kept longer than clients keep theirs, so that none is closed while it is used again."""
CLOSING_SECONDS = 10


class ClockedProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn with a time limit for request heads."""

    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the clock."""
        super().connection_made(transport)
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        """Start the clock where another head begins on a kept connection."""
        if self._is_idle() and (self._clock is None or self._asked is not self.cycle):
            self._start_clock()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()

    def _start_clock(self) -> None:
        self._stop_clock()
        self._asked = self.cycle
        self._clock = self.loop.call_later(HEAD_SECONDS, self._ring)

    def _ring(self) -> None:
        self._clock = None
        if self.cycle is self._asked and not self.transport.is_closing():
            self.transport.close()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete


def serve(settings: ServiceSettings, on_listening: Callable[[int], None] | None = None) -> None:
    """Serve until Ctrl-C or SIGTERM. `on_listening` gets the port. Raises `SettingsError` for a bad folder or port."""
    try:
        lock = _locked(settings.folder)
        app = create_app(settings)
    except OSError as error:
        raise SettingsError(
            f"{settings.folder} cannot be the server's folder ({error.strerror}); choose another with --folder"
        ) from None
    sockets = _listening(settings.host.strip("[]"), settings.port)
    if on_listening is not None:
        on_listening(sockets[0].getsockname()[1])
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    config = uvicorn.Config(
        app,
        http=ClockedProtocol,
        access_log=False,  # it logs URLs; ours logs routes
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEPT_SECONDS,
        timeout_graceful_shutdown=CLOSING_SECONDS,
    )
    server = uvicorn.Server(config)
    with lock:
        server.run(sockets=sockets)
    if not server.started:
        raise WebwinnowError("the server could not start; its log says why")


def _locked(folder: Path) -> IO[bytes]:
    """Lock the folder, before anything in it is read or removed. Raises `SettingsError` if another server has it."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = locked_file(folder / "lock")
    if lock is None:
        raise SettingsError(f"another server uses {folder}; stop it, or choose another folder with --folder")
    return lock


def _listening(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of a host, all on one port. Raises `SettingsError` where there is none."""
    sockets: list[socket.socket] = []
    for family, address in _addresses(host):
        found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # so named, asyncio sends at once
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)  # IPv4 has a socket of its own
            found.bind((address, port))
            found.listen(BACKLOG)
        except OSError as error:
            found.close()
            if error.errno == errno.EADDRNOTAVAIL:  # a name may have addresses of other machines
                continue
            for other in sockets:
                other.close()
            why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be had ({error.strerror})"
            raise SettingsError(f"port {port} of {host} {why}; choose another with --port") from None
        sockets.append(found)
        port = found.getsockname()[1]  # for port 0 the system chooses
    if not sockets:
        raise SettingsError(f"{host} is no address of this machine; choose another with --host")
    return sockets


def _addresses(host: str) -> list[tuple[socket.AddressFamily, str]]:
    try:
        found = socket.getaddrinfo(host or None, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))
