"""`Thesaurus`: the terms of the topics (Sites 4.2), and how many words of a text they cover.

Terms come from a SKOS file, from a plain list, or from training sites by chi-square, as the paper extends its
thesaurus with keywords of a large text. Matching is Aho-Corasick over whole words. Requires the extra `thesaurus`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, MissingExtra, SettingsError
from webwinnow.sitemining.skos import LARGEST_THESAURUS, read_labels
from webwinnow.words import stop_words, words

TERMS_PER_TOPIC: Final = 500
"""Terms of each topic that are learned from training sites (ours; not tuned)."""
LEAST_SITES: Final = 2
"""A word of a single site belongs to the site, not to its topic (ours)."""
MOST_TERMS: Final = 2_000_000
LONGEST_TERM: Final = 16
"""Words of a term; longer ones are sentences."""
XML_SUFFIXES: Final = (".rdf", ".xml", ".owl", ".skos")
TURTLE_SUFFIXES: Final = (".ttl", ".turtle", ".nt")
JSON_SUFFIXES: Final = (".json", ".jsonld")

_OPEN, _CLOSE, _END = "\x02\x03\n"
"""Before and after every word, so that terms match whole words, and after a text; no word contains them."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SpelledText:
    """Several texts in one string, every word spelled as by `words` and delimited.

    Text i is `text[start[i]:start[i + 1]]` and has `count[i]` words.
    """

    text: str
    start: NDArray[np.int64]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Spell some texts."""
        spelled, counts = [], []
        for text in texts:
            found = words(text)
            spelled.append(_spelled(found) + _END)
            counts.append(len(found))
        start = np.cumsum([0, *map(len, spelled)])
        return cls("".join(spelled), start, np.array(counts, np.int64))

    def __len__(self) -> int:
        return len(self.count)

    def words(self, first: int, end: int) -> list[str]:
        """The words of texts `first:end`, in order."""
        found = self.text[self.start[first] : self.start[end]].replace(_END, "")
        return found[1:-1].split(_CLOSE + _OPEN) if found else []


class Thesaurus:
    """Terms of one or more words, ready for matching; their order does not matter."""

    def __init__(self, terms: Iterable[str]) -> None:
        found: set[tuple[str, ...]] = set()
        for term in terms:
            spelled = tuple(words(term))
            if 0 < len(spelled) <= LONGEST_TERM:
                found.add(spelled)
            if len(found) > MOST_TERMS:
                raise InputError(f"a thesaurus of more than {MOST_TERMS:,} terms")
        if not found:
            raise InputError("a thesaurus without terms: expected at least one word")
        ordered = sorted(found)
        self.terms: tuple[str, ...] = tuple(map(" ".join, ordered))
        self._matcher = _matcher([_spelled(term) for term in ordered])

    def __len__(self) -> int:
        return len(self.terms)

    @classmethod
    def read(cls, path: Path, languages: Sequence[str] | None = None) -> Self:
        """Read a SKOS file (RDF/XML, Turtle, N-Triples), recognised by its suffix, or a list with one term per line.

        Of SKOS all preferred, alternative and hidden labels are read; with `languages`, those in one of them or in
        none. Labels that are stop words of their language are left out. Raises `InputError`.
        """
        suffix = path.suffix.lower()
        if suffix in JSON_SUFFIXES:
            raise InputError(
                f"{path}: JSON-LD is not read, because its contexts are elsewhere; convert it to Turtle or RDF/XML"
            )
        with path.open("rb") as file:
            data = file.read(LARGEST_THESAURUS + 1)
        if len(data) > LARGEST_THESAURUS:
            raise InputError(f"{path}: a thesaurus may have {LARGEST_THESAURUS:,} bytes, this has more")
        if suffix in XML_SUFFIXES or suffix in TURTLE_SUFFIXES:
            terms = _labels(data, str(path), suffix in XML_SUFFIXES, languages)
            expected = "labels of SKOS concepts"
        else:
            try:
                terms = data.decode("utf-8-sig").splitlines()
            except UnicodeDecodeError:
                raise InputError(f"{path}: not a list of terms in UTF-8") from None
            expected = "one term per line"
        if not any(words(term) for term in terms):
            raise InputError(f"{path}: no terms; expected {expected}")
        return cls(terms)

    def covered(self, texts: SpelledText) -> NDArray[np.int64]:
        """The number of words of each text that belong to terms; of overlapping terms the first and longest counts."""
        found = self._matcher.find_matches_as_indexes(texts.text)
        if not found:
            return np.zeros(len(texts), np.int64)
        matches = np.array(found, np.int64)
        length = np.array([term.count(" ") + 1 for term in self.terms], np.int64)
        text = np.searchsorted(texts.start, matches[:, 1], side="right") - 1
        return np.bincount(text, length[matches[:, 0]], len(texts)).astype(np.int64)


def chi_square(with_word: Floats, without: Floats, others_with: Floats, others_without: Floats) -> Floats:
    """N (AD - CB)^2 / ((A + C)(B + D)(A + B)(C + D)), the chi-square of a word and a topic.

    A and C are pages of the topic with and without the word, B and D those of other topics. 0 for words that are less
    frequent in the topic. Not scikit-learn's `chi2`, which leaves C and D out: its values are smaller by the share of
    pages without the word.
    """
    a, b, c, d = with_word, others_with, without, others_without
    below = (a + c) * (b + d) * (a + b) * (c + d)
    cross = a * d - c * b
    positive = (cross > 0) & (below > 0)
    return np.divide((a + b + c + d) * cross * cross, below, out=np.zeros_like(cross), where=positive)


def distinctive_terms(
    shares: Sequence[dict[str, float]], topics: Sequence[str], terms: int = TERMS_PER_TOPIC
) -> dict[str, list[str]]:
    """The words with the highest chi-square for each topic over training sites, the highest first.

    `shares[i]` is the share of pages of site i that have each word, so that each site has the same weight. Ours: a word
    must be on two sites of its topic, if it has two; otherwise the names of the sites would come first.
    """
    if len(shares) != len(topics) or not shares:
        raise InputError(f"{len(shares)} sites and {len(topics)} topics: expected one each, and some")
    if terms < 1:
        raise SettingsError(f"{terms} terms a topic: expected 1 or more")
    names = sorted(set(topics))
    vocabulary = sorted(set().union(*shares))
    column = {word: k for k, word in enumerate(vocabulary)}
    held, sites_with = np.zeros((2, len(names), len(vocabulary)))
    for share, topic in zip(shares, topics, strict=True):
        row, at = names.index(topic), [column[word] for word in share]
        held[row, at] += list(share.values())
        sites_with[row, at] += 1
    sites = np.array([[topics.count(name)] for name in names])
    others = held.sum(axis=0) - held
    value = chi_square(held, sites - held, others, len(topics) - sites - others)
    value[sites_with < np.minimum(LEAST_SITES, sites)] = 0.0
    best = np.argsort(-value, axis=1, kind="stable")[:, :terms].tolist()
    return {name: [vocabulary[k] for k in best[row] if value[row, k] > 0] for row, name in enumerate(names)}


def needs_ahocorasick() -> None:
    """Raise `MissingExtra` if ahocorasick-rs is not installed."""
    try:
        import ahocorasick_rs  # noqa: F401, PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra("matching the terms of a thesaurus", "thesaurus") from error


def _matcher(patterns: list[str]) -> Any:
    needs_ahocorasick()
    from ahocorasick_rs import AhoCorasick, MatchKind  # noqa: PLC0415

    return AhoCorasick(patterns, matchkind=MatchKind.LeftmostLongest)


def _spelled(found: Iterable[str]) -> str:
    return "".join([f"{_OPEN}{word}{_CLOSE}" for word in found])


def _labels(data: bytes, name: str, xml: bool, languages: Sequence[str] | None) -> list[str]:
    wanted = None if languages is None else {language.lower().partition("-")[0] for language in languages}
    terms = []
    for text, language in read_labels(data, name, xml=xml):
        code = (language or "").lower().partition("-")[0]
        if (wanted is None or not code or code in wanted) and text.casefold().strip() not in stop_words(code or "en"):
            terms.append(text)
    return terms
