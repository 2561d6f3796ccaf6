"""Weights from a whole collection rather than one site: W+ (docs/features.md) and topic weights (extra `mining`).

The weights of the compressed structure tree (thesis 4.3) are learned from one site. When pages of several sites are
mined together, words that distinguish sites rather than subjects dominate. W+ takes those weights, summed over each
page and increased for the words of its title (`vectors`), and

1. damps them, so that the tenth occurrence counts less than the first (`damped`);
2. multiplies each word by its spread over the sites (`spread`);
3. moves the centre of each site to that of similar sites (`kinship`, `site_shifts`);
4. adds topics, the directions in which words vary together most on the pages of all sites (`topics_of`).

Topic weights (`weigh_by_topic`, docs/cluster.md) take the counts of words in cleaned pages instead, give words of one
site the weight 0 and words that nearly all pages of a site repeat little or none on that site, and use steps 1 to 3
with the rarity of words; topics are left to the caller (`webwinnow.cluster.latent`).

Both use pages and sites, never labels. Their cost is linear in the entries of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import MissingExtra
from webwinnow.features.vectors import FeatureMatrix

try:
    from scipy.sparse import csr_array, diags_array, hstack, vstack
except ImportError:
    raise MissingExtra("the weighting wplus", "mining") from None

DAMPING = 8.0
"""A summed weight of this size counts log 2; far below it counts grow as they are, far above as their logarithm."""
LEAST_SPREAD = 0.1
"""The spread of words of a single site, so that every page keeps some words."""
PROFILE_WORDS = 200
"""Words of a site's profile: those of the largest mean."""
KINSHIP_POWER = 4
"""Sites half as similar count a sixteenth."""
KIN = 10
"""Number of similar sites that are used."""
COMPARED_SITES = 500
"""Sites are compared with at most this many others, those with the most pages."""
TOPICS = 100
TOPIC_WORDS = 8000
"""Topics are computed from this many words, those with the largest sum of squares."""
TOPIC_ROUNDS = 5
"""Rounds of subspace iteration; more do not change mining results."""
TOPIC_WEIGHT = 2.0
"""The weight of topics relative to words."""
LEAST_STRENGTH = 1e-9
"""Directions weaker than this, relative to the strongest, are rounding errors."""
TOPIC_PREFIX = "@topic:"
TOPIC_NAME_WORDS = 3
DECIMALS = 6
"""Rows are rounded, so that they do not depend on the order of summation."""
OWNED_FROM = 4
"""From this many sites on, a word of one site only has topic weight 0. Of two or three sites most words are such."""
LEAST_PAGES_WITH = 2
"""Words of fewer pages connect no pages and have topic weight 0, unless no word is on so many."""
REPEATED_SHARE = 0.9
"""From this share of a site's pages on, a word loses topic weight there: labels and headings that a cleaner keeps with
their values. 0.5 to 0.9 give the same F on cuisines, film genres and job roles (docs/cluster.md); words of a subject
that all pages of a site have in common need 0.9: sites-swde loses purity by vertical below (0.970 at 0.5)."""
REPEATED_FROM_PAGES = 5
"""The pages of smaller sites say little about what their site repeats."""
SITES_AT_ONCE = 1000
"""Sites are compared in batches of this size, which bounds the memory."""

UNKNOWN_SITE = -1
"""The site of a page whose site was not learned."""

Floats = NDArray[np.float64]
Rows = Any  # scipy's csr_array, which has no types
Sites = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CollectionWeights:
    """W+ of a collection: the spread of each word, the shift of each site, and the topics."""

    spread: Floats
    shifts: Rows
    """One row per site; the last, all zeros, is for sites that were not learned."""
    topic_words: NDArray[np.intp]
    """The columns that topics use, ascending."""
    topics: Floats
    """One row per word of `topic_words`, one column per topic; columns are orthonormal."""

    @classmethod
    def learn(cls, rows: Rows, sites: Sites, site_count: int) -> CollectionWeights:
        """Learn from the summed weights of pages, one row per page; `sites[i]` is the site of row i."""
        spreads = spread(rows, sites, site_count)
        level = _spread_rows(rows, spreads)
        profiles = site_profiles(level, sites, site_count)
        shifts = site_shifts(profiles, np.bincount(sites, minlength=site_count))
        shifts = vstack([shifts, csr_array((1, rows.shape[1]))], format="csr")
        return cls(spreads, shifts, *topics_of(_moved(level, shifts, sites), sites))

    def weigh(self, rows: Rows, sites: Sites) -> Rows:
        """The rows of pages, words first and then topics; `UNKNOWN_SITE` for a site that was not learned."""
        moved = _moved(_spread_rows(rows, self.spread), self.shifts, sites)
        within = TOPIC_WEIGHT * (moved[:, self.topic_words] @ self.topics)
        found = hstack([moved, csr_array(within)], format="csr")
        found.data = np.round(found.data, DECIMALS)
        found.eliminate_zeros()
        return found

    def topic_names(self, vocabulary: list[str]) -> list[str]:
        """A name for each topic: its number and its heaviest words."""
        heaviest = np.argsort(-np.abs(self.topics), axis=0, kind="stable")[:TOPIC_NAME_WORDS].T
        named = ((k, (vocabulary[self.topic_words[i]] for i in leading)) for k, leading in enumerate(heaviest.tolist()))
        return [f"{TOPIC_PREFIX}{k}:{','.join(leading)}" for k, leading in named]


def weigh_collection(matrix: FeatureMatrix, sites: list[str]) -> FeatureMatrix:
    """Apply W+ to the rows of a whole collection; `sites[i]` names the site of row i. Topics are further columns."""
    if not sites:
        return matrix
    names, of = np.unique(np.array(sites, object), return_inverse=True)
    learned = CollectionWeights.learn(matrix.rows(), of, len(names))
    columns = matrix.vocabulary + learned.topic_names(matrix.vocabulary)
    return matrix.with_rows(learned.weigh(matrix.rows(), of), columns, np.zeros(0, np.uint64))


def weigh_by_topic(matrix: FeatureMatrix, sites: list[str]) -> FeatureMatrix:
    """Weigh the word counts of cleaned pages by topic; `sites[i]` names the site of row i.

    The columns are the words that have a weight.
    """
    names, of = np.unique(np.array(sites, object), return_inverse=True)
    rows = _with_data(matrix.rows(), np.log1p(matrix.data))
    worth = topic_worth(rows, of, len(names)) if sites else np.zeros(len(matrix.vocabulary))
    columns = np.flatnonzero(worth)
    rows = _with_data(rows, rows.data * unrepeated(rows, of, len(names)))
    level = _unit_rows(csr_array(rows @ diags_array(worth))[:, columns])
    if len(names) > 1:
        level = _moved(level, site_shifts(site_profiles(level, of, len(names)), np.bincount(of)), of)
    level.data = np.round(level.data, DECIMALS)
    level.eliminate_zeros()
    return matrix.with_rows(level, [matrix.vocabulary[column] for column in columns.tolist()], matrix.keys[columns])


def topic_worth(rows: Rows, sites: Sites, site_count: int) -> Floats:
    """The factor of each word: its rarity over pages (smoothed idf) times its spread over sites.

    0 for words of fewer than `LEAST_PAGES_WITH` pages and, from `OWNED_FROM` sites on, for words of one site: names of
    the site, of its authors and of its sections.
    """
    pages = rows.shape[0]
    pages_with = np.bincount(rows.indices, minlength=rows.shape[1])
    worth = (np.log((1 + pages) / (1 + pages_with)) + 1) * spread(rows, sites, site_count)
    if site_count >= OWNED_FROM:
        there = csr_array((np.ones(rows.nnz), (sites[_row_of(rows)], rows.indices)), shape=(site_count, rows.shape[1]))
        worth[np.bincount(there.indices, minlength=rows.shape[1]) < 2] = 0
    connecting = pages_with >= LEAST_PAGES_WITH
    if worth[connecting].any():
        worth[~connecting] = 0
    worth[pages_with == 0] = 0
    found: Floats = worth
    return found


def unrepeated(rows: Rows, sites: Sites, site_count: int) -> Floats:
    """The factor of each entry: 1, falling to 0 from `REPEATED_SHARE` of the site's pages with the word to all of them.

    What a cleaner keeps has words that every page of the site repeats, such as the labels of values. They would make
    pages similar by site and by template. Sites of fewer than `REPEATED_FROM_PAGES` pages are left alone, and so are
    pages that would have no word left.
    """
    page = _row_of(rows)
    site = sites[page]
    _, at, pages_with = np.unique(site * rows.shape[1] + rows.indices, return_inverse=True, return_counts=True)
    pages = np.bincount(sites, minlength=site_count)[site]
    factor = np.minimum((1 - pages_with[at] / pages) / (1 - REPEATED_SHARE), 1.0)
    factor[pages < REPEATED_FROM_PAGES] = 1
    has_words = np.bincount(page, weights=factor, minlength=rows.shape[0]) > 0
    found: Floats = np.where(has_words[page], factor, 1.0)
    return found


def _row_of(rows: Rows) -> NDArray[np.intp]:
    """The row of each entry."""
    return np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))


def damped(weight: Floats) -> Floats:
    """d(x) = log(1 + x / 8) of a weight summed over a page."""
    return np.log1p(weight / DAMPING)


def spread(rows: Rows, sites: Sites, site_count: int) -> Floats:
    """For each word, the probability that two occurrences are on different sites: 1 - sum of q_s^2 (Gini, Simpson).

    q_s is the share of site s in the sum over sites of p_s, the share of its pages with the word: large sites count no
    more than small ones. At least `LEAST_SPREAD`; 1 for all words if there is only one site.
    """
    if site_count < 2:
        return np.ones(rows.shape[1])
    share = _site_means(_with_data(rows, np.ones(rows.nnz)), sites, site_count)
    summed = _or_one(share.sum(axis=0))
    apart: Floats = 1 - share.power(2).sum(axis=0) / summed**2
    return np.maximum(apart, LEAST_SPREAD)


def site_profiles(rows: Rows, sites: Sites, site_count: int) -> Rows:
    """P_s: the mean row of each site, its `PROFILE_WORDS` largest entries."""
    return _largest(_site_means(rows, sites, site_count), PROFILE_WORDS)


def kinship(profiles: Rows, of: slice, others: NDArray[np.int64]) -> Rows:
    """k(s, t) of sites `of` to sites `others`: cos(P_s, P_t)^4 of the `KIN` most similar, as shares; 0 to itself."""
    units = _unit_rows(profiles)
    alike = np.maximum((units[of] @ units[others].T).toarray(), 0.0) ** KINSHIP_POWER
    alike[np.arange(*of.indices(profiles.shape[0]))[:, None] == others] = 0.0
    nearest = _largest(csr_array(alike), KIN)
    return diags_array(1 / _or_one(nearest.sum(axis=1))) @ nearest


def site_shifts(profiles: Rows, pages: NDArray[np.int64]) -> Rows:
    """(1 - 1 / n_s) (P_s - sum over t of k(s, t) P_t): from the centre of the site to that of its kin; n_s pages.

    A single page says nothing about its site and is not moved.
    """
    others = np.sort(np.argsort(-pages, kind="stable")[:COMPARED_SITES])
    parts = []
    for first in range(0, profiles.shape[0], SITES_AT_ONCE):
        of = slice(first, first + SITES_AT_ONCE)
        certain = diags_array(1 - 1 / np.maximum(pages[of], 1))
        away = profiles[of] - kinship(profiles, of, others) @ profiles[others]
        parts.append(_largest(csr_array(certain @ away), PROFILE_WORDS))
    return vstack(parts, format="csr")


def topics_of(rows: Rows, sites: Sites) -> tuple[NDArray[np.intp], Floats]:
    """The topics of moved rows: the leading right singular vectors, each site counting as one; and their words.

    Subspace iteration from a fixed start, so that equal collections have equal topics (Halko, Martinsson and Tropp,
    SIAM Review 2011, algorithm 4.4).
    """
    balanced = csr_array(diags_array(1 / np.sqrt(np.bincount(sites)[sites])) @ rows)
    energy = balanced.power(2).sum(axis=0)
    chosen = np.sort(np.argsort(-energy, kind="stable")[: min(TOPIC_WORDS, np.count_nonzero(energy))])
    balanced = balanced[:, chosen]
    found = np.random.default_rng(0).normal(size=(len(chosen), min(TOPICS, *balanced.shape)))
    for _ in range(TOPIC_ROUNDS):
        found = np.linalg.qr(balanced.T @ (balanced @ found))[0]
    projected = balanced @ found
    strength, turn = np.linalg.eigh(projected.T @ projected)
    real = np.flatnonzero(strength > strength.max(initial=0.0) * LEAST_STRENGTH)[::-1]
    topics = found @ turn[:, real]
    leading = topics[np.abs(topics).argmax(axis=0), np.arange(topics.shape[1])] if topics.size else np.ones(len(real))
    return chosen, topics * np.sign(leading)


def _moved(level: Rows, shifts: Rows, sites: Sites) -> Rows:
    """Rows moved by the shift of their site, of length 1; empty ones stay empty."""
    filled = diags_array((np.diff(level.indptr) > 0).astype(np.float64))
    return _unit_rows(csr_array(level - filled @ shifts[sites]))


def _spread_rows(rows: Rows, spreads: Floats) -> Rows:
    """Rows of length 1, damped and then weighted by the spread of their words."""
    return _unit_rows(csr_array(_unit_rows(_with_data(rows, damped(rows.data))) @ diags_array(spreads)))


def _with_data(rows: Rows, data: Floats) -> Rows:
    """The same cells with other values. The cells are copied: scipy sorts them in place."""
    return csr_array((data, rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)


def _site_means(rows: Rows, sites: Sites, site_count: int) -> Rows:
    pages = np.bincount(sites, minlength=site_count)
    shares = 1 / pages[sites]
    return csr_array(csr_array((shares, (sites, np.arange(len(sites)))), shape=(site_count, len(sites))) @ rows)


def _unit_rows(rows: Rows) -> Rows:
    """Rows of length 1; empty ones stay empty."""
    return csr_array(diags_array(1 / _or_one(np.sqrt(rows.power(2).sum(axis=1)))) @ rows)


def _or_one(divisor: Floats) -> Floats:
    return np.where(divisor > 0, divisor, 1.0)


def _largest(rows: Rows, count: int) -> Rows:
    """The `count` entries of largest size in each row; of equals, those of the first columns."""
    cells = rows.tocoo()
    order = np.lexsort((cells.col, -np.abs(cells.data), cells.row))
    rank = np.arange(len(order)) - np.searchsorted(cells.row[order], cells.row[order])
    kept = order[(rank < count) & (cells.data[order] != 0)]
    return csr_array((cells.data[kept], (cells.row[kept], cells.col[kept])), shape=rows.shape)
