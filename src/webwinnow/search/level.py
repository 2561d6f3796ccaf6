"""One level of an index on disk: the only module that knows tantivy.

Texts go in as the words that `webwinnow.words` makes of them, so that a query and a page are cut alike, whatever the
script. Beside them stands what a result shows, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from webwinnow.errors import InputError, MissingExtra

if TYPE_CHECKING:
    import tantivy

__all__ = ["FILTERS", "TEXTS", "Clause", "Level"]

TEXTS = ("title", "keywords", "body")
"""What is searched for words."""
FILTERS = ("site", "type", "genre", "category", "lang")
"""What a search may be narrowed to."""
BOOSTS = {"title": 2.0, "keywords": 1.5, "body": 1.0}
"""What a word counts by where it stands; round, not tuned."""
KEY, SHOWN = "key", "shown"
_POSTINGS = frozenset({".term", ".idx", ".pos", ".fieldnorm"})
"""Files of an inverted index proper; the others keep what is shown, and columns."""

Clause = tuple[tuple[str, ...], str]
"""Words that stand one after the other (or one word), and `must`, `may` or `not`."""


class Level:
    """An inverted index in a folder; made where there is none."""

    def __init__(self, path: Path) -> None:
        self._tantivy = _tantivy()
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._index = self._tantivy.Index(self._schema(), path=str(path))
        except ValueError as error:
            raise InputError(f"{path} is no index of this program ({error}); give another folder") from None
        analyzer = self._tantivy.TextAnalyzerBuilder(self._tantivy.Tokenizer.whitespace()).build()
        self._index.register_tokenizer("words", analyzer)
        self._writer: tantivy.IndexWriter | None = None
        self._searcher: tantivy.Searcher | None = None

    def _schema(self) -> tantivy.Schema:
        builder = self._tantivy.SchemaBuilder()
        builder.add_text_field(KEY, tokenizer_name="raw", index_option="basic", stored=True)
        for name in FILTERS:
            builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
        for name in TEXTS:
            builder.add_text_field(name, tokenizer_name="words", index_option="position")
        builder.add_bytes_field(SHOWN, stored=True, indexed=False)
        schema: tantivy.Schema = builder.build()
        return schema

    # writing

    def open_to_write(self, memory: int) -> None:
        """Take the lock that only one writer may have; `memory` bytes are filled before a part is written out."""
        try:
            self._writer = self._index.writer(heap_size=memory, num_threads=1)
        except ValueError as error:
            raise InputError(f"{self.path} is being written by another run ({error})") from None

    def put(self, key: str, texts: dict[str, Sequence[str]], filters: dict[str, str], shown: dict[str, Any]) -> None:
        """Add a page, in the place of one that had its key."""
        writer = self._writing()
        writer.delete_documents_by_term(KEY, key)
        page = self._tantivy.Document()
        page.add_text(KEY, key)
        for name, words in texts.items():
            page.add_text(name, " ".join(words))
        for name, value in filters.items():
            page.add_text(name, value)
        page.add_bytes(SHOWN, json.dumps(shown, ensure_ascii=False).encode("utf-8", "replace"))
        writer.add_document(page)

    def remove(self, field: str, value: str) -> None:
        """Take out the pages whose `key`, or one of `FILTERS`, is this."""
        self._writing().delete_documents_by_term(field, value)

    def commit(self) -> None:
        """Make what was put and removed lasting and findable."""
        self._writing().commit()
        self._searcher = None

    def close(self) -> None:
        """Give the lock back, once parts have been merged; what was not committed is lost."""
        if self._writer is not None:
            self._writer.rollback()
            self._writer.wait_merging_threads()
            self._writer = None

    def _writing(self) -> tantivy.IndexWriter:
        if self._writer is None:
            raise InputError(f"{self.path} was opened to read; expected it opened to write")
        return self._writer

    # searching

    @property
    def pages(self) -> int:
        """How many pages can be found."""
        return self._reading().num_docs

    @property
    def bytes(self) -> int:
        """Size of the inverted index, without what results show."""
        return sum(file.stat().st_size for file in self.path.iterdir() if file.suffix in _POSTINGS)

    def find(
        self, clauses: Iterable[Clause], filters: dict[str, str], limit: int, texts: Sequence[str] = TEXTS
    ) -> tuple[int, list[tuple[float, str, dict[str, Any]]]]:
        """How many pages match in one of `texts`, and the best of them: score, key, what is shown."""
        query = self._query(list(clauses), filters, texts)
        searcher = self._reading()
        found: Any = searcher.search(query, limit=limit, count=True)  # the stubs leave out `count`
        hits = []
        for score, address in found.hits:
            page = searcher.doc(address)
            shown = json.loads(bytes(page.get_first(SHOWN) or b"{}"))
            hits.append((round(float(score), 6), str(page.get_first(KEY)), shown))
        hits.sort(key=lambda hit: (-hit[0], hit[1]))
        return int(found.count or 0), hits

    def _reading(self) -> tantivy.Searcher:
        if self._searcher is None:
            self._index.reload()
            self._searcher = self._index.searcher()
        return self._searcher

    def _query(self, clauses: Sequence[Clause], filters: dict[str, str], texts: Sequence[str]) -> tantivy.Query:
        query, occur, schema = self._tantivy.Query, self._tantivy.Occur, self._index.schema
        how = {"must": occur.Must, "may": occur.Should, "not": occur.MustNot}
        parts = [(how[role], self._anywhere(words, texts)) for words, role in clauses]
        wanted = [query.boolean_query(parts)] if parts else [query.all_query()]
        told = [query.const_score_query(query.term_query(schema, name, value), 0.0) for name, value in filters.items()]
        both: tantivy.Query = query.boolean_query([(occur.Must, part) for part in (*wanted, *told)])
        return both

    def _anywhere(self, words: tuple[str, ...], texts: Sequence[str]) -> tantivy.Query:
        """The word, or the words one after the other, in any of `texts`; the best place counts."""
        query, schema = self._tantivy.Query, self._index.schema
        places = []
        for name in texts:
            if len(words) == 1:
                found = query.term_query(schema, name, words[0], "freq")
            else:
                found = query.phrase_query(schema, name, list(words))
            places.append(query.boost_query(found, BOOSTS[name]))
        anywhere: tantivy.Query = query.disjunction_max_query(places)
        return anywhere


def _tantivy() -> Any:
    try:
        import tantivy  # noqa: PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra("search", "search") from error
    return tantivy
