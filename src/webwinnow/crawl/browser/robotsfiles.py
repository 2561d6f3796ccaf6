"""`RobotsFiles`: the robots.txt of origins that a page requests files from, and that the crawl has not visited."""

from __future__ import annotations

import asyncio
import ssl
from http.client import HTTPException, HTTPMessage, parse_headers
from io import BytesIO
from typing import Final
from urllib.parse import urlsplit

from webwinnow.crawl.browser.namelookups import NameLookups, connected
from webwinnow.crawl.frontier import MOST_REDIRECTS, ROBOTS_BYTES, RULES_LAST, Rules
from webwinnow.crawl.guard import AddressGuard, AddressRefused
from webwinnow.page.urls import is_web_link, resolve

ROBOTS_SECONDS: Final = 10.0
"""Seconds for a robots.txt, redirects included; a page settles within 20."""
MOST_ORIGINS: Final = 10_000
"""Origins whose rules are remembered. Ours: some KB each."""
PORTS: Final = {"http": 80, "https": 443}


class RobotsFiles:
    """Fetches each robots.txt once, through the guard, and remembers its rules for the pages that follow."""

    def __init__(self, guard: AddressGuard) -> None:
        self.guard = guard
        self._known: dict[str, tuple[asyncio.Task[Rules], float]] = {}

    async def rules(self, url: str, user_agent: str, lookups: NameLookups) -> Rules:
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

    async def _fetched(self, url: str, user_agent: str, lookups: NameLookups) -> Rules:
        try:
            async with asyncio.timeout(ROBOTS_SECONDS):
                for _ in range(MOST_REDIRECTS + 1):
                    status, location, body = await self._get(url, user_agent, lookups)
                    target = resolve(url, location) if 300 <= status < 400 else None
                    if target is None or not is_web_link(target):
                        return Rules.of(status, body)
                    url = target
        except AddressRefused as refusal:
            return Rules(closed=str(refusal))
        except (
            OSError,
            EOFError,
            ValueError,
            LookupError,
            HTTPException,
            asyncio.LimitOverrunError,
        ) as problem:  # TimeoutError is an OSError
            why = str(problem) or type(problem).__name__
            return Rules(closed=f"robots.txt could not be read ({why})", failed=True)
        return Rules()

    async def _get(self, url: str, user_agent: str, lookups: NameLookups) -> tuple[int, str, bytes]:
        """Request a URL; return the status, the target of a redirect and the body."""
        parts = urlsplit(url)
        host = parts.hostname or ""
        peers = await lookups.peers(self.guard, host, parts.port or PORTS[parts.scheme])
        (reader, writer), _ = await connected(peers)
        try:
            if parts.scheme == "https":
                await writer.start_tls(ssl.create_default_context(), server_hostname=host)
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            agent = f"User-Agent: {user_agent}\r\n" if user_agent else ""
            head = f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n{agent}Accept-Encoding: identity\r\n"
            writer.write(f"{head}Connection: close\r\n\r\n".encode("ascii"))
            status, headers = await _read_head(reader)
            return status, headers.get("Location", ""), await _read_body(reader, headers)
        finally:
            writer.transport.abort()


async def _read_head(reader: asyncio.StreamReader) -> tuple[int, HTTPMessage]:
    """Read status and headers of the final response."""
    status = 100
    while 100 <= status < 200:
        first, _, rest = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")
        status = int(first.split()[1])
        headers = parse_headers(BytesIO(rest))
    return status, headers


async def _read_body(reader: asyncio.StreamReader, headers: HTTPMessage) -> bytes:
    """Read as much of a body as counts. Some servers keep the connection open, so its end is in its framing."""
    if headers.get("Transfer-Encoding", "").lower() == "chunked":
        body = bytearray()
        while len(body) < ROBOTS_BYTES and (size := int((await reader.readline()).partition(b";")[0], 16)):
            body += (await reader.readexactly(min(size, ROBOTS_BYTES) + 2))[:-2]
        return bytes(body)
    wanted = min(int(headers.get("Content-Length", ROBOTS_BYTES)), ROBOTS_BYTES)
    body = bytearray()
    while len(body) < wanted and (piece := await reader.read(wanted - len(body))):
        body += piece
    return bytes(body)
