"""Feature weights from the compressed structure tree (thesis 4.3.2, 4.3.3; Weights section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import SettingsError
from webwinnow.page.tree import PageTree
from webwinnow.settings import Settings, share
from webwinnow.site._styles import Pairs, sums_by_key
from webwinnow.site.importance import feature_entropy, feature_weight, leaf_importance, node_importance, path_importance
from webwinnow.site.sitetree import JoinSettings, SiteTree
from webwinnow.site.structuremap import StructureMap
from webwinnow.site.styletree import INTERNAL, LEAF, Keys, page_features

MEANINGLESS = 0.01
"""Features below this weight are not output (m of 4.3.3; ours, the thesis gives no value)."""
INFORMATIVE = 0.2
"""Features of at least this weight count in full when a page is mapped (u of 4.3.3)."""

DECIMALS = 8
"""Weights are rounded, so that those of features with entropy 1 are 0: L is exact to about 1e-10 (`L_SCALE`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CstWeightSettings(Settings):
    """How features are weighted.

    - `mapped`: by MapCST (4.3.3) rather than exactly (5-10).
    - `informative`, `meaningless`: if mapped, weights from `informative` (u) on count as 1, those below `meaningless`
      (m) as 0.
    - `alone`: NodeImp of an element with one tag node: 0 in the thesis (5-6), 1 in Yi and Liu (eq. 1).
    - `gamma`, `overlap`: how the tree is learned (`JoinSettings`); a model has its own.
    """

    mapped: bool = False
    informative: Annotated[float, share("u of 4.3.3.")] = INFORMATIVE
    meaningless: Annotated[float, share("m of 4.3.3.")] = MEANINGLESS
    alone: Annotated[float, share("NodeImp of an element with one tag node.")] = 0.0
    gamma: Annotated[float, share("gamma of the tree.")] = JoinSettings().gamma
    overlap: Annotated[float, share("lambda of the tree.")] = JoinSettings().overlap

    def validate(self) -> None:
        """Raise `SettingsError` if what is meaningless would be informative."""
        if self.meaningless > self.informative:
            raise SettingsError(f"meaningless is {self.meaningless}, above informative, which is {self.informative}")

    @property
    def join(self) -> JoinSettings:
        """How the tree is learned."""
        return JoinSettings(gamma=self.gamma, overlap=self.overlap)


class FeatureWeights:
    """The weights w_E(a) of a site's features in its leaves, for weighting pages."""

    def __init__(self, site: SiteTree, settings: CstWeightSettings | None = None) -> None:
        self.settings = settings or CstWeightSettings()
        self.site = site
        self.map = StructureMap(site)
        at_leaf = site.kind[site.feature_element] == LEAF
        leaf, feature = site.feature_element[at_leaf], site.feature[at_leaf]
        entropy = feature_entropy(site.total[at_leaf], site.entropy_sum[at_leaf], site.m[leaf])
        self.node = np.where(
            site.kind == INTERNAL,
            node_importance(site.style_count, site.style_element, site.m, alone=self.settings.alone),
            leaf_importance(entropy, leaf, len(site)),
        )
        self.path = path_importance(self.node, site.parent)
        self.pairs = Pairs(leaf.astype(np.uint64), feature)
        self.weight = np.append(np.round(feature_weight(self.path[leaf], entropy), DECIMALS), 1.0)
        """The weight of each pair of leaf and feature; the last entry is for all other pairs."""

    def weigh(self, tree: PageTree) -> tuple[Keys, NDArray[np.float64]]:
        """The features of a page and their weights, summed over the page; those of weight 0 are left out (5.3)."""
        feature, _, weight = self.occurrences(tree)
        features, summed = sums_by_key(feature, weight)
        return features[summed > 0], summed[summed > 0]

    def of_words(self, tree: PageTree) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """For each visible word of a page, in page order, its run and its weight."""
        runs = tree.words.run
        return runs, self.occurrences(tree)[2][: len(runs)]

    def occurrences(self, tree: PageTree) -> tuple[Keys, NDArray[np.int32], NDArray[np.float64]]:
        """Each occurrence of a feature, words first: the feature, its leaf (`NOWHERE` outside the tree), its weight."""
        found = page_features(tree)
        leaf = self.map.leaves(tree)[found.owner]
        return found.feature, leaf, self._weights(leaf, found.feature)

    def _weights(self, element: NDArray[np.int32], feature: Keys) -> NDArray[np.float64]:
        """The weight of each occurrence; 1 where the tree has no such element or the leaf no such feature."""
        known: NDArray[np.float64] = self.weight[self.pairs.rows(element.astype(np.uint64), feature)]
        settings = self.settings
        if settings.mapped:
            known = np.where(known < settings.meaningless, 0.0, np.where(known < settings.informative, known, 1.0))
        return known
