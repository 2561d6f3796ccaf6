"""`TreeScale`: the hidden Markov tree of one scale, blocks of a page or pages of a site. Topics are the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.site.hmt.em import Convergence, ExpectedCounts, estimate, expectation, learn
from webwinnow.site.hmt.inference import beliefs, likelihoods
from webwinnow.site.hmt.treemodel import HIDDEN, PARAMETERS, UNSEEN, Forest, TreeParameters
from webwinnow.storage.arrays import Arrays, Held, Stored, checked
from webwinnow.topics.topicwords import Scored, probabilities, slope_of
from webwinnow.topics.training import TopicSettings
from webwinnow.topics.trees import LinkTree

LEVELS = (0.5, 0.8)
"""A text shows its most probable topic and how probable that is: below, between or above these (ours)."""
PRIOR_SITES = 10.0
"""Sites that the prior of each topic counts as: what all topics have in common, before its own sites (ours)."""
SITE_DAMPING = 0.5
"""Exponent of the evidence of pages for their site (ours): n pages of one site count as much as sqrt(n) independent
ones. With a slope alone, deep trees, whose branches bound the sum, were less certain than flat ones."""
STEEPEST_TREE = 1.0
"""No tree is more certain of its root than equation 8."""
FLOOR = 1e-12
"""No topic is ruled out by one text."""

_ARRAYS = {
    **PARAMETERS,
    **{f"{row}_counts": held for row, held in PARAMETERS.items()},
    "scale": Held((2,), high=1.0),
}

Floats = NDArray[np.float64]
Indexes = NDArray[np.int32]


class Observed(NamedTuple):
    """Parents of the nodes of a forest, and P(topic | text) at each, NaN where nothing is observed."""

    parent: Indexes
    posteriors: Floats


@dataclass(frozen=True, slots=True, eq=False)
class TreeScale(Stored):
    """The model lambda of one scale: pi, A and B (`parameters`), learned by EM from the trees of sites of known topics.

    A text shows a symbol: the topic that its words predict, and in which range of `LEVELS` its probability is. B is
    thus how often texts of each topic are taken for which, and how often with certainty. `counts` are the expected
    counts of all sites learned, for incremental EM. Every site counts as one, whatever its size, and each topic has a
    prior of `PRIOR_SITES` sites: A and B of all topics together, with one probability of staying and one of being right
    (ours: a topic of one or two sites could not estimate its rows).

    Nodes of one tree are less independent, given their topics, than equation 5 assumes: hundreds of nodes would make
    any result certain. So the log odds of the root are raised to the power `damping` and multiplied by `slope`.

    `tied` are the expected counts under the parameters that all topics have in common, `shown` the roots that the slope
    was fitted on. Both are for `grown` and not in the file.
    """

    parameters: TreeParameters
    counts: ExpectedCounts
    slope: float = 1.0
    damping: float = 1.0
    tied: ExpectedCounts | None = None
    shown: tuple[Scored, ...] = ()

    @property
    def topics(self) -> int:
        return self.parameters.states

    @property
    def prior(self) -> Floats:
        """P(C) of the nodes of this scale, the relative frequency of each topic (4.1), with the prior of `grown`."""
        counts = self.counts.emission.sum(axis=1) + PRIOR_SITES / self.topics
        shares: Floats = counts / counts.sum()
        return shares

    @classmethod
    def usual(cls, topics: int, damping: float = 1.0) -> Self:
        """The scale before any site is learned."""
        nothing = ExpectedCounts.constant(0.0, topics, _symbols(topics))
        return cls(_tied(nothing, topics), nothing, damping=damping, tied=nothing)

    def grown(self, trees: Sequence[Observed], topic: Sequence[int], settings: TopicSettings | None = None) -> Self:
        """Add held-out sites of known topics, a forest each, by incremental EM (steps 1.1 and 1.2).

        All roots have their site's topic. The E-steps are of the new sites alone; the expected counts of those learned
        before are added in every M-step.
        """
        if not trees:
            return self
        settings, topics = settings or TopicSettings(), self.topics
        parts = [_part(observed, number) for observed, number in zip(trees, topic, strict=True)]
        weights = [1.0 / max(len(forest), 1) for forest, _ in parts]
        assert self.tied is not None
        tied, common = self.tied, _tied(self.tied, topics)
        for _ in range(settings.passes):
            tied = sum((expectation(p, common)[0].times(w) for p, w in zip(parts, weights, strict=True)), self.tied)
            before, common = common, _tied(tied, topics)
            if np.abs(common.transition - before.transition).max() < settings.tolerance:
                break
        held, is_first = _prior(common), not self.counts.root.any()
        start = common if is_first else self.parameters
        convergence = Convergence(settings.tolerance, settings.passes, len(parts))
        parameters, fresh = learn(parts, start, held + self.counts, convergence, weights)
        sites = np.bincount(topic, minlength=topics).astype(np.float64)
        counts = self.counts + replace(fresh, root=sites)
        return replace(self, parameters=estimate(held + counts, parameters), counts=counts, tied=tied)

    def sloped(self, trees: Sequence[Observed], topic: Sequence[int], texts: Sequence[Floats | None] = ()) -> Self:
        """A copy with the slope of the highest likelihood for the roots of held-out sites, these and those of earlier
        calls (`shown`); `texts` as `text` in `roots`.
        """
        shown = list(self.shown)
        for (parent, posteriors), before, number in zip(trees, texts or [None] * len(trees), topic, strict=True):
            roots = self._roots(parent, self.evidence(posteriors))
            shown.append((roots, self._before(before) + np.zeros_like(roots), number))
        slope = slope_of(shown, STEEPEST_TREE)
        return replace(self, slope=1.0 if slope is None else slope, shown=tuple(shown))

    def evidence(self, posteriors: Floats) -> Floats:
        """Log P(symbol | topic) of what each node shows (B); 0 where nothing is observed."""
        symbols = shown_symbols(posteriors)
        with np.errstate(divide="ignore"):
            rows = np.maximum(np.log(self.parameters.emission.T), np.log(FLOOR))
        found: Floats = np.where((symbols == UNSEEN)[:, None], 0.0, rows[symbols])
        return found

    def roots(self, parent: Indexes, evidence: Floats, text: Floats | None = None) -> Floats:
        """P(topic | W) of each root, given all evidence in its tree (8), with the slope.

        `text` is P(topic | text) of the roots' own text under equal priors, NaN where there is none; the slope applies
        neither to it nor to pi.
        """
        return probabilities(self.slope * self._roots(parent, evidence) + self._before(text))

    def _before(self, text: Floats | None) -> Floats:
        """Log P(topic) of roots before their trees: pi, and their own text."""
        found: Floats = np.log(self.parameters.root)[None]
        return found if text is None else found + np.nan_to_num(np.log(np.maximum(text, FLOOR)))

    def nodes(self, parent: Indexes, evidence: Floats) -> Floats:
        """P(topic | W) of each node, given all evidence in its tree (8)."""
        return beliefs(Forest(parent, evidence=evidence), evidence, self.parameters).posterior

    def _roots(self, parent: Indexes, evidence: Floats) -> Floats:
        """Damped log P(topic | W) of the roots under equal priors, up to a constant: log beta."""
        parent, evidence = _observed_branches(parent, evidence)
        forest = Forest(parent, evidence=evidence)
        beta = likelihoods(forest, evidence, self.parameters)[1][forest.roots]
        damped: Floats = -np.power(beta.max(axis=1, keepdims=True) - beta, self.damping)
        return damped

    def to_arrays(self, prefix: str = "") -> Arrays:
        """The parameters, the counts, and slope and damping, as named arrays."""
        rows = {prefix + row: getattr(self.parameters, row) for row in PARAMETERS}
        counts = {f"{prefix}{row}_counts": getattr(self.counts, row) for row in PARAMETERS}
        return rows | counts | {prefix + "scale": np.array([self.slope, self.damping])}

    @classmethod
    def from_arrays(cls, arrays: Arrays, prefix: str = "", **sizes: int) -> Self:
        """Read the result of `to_arrays`; `ValueError` if it does not fit."""
        topics = sizes["topics"]
        found = checked(arrays, _ARRAYS, prefix, states=topics, symbols=_symbols(topics))
        counts = ExpectedCounts(*(found[f"{row}_counts"] for row in PARAMETERS))
        return cls(TreeParameters(**{row: found[row] for row in PARAMETERS}), counts, *found["scale"].tolist())


def shown_symbols(posteriors: Floats) -> Indexes:
    """What a text shows: its most probable topic, and the range of `LEVELS` of that probability; UNSEEN for NaN."""
    known = ~np.isnan(posteriors[:, 0])
    most = np.nan_to_num(posteriors)
    level = np.digitize(most.max(axis=1), LEVELS)
    symbol = most.argmax(axis=1) * (len(LEVELS) + 1) + level
    return np.where(known, symbol, UNSEEN).astype(np.int32)


def _symbols(topics: int) -> int:
    return topics * (len(LEVELS) + 1)


def _tied(counts: ExpectedCounts, topics: int) -> TreeParameters:
    """The parameters that all topics have in common: one probability of staying, and those of being right and wrong
    at each level. One count is added, by which staying and being right are halfway between chance and certainty.
    """
    levels = len(LEVELS) + 1
    usual = (1.0 + 1.0 / topics) / 2
    same = np.eye(topics, dtype=np.bool_)
    others = max(topics - 1, 1)
    stay = (counts.transition[same].sum() + usual) / (counts.transition.sum() + 1.0)
    transition = np.where(same, stay, (1.0 - stay) / others) if topics > 1 else np.ones((1, 1))
    shown = counts.emission.reshape(topics, topics, levels)
    right, wrong = shown[same].sum(axis=0) + usual / levels, shown[~same].sum(axis=0) + (1 - usual) / levels
    emission = np.where(same[:, :, None], right, wrong / others).reshape(topics, -1)
    return TreeParameters(
        root=np.full(topics, 1 / topics),
        transition=transition,
        emission=emission / emission.sum(axis=1, keepdims=True),
    )


def _prior(common: TreeParameters) -> ExpectedCounts:
    return ExpectedCounts(common.root * common.states, common.transition, common.emission).times(PRIOR_SITES)


def _part(observed: Observed, topic: int) -> tuple[Forest, NDArray[np.int64]]:
    """The forest of a site with the known topic of its roots."""
    parent, posteriors = observed
    parent, symbols = _observed_symbols(parent, shown_symbols(posteriors))
    forest = Forest(parent, symbols)
    return forest, np.where(forest.parent < 0, topic, HIDDEN)


def page_observations(tree: LinkTree, posteriors: Floats) -> Observed:
    """P(topic) of pages as observations of their page tree: NaN at a virtual root."""
    return Observed(tree.parent, np.where((tree.page < 0)[:, None], np.nan, posteriors[tree.page]))


def at_nodes(parent: Indexes, posteriors: Floats, nodes: NDArray[np.int64]) -> Observed:
    """The trees of some nodes, given in ascending order."""
    return Observed(_moved(parent, nodes), posteriors[nodes])


def _moved(parent: Indexes, nodes: NDArray[np.int64]) -> Indexes:
    place = np.full(len(parent) + 1, -1, np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    return place[parent[nodes]]


def _branches(parent: Indexes, seen: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The nodes on the way to an observation, and the roots: faster, with the same result at the roots."""
    kept = parent < 0
    frontier = np.flatnonzero(seen)
    while len(frontier):
        kept[frontier] = True
        above = parent[frontier]
        frontier = np.unique(above[~kept[above]])
    return np.flatnonzero(kept)


def _observed_branches(parent: Indexes, evidence: Floats) -> tuple[Indexes, Floats]:
    nodes = _branches(parent, (evidence != 0).any(axis=1))
    return _moved(parent, nodes), evidence[nodes]


def _observed_symbols(parent: Indexes, symbols: Indexes) -> tuple[Indexes, Indexes]:
    nodes = _branches(parent, symbols != UNSEEN)
    return _moved(parent, nodes), symbols[nodes]
