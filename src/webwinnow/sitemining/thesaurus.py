"""`Thesaurus`: the terms of the topics that are looked for (Sites 4.2), and how much of a text they cover.

Terms come from a SKOS file, from a plain list, or from training sites by chi-square, as the paper enriches its
thesaurus with keywords of a large text. Matching is Aho-Corasick over whole words. Needs the extra `thesaurus`.
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

__all__ = ["TERMS_PER_TOPIC", "SpelledText", "Thesaurus", "chi_square", "distinctive_terms", "needs_ahocorasick"]

TERMS_PER_TOPIC: Final = 500
"""Terms that training sites give each topic (ours; not tuned)."""
LEAST_SITES: Final = 2
"""A word of one site alone is its own, not its topic's (ours)."""
MOST_TERMS: Final = 2_000_000
LONGEST_TERM: Final = 16
"""Words of a term; what is longer is a sentence."""
XML_SUFFIXES: Final = (".rdf", ".xml", ".owl", ".skos")
TURTLE_SUFFIXES: Final = (".ttl", ".turtle", ".nt")
JSON_SUFFIXES: Final = (".json", ".jsonld")

_OPEN, _CLOSE, _END = "\x02\x03\n"
"""Around every word of a text and of a term, so that terms match whole words, and after a text; no word holds them."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SpelledText:
    """Texts one after another in one string, every word as `words` spells it between two marks.

    Text i is `text[start[i]:start[i + 1]]` and has `count[i]` words.
    """

    text: str
    start: NDArray[np.int64]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Spell texts."""
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
    """Terms, each one or more words, ready for matching; the same terms in any order make the same thesaurus."""

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
        """A SKOS file (RDF/XML, Turtle, N-Triples) by its suffix, else a list with one term a line.

        Of SKOS all preferred, alternative and hidden labels; with `languages`, those in one of them or in none. A label
        that is a stop word of its language is left out. Raises `InputError`.
        """
        suffix = path.suffix.lower()
        if suffix in JSON_SUFFIXES:
            raise InputError(
                f"{path}: JSON-LD is not read, its contexts stand elsewhere; write it as Turtle or RDF/XML"
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
                raise InputError(f"{path}: is no list of terms in UTF-8") from None
            expected = "a term a line"
        if not any(words(term) for term in terms):
            raise InputError(f"{path}: holds no terms; expected {expected}")
        return cls(terms)

    def covered(self, texts: SpelledText) -> NDArray[np.int64]:
        """Of each text how many words belong to terms; of overlapping terms the first counts, of these the longest."""
        found = self._matcher.find_matches_as_indexes(texts.text)
        if not found:
            return np.zeros(len(texts), np.int64)
        matches = np.array(found, np.int64)
        length = np.array([term.count(" ") + 1 for term in self.terms], np.int64)
        text = np.searchsorted(texts.start, matches[:, 1], side="right") - 1
        return np.bincount(text, length[matches[:, 0]], len(texts)).astype(np.int64)


def chi_square(with_word: Floats, without: Floats, others_with: Floats, others_without: Floats) -> Floats:
    """N (AD - CB)^2 / ((A + C)(B + D)(A + B)(C + D)), the chi-square of a word and a topic.

    A and C are pages of the topic with and without the word, B and D those of other topics. 0 where the word tells
    against the topic: its terms are those that speak for it.
    """
    a, b, c, d = with_word, others_with, without, others_without
    total = a + b + c + d
    below = (a + c) * (b + d) * (a + b) * (c + d)
    cross = a * d - c * b
    found: Floats = np.where((cross > 0) & (below > 0), total * cross * cross / np.where(below > 0, below, 1.0), 0.0)
    return found


def distinctive_terms(
    shares: Sequence[dict[str, float]], topics: Sequence[str], terms: int = TERMS_PER_TOPIC
) -> dict[str, list[str]]:
    """The words that tell of each topic, most telling first: the highest chi-square over training sites.

    `shares[i]` has for each word of site i the share of its pages with it, so that each site counts alike however many
    pages it has. Ours: a word must stand on two sites of its topic, if there are as many; else the names of the
    sites themselves come first.
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
    sites = np.array([topics.count(name) for name in names])
    found = {}
    for row, name in enumerate(names):
        others = held.sum(axis=0) - held[row]
        value = chi_square(held[row], sites[row] - held[row], others, sites.sum() - sites[row] - others)
        value[sites_with[row] < min(LEAST_SITES, sites[row])] = 0.0
        best = np.argsort(-value, kind="stable")[:terms]
        found[name] = [vocabulary[k] for k in best.tolist() if value[k] > 0]
    return found


def needs_ahocorasick() -> None:
    """Raise `MissingExtra` where ahocorasick-rs is not installed."""
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
