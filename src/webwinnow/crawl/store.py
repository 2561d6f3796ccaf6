"""`CrawlStore`: the state of a crawl in an SQLite file, so that a killed crawl can be resumed.

The fate of a page, its links and the length of the WARC file after it are one transaction: at any moment a page is
either settled, with its records in the WARC file, or still waiting.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from webwinnow.storage.database import open_database, read_note, write_note

FILE: Final = "crawl.sqlite"
FORMAT_VERSION: Final = 2
RENDERED: Final = "rendered"
NOT_RENDERED: Final = "not rendered: "
"""Reasons of stored pages; the second is followed by why not."""
_SCHEMA: Final = """
CREATE TABLE site (id INTEGER PRIMARY KEY, start TEXT NOT NULL UNIQUE, base TEXT NOT NULL, closed TEXT);
CREATE TABLE page (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, site INTEGER NOT NULL, depth INTEGER NOT NULL, referrer INTEGER,
    redirects INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, fate TEXT NOT NULL DEFAULT 'waiting', reason TEXT,
    size INTEGER NOT NULL DEFAULT 0, fetched_at TEXT, warc_end INTEGER
);
CREATE INDEX page_fate ON page (fate);
"""


class Fate(StrEnum):
    """What became of a URL."""

    WAITING = "waiting"
    STORED = "stored"
    REDIRECTED = "redirected"
    SKIPPED = "skipped"
    REFUSED = "refused"
    FAILED = "failed"


class KnownPage(NamedTuple):
    """A URL that a crawl knows; `referrer` is the id of the linking page, `attempts` counts failed requests."""

    id: int
    url: str
    site: int
    depth: int
    referrer: int | None
    redirects: int
    attempts: int


_PAGE_COLUMNS: Final = ", ".join(KnownPage._fields)


class KnownSite(NamedTuple):
    """A start page and the progress below it: `settled` pages, of which `stored`; failed `attempts`."""

    id: int
    start: str
    base: str
    closed: str | None
    stored: int
    settled: int
    attempts: int


class Link(NamedTuple):
    """A URL to add."""

    url: str
    depth: int
    referrer: int | None
    redirects: int = 0


def has_begun(folder: Path) -> bool:
    """Whether a crawl is stored in a folder. One that was killed before has nothing to resume."""
    return (folder / FILE).is_file()


class CrawlStore:
    """The state of one crawl, in a folder of its own. `commit` makes the changes since the last one permanent."""

    def __init__(self, folder: Path) -> None:
        advice = "start the crawl again without --resume"
        self._base = open_database(folder / FILE, _SCHEMA, version=FORMAT_VERSION, advice=advice)
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
        """Close the file; changes that were not committed are lost."""
        self._base.close()

    def commit(self) -> None:
        self._base.execute("COMMIT")
        self._base.execute("BEGIN")

    def note(self, name: str, value: Any) -> None:
        write_note(self._base, name, value)

    def noted(self, name: str) -> Any:
        return read_note(self._base, name)

    # Sites

    def add_site(self, start: str) -> int | None:
        """Add a site with this start page and return its id; None if it is known."""
        cursor = self._base.execute("INSERT OR IGNORE INTO site (start, base) VALUES (?, ?)", (start, start))
        return cursor.lastrowid if cursor.rowcount else None

    def move_site(self, site: int, base: str) -> None:
        """Change the base of a site whose start page was redirected."""
        self._base.execute("UPDATE site SET base = ? WHERE id = ?", (base, site))

    def close_site(self, site: int, reason: str) -> None:
        self._base.execute("UPDATE site SET closed = ? WHERE id = ?", (reason, site))

    def sites(self) -> list[KnownSite]:
        """Return all sites in the order in which they were added."""
        rows = self._base.execute(
            """
            SELECT site.id, start, base, closed, coalesce(sum(fate = 'stored'), 0),
                coalesce(sum(fate != 'waiting'), 0), coalesce(sum(attempts), 0)
            FROM site LEFT JOIN page ON page.site = site.id GROUP BY site.id ORDER BY site.id
            """
        )
        return [KnownSite(*row) for row in rows]

    # Pages

    def add_page(self, site: int, link: Link) -> int | None:
        """Add a waiting page and return its id; None if its URL is known."""
        cursor = self._base.execute(
            "INSERT OR IGNORE INTO page (url, site, depth, referrer, redirects) VALUES (?, ?, ?, ?, ?)",
            (link.url, site, link.depth, link.referrer, link.redirects),
        )
        return cursor.lastrowid if cursor.rowcount else None

    def page(self, number: int) -> KnownPage:
        return KnownPage(*self._base.execute(f"SELECT {_PAGE_COLUMNS} FROM page WHERE id = ?", (number,)).fetchone())

    def url(self, number: int | None) -> str | None:
        return None if number is None else self.page(number).url

    def waiting(self) -> Iterator[KnownPage]:
        """Yield the pages that are not settled, in the order in which they were found."""
        rows = self._base.execute(f"SELECT {_PAGE_COLUMNS} FROM page WHERE fate = 'waiting' ORDER BY id")
        return (KnownPage(*row) for row in rows)

    def count_attempt(self, number: int) -> None:
        """Count a failed request for a page that will be tried again."""
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
        """Record the fate of a page; `warc_end` is the length of the WARC file including its records."""
        self._base.execute(
            "UPDATE page SET fate = ?, reason = ?, size = ?, fetched_at = ?, warc_end = ? WHERE id = ?",
            (fate, reason, size, fetched_at, warc_end, number),
        )

    def warc_end(self, length: int) -> int:
        """Return how much of a WARC file of this length is settled; pages whose records are missing wait again."""
        self._base.execute(
            "UPDATE page SET fate = 'waiting', reason = NULL, warc_end = NULL WHERE warc_end > ?", (length,)
        )
        return int(self._base.execute("SELECT coalesce(max(warc_end), 0) FROM page").fetchone()[0])

    def counts(self) -> dict[str, int]:
        return dict(self._base.execute("SELECT fate, count(*) FROM page GROUP BY fate ORDER BY fate"))

    def reasons(self) -> list[tuple[str, str, int]]:
        """Return fate, reason and count of the pages that were not stored, most frequent first."""
        return self._base.execute(
            """
            SELECT fate, reason, count(*) FROM page WHERE fate IN ('skipped', 'refused', 'failed')
            GROUP BY fate, reason ORDER BY count(*) DESC, fate, reason
            """
        ).fetchall()

    def stored_notes(self) -> list[tuple[str, int]]:
        """Return the reasons of stored pages, which say whether they were rendered, and their counts."""
        return self._base.execute(
            """
            SELECT reason, count(*) FROM page WHERE fate = 'stored' AND reason IS NOT NULL
            GROUP BY reason ORDER BY count(*) DESC, reason
            """
        ).fetchall()

    def log(self) -> Iterator[dict[str, Any]]:
        """Yield one entry per URL: its fate, and how it was found."""
        names = ("url", "site", "depth", "referrer", "fate", "reason", "size", "fetched_at")
        for row in self._base.execute(
            """
            SELECT page.url, site.start, page.depth, led.url, page.fate, page.reason, page.size, page.fetched_at
            FROM page JOIN site ON site.id = page.site LEFT JOIN page AS led ON led.id = page.referrer ORDER BY page.id
            """
        ):
            yield dict(zip(names, row, strict=True))
