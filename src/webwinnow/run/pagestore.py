"""The folder of a collection: a spool of packed pages, an index of them in SQLite, finished parts of the output.

It contains everything that is needed to resume a killed run. The index sorts by site on disk, and what was committed
survives a kill. The row of a page is written after its bytes in the spool, the row of a part after its files.
Therefore everything that the index names exists; what it does not name is done again. Pages in the spool and the files
of parts have checksums, which are compared when a run is resumed: what is damaged is done again.
"""

from __future__ import annotations

import json
import marshal
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Self
from zlib import crc32

from webwinnow.errors import SettingsError, WebwinnowError
from webwinnow.page.tree import PageTree
from webwinnow.page.treebytes import tree_from_bytes
from webwinnow.page.urls import SiteKey
from webwinnow.platforms import locked_file
from webwinnow.run.workerjobs import Ref
from webwinnow.storage.atomic import atomic_file, scratch_folder
from webwinnow.storage.database import open_database, read_note, transaction, write_note
from webwinnow.storage.encoding import from_json, write_all

LEAST_FREE = 200_000_000
"""Bytes that must stay free on the disk of the folder."""
COMMIT_PAGES = 256
FORMAT_VERSION = 5
SIGN = 1 << 63
"""SQLite, Arrow and Spark have no unsigned integers: keys are stored less this."""
MOST_ROWS = SIGN - 1
"""The greatest number that SQLite takes as a limit."""

_SCHEMA = """
CREATE TABLE pages (
    ordinal INTEGER PRIMARY KEY, site TEXT NOT NULL, url TEXT NOT NULL, page_id TEXT,
    key INTEGER NOT NULL, content TEXT NOT NULL, offset INTEGER, length INTEGER, error TEXT, fetched_at TEXT,
    checksum INTEGER
);
CREATE TABLE parts (part INTEGER PRIMARY KEY, counts TEXT NOT NULL, checksum INTEGER NOT NULL);
"""


class PageRow(NamedTuple):
    """A page in the index. A failed one has an error and is not in the spool."""

    ordinal: int
    site: str
    url: str
    page_id: str | None
    key: int = 0
    content: str = ""
    ref: Ref | None = None
    error: str | None = None
    fetched_at: str | None = None

    @property
    def name(self) -> str:
        """What other records call the page: its id, or its URL if it has none."""
        return self.page_id or self.url


class StoredPage(NamedTuple):
    """What the spool has of a page: its packed tree, with packed page evidence where the method learns from that.

    A page that needs nothing of its site is stored cleaned, with its tree only if that is wanted too.
    """

    tree: bytes | None
    evidence: bytes | None = None
    fingerprint: int = 0
    cleaned: tuple[Any, ...] | None = None

    def pack(self) -> bytes:
        """Pack the page for the spool."""
        return marshal.dumps(tuple(self))

    @classmethod
    def unpack(cls, packed: bytes) -> StoredPage:
        """Read the bytes of `pack`."""
        return cls(*marshal.loads(packed))


def stored_tree(packed: bytes) -> PageTree:
    """The tree of a page in the spool."""
    tree = StoredPage.unpack(packed).tree
    if tree is None:
        raise WebwinnowError("pages that are cleaned as they are parsed have no trees, except with keep_trees")
    return tree_from_bytes(tree)


class CollectionStore:
    """Opens or makes the folder. `finish` removes it; otherwise it stays, to be resumed."""

    def __init__(self, folder: Path, identity: dict[str, Any], *, resume: bool) -> None:
        self.folder = folder
        if folder.exists() and not resume:
            _check_own(folder)
            with self._locked():
                _clear(folder)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as opened:
            self._lock = opened.enter_context(self._locked())
            for path in (folder / "parts", folder / "models"):
                path.mkdir(mode=0o700, exist_ok=True)
            advice = "it is no run that can be resumed, leave out --resume"
            self._index = open_database(folder / "index.sqlite", _SCHEMA, version=FORMAT_VERSION, advice=advice)
            opened.callback(self._index.close)
            with suppress(UnicodeEncodeError):  # a name that is not UTF-8: then SQLite sorts in the system's folder
                self._index.execute(f"PRAGMA temp_store_directory = '{str(folder).replace(chr(39), chr(39) * 2)}'")
            self._check_identity(identity)
            self._spool: IO[bytes] = opened.enter_context(self.spool_path.open("a+b", buffering=0))
            self._spool_size = self._spool.seek(0, os.SEEK_END)
            self._pending: list[tuple[PageRow, int | None]] = []
            if resume:
                self._drop_damaged()
            opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def spool_path(self) -> Path:
        """The file of packed pages."""
        return self.folder / "pages.spool"

    # Pages

    def add_page(self, row: PageRow, packed: bytes | None = None) -> None:
        """Add a page; `packed` is a packed `StoredPage`. `OSError` if the disk does not take all of it."""
        checksum = None
        if packed is not None:
            self._check_room(len(packed))
            write_all(self._spool, packed)
            checksum = crc32(packed)
            row = row._replace(ref=(self._spool_size, len(packed)))
            self._spool_size += len(packed)
        self._pending.append((row, checksum))
        if len(self._pending) >= COMMIT_PAGES:
            self.commit()

    def read(self, ref: Ref) -> bytes:
        """A packed page of the spool."""
        return os.pread(self._spool.fileno(), ref[1], ref[0])

    def commit(self) -> None:
        """Write the rows of the pages added last."""
        rows = [
            (*row[:4], row.key - SIGN, row.content, *(row.ref or (None, None)), row.error, row.fetched_at, checksum)
            for row, checksum in self._pending
        ]
        with transaction(self._index):
            self._index.executemany(
                "INSERT OR REPLACE INTO pages VALUES (?,?,?,?,?,?,?,?,?,?,?)",
                rows,
            )
        self._pending.clear()

    def has_page(self, ordinal: int) -> bool:
        """Whether an earlier attempt at this run has processed a page."""
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
            (site, min(most, MOST_ROWS) - 1),
        ).fetchone()
        return SIGN * 2 - 1 if found is None else int(found[0]) + SIGN

    def page_count(self) -> int:
        """The number of pages in the index."""
        return int(self._index.execute("SELECT count(*) FROM pages").fetchone()[0])

    def failed_count(self) -> int:
        """The number of pages that could not be read."""
        return int(self._index.execute("SELECT count(*) FROM pages WHERE error IS NOT NULL").fetchone()[0])

    def errors(self, most: int) -> list[tuple[str, int]]:
        """Why pages could not be read, each with the number of pages: the `most` frequent ones."""
        return self._index.execute(
            "SELECT error, count(*) AS pages FROM pages WHERE error IS NOT NULL "
            "GROUP BY error ORDER BY pages DESC, error LIMIT ?",
            (most,),
        ).fetchall()

    def sites(self) -> list[tuple[str, int]]:
        """The sites in order, each with its number of pages."""
        self._order_by_site()
        return self._index.execute("SELECT site, count(*) FROM pages GROUP BY site ORDER BY site").fetchall()

    def site_names(self) -> Iterator[str]:
        """The sites that records name: those of the index, or the hosts of all pages if they are one nameless site."""
        sites = [site for site, _ in self.sites()]
        if sites != [""]:
            yield from sites
            return
        for (url,) in self._index.execute("SELECT url FROM pages"):
            yield SiteKey().of(url)

    def pages_of(self, site: str) -> Iterator[PageRow]:
        """The pages of a site in input order."""
        yield from _rows(self._index.execute("SELECT * FROM pages WHERE site = ? ORDER BY ordinal", (site,)))

    def rows_from(self, site: str, ordinal: int, count: int) -> Iterator[PageRow]:
        """So many pages in output order, beginning with this one."""
        place = "SELECT * FROM pages WHERE (site, ordinal) >= (?, ?) ORDER BY site, ordinal LIMIT ?"
        yield from _rows(self._index.execute(place, (site, ordinal, count)).fetchall())

    def chosen_of(self, site: str, most: int) -> list[Ref]:
        """The pages that a site is learned from (`choose_pages`): each content once, then the lowest keys."""
        return self._index.execute(
            "SELECT offset, length FROM (SELECT offset, length, key, content, row_number() "
            "OVER (PARTITION BY content ORDER BY key, ordinal) AS place FROM pages WHERE site = ? AND error IS NULL) "
            "WHERE place = 1 ORDER BY key, content LIMIT ?",
            (site, min(most, MOST_ROWS)),
        ).fetchall()

    def page(self, ordinal: int) -> tuple[str | None, str, str | None]:
        """The id, URL and error of a page."""
        found: tuple[str | None, str, str | None] = self._index.execute(
            "SELECT page_id, url, error FROM pages WHERE ordinal = ?", (ordinal,)
        ).fetchone()
        return found

    # Stages

    def mark(self, name: str, value: Any = "done") -> None:
        """Store a note about the run."""
        write_note(self._index, name, value)

    def marked(self, name: str) -> Any:
        """A note about the run, None where there is none."""
        return read_note(self._index, name)

    # Parts

    def part_path(self, part: int, *, rejected: bool = False) -> Path:
        """The file of a part of the output."""
        return part_path(self.folder, part, rejected=rejected)

    def model_path(self, part: int) -> Path:
        """The file of the model of the site whose first part this is."""
        return self.folder / "models" / f"{part:08d}.npz"

    def rows_path(self, part: int) -> Path:
        """The file of the rows that stages keep of a part's pages."""
        return rows_path(self.folder, part)

    def joined_rows(self) -> Path:
        """A file of the rows of all finished parts."""
        path = self.folder / "rows.bin"
        with path.open("wb") as table:
            for part, _ in self.parts():
                with self.rows_path(part).open("rb") as file:
                    shutil.copyfileobj(file, table)
        return path

    def add_part(
        self,
        part: int,
        lines: Sequence[bytes],
        rejected: Sequence[bytes],
        counts: dict[str, Any],
        rows: Sequence[bytes] = (),
    ) -> None:
        """Add a finished part of the output."""
        self._check_room(sum(map(len, lines)))
        checksum = write_part(self.folder, part, lines, rejected, rows)
        self.note_part(part, counts, checksum)

    def note_part(self, part: int, counts: dict[str, Any], checksum: int) -> None:
        """Note that the files of a part are complete; `checksum` is that of `write_part`."""
        self._index.execute("INSERT OR REPLACE INTO parts VALUES (?, ?, ?)", (part, json.dumps(counts), checksum))

    def has_part(self, part: int) -> bool:
        """Whether a part is finished."""
        return self._index.execute("SELECT 1 FROM parts WHERE part = ?", (part,)).fetchone() is not None

    def parts(self) -> list[tuple[int, dict[str, Any]]]:
        """The finished parts in order, with their counts."""
        found = self._index.execute("SELECT part, counts FROM parts ORDER BY part")
        return [(part, json.loads(counts)) for part, counts in found]

    def close(self) -> None:
        """Close the folder and leave it."""
        self._index.close()
        self._spool.close()
        self._lock.close()

    def finish(self) -> None:
        """Close the folder and remove it: the run is over."""
        self._index.close()
        self._spool.close()
        with self._lock:
            _clear(self.folder)

    def mark_parsed(self) -> None:
        """Note that all pages are in the index."""
        self.mark("parsed", self.page_count())

    def parse_again(self, pages: Iterable[int]) -> None:
        """Remove pages, by their ordinals, and all parts: the pages are parsed again, then everything is cleaned."""
        with transaction(self._index):
            self._index.executemany("DELETE FROM pages WHERE ordinal = ?", ((ordinal,) for ordinal in pages))
            self._index.execute("DELETE FROM parts")
            self._index.execute("DELETE FROM about WHERE name = 'parsed'")
        for left in (self.folder / "parts").iterdir():
            left.unlink()

    def _drop_damaged(self) -> None:
        """Remove pages and parts that are not what was written, to make them again."""
        stored = self._index.execute("SELECT ordinal, offset, length, checksum FROM pages WHERE checksum IS NOT NULL")
        damaged = [ordinal for ordinal, *ref, checksum in stored if crc32(self.read((ref[0], ref[1]))) != checksum]
        if damaged:
            self.parse_again(damaged)
        for part, checksum in self._index.execute("SELECT part, checksum FROM parts").fetchall():
            if part_checksum(self.folder, part) != checksum:
                self._index.execute("DELETE FROM parts WHERE part = ?", (part,))

    def _order_by_site(self) -> None:
        self._index.execute("CREATE INDEX IF NOT EXISTS by_site ON pages (site, ordinal)")

    def _locked(self) -> IO[bytes]:
        lock = locked_file(self.folder / "lock")
        if lock is None:
            raise SettingsError(f"another run is active in {self.folder}; wait for it or choose another output")
        return lock

    def _check_identity(self, identity: dict[str, Any]) -> None:
        """A run is resumed with the inputs and settings it began with, or not at all."""
        known, given = self.marked("identity"), json.loads(json.dumps(identity))
        if known is None:
            write_note(self._index, "identity", given)
        elif known != given:
            changed = sorted(name for name in given.keys() | known.keys() if given.get(name) != known.get(name))
            raise SettingsError(
                f"the run in {self.folder} began with other {', '.join(changed)}; "
                "give the same ones to resume it, or leave out --resume to start over"
            )

    def _check_room(self, wanted: int) -> None:
        if shutil.disk_usage(self.folder).free < LEAST_FREE + wanted:
            raise WebwinnowError(
                f"less than {LEAST_FREE // 1_000_000} MB are free in {self.folder}; make room and repeat the command "
                "(clean: with --resume), or name another folder with --tmp"
            )


@contextmanager
def scratch_store(tmp: Path | None = None, identity: dict[str, Any] | None = None) -> Iterator[CollectionStore]:
    """A store in a temporary folder, in `tmp` or where the system has them."""
    with (
        scratch_folder(tmp) as folder,
        CollectionStore(folder / "run", identity or {}, resume=False) as store,
    ):
        yield store


def part_path(folder: Path, part: int, *, rejected: bool = False) -> Path:
    """The file of a part of the output."""
    return folder / "parts" / f"{part:08d}{'.rejected' if rejected else ''}.jsonl"


def rows_path(folder: Path, part: int) -> Path:
    """The file of the rows that stages keep of a part's pages."""
    return folder / "parts" / f"{part:08d}.rows"


def write_part(
    folder: Path, part: int, lines: Iterable[bytes], rejected: Iterable[bytes], rows: Iterable[bytes]
) -> int:
    """Write the files of a part, each atomically: several processes may write the same part. Returns their checksum."""
    checksum = 0
    for found, path in zip((lines, rejected, rows), _part_files(folder, part), strict=True):
        with atomic_file(path, durable=False) as file:
            for data in found:
                file.write(data)
                checksum = crc32(data, checksum)
    return checksum


def part_lines(parts: Iterable[Path]) -> Iterator[bytes]:
    """Read the lines of finished parts of a run, one part after the other."""
    for part in parts:
        with part.open("rb") as lines:
            yield from lines


def read_parts(parts: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Read the records of finished parts of a run, one part after the other."""
    return map(from_json, part_lines(parts))


def part_checksum(folder: Path, part: int) -> int | None:
    """The checksum of the files of a part, as they are now; None if one cannot be read."""
    checksum = 0
    for path in _part_files(folder, part):
        try:
            checksum = crc32(path.read_bytes(), checksum)
        except OSError:
            return None
    return checksum


def _part_files(folder: Path, part: int) -> tuple[Path, Path, Path]:
    return part_path(folder, part), part_path(folder, part, rejected=True), rows_path(folder, part)


def _rows(found: Iterable[tuple[Any, ...]]) -> Iterator[PageRow]:
    """Pages of the index."""
    for ordinal, name, url, page_id, key, content, offset, length, error, fetched_at, *_ in found:
        ref = None if offset is None else (offset, length)
        yield PageRow(ordinal, name, url, page_id, key + SIGN, content, ref, error, fetched_at)


def _check_own(folder: Path) -> None:
    if any(folder.iterdir()) and not (folder / "index.sqlite").exists() and not (folder / "lock").exists():
        raise SettingsError(f"{folder} exists and is no folder of a webwinnow run; move it away")


def _clear(folder: Path) -> None:
    """Remove a locked folder: first its index, so that a kill leaves nothing to resume, its lock last."""
    for path in (*folder.glob("index.sqlite*"), *folder.iterdir()):
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != "lock":
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)  # a run that begins may have made a lock of its own
