"""`TopicWords`: the words of each topic; the keyword-based text classifier of Sites (step 1 of Figure 7).

A topic is the mean direction of its training sites' pages, with equal weight per site, and a text belongs to the
nearest topic. Topics of everyday words are near to every text: what counts is how much nearer a text is to a topic than
the sites of other topics are. Sites are few and each has its own vocabulary, so few numbers are fitted: the directions,
and slopes that turn cosines into probabilities, which are fitted on held-out sites.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.storage.arrays import Held, Stored
from webwinnow.topics.pages import SitePages, WordCounts
from webwinnow.topics.wordrows import LENGTHS, Cosines, Floats, Keys, WordRows

STEEPEST = 200.0
"""Largest slope (ours): without a bound, held-out pages that are all classified correctly would have none. At this
slope a cosine larger by 0.02 makes a topic 55 times more probable."""
SLOPE_STEPS = 20
SLOPE_ROWS = 300
"""Evenly spaced rows of a site from which a slope is fitted."""
LEAST_SITES = 3
"""A length with fewer held-out sites takes the slope of the length below."""
USUAL_SLOPE = 50.0
"""The slope if no site can be held out, because every topic has only one."""

ROUNDING = 1e-9
SMALLEST = 1e-12
RIDGE = 1e-3
UNKNOWN_LEAD = 0.25
"""The lead without its topic of the only site of one of two topics: none is left to compare (ours). A site with cosines
of 5 c and 3 c has it."""
BLOCKS, PAGES = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class TopicWords(Stored):
    """The words of each topic, and the numbers that turn cosines with topics into probabilities.

    - `key`: the hashes of the words, ascending; `weight`: the weight of each.
    - `direction`: a column of length 1 for each topic, over the words.
    - `offset`: for each topic the mean cosine of the sites of other topics.
    - `usual`, `slopes`: a row for blocks and one for pages, a column for each length of a text. `usual` is the cosine
      of such a text in multiples of that of whole sites; `slopes` turn differences of cosines into probabilities.
    - `site_slope`: the slope for whole sites.
    - `known`: slope and intercept of the log odds that a site has one of the topics.
    """

    ARRAYS: ClassVar[dict[str, Held]] = {
        "key": Held(("words",), np.uint64),
        "weight": Held(("words",)),
        "direction": Held(("words", "topics"), high=1.0 + ROUNDING),
        "offset": Held(("topics",), high=1.0 + ROUNDING),
        "usual": Held((2, LENGTHS)),
        "slopes": Held((2, LENGTHS), high=STEEPEST),
        "site_slope": Held((1,), high=STEEPEST),
        "known": Held((2,), low=-STEEPEST, high=STEEPEST),
    }
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

        What counts is the lead of the nearest topic. Sites of a topic have a larger one than those whose own topic was
        left out of training.
        """
        slope, intercept = self.known.tolist()
        return float(1.0 / (1.0 + np.exp(slope * lead(self._nearness(words)[0], self.offset) + intercept)))

    def distinctive(self, most: int) -> list[list[int]]:
        """The keys of the words that are each topic's own most clearly: by direction, less the mean of all topics."""
        distinct = self.direction - self.direction.mean(axis=1, keepdims=True)
        return [self.key[np.argsort(-column, kind="stable")[:most]].tolist() for column in distinct.T]

    def _nearness(self, words: WordCounts) -> Floats:
        """How much nearer a site is to each topic than the sites of others are, as one row."""
        mean = self.rows(words).mean(len(self.key))
        if not mean.any():
            return np.full((1, self.topics), np.nan)
        return _unit(mean[:, None]).T @ self.direction - self.offset

    def _posteriors(self, words: WordCounts, scale: int) -> Floats:
        cosines = self.rows(words).cosines(self.direction).less(self.offset, self.usual[scale])
        return _posteriors(cosines, self.slopes[scale])


class HeldOut(NamedTuple):
    """P(topic | text) of a training site, its pages and its blocks, predicted from the other sites."""

    site: Floats
    pages: Floats
    blocks: Floats


class LearnedWords(NamedTuple):
    """Words, with the predictions for the sites learned last (None for the only site of a topic) and what is needed to
    add more sites: the sums of `WordSums`.
    """

    words: TopicWords
    held_out: list[HeldOut | None]
    sums: WordSums

    def grown(
        self, sites: Sequence[SitePages], topic: NDArray[np.int64], alone: Sequence[tuple[int, SitePages, int]] = ()
    ) -> LearnedWords:
        """Add sites of known topics. Of those learned before only the ones that were the only site of a topic that now
        grows are read again, to be held out: `alone`, each with its number and topic. Predictions are of the new sites,
        then of these.

        The present words predict the new sites, which they were not learned from. Sums of directions of earlier sites
        get the new weights word by word, without a new length of each page (ours).
        """
        words, before = self.words, self.sums
        fresh = [
            _LeftOut.of(words.direction, words.offset, number, words.rows(site.node_words), words.rows(site.page_words))
            for site, number in zip(sites, topic.tolist(), strict=True)
        ]
        leads = [*before.leads, *(leads_of(one.nearness[0], one.offset, one.topic) for one in fresh)]
        key = np.unique(np.concatenate([words.key, *(site.page_words.key for site in sites)]))
        at = np.searchsorted(key, words.key)
        count = before.sites + np.bincount(topic, minlength=words.topics)
        pages = [WordRows.of(site.page_words, key) for site in sites]
        share = _shares(pages, len(key))
        share[at] += before.share
        weight = -np.log(share / count.sum())
        again = np.divide(weight[at], words.weight, out=np.ones(len(at)), where=words.weight > 0)
        total = np.zeros((len(key), words.topics))
        total[at] = before.total * again[:, None]
        for rows, number in zip(pages, topic.tolist(), strict=True):
            total[:, number] += _mean_direction(rows.weighted(weight), len(key))
        others = _Others(key, weight, share, total, count)
        for s, site, number in alone:
            rows = WordRows.of(site.page_words, key)
            found, leads[s] = others.left_out(site, rows, _mean_direction(rows.weighted(weight), len(key)), number)
            assert found is not None
            fresh.append(found)
        left_out = (*before.left_out, *(one.thinned() for one in fresh))
        calibration = _Calibration.of(left_out, leads)
        sums = WordSums(count, share, total, left_out, tuple(leads))
        held_out: list[HeldOut | None] = [calibration.held_out(one) for one in fresh]
        return LearnedWords(calibration.words(key, weight, sums), held_out, sums)


class WordSums(NamedTuple):
    """Sums over the sites learned: their number by topic, the share of pages with each word (`share`), and their mean
    directions by topic (`total`, one column each). `left_out` are the cosines of sites with the words of others,
    `leads` those of all sites with and without their topic.
    """

    sites: NDArray[np.int64]
    share: Floats
    total: Floats
    left_out: tuple[_LeftOut, ...]
    leads: tuple[Leads, ...]


def learn_words(sites: Sequence[SitePages], topic: NDArray[np.int64], topics: int) -> LearnedWords:
    """Learn from sites and the number of each one's topic; also predict each site from the others.

    The only site of a topic cannot be held out.
    """
    key = np.unique(np.concatenate([site.page_words.key for site in sites]))
    pages = [WordRows.of(site.page_words, key) for site in sites]
    share = _shares(pages, len(key))
    weight = -np.log(share / len(sites))
    means = np.stack([_mean_direction(rows.weighted(weight), len(key)) for rows in pages])
    total = np.stack([means[topic == number].sum(axis=0) for number in range(topics)], axis=1)
    count = np.bincount(topic, minlength=topics)
    others = _Others(key, weight, share, total, count)
    found: dict[int, _LeftOut] = {}
    leads: list[Leads] = []
    for s, number in enumerate(topic.tolist()):
        left_out, site_leads = others.left_out(sites[s], pages[s], means[s], number)
        leads.append(site_leads)
        if left_out is not None:
            found[s] = left_out
    calibration = _Calibration.of(list(found.values()), leads)
    held_out = [calibration.held_out(found[s]) if s in found else None for s in range(len(sites))]
    sums = WordSums(count, share, total, tuple(one.thinned() for one in found.values()), tuple(leads))
    return LearnedWords(calibration.words(key, weight, sums), held_out, sums)


class _Others:
    """The sums of all sites, to predict each by the others."""

    def __init__(self, key: Keys, weight: Floats, share: Floats, total: Floats, count: NDArray[np.int64]) -> None:
        self.key, self.weight, self.share, self.total, self.count = key, weight, share, total, count
        self._products, self._direction = total.T @ total, _unit(total)

    def left_out(self, site: SitePages, pages: WordRows, mean: Floats, topic: int) -> tuple[_LeftOut | None, Leads]:
        """A site, by its words that other sites have too, and its leads; None for the only site of its topic."""
        direction, left = self._direction.copy(), self.count.copy()
        direction[:, topic] = _unit((self.total[:, topic] - mean)[:, None])[:, 0]
        left[topic] -= 1
        elsewhere = self.share > _shares([pages], len(self.key))
        shown = pages.at(elsewhere).weighted(self.weight)
        offset = _offsets(_without(self._products, topic, mean @ self.total, float(mean @ mean)), left)
        if left[topic]:
            blocks = WordRows.of(site.node_words, self.key).at(elsewhere).weighted(self.weight)
            found = _LeftOut.of(direction, offset, topic, blocks, shown)
            return found, leads_of(found.nearness[0], offset, topic)
        near = _mean_direction(shown, len(self.key)) @ direction - offset
        return None, leads_of(near, offset, topic, is_alone=True)


class _LeftOut(NamedTuple):
    """A site and words that were not learned from it: its topic, the offsets and the cosines of the site, its blocks
    and its pages.
    """

    topic: int
    offset: Floats
    site: Floats
    texts: tuple[Cosines, Cosines]

    @classmethod
    def of(cls, direction: Floats, offset: Floats, topic: int, blocks: WordRows, pages: WordRows) -> Self:
        site = _mean_direction(pages, len(direction))[None] @ direction
        return cls(topic, offset, site, (blocks.cosines(direction), pages.cosines(direction)))

    @property
    def nearness(self) -> Floats:
        return self.site - self.offset

    def thinned(self) -> Self:
        """The same with fewer texts, for later fits."""
        blocks, pages = (cosines.thinned() for cosines in self.texts)
        return self._replace(texts=(blocks, pages))


class _Calibration(NamedTuple):
    """What turns cosines into probabilities, fitted on left-out sites; the fields are those of `TopicWords`."""

    usual: Floats
    slopes: Floats
    site_slope: float
    known: Floats

    @classmethod
    def of(cls, found: Sequence[_LeftOut], leads: Sequence[Leads]) -> Self:
        usual = np.stack([_usual([(one.texts[scale], one.offset) for one in found]) for scale in (BLOCKS, PAGES)])
        slopes = np.stack(
            [_slopes([(one.texts[k].less(one.offset, usual[k]), one.topic) for one in found]) for k in (BLOCKS, PAGES)]
        )
        slope = slope_of([(one.nearness, None, one.topic) for one in found])
        return cls(usual, slopes, USUAL_SLOPE if slope is None else slope, known_odds(leads))

    def held_out(self, one: _LeftOut) -> HeldOut:
        blocks, pages = (
            _posteriors(one.texts[scale].less(one.offset, self.usual[scale]), self.slopes[scale])
            for scale in (BLOCKS, PAGES)
        )
        return HeldOut(probabilities(self.site_slope * one.nearness), pages, blocks)

    def words(self, key: Keys, weight: Floats, sums: WordSums) -> TopicWords:
        return TopicWords(key, weight, _unit(sums.total), _offsets(sums.total.T @ sums.total, sums.sites), *self)


def _offsets(products: Floats, sites: NDArray[np.int64]) -> Floats:
    """The mean cosine of the other topics' sites with each topic, from the products of the sums of directions."""
    squares = np.diag(products)
    outside = sites.sum() - sites
    found: Floats = (products.sum(axis=0) - squares) / np.maximum(np.sqrt(np.maximum(squares, 0.0)) * outside, SMALLEST)
    return np.where((sites > 0) & (outside > 0), found, 0.0)


def _without(products: Floats, topic: int, with_sums: Floats, with_itself: float) -> Floats:
    """The products of the sums without one site of a topic."""
    found = products.copy()
    found[topic] -= with_sums
    found[:, topic] -= with_sums
    found[topic, topic] += with_itself
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


Leads = tuple[float, float]
"""The lead of a site's nearest topic, with and without its own topic."""


def lead(near: Floats, offset: Floats) -> float:
    """How much nearer a site is to its nearest topic than to all of them on average, in multiples of its mean cosine
    (ours): a site of another topic is about equally near to all. `near` is the cosine less the offset.
    """
    return float((near.max() - near.mean()) / max((near + offset).mean(), SMALLEST))


def leads_of(near: Floats, offset: Floats, topic: int, *, is_alone: bool = False) -> Leads:
    """The leads of a left-out site. That of the only site of a topic is not known: it is taken to be twice as large
    with its topic as without (ours), and `UNKNOWN_LEAD` without if the others do not show it.
    """
    without = lead(np.delete(near, topic), np.delete(offset, topic))
    if not is_alone:
        return lead(near, offset), without
    without = without if without > SMALLEST else UNKNOWN_LEAD
    return 2 * without, without


def known_odds(leads: Sequence[Leads]) -> Floats:
    """Slope and intercept of log P(a site has a known topic) / P(it has none), by the lead of its nearest topic.

    Fitted on left-out sites, each once with its topic and once without it, by logistic regression with Platt's targets.
    """
    near = np.array(leads).ravel()
    right = (len(leads) + 1) / (len(leads) + 2)
    target = np.tile([right, 1.0 - right], len(leads))
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


def _shares(pages: Sequence[WordRows], columns: int) -> Floats:
    """The sum over sites of the share of pages with each word; so large sites do not decide. A word's weight is
    log (1 / mean share).
    """
    share = np.zeros(columns)
    for rows in pages:
        share += np.bincount(rows.column, minlength=columns) / max(rows.rows, 1)
    return share


def _mean_direction(rows: WordRows, columns: int) -> Floats:
    return _unit(rows.mean(columns)[:, None])[:, 0]


def _unit(columns: Floats) -> Floats:
    length = np.sqrt((columns * columns).sum(axis=0))
    return columns / np.where(length > 0, length, 1.0)
