"""Search an index: abstracts first, then full texts (the hierarchical index that DocView 7.3 proposes).

A query has words, "phrases" and -words; `title:word` searches one field, `site:example.org` narrows by a filter, and
`after:2026-01-01`, `before:2026-12-31` by the day of publication. Words are also found in other forms of their language
(`apple`, `apples`), and a word that the index lacks stands for the words that it has a typo or two away.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple, get_args

from webwinnow.errors import SettingsError
from webwinnow.page.words import words
from webwinnow.plugins import meant
from webwinnow.search.index import ABSTRACT, FULL, IndexFolder, day_number
from webwinnow.search.level import FILTERS, TEXTS, Clause, Level, Narrowing
from webwinnow.search.spelling import ONE_TYPO, near_words, stems

Within = Literal["two-level", "abstract", "full"]
_PART = re.compile(r'(-?)(?:([a-z]+):(?=[^\s:/]))?(?:"([^"]*)"|(\S+))')
_BEGUN = re.compile(r'(-?(?:([a-z]+):(?=[^\s:/]))?"?)(.*)', re.DOTALL)
"""A part of a query that is being typed: what is before its words, the name of a field, the words."""
FIELDS = {"title": "title", "keywords": "keywords", "text": "body"}
"""Fields of the index by their names in a query."""
DAYS = ("after", "before")
MOST_WORDS = 64
"""Words of a query that are used."""
MOST_LANGUAGES = 4
"""Languages whose stems a query has, the most frequent of the index."""
MOST_KNOWN = 200_000
"""Words of a field, the most frequent, among which one with another first letter is looked for."""
MOST_FACETS = 20
"""Values of a facet."""
SNIPPET_CHARACTERS = 200
LEAST_STEM, LONGEST_ENDING = 3, 5
"""Letters of a stem that are marked in a snippet, and of the ending that may follow."""
MOST_MARKS = 500
"""Matches in a text that are considered for its snippet."""
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How to search.

    - `within`: the level to search, or both; `texts`: fields to search.
    - `filters`: required values by name; `after`, `before`: the first and last day of publication, `YYYY-MM-DD`.
    - `forms`: also find other forms of words; `typos`: also find words that are misspelt.
    - `facets`: filters whose most frequent values are counted.
    """

    within: Within = "two-level"
    limit: int = 10
    offset: int = 0
    filters: dict[str, str] = field(default_factory=dict)
    texts: tuple[str, ...] = TEXTS
    after: str | None = None
    before: str | None = None
    forms: bool = True
    typos: bool = True
    facets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.within not in get_args(Within):
            raise SettingsError(f"within is {self.within!r}: expected {', '.join(get_args(Within))}")
        if self.limit < 1 or self.offset < 0:
            raise SettingsError(f"limit is {self.limit}, offset {self.offset}: expected 1 or more, and 0 or more")
        for name in (*self.filters, *self.facets):
            if name not in FILTERS:
                raise SettingsError(f"there is no filter {name!r}; {meant(name, list(FILTERS))}")
        if not self.texts or not set(self.texts) <= set(TEXTS):
            raise SettingsError(f"texts is {self.texts}: expected some of {', '.join(TEXTS)}")
        for name in DAYS:
            _day(name, getattr(self, name))


class Query(NamedTuple):
    """A query: its clauses, and how it narrows the pages."""

    clauses: list[Clause]
    narrowed: Narrowing = Narrowing()


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
    """`count`: how many pages match at the lowest level that was searched.

    `corrections`: the words that were searched for instead of words that the index lacks. `facets`: for each name the
    most frequent values among the pages that `count` counts, with the numbers of pages. `unknown`: what was written
    like a field of the query and is none, so that it was searched for as a word.
    """

    hits: list[Hit]
    count: int
    seconds: float
    corrections: dict[str, str] = field(default_factory=dict)
    facets: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


def search(index: IndexFolder, query: str, settings: SearchSettings | None = None) -> SearchResult:
    """Return the best pages for a query, as the module describes it.

    With two levels, pages whose title, keywords or abstract contain all words come first; if they do not fill the list,
    the full texts are searched for any of the words.
    """
    settings = settings or SearchSettings()
    started = time.perf_counter()
    parsed = parse_query(query, index.stop_words)
    unknown = unknown_fields(query)
    if not parsed.clauses and parsed.narrowed == Narrowing() and words(query):  # nothing but stop words
        return SearchResult([], 0, time.perf_counter() - started)
    lowest = index.levels[FULL if settings.within == "two-level" else settings.within]
    narrowed = _narrowed(parsed.narrowed, settings, lowest)
    clauses = [_spelled(clause, lowest, narrowed, settings) for clause in parsed.clauses]
    wanted = settings.offset + settings.limit
    found: dict[str, Hit] = {}
    count, searched = 0, (lowest, clauses)
    for level, planned in _plan(clauses, settings.within):
        if len(found) >= wanted:
            break
        searched = index.levels[level], planned
        count, pages = searched[0].find(planned, narrowed, wanted, settings.texts)
        for score, key, shown in pages:
            if key not in found:
                found[key] = _hit(key, level, score, shown, clauses)
    hits = list(found.values())[settings.offset : wanted]
    facets = searched[0].facets(searched[1], narrowed, settings.facets, MOST_FACETS, settings.texts)
    corrections = {clause.words[0]: clause.spellings[0] for clause in clauses if clause.spellings}
    return SearchResult(hits, max(count, len(found)), time.perf_counter() - started, corrections, facets, unknown)


def suggest(index: IndexFolder, beginning: str, most: int = 10) -> list[str]:
    """Return completions of a query: its last word completed to words of titles, then of texts, most frequent first.

    What is before that word is kept, such as `-`, `title:` and a quotation mark; the values of filters and days are not
    completed.
    """
    *before, last = beginning.split(" ")
    sign, name, typed = _BEGUN.findall(last)[0]
    typed = unicodedata.normalize("NFKC", typed)
    found = words(typed)
    if name in FILTERS or name in DAYS or not found or not typed.casefold().endswith(found[-1]):
        return []
    level = index.levels[FULL]
    fields = (FIELDS[name],) if name in FIELDS else ("title", "body")
    likely = [word for field in fields for word, _ in level.words_like(found[-1], field, most + 1)]
    kept = sign + typed[: -len(found[-1])]
    completed = (" ".join([*before, kept + word]) for word in dict.fromkeys(likely))
    return [query for query in completed if query.casefold() != beginning.casefold()][:most]


def parse_query(query: str, stops: frozenset[str] = frozenset()) -> Query:
    """Split a query into clauses, filters and days. Stop words are left out."""
    clauses: list[Clause] = []
    filters: dict[str, str] = {}
    excluded: list[tuple[str, str]] = []
    days: dict[str, int | None] = {}
    for minus, name, phrase, word in _PART.findall(query):
        if name in FILTERS:
            value = phrase or word
            if minus:
                excluded.append((name, value))
            else:
                filters[name] = value
            continue
        if name in DAYS and not minus:
            days[name] = _day(name, phrase or word)
            continue
        text = phrase or word if name in FIELDS or not name else f"{name} {phrase or word}"
        found = [one for one in words(text) if one not in stops]
        if found:
            role = "not" if minus else "must" if phrase or name in FIELDS else "may"
            clauses.append(Clause(tuple(found), role, (FIELDS[name],) if name in FIELDS else ()))
        if sum(len(clause.words) for clause in clauses) >= MOST_WORDS:
            break
    if clauses and not filters and all(clause.role == "not" for clause in clauses):
        raise SettingsError(f"the query {query!r} only says what a page must not hold; add a word to look for")
    return Query(clauses, Narrowing(filters, tuple(excluded), days.get("after"), days.get("before")))


def unknown_fields(query: str) -> tuple[str, ...]:
    """Names before a colon in a query that are no field, filter or day."""
    known = (*FIELDS, *FILTERS, *DAYS)
    return tuple(dict.fromkeys(name for _, name, _, _ in _PART.findall(query) if name and name not in known))


def _day(name: str, given: str | None) -> int | None:
    found = day_number(given)
    if given is not None and found is None:
        raise SettingsError(f"{name} is {given!r}: expected a day such as 2026-11-17")
    return found


def _narrowed(query: Narrowing, settings: SearchSettings, level: Level) -> Narrowing:
    """What the query and the settings narrow the pages by, as pages spell it; the query takes precedence."""
    after, before = (day_number(getattr(settings, name)) for name in DAYS)
    filters = settings.filters | dict(query.filters)
    return Narrowing(
        {name: level.value_of(name, value) for name, value in filters.items()},
        tuple((name, level.value_of(name, value)) for name, value in query.excluded),
        after if query.after is None else query.after,
        before if query.before is None else query.before,
    )


def _spelled(clause: Clause, level: Level, narrowed: Narrowing, settings: SearchSettings) -> Clause:
    """A clause of one word with the other forms of it, or with the words that stand in for one that the index lacks."""
    if len(clause.words) != 1 or clause.role == "not":
        return clause
    fields = clause.fields or settings.texts
    languages = [narrowed.filters["lang"]] if "lang" in narrowed.filters else level.languages(MOST_LANGUAGES)
    word = clause.words[0]
    forms = _forms([word], languages) if settings.forms else ()
    is_known = level.frequency(word, fields) or any(level.has_stem(form) or level.frequency(form) for form in forms)
    if is_known or not settings.typos:
        return clause._replace(stems=forms)
    near = near_words(word, (one for name in fields for one in level.words_like(word[0], name)))
    if not near and len(word) >= ONE_TYPO:  # a typo in the first letters
        every = (one for name in fields for one in level.words_like("", name, MOST_KNOWN))
        near = near_words(word, (one for one in every if one[0].endswith(word[2:])))
    return clause._replace(spellings=tuple(near), stems=_forms(near, languages) if settings.forms else ())


def _forms(found: Sequence[str], languages: Sequence[str]) -> tuple[str, ...]:
    """The stems of words in some languages."""
    return tuple(dict.fromkeys(stem for language in languages for stem in stems(found, language)))


def _plan(clauses: list[Clause], within: Within) -> list[tuple[str, list[Clause]]]:
    if within != "two-level":
        return [(within, clauses)]
    strict = [clause._replace(role="must") if clause.role == "may" else clause for clause in clauses]
    return [(ABSTRACT, strict), (FULL, clauses)]


def _hit(key: str, level: str, score: float, shown: dict[str, str | None], clauses: list[Clause]) -> Hit:
    kept = [clause for clause in clauses if clause.role != "not"]
    wanted = [word for clause in kept for word in clause.spellings or clause.words]
    begin = [stem for clause in kept for stem in clause.stems if len(stem) >= LEAST_STEM]
    text = (shown.get("text") if level == FULL else None) or shown.get("abstract") or ""
    names = ("url", "title", "site", "type", "genre", "category", "lang", "date")
    return Hit(
        key=key,
        level=level,
        score=score,
        snippet=snippet(text, wanted, stems=begin),
        **{name: shown.get(name) for name in names},
    )


def snippet(
    text: str, wanted: Sequence[str], length: int = SNIPPET_CHARACTERS, *, stems: Sequence[str] = ()
) -> Snippet:
    """Return the passage with most different words of `wanted`, the first of equals; the beginning if there are none.

    Words with a beginning in `stems` count too. tantivy's generator does not fit: it tokenises the shown text with the
    index's own tokenizer, which here splits prepared words at blanks, so it misses capitals, words before punctuation,
    and scripts without blanks.
    """
    text = _BLANKS.sub(" ", text).strip()
    spans = _matches(text, wanted, stems)
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


def _matches(text: str, wanted: Sequence[str], stems: Sequence[str] = ()) -> list[tuple[int, int, str]]:
    """Return the places of words that are spelled as in the query except for case, or begin with a stem."""
    if not wanted:
        return []
    parts = sorted(set(wanted), key=lambda word: (-len(word), word))
    patterns = [rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in parts]
    patterns += [rf"\b{re.escape(stem)}\w{{0,{LONGEST_ENDING}}}\b" for stem in stems]
    pattern = re.compile("|".join(patterns), re.IGNORECASE)
    found = islice(pattern.finditer(text), MOST_MARKS)
    return [(match.start(), match.end(), match.group().casefold()) for match in found]
