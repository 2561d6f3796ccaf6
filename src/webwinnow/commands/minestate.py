"""`MineStore`: what a run of `sites mine` knows, in one file, so that a run that was killed goes on where it was.

A round of sites to read is one transaction, and so is each site that was judged: with its pages, its topic, all that
the report tells of it. Pages themselves are in the WARC files of the rounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from webwinnow.errors import InputError
from webwinnow.storage import open_database, read_note, transaction, write_note

__all__ = ["MineStore", "StoredPage", "StoredSite"]

FILE: Final = "mine.sqlite"
FORMAT_VERSION: Final = 2
_SCHEMA: Final = """
CREATE TABLE site (
    name TEXT PRIMARY KEY, place INTEGER NOT NULL, start TEXT NOT NULL, round INTEGER NOT NULL, label TEXT,
    linked_by TEXT NOT NULL, record TEXT
);
CREATE TABLE page (
    site TEXT NOT NULL, place INTEGER NOT NULL, url TEXT NOT NULL, referrer TEXT, PRIMARY KEY (site, place)
);
"""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page that was read, and what led to it."""

    url: str
    referrer: str | None


@dataclass(frozen=True, slots=True)
class StoredSite:
    """A site of a round: `label` where it is a seed, `record` what is told of it once it was judged."""

    name: str
    start: str
    round: int
    label: str | None
    linked_by: tuple[str, ...]
    record: dict[str, Any] | None


class MineStore:
    """The state of one run, in its folder."""

    def __init__(self, folder: Path, *, create: bool) -> None:
        path = folder / FILE
        if not create and not path.is_file():
            raise InputError(f"{folder} holds no run of webwinnow sites mine")
        self._database = open_database(
            path,
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
        """Remember a value under a name."""
        write_note(self._database, name, value)

    def note_all(self, values: dict[str, Any]) -> None:
        """Remember several values at once, all or none."""
        with transaction(self._database):
            for name, value in values.items():
                write_note(self._database, name, value)

    def noted(self, name: str) -> Any:
        """What was remembered; None where nothing was."""
        return read_note(self._database, name)

    def add_round(self, number: int, sites: Sequence[tuple[str, str, str | None, Sequence[str]]]) -> None:
        """Sites to read in one round: name, start page, label of a seed, who links to it."""
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
        """What is told of a site, for good, and the pages that it was told from."""
        with transaction(self._database):
            self._database.execute("UPDATE site SET record = ? WHERE name = ?", (json.dumps(record), name))
            self._database.execute("DELETE FROM page WHERE site = ?", (name,))
            self._database.executemany(
                "INSERT INTO page (site, place, url, referrer) VALUES (?, ?, ?, ?)",
                [(name, place, page.url, page.referrer) for place, page in enumerate(pages)],
            )

    def sites(self) -> Iterator[StoredSite]:
        """All sites of all rounds, in the order in which they were chosen."""
        rows = self._database.execute("SELECT name, start, round, label, linked_by, record FROM site ORDER BY place")
        for name, start, number, label, linked_by, record in rows.fetchall():
            told = None if record is None else json.loads(record)
            yield StoredSite(name, start, number, label, tuple(json.loads(linked_by)), told)

    def pages(self, site: str) -> list[StoredPage]:
        """The pages of a site, in the order of reading."""
        rows = self._database.execute("SELECT url, referrer FROM page WHERE site = ? ORDER BY place", (site,))
        return [StoredPage(url, referrer) for url, referrer in rows]
