"""Searching an index: abstracts first, then full texts (the hierarchical index that DocView 7.3 proposes)."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import Literal, get_args

from webwinnow.errors import SettingsError
from webwinnow.search.index import ABSTRACT, FULL, IndexFolder
from webwinnow.search.level import FILTERS, TEXTS, Clause
from webwinnow.search.snippet import Snippet, snippet
from webwinnow.words import words

__all__ = ["Hit", "SearchResult", "SearchSettings", "Within", "clauses_of", "search"]

Within = Literal["two-level", "abstract", "full"]
_PART = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
MOST_WORDS = 64
"""Words of a query that are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """`within`: the level that is searched, or both; `filters`: what a page must be, by name; `texts`: where
    words are looked for, of `TEXTS`.
    """

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A page that was found: `level` says where, `score` compares within a level only."""

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
    """`count`: how many pages match at the lowest level that was asked."""

    hits: list[Hit]
    count: int
    seconds: float


def search(index: IndexFolder, query: str, settings: SearchSettings | None = None) -> SearchResult:
    """The pages that fit a query best: words, "phrases", -words that must not stand in them.

    Two levels: pages whose title, keywords or abstract hold all words of the query come first; if they do not fill the
    list, the full texts are asked, where any word will do.
    """
    settings = settings or SearchSettings()
    started = time.perf_counter()
    asked = clauses_of(query)
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


def clauses_of(query: str) -> list[Clause]:
    """The parts of a query: words may stand in a page, phrases must, those after a minus must not."""
    clauses: list[Clause] = []
    for minus, phrase, word in _PART.findall(query):
        said = words(phrase or word)
        if not said:
            continue
        if minus:
            clauses.append((tuple(said), "not"))
        elif phrase or len(said) > 1:
            clauses.append((tuple(said), "must" if phrase else "may"))
        else:
            clauses.append(((said[0],), "may"))
        if sum(len(part) for part, _ in clauses) >= MOST_WORDS:
            break
    if clauses and all(role == "not" for _, role in clauses):
        raise SettingsError(f"the query {query!r} only says what a page must not hold; add a word to look for")
    return clauses


def _plan(clauses: list[Clause], within: Within) -> list[tuple[str, list[Clause]]]:
    if within != "two-level":
        return [(within, clauses)]
    strict: list[Clause] = [(said, "must" if role == "may" else role) for said, role in clauses]
    return [(ABSTRACT, strict), (FULL, clauses)]


def _hit(key: str, level: str, score: float, shown: dict[str, str | None], asked: list[Clause]) -> Hit:
    said = [word for part, role in asked if role != "not" for word in part]
    told = (shown.get("text") if level == FULL else None) or shown.get("abstract") or ""
    names = ("url", "title", "site", "type", "genre", "category", "lang", "date")
    return Hit(
        key=key, level=level, score=score, snippet=snippet(told, said), **{name: shown.get(name) for name in names}
    )
