"""`IndexFolder`: the two levels of an index, abstracts above full texts.

Texts are indexed as the words that `webwinnow.page.words` makes of them, so that a query and a page are tokenised
alike, whatever the script. The stems of words, in the language of the page, are indexed beside them where they differ.
What a result shows is stored as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Self

from webwinnow.errors import InputError, SettingsError
from webwinnow.page.words import StopList, words
from webwinnow.progress import Progress, no_progress
from webwinnow.record.fields import Record
from webwinnow.search.level import FILTERS, KEY, STEMS, Level
from webwinnow.search.spelling import stems
from webwinnow.settings import Settings, setting
from webwinnow.storage.atomic import write_file

ABSTRACT, FULL = "abstract", "full"
FORMAT_VERSION = 2
ABOUT = "webwinnow-index.json"
SHOWN_FIELDS = ("url", "page_id", "site", "title", "type", "genre", "category", "lang", "date", "abstract")
"""Fields of a page that a result shows."""
LEADING_WORDS, LEADING_CHARACTERS = 60, 400
"""Words of the text that replace a missing abstract, and how many characters of it are shown."""
LONGEST_KEPT = 200_000
"""Characters of a text that are stored for snippets; all of it is searched."""
LONGEST_KEY = 4_096
"""Characters of the key of a page; a longer one is cut and ends in a hash. tantivy leaves terms of more than 65,530
bytes out, so that such a page could neither be replaced nor removed."""
LEAST_MEMORY, MOST_MEMORY = 15_000_000, 4_290_000_000
"""What tantivy accepts."""

_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def day_number(day: object) -> int | None:
    """Return a day (`2026-11-17`, a time may follow) as a number (20261117); None for anything else."""
    found = _DAY.match(day) if isinstance(day, str) else None
    try:
        return None if found is None else int(date.fromisoformat(found[0]).strftime("%Y%m%d"))
    except ValueError:  # the 31st of February
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings(Settings):
    """`memory`: bytes that each level buffers before it writes a segment. `commit_every`: pages between commits, after
    which they can be found and survive a kill. `replicas`: whether pages with `replica_of` are indexed.
    """

    memory: int = 64_000_000
    commit_every: Annotated[int, setting("Pages between commits.", least=1)] = 5_000
    replicas: bool = False

    def validate(self) -> None:
        """Raise `SettingsError` for memory that the index cannot work with."""
        if not LEAST_MEMORY <= self.memory <= MOST_MEMORY:
            raise SettingsError(f"memory is {self.memory:,} bytes: expected {LEAST_MEMORY:,} to {MOST_MEMORY:,}")


@dataclass(slots=True)
class Indexed:
    """Counts of records: pages indexed, skipped as not kept or without text, skipped as replicas, and skipped because
    they have neither `page_id` nor URL.
    """

    put: int = 0
    not_kept: int = 0
    replicas: int = 0
    unnamed: int = 0


class IndexFolder:
    """An index on disk. `with IndexFolder(path).writing(settings) as index: index.put(record)`; then `search`.

    The key of a page is its `page_id` or else its URL; putting it again replaces it. The upper level is small: titles,
    keywords and abstracts. If writing is interrupted, each level opens with what it had committed; a page that only one
    of them has is still found, and putting it again fixes that.

    All words are indexed, except those of a given `stop_list`, which the folder keeps: it cannot change later, and
    queries leave its words out too.
    """

    def __init__(self, path: Path | str, *, create: bool = False, stop_list: StopList | None = None) -> None:
        self.path = Path(path)
        about = self.path / ABOUT
        if not about.is_file():
            if not create:
                raise InputError(f"{self.path} is no index; webwinnow index makes one")
            if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
                raise InputError(f"{self.path} holds something else; expected a new folder or an index")
            self.path.mkdir(parents=True, exist_ok=True)
            given = {} if stop_list is None or stop_list.own is None else {"stop_words": stop_list.own}
            write_file(about, json.dumps({"format_version": FORMAT_VERSION} | given).encode())
        self.stop_words = self._checked(about)
        if stop_list is not None and stop_list.own is not None and frozenset(stop_list.own) != self.stop_words:
            raise SettingsError(f"{self.path} was made with other stop words, or none; give the same, or a new folder")
        self.levels = {name: Level(self.path / name) for name in (ABSTRACT, FULL)}
        self._settings = IndexSettings()
        self._since_commit = 0

    @staticmethod
    def _checked(about: Path) -> frozenset[str]:
        """The stop words of an index, if its description is valid."""
        try:
            found = json.loads(about.read_bytes())
            version = found.get("format_version")  # not a dictionary: AttributeError
            stops = StopList.from_plain({"own": found.get("stop_words")})
        except (OSError, ValueError, TypeError, AttributeError, RecursionError, SettingsError) as error:
            raise InputError(f"{about} is damaged ({error}); make the index again") from None
        if version != FORMAT_VERSION:
            raise InputError(f"{about.parent} has index format {version}, this program {FORMAT_VERSION}; make it again")
        return frozenset(stops.own or ())

    def words(self, text: str) -> list[str]:
        """The words of a text that are indexed."""
        return [word for word in words(text) if word not in self.stop_words] if self.stop_words else words(text)

    def writing(self, settings: IndexSettings | None = None) -> Self:
        """Open for writing. As a context it commits at the end; on an error it rolls back to the last commit."""
        self._settings = settings or IndexSettings()
        with ExitStack() as opened:
            for level in self.levels.values():
                level.open_to_write(self._settings.memory)
                opened.callback(level.close)
            opened.pop_all()
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
        text, abstract = str(record.get("text") or ""), str(record.get("abstract") or record.get("description") or "")
        body = self.words(text)
        shown = {name: record.get(name) for name in SHOWN_FIELDS} | {"abstract": abstract or text[:LEADING_CHARACTERS]}
        filters = {name: str(record[name]) for name in FILTERS if record.get(name)}
        title = self.words(str(record.get("title") or ""))
        keywords = [word for keyword in record.get("keywords") or () for word in self.words(str(keyword))]
        bodies = {ABSTRACT: self.words(abstract) or body[:LEADING_WORDS], FULL: body}
        key, day = key_of(record), day_number(record.get("date"))
        for name, level in self.levels.items():
            stored = shown | ({"text": text[:LONGEST_KEPT]} if name == FULL else {})
            texts: dict[str, Sequence[str]] = {"title": title, "keywords": keywords, "body": bodies[name]}
            searched = [*title, *keywords, *bodies[name]]
            forms = zip(stems(searched, filters.get("lang")), searched, strict=True)
            texts[STEMS] = [stem for stem, word in forms if stem != word]
            level.put(key, texts, filters, stored, day)
        self._count()

    def put_all(
        self, records: Iterable[Record], *, total: int | None = None, on_progress: Progress | None = None
    ) -> Indexed:
        """Put the kept records of a run and count the others. Pages that are no longer kept are removed.

        `total` is the number of records, if it is known.
        """
        found = Indexed()
        progress = on_progress or no_progress
        for done, record in enumerate(records, start=1):
            is_kept = record.get("outcome", "kept") == "kept" and bool(record.get("text"))
            if not (record.get("page_id") or record.get("url")):
                found.unnamed += is_kept
                found.not_kept += not is_kept
            elif not is_kept:
                found.not_kept += 1
                self.remove(key_of(record))
            elif record.get("replica_of") and not self._settings.replicas:
                found.replicas += 1
                self.remove(key_of(record))
            else:
                self.put(record)
                found.put += 1
            progress("index", done, total)
        return found

    def remove(self, key: str) -> None:
        self.remove_where(KEY, key)

    def remove_where(self, field: str, value: str) -> None:
        """Remove all pages of a site, genre, type, category or language."""
        if field not in (KEY, *FILTERS):
            raise SettingsError(f"cannot remove pages by {field!r}; expected {KEY}, {', '.join(FILTERS)}")
        removed = indexed_key(value) if field == KEY else value
        for level in self.levels.values():
            level.remove(field, removed)
        self._count()

    def commit(self) -> None:
        """Make the changes permanent and searchable, the lower level first."""
        for name in (FULL, ABSTRACT):
            self.levels[name].commit()
        self._since_commit = 0

    def _count(self) -> None:
        self._since_commit += 1
        if self._since_commit >= self._settings.commit_every:
            self.commit()

    @property
    def pages(self) -> int:
        return self.levels[FULL].pages


def key_of(record: Record) -> str:
    """Return the key of a page: its `page_id`, or else its URL."""
    key: Any = record.get("page_id") or record.get("url")
    if not key:
        raise InputError("a record has neither page_id nor url; expected records of webwinnow clean")
    return indexed_key(str(key))


def indexed_key(key: str) -> str:
    """Return the key of a page as the index has it."""
    if len(key) <= LONGEST_KEY:
        return key
    return key[:LONGEST_KEY] + "~" + sha256(key.encode("utf-8", "replace")).hexdigest()[:32]
