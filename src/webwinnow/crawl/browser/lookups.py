"""`NameLookups`: the addresses of hosts, looked up in threads of their own; `connected`: a connection to a checked one.

A lookup blocks its thread until a name server answers, and a page chooses the names. So it has a limit of time, a page
has a few at the same time, and nothing else (such as the memory limit) runs in those threads or waits for them.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from threading import Thread
from typing import Final

from webwinnow.crawl.guard import AddressGuard, Peer
from webwinnow.errors import InputError

HEAD_BYTES: Final = 1 << 18
"""Maximum size of the header of a request or response, as in the crawler."""
CONNECT_SECONDS: Final = 10.0
LOOKUP_SECONDS: Final = 10.0
"""Seconds until a name must have an address, the wait for a free thread included. Ours: resolvers retry after 5."""
MOST_LOOKUPS: Final = 8
"""Lookups of one page at the same time. Ours: a browser has six connections to a host."""

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class NameLookups:
    """The lookups of one page."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(MOST_LOOKUPS)

    async def peers(self, guard: AddressGuard, host: str, port: int) -> tuple[Peer, ...]:
        """Return what `AddressGuard.peers` does; `TimeoutError` if that takes too long."""
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                await self._free.acquire()
                answer: asyncio.Future[tuple[Peer, ...]] = asyncio.get_running_loop().create_future()
                Thread(target=self._look_up, args=(guard, host, port, answer), daemon=True).start()
                return await answer
        except TimeoutError:
            raise TimeoutError(f"{host} has no address after {LOOKUP_SECONDS:g} s") from None

    def _look_up(self, guard: AddressGuard, host: str, port: int, answer: asyncio.Future[tuple[Peer, ...]]) -> None:
        found: tuple[Peer, ...] | Exception
        try:
            found = guard.peers(host, port)
        except (OSError, InputError) as problem:
            found = problem
        except ValueError:  # a zero byte
            found = OSError(f"{host!r} is no host name")
        with suppress(RuntimeError):  # the renderer has been closed
            answer.get_loop().call_soon_threadsafe(self._receive, answer, found)

    def _receive(self, answer: asyncio.Future[tuple[Peer, ...]], found: tuple[Peer, ...] | Exception) -> None:
        self._free.release()
        if answer.done():
            return
        if isinstance(found, Exception):
            answer.set_exception(found)
        else:
            answer.set_result(found)


async def connected(peers: tuple[Peer, ...]) -> tuple[Connection, str]:
    """Connect to the first of some checked addresses that answers, and return which; `OSError` if none does."""
    problem: OSError = OSError("no address")
    for peer in peers:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await asyncio.open_connection(peer.address, peer.port, limit=HEAD_BYTES), peer.address
        except OSError as error:  # TimeoutError is one
            problem = error
    raise problem
