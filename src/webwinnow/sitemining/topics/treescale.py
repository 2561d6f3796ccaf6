"""`TreeScale`: the hidden Markov tree of one scale, blocks of a page or pages of a site. Topics are the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.sitemining.arraychecks import Arrays, floats
from webwinnow.sitemining.hmt.em import MOST_PASSES, expectation
from webwinnow.sitemining.hmt.inference import beliefs, evidence_of, likelihoods
from webwinnow.sitemining.hmt.treemodel import HIDDEN, Forest, TreeParameters, soft_evidence
from webwinnow.sitemining.multiscaletree import LinkTree
from webwinnow.sitemining.topicwords import probabilities, slope_of

USUAL_STAY = 0.5
"""P(a node has its parent's topic) before learning."""
SITE_DAMPING = 0.5
"""Exponent of the evidence of pages for their site (ours): n pages of one site count as much as sqrt(n) independent
ones. With a slope alone, deep trees, whose branches bound the sum, were less certain than flat ones."""
ENOUGH = 1e-3
"""Learning stops when the probability of staying changes by less."""
STEEPEST_TREE = 1.0
"""No tree is more certain of its root than equation 8."""
FLOOR = 1e-12
"""No topic is ruled out by one text."""

Floats = NDArray[np.float64]
Indexes = NDArray[np.int32]
Observed = tuple[Indexes, Floats]
"""Parents of the nodes of a forest, and P(topic | text) at each, NaN where nothing is observed."""


@dataclass(frozen=True, slots=True)
class TreeScale:
    """A node has the topic of its parent with probability `stay`, and every other topic with equal probability.

    Ours: the paper learns a matrix. One number per scale is what few sites can support, and it needs no sites of every
    topic. Nodes of one tree are less independent, given their topics, than equation 5 assumes: hundreds of nodes would
    make any result certain. So the log odds of the root are raised to the power `damping` and multiplied by `slope`.
    """

    topics: int
    stay: float = USUAL_STAY
    slope: float = 1.0
    damping: float = 1.0

    @property
    def parameters(self) -> TreeParameters:
        """The model lambda, with equal probabilities at the root."""
        leave = (1.0 - self.stay) / max(self.topics - 1, 1)
        transition = np.full((self.topics, self.topics), leave)
        np.fill_diagonal(transition, self.stay if self.topics > 1 else 1.0)
        return TreeParameters(root=np.full(self.topics, 1 / self.topics), transition=transition)

    @classmethod
    def learn(cls, trees: Sequence[Observed], topic: Sequence[int], topics: int, damping: float = 1.0) -> Self:
        """Learn `stay` by EM from the observations and the topics of held-out sites. All roots have their site's topic.

        Without trees `stay` is halfway between 1 and equal probabilities, at which nodes would not depend on parents.
        """
        scale = cls(topics, damping=damping)
        if not trees:
            return replace(scale, stay=(1.0 + 1.0 / topics) / 2)
        trees = [_observed_branches(*observed) for observed in trees]
        forest = Forest.join([_forest(*observed) for observed in trees])
        of_tree = np.repeat(np.array(topic, np.int64), [len(parent) for parent, _ in trees])
        known = np.where(forest.parent < 0, of_tree, HIDDEN)
        for _ in range(MOST_PASSES):
            pairs = expectation((forest, known), scale.parameters)[0].transition
            stay = float((np.trace(pairs) + USUAL_STAY) / (pairs.sum() + 1.0))
            change, scale = abs(stay - scale.stay), replace(scale, stay=stay)
            if change < ENOUGH:
                break
        return scale

    def sloped(self, trees: Sequence[Observed], topic: Sequence[int], own: Sequence[Floats | None] = ()) -> Self:
        """A copy with the slope of the highest likelihood for the roots of held-out sites; `own` as in `roots`."""
        shown = [
            (self._roots(*observed), None if before is None else _logarithms(before), number)
            for observed, before, number in zip(trees, own or [None] * len(trees), topic, strict=True)
        ]
        slope = slope_of(shown, STEEPEST_TREE)
        return replace(self, slope=1.0 if slope is None else slope)

    def roots(self, parent: Indexes, posteriors: Floats, own: Floats | None = None) -> Floats:
        """P(topic | W) of each root, given all observations in its tree (8), with the slope.

        `own` is P(topic | text) of the roots' own text, NaN where there is none; the slope does not apply to it.
        """
        found = self.slope * self._roots(parent, posteriors)
        return probabilities(found if own is None else found + np.nan_to_num(_logarithms(own)))

    def nodes(self, parent: Indexes, posteriors: Floats) -> Floats:
        """P(topic | W) of each node, given all observations in its tree (8)."""
        forest, parameters = _forest(parent, posteriors), self.parameters
        return beliefs(forest, evidence_of(forest, None, parameters), parameters).posterior

    def _roots(self, parent: Indexes, posteriors: Floats) -> Floats:
        """Damped log P(topic | W) of the roots under equal priors, up to a constant: log beta."""
        forest, parameters = _forest(*_observed_branches(parent, posteriors)), self.parameters
        beta = likelihoods(forest, evidence_of(forest, None, parameters), parameters)[1][forest.roots]
        damped: Floats = -np.power(beta.max(axis=1, keepdims=True) - beta, self.damping)
        return damped

    def to_array(self) -> Floats:
        return np.array([self.stay, self.slope, self.damping])

    @classmethod
    def from_array(cls, arrays: Arrays, name: str, topics: int) -> Self:
        """Read the result of `to_array`; `ValueError` if it does not fit."""
        return cls(topics, *floats(arrays, name, (3,), high=1.0).tolist())


def page_observations(tree: LinkTree, posteriors: Floats) -> Observed:
    """P(topic) of pages as observations of their page tree: NaN at a virtual root."""
    return tree.parent, np.where((tree.page < 0)[:, None], np.nan, posteriors[tree.page])


def at_nodes(parent: Indexes, posteriors: Floats, nodes: NDArray[np.int64]) -> Observed:
    """The trees of some nodes, given in ascending order."""
    place = np.full(len(parent) + 1, -1, np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    return place[parent[nodes]], posteriors[nodes]


def _observed_branches(parent: Indexes, posteriors: Floats) -> Observed:
    """The trees without branches that have no observation: faster, with the same result at the roots."""
    kept = parent < 0
    frontier = np.flatnonzero(~np.isnan(posteriors[:, 0]))
    while len(frontier):
        kept[frontier] = True
        above = parent[frontier]
        frontier = np.unique(above[~kept[above]])
    return at_nodes(parent, posteriors, np.flatnonzero(kept))


def _forest(parent: Indexes, posteriors: Floats) -> Forest:
    return Forest(parent, evidence=soft_evidence(posteriors, floor=FLOOR))


def _logarithms(posteriors: Floats) -> Floats:
    found: Floats = np.log(np.maximum(posteriors, FLOOR))
    return found
