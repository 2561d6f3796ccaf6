"""`Level`: one tantivy index on disk. Only this module uses tantivy.

Words come prepared, separated by blanks, so that a query and a page are tokenised alike.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from webwinnow.errors import InputError, MissingExtra

if TYPE_CHECKING:
    import tantivy

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
MOST_TERMS = 1_000_000
"""Terms that tantivy is asked for at most: it reserves memory for as many, and aborts where there is none."""
_OS_ERROR = re.compile(r"\(os error (\d{1,4})\)")
"""An error of the system in a message of tantivy."""
_NO_DAMAGE = frozenset(
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE)
)


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


def _encodable(text: str) -> str:
    """A text without lone surrogates, which arguments that are not UTF-8 have and no page has."""
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def _reported(path: Path, trouble: str = "is a damaged index", advice: str = "make it again") -> Iterator[None]:
    """Turn what tantivy raises into an `InputError`, or an `OSError` where the system refuses, as on a full disk.

    Damage also raises panics, which are no `Exception`s.
    """
    try:
        yield
    except (ValueError, OSError, LookupError, MemoryError) as error:
        of_system = _OS_ERROR.search(str(error))
        if of_system is not None and (number := int(of_system[1])) in _NO_DAMAGE:
            raise OSError(number, os.strerror(number), str(path)) from None
        raise InputError(f"{path} {trouble} ({error}); {advice}") from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise InputError(f"{path} is a damaged index ({str(error)[:200]}); make it again") from None


_UNWRITTEN = (
    "could not be written",
    "its disk may be full. It has what was committed; the same command continues",
)


class Level:
    """A tantivy index in a folder, created if there is none."""

    def __init__(self, path: Path) -> None:
        try:
            import tantivy  # noqa: PLC0415 (an optional extra)
        except ImportError as error:
            raise MissingExtra("search", "search") from error
        self._tantivy: Any = tantivy
        self.path = path
        with _reported(path):
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
        with _reported(self.path, "is being written by another run", "wait until it has ended"):
            self._writer = self._index.writer(heap_size=memory, num_threads=1)

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
        with _reported(self.path, *_UNWRITTEN):
            writer.add_document(page)

    def remove(self, field: str, value: str) -> None:
        """Remove the pages with this value of `key` or one of `FILTERS`."""
        with _reported(self.path, *_UNWRITTEN):
            self._writing().delete_documents_by_term(field, _encodable(value))

    def commit(self) -> None:
        with _reported(self.path, *_UNWRITTEN):
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
        with _reported(self.path):
            found = self._reading().aggregate(query, wanted) if wanted else {}
            buckets = {
                name: [(str(one["key"]), int(one["doc_count"])) for one in found[name]["buckets"]] for name in names
            }
        return {name: sorted(values, key=lambda value: (-value[1], value[0])) for name, values in buckets.items()}

    def frequency(self, word: str, texts: Sequence[str] = TEXTS) -> int:
        """The number of pages with a word, in the field that has most."""
        with _reported(self.path):
            return max(self._reading().doc_freq(name, word) for name in texts)

    def has_stem(self, stem: str) -> bool:
        """Whether a page has a word with this stem."""
        with _reported(self.path):
            return bool(self._reading().doc_freq(STEMS, stem))

    def value_of(self, name: str, value: str) -> str:
        """A value of one of `FILTERS` as pages spell it: `EN` as `en`. Itself if a page has it, or none has."""
        value = _encodable(value)
        with _reported(self.path):
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
        with _reported(self.path):
            found: list[tuple[str, int]] = searcher.terms_with_prefix(field, beginning, limit=limit)
            return found

    def match(
        self, clauses: Iterable[Clause], narrowed: Narrowing, limit: int, texts: Sequence[str] = TEXTS
    ) -> tuple[int, list[tuple[float, Any]]]:
        """As `find`, from the inverted index alone: the score and the place of each page."""
        query = self._query(list(clauses), narrowed, texts)
        most = max(1, min(limit, self.pages))  # tantivy reserves memory for as many, and aborts where there is none
        with _reported(self.path):
            found: Any = self._reading().search(query, limit=most, count=True)  # the stubs lack `count`
            return int(found.count or 0), list(found.hits)

    def stored(self, matches: Iterable[tuple[float, Any]]) -> list[tuple[float, str, dict[str, Any]]]:
        """Score, key and stored fields of pages that `match` found, the best first."""
        searcher = self._reading()
        hits = []
        for score, address in matches:
            with _reported(self.path):
                page = searcher.doc(address)
                shown = json.loads(bytes(page.get_first(SHOWN) or b"{}"))
                if not isinstance(shown, dict):
                    raise ValueError("a page has no fields")
                hits.append((round(float(score), 6), str(page.get_first(KEY)), shown))
        hits.sort(key=lambda hit: (-hit[0], hit[1]))
        return hits

    def _reading(self) -> tantivy.Searcher:
        if self._searcher is None:
            with _reported(self.path):
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
