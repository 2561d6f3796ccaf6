"""`IndexFolder`: the two levels of an index, abstracts above full texts, written together."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from webwinnow.errors import InputError, SettingsError
from webwinnow.io.outputs import whole_file
from webwinnow.io.schema import Record
from webwinnow.progress import Progress
from webwinnow.search.level import FILTERS, Level
from webwinnow.words import words

__all__ = ["ABSTRACT", "FULL", "IndexFolder", "IndexSettings", "Indexed"]

ABSTRACT, FULL = "abstract", "full"
FORMAT_VERSION = 1
ABOUT = "webwinnow-index.json"
SHOWN = ("url", "page_id", "site", "title", "type", "genre", "category", "lang", "date", "abstract")
"""What a result tells of a page."""
LEADING_WORDS, LEADING_CHARACTERS = 60, 400
"""Words of the text that stand for an abstract where a record has none, and what is shown of it then."""
LONGEST_KEPT = 200_000
"""Characters of a text that are kept for excerpts; all of it is searched."""
LEAST_MEMORY = 15_000_000
"""What tantivy asks for at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """`memory`: bytes that each level fills before a part goes to disk. `commit_every`: pages after which what is there
    can be found, and outlives a kill. `replicas`: whether pages with `replica_of` are taken.
    """

    memory: int = 64_000_000
    commit_every: int = 5_000
    replicas: bool = False

    def __post_init__(self) -> None:
        if self.memory < LEAST_MEMORY:
            raise SettingsError(f"memory is {self.memory:,} bytes: expected at least {LEAST_MEMORY:,}")
        if self.commit_every < 1:
            raise SettingsError(f"commit_every is {self.commit_every}: expected 1 or more")


@dataclass(slots=True)
class Indexed:
    """What became of the records given: pages put, and passed over as not kept, without text, or replicas."""

    put: int = 0
    not_kept: int = 0
    replicas: int = 0


class IndexFolder:
    """An index on disk. `with IndexFolder(path).writing(settings) as index: index.put(record)`; then `search`.

    A page has one key, its `page_id` or else its URL; put again, it takes the place of what was there. The upper level
    is small: titles, keywords and abstracts. If writing is cut off, each level opens with what it had committed; a page
    that only one has is still found, and putting it again mends that.
    """

    def __init__(self, path: Path | str, *, create: bool = False) -> None:
        self.path = Path(path)
        about = self.path / ABOUT
        if not about.is_file():
            if not create:
                raise InputError(f"{self.path} is no index; webwinnow index makes one")
            if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
                raise InputError(f"{self.path} holds something else; expected a new folder or an index")
            self.path.mkdir(parents=True, exist_ok=True)
            with whole_file(about) as file:
                file.write(json.dumps({"format_version": FORMAT_VERSION}).encode())
        self._check(about)
        self.levels = {name: Level(self.path / name) for name in (ABSTRACT, FULL)}
        self._settings: IndexSettings | None = None
        self._since_commit = 0

    @staticmethod
    def _check(about: Path) -> None:
        try:
            version = json.loads(about.read_bytes()).get("format_version")
        except (OSError, ValueError, AttributeError) as error:
            raise InputError(f"{about} is damaged ({error}); make the index again") from None
        if version != FORMAT_VERSION:
            raise InputError(f"{about.parent} has index format {version}, this program {FORMAT_VERSION}; make it again")

    def writing(self, settings: IndexSettings | None = None) -> Self:
        """Open to write; as a context it commits at the end, and drops what came after the last commit on an error."""
        self._settings = settings or IndexSettings()
        opened = []
        try:
            for level in self.levels.values():
                level.open_to_write(self._settings.memory)
                opened.append(level)
        except InputError:
            for level in opened:
                level.close()
            raise
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            for level in self.levels.values():
                level.close()

    def put(self, record: Record) -> None:
        """Add the record of a page, or put it in the place of an older one."""
        text, abstract = str(record.get("text") or ""), str(record.get("abstract") or record.get("description") or "")
        said = words(text)
        shown = {name: record.get(name) for name in SHOWN} | {"abstract": abstract or text[:LEADING_CHARACTERS]}
        filters = {name: str(record[name]) for name in FILTERS if record.get(name)}
        title = words(str(record.get("title") or ""))
        keywords = [word for keyword in record.get("keywords") or () for word in words(str(keyword))]
        bodies = {ABSTRACT: words(abstract) or said[:LEADING_WORDS], FULL: said}
        key = key_of(record)
        for name, level in self.levels.items():
            told = shown | ({"text": text[:LONGEST_KEPT]} if name == FULL else {})
            level.put(key, {"title": title, "keywords": keywords, "body": bodies[name]}, filters, told)
        self._count()

    def put_all(self, records: Iterable[Record], *, on_progress: Progress | None = None) -> Indexed:
        """Put what was kept of a run's records; the others are counted. A page that is kept no more is removed."""
        found = Indexed()
        wanted = (self._settings or IndexSettings()).replicas
        for done, record in enumerate(records, start=1):
            if record.get("outcome", "kept") != "kept" or not record.get("text"):
                found.not_kept += 1
                self.remove(key_of(record))
            elif record.get("replica_of") and not wanted:
                found.replicas += 1
                self.remove(key_of(record))
            else:
                self.put(record)
                found.put += 1
            if on_progress is not None:
                on_progress("index", done, None)
        return found

    def remove(self, key: str) -> None:
        """Take out a page by its `page_id` or URL."""
        self.remove_where("key", key)

    def remove_where(self, field: str, value: str) -> None:
        """Take out all pages of a site, genre, type, category or language."""
        if field not in ("key", *FILTERS):
            raise SettingsError(f"pages are not told apart by {field!r}; expected key, {', '.join(FILTERS)}")
        for level in self.levels.values():
            level.remove(field, value)
        self._count()

    def commit(self) -> None:
        """Make what was put lasting and findable, the lower level first."""
        for name in (FULL, ABSTRACT):
            self.levels[name].commit()
        self._since_commit = 0

    def _count(self) -> None:
        self._since_commit += 1
        if self._settings is not None and self._since_commit >= self._settings.commit_every:
            self.commit()

    @property
    def pages(self) -> int:
        """How many pages can be found."""
        return self.levels[FULL].pages


def key_of(record: Record) -> str:
    """What tells a page from all others: its `page_id`, or else its URL."""
    key: Any = record.get("page_id") or record.get("url")
    if not key:
        raise InputError("a record has neither page_id nor url; expected records of webwinnow clean")
    return str(key)
