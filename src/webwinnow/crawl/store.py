"""`CrawlStore`: what a crawl knows, in a file, so that a crawl that was killed goes on where it was.

The fate of a page, the links found on it and the length of the WARC file after it are one transaction: at any moment a
page is either settled, with its records in the WARC file, or still waiting.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from webwinnow.errors import InputError

__all__ = ["CrawlStore", "Fate", "KnownPage", "KnownSite", "Link"]

FILE: Final = "crawl.sqlite"
FORMAT_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE site (id INTEGER PRIMARY KEY, start TEXT NOT NULL UNIQUE, base TEXT NOT NULL, closed TEXT);
CREATE TABLE page (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, site INTEGER NOT NULL, depth INTEGER NOT NULL, referrer INTEGER,
    redirects INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, fate TEXT NOT NULL DEFAULT 'waiting', reason TEXT,
    size INTEGER NOT NULL DEFAULT 0, fetched_at TEXT, warc_end INTEGER
);
CREATE INDEX page_fate ON page (fate);
"""


class Fate(StrEnum):
    """What became of an address."""

    WAITING = "waiting"
    STORED = "stored"
    REDIRECTED = "redirected"
    SKIPPED = "skipped"
    REFUSED = "refused"
    FAILED = "failed"


class KnownPage(NamedTuple):
    """An address that a crawl knows; `referrer` is the id of the page that led to it, `attempts` those that failed."""

    id: int
    url: str
    site: int
    depth: int
    referrer: int | None
    redirects: int
    attempts: int


class KnownSite(NamedTuple):
    """A start page and what was done below it: `settled` pages, of which `stored`; `attempts` that failed."""

    id: int
    start: str
    base: str
    closed: str | None
    stored: int
    settled: int
    attempts: int


class Link(NamedTuple):
    """An address to be known from now on."""

    url: str
    depth: int
    referrer: int | None
    redirects: int = 0


class CrawlStore:
    """The state of one crawl, in a folder of its own. `commit` makes what was written since the last one lasting."""

    def __init__(self, folder: Path, *, create: bool) -> None:
        self.path = folder / FILE
        if not create and not self.path.is_file():
            raise InputError(f"{folder} holds no crawl to go on with; start one without --resume")
        self._base = sqlite3.connect(self.path, isolation_level=None)
        try:
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")
            if create:
                self._base.executescript(_SCHEMA)
                self.note("format_version", FORMAT_VERSION)
            version = self.noted("format_version")
        except sqlite3.DatabaseError as error:
            self._base.close()
            raise InputError(f"{self.path} is damaged ({error}); start the crawl again without --resume") from None
        if version != FORMAT_VERSION:
            self._base.close()
            raise InputError(f"{self.path} has format {version}, this program {FORMAT_VERSION}; start the crawl again")
        self._base.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is None:
            self.commit()
        self.close()

    def close(self) -> None:
        """Close the file; what was not committed is gone."""
        self._base.close()

    def commit(self) -> None:
        """Make all that was written lasting."""
        self._base.execute("COMMIT")
        self._base.execute("BEGIN")

    def note(self, name: str, value: Any) -> None:
        """Keep a value under a name."""
        self._base.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, json.dumps(value)))

    def noted(self, name: str) -> Any:
        """The value that was kept under a name, or None."""
        row = self._base.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return None if row is None else json.loads(row[0])

    # Sites

    def add_site(self, start: str) -> int | None:
        """A new site with this start page; None if there is one."""
        cursor = self._base.execute("INSERT OR IGNORE INTO site (start, base) VALUES (?, ?)", (start, start))
        return cursor.lastrowid if cursor.rowcount else None

    def move_site(self, site: int, base: str) -> None:
        """The start page was redirected: the site is what is below there."""
        self._base.execute("UPDATE site SET base = ? WHERE id = ?", (base, site))

    def close_site(self, site: int, reason: str) -> None:
        """No more pages of this site."""
        self._base.execute("UPDATE site SET closed = ? WHERE id = ?", (reason, site))

    def sites(self) -> list[KnownSite]:
        """All sites, in the order in which they were added."""
        return [
            KnownSite(*row)
            for row in self._base.execute(
                """
                SELECT site.id, start, base, closed, coalesce(sum(fate = 'stored'), 0),
                    coalesce(sum(fate != 'waiting'), 0), coalesce(sum(attempts), 0)
                FROM site LEFT JOIN page ON page.site = site.id GROUP BY site.id ORDER BY site.id
                """
            )
        ]

    # Pages

    def add_page(self, site: int, link: Link) -> int | None:
        """A new page that waits to be read; None if its address is known."""
        cursor = self._base.execute(
            "INSERT OR IGNORE INTO page (url, site, depth, referrer, redirects) VALUES (?, ?, ?, ?, ?)",
            (link.url, site, link.depth, link.referrer, link.redirects),
        )
        return cursor.lastrowid if cursor.rowcount else None

    def page(self, number: int) -> KnownPage:
        """A page by its id."""
        row = self._base.execute(
            "SELECT id, url, site, depth, referrer, redirects, attempts FROM page WHERE id = ?", (number,)
        ).fetchone()
        return KnownPage(*row)

    def url(self, number: int | None) -> str | None:
        """The address of a page by its id."""
        return None if number is None else self.page(number).url

    def waiting(self) -> Iterator[KnownPage]:
        """The pages that are not settled, in the order in which they were found."""
        for row in self._base.execute(
            "SELECT id, url, site, depth, referrer, redirects, attempts FROM page WHERE fate = 'waiting' ORDER BY id"
        ):
            yield KnownPage(*row)

    def count_attempt(self, number: int) -> None:
        """A page did not come and will be tried again."""
        self._base.execute("UPDATE page SET attempts = attempts + 1 WHERE id = ?", (number,))

    def settle(
        self,
        number: int,
        fate: Fate,
        reason: str | None,
        *,
        size: int = 0,
        fetched_at: str | None = None,
        warc_end: int | None = None,
    ) -> None:
        """What became of a page; `warc_end` is the length of the WARC file with its records."""
        self._base.execute(
            "UPDATE page SET fate = ?, reason = ?, size = ?, fetched_at = ?, warc_end = ? WHERE id = ?",
            (fate, reason, size, fetched_at, warc_end, number),
        )

    def warc_end(self, length: int) -> int:
        """How much of a WARC file of this length is settled. What should be there and is not waits to be read again."""
        self._base.execute(
            "UPDATE page SET fate = 'waiting', reason = NULL, warc_end = NULL WHERE warc_end > ?", (length,)
        )
        return int(self._base.execute("SELECT coalesce(max(warc_end), 0) FROM page").fetchone()[0])

    def counts(self) -> dict[str, int]:
        """How many pages have which fate."""
        return dict(self._base.execute("SELECT fate, count(*) FROM page GROUP BY fate ORDER BY fate"))

    def reasons(self) -> list[tuple[str, str, int]]:
        """Fate, reason and count of the pages that were not stored, the most frequent first."""
        return self._base.execute(
            """
            SELECT fate, reason, count(*) FROM page WHERE fate IN ('skipped', 'refused', 'failed')
            GROUP BY fate, reason ORDER BY count(*) DESC, fate, reason
            """
        ).fetchall()

    def log(self) -> Iterator[dict[str, Any]]:
        """A line for each address: what became of it, and how it was found."""
        names = ("url", "site", "depth", "referrer", "fate", "reason", "size", "fetched_at")
        for row in self._base.execute(
            """
            SELECT page.url, site.start, page.depth, led.url, page.fate, page.reason, page.size, page.fetched_at
            FROM page JOIN site ON site.id = page.site LEFT JOIN page AS led ON led.id = page.referrer ORDER BY page.id
            """
        ):
            yield dict(zip(names, row, strict=True))
