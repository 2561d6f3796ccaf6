"""Feature weights from the compressed structure tree (thesis 4.3.2, 4.3.3; Weights section 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow._words import word_spans
from webwinnow.pagetree import PageTree
from webwinnow.site._styles import Pairs, sums_by_key
from webwinnow.site.importance import feature_entropy, feature_weight, leaf_importance, node_importance, path_importance
from webwinnow.site.mapping import SiteMap
from webwinnow.site.sitetree import SiteTree
from webwinnow.site.styletree import INTERNAL, LEAF, Keys, PageElements, elements_of_page

MEANINGLESS = 0.01
"""Features below this weight are not output (m of 4.3.3; ours, the thesis gives no value)."""
INFORMATIVE = 0.2
"""Features of at least this weight count in full when a page is mapped (u of 4.3.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CstWeightSettings:
    """`mapped`: weights of MapCST (4.3.3) rather than exact ones (5-10). `alone`: NodeImp of an element seen once."""

    mapped: bool = False
    alone: float = 0.0


class FeatureWeights:
    """The weights w_E(a) of a site's features in its leaves, for weighting pages."""

    def __init__(self, site: SiteTree, settings: CstWeightSettings | None = None) -> None:
        self.settings = settings or CstWeightSettings()
        self.cut = site.cut
        self.map = SiteMap(site)
        at_leaf = site.kind[site.feature_element] == LEAF
        leaf, feature = site.feature_element[at_leaf], site.feature[at_leaf]
        entropy = feature_entropy(site.total[at_leaf], site.entropy_sum[at_leaf], site.m[leaf])
        node = np.where(
            site.kind == INTERNAL,
            node_importance(site.style_count, site.style_element, site.m, alone=self.settings.alone),
            leaf_importance(entropy, leaf, len(site)),
        )
        self.path = path_importance(node, site.parent)
        self.pairs = Pairs(leaf.astype(np.uint64), feature)
        self.weight = np.append(feature_weight(self.path[leaf], entropy), 1.0)
        """The weight of each pair of leaf and feature; the last entry is for all other pairs."""

    def weigh(self, tree: PageTree) -> tuple[Keys, NDArray[np.float64]]:
        """The features of a page and their weights, summed over the page; those of weight 0 are left out (5.3)."""
        cutting, weight = self._occurrences(tree)
        features, summed = sums_by_key(cutting.feature, weight)
        return features[summed > 0], summed[summed > 0]

    def of_words(self, tree: PageTree) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """For each visible word of a page, in page order, its run and its weight."""
        _, runs, _, _ = word_spans(tree.text, tree.run_start, tree.visible[tree.run_owner])
        return runs, self._occurrences(tree)[1][: len(runs)]

    def _occurrences(self, tree: PageTree) -> tuple[PageElements, NDArray[np.float64]]:
        """A page's elements, and the weight of each occurrence of a feature, words first."""
        cutting = elements_of_page(tree, self.cut)
        element = self.map.locate(tree, cutting)[cutting.leaf_node]
        inner = cutting.kind[cutting.leaf_node] == INTERNAL
        element = np.where(inner, self.map.text_leaf[element], element)
        return cutting, self._weights(element, cutting.feature)

    def _weights(self, element: NDArray[np.int32], feature: Keys) -> NDArray[np.float64]:
        """The weight of each occurrence; 1 where the tree has no such element or the leaf no such feature."""
        known: NDArray[np.float64] = self.weight[self.pairs.rows(element.astype(np.uint64), feature)]
        if self.settings.mapped:
            known = np.where(known < MEANINGLESS, 0.0, np.where(known < INFORMATIVE, known, 1.0))
        return known
