"""A run's private folder: the spool of packed trees, an index of the pages, finished parts of the output.

Everything a killed run needs to go on is here and nowhere else. The index is SQLite: it sorts by site on disk, and what
was committed is there after a kill. A page's row is written after its tree, a part's row after its file, so whatever
the index names exists; what it does not name is done again.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from webwinnow.errors import SettingsError, WebwinnowError
from webwinnow.records import PageRecord
from webwinnow.storage import atomic_file, open_database, read_note, transaction, write_note
from webwinnow.urls import SiteKey

__all__ = ["CollectionStore", "PageRow", "part_path", "sketches_path", "write_part"]

LEAST_FREE = 200_000_000
"""Bytes that must stay free where the run's folder lies."""
COMMIT_PAGES = 256
FORMAT_VERSION = 2
_SIGN = 1 << 63

_SCHEMA = """
CREATE TABLE pages (
    ordinal INTEGER PRIMARY KEY, site TEXT NOT NULL, url TEXT NOT NULL, page_id TEXT,
    key INTEGER NOT NULL, content TEXT NOT NULL, offset INTEGER, length INTEGER, error TEXT, fetched_at TEXT
);
CREATE TABLE parts (part INTEGER PRIMARY KEY, counts TEXT NOT NULL);
"""


class PageRow(NamedTuple):
    """A page in the index. A failed one has an error instead of a tree in the spool."""

    ordinal: int
    site: str
    url: str
    page_id: str | None
    key: int = 0
    content: str = ""
    ref: tuple[int, int] | None = None
    error: str | None = None
    fetched_at: str | None = None


class CollectionStore:
    """Opens or makes the folder. `finish` removes it, anything else leaves it for --resume."""

    def __init__(self, folder: Path, identity: dict[str, Any], *, resume: bool) -> None:
        self.folder = folder
        if _aside(folder).exists():
            _check_own(_aside(folder))
            _clear(_aside(folder))
        if folder.exists() and not resume:
            _check_own(folder)
            with self._locked():
                _set_aside(folder)
            _clear(_aside(folder))
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = self._locked()
        (folder / "parts").mkdir(exist_ok=True)
        (folder / "models").mkdir(exist_ok=True)
        self._index = self._opened()
        self._check_identity(identity)
        self._spool: IO[bytes] = self.spool_path.open("a+b", buffering=0)
        self._spool_size = self._spool.seek(0, os.SEEK_END)
        self._pending: list[PageRow] = []

    def __enter__(self) -> CollectionStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def spool_path(self) -> Path:
        """The file of packed trees, one after the other."""
        return self.folder / "trees.spool"

    # Pages

    def add_page(self, row: PageRow, packed: bytes | None = None) -> None:
        """Keep a page; `packed` is its tree."""
        if packed is not None:
            self._check_room(len(packed))
            self._spool.write(packed)
            row = row._replace(ref=(self._spool_size, len(packed)))
            self._spool_size += len(packed)
        self._pending.append(row)
        if len(self._pending) >= COMMIT_PAGES:
            self.commit()

    def read(self, ref: tuple[int, int]) -> bytes:
        """What the spool keeps of a page."""
        return os.pread(self._spool.fileno(), ref[1], ref[0])

    def commit(self) -> None:
        """Make what was added last through a kill."""
        rows = [
            (
                r.ordinal,
                r.site,
                r.url,
                r.page_id,
                r.key - _SIGN,
                r.content,
                *(r.ref or (None, None)),
                r.error,
                r.fetched_at,
            )
            for r in self._pending
        ]
        with transaction(self._index):
            self._index.executemany("INSERT OR REPLACE INTO pages VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
        self._pending.clear()

    def has_page(self, ordinal: int) -> bool:
        """Whether an earlier try at this run has dealt with a page."""
        return self._index.execute("SELECT 1 FROM pages WHERE ordinal = ?", (ordinal,)).fetchone() is not None

    def places(self) -> Iterator[tuple[str, int, int]]:
        """(site, ordinal, bytes in the spool) of all pages, in output order."""
        self._order_by_site()
        yield from self._index.execute("SELECT site, ordinal, coalesce(length, 0) FROM pages ORDER BY site, ordinal")

    def last_key(self, site: str, most: int) -> int:
        """The highest key among the pages that a site is learned from."""
        found = self._index.execute(
            "SELECT min(key) AS lowest FROM pages WHERE site = ? AND error IS NULL "
            "GROUP BY content ORDER BY lowest LIMIT 1 OFFSET ?",
            (site, most - 1),
        ).fetchone()
        return _SIGN * 2 - 1 if found is None else int(found[0]) + _SIGN

    def page_count(self) -> int:
        """How many pages are in the index."""
        count: int = self._index.execute("SELECT count(*) FROM pages").fetchone()[0]
        return count

    def failed_count(self) -> int:
        """How many pages could not be read."""
        count: int = self._index.execute("SELECT count(*) FROM pages WHERE error IS NOT NULL").fetchone()[0]
        return count

    def errors(self, most: int) -> list[tuple[str, int]]:
        """Why pages could not be read, and how many: the most frequent first, at most so many."""
        return self._index.execute(
            "SELECT error, count(*) AS pages FROM pages WHERE error IS NOT NULL "
            "GROUP BY error ORDER BY pages DESC, error LIMIT ?",
            (most,),
        ).fetchall()

    def sites(self) -> Iterator[tuple[str, int]]:
        """The sites in order, each with its number of pages."""
        self._order_by_site()
        yield from self._index.execute("SELECT site, count(*) FROM pages GROUP BY site ORDER BY site")

    def site_names(self) -> Iterator[str]:
        """The sites that records name: those of the index, or the hosts of all pages if they are one nameless site."""
        sites = [site for site, _ in self.sites()]
        if sites != [""]:
            yield from sites
            return
        for (url,) in self._index.execute("SELECT url FROM pages"):
            yield SiteKey().of(PageRecord(url=url, body=b""))

    def pages_of(self, site: str) -> Iterator[PageRow]:
        """The pages of a site in input order."""
        found = self._index.execute(
            "SELECT ordinal, site, url, page_id, key, content, offset, length, error, fetched_at FROM pages "
            "WHERE site = ? ORDER BY ordinal",
            (site,),
        )
        for ordinal, name, url, page_id, key, content, offset, length, error, fetched_at in found:
            ref = None if offset is None else (offset, length)
            yield PageRow(ordinal, name, url, page_id, key + _SIGN, content, ref, error, fetched_at)

    def chosen_of(self, site: str, most: int) -> list[tuple[int, int]]:
        """Where the trees lie that a site is learned from (`site.choose`): each content once, then the lowest keys."""
        found = self._index.execute(
            "SELECT offset, length FROM (SELECT offset, length, key, content, row_number() "
            "OVER (PARTITION BY content ORDER BY key, ordinal) AS place FROM pages WHERE site = ? AND error IS NULL) "
            "WHERE place = 1 ORDER BY key, content LIMIT ?",
            (site, most),
        )
        return found.fetchall()

    def page(self, ordinal: int) -> tuple[str | None, str, str | None]:
        """The id, URL and error of a page."""
        found: tuple[str | None, str, str | None] = self._index.execute(
            "SELECT page_id, url, error FROM pages WHERE ordinal = ?", (ordinal,)
        ).fetchone()
        return found

    def name_of(self, ordinal: int) -> str:
        """What other records call a page: its id, or its URL if it has none."""
        found = self._index.execute("SELECT coalesce(page_id, url) FROM pages WHERE ordinal = ?", (ordinal,)).fetchone()
        return str(found[0])

    # Stages

    def mark(self, name: str, value: str = "done") -> None:
        """Note something about the run."""
        write_note(self._index, name, value)

    def marked(self, name: str) -> str | None:
        """Read what `mark` noted."""
        found: str | None = read_note(self._index, name)
        return found

    # Parts

    def part_path(self, part: int, *, rejected: bool = False) -> Path:
        """Where a part of the output lies."""
        return part_path(self.folder, part, rejected=rejected)

    def model_path(self, part: int) -> Path:
        """Where the model of the site lies whose first part this is."""
        return self.folder / "models" / f"{part:08d}.npz"

    def sketches_path(self, part: int) -> Path:
        """Where the sketches of a part's pages lie."""
        return sketches_path(self.folder, part)

    def add_part(
        self,
        part: int,
        lines: Sequence[bytes],
        rejected: Sequence[bytes],
        counts: dict[str, Any],
        sketches: Sequence[bytes] = (),
    ) -> None:
        """Keep a finished part of the output."""
        self._check_room(sum(map(len, lines)))
        write_part(self.folder, part, lines, rejected, sketches)
        self.note_part(part, counts)

    def note_part(self, part: int, counts: dict[str, Any]) -> None:
        """Note that the files of a part are there."""
        self._index.execute("INSERT OR REPLACE INTO parts VALUES (?, ?)", (part, json.dumps(counts)))

    def has_part(self, part: int) -> bool:
        """Whether an earlier try at this run has finished a part."""
        return self._index.execute("SELECT 1 FROM parts WHERE part = ?", (part,)).fetchone() is not None

    def parts(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The finished parts in order, with what was counted in them."""
        for part, counts in self._index.execute("SELECT part, counts FROM parts ORDER BY part"):
            yield part, json.loads(counts)

    def close(self) -> None:
        """Close the folder and leave it."""
        self._index.close()
        self._spool.close()
        self._lock.close()

    def finish(self) -> None:
        """Close the folder and remove it: the run is over."""
        self._index.close()
        self._spool.close()
        _set_aside(self.folder)
        self._lock.close()
        _clear(_aside(self.folder))

    def _order_by_site(self) -> None:
        self._index.execute("CREATE INDEX IF NOT EXISTS by_site ON pages (site, ordinal)")

    def _locked(self) -> IO[bytes]:
        lock = (self.folder / "lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise SettingsError(
                f"another run is at work in {self.folder}; wait for it or choose another output"
            ) from None
        return lock

    def _opened(self) -> sqlite3.Connection:
        index = open_database(
            self.folder / "index.sqlite", _SCHEMA, version=FORMAT_VERSION, advice="leave out --resume to start over"
        )
        index.execute(f"PRAGMA temp_store_directory = '{str(self.folder).replace(chr(39), chr(39) * 2)}'")
        return index

    def _check_identity(self, identity: dict[str, Any]) -> None:
        """A run is resumed with the inputs and settings it began with, or not at all."""
        said = json.dumps(identity, sort_keys=True)
        known = self.marked("identity")
        if known is None:
            self.mark("identity", said)
        elif known != said:
            before = json.loads(known)
            changed = sorted(name for name in identity.keys() | before.keys() if identity.get(name) != before.get(name))
            raise SettingsError(
                f"the run in {self.folder} began with other {', '.join(changed)}; "
                "give the same ones to resume it, or leave out --resume to start over"
            )

    def _check_room(self, wanted: int) -> None:
        if shutil.disk_usage(self.folder).free < LEAST_FREE + wanted:
            raise WebwinnowError(
                f"less than {LEAST_FREE // 1_000_000} MB are free in {self.folder}; make room and give the command "
                "again (clean: with --resume), or name another place with --tmp"
            )


def part_path(folder: Path, part: int, *, rejected: bool = False) -> Path:
    """Where a part of the output lies in a run's folder."""
    return folder / "parts" / f"{part:08d}{'.rejected' if rejected else ''}.jsonl"


def sketches_path(folder: Path, part: int) -> Path:
    """Where the sketches of a part's pages lie in a run's folder."""
    return folder / "parts" / f"{part:08d}.sketches"


def write_part(
    folder: Path, part: int, lines: Iterable[bytes], rejected: Iterable[bytes], sketches: Iterable[bytes]
) -> None:
    """Write the files of a part into a run's folder, each whole or not at all, whoever else writes the same."""
    for found, path in (
        (lines, part_path(folder, part)),
        (rejected, part_path(folder, part, rejected=True)),
        (sketches, sketches_path(folder, part)),
    ):
        with atomic_file(path, durable=False) as file:
            file.writelines(found)


# Removing: a folder is set aside at once, so that no --resume trusts what a kill left of it


def _aside(folder: Path) -> Path:
    """Where a run's folder is while it is removed; what a kill leaves there goes when the next run begins."""
    return folder.with_name(f"{folder.name}.over")


def _set_aside(folder: Path) -> None:
    folder.rename(_aside(folder))


def _check_own(folder: Path) -> None:
    """`SettingsError` for a folder that is not a run's."""
    if any(folder.iterdir()) and not (folder / "index.sqlite").exists() and not (folder / "lock").exists():
        raise SettingsError(f"{folder} exists and is no folder of a webwinnow run; move it away")


def _clear(folder: Path) -> None:
    """Remove a folder that was set aside; its lock last, by which it is known as a run's."""
    with suppress(FileNotFoundError):  # a run that begins may clear the same
        for path in folder.iterdir():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != "lock":
                path.unlink()
    shutil.rmtree(folder, ignore_errors=True)
