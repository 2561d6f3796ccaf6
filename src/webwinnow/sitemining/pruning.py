"""Pruning a page tree while it grows (Sites 4.2): the KL rule (14), and the variance rule that it improves on.

A page is offered; a rule says whether the tree grows by it. Where it does not, the page is left out and what it links
to is not read. The class of the site is the state of the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webwinnow.errors import InputError, SettingsError
from webwinnow.sitemining.hmt.em import TOLERANCE
from webwinnow.sitemining.hmt.inference import evidence_of
from webwinnow.sitemining.hmt.treemodel import Forest, TreeParameters

__all__ = [
    "Everything",
    "GrowingTree",
    "KlRule",
    "Pruned",
    "Rule",
    "Step",
    "VarianceRule",
    "kl_distance",
    "path_weight",
    "prune",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What offering page u would change: P(C | T) of the site's class without u and with it, `before` and `after`; the
    depth of the tree with u; log P(path | C) of the path from the root to u and to its parent; pages on the path to u.
    """

    before: Floats
    after: Floats
    depth: int
    path: Floats
    path_above: Floats
    length: int


class Rule(Protocol):
    """Whether a tree grows by a page."""

    def adds(self, step: Step) -> bool:
        """Whether the page is added."""
        ...


@dataclass(frozen=True, slots=True)
class Everything:
    """No pruning: every page is added."""

    def adds(self, step: Step) -> bool:  # noqa: ARG002
        """Always."""
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class KlRule:
    """The paper's rule: u is added if KL(T-, T+) >= depth(T+) delta. `delta` is "the convergence parameter used in the
    HMT training", in nats; the larger it is, the more is pruned. The depth of a start page alone is 0: it is always
    added.
    """

    delta: float = TOLERANCE

    def __post_init__(self) -> None:
        if not self.delta >= 0:
            raise SettingsError(f"delta {self.delta}: expected 0 or more")

    def adds(self, step: Step) -> bool:
        """Whether the page changes what is believed of the site by enough for its depth."""
        return kl_distance(step.before, step.after) >= step.depth * self.delta


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceRule:
    """The rule of Ester, Kriegel and Schubert [9]: u is added if weight(path to u) >= weight(path to its parent) times
    l / omega, l the pages on the path to u; the start page always is.

    Sites says of it no more than that it weighs the variance over the classes against the length of the path, and
    [9] was not at hand: this form is ours. From omega on, a longer path must tell the classes apart better than before.
    """

    omega: float

    def __post_init__(self) -> None:
        if not self.omega > 0:
            raise SettingsError(f"omega {self.omega}: expected more than 0")

    def adds(self, step: Step) -> bool:
        """Whether the path to the page still tells the classes apart."""
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

    Shares, because evidence is known up to a factor for each page; the root makes paths of all lengths comparable.
    """
    each = np.asarray(path, np.float64) / length
    if np.isneginf(each).all():
        return 0.0
    shares = np.exp(each - each.max())
    return float((shares / shares.sum()).var())


class GrowingTree:
    """A page tree that grows by one page at a time, and what is believed of its root at each step.

    A page costs as much as its depth, not as the tree: only upward variables on its way to the root change. `evidence`
    of a page is log P(W_u | C_u = k), as `hmt.inference.evidence_of` gives it.
    """

    def __init__(self, parameters: TreeParameters) -> None:
        self.parameters = parameters
        with np.errstate(divide="ignore"):
            self._log_root, self._log_transition = np.log(parameters.root), np.log(parameters.transition)
        self._parent: list[int] = []
        self._depth: list[int] = []
        self._evidence: list[Floats] = []
        self._sum: list[Floats] = []  # log beta, without the messages of minus infinity, which are counted
        self._ruled_out: list[NDArray[np.int64]] = []
        self._message: list[Floats] = []  # what each node told its parent
        self._deepest = 0
        self._posterior: Floats = parameters.root

    def __len__(self) -> int:
        return len(self._parent)

    @property
    def parent(self) -> NDArray[np.int32]:
        """The parent of each page that was added, in the order of adding."""
        return np.array(self._parent, np.int32)

    @property
    def depth(self) -> int:
        """The depth of the deepest page; the start page has 0."""
        return self._deepest

    @property
    def posterior(self) -> Floats:
        """P(C | T): the class of the site, given the pages so far; the prior pi where there is none."""
        return self._posterior

    def offer(self, parent: int, evidence: ArrayLike, rule: Rule) -> int | None:
        """Offer a page below page `parent` of the tree, -1 for the start page: its number, or None if not added."""
        if not (parent == -1 and not self._parent) and not 0 <= parent < len(self._parent):
            raise InputError(f"parent {parent} in a tree of {len(self._parent)} pages")
        row = np.array(evidence, np.float64)
        if row.shape != (self.parameters.states,) or not (row < np.inf).all():
            raise InputError(f"evidence of shape {row.shape} for {self.parameters.states} states, or not a logarithm")
        depth = self._depth[parent] + 1 if parent >= 0 else 0
        changes = self._changes(parent, row)
        root = changes[-1][1]
        step = Step(
            before=self._posterior,
            after=_shares(self._log_root + root),
            depth=max(self._deepest, depth),
            path=self._path(parent, row),
            path_above=self._path(self._parent[parent], self._evidence[parent]) if parent >= 0 else np.zeros_like(row),
            length=depth + 1,
        )
        if not rule.adds(step):
            return None
        self._add(parent, row, depth, changes)
        self._posterior = step.after
        return len(self._parent) - 1

    def _changes(self, parent: int, row: Floats) -> list[tuple[int, Floats, Floats, NDArray[np.int64]]]:
        """Node, log beta, sum and count of the new page and of each node above it, if it were added."""
        found = [(len(self._parent), row, np.where(np.isneginf(row), 0.0, row), np.isneginf(row).astype(np.int64))]
        beta, u = row, parent
        while u >= 0:
            new = self._told(beta)
            below = found[-1][0]
            old = self._message[below] if below < len(self._parent) else np.zeros_like(new)
            gone, was = np.isneginf(new), np.isneginf(old)
            total = self._sum[u] + np.where(gone, 0.0, new) - np.where(was, 0.0, old)
            ruled_out = self._ruled_out[u] + gone - was
            beta = np.where(ruled_out > 0, -np.inf, total)
            found.append((u, beta, total, ruled_out))
            u = self._parent[u]
        return found

    def _add(
        self, parent: int, row: Floats, depth: int, changes: list[tuple[int, Floats, Floats, NDArray[np.int64]]]
    ) -> None:
        self._parent.append(parent)
        self._depth.append(depth)
        self._deepest = max(self._deepest, depth)
        self._evidence.append(row)
        for column in (self._sum, self._message):
            column.append(row)
        self._ruled_out.append(changes[0][3])
        for u, beta, total, ruled_out in changes:
            self._sum[u], self._ruled_out[u], self._message[u] = total, ruled_out, self._told(beta)

    def _told(self, beta: Floats) -> Floats:
        """Log of sum_m a^km beta(m): what a node tells its parent."""
        told: Floats = np.logaddexp.reduce(self._log_transition + beta, axis=1)
        return told

    def _path(self, parent: int, row: Floats) -> Floats:
        """Log P(pages from the root to this one | C_root)."""
        beta, u = row, parent
        while u >= 0:
            beta, u = self._evidence[u] + self._told(beta), self._parent[u]
        return beta


@dataclass(frozen=True, slots=True, eq=False)
class Pruned:
    """What pruning a whole tree left: pages that were `read`, those of them that were `kept`, P(C | T) at the end."""

    read: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    posterior: Floats


def prune(forest: Forest, parameters: TreeParameters, rule: Rule) -> Pruned:
    """Offer the pages of one tree in their order, breadth-first as a crawler reads; below one not kept none is read."""
    if len(forest.roots) != 1:
        raise InputError(f"{len(forest.roots)} trees: expected the page tree of one site")
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
    """Probabilities in the proportion of these; zeros where all are ruled out."""
    largest = logarithms.max()
    if np.isneginf(largest):
        return np.zeros_like(logarithms)
    found = np.exp(logarithms - largest)
    shares: Floats = found / found.sum()
    return shares
