"""Noise in a site style tree (thesis 4.2.2, 4.2.3): composite importance, noisy and meaningful elements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import INTERNAL, LEAF
from webwinnow.site.finish import SiteTree
from webwinnow.site.importance import (
    composite_importance,
    feature_entropy,
    leaf_importance,
    node_importance,
    style_importance,
)

__all__ = ["Importance", "Marks", "importance_of", "mark"]


@dataclass(frozen=True, slots=True, eq=False)
class Importance:
    """CompImp of each element, which elements say anything, and H(a) of each feature row (NaN above the leaves)."""

    composite: NDArray[np.float64]
    speaks: NDArray[np.bool_]
    entropy: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Per element: noisy, meaningful; the maximal ones are those whose parent is not."""

    noisy: NDArray[np.bool_]
    meaningful: NDArray[np.bool_]

    def maximal(self, parent: NDArray[np.int32]) -> Marks:
        """The maximal noisy and maximal meaningful elements: where MapSST stops going down (Figure 4-6)."""
        above = np.maximum(parent, 0)
        is_root = parent < 0
        return Marks(self.noisy & (is_root | ~self.noisy[above]), self.meaningful & (is_root | ~self.meaningful[above]))


def importance_of(site: SiteTree) -> Importance:
    """CalcCompImp: equations 5-1 to 5-5 over a finished SST, bottom-up."""
    at_leaf = site.kind[site.feature_element] == LEAF
    entropy = np.full(len(site.feature), np.nan)
    leaf = site.feature_element[at_leaf]
    entropy[at_leaf] = feature_entropy(site.total[at_leaf], site.entropy_sum[at_leaf], site.m[leaf])
    composite = leaf_importance(entropy[at_leaf], leaf, len(site))
    node = node_importance(site.style_count, site.style_element, site.m, alone=1.0)
    features = np.bincount(site.feature_element, minlength=len(site))
    speaks = (features > 0) | (site.kind == INTERNAL)
    styles = np.searchsorted(site.style_element, np.arange(len(site) + 1))
    ways = np.searchsorted(site.way_element, np.arange(len(site) + 1))
    for i in range(len(site) - 1, -1, -1):
        if site.kind[i] != INTERNAL:
            continue
        counts = site.style_count[styles[i] : styles[i + 1]]
        sequences = site.style_sequence[styles[i] : styles[i + 1]]
        ways_down = slice(int(ways[i]), int(ways[i + 1]))
        in_style = site.way_position[ways_down] >= 0
        children = site.way_child[ways_down][in_style]
        children_in = site.way_sequence[ways_down][in_style]
        of_styles = np.array(
            [
                style_importance(composite[below], speaks[below])
                for below in (children[children_in == sequence] for sequence in sequences)
            ]
        )
        composite[i] = composite_importance(float(node[i]), counts, of_styles)
    return Importance(composite, speaks, entropy)


def mark(site: SiteTree, importance: Importance, threshold: float) -> Marks:
    """MarkNoise and MarkMeaningful, both visiting all children (Figure 4-5 stops at the first that is not noisy).

    Noisy: importance <= threshold here and everywhere below. Meaningful: nothing noisy at or below. Elements without
    any feature speak for neither side.
    """
    small = importance.composite <= threshold
    noisy, spotless = small.copy(), np.ones(len(site), np.bool_)
    features = np.bincount(site.feature_element, minlength=len(site)) > 0
    spotless[(site.kind == LEAF) & small & features] = False
    for i in range(len(site) - 1, 0, -1):
        up = site.parent[i]
        if features[i]:
            noisy[up] &= noisy[i]
            spotless[up] &= spotless[i]
    noisy &= features
    return Marks(noisy, spotless & ~noisy & features)
