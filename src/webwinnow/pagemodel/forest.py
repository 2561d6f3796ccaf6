"""`Forest`: boosted oblivious trees as read-only arrays, and the scores they give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow.pagemodel._scoring import forest_sums
from webwinnow.pagemodel.schema import MOST_LEVELS

LEAF_SCALE = 8192.0
"""Leaves are integers over this: sums do not depend on their order."""


def sigmoid(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logits as probabilities, rounded to 1e-6: they are compared later."""
    probability: NDArray[np.float64] = np.round(1.0 / (1.0 + np.exp(-np.clip(logit, -30.0, 30.0))), 6)
    return probability


def log_odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities as log odds, finite."""
    p = np.clip(probability, 1e-6, 1.0 - 1e-6)
    odds: NDArray[np.float64] = np.log(p / (1.0 - p))
    return odds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forest:
    """Trees whose levels each ask one question: `feature[t, d]` above `border[t, d]`? The answers number the leaf.

    `leaves` has one column of leaves a tree, or for several outputs (`outputs`) one such array each.
    """

    feature: NDArray[np.int16]
    border: NDArray[np.float32]
    leaves: NDArray[np.int16]
    bias: NDArray[np.float64]

    def logits(self, columns: NDArray[np.float32], output: int = 0) -> NDArray[np.float64]:
        """The score of each column of features."""
        sums = forest_sums(columns, self.feature, self.border, self.leaves[output])
        scores: NDArray[np.float64] = sums / LEAF_SCALE + self.bias[output]
        return scores

    def logits_of(self, row: NDArray[np.float32]) -> NDArray[np.float64]:
        """All outputs for one row of features."""
        leaf = ((row[self.feature] > self.border) << np.arange(self.feature.shape[1])).sum(axis=1)
        sums = self.leaves[:, np.arange(len(leaf)), leaf].sum(axis=1, dtype=np.int64)
        scores: NDArray[np.float64] = sums / LEAF_SCALE + self.bias
        return scores

    def fits(self, features: int) -> bool:
        """Whether the arrays belong together and ask only for features that there are."""
        if not (self.feature.ndim == self.border.ndim == 2 and self.leaves.ndim == 3 and self.bias.ndim == 1):
            return False
        trees, levels = self.feature.shape
        return (
            levels <= MOST_LEVELS
            and self.border.shape == (trees, levels)
            and self.leaves.shape == (len(self.bias), trees, 1 << levels)
            and self.feature.dtype == self.leaves.dtype == np.dtype(np.int16)
            and self.border.dtype == np.dtype(np.float32)
            and bool(np.all((self.feature >= 0) & (self.feature < features)))
            and bool(np.isfinite(self.border).all() and np.isfinite(self.bias).all())
        )
