"""`TreeParameters`: the model lambda = (pi, A, B) of Sites 3.1, and where learning starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webwinnow.errors import SettingsError

__all__ = ["TreeParameters"]

SUM_TOLERANCE = 1e-6
"""Rows of probabilities may miss 1 by this much; they are then divided by their sum."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, init=False, eq=False)
class TreeParameters:
    """lambda of Sites 3.1. `root` is pi_k; `transition[r, m]` is a^rm = P(C_u = m | C_parent(u) = r), one matrix for
    all nodes; `emission[k, s]` is b_k(s) = P(W_u = s | C_u = k), without columns where no symbols are observed.
    """

    root: Floats
    transition: Floats
    emission: Floats

    def __init__(self, *, root: ArrayLike, transition: ArrayLike, emission: ArrayLike | None = None) -> None:
        states = len(np.atleast_1d(np.asarray(root)))
        shapes = {"root": (states,), "transition": (states, states), "emission": (states, -1)}
        given = {
            "root": root,
            "transition": transition,
            "emission": np.zeros((states, 0)) if emission is None else emission,
        }
        for name, rows in given.items():
            found = np.array(rows, np.float64, order="C")
            wanted = shapes[name]
            if found.ndim != len(wanted) or len(found) != states or (wanted[-1] >= 0 and found.shape != wanted):
                raise SettingsError(f"{name} of shape {found.shape} for {states} states")
            total = found.sum(axis=-1, keepdims=True)
            if found.size and not ((found >= 0).all() and (abs(total - 1.0) <= SUM_TOLERANCE).all()):
                raise SettingsError(f"{name} holds rows that are no probabilities: expected 0 or more with the sum 1")
            found = found / total if found.size else found
            found.flags.writeable = False
            object.__setattr__(self, name, found)
        if not states:
            raise SettingsError("a model without states: expected one or more")

    @property
    def states(self) -> int:
        """K, the number of states."""
        return len(self.root)

    @property
    def symbols(self) -> int:
        """The number of symbols; 0 where none are observed."""
        return int(self.emission.shape[1])

    @classmethod
    def random(cls, states: int, symbols: int, chance: np.random.Generator) -> Self:
        """Any parameters, each row of probabilities as likely as any other."""
        return cls(
            root=chance.dirichlet(np.ones(states)),
            transition=chance.dirichlet(np.ones(states), states),
            emission=chance.dirichlet(np.ones(symbols), states) if symbols else None,
        )

    @classmethod
    def uniform(cls, states: int, symbols: int) -> Self:
        """All states and symbols alike."""
        return cls(
            root=np.full(states, 1 / states),
            transition=np.full((states, states), 1 / states),
            emission=np.full((states, symbols), 1 / symbols) if symbols else None,
        )
