"""`TopicWords`: the words of each topic; the keyword-based text classifier of Sites (step 1 of Figure 7).

A topic is the mean direction of its training sites' pages, with equal weight per site, and a text belongs to the
nearest topic. Topics of everyday words are near to every text: what counts is how much nearer a text is to a topic than
the sites of other topics are. Sites are few and each has its own vocabulary, so few numbers are fitted: the directions,
and slopes that turn cosines into probabilities, which are fitted on held-out sites.
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
SMALLEST = 1e-12
SURELY_KNOWN = 20.0
"""Log odds of a known topic if no site can be held out."""
RIDGE = 1e-3
BLOCKS, PAGES = 0, 1

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class TopicWords:
    """Words by ascending `key`, the `weight` of each, and the `direction` of each topic over them (one column per
    topic, of length 1). `offset` is the mean cosine of the sites of other topics with each topic. The others depend on
    the length of a text and have a row for blocks and one for pages: `usual` is the cosine of such a text in multiples
    of that of whole sites, `slopes` turn differences of cosines into probabilities. `site_slope` does so for a site,
    and `known` are the slope and the intercept of the log odds that a site has one of the topics.
    """

    key: Keys
    weight: Floats
    direction: Floats
    offset: Floats
    usual: Floats
    slopes: Floats
    site_slope: float
    known: Floats

    @property
    def topics(self) -> int:
        return int(self.direction.shape[1])

    def rows(self, words: WordCounts) -> WordRows:
        """Texts as weighted rows over the vocabulary."""
        return WordRows.of(words, self.key).weighted(self.weight)

    def of_pages(self, words: WordCounts) -> Floats:
        """P(topic | text) of whole pages, one row each; NaN where no word is known."""
        return self._posteriors(words, PAGES)

    def of_blocks(self, words: WordCounts) -> Floats:
        """P(topic | text) of single blocks, one row each; NaN where no word is known."""
        return self._posteriors(words, BLOCKS)

    def of_site(self, words: WordCounts) -> Floats:
        """P(topic | text) of a whole site, the mean of its pages, as one row; NaN where no word is known."""
        return probabilities(self.site_slope * self._nearness(words))

    def none_of_these(self, words: WordCounts) -> float:
        """P(a site has none of the topics), before anything is known of it 0.5; NaN where no word is known.

        Sites of a topic are nearer to it than those whose own topic was left out of training are to any.
        """
        slope, intercept = self.known.tolist()
        return float(1.0 / (1.0 + np.exp(slope * self._nearness(words).max() + intercept)))

    def _nearness(self, words: WordCounts) -> Floats:
        """How much nearer a site is to each topic than the sites of others are, as one row."""
        mean = self.rows(words).mean(len(self.key))
        if not mean.any():
            return np.full((1, self.topics), np.nan)
        return _unit(mean[:, None]).T @ self.direction - self.offset

    def _posteriors(self, words: WordCounts, scale: int) -> Floats:
        cosines = self.rows(words).cosines(self.direction).less(self.offset, self.usual[scale])
        return _posteriors(cosines, self.slopes[scale])

    def to_arrays(self) -> Arrays:
        named = {name: getattr(self, name) for name in ("key", "weight", "direction", "offset", "usual", "slopes")}
        return named | {"site_slope": np.array([self.site_slope]), "known": self.known}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read the result of `to_arrays`; `ValueError` if it does not fit."""
        key = keys(arrays, "key")
        return cls(
            key,
            floats(arrays, "weight", (len(key),)),
            floats(arrays, "direction", (len(key), topics), high=1.0 + ROUNDING),
            floats(arrays, "offset", (topics,), high=1.0 + ROUNDING),
            floats(arrays, "usual", (2, LENGTHS)),
            floats(arrays, "slopes", (2, LENGTHS), high=STEEPEST),
            float(floats(arrays, "site_slope", (1,), high=STEEPEST)[0]),
            floats(arrays, "known", (2,), low=-STEEPEST, high=STEEPEST),
        )


class HeldOut(NamedTuple):
    """P(topic | text) of a training site, its pages and its blocks, predicted from the other sites."""

    site: Floats
    pages: Floats
    blocks: Floats


class Cosines(NamedTuple):
    """Cosines of rows with each topic (NaN for an empty row), and the length class of each row."""

    value: Floats
    length: NDArray[np.int64]

    def less(self, offset: Floats, usual: Floats) -> Cosines:
        """The cosines less those that texts of this length of other topics have: `usual[length]` times `offset`."""
        return Cosines(self.value - usual[self.length][:, None] * offset, self.length)


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
    means = _unit(np.stack([rows.weighted(weight).mean(len(key)) for rows in pages], axis=1)).T
    products = means @ means.T
    sums = np.stack([means[topic == number].sum(axis=0) for number in range(topics)], axis=1)
    direction = _unit(sums)
    every = np.arange(len(sites))
    alone = np.bincount(topic, minlength=topics)[topic] == 1
    found: dict[int, _LeftOut] = {}
    for s in np.flatnonzero(~alone).tolist():
        others = direction.copy()
        others[:, topic[s]] = _unit((sums[:, topic[s]] - means[s])[:, None])[:, 0]
        own = np.zeros(len(key), np.bool_)
        own[pages[s].column] = True
        elsewhere = sites_with > own
        shown = pages[s].at(elsewhere).weighted(weight)
        found[s] = _LeftOut(
            int(topic[s]),
            _offsets(products, topic, topics, every[every != s]),
            _unit(shown.mean(len(key))[:, None]).T @ others,
            (
                WordRows.of(sites[s].node_words, key).at(elsewhere).weighted(weight).cosines(others),
                shown.cosines(others),
            ),
        )
    usual = np.stack([_usual([(one.texts[scale], one.offset) for one in found.values()]) for scale in (BLOCKS, PAGES)])
    scored = {s: [one.texts[k].less(one.offset, usual[k]) for k in (BLOCKS, PAGES)] for s, one in found.items()}
    slopes = np.stack([_slopes([(scored[s][k], found[s].topic) for s in found]) for k in (BLOCKS, PAGES)])
    of_sites = {s: one.site - one.offset for s, one in found.items()}
    slope = slope_of([(of_sites[s], None, found[s].topic) for s in found])
    site_slope = USUAL_SLOPE if slope is None else slope
    held_out: list[HeldOut | None] = [None] * len(sites)
    for s, both in scored.items():
        of_texts = [_posteriors(both[scale], slopes[scale]) for scale in (BLOCKS, PAGES)]
        held_out[s] = HeldOut(probabilities(site_slope * of_sites[s]), of_texts[PAGES], of_texts[BLOCKS])
    offset = _offsets(products, topic, topics, every)
    known = known_odds([(of_sites[s][0], found[s].topic) for s in found])
    return TopicWords(key, weight, direction, offset, usual, slopes, site_slope, known), held_out


class _LeftOut(NamedTuple):
    """A site that is left out: its topic, the offsets and the cosines of the site, its blocks and its pages."""

    topic: int
    offset: Floats
    site: Floats
    texts: tuple[Cosines, Cosines]


def _offsets(products: Floats, topic: NDArray[np.int64], topics: int, sites: NDArray[np.int64]) -> Floats:
    """The mean cosine of the other topics' sites with each topic; `products` are those of the means of all sites."""
    found = np.zeros(topics)
    for number in range(topics):
        inside, outside = sites[topic[sites] == number], sites[topic[sites] != number]
        if len(inside) and len(outside):
            length = np.sqrt(products[np.ix_(inside, inside)].sum())
            found[number] = products[np.ix_(outside, inside)].sum() / max(length * len(outside), SMALLEST)
    return found


def _usual(held_out: Sequence[tuple[Cosines, Floats]]) -> Floats:
    """The mean cosine of held-out texts of each length, in multiples of the mean offset; 1 for a length without any."""
    total, texts = np.zeros(LENGTHS), np.zeros(LENGTHS)
    for cosines, offset in held_out:
        known = ~np.isnan(cosines.value[:, 0])
        length = cosines.length[known]
        share = cosines.value[known].mean(axis=1) / max(offset.mean(), SMALLEST)
        count = np.bincount(length, minlength=LENGTHS)
        total += np.bincount(length, share, LENGTHS) / np.maximum(count, 1)  # every site has the same weight
        texts += count > 0
    return np.where(texts > 0, total / np.maximum(texts, 1), 1.0)


def known_odds(held_out: Sequence[tuple[Floats, int]]) -> Floats:
    """Slope and intercept of log P(a site has a known topic) / P(it has none), by its largest nearness to a topic.

    Fitted on held-out sites, each once with its topic and once without it, by logistic regression with Platt's
    targets. Without such sites every site is taken to have a known topic.
    """
    if not held_out:
        return np.array([0.0, SURELY_KNOWN])
    near = np.array([[row[topic], np.delete(row, topic).max()] for row, topic in held_out]).ravel()
    right = (len(held_out) + 1) / (len(held_out) + 2)
    target = np.tile([right, 1.0 - right], len(held_out))
    rows = np.stack([near, np.ones_like(near)], axis=1)
    found = np.zeros(2)
    for _ in range(SLOPE_STEPS):  # Newton's method; the ridge keeps it finite
        share = 1.0 / (1.0 + np.exp(-rows @ found))
        curve = rows.T @ (rows * (share * (1.0 - share))[:, None]) + RIDGE * np.eye(2)
        found = np.clip(found + np.linalg.solve(curve, rows.T @ (target - share) - RIDGE * found), -STEEPEST, STEEPEST)
    return found


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
    derivative, the score of the true topic less the expected score. As in Platt's method the true topic of n sites has
    a probability of (n + 1) / (n + 2), the others share the rest: a few sites that are all right prove no certainty.
    """
    right = (len(held_out) + 1) / (len(held_out) + 2)
    scores, before, truth, weight = [], [], [], []
    for rows, added, topic in held_out:
        known = np.flatnonzero(~np.isnan(rows[:, 0]))
        known = known[:: max(1, len(known) // SLOPE_ROWS)]
        scores.append(rows[known])
        before.append(np.zeros_like(rows[known]) if added is None else np.nan_to_num(added[known]))
        others = (rows[known].sum(axis=1) - rows[known, topic]) / max(rows.shape[1] - 1, 1)
        truth.append(right * rows[known, topic] + (1.0 - right) * others)
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
    """The number of sites with each word, and its weight, log (1 / share of pages).

    The share is a mean over sites, so that large sites do not decide.
    """
    sites_with = np.zeros(columns, np.int64)
    share = np.zeros(columns)
    for rows in pages:
        pages_with = np.bincount(rows.column, minlength=columns)
        sites_with += pages_with > 0
        share += pages_with / max(rows.rows, 1)
    share /= len(pages)
    return sites_with, -np.log(share)


def _unit(columns: Floats) -> Floats:
    length = np.sqrt((columns * columns).sum(axis=0))
    return columns / np.where(length > 0, length, 1.0)
