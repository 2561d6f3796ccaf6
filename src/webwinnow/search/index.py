"""`IndexFolder`: the two levels of an index, abstracts above full texts, and `Level`, one tantivy index on disk.

Texts are indexed as the words that `webwinnow.page.words` makes of them, so that a query and a page are tokenised
alike, whatever the script. The stems of words, in the language of the page, are indexed beside them where they differ.
What a result shows is stored as JSON.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from webwinnow.errors import InputError, MissingExtra, SettingsError
from webwinnow.page.words import StopList, words
from webwinnow.progress import Progress, no_progress
from webwinnow.record.fields import Record
from webwinnow.search.spelling import stems
from webwinnow.storage.atomic import write_file

if TYPE_CHECKING:
    import tantivy

ABSTRACT, FULL = "abstract", "full"
TEXTS = ("title", "keywords", "body")
"""Fields that are searched for words."""
FILTERS = ("site", "type", "genre", "category", "lang")
"""Fields that a search may be narrowed by."""
STEMS, DAY = "stems", "day"
BOOSTS = {"title": 2.0, "keywords": 1.5, "body": 1.0}
"""Weights of the fields; round numbers, not tuned."""
STEM_BOOST = 0.3
"""The weight of another form of a word (`benchmarks/run.py search`): the form that was typed counts more."""
KEY, SHOWN = "key", "shown"
_POSTINGS = frozenset({".term", ".idx", ".pos", ".fieldnorm"})
"""Files of the inverted index proper; the others contain stored fields and columns."""

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
MOST_TERMS = 1_000_000
"""Terms that tantivy is asked for at most: it reserves memory for as many, and aborts where there is none."""
LEAST_MEMORY, MOST_MEMORY = 15_000_000, 4_290_000_000
"""What tantivy accepts."""

_OS_ERROR = re.compile(r"\(os error (\d{1,4})\)")
"""An error of the system in a message of tantivy."""
_NO_DAMAGE = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE)
)
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


class Clause(NamedTuple):
    """A word or a phrase, and its role: `must`, `may` or `not`.

    `fields` are those that it is searched in, all if there are none. Of a single word, `stems` are other forms and
    `spellings` the words of the index that stand in for it.
    """

    words: tuple[str, ...]
    role: str
    fields: tuple[str, ...] = ()
    stems: tuple[str, ...] = ()
    spellings: tuple[str, ...] = ()


class Narrowing(NamedTuple):
    """What pages must have: values by the names in `FILTERS`, values that they must not have, and a range of days."""

    filters: Mapping[str, str] = {}
    excluded: tuple[tuple[str, str], ...] = ()
    after: int | None = None
    before: int | None = None


def day_number(day: object) -> int | None:
    """Return a day (`2026-11-17`, a time may follow) as a number (20261117); None for anything else."""
    found = _DAY.match(day) if isinstance(day, str) else None
    try:
        return None if found is None else int(date.fromisoformat(found[0]).strftime("%Y%m%d"))
    except ValueError:  # the 31st of February
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """`memory`: bytes that each level buffers before it writes a segment. `commit_every`: pages between commits, after
    which they can be found and survive a kill. `replicas`: whether pages with `replica_of` are indexed.
    """

    memory: int = 64_000_000
    commit_every: int = 5_000
    replicas: bool = False

    def __post_init__(self) -> None:
        if not LEAST_MEMORY <= self.memory <= MOST_MEMORY:
            raise SettingsError(f"memory is {self.memory:,} bytes: expected {LEAST_MEMORY:,} to {MOST_MEMORY:,}")
        if self.commit_every < 1:
            raise SettingsError(f"commit_every is {self.commit_every}: expected 1 or more")


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


@contextmanager
def _failure_reported(path: Path) -> Iterator[None]:
    """Turn what tantivy raises where it cannot write into an `OSError` or an `InputError`."""
    try:
        yield
    except ValueError as error:
        _raise_if_of_system(path, error)
        advice = "its disk may be full. It has what was committed; the same command continues"
        raise InputError(f"{path} could not be written ({error}); {advice}") from None


def _raise_if_of_system(path: Path, error: Exception) -> None:
    found = _OS_ERROR.search(str(error))
    if found is not None and int(found[1]) in _NO_DAMAGE:
        raise OSError(int(found[1]), os.strerror(int(found[1])), str(path)) from None


def _encodable(text: str) -> str:
    """A text without lone surrogates, which arguments that are not UTF-8 have and no page has."""
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def _damage_reported(path: Path) -> Iterator[None]:
    """Turn what tantivy raises for damaged files into an `InputError`; its panics are no `Exception`s.

    Errors of the system that are no damage, such as a full disk, are raised as `OSError`.
    """
    try:
        yield
    except (ValueError, OSError, LookupError, MemoryError) as error:
        _raise_if_of_system(path, error)
        raise InputError(f"{path} is a damaged index ({error}); make it again") from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise InputError(f"{path} is a damaged index ({str(error)[:200]}); make it again") from None


class Level:
    """A tantivy index in a folder, created if there is none. Only this class uses tantivy."""

    def __init__(self, path: Path) -> None:
        try:
            import tantivy  # noqa: PLC0415 (an optional extra)
        except ImportError as error:
            raise MissingExtra("search", "search") from error
        self._tantivy: Any = tantivy
        self.path = path
        with _damage_reported(path):
            path.mkdir(parents=True, exist_ok=True)
            if not (path / "meta.json").exists() and any(path.glob("*.store")):
                raise ValueError("it has no meta.json")  # tantivy would make an empty index of it
            self._index = self._tantivy.Index(self._schema(), path=str(path))
        analyzer = self._tantivy.TextAnalyzerBuilder(self._tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("words", analyzer)
        self._writer: tantivy.IndexWriter | None = None
        self._searcher: tantivy.Searcher | None = None
        self._languages: list[str] | None = None

    def _schema(self) -> Any:
        builder = self._tantivy.SchemaBuilder()
        builder.add_text_field(KEY, tokenizer_name="raw", index_option="basic", stored=True)
        for name in FILTERS:
            builder.add_text_field(name, tokenizer_name="raw", index_option="basic", fast=True)
        for name in TEXTS:
            builder.add_text_field(name, tokenizer_name="words", index_option="position")
        builder.add_text_field(STEMS, tokenizer_name="words", index_option="freq")
        builder.add_integer_field(DAY, indexed=True, fast=True)
        builder.add_bytes_field(SHOWN, stored=True, indexed=False)
        return builder.build()

    # Writing

    def open_to_write(self, memory: int) -> None:
        """Take the lock of the only writer; `memory` bytes are buffered before a segment is written."""
        try:
            self._writer = self._index.writer(heap_size=memory, num_threads=1)
        except ValueError as error:
            _raise_if_of_system(self.path, error)
            raise InputError(f"{self.path} is being written by another run ({error})") from None

    def put(
        self,
        key: str,
        texts: dict[str, Sequence[str]],
        filters: dict[str, str],
        shown: dict[str, Any],
        day: int | None = None,
    ) -> None:
        writer = self._writing()
        writer.delete_documents_by_term(KEY, key)
        page = self._tantivy.Document()
        page.add_text(KEY, key)
        for name, found in texts.items():
            page.add_text(name, " ".join(found))
        for name, value in filters.items():
            page.add_text(name, value)
        if day is not None:
            page.add_integer(DAY, day)
        page.add_bytes(SHOWN, json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace"))
        with _failure_reported(self.path):
            writer.add_document(page)

    def remove(self, field: str, value: str) -> None:
        """Remove the pages with this value of `key` or one of `FILTERS`."""
        with _failure_reported(self.path):
            self._writing().delete_documents_by_term(field, _encodable(value))

    def commit(self) -> None:
        with _failure_reported(self.path):
            self._writing().commit()
        self._searcher = self._languages = None

    def close(self) -> None:
        """Wait for merges and release the lock; changes that were not committed are lost."""
        if self._writer is not None:
            writer, self._writer = self._writer, None
            with suppress(ValueError):  # a writer that could not write; what failed is reported already
                writer.rollback()
                writer.wait_merging_threads()

    def _writing(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise InputError(f"{self.path} was opened for reading; expected it opened for writing")
        return self._writer

    # Searching

    @property
    def pages(self) -> int:
        return self._reading().num_docs

    @property
    def bytes(self) -> int:
        """The size of the inverted index, without stored fields."""
        return sum(file.stat().st_size for file in self.path.iterdir() if file.suffix in _POSTINGS)

    def find(
        self, clauses: Iterable[Clause], narrowed: Narrowing, limit: int, texts: Sequence[str] = TEXTS
    ) -> tuple[int, list[tuple[float, str, dict[str, Any]]]]:
        """Return how many pages match in one of `texts`, and the best of them: score, key, stored fields."""
        count, matches = self.match(clauses, narrowed, limit, texts)
        return count, self.stored(matches)

    def facets(
        self,
        clauses: Iterable[Clause],
        narrowed: Narrowing,
        names: Sequence[str],
        most: int,
        texts: Sequence[str] = TEXTS,
    ) -> dict[str, list[tuple[str, int]]]:
        """Return the most frequent values of some of `FILTERS` among the pages that match, with numbers of pages."""
        wanted = {name: {"terms": {"field": name, "size": most}} for name in names}
        query = self._query(list(clauses), narrowed, texts)
        with _damage_reported(self.path):
            found = self._reading().aggregate(query, wanted) if wanted else {}
            buckets = {
                name: [(str(one["key"]), int(one["doc_count"])) for one in found[name]["buckets"]] for name in names
            }
        return {name: sorted(values, key=lambda value: (-value[1], value[0])) for name, values in buckets.items()}

    def frequency(self, word: str, texts: Sequence[str] = TEXTS) -> int:
        """The number of pages with a word, in the field that has most."""
        with _damage_reported(self.path):
            return max(self._reading().doc_freq(name, word) for name in texts)

    def has_stem(self, stem: str) -> bool:
        """Whether a page has a word with this stem."""
        with _damage_reported(self.path):
            return bool(self._reading().doc_freq(STEMS, stem))

    def value_of(self, name: str, value: str) -> str:
        """A value of one of `FILTERS` as pages spell it: `EN` as `en`. Itself if a page has it, or none has."""
        value = _encodable(value)
        with _damage_reported(self.path):
            if self._reading().doc_freq(name, value):
                return value
        folded = value.casefold()
        return next((known for known, _ in self.words_like("", name) if known.casefold() == folded), value)

    def languages(self, most: int) -> list[str]:
        """The most frequent languages of the pages."""
        if self._languages is None:
            self._languages = [name for name, _ in self.facets((), Narrowing(), ("lang",), most)["lang"]]
        return self._languages

    def words_like(self, beginning: str, field: str = "body", limit: int | None = None) -> list[tuple[str, int]]:
        """The words of a field with this beginning, and how many pages have them, the most frequent first."""
        searcher: Any = self._reading()  # the stubs lack `terms_with_prefix`
        limit = None if limit is None else min(limit, MOST_TERMS)
        with _damage_reported(self.path):
            found: list[tuple[str, int]] = searcher.terms_with_prefix(field, beginning, limit=limit)
            return found

    def match(
        self, clauses: Iterable[Clause], narrowed: Narrowing, limit: int, texts: Sequence[str] = TEXTS
    ) -> tuple[int, list[tuple[float, Any]]]:
        """As `find`, from the inverted index alone: the score and the place of each page."""
        query = self._query(list(clauses), narrowed, texts)
        most = max(1, min(limit, self.pages))  # tantivy reserves memory for as many, and aborts where there is none
        with _damage_reported(self.path):
            found: Any = self._reading().search(query, limit=most, count=True)  # the stubs lack `count`
            return int(found.count or 0), list(found.hits)

    def stored(self, matches: Iterable[tuple[float, Any]]) -> list[tuple[float, str, dict[str, Any]]]:
        """Score, key and stored fields of pages that `match` found, the best first."""
        searcher = self._reading()
        hits = []
        for score, address in matches:
            with _damage_reported(self.path):
                page = searcher.doc(address)
                shown = json.loads(bytes(page.get_first(SHOWN) or b"{}"))
                if not isinstance(shown, dict):
                    raise ValueError("a page has no fields")
                hits.append((round(float(score), 6), str(page.get_first(KEY)), shown))
        hits.sort(key=lambda hit: (-hit[0], hit[1]))
        return hits

    def _reading(self) -> tantivy.Searcher:
        if self._searcher is None:
            with _damage_reported(self.path):
                self._index.reload()
                self._searcher = self._index.searcher()
        return self._searcher

    def _query(self, clauses: Sequence[Clause], narrowed: Narrowing, texts: Sequence[str]) -> Any:
        query, occur, schema = self._tantivy.Query, self._tantivy.Occur, self._index.schema
        roles = {"must": occur.Must, "may": occur.Should, "not": occur.MustNot}
        parts = [(roles[clause.role], self._anywhere(clause, texts)) for clause in clauses]
        wanted = [query.boolean_query(parts)] if parts else [query.all_query()]
        needed = [query.term_query(schema, name, value) for name, value in narrowed.filters.items()]
        if narrowed.after is not None or narrowed.before is not None:
            whole = self._tantivy.FieldType.Integer
            needed.append(query.range_query(schema, DAY, whole, narrowed.after, narrowed.before))
        excluded = [(occur.MustNot, query.term_query(schema, name, value)) for name, value in narrowed.excluded]
        weightless = [query.const_score_query(part, 0.0) for part in needed]
        return query.boolean_query([*((occur.Must, part) for part in (*wanted, *weightless)), *excluded])

    def _anywhere(self, clause: Clause, texts: Sequence[str]) -> Any:
        """Return the query for a word or phrase in any of its fields; the best field counts."""
        query, schema = self._tantivy.Query, self._index.schema
        fields = []
        for name in clause.fields or texts:
            if len(clause.words) > 1:
                fields.append(query.boost_query(query.phrase_query(schema, name, list(clause.words)), BOOSTS[name]))
                continue
            weighed = [(word, BOOSTS[name]) for word in clause.spellings or clause.words]
            weighed += [(stem, STEM_BOOST * BOOSTS[name]) for stem in clause.stems]
            fields += [
                query.boost_query(query.term_query(schema, name, word, "freq"), boost) for word, boost in weighed
            ]
        if not clause.fields:
            fields += [
                query.boost_query(query.term_query(schema, STEMS, stem, "freq"), STEM_BOOST) for stem in clause.stems
            ]
        return query.disjunction_max_query(fields)
