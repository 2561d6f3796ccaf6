"""Votes of the nearest training sites, for the methods that compare sites with sites."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NEAREST", "votes"]

NEAREST = 3
"""Training sites that vote."""

Floats = NDArray[np.float64]


def votes(likeness: Floats, topic: NDArray[np.int64], topics: int, nearest: int) -> Floats:
    """The share of each topic in the votes of the nearest sites, each voting as much as it is alike.

    Where nothing is alike all topics have the same share. Of sites alike the first ones vote.
    """
    chosen = np.argsort(-likeness, kind="stable")[:nearest]
    given = np.bincount(topic[chosen], np.maximum(likeness[chosen], 0.0), topics).astype(np.float64)
    total = given.sum()
    return given / total if total > 0 else np.full(topics, 1 / topics)
