"""The importance of elements and features: thesis equations 5-1 to 5-10, one function each, over arrays.

Symbols: `m` tag nodes (pages) with an element, `counts` how many of them use each presentation style, so
p_i = counts_i / m; F and L the sums of a feature (see `styletree`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.site.styletree import L_SCALE

ATTENUATION = 0.9
"""Gamma of equation 5-2, the published value."""

Floats = NDArray[np.float64]


def node_importance(
    counts: NDArray[np.int64], element: NDArray[np.int64], m: NDArray[np.int64], *, alone: float
) -> Floats:
    """NodeImp (5-1, 5-6): -sum p_i log_m p_i over the styles of each element; `alone` for an element seen once.

    `element[i]` is the element that style i belongs to. Seen once: 1 in 5-1 and in Weights eq. 1, 0 in 5-6.
    """
    p = counts / m[element]
    entropy = np.zeros(len(m))
    np.add.at(entropy, element, -p * np.log2(p))
    return np.where(m > 1, entropy / np.log2(np.maximum(m, 2)), alone)


def feature_entropy(total: NDArray[np.int64], scaled: NDArray[np.int64], m: NDArray[np.int64]) -> Floats:
    """H(a) (5-5, 5-8) = -sum_j p_j log_m p_j with p_j = f_j / F, from F and L: (log F - L / F) / log m; 0 for m = 1."""
    entropy = (np.log2(total) - scaled / L_SCALE / total) / np.log2(np.maximum(m, 2))
    return np.where(m > 1, np.clip(entropy, 0.0, 1.0), 0.0)


def leaf_importance(entropy: Floats, leaf: NDArray[np.int64], leaves: int) -> Floats:
    """CompImp of SST leaves (5-4) and NodeImp of CST leaves (5-7): 1 - mean H(a); 0 for a leaf without features."""
    features = np.bincount(leaf, minlength=leaves)
    summed = np.bincount(leaf, weights=entropy, minlength=leaves)
    return np.where(features > 0, 1 - summed / np.maximum(features, 1), 0.0)


def style_importance(composite: Floats, has_features: NDArray[np.bool_]) -> float:
    """CompImp of a style node (5-3): the mean over its element nodes; leaves without features do not count in k."""
    counted = composite[has_features]
    return float(counted.mean()) if len(counted) else 0.0


def composite_importance(
    node: float, counts: NDArray[np.int64], styles: Floats, attenuation: float = ATTENUATION
) -> float:
    """CompImp of an internal element (5-2): (1 - gamma^l) NodeImp + gamma^l sum p_i CompImp(S_i)."""
    if not len(counts):
        return node
    attenuated = attenuation ** len(counts)
    return float((1 - attenuated) * node + attenuated * (counts / counts.sum() * styles).sum())


def path_importance(node: Floats, parent: NDArray[np.int32]) -> Floats:
    """PathImp (5-9): 1 - product of (1 - NodeImp) from the root down to each element; parents are before children."""
    left = 1 - node
    for i in range(1, len(node)):
        left[i] *= left[parent[i]]
    return 1 - left


def feature_weight(path: Floats, entropy: Floats) -> Floats:
    """w_E(a) = PathImp(E) (1 - H_E(a)) (5-10, without the frequency of the feature on the page)."""
    return path * (1 - entropy)
