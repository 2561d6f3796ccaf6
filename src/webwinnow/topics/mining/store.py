"""`MineStore`: the state of a run of `sites mine`, in one file, so that a killed run can be continued.

A round of sites to read is one transaction, and so is each judged site with its pages and its record. The pages
themselves are in the WARC files of the rounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from webwinnow.storage.database import open_database, read_note, transaction, write_note

FILE: Final = "mine.sqlite"
FORMAT_VERSION: Final = 4
_SCHEMA: Final = """
CREATE TABLE site (
    name TEXT PRIMARY KEY, place INTEGER NOT NULL, start TEXT NOT NULL, round INTEGER NOT NULL, label TEXT,
    linked_by TEXT NOT NULL, record TEXT
);
CREATE TABLE page (
    site TEXT NOT NULL, place INTEGER NOT NULL, url TEXT NOT NULL, referrer TEXT, added INTEGER NOT NULL,
    PRIMARY KEY (site, place)
);
"""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page that was read, the page that linked to it, and whether it was added to the page tree."""

    url: str
    referrer: str | None
    added: bool


@dataclass(frozen=True, slots=True)
class StoredSite:
    """A site of a round: `label` if it is a seed, `record` once it was judged."""

    name: str
    start: str
    round: int
    label: str | None
    linked_by: tuple[str, ...]
    record: dict[str, Any] | None


class MineStore:
    """The state of one run, in its folder."""

    def __init__(self, folder: Path) -> None:
        self._database = open_database(
            folder / FILE,
            _SCHEMA,
            version=FORMAT_VERSION,
            advice="wait if another run is using the folder, or give another folder",
            durable=True,
            exclusive=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._database.close()

    def note(self, name: str, value: Any) -> None:
        """Store a value under a name."""
        write_note(self._database, name, value)

    def noted(self, name: str) -> Any:
        """The value stored under a name, or None."""
        return read_note(self._database, name)

    def add_round(self, number: int, sites: Sequence[tuple[str, str, str | None, Sequence[str]]]) -> None:
        """Add the sites of a round: name, start page, label of a seed, the sites that link to it."""
        with transaction(self._database):
            first = self._database.execute("SELECT COUNT(*) FROM site").fetchone()[0]
            self._database.executemany(
                "INSERT INTO site (name, place, start, round, label, linked_by) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (name, first + at, start, number, label, json.dumps(list(linked_by)))
                    for at, (name, start, label, linked_by) in enumerate(sites)
                ],
            )

    def judge(self, name: str, record: dict[str, Any], pages: Sequence[StoredPage]) -> None:
        """Store the record of a site and its pages."""
        with transaction(self._database):
            self._database.execute("UPDATE site SET record = ? WHERE name = ?", (json.dumps(record), name))
            self._database.execute("DELETE FROM page WHERE site = ?", (name,))
            self._database.executemany(
                "INSERT INTO page (site, place, url, referrer, added) VALUES (?, ?, ?, ?, ?)",
                [(name, place, page.url, page.referrer, page.added) for place, page in enumerate(pages)],
            )

    def sites(self) -> Iterator[StoredSite]:
        """The sites of all rounds, in the order they were chosen."""
        rows = self._database.execute("SELECT name, start, round, label, linked_by, record FROM site ORDER BY place")
        for name, start, number, label, linked_by, record in rows.fetchall():
            judged = None if record is None else json.loads(record)
            yield StoredSite(name, start, number, label, tuple(json.loads(linked_by)), judged)

    def pages(self, site: str) -> list[StoredPage]:
        """The pages of a site, in the order of reading."""
        rows = self._database.execute("SELECT url, referrer, added FROM page WHERE site = ? ORDER BY place", (site,))
        return [StoredPage(url, referrer, bool(added)) for url, referrer, added in rows]
