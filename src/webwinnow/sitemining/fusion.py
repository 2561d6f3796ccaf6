"""Interscale fusion (Sites 4.1, equations 9 to 13): what a coarser scale knows refines what a finer one found.

Scales are numbered as in the paper: 0 the neighbours of a site, 1 the site, 2 its pages, 3 their blocks. Classes are
columns; a row of probabilities stands for a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webwinnow.errors import InputError

__all__ = [
    "Fused",
    "LinkTopics",
    "Neighbours",
    "decided",
    "fuse",
    "fuse_scales",
    "neighbours_likelihood",
    "site_context",
]

SMALLEST_LOG = -600.0
"""Below this the exponential nears the smallest number there is."""
LINK_SMOOTHING = 1.0
"""Links added to every pair of classes, so that a pair never seen stays possible (Laplace; ours)."""

Floats = NDArray[np.float64]


def fuse(raw: ArrayLike, context: ArrayLike, prior: ArrayLike) -> Floats:
    """P(C | W, MC) = alpha P(C | W) P(C | MC) / P(C) (9), a row a node; alpha makes a row sum to 1.

    `raw` is P(C | W), `context` P(C | MC), one row for each node or one for all; `prior` is P(C). A row of NaN in `raw`
    is a node without observation: its context is all that is known of it. Where raw and context rule out each other's
    classes, the context stands.
    """
    found, around, before = (np.asarray(given, np.float64) for given in (raw, context, prior))
    if not ((before > 0) & np.isfinite(before)).all():
        raise InputError("a prior of 0 or less: expected a probability above 0 for every class")
    around = np.broadcast_to(around, np.broadcast_shapes(found.shape, around.shape))
    weighed = np.where(np.isnan(found), before, found) * around / before
    total = weighed.sum(axis=-1, keepdims=True)
    possible = total > 0
    shares: Floats = np.where(possible, weighed, around) / np.where(possible, total, around.sum(axis=-1, keepdims=True))
    return shares


def decided(fused: ArrayLike) -> NDArray[np.int64]:
    """The class of each node (13): arg max P(C | W, MC); the first of equal ones."""
    found: NDArray[np.int64] = np.asarray(fused, np.float64).argmax(axis=-1)
    return found


@dataclass(frozen=True, slots=True)
class Neighbours:
    """N_i, the sites that a site is linked with: classes of those pre-classified that link to it (`linking`, N_i^I)
    and that it links to (`linked`, N_i^O), and how many neighbours there are in all (`count`).
    """

    linking: tuple[int, ...] = ()
    linked: tuple[int, ...] = ()
    count: int = 0

    def __post_init__(self) -> None:
        if self.count < max(len(self.linking), len(self.linked)):
            raise InputError(f"{self.count} neighbours in all, fewer than those with a class")

    @property
    def known_share(self) -> float:
        """P(N_i^K) (10): the relative frequency of pre-classified neighbours; one linked both ways counts twice."""
        known = len(self.linking) + len(self.linked)
        return min(known / self.count, 1.0) if self.count else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class LinkTopics:
    """What classes link to what: `linking[i, j]` = P(C_j = j | C_i = i, j -> i), `linked[i, k]` = P(C_k = k | C_i = i,
    i -> k), as (11) has them.
    """

    linking: Floats
    linked: Floats

    @classmethod
    def learn(
        cls, topic: Sequence[int], links: Sequence[tuple[int, int]], topics: int, smoothing: float = LINK_SMOOTHING
    ) -> Self:
        """From sites with their classes and the links (from, to) between them: relative frequencies, smoothed."""
        counts = np.full((topics, topics), smoothing)
        for source, target in links:
            counts[topic[source], topic[target]] += 1
        rows, columns = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
        return cls((counts / np.where(columns > 0, columns, 1)).T, counts / np.where(rows > 0, rows, 1))


def neighbours_likelihood(neighbours: Neighbours, links: LinkTopics) -> Floats:
    """P(N_i^K | C_i) (11): the product over those that link to i of P(C_j | C_i, j -> i), and over those that i links
    to of P(C_k | C_i, i -> k); 1 for every class where there are none.
    """
    likelihood: Floats = np.exp(_log_likelihood(neighbours, links))
    return likelihood


def _log_likelihood(neighbours: Neighbours, links: LinkTopics) -> Floats:
    """The logarithm of (11): a product over hundreds of neighbours is too small for a number."""
    with np.errstate(divide="ignore"):
        linking = np.log(links.linking[:, list(neighbours.linking)]).sum(axis=1)
        found: Floats = linking + np.log(links.linked[:, list(neighbours.linked)]).sum(axis=1)
    return found


def site_context(neighbours: Neighbours, links: LinkTopics, prior: ArrayLike) -> Floats:
    """P(C_i | MC_i) = P(N_i^K | C_i) P(C_i) / P(N_i^K) (10) at the site; P(C_i) itself where no neighbour is known.

    P(N_i^K) as the paper has it, a relative frequency, does not make the row sum to 1; alpha of (9) will. So the row
    may have any factor: what many neighbours tell has one that keeps it a number.
    """
    before = np.asarray(prior, np.float64)
    share = neighbours.known_share
    if not share:
        return before
    found = _log_likelihood(neighbours, links)
    most = found.max()
    if not np.isfinite(most):  # they rule out every class
        return before
    return np.exp(found - (most if most < SMALLEST_LOG else 0.0)) * before / share


@dataclass(frozen=True, slots=True, eq=False)
class Fused:
    """P(C | W, MC) of a site, of its pages and of their blocks."""

    site: Floats
    pages: Floats
    blocks: Floats


def fuse_scales(
    site: ArrayLike,
    pages: ArrayLike,
    blocks: ArrayLike,
    page_of_block: NDArray[np.int64],
    context: ArrayLike,
    priors: Sequence[ArrayLike],
) -> Fused:
    """Step 3 of Figure 7, coarse to fine: the site by its neighbours, its pages by it, their blocks by them.

    `site`, `pages` and `blocks` are raw posteriors, `context` that of the site (10), `priors` P(C) at scales 1 to 3.
    From scale 2 on, P(C | MC) is what is known by now of the node above (12).
    """
    of_site = fuse(site, context, priors[0])
    of_pages = fuse(pages, of_site, priors[1])
    of_blocks = fuse(blocks, of_pages[page_of_block], priors[2])
    return Fused(of_site, of_pages, of_blocks)
