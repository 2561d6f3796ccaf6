"""Search an index: abstracts first, then full texts (the hierarchical index that DocView 7.3 proposes)."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, get_args

from webwinnow.errors import SettingsError
from webwinnow.search.index import ABSTRACT, FILTERS, FULL, TEXTS, Clause, IndexFolder
from webwinnow.words import words

Within = Literal["two-level", "abstract", "full"]
_PART = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
MOST_WORDS = 64
"""Words of a query that are used."""
SNIPPET_CHARACTERS = 200
MOST_MARKS = 500
"""Matches in a text that are considered for its snippet."""
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """`within`: the level to search, or both; `filters`: required values by name; `texts`: fields to search."""

    within: Within = "two-level"
    limit: int = 10
    offset: int = 0
    filters: dict[str, str] = field(default_factory=dict)
    texts: tuple[str, ...] = TEXTS

    def __post_init__(self) -> None:
        if self.within not in get_args(Within):
            raise SettingsError(f"within is {self.within!r}: expected {', '.join(get_args(Within))}")
        if self.limit < 1 or self.offset < 0:
            raise SettingsError(f"limit is {self.limit}, offset {self.offset}: expected 1 or more, and 0 or more")
        for name in self.filters:
            if name not in FILTERS:
                raise SettingsError(f"there is no filter {name!r}; there are: {', '.join(FILTERS)}")
        if not self.texts or not set(self.texts) <= set(TEXTS):
            raise SettingsError(f"texts is {self.texts}: expected some of {', '.join(TEXTS)}")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Plain text, not HTML; `marks` are the spans of it that are words of the query."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A page that was found at `level`; scores are comparable within a level only."""

    key: str
    level: str
    score: float
    url: str | None
    title: str | None
    site: str | None
    type: str | None
    genre: str | None
    category: str | None
    lang: str | None
    date: str | None
    snippet: Snippet


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`count`: how many pages match at the lowest level that was searched."""

    hits: list[Hit]
    count: int
    seconds: float


def search(index: IndexFolder, query: str, settings: SearchSettings | None = None) -> SearchResult:
    """Return the best pages for a query: words, "phrases", and -words that must not occur.

    With two levels, pages whose title, keywords or abstract contain all words come first; if they do not fill the list,
    the full texts are searched for any of the words.
    """
    settings = settings or SearchSettings()
    started = time.perf_counter()
    asked = clauses_of(query, index.stop_words)
    if not asked and words(query):  # nothing but stop words
        return SearchResult([], 0, time.perf_counter() - started)
    wanted = settings.offset + settings.limit
    found: dict[str, Hit] = {}
    count = 0
    for level, clauses in _plan(asked, settings.within):
        if len(found) >= wanted:
            break
        count, pages = index.levels[level].find(clauses, settings.filters, wanted, settings.texts)
        for score, key, shown in pages:
            if key not in found:
                found[key] = _hit(key, level, score, shown, asked)
    hits = list(found.values())[settings.offset : wanted]
    return SearchResult(hits, max(count, len(found)), time.perf_counter() - started)


def clauses_of(query: str, stops: frozenset[str] = frozenset()) -> list[Clause]:
    """Split a query: words may occur in a page, phrases must, those after a minus must not. Stop words are left out."""
    clauses: list[Clause] = []
    for minus, phrase, word in _PART.findall(query):
        found = [one for one in words(phrase or word) if one not in stops]
        if found:
            clauses.append((tuple(found), "not" if minus else "must" if phrase else "may"))
        if sum(len(part) for part, _ in clauses) >= MOST_WORDS:
            break
    if clauses and all(role == "not" for _, role in clauses):
        raise SettingsError(f"the query {query!r} only says what a page must not hold; add a word to look for")
    return clauses


def _plan(clauses: list[Clause], within: Within) -> list[tuple[str, list[Clause]]]:
    if within != "two-level":
        return [(within, clauses)]
    strict: list[Clause] = [(phrase, "must" if role == "may" else role) for phrase, role in clauses]
    return [(ABSTRACT, strict), (FULL, clauses)]


def _hit(key: str, level: str, score: float, shown: dict[str, str | None], asked: list[Clause]) -> Hit:
    wanted = [word for phrase, role in asked if role != "not" for word in phrase]
    text = (shown.get("text") if level == FULL else None) or shown.get("abstract") or ""
    names = ("url", "title", "site", "type", "genre", "category", "lang", "date")
    return Hit(
        key=key, level=level, score=score, snippet=snippet(text, wanted), **{name: shown.get(name) for name in names}
    )


def snippet(text: str, wanted: Sequence[str], length: int = SNIPPET_CHARACTERS) -> Snippet:
    """Return the passage with most different words of `wanted`, the first of equals; the beginning if there are none.

    tantivy's generator does not fit: it tokenises the shown text with the index's own tokenizer, which here splits
    prepared words at blanks, so it misses capitals, words before punctuation, and scripts without blanks.
    """
    text = _BLANKS.sub(" ", text).strip()
    spans = _matches(text, wanted)
    best, first, start = 0, 0, 0
    counts: dict[str, int] = {}
    for k, (_, end, word) in enumerate(spans):
        counts[word] = counts.get(word, 0) + 1
        while first <= k and end - spans[first][0] > length - length // 5:
            gone = spans[first][2]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            first += 1
        if len(counts) > best:
            best, start = len(counts), spans[first][0]
    begin = max(0, start - length // 5)
    if begin:  # at the beginning of a word
        begin = (text.find(" ", begin - 1, start) + 1) or begin
    end = len(text) if begin + length >= len(text) else max(text.rfind(" ", begin, begin + length), begin + length // 2)
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    shift = len(before) - begin
    marks = tuple((a + shift, b + shift) for a, b, _ in spans if a >= begin and b <= end)
    return Snippet(before + text[begin:end] + after, marks)


def _matches(text: str, wanted: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return the places of words that are spelled as in the query except for case."""
    if not wanted:
        return []
    parts = sorted(set(wanted), key=lambda word: (-len(word), word))
    pattern = re.compile(
        "|".join(rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in parts), re.IGNORECASE
    )
    found = islice(pattern.finditer(text), MOST_MARKS)
    return [(match.start(), match.end(), match.group().casefold()) for match in found]
