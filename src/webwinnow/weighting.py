"""W+, the weighting of a whole collection: what the weights of one site cannot know (docs/wplus.md; extra `mining`).

The weights of the compressed structure tree (thesis 4.3) see one site at a time. Mining pages of several sites together
suffers from what tells sites apart rather than subjects. W+ takes those weights, summed over each page, and

1. damps them, so that the tenth mention counts less than the first (`damped`);
2. weighs each word by its spread over the sites (`spread`);
3. moves the centre of each site to that of the sites akin to it (`kinship`, `site_shifts`).

It sees pages and sites, never labels. All is linear in the entries of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import MissingExtra

try:
    from scipy.sparse import csr_array, diags_array, vstack
except ImportError:
    raise MissingExtra("the weighting wplus", "mining") from None

__all__ = ["CollectionWeights", "damped", "kinship", "site_profiles", "site_shifts", "spread", "weigh_collection"]

DAMPING = 4.0
"""A summed weight of this size counts log 2; far below it counts grow as they are, far above as their logarithm."""
LEAST_SPREAD = 0.1
"""What the words of a single site count, so that no page is left without words."""
PROFILE_WORDS = 200
"""Words of a site's profile: those of the largest mean."""
KINSHIP_POWER = 4
"""Sites half as alike count a sixteenth."""
KIN = 10
"""Sites that count as akin to a site, those most alike."""
COMPARED_SITES = 500
"""Sites are compared with this many at most, those with most pages."""
SITES_AT_ONCE = 1000
"""Sites are compared in portions, which bounds the memory."""

TINY = float(np.finfo(np.float64).tiny)

Floats = NDArray[np.float64]
Rows = Any  # scipy's csr_array, which has no types
Sites = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CollectionWeights:
    """What W+ knows of a collection: the spread of each word, and how far each site is moved."""

    spread: Floats
    shifts: Rows
    """A row a site; the last one, of zeros, serves sites that were not learned."""

    @classmethod
    def learn(cls, rows: Rows, sites: Sites, site_count: int) -> CollectionWeights:
        """Learn from the summed weights of pages, a row a page; `sites[i]` is the site of row i."""
        spread_ = spread(rows, sites, site_count)
        profiles = site_profiles(_spread_rows(rows, spread_), sites, site_count)
        shifts = site_shifts(profiles, np.bincount(sites, minlength=site_count))
        return cls(spread_, vstack([shifts, csr_array((1, rows.shape[1]))], format="csr"))

    def weigh(self, rows: Rows, sites: Sites) -> Rows:
        """The rows of pages, each of length 1; site -1 is one that was not learned."""
        moved = _spread_rows(rows, self.spread) - self.shifts[sites]
        return _unit_rows(csr_array(moved))


def weigh_collection(
    data: Floats, indices: NDArray[np.int32], indptr: NDArray[np.int64], columns: int, sites: list[str]
) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
    """Weigh the rows of a whole collection, as CSR arrays, by what they show; `sites[i]` names the site of row i."""
    names, of = np.unique(np.array(sites, np.str_), return_inverse=True)
    rows = csr_array((data, indices, indptr), shape=(len(sites), columns))
    found = CollectionWeights.learn(rows, of, len(names)).weigh(rows, of)
    return found.data, found.indices.astype(np.int32), found.indptr.astype(np.int64)


def damped(weight: Floats) -> Floats:
    """d(x) = log(1 + x / 4) of a weight summed over a page."""
    return np.log1p(weight / DAMPING)


def spread(rows: Rows, sites: Sites, site_count: int) -> Floats:
    """Of each word, the chance that two mentions are of different sites: 1 - sum of q_s squared (Gini, Simpson).

    q_s is the share of site s in the sum over sites of p_s, the share of its pages that hold the word: large sites
    count no more than small ones. From `LEAST_SPREAD` up; 1 for all words where there is one site only.
    """
    if site_count < 2:
        return np.ones(rows.shape[1])
    share = _site_means(_with_data(rows, np.ones(rows.nnz)), sites, site_count)
    summed = np.maximum(share.sum(axis=0), TINY)
    apart: Floats = 1 - share.power(2).sum(axis=0) / summed**2
    return np.maximum(apart, LEAST_SPREAD)


def site_profiles(rows: Rows, sites: Sites, site_count: int) -> Rows:
    """P_s: the mean row of each site, its `PROFILE_WORDS` largest entries."""
    return _largest(_site_means(rows, sites, site_count), PROFILE_WORDS)


def kinship(profiles: Rows, of: slice, others: NDArray[np.int64]) -> Rows:
    """k(s, t) of sites `of` to sites `others`: cos(P_s, P_t)^4 of the `KIN` most alike, in shares; 0 to itself."""
    units = _unit_rows(profiles)
    alike = np.maximum((units[of] @ units[others].T).toarray(), 0.0) ** KINSHIP_POWER
    alike[np.arange(*of.indices(profiles.shape[0]))[:, None] == others] = 0.0
    nearest = _largest(csr_array(alike), KIN)
    return diags_array(1 / np.maximum(nearest.sum(axis=1), TINY)) @ nearest


def site_shifts(profiles: Rows, pages: NDArray[np.int64]) -> Rows:
    """(1 - 1 / n_s) (P_s - sum over t of k(s, t) P_t): from the centre of the site to that of its kin; n_s pages.

    A page alone says nothing of its site: it stays where it is.
    """
    others = np.sort(np.argsort(-pages, kind="stable")[:COMPARED_SITES])
    parts = []
    for first in range(0, profiles.shape[0], SITES_AT_ONCE):
        of = slice(first, first + SITES_AT_ONCE)
        certain = diags_array(1 - 1 / np.maximum(pages[of], 1))
        away = profiles[of] - kinship(profiles, of, others) @ profiles[others]
        parts.append(_largest(csr_array(certain @ away), PROFILE_WORDS))
    return vstack(parts, format="csr")


def _spread_rows(rows: Rows, spread_: Floats) -> Rows:
    """Rows of length 1, damped and then weighted by the spread of their words."""
    return _unit_rows(csr_array(_unit_rows(_with_data(rows, damped(rows.data))) @ diags_array(spread_)))


def _with_data(rows: Rows, data: Floats) -> Rows:
    """The same cells with other values. The cells are copied: scipy sorts them in place."""
    return csr_array((data, rows.indices.copy(), rows.indptr.copy()), shape=rows.shape)


def _site_means(rows: Rows, sites: Sites, site_count: int) -> Rows:
    pages = np.bincount(sites, minlength=site_count)
    shares = 1 / pages[sites]
    return csr_array(csr_array((shares, (sites, np.arange(len(sites)))), shape=(site_count, len(sites))) @ rows)


def _unit_rows(rows: Rows) -> Rows:
    """Rows of length 1; empty ones stay empty."""
    length = np.sqrt(rows.power(2).sum(axis=1))
    return csr_array(diags_array(1 / np.where(length > 0, length, 1.0)) @ rows)


def _largest(rows: Rows, count: int) -> Rows:
    """The `count` entries of largest size in each row; of equals, those of the first columns."""
    cells = rows.tocoo()
    order = np.lexsort((cells.col, -np.abs(cells.data), cells.row))
    rank = np.arange(len(order)) - np.searchsorted(cells.row[order], cells.row[order])
    kept = order[(rank < count) & (cells.data[order] != 0)]
    return csr_array((cells.data[kept], (cells.row[kept], cells.col[kept])), shape=rows.shape)
