"""`Forest`: trees as one array of parents with observations at their nodes. `TreeParameters`: the model lambda."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webwinnow.errors import InputError, SettingsError
from webwinnow.storage.arrays import Held, checked, frozen

UNSEEN = -1
"""The symbol of a node without observation."""
HIDDEN = -1
"""The known state of a node whose state is not known."""
SUM_TOLERANCE, ROUNDING = 1e-6, 1e-12
"""Rows of probabilities may differ from a sum of 1 by the first; beyond the second they are divided by their sum."""

Floats = NDArray[np.float64]
FOREST = {
    "parent": Held(("nodes",), np.int32, low=-1),
    "symbols": Held(("nodes",), np.int32, low=UNSEEN, high=np.iinfo(np.int32).max),
    "evidence": Held(("nodes", "states"), low=-np.inf, high=np.finfo(np.float64).max),
}
EVIDENCE = {
    "posteriors": Held(("nodes", "classes"), high=np.finfo(np.float64).max),
    "prior": Held(("classes",), low=np.finfo(np.float64).tiny, high=np.finfo(np.float64).max),
}
PARAMETERS = {
    "root": Held(("states",)),
    "transition": Held(("states", "states")),
    "emission": Held(("states", "symbols")),
}
Known = ArrayLike | None
"""The known state of each node, HIDDEN where it is not known; None if no state is known."""


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Forest:
    """Trees over nodes 0, 1, 2 and so on: `parent[u]` is the parent of node u, -1 at a root, parents before children.

    The observation at a node, W_u of the paper, is a symbol (`symbols`, UNSEEN where there is none), or a row of
    log P(W_u | C_u = k) up to a constant (`evidence`, see `soft_evidence`; a row of zeros is no observation), or both,
    which are then independent given the state.
    """

    parent: NDArray[np.int32]
    symbols: NDArray[np.int32] | None
    evidence: Floats | None

    def __init__(self, parent: ArrayLike, symbols: ArrayLike | None = None, evidence: ArrayLike | None = None) -> None:
        columns = {"parent": parent, "symbols": symbols, "evidence": evidence}
        given = {name: np.asarray(column, order="C") for name, column in columns.items() if column is not None}
        try:
            found = checked(given, {name: FOREST[name] for name in given}, casting="same_kind")
        except ValueError as error:
            raise InputError(f"no forest: {error}") from None
        if (found["parent"] >= np.arange(len(found["parent"]))).any():
            raise InputError("a parent comes after its child: put parents before their children")
        for name in FOREST:
            object.__setattr__(self, name, found.get(name))

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def roots(self) -> NDArray[np.int64]:
        """The root of each tree."""
        return np.flatnonzero(self.parent < 0)

    @property
    def tree(self) -> NDArray[np.int64]:
        """The number of each node's tree, in the order of the roots."""
        found = (np.cumsum(self.parent < 0) - 1).tolist()
        for u, above in enumerate(self.parent.tolist()):
            if above >= 0:
                found[u] = found[above]
        return np.array(found, np.int64)

    def at(self, nodes: NDArray[Any]) -> Self:
        """The forest of some nodes, in ascending order; children of a node that is left out become roots."""
        place = np.full(len(self) + 1, -1, np.int32)  # the last is the place of parent -1
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
        return type(self)(
            place[self.parent[nodes]],
            None if self.symbols is None else self.symbols[nodes],
            None if self.evidence is None else self.evidence[nodes],
        )

    @classmethod
    def join(cls, forests: Sequence[Forest]) -> Self:
        """The trees of several forests in one, in order. All must have symbols or none; the same for evidence."""
        firsts = np.cumsum([0, *map(len, forests)])
        parents = [
            np.where(forest.parent < 0, -1, forest.parent + first)
            for forest, first in zip(forests, firsts[:-1].tolist(), strict=True)
        ]
        symbols = [forest.symbols for forest in forests if forest.symbols is not None]
        evidence = [forest.evidence for forest in forests if forest.evidence is not None]
        return cls(
            np.concatenate([np.zeros(0, np.int32), *parents]),
            np.concatenate(symbols) if symbols else None,
            np.concatenate(evidence) if evidence else None,
        )


def soft_evidence(posteriors: ArrayLike, prior: ArrayLike | None = None, *, floor: float = 0.0) -> Floats:
    """Class posteriors of a text classifier as evidence: log P(W_u | C_u = k) = log P(k | W_u) / P(k) + constant.

    By Bayes' rule, as in Sites (9). `prior` is the class prior that the classifier was trained with; None for equal
    classes. A row of NaN is a node without observation. A posterior of 0 rules the class out: set a `floor`, the least
    posterior, for classifiers that often return 0, such as k nearest neighbours.
    """
    given = np.array(posteriors, np.float64)
    unseen = np.isnan(given).all(axis=-1)
    given[unseen] = 1.0
    try:
        before = np.ones(given.shape[-1]) if prior is None else prior
        rows = checked({"posteriors": given, "prior": before}, EVIDENCE, casting="same_kind")
    except ValueError as error:
        raise InputError(f"no evidence: {error}") from None
    if not 0 <= floor < 1:
        raise InputError(f"floor {floor}: expected from 0 to below 1")
    with np.errstate(divide="ignore"):
        evidence: Floats = np.log(np.maximum(rows["posteriors"], floor)) - np.log(rows["prior"])
    evidence[unseen] = 0.0
    return evidence


@dataclass(frozen=True, slots=True, init=False, eq=False)
class TreeParameters:
    """lambda of Sites 3.1. `root` is pi_k; `transition[r, m]` is a^rm = P(C_u = m | C_parent(u) = r), one matrix for
    all nodes; `emission[k, s]` is b_k(s) = P(W_u = s | C_u = k), without columns if no symbols are observed.
    """

    root: Floats
    transition: Floats
    emission: Floats

    def __init__(self, *, root: ArrayLike, transition: ArrayLike, emission: ArrayLike | None = None) -> None:
        shown = np.zeros((len(np.asarray(root)), 0)) if emission is None else emission
        given = {"root": root, "transition": transition, "emission": shown}
        try:
            rows = checked(
                {name: np.asarray(row, order="C") for name, row in given.items()}, PARAMETERS, casting="same_kind"
            )
        except ValueError as error:
            raise SettingsError(f"no model: {error}") from None
        for name, found in rows.items():
            total = found.sum(axis=-1, keepdims=True)
            has_rows = name != "emission" or found.shape[1] > 0
            if has_rows and (not found.size or (abs(total - 1.0) > SUM_TOLERANCE).any()):
                raise SettingsError(f"{name} has rows that are no probabilities: expected a sum of 1")
            is_rounded = has_rows and (abs(total - 1.0) > ROUNDING).any()  # else a file would not come back the same
            object.__setattr__(self, name, frozen(found / total) if is_rounded else found)

    @property
    def states(self) -> int:
        """K, the number of states."""
        return len(self.root)

    @property
    def symbols(self) -> int:
        """The number of symbols; 0 if none are observed."""
        return int(self.emission.shape[1])

    @classmethod
    def random(cls, states: int, symbols: int, chance: np.random.Generator) -> Self:
        """Random parameters, each row of probabilities from the uniform Dirichlet distribution."""
        return cls(
            root=chance.dirichlet(np.ones(states)),
            transition=chance.dirichlet(np.ones(states), states),
            emission=chance.dirichlet(np.ones(symbols), states) if symbols else None,
        )

    @classmethod
    def uniform(cls, states: int, symbols: int) -> Self:
        """Equal probabilities of all states and symbols."""
        return cls(
            root=np.full(states, 1 / states),
            transition=np.full((states, states), 1 / states),
            emission=np.full((states, symbols), 1 / symbols) if symbols else None,
        )
