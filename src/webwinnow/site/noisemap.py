"""Noise in a site style tree (thesis 4.2.2 to 4.2.5): importance, noisy and meaningful elements, mapping of pages.

Both the published tree (`SST_CUT`) and the aligned one (`ALIGNED_CUT`) are measured and marked here. They differ in how
a page is mapped: see `SstMap` and `AlignedMap`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow.page._nodes import nearest, topmost
from webwinnow.page.tree import PageTree
from webwinnow.site._styles import Pairs
from webwinnow.site.alignedtree import AlignedMap
from webwinnow.site.importance import (
    ATTENUATION,
    composite_importance,
    feature_entropy,
    leaf_importance,
    node_importance,
    style_importance,
)
from webwinnow.site.mapping import NOWHERE, SiteMap
from webwinnow.site.sitetree import SiteTree
from webwinnow.site.styletree import ALIGNED_CUT, INTERNAL, LEAF, OUTSIDE, PageElements, elements_of_page

KEPT_MARKS = 64
DECIMALS = 9
"""Importances and entropies are rounded to these before they are compared: L is stored in units of 2^-32."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseSettings:
    """`attenuation` is gamma of equation 5-2. `epsilon` of 4.2.5: a feature with 1 - H below it is locally noisy.

    The thesis has "entropy smaller than 0.01", but entropy is high for what every page repeats, so 1 - H is meant.
    """

    attenuation: float = ATTENUATION
    epsilon: float = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Importance:
    """CompImp of each element, which elements have a feature at or below them, and H(a) of each feature row."""

    composite: NDArray[np.float64]
    speaks: NDArray[np.bool_]
    entropy: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Per element: noisy, meaningful."""

    noisy: NDArray[np.bool_]
    meaningful: NDArray[np.bool_]


def importance_of(site: SiteTree, attenuation: float = ATTENUATION) -> Importance:
    """CalcCompImp: equations 5-1 to 5-5 over a finished SST, bottom-up."""
    leaf = site.feature_element
    entropy = feature_entropy(site.total, site.entropy_sum, site.m[leaf])
    composite = leaf_importance(entropy, leaf, len(site))
    node = node_importance(site.style_count, site.style_element, site.m, alone=1.0)
    speaks = np.bincount(leaf, minlength=len(site)) > 0
    for i in range(len(site) - 1, 0, -1):
        speaks[site.parent[i]] |= speaks[i]
    styles = np.searchsorted(site.style_element, np.arange(len(site) + 1))
    paths = np.searchsorted(site.path_element, np.arange(len(site) + 1))
    for i in range(len(site) - 1, -1, -1):
        if site.kind[i] != INTERNAL:
            continue
        counts = site.style_count[styles[i] : styles[i + 1]]
        sequences = site.style_sequence[styles[i] : styles[i + 1]]
        down = slice(int(paths[i]), int(paths[i + 1]))
        in_style = site.path_position[down] >= 0
        children = site.path_child[down][in_style]
        children_in = site.path_sequence[down][in_style]
        of_styles = np.array(
            [
                style_importance(composite[below], speaks[below])
                for below in (children[children_in == sequence] for sequence in sequences)
            ]
        )
        composite[i] = composite_importance(float(node[i]), counts, of_styles, attenuation)
    return Importance(np.round(composite, DECIMALS), speaks, np.round(entropy, DECIMALS))


def mark(site: SiteTree, importance: Importance, threshold: float) -> Marks:
    """MarkNoise and MarkMeaningful, both visiting all children (Figure 4-5 stops at the first that is not noisy).

    Noisy: importance <= threshold here and everywhere below. Meaningful: nothing noisy at or below. Elements without
    any feature speak for neither side.
    """
    small = importance.composite <= threshold
    noisy, spotless = small.copy(), np.ones(len(site), np.bool_)
    features = importance.speaks
    spotless[(site.kind == LEAF) & small & features] = False
    for i in range(len(site) - 1, 0, -1):
        up = site.parent[i]
        if features[i]:
            noisy[up] &= noisy[i]
            spotless[up] &= spotless[i]
    noisy &= features
    return Marks(noisy, spotless & ~noisy & features)


def noisy_from(site: SiteTree, importance: Importance) -> NDArray[np.float64]:
    """The lowest threshold at which `mark` finds each element noisy: the highest importance at or below it.

    Infinity for elements without any feature, which are never noisy.
    """
    highest: list[float] = np.where(importance.speaks, importance.composite, -np.inf).tolist()
    parent: list[int] = site.parent.tolist()
    for i in range(len(site) - 1, 0, -1):
        highest[parent[i]] = max(highest[parent[i]], highest[i])
    return np.where(importance.speaks, highest, np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """A page mapped to a site style tree (MapSST, Figure 4-7).

    `element`: the element of each node, `NOWHERE` where the tree has none. For each node, `noisy`: the element that
    decides about its own content is noisy; `unmatched`: it is not in the tree. `dull`: for each occurrence of a feature
    (`page_features`, words first) whether it is locally noisy in its leaf (4.2.5); `owner`: the node that contains it.
    """

    element: NDArray[np.int32]
    noisy: NDArray[np.bool_]
    unmatched: NDArray[np.bool_]
    dull: NDArray[np.bool_]
    owner: NDArray[np.int32]

    def dull_runs(self, runs: NDArray[np.int32], count: int) -> NDArray[np.bool_]:
        """Of `count` runs those with words, all of which are locally noisy; `runs` are the runs of the page's words."""
        words = np.bincount(runs, minlength=count)
        dull: NDArray[np.bool_] = (words > 0) & (np.bincount(runs[self.dull[: len(runs)]], minlength=count) == words)
        return dull


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """For each text run of a page the lowest known element on its path (or `NOWHERE`), and the lowest threshold at
    which the run is noisy, infinity where it never is.
    """

    element: NDArray[np.int32]
    noisy_from: NDArray[np.float64]


class SstMap(SiteMap):
    """The paths of the published tree. A child is mapped only if its parent's whole sequence of children is known."""

    def __init__(self, site: SiteTree) -> None:
        super().__init__(site)
        self.styles = Pairs(site.style_element.astype(np.uint64), site.style_sequence)

    def own_leaves(self, found: NDArray[np.int32], cutting: PageElements) -> NDArray[np.int32]:
        """The `#text` leaf of each node's element.

        `NOWHERE` for a node whose sequence of children its element does not have: all its content is possibly
        meaningful, the text directly inside as well (Figure 4-7, lines 17 and 18).
        """
        rows = self.styles.rows(found.astype(np.uint64), cutting.sequence)
        return np.where(rows >= 0, self.text_leaf[found], np.int32(NOWHERE))


class NoiseMap:
    """A finished SST with its importance, for mapping pages at any threshold."""

    def __init__(self, site: SiteTree, settings: NoiseSettings | None = None) -> None:
        settings = settings or NoiseSettings()
        self.site = site
        self.map = AlignedMap(site) if site.cut == ALIGNED_CUT else SstMap(site)
        self.importance = importance_of(site, settings.attenuation)
        dull = 1 - self.importance.entropy < settings.epsilon
        self.dull = Pairs(site.feature_element[dull].astype(np.uint64), site.feature[dull])
        self.marks: dict[float, Marks] = {}
        self.noisy_from = noisy_from(site, self.importance)

    def marked(self, threshold: float) -> Marks:
        """The marks at a threshold; those of recent thresholds are cached."""
        found = self.marks.get(threshold)
        if found is None:
            found = mark(self.site, self.importance, threshold)
            if len(self.marks) >= KEPT_MARKS:  # another thread may do the same
                self.marks.clear()
            self.marks[threshold] = found
        return found

    def lay(self, tree: PageTree, threshold: float) -> Mapped:
        """MapSST: the highest noisy or meaningful element on the path to a node decides about its content.

        So does the first node that is not in the tree, whose contents may be meaningful. The `#text` leaf of an element
        decides about the content directly inside.
        """
        marks = self.marked(threshold)
        cutting = elements_of_page(tree, self.site.cut)
        inside = cutting.kind != OUTSIDE
        element, leaf = self._located(tree, cutting)
        noisy = _of(marks.noisy, element)
        judge = topmost(tree.parent, inside & ((element == NOWHERE) | noisy | _of(marks.meaningful, element)))
        around = nearest(tree.parent, inside)
        by = judge[around]
        return Mapped(
            element,
            np.where(by >= 0, noisy[by], _of(marks.noisy, leaf[around])),
            np.where(by >= 0, element[by] == NOWHERE, leaf[around] == NOWHERE),
            self.dull.rows(leaf[cutting.leaf_node].astype(np.uint64), cutting.feature) >= 0,
            cutting.owner,
        )

    def trace(self, tree: PageTree) -> Traced:
        """The results of `lay` for all thresholds at once.

        No element on a path with a noisy one is meaningful, since a meaningful element has nothing noisy below. So a
        run is noisy from the lowest threshold at which one of its path is.
        """
        cutting = elements_of_page(tree, self.site.cut)
        inside = cutting.kind != OUTSIDE
        element, leaf = self._located(tree, cutting)
        of_elements = np.append(self.noisy_from, np.inf)  # the last entry is for `NOWHERE`
        lowest: list[float] = of_elements[element].tolist()
        for i, parent in enumerate(tree.parent[1:].tolist(), start=1):
            lowest[i] = min(lowest[i], lowest[parent])
        owner = nearest(tree.parent, inside)[tree.run_owner]
        known = nearest(tree.parent, inside & (element != NOWHERE))[owner]
        reached = np.where(known >= 0, element[known], NOWHERE)
        return Traced(
            element=np.where(leaf[owner] != NOWHERE, leaf[owner], reached).astype(np.int32),
            noisy_from=np.minimum(np.array(lowest)[owner], of_elements[leaf[owner]]),
        )

    def _located(self, tree: PageTree, cutting: PageElements) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The element of each node, and the leaf of its own content: itself, or the `#text` leaf below."""
        element = self.map.locate(tree, cutting)
        return element, np.where(cutting.kind == INTERNAL, self.map.own_leaves(element, cutting), element)


def _of(marks: NDArray[np.bool_], element: NDArray[np.int32]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (element != NOWHERE) & marks[element]
    return found


LONG_TEXT = 20
"""Average features per page in a leaf with a long text."""
VARIES = 0.5
"""Leaves of at most this importance are fixed text, however long; unless the site has no other."""
LEVEL = 0.3
"""The share of the words of long texts that is below the level of new text."""
MARGIN = 1.6
"""How many times further from 1 than that level the threshold is. `LONG_TEXT`, `LEVEL` and `MARGIN` were chosen on
`sites-news`; a wide range of values works (`benchmarks/run.py sst` shows the thresholds around)."""
HIGHEST = 0.95
"""The highest threshold, for sites whose long texts share no word and have importance 1 themselves."""


def choose_threshold(site: SiteTree, importance: Importance) -> float:
    """The importance up to which an element is noise, between 0 and `HIGHEST`, from the site itself.

    A site writes its long texts anew for each page. Their importance shows how far below 1 new text is on this site,
    since its common words recur on every page; elements that are clearly further below 1 are noise.
    """
    words = np.bincount(site.feature_element, weights=site.total, minlength=len(site))
    varies = (site.kind == LEAF) & (words > 0) & (importance.composite > 0)
    long = varies & (words >= LONG_TEXT * site.m) & (importance.composite > VARIES)
    texts = long if long.any() else varies
    if not texts.any():
        return 0.0
    order = np.lexsort((words[texts], importance.composite[texts]))
    below = np.cumsum(words[texts][order])
    level = importance.composite[texts][order][np.searchsorted(below, LEVEL * below[-1])]
    return round(min(max(0.0, 1 - MARGIN * (1 - float(level))), HIGHEST), 6)
