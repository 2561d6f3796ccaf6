"""Pruning a page tree while it grows (Sites 4.2): the KL rule (14), and the variance rule that it improves on.

For each new page a rule decides whether it is added to the tree. If not, the page is left out and its links are not
followed. The class of the site is the state of the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webwinnow.settings import Settings, setting
from webwinnow.site.hmt.em import TOLERANCE
from webwinnow.site.hmt.inference import evidence_of
from webwinnow.site.hmt.treemodel import Forest, TreeParameters

Floats = NDArray[np.float64]


class Step(NamedTuple):
    """The effect of adding page u: P(C | T) of the site's class without u and with it, `before` and `after`; the
    depth of the tree with u; log P(path | C) of the path from the root to u and to its parent; pages on the path to u.
    """

    before: Floats
    after: Floats
    depth: int
    path: Floats
    path_above: Floats
    length: int


class Rule(Protocol):
    """Decides whether a page is added to a tree."""

    def adds(self, step: Step) -> bool:
        """Whether the page is added."""
        ...


@dataclass(frozen=True, slots=True)
class Everything:
    """No pruning: every page is added."""

    def adds(self, step: Step) -> bool:  # noqa: ARG002
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class KlRule(Settings):
    """The paper's rule: u is added if KL(T-, T+) >= depth(T+) delta. `delta` is "the convergence parameter used in the
    HMT training", in nats; a larger one prunes more. The depth of a start page alone is 0: it is always added.
    """

    delta: Annotated[float, setting("Least change, in nats, for each level of depth.", least=0)] = TOLERANCE

    def adds(self, step: Step) -> bool:
        return kl_distance(step.before, step.after) >= step.depth * self.delta


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceRule(Settings):
    """The rule of Ester, Kriegel and Schubert [9]: u is added if weight(path to u) >= weight(path to its parent) times
    l / omega, l the pages on the path to u; the start page always is.

    Sites says only that it compares the variance over the classes with the length of the path, and [9] was not
    available: this form is ours. Paths longer than omega must separate the classes better than before.
    """

    omega: Annotated[float, setting("Factor of the length of a path.", above=0)]

    def adds(self, step: Step) -> bool:
        if step.length == 1:
            return True
        above = path_weight(step.path_above, step.length - 1)
        return path_weight(step.path, step.length) >= above * step.length / self.omega


def kl_distance(before: ArrayLike, after: ArrayLike) -> float:
    """KL(T-, T+) (14) = sum_i P(C_i | T-) log P(C_i | T-) / P(C_i | T+), in nats.

    Infinite where T+ rules out a class that T- does not.
    """
    p, q = np.asarray(before, np.float64), np.asarray(after, np.float64)
    there = p > 0
    if (q[there] <= 0).any():
        return float("inf")
    return max(0.0, float((p[there] * np.log(p[there] / q[there])).sum()))


def path_weight(path: ArrayLike, length: int) -> float:
    """The variance over the classes of P(path | C)^(1 / length), as shares of their sum.

    Shares, because evidence is known up to a factor per page; the root makes paths of all lengths comparable.
    """
    each = np.asarray(path, np.float64) / length
    return 0.0 if np.isneginf(each).all() else float(_shares(each).var())


@dataclass(slots=True)
class _PageNode:
    """A page of a growing tree. `total` is log beta without messages of minus infinity, which `ruled_out` counts;
    `message` is the message to the parent.
    """

    parent: int
    depth: int
    evidence: Floats
    total: Floats
    ruled_out: NDArray[np.int64]
    message: Floats


class GrowingTree:
    """A page tree that grows by one page at a time, with the posterior of its root at each step.

    The cost of a page is its depth, not the size of the tree: only the upward variables on its path to the root change.
    The `evidence` of a page is log P(W_u | C_u = k), as from `hmt.inference.evidence_of`. `depth` is that of the
    deepest page, 0 for the start page. `posterior` is P(C | T), the prior pi before the first page.
    """

    def __init__(self, parameters: TreeParameters) -> None:
        self.parameters = parameters
        with np.errstate(divide="ignore"):
            self._log_root, self._log_transition = np.log(parameters.root), np.log(parameters.transition)
        self._nodes: list[_PageNode] = []
        self.depth = 0
        self.posterior: Floats = parameters.root

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def parent(self) -> NDArray[np.int32]:
        """The parents of the added pages, in the order of adding."""
        return np.array([node.parent for node in self._nodes], np.int32)

    def offer(self, parent: int, evidence: ArrayLike, rule: Rule) -> int | None:
        """Add a page below page `parent` (-1 for the start page) if the rule allows it; its number, or None."""
        row = np.array(evidence, np.float64)
        above = self._nodes[parent] if parent >= 0 else None
        impossible = np.isneginf(row)
        total = np.where(impossible, 0.0, row)
        depth = above.depth + 1 if above else 0
        node = _PageNode(parent, depth, row, total, impossible.astype(np.int64), self._message(row))
        beta, changes = self._upward(node)
        step = Step(
            before=self.posterior,
            after=_shares(self._log_root + beta),
            depth=max(self.depth, depth),
            path=self._path(node),
            path_above=self._path(above) if above else np.zeros_like(row),
            length=depth + 1,
        )
        if not rule.adds(step):
            return None
        for changed, total, ruled_out, message in changes:
            changed.total, changed.ruled_out, changed.message = total, ruled_out, message
        self._nodes.append(node)
        self.depth, self.posterior = step.depth, step.after
        return len(self) - 1

    def _upward(self, node: _PageNode) -> tuple[Floats, list[tuple[_PageNode, Floats, NDArray[np.int64], Floats]]]:
        """Log beta of the root if the page were added, and the new values of each node above the page."""
        changes = []
        beta, old, new = node.evidence, np.zeros_like(node.message), node.message
        u = node.parent
        while u >= 0:
            above = self._nodes[u]
            gone, was = np.isneginf(new), np.isneginf(old)
            total = above.total + np.where(gone, 0.0, new) - np.where(was, 0.0, old)
            ruled_out = above.ruled_out + gone - was
            beta = np.where(ruled_out > 0, -np.inf, total)
            old, new = above.message, self._message(beta)
            changes.append((above, total, ruled_out, new))
            u = above.parent
        return beta, changes

    def _message(self, beta: Floats) -> Floats:
        """Log of sum_m a^km beta(m): the message of a node to its parent."""
        message: Floats = np.logaddexp.reduce(self._log_transition + beta, axis=1)
        return message

    def _path(self, node: _PageNode) -> Floats:
        """Log P(pages from the root to this one | C_root)."""
        beta, u = node.evidence, node.parent
        while u >= 0:
            beta, u = self._nodes[u].evidence + self._message(beta), self._nodes[u].parent
        return beta


class Pruned(NamedTuple):
    """A pruned tree: the pages that were `read`, those of them that were `kept`, and the final P(C | T)."""

    read: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    posterior: Floats


def prune(forest: Forest, parameters: TreeParameters, rule: Rule) -> Pruned:
    """Offer the pages of one tree in order, breadth-first like a crawler; pages below one not kept are not read."""
    evidence = evidence_of(forest, None, parameters)
    growing = GrowingTree(parameters)
    place: list[int | None] = []
    read = np.zeros(len(forest), np.bool_)
    for u, above in enumerate(forest.parent.tolist()):
        at = -1 if above < 0 else place[above]
        read[u] = at is not None
        place.append(None if at is None else growing.offer(at, evidence[u], rule))
    kept = np.array([number is not None for number in place], np.bool_)
    return Pruned(read, kept, growing.posterior)


def _shares(logarithms: Floats) -> Floats:
    """Probabilities in proportion to the exponentials of these; zeros if all are minus infinity."""
    largest = logarithms.max()
    if np.isneginf(largest):
        return np.zeros_like(logarithms)
    found = np.exp(logarithms - largest)
    shares: Floats = found / found.sum()
    return shares
