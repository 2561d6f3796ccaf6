"""PageRank and HITS over the links between pages (thesis 2.3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import SettingsError

DAMPING = 0.85
"""The probability that a surfer follows a link (Page et al. 1998)."""
TOLERANCE = 1e-12
"""Iterations stop when PageRank is at most this far from its limit (sum over pages), or HITS moves less in a round."""
MOST_ROUNDS = 2000
"""Iterations at most."""
NEAR_PAGES = 50
"""d: pages with a link to a root page that are added to the base set, at most (Kleinberg 1999, 2.1)."""

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LinkGraph:
    """Links between pages 0 to `pages` - 1: page `source[i]` links to page `target[i]`, each pair once."""

    pages: int
    source: Numbers
    target: Numbers

    @classmethod
    def of(cls, source: Numbers, target: Numbers, pages: int) -> Self:
        """The graph of some links; repeated links count once, links of a page to itself not at all."""
        apart = source != target
        links = np.unique(target[apart] * np.int64(pages) + source[apart])
        at, of = np.divmod(links, max(pages, 1))
        return cls(pages, of, at)

    def __len__(self) -> int:
        return len(self.source)

    def between(self, chosen: NDArray[np.bool_]) -> Self:
        """The links between chosen pages; page numbers do not change."""
        kept = chosen[self.source] & chosen[self.target]
        return type(self)(self.pages, self.source[kept], self.target[kept])

    def links_in(self) -> Numbers:
        """The number of pages that link to each page."""
        return np.bincount(self.target, minlength=self.pages)

    def links_out(self) -> Numbers:
        """The number of pages that each page links to."""
        return np.bincount(self.source, minlength=self.pages)

    def forward(self, score: Floats) -> Floats:
        """For each page the sum of the scores of the pages that link to it."""
        found: Floats = np.bincount(self.target, weights=score[self.source], minlength=self.pages).astype(np.float64)
        return found

    def backward(self, score: Floats) -> Floats:
        """For each page the sum of the scores of the pages that it links to."""
        found: Floats = np.bincount(self.source, weights=score[self.target], minlength=self.pages).astype(np.float64)
        return found


class PageRank(NamedTuple):
    """The score of each page (they add up to 1), and whether the iteration converged."""

    score: Floats
    converged: bool


class Hits(NamedTuple):
    """The authority and hub weight of each page (squares add up to 1), and whether the iteration converged."""

    authority: Floats
    hub: Floats
    converged: bool


def pagerank(
    graph: LinkGraph, damping: float = DAMPING, tolerance: float = TOLERANCE, rounds: int = MOST_ROUNDS
) -> PageRank:
    """PageRank (Page et al. 1998): where a surfer is who follows a link of the page with probability `damping`.

    Otherwise, and from a page without links, the surfer goes to any page. The distance to the limit is at most
    damping / (1 - damping) times the last change, by which the iteration is stopped.
    """
    check_damping(damping)
    pages = max(graph.pages, 1)
    links_out = graph.links_out()
    share, is_dead_end = 1.0 / np.maximum(links_out, 1), links_out == 0
    score = np.full(graph.pages, 1.0 / pages)
    for _ in range(rounds):
        anywhere = damping * float(score[is_dead_end].sum()) + (1.0 - damping)
        after = damping * graph.forward(score * share) + anywhere / pages
        change = float(np.abs(after - score).sum())
        score = after
        if damping * change <= (1.0 - damping) * tolerance:
            return PageRank(score, converged=True)
    return PageRank(score, converged=False)


def hits(graph: LinkGraph, tolerance: float = TOLERANCE, rounds: int = MOST_ROUNDS) -> Hits:
    """HITS (Kleinberg 1999): a good authority is linked by good hubs, a good hub links to good authorities.

    Starts from equal hub weights. All weights of a graph without links are 0.
    """
    authority, hub = np.zeros(graph.pages), np.ones(graph.pages)
    for _ in range(rounds):
        before = authority, hub
        authority = _normalised(graph.forward(hub))
        hub = _normalised(graph.backward(authority))
        change = max(
            float(np.abs(one - other).max(initial=0.0)) for one, other in zip((authority, hub), before, strict=True)
        )
        if change <= tolerance:
            return Hits(authority, hub, converged=True)
    return Hits(authority, hub, converged=False)


def check_damping(damping: float) -> None:
    """`SettingsError` for a damping factor with which PageRank has no limit."""
    if not 0.0 <= damping < 1.0:
        raise SettingsError(f"damping is {damping}: expected at least 0 and less than 1")


def base_set(graph: LinkGraph, root: NDArray[np.bool_], near: int = NEAR_PAGES) -> NDArray[np.bool_]:
    """The pages on which HITS answers a query (Kleinberg 1999, 2.1).

    Root pages, the pages that they link to, and for each root page up to `near` pages that link to it, lowest numbers
    first (Kleinberg takes any).
    """
    found = root.copy()
    found[graph.target[root[graph.source]]] = True
    to_root = root[graph.target]
    source, target = graph.source[to_root], graph.target[to_root]  # by target, then source
    first = np.searchsorted(target, target)
    found[source[np.arange(len(target)) - first < near]] = True
    return found


def _normalised(score: Floats) -> Floats:
    size = float(np.sqrt(np.square(score).sum()))
    return score / size if size > 0.0 else score
