"""`TopicWords`: which words tell of which topic; the keyword-based text classifier of Sites (step 1 of Figure 7).

Each topic is the mean direction of its training sites' pages, every site counted alike, and a text belongs to the topic
that it is nearest to. Sites are few and each has a language of its own, so what is fitted is kept small: the
directions, and a slope that makes probabilities of cosines, found on sites that were held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError
from webwinnow.sitemining.sitepages import SitePages, WordCounts

__all__ = ["HeldOut", "Rows", "TopicWords", "learn_words", "probabilities", "slope_of"]

STEEPEST = 200.0
"""Slopes are looked for from 0 to this: a cosine that is larger by 0.05 then makes a topic 20,000 times likelier."""
SLOPE_STEPS = 24
SLOPE_ROWS = 1_000
"""Rows of a site, evenly drawn, from which a slope is found."""
USUAL_SLOPES = (30.0, 5.0)
"""Of pages and of blocks, where no site can be held out because each topic has but one."""

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class TopicWords:
    """Words by ascending `key`, the `weight` of each, and the `direction` of each topic over them (a column a topic, of
    length 1); the slopes that make probabilities of the cosines of pages and of blocks.
    """

    key: Keys
    weight: Floats
    direction: Floats
    page_slope: float
    block_slope: float

    @property
    def topics(self) -> int:
        """The number of topics."""
        return int(self.direction.shape[1])

    def of_pages(self, words: WordCounts) -> Floats:
        """P(topic | text) of whole pages, a row each; NaN where no word is known."""
        return probabilities(self._cosines(words), self.page_slope)

    def of_blocks(self, words: WordCounts) -> Floats:
        """P(topic | text) of single blocks, a row each; NaN where no word is known."""
        return probabilities(self._cosines(words), self.block_slope)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """As named arrays, for a file."""
        slopes = np.array([self.page_slope, self.block_slope])
        return {"key": self.key, "weight": self.weight, "direction": self.direction, "slopes": slopes}

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        return cls(arrays["key"], arrays["weight"], arrays["direction"], *map(float, arrays["slopes"]))

    def _cosines(self, words: WordCounts) -> Floats:
        rows = Rows.of(words, self.key)
        return rows.weighted(self.weight).cosines(self.direction)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """P(topic | text) of a training site's pages and blocks, told by the other sites."""

    pages: Floats
    blocks: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
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
    def join(cls, parts: Sequence[Rows]) -> Self:
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
    pages = [Rows.of(site.page_words, key) for site in sites]
    sites_with, weight = _weights(pages, len(key))
    weighted = [rows.weighted(weight) for rows in pages]
    means = [rows.mean(len(key)) for rows in weighted]
    sums = np.zeros((len(key), topics))
    for number, mean in zip(topic.tolist(), means, strict=True):
        sums[:, number] += mean
    direction = _unit(sums)
    alone = np.bincount(topic, minlength=topics)[topic] == 1
    cosines: list[tuple[Floats, Floats] | None] = []
    for s, site in enumerate(sites):
        if alone[s]:
            cosines.append(None)
            continue
        others = direction.copy()
        others[:, topic[s]] = _unit((sums[:, topic[s]] - means[s])[:, None])[:, 0]
        own = np.zeros(len(key), np.bool_)
        own[pages[s].column] = True
        shared = sites_with > own
        of_page = pages[s].at(shared).weighted(weight).cosines(others)
        of_block = Rows.of(site.node_words, key).at(shared).weighted(weight).cosines(others)
        cosines.append((of_page, of_block))
    found = [None if c is None else (c, int(t)) for c, t in zip(cosines, topic, strict=True)]
    slopes = [
        slope_of([(c[scale], t) for c, t in filter(None, found)]) or usual for scale, usual in enumerate(USUAL_SLOPES)
    ]
    held_out = [
        None if c is None else HeldOut(probabilities(c[0], slopes[0]), probabilities(c[1], slopes[1])) for c in cosines
    ]
    return TopicWords(key, weight, direction, *slopes), held_out


def probabilities(cosines: Floats, slope: float) -> Floats:
    """P(topic | text) = exp(slope cosine) / sum; equal topics before. NaN stays."""
    high = slope * (cosines - cosines.max(axis=1, keepdims=True))
    found = np.exp(high)
    shares: Floats = found / found.sum(axis=1, keepdims=True)
    return shares


def slope_of(held_out: Sequence[tuple[Floats, int]], most: float = STEEPEST) -> float | None:
    """The slope, from 0 to `most`, under which the topics of held-out sites are likeliest; None without any row.

    A site is rows of scores and the number of its topic; each site counts alike. The mean of log P is concave in the
    slope: its derivative, the score of the true topic less the expected one, is brought to 0 by bisection.
    """
    scores, truth, weight = [], [], []
    for rows, topic in held_out:
        told = rows[~np.isnan(rows[:, 0])]
        told = told[:: max(1, len(told) // SLOPE_ROWS)]
        scores.append(told)
        truth.append(told[:, topic])
        weight.append(np.full(len(told), 1.0 / max(len(told), 1)))
    if not sum(map(len, scores)):
        return None
    joined, true, weights = np.concatenate(scores), np.concatenate(truth), np.concatenate(weight)
    low, high = 0.0, most
    for _ in range(SLOPE_STEPS):
        slope = (low + high) / 2
        expected = (probabilities(joined, slope) * joined).sum(axis=1)
        low, high = (slope, high) if weights @ (true - expected) > 0 else (low, slope)
    return (low + high) / 2


def _weights(pages: Sequence[Rows], columns: int) -> tuple[NDArray[np.int64], Floats]:
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
