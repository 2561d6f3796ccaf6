"""`TopicWords`: the words of each topic; the keyword-based text classifier of Sites (step 1 of Figure 7).

A topic is the mean direction of its training sites' pages, with equal weight per site, and a text belongs to the
nearest topic. Sites are few and each has its own vocabulary, so few numbers are fitted: the directions, and slopes that
turn cosines into probabilities, which are fitted on held-out sites.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError
from webwinnow.sitemining.arraychecks import Arrays, floats, keys
from webwinnow.sitemining.sitepages import SitePages, WordCounts

STEEPEST = 200.0
"""Largest slope (ours): without a bound, held-out pages that are all classified correctly would have none. At this
slope a cosine larger by 0.02 makes a topic 55 times more probable."""
SLOPE_STEPS = 20
SLOPE_ROWS = 300
"""Evenly spaced rows of a site from which a slope is fitted."""
LENGTHS = 8
"""Texts of 1, 2 to 3, 4 to 7 known words and so on, the last of 128 and more, have slopes of their own."""
LEAST_SITES = 3
"""A length with fewer held-out sites takes the slope of the length below."""
USUAL_SLOPE = 50.0
"""The slope if no site can be held out, because every topic has only one."""

ROUNDING = 1e-9
BLOCKS, PAGES = 0, 1

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class TopicWords:
    """Words by ascending `key`, the `weight` of each, and the `direction` of each topic over them (one column per
    topic, of length 1). `slopes` turn cosines into probabilities by the length of a text: a row for blocks, one for
    pages.
    """

    key: Keys
    weight: Floats
    direction: Floats
    slopes: Floats

    @property
    def topics(self) -> int:
        return int(self.direction.shape[1])

    def rows(self, words: WordCounts) -> WordRows:
        """Texts as weighted rows over the vocabulary."""
        return WordRows.of(words, self.key).weighted(self.weight)

    def of_pages(self, words: WordCounts) -> Floats:
        """P(topic | text) of whole pages, one row each; NaN where no word is known."""
        return _posteriors(self.rows(words).cosines(self.direction), self.slopes[PAGES])

    def of_blocks(self, words: WordCounts) -> Floats:
        """P(topic | text) of single blocks, one row each; NaN where no word is known."""
        return _posteriors(self.rows(words).cosines(self.direction), self.slopes[BLOCKS])

    def to_arrays(self) -> Arrays:
        return {"key": self.key, "weight": self.weight, "direction": self.direction, "slopes": self.slopes}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read the result of `to_arrays`; `ValueError` if it does not fit."""
        key = keys(arrays, "key")
        return cls(
            key,
            floats(arrays, "weight", (len(key),)),
            floats(arrays, "direction", (len(key), topics), high=1.0 + ROUNDING),
            floats(arrays, "slopes", (2, LENGTHS), high=STEEPEST),
        )


class HeldOut(NamedTuple):
    """P(topic | text) of a training site's pages and blocks, predicted from the other sites."""

    pages: Floats
    blocks: Floats


class Cosines(NamedTuple):
    """Cosines of rows with each topic (NaN for an empty row), and the length class of each row."""

    value: Floats
    length: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class WordRows:
    """Sparse rows over the columns of a vocabulary."""

    rows: int
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    value: Floats

    @classmethod
    def of(cls, words: WordCounts, key: Keys) -> Self:
        """The words that are in the vocabulary; counts become 1 + log count (sublinear)."""
        if not len(key):
            return cls(words.rows, words.row[:0], words.row[:0], np.zeros(0))
        at = np.minimum(np.searchsorted(key, words.key), len(key) - 1)
        known = key[at] == words.key
        return cls(words.rows, words.row[known], at[known], 1.0 + np.log(words.count[known]))

    @classmethod
    def join(cls, parts: Sequence[WordRows]) -> Self:
        """The rows of several, in order."""
        firsts = np.cumsum([0, *(part.rows for part in parts)])
        return cls(
            int(firsts[-1]),
            np.concatenate([part.row + first for part, first in zip(parts, firsts, strict=False)]),
            np.concatenate([part.column for part in parts]),
            np.concatenate([part.value for part in parts]),
        )

    def weighted(self, weight: Floats) -> Self:
        """Multiply each column by its weight, then scale each row to length 1."""
        value = self.value * weight[self.column]
        there = value > 0
        row, column, value = self.row[there], self.column[there], value[there]
        length = np.sqrt(np.bincount(row, value * value, self.rows))
        return type(self)(self.rows, row, column, value / length[row])

    def at(self, columns: NDArray[np.bool_]) -> Self:
        """The rows with these columns only."""
        inside = columns[self.column]
        return type(self)(self.rows, self.row[inside], self.column[inside], self.value[inside])

    def mean(self, columns: int) -> Floats:
        """The mean of the rows that are not empty."""
        total = np.bincount(self.column, self.value, columns)
        return total / max(len(np.unique(self.row)), 1)

    def times(self, vector: Floats) -> Floats:
        """The product of each row with a vector."""
        return np.bincount(self.row, self.value * vector[self.column], self.rows).astype(np.float64)

    def cosines(self, direction: Floats) -> Cosines:
        """The products of the rows, of length 1, with each column of `direction`.

        The length class of a row is the logarithm to base 2 of its number of columns, below `LENGTHS`.
        """
        columns = np.bincount(self.row, minlength=self.rows)
        found = np.stack([self.times(topic) for topic in direction.T], axis=1)
        found[columns == 0] = np.nan
        length: NDArray[np.int64] = np.log2(np.maximum(columns, 1)).astype(np.int64)
        return Cosines(found, np.minimum(length, LENGTHS - 1))


def learn_words(
    sites: Sequence[SitePages], topic: NDArray[np.int64], topics: int
) -> tuple[TopicWords, list[HeldOut | None]]:
    """Learn from sites and the number of each one's topic; also predict each site from the others.

    The only site of a topic cannot be held out: it has None.
    """
    if len(sites) != len(topic) or not len(sites):
        raise InputError(f"{len(sites)} sites and {len(topic)} topics: expected one each, and some")
    key = np.unique(np.concatenate([site.page_words.key for site in sites]))
    pages = [WordRows.of(site.page_words, key) for site in sites]
    sites_with, weight = _weights(pages, len(key))
    means = [rows.weighted(weight).mean(len(key)) for rows in pages]
    sums = np.zeros((len(key), topics))
    for number, mean in zip(topic.tolist(), means, strict=True):
        sums[:, number] += mean
    direction = _unit(sums)
    alone = np.bincount(topic, minlength=topics)[topic] == 1
    cosines: dict[int, tuple[Cosines, Cosines]] = {}  # of blocks and of pages, by site
    for s in np.flatnonzero(~alone).tolist():
        others = direction.copy()
        others[:, topic[s]] = _unit((sums[:, topic[s]] - means[s])[:, None])[:, 0]
        own = np.zeros(len(key), np.bool_)
        own[pages[s].column] = True
        elsewhere = sites_with > own
        blocks = WordRows.of(sites[s].node_words, key).at(elsewhere).weighted(weight)
        cosines[s] = blocks.cosines(others), pages[s].at(elsewhere).weighted(weight).cosines(others)
    slopes = np.stack([_slopes([(both[scale], int(topic[s])) for s, both in cosines.items()]) for scale in (0, 1)])
    held_out: list[HeldOut | None] = [None] * len(sites)
    for s, both in cosines.items():
        held_out[s] = HeldOut(_posteriors(both[PAGES], slopes[PAGES]), _posteriors(both[BLOCKS], slopes[BLOCKS]))
    return TopicWords(key, weight, direction, slopes), held_out


def _posteriors(cosines: Cosines, slopes: Floats) -> Floats:
    return probabilities(slopes[cosines.length][:, None] * cosines.value)


def _slopes(held_out: Sequence[tuple[Cosines, int]]) -> Floats:
    """The slope of each length, fitted on held-out sites; that of the length below where too few have it."""
    found: list[float] = []
    for length in range(LENGTHS):
        rows = [(cosines.value[cosines.length == length], None, number) for cosines, number in held_out]
        shown = [one for one in rows if not np.isnan(one[0]).all()]
        slope = slope_of(shown) if len(shown) >= LEAST_SITES else None
        found.append(slope if slope is not None else found[-1] if found else np.nan)
    known = [slope for slope in found if not np.isnan(slope)]
    slopes: Floats = np.nan_to_num(np.array(found), nan=known[0] if known else USUAL_SLOPE)
    return slopes


def probabilities(scores: Floats) -> Floats:
    """P(topic) in proportion to exp(score), row by row. NaN is kept."""
    found = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = found / found.sum(axis=1, keepdims=True)
    return shares


Scored = tuple[Floats, Floats | None, int]
"""Scores of the rows of a site, log probabilities that they are added to, and the number of the site's topic."""


def slope_of(held_out: Sequence[Scored], most: float = STEEPEST) -> float | None:
    """The slope, from 0 to `most`, of the highest likelihood for the topics of held-out sites; None without any row.

    Each site has the same weight. The mean of log P is concave in the slope: bisection finds the zero of its
    derivative, the score of the true topic less the expected score.
    """
    scores, before, truth, weight = [], [], [], []
    for rows, added, topic in held_out:
        known = np.flatnonzero(~np.isnan(rows[:, 0]))
        known = known[:: max(1, len(known) // SLOPE_ROWS)]
        scores.append(rows[known])
        before.append(np.zeros_like(rows[known]) if added is None else np.nan_to_num(added[known]))
        truth.append(rows[known, topic])
        weight.append(np.full(len(known), 1.0 / max(len(known), 1)))
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
    """The number of sites with each word, and its weight: log (1 / share of pages) log ((1 + sites) / sites with it).

    The first factor is the usual one; the share is a mean over sites, so that large sites do not decide. The second
    lowers the weight of words that many sites use.
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
