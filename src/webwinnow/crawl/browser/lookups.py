"""What is looked up for the requests of a page: addresses of hosts, and the robots.txt of origins.

Both block, and the page chooses the names. So each call has a thread of its own and a limit of time, a page has a few
at the same time, and nothing else (such as the memory limit) runs in those threads or waits for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from webwinnow.crawl.frontier import MOST_REDIRECTS, ROBOTS_BYTES, RULES_LAST, Rules
from webwinnow.crawl.guard import AddressGuard, AddressRefused, Peer
from webwinnow.crawl.smallfiles import TooManyRedirects, fetch
from webwinnow.errors import InputError

HEAD_BYTES: Final = 1 << 18
"""Maximum size of the header of a request or response, as in the crawler."""
CONNECT_SECONDS: Final = 10.0
LOOKUP_SECONDS: Final = 10.0
"""Seconds until a name must have an address, the wait for a free thread included. Ours: resolvers retry after 5."""
MOST_LOOKUPS: Final = 8
"""Lookups of one page at the same time. Ours: a browser has six connections to a host."""
ROBOTS_SECONDS: Final = 10.0
"""Seconds for a robots.txt, redirects included; a page settles within 20."""
MOST_ORIGINS: Final = 10_000
"""Origins whose rules are remembered. Ours: some KB each."""

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Found = TypeVar("Found")


class Lookups:
    """The lookups of one page."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(MOST_LOOKUPS)

    async def peers(self, guard: AddressGuard, host: str, port: int) -> tuple[Peer, ...]:
        """Return what `AddressGuard.peers` does; `TimeoutError` if that takes too long."""
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                return await self.run(partial(guard.peers, host, port))
        except TimeoutError:
            raise TimeoutError(f"{host} has no address after {LOOKUP_SECONDS:g} s") from None
        except ValueError:  # a zero byte
            raise OSError(f"{host!r} is no host name") from None

    async def run(self, call: Callable[[], Found]) -> Found:
        """Return what a call returns that may block; the caller limits its time."""
        await self._free.acquire()
        answer: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
        Thread(target=self._call, args=(call, answer), daemon=True).start()
        return await answer

    def _call(self, call: Callable[[], Found], answer: asyncio.Future[Found]) -> None:
        set_answer: Callable[[Any], None] = answer.set_result
        try:
            found: Any = call()
        except (OSError, ValueError, InputError) as problem:
            set_answer, found = answer.set_exception, problem
        with suppress(RuntimeError):  # the renderer has been closed
            answer.get_loop().call_soon_threadsafe(self._receive, answer, set_answer, found)

    def _receive(self, answer: asyncio.Future[Found], set_answer: Callable[[Any], None], found: Any) -> None:
        self._free.release()
        if not answer.done():
            set_answer(found)


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


class RobotsFiles:
    """Fetches each robots.txt that the crawl has not read once, through the guard, and remembers its rules."""

    def __init__(self, guard: AddressGuard) -> None:
        self.guard = guard
        self._known: dict[str, tuple[asyncio.Task[Rules], float]] = {}

    async def rules(self, url: str, user_agent: str, lookups: Lookups) -> Rules:
        """Return the rules of a URL's origin. As in the crawler, a server that fails to deliver them allows nothing."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        now = asyncio.get_running_loop().time()
        task, fetched_at = self._known.get(origin, (None, 0.0))
        if task is None or now - fetched_at > RULES_LAST:
            while len(self._known) >= MOST_ORIGINS:
                del self._known[next(iter(self._known))]
            task = asyncio.ensure_future(self._fetched(f"{origin}/robots.txt", user_agent, lookups))
            self._known[origin] = (task, now)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End the requests under way."""
        tasks = [task for task, _ in self._known.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _fetched(self, url: str, user_agent: str, lookups: Lookups) -> Rules:
        limits: Any = {"redirects": MOST_REDIRECTS, "timeout": ROBOTS_SECONDS, "seconds": ROBOTS_SECONDS}
        try:
            async with asyncio.timeout(ROBOTS_SECONDS):
                file = partial(fetch, url, self.guard, user_agent=user_agent, most=ROBOTS_BYTES, **limits)
                return Rules.of(*await lookups.run(file))
        except AddressRefused as refusal:
            return Rules(closed=str(refusal))
        except TooManyRedirects:
            return Rules()
        except (OSError, ValueError, InputError) as problem:  # TimeoutError is an OSError
            why = str(problem) or type(problem).__name__
            return Rules(closed=f"robots.txt could not be read ({why})", failed=True)
