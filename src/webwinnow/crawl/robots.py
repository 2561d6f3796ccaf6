"""`Rules`: what a robots.txt allows (RFC 9309), read by Protego, a dependency of Scrapy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from protego import Protego

ROBOTS_BYTES: Final = 500 * 1024
"""Bytes of a robots.txt that are read (RFC 9309, 2.5)."""
MOST_REDIRECTS: Final = 5
"""Redirects of a robots.txt that are followed (RFC 9309, 2.3.1.2)."""
LONGEST_DELAY: Final = 60.0
"""Maximum Crawl-delay in seconds. Ours: with a longer one a site would never be finished."""
FORBIDDEN: Final = "robots.txt forbids it"


@dataclass(frozen=True, slots=True)
class Rules:
    """Which URLs of an origin may be fetched, and how fast.

    `closed` is the reason if none may: RFC 9309 requires that if the server cannot deliver its robots.txt.
    """

    parsed: Protego | None = None
    closed: str | None = None
    failed: bool = False

    @classmethod
    def of(cls, status: int, body: bytes) -> Rules:
        """Return the rules of a response: a missing file allows everything, a failing server nothing."""
        if 200 <= status < 300:
            return cls(Protego.parse(body[:ROBOTS_BYTES].decode("utf-8", "replace")))
        if status >= 500 or status == 429:
            return cls(closed=f"robots.txt could not be read (status {status})", failed=True)
        return cls()

    def why_not(self, url: str, user_agent: str) -> str | None:
        if self.closed is not None:
            return self.closed
        if self.parsed is None or self.parsed.can_fetch(url, user_agent):
            return None
        return FORBIDDEN

    def delay(self, user_agent: str) -> float:
        """Return the seconds that the origin wants between requests."""
        asked = None if self.parsed is None else self.parsed.crawl_delay(user_agent)
        return min(float(asked or 0.0), LONGEST_DELAY)
