"""`TreeScale`: the hidden Markov tree of one scale, blocks of a page or pages of a site, with topics for states."""

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
from webwinnow.sitemining.topicwords import probabilities, slope_of

__all__ = ["SITE_DAMPING", "TreeScale", "site_nodes"]

USUAL_STAY = 0.5
"""How likely a node has its parent's topic, before anything is learned."""
SITE_DAMPING = 0.5
"""Of what pages say of a site (ours): n pages of one site tell as much as the root of n that know nothing of each
other. A slope alone made deep trees, in which branches bound the sum, unsure beside flat ones."""
ENOUGH = 1e-3
"""Learning stops when the probability of staying moves less."""
STEEPEST_TREE = 1.0
"""No tree is surer of its root than equation 8 is."""
FLOOR = 1e-12
"""No topic is ruled out by one text."""

Floats = NDArray[np.float64]
Indexes = NDArray[np.int32]
Observed = tuple[Indexes, Floats]
"""Parents of the nodes of a forest, and P(topic | text) at each, NaN where nothing is observed."""


@dataclass(frozen=True, slots=True)
class TreeScale:
    """A node has the topic of its parent with probability `stay`, and each other topic alike (ours: the paper learns
    a matrix; one number a scale is what so few sites can teach, and no topic needs sites of its own for it).

    Nodes of one tree are not as independent, given their topics, as equation 5 has it: hundreds of them would be sure
    of anything. So what a tree says of its root, in log odds, is taken to the power of `damping` and times `slope`.
    """

    topics: int
    stay: float = USUAL_STAY
    slope: float = 1.0
    damping: float = 1.0

    @property
    def parameters(self) -> TreeParameters:
        """The model lambda; all topics are as likely at the root."""
        leave = (1.0 - self.stay) / max(self.topics - 1, 1)
        transition = np.full((self.topics, self.topics), leave)
        np.fill_diagonal(transition, self.stay if self.topics > 1 else 1.0)
        return TreeParameters(root=np.full(self.topics, 1 / self.topics), transition=transition)

    @classmethod
    def learn(cls, trees: Sequence[Observed], topic: Sequence[int], topics: int, damping: float = 1.0) -> Self:
        """Learn `stay` from what held-out sites show and the topic of each, which is that of every root: EM with one
        probability of staying for all topics.
        """
        scale = cls(topics, damping=damping)
        if not trees:  # between staying for sure and every topic alike, where nothing would tell of the root
            return replace(scale, stay=(1.0 + 1.0 / topics) / 2)
        trees = [_telling(*observed) for observed in trees]
        forest = Forest.join([_forest(*observed) for observed in trees])
        of_tree = np.repeat(np.array(topic, np.int64), [len(parent) for parent, _ in trees])
        known = np.where(forest.parent < 0, of_tree, HIDDEN)
        for _ in range(MOST_PASSES):
            pairs = expectation((forest, known), scale.parameters)[0].transition
            stay = float((np.trace(pairs) + USUAL_STAY) / (pairs.sum() + 1.0))
            moved, scale = abs(stay - scale.stay), replace(scale, stay=stay)
            if moved < ENOUGH:
                break
        return scale

    def sloped(self, trees: Sequence[Observed], before: Sequence[Floats | None], topic: Sequence[int]) -> Self:
        """The same with the slope under which the roots of held-out sites have the topics that they have; `before` as
        `roots` takes it.
        """
        shown = [
            (self._roots(*observed), None if own is None else np.log(np.maximum(own, FLOOR)), number)
            for observed, own, number in zip(trees, before, topic, strict=True)
        ]
        slope = slope_of(shown, STEEPEST_TREE)
        return replace(self, slope=1.0 if slope is None else slope)

    def roots(self, parent: Indexes, posteriors: Floats, before: Floats | None = None) -> Floats:
        """P(topic | W) of each root, given all that is observed in its tree (8), with the slope.

        `before` is what the roots show by themselves, P(topic | text), a row each, NaN for nothing: it counts in full.
        """
        found = self.slope * self._roots(parent, posteriors)
        return probabilities(found if before is None else found + np.nan_to_num(np.log(np.maximum(before, FLOOR))))

    def nodes(self, parent: Indexes, posteriors: Floats) -> Floats:
        """P(topic | W) of each node, given all that is observed in its tree (8)."""
        forest, parameters = _forest(parent, posteriors), self.parameters
        return beliefs(forest, evidence_of(forest, None, parameters), parameters).posterior

    def _roots(self, parent: Indexes, posteriors: Floats) -> Floats:
        """Log beta at the roots: of P(topic | W), all topics being as likely before, up to a constant; damped."""
        forest, parameters = _forest(*_telling(parent, posteriors)), self.parameters
        beta = likelihoods(forest, evidence_of(forest, None, parameters), parameters)[1][forest.roots]
        damped: Floats = -np.power(beta.max(axis=1, keepdims=True) - beta, self.damping)
        return damped

    def to_array(self) -> NDArray[np.float64]:
        """As numbers, for a file."""
        return np.array([self.stay, self.slope, self.damping])

    @classmethod
    def from_array(cls, arrays: Arrays, name: str, topics: int) -> Self:
        """Read what `to_array` gave; `ValueError` where it is no such thing."""
        return cls(topics, *floats(arrays, name, (3,), high=1.0).tolist())


def site_nodes(page: Indexes, posteriors: Floats) -> Floats:
    """What pages show, at the nodes of their page tree: NaN at the virtual root."""
    found: Floats = np.where((page < 0)[:, None], np.nan, posteriors[page])
    return found


def _telling(parent: Indexes, posteriors: Floats) -> Observed:
    """The trees without the branches in which nothing is observed: what is known of the roots is the same, sooner."""
    telling = parent < 0
    frontier = np.flatnonzero(~np.isnan(posteriors[:, 0]))
    while len(frontier):
        telling[frontier] = True
        above = parent[frontier]
        frontier = np.unique(above[~telling[above]])
    nodes = np.flatnonzero(telling)
    place = np.full(len(parent) + 1, -1, np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    return place[parent[nodes]], posteriors[nodes]


def _forest(parent: Indexes, posteriors: Floats) -> Forest:
    return Forest(parent, evidence=soft_evidence(posteriors, floor=FLOOR))
