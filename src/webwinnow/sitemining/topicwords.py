"""`TopicWords`: which words tell of which topic; the keyword-based text classifier of Sites (step 1 of Figure 7).

Each topic is the mean direction of its training sites' pages, every site counted alike, and a text belongs to the topic
that it is nearest to. Sites are few and each has a language of its own, so what is fitted is kept small: the
directions, and a slope that makes probabilities of cosines, found on sites that were held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError
from webwinnow.sitemining.arraychecks import Arrays, floats, keys
from webwinnow.sitemining.sitepages import SitePages, WordCounts

__all__ = ["HeldOut", "TopicWords", "WordRows", "learn_words", "probabilities", "slope_of"]

STEEPEST = 200.0
"""Slopes are looked for from 0 to this (ours): held-out pages that were all told right would have none. A cosine larger
by 0.02 then makes a topic 55 times likelier."""
SLOPE_STEPS = 20
SLOPE_ROWS = 300
"""WordRows of a site, evenly drawn, from which a slope is found."""
LENGTHS = 8
"""Texts of 1, 2 to 3, 4 to 7 known words and so on, the last of 128 and more, have slopes of their own."""
LEAST_SITES = 3
"""A length that fewer held-out sites show takes the slope of the length below."""
USUAL_SLOPE = 50.0
"""Where no site can be held out, because each topic has but one."""

ROUNDING = 1e-9
BLOCKS, PAGES = 0, 1

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class TopicWords:
    """Words by ascending `key`, the `weight` of each, and the `direction` of each topic over them (a column a topic, of
    length 1). `slopes` make probabilities of cosines, by the length of a text: a row for blocks, one for pages.
    """

    key: Keys
    weight: Floats
    direction: Floats
    slopes: Floats

    @property
    def topics(self) -> int:
        """The number of topics."""
        return int(self.direction.shape[1])

    def of_pages(self, words: WordCounts) -> Floats:
        """P(topic | text) of whole pages, a row each; NaN where no word is known."""
        return self._posteriors(words, PAGES)

    def of_blocks(self, words: WordCounts) -> Floats:
        """P(topic | text) of single blocks, a row each; NaN where no word is known."""
        return self._posteriors(words, BLOCKS)

    def to_arrays(self) -> Arrays:
        """As named arrays, for a file."""
        return {"key": self.key, "weight": self.weight, "direction": self.direction, "slopes": self.slopes}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        key = keys(arrays, "key")
        return cls(
            key,
            floats(arrays, "weight", (len(key),)),
            floats(arrays, "direction", (len(key), topics), high=1.0 + ROUNDING),
            floats(arrays, "slopes", (2, LENGTHS), high=STEEPEST),
        )

    def _posteriors(self, words: WordCounts, scale: int) -> Floats:
        rows = WordRows.of(words, self.key).weighted(self.weight)
        return _Told.of(rows, self.direction).posteriors(self.slopes[scale])


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """P(topic | text) of a training site's pages and blocks, told by the other sites."""

    pages: Floats
    blocks: Floats


@dataclass(frozen=True, slots=True, eq=False)
class WordRows:
    """Sparse rows over the columns of a vocabulary."""

    rows: int
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    value: Floats

    @classmethod
    def of(cls, words: WordCounts, key: Keys) -> Self:
        """The words that the vocabulary has; their counts as 1 + log count (sublinear)."""
        if not len(key):
            return cls(words.rows, words.row[:0], words.row[:0], np.zeros(0))
        at = np.minimum(np.searchsorted(key, words.key), len(key) - 1)
        known = key[at] == words.key
        return cls(words.rows, words.row[known], at[known], 1.0 + np.log(words.count[known]))

    def weighted(self, weight: Floats) -> Self:
        """Each column times its weight, then each row of length 1."""
        value = self.value * weight[self.column]
        there = value > 0
        row, column, value = self.row[there], self.column[there], value[there]
        length = np.sqrt(np.bincount(row, value * value, self.rows))
        return type(self)(self.rows, row, column, value / length[row])

    def at(self, columns: NDArray[np.bool_]) -> Self:
        """The rows without the other columns."""
        inside = columns[self.column]
        return type(self)(self.rows, self.row[inside], self.column[inside], self.value[inside])

    @property
    def length(self) -> NDArray[np.int64]:
        """The length of each row, of LENGTHS kinds: the logarithm of its columns to the base 2."""
        columns = np.bincount(self.row, minlength=self.rows)
        found: NDArray[np.int64] = np.log2(np.maximum(columns, 1)).astype(np.int64)
        return np.minimum(found, LENGTHS - 1)

    def mean(self, columns: int) -> Floats:
        """The mean of the rows that hold anything."""
        total = np.bincount(self.column, self.value, columns)
        return total / max(len(np.unique(self.row)), 1)

    def dense(self, columns: int) -> Floats:
        """The rows as a full table."""
        found = np.zeros((self.rows, columns))
        found[self.row, self.column] = self.value
        return found

    def times(self, vector: Floats) -> Floats:
        """Each row times a vector."""
        return np.bincount(self.row, self.value * vector[self.column], self.rows).astype(np.float64)

    @classmethod
    def join(cls, parts: Sequence[WordRows]) -> Self:
        """The rows of several, one after the other."""
        firsts = np.cumsum([0, *(part.rows for part in parts)])
        return cls(
            int(firsts[-1]),
            np.concatenate([part.row + first for part, first in zip(parts, firsts, strict=False)]),
            np.concatenate([part.column for part in parts]),
            np.concatenate([part.value for part in parts]),
        )

    def cosines(self, direction: Floats) -> Floats:
        """Each row, of length 1, times each column of `direction`; NaN for a row that holds nothing."""
        found = np.full((self.rows, direction.shape[1]), np.nan)
        there = np.bincount(self.row, minlength=self.rows) > 0
        for topic in range(direction.shape[1]):
            found[there, topic] = np.bincount(self.row, self.value * direction[self.column, topic], self.rows)[there]
        return found


def learn_words(
    sites: Sequence[SitePages], topic: NDArray[np.int64], topics: int
) -> tuple[TopicWords, list[HeldOut | None]]:
    """Learn from sites and the number of each one's topic; and what each site is told by the others.

    A site that is alone with its topic cannot be held out and has None.
    """
    if len(sites) != len(topic) or not len(sites):
        raise InputError(f"{len(sites)} sites and {len(topic)} topics: expected one each, and some")
    key = np.unique(np.concatenate([site.page_words.key for site in sites]))
    pages = [WordRows.of(site.page_words, key) for site in sites]
    sites_with, weight = _weights(pages, len(key))
    weighted = [rows.weighted(weight) for rows in pages]
    sums = np.zeros((len(key), topics))
    for number, rows in zip(topic.tolist(), weighted, strict=True):
        sums[:, number] += rows.mean(len(key))
    direction = _unit(sums)
    alone = np.bincount(topic, minlength=topics)[topic] == 1
    told: list[tuple[_Told, _Told] | None] = []
    for s, site in enumerate(sites):
        if alone[s]:
            told.append(None)
            continue
        others = direction.copy()
        others[:, topic[s]] = _unit((sums[:, topic[s]] - weighted[s].mean(len(key)))[:, None])[:, 0]
        own = np.zeros(len(key), np.bool_)
        own[pages[s].column] = True
        both = (WordRows.of(site.node_words, key), pages[s])
        known = [one.at(sites_with > own).weighted(weight) for one in both]
        told.append((_Told.of(known[BLOCKS], others), _Told.of(known[PAGES], others)))
    found = [(both, number) for both, number in zip(told, topic.tolist(), strict=True) if both is not None]
    slopes = np.stack([_slopes([(both[scale], number) for both, number in found]) for scale in (BLOCKS, PAGES)])
    held_out = [
        None
        if both is None
        else HeldOut(both[PAGES].posteriors(slopes[PAGES]), both[BLOCKS].posteriors(slopes[BLOCKS]))
        for both in told
    ]
    return TopicWords(key, weight, direction, slopes), held_out


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """Cosines of rows with the topics, and the length of each row."""

    cosines: Floats
    length: NDArray[np.int64]

    @classmethod
    def of(cls, rows: WordRows, direction: Floats) -> Self:
        return cls(rows.cosines(direction), rows.length)

    def posteriors(self, slopes: Floats) -> Floats:
        return probabilities(slopes[self.length][:, None] * self.cosines)


def _slopes(told: Sequence[tuple[_Told, int]]) -> Floats:
    """The slope of each length, found on held-out sites; that of the length below where too few show it."""
    found: list[float] = []
    for length in range(LENGTHS):
        rows = [(one.cosines[one.length == length], None, number) for one, number in told]
        shown = [one for one in rows if not np.isnan(one[0]).all()]
        slope = slope_of(shown) if len(shown) >= LEAST_SITES else None
        found.append(slope if slope is not None else found[-1] if found else np.nan)
    known = [slope for slope in found if not np.isnan(slope)]
    slopes: Floats = np.nan_to_num(np.array(found), nan=known[0] if known else USUAL_SLOPE)
    return slopes


def probabilities(scores: Floats) -> Floats:
    """P(topic) in proportion to exp(score), a row each. NaN stays."""
    found = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = found / found.sum(axis=1, keepdims=True)
    return shares


Scored = tuple[Floats, Floats | None, int]
"""Scores of the rows of a site, log probabilities that they are added to, and the number of the site's topic."""


def slope_of(held_out: Sequence[Scored], most: float = STEEPEST) -> float | None:
    """The slope, from 0 to `most`, under which the topics of held-out sites are likeliest; None without any row.

    Each site counts alike. The mean of log P is concave in the slope: its derivative, the score of the true topic less
    the expected one, is brought to 0 by bisection.
    """
    scores, before, truth, weight = [], [], [], []
    for rows, added, topic in held_out:
        told = np.flatnonzero(~np.isnan(rows[:, 0]))
        told = told[:: max(1, len(told) // SLOPE_ROWS)]
        scores.append(rows[told])
        before.append(np.zeros_like(rows[told]) if added is None else np.nan_to_num(added[told]))
        truth.append(rows[told, topic])
        weight.append(np.full(len(told), 1.0 / max(len(told), 1)))
    if not sum(map(len, scores)):
        return None
    score, offset, true, weights = (np.concatenate(parts) for parts in (scores, before, truth, weight))
    low, high = 0.0, most
    for _ in range(SLOPE_STEPS):
        slope = (low + high) / 2
        expected = (probabilities(slope * score + offset) * score).sum(axis=1)
        low, high = (slope, high) if weights @ (true - expected) > 0 else (low, slope)
    return float((low + high) / 2)


def _weights(pages: Sequence[WordRows], columns: int) -> tuple[NDArray[np.int64], Floats]:
    """On how many sites each word stands, and its weight: log (1 / share of pages) log ((1 + sites) / sites with it).

    The first factor is the usual one, the share a mean over sites so that large ones do not decide; the second leaves
    out what every site says, and counts for little what many do.
    """
    sites_with = np.zeros(columns, np.int64)
    share = np.zeros(columns)
    for rows in pages:
        pages_with = np.bincount(rows.column, minlength=columns)
        sites_with += pages_with > 0
        share += pages_with / max(rows.rows, 1)
    share /= len(pages)
    return sites_with, -np.log(share) * np.log((1 + len(pages)) / sites_with)


def _unit(columns: Floats) -> Floats:
    length = np.sqrt((columns * columns).sum(axis=0))
    return columns / np.where(length > 0, length, 1.0)
