"""`Rules`: what a robots.txt allows (RFC 9309). Protego, which Scrapy brings, reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from protego import Protego

__all__ = ["MOST_REDIRECTS", "ROBOTS_BYTES", "Rules"]

ROBOTS_BYTES: Final = 500 * 1024
"""How much of a robots.txt is read: what RFC 9309, 2.5 asks for."""
MOST_REDIRECTS: Final = 5
"""Redirects of a robots.txt that are followed (RFC 9309, 2.3.1.2)."""
LONGEST_DELAY: Final = 60.0
"""Seconds of Crawl-delay that are obeyed. Ours: a host that asks for more would never be read."""
FORBIDDEN: Final = "robots.txt forbids it"


@dataclass(frozen=True, slots=True)
class Rules:
    """Which addresses of an origin may be read, and how fast.

    `closed` gives the reason where none may: RFC 9309 asks for that if the server cannot say what it allows.
    """

    parsed: Protego | None = None
    closed: str | None = None
    failed: bool = False

    @classmethod
    def of(cls, status: int, body: bytes) -> Rules:
        """The rules that a response gives: none there, all is allowed; a server that fails, nothing is."""
        if 200 <= status < 300:
            return cls(Protego.parse(body[:ROBOTS_BYTES].decode("utf-8", "replace")))
        if status >= 500 or status == 429:
            return cls(closed=f"robots.txt could not be read (status {status})", failed=True)
        return cls()

    def why_not(self, url: str, user_agent: str) -> str | None:
        """Why an address may not be read; None where it may."""
        if self.closed is not None:
            return self.closed
        if self.parsed is None or self.parsed.can_fetch(url, user_agent):
            return None
        return FORBIDDEN

    def delay(self, user_agent: str) -> float:
        """Seconds that the origin wants between requests."""
        asked = None if self.parsed is None else self.parsed.crawl_delay(user_agent)
        return min(float(asked or 0.0), LONGEST_DELAY)
