"""Interscale fusion (Sites 4.1, equations 9 to 13): a coarser scale refines the results of a finer one.

Scales are numbered as in the paper: 0 the neighbours of a site, 1 the site, 2 its pages, 3 their blocks. In arrays of
probabilities a row is a node and a column a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webwinnow.storage.arrays import Held, Stored

SMALLEST_LOG = -600.0
"""Below this the exponential is close to underflow."""
LINK_SMOOTHING = 1.0
"""Links added to every pair of classes, so that an unseen pair is possible (Laplace; ours)."""

Floats = NDArray[np.float64]


def fuse(raw: ArrayLike, context: ArrayLike, prior: ArrayLike) -> Floats:
    """P(C | W, MC) = alpha P(C | W) P(C | MC) / P(C) (9), one row per node; alpha makes a row sum to 1.

    `raw` is P(C | W), `context` P(C | MC), one row per node or one for all; `prior` is P(C). A row of NaN in `raw` is a
    node without observation: it gets its context. So does a node where raw and context rule out each other's classes.
    """
    found, around, before = (np.asarray(given, np.float64) for given in (raw, context, prior))
    around = np.broadcast_to(around, np.broadcast_shapes(found.shape, around.shape))
    weighed = np.where(np.isnan(found), before, found) * around / before
    total = weighed.sum(axis=-1, keepdims=True)
    possible = total > 0
    shares: Floats = np.where(possible, weighed, around) / np.where(possible, total, around.sum(axis=-1, keepdims=True))
    return shares


@dataclass(frozen=True, slots=True)
class Neighbours:
    """N_i, the sites linked with a site: the classes of the classified ones that link to it (`linking`, N_i^I) and
    that it links to (`linked`, N_i^O), and the number of all neighbours (`count`).
    """

    linking: tuple[int, ...] = ()
    linked: tuple[int, ...] = ()
    count: int = 0

    @property
    def known_share(self) -> float:
        """P(N_i^K) (10): the share of classified neighbours; one linked in both directions counts twice."""
        known = len(self.linking) + len(self.linked)
        return min(known / self.count, 1.0) if self.count else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class LinkTopics(Stored):
    """Probabilities of links between classes: `linking[i, j]` = P(C_j = j | C_i = i, j -> i), `linked[i, k]` =
    P(C_k = k | C_i = i, i -> k), as in (11).
    """

    ARRAYS: ClassVar[dict[str, Held]] = dict.fromkeys(("linking", "linked"), Held(("topics", "topics"), high=1.0))
    linking: Floats
    linked: Floats

    @classmethod
    def learn(
        cls, topic: Sequence[int], links: Sequence[tuple[int, int]], topics: int, smoothing: float = LINK_SMOOTHING
    ) -> Self:
        """Smoothed relative frequencies of the links (from, to) between sites of known classes."""
        counts = np.full((topics, topics), smoothing)
        for source, target in links:
            counts[topic[source], topic[target]] += 1
        rows, columns = counts.sum(axis=1, keepdims=True), counts.sum(axis=0, keepdims=True)
        return cls((counts / np.where(columns > 0, columns, 1)).T, counts / np.where(rows > 0, rows, 1))


def log_likelihood(neighbours: Neighbours, links: LinkTopics) -> Floats:
    """Log P(N_i^K | C_i) (11): of the product of P(C_j | C_i, j -> i) over the sites that link to i, and of
    P(C_k | C_i, i -> k) over those that i links to. The product over hundreds of neighbours would underflow.
    """
    with np.errstate(divide="ignore"):
        linking = np.log(links.linking[:, list(neighbours.linking)]).sum(axis=1)
        found: Floats = linking + np.log(links.linked[:, list(neighbours.linked)]).sum(axis=1)
    return found


def site_context(neighbours: Neighbours, links: LinkTopics, prior: ArrayLike) -> Floats:
    """P(C_i | MC_i) = P(N_i^K | C_i) P(C_i) / P(N_i^K) (10) at the site; P(C_i) itself if no neighbour is known.

    The paper's P(N_i^K), a relative frequency, does not make the row sum to 1; alpha of (9) does. So the row may have
    any factor: with many neighbours it has one that avoids underflow.
    """
    before = np.asarray(prior, np.float64)
    share = neighbours.known_share
    if not share:
        return before
    found = log_likelihood(neighbours, links)
    most = found.max()
    if not np.isfinite(most):  # they rule out every class
        return before
    return np.exp(found - (most if most < SMALLEST_LOG else 0.0)) * before / share


class Fused(NamedTuple):
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
    """Step 3 of Figure 7, coarse to fine: the site by its neighbours, its pages by the site, their blocks by them.

    `site`, `pages` and `blocks` are raw posteriors, `context` that of the site (10), `priors` P(C) at scales 1 to 3.
    From scale 2 on, P(C | MC) is the fused result of the node above (12).
    """
    of_site = fuse(site, context, priors[0])
    of_pages = fuse(pages, of_site, priors[1])
    return Fused(of_site, of_pages, fuse(blocks, of_pages[page_of_block], priors[2]))
