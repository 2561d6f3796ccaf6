"""The cut: which blocks to keep so that the expected word F of the page is highest."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import best_cut as _best_cut

__all__ = ["BETA", "Favor", "best_cut", "expected_f"]

Favor = Literal["precision", "recall"]
BETA: dict[Favor | None, float] = {None: 1.0, "precision": 0.5, "recall": 2.0}
"""The beta of F-beta (van Rijsbergen 1979, chapter 7): recall counts beta times as much as precision."""


def expected_f(
    keep: NDArray[np.bool_], probability: NDArray[np.float64], words: NDArray[np.int32], beta: float = 1.0
) -> float:
    """F-beta of the expected counts: (1 + b2) TP / (kept + b2 content), with TP = sum of p w over what is kept."""
    hoped = probability * words
    below = float(words[keep].sum()) + beta * beta * float(hoped.sum())
    return (1.0 + beta * beta) * float(hoped[keep].sum()) / below if below > 0.0 else 0.0


def best_cut(
    probability: NDArray[np.float64], words: NDArray[np.int32], favor: Favor | None = None
) -> tuple[float, float]:
    """The lowest probability that stays, and the expected F of the page then.

    Of all sets of blocks the one with the highest `expected_f` holds those above some probability (the ratio of two
    sums is highest where each part lies above the ratio), so only those sets are tried. Ties go to the shorter text.
    """
    return _best_cut(
        np.ascontiguousarray(probability, np.float64), np.ascontiguousarray(words, np.int32), BETA[favor] ** 2
    )
