"""The server: uvicorn with our application, our logs, and a clock on connections that never get to a request."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from webwinnow.service.app import create_app
from webwinnow.service.settings import ServiceSettings

__all__ = ["serve"]

HEAD_SECONDS = 15.0
"""A connection on which no whole request head came by then is closed."""
MOST_CONNECTIONS = 512
KEPT_SECONDS = 75
"""An idle connection is kept so long: longer than clients keep theirs, so that none is closed as it is used again."""
CLOSING_SECONDS = 10


class ClockedProtocol(H11Protocol):
    """HTTP/1.1 of uvicorn, which waits for ever for a head that comes letter by letter; this does not."""

    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the clock for the first head."""
        super().connection_made(transport)
        self._start_clock()

    def data_received(self, data: bytes) -> None:
        """Start the clock where a further head begins on a connection that is kept."""
        if self._clock is None and self._is_idle():
            self._start_clock()
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        if self._clock is not None:
            self._clock.cancel()
        super().connection_lost(exc)

    def _start_clock(self) -> None:
        self._asked = self.cycle
        self._clock = self.loop.call_later(HEAD_SECONDS, self._ring)

    def _ring(self) -> None:
        self._clock = None
        if self.cycle is self._asked and not self.transport.is_closing():
            self.transport.close()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete


def serve(settings: ServiceSettings) -> None:
    """Serve until told to stop (Ctrl-C, SIGTERM)."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
    uvicorn.run(
        create_app(settings),
        host=settings.host.strip("[]"),
        port=settings.port,
        http=ClockedProtocol,
        access_log=False,  # it names what was asked; ours names the route
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEPT_SECONDS,
        timeout_graceful_shutdown=CLOSING_SECONDS,
    )
