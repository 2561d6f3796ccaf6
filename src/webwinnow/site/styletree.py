"""The style tree of a site as integer sums (thesis 4.2.1, 4.3.1): grown page by page, merged exactly in any order.

An element is known by its key, a hash of the way that leads to it: the presentation style (the sequence of child
styles) and the position at each level. One page holds one tag node of a key at most, so `m` counts pages. Per element
the tree keeps how many tag nodes use each presentation style, and for each feature in how many tag nodes it occurs
(`df`); at the leaves also F = sum of f_j and L = sum of round(2^32 f_j log2 f_j) over the pages j. From these

    H(a) = (log F - L / F) / log m,  freq(a) = df / m

so no per-page counts are kept, and sums of integers do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import INTERNAL, LEAF, OUTSIDE, element_keys, nearest, spread
from webwinnow.errors import ModelError
from webwinnow.fingerprint import exact_fingerprint
from webwinnow.pagetree import PageTree
from webwinnow.site.features import page_features

__all__ = ["CST_CUT", "L_SCALE", "SST_CUT", "Grower", "PageElements", "StyleTree", "elements_of_page", "pair_key"]

SST_CUT = 1
"""Virtual leaves of the SST: the parents of the actual leaves (thesis 4.2.5, enhancement 2)."""
CST_CUT = 2
"""Virtual leaves of the CST: the grandparents of the actual leaves (thesis 4.3.3)."""
L_SCALE = 1 << 32
TEXT_LEAF = np.uint64(0x5DEECE66D1CE4E5B)
"""What marks the key of the `#text` leaf, which holds all text directly inside an internal element."""
ROOT_KEY = np.uint64(1)

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]


def _mixed(x: Keys) -> Keys:
    """`_kernels.mixed` over arrays."""
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> np.uint64(33))


def pair_key(one: Keys, other: Keys) -> Keys:
    """One key for each pair of keys."""
    return _mixed(_mixed(one) ^ other)


@dataclass(frozen=True, slots=True, eq=False)
class PageElements:
    """A page cut for a style tree: for each node its element key, child sequence, position and kind; and its leaves.

    `leaf_node` is the virtual leaf around each feature occurrence, or the internal element whose `#text` leaf holds it;
    `leaf_key` is that leaf's key.
    """

    key: Keys
    sequence: Keys
    position: NDArray[np.int32]
    kind: NDArray[np.uint8]
    leaf_node: NDArray[np.int32]
    leaf_key: Keys
    feature: Keys


def elements_of_page(tree: PageTree, cut: int) -> PageElements:
    """Cut a page: elements down to the virtual leaves, features gathered at these."""
    key, sequence, position, kind = element_keys(tree.parent, tree.style, tree.visible, cut)
    found = page_features(tree)
    leaf_node = nearest(tree.parent, kind != OUTSIDE)[found.owner]
    return PageElements(key, sequence, position, kind, leaf_node, leaf_keys(key, kind)[leaf_node], found.feature)


def leaf_keys(key: Keys, kind: NDArray[np.uint8]) -> Keys:
    """The key of the leaf that holds text of each node: its own, or that of its `#text` leaf."""
    return np.where(kind == INTERNAL, _mixed(key ^ TEXT_LEAF), key)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StyleTree:
    """A raw style tree: elements, their styles, their features, each sorted by key."""

    cut: int
    pages: Keys
    """Fingerprints of the pages, ascending."""
    key: Keys
    parent: Keys
    """Key of the element above; 0 for the root."""
    way: Keys
    """Sequence of the parent's style that the element stands in."""
    style: Keys
    """Style hash of the element itself: (TAG, Attr); 0 for a `#text` leaf."""
    shape: Keys
    """Shape hash of the element itself: tag and role; 0 for a `#text` leaf."""
    position: NDArray[np.int32]
    kind: NDArray[np.uint8]
    m: Counts
    style_element: Keys
    style_sequence: Keys
    style_m: Counts
    feature_element: Keys
    feature: Keys
    df: Counts
    total: Counts
    """F, 0 where the element is no leaf."""
    entropy_sum: Counts
    """L, in units of 2^-32."""

    @classmethod
    def grow(cls, trees: Iterable[PageTree], cut: int) -> StyleTree:
        """Grow from pages; choose them first (`site.choose`)."""
        rows = _Rows()
        for tree in trees:
            rows.add_page(tree, cut)
        if not rows.pages:
            raise ModelError("there are no pages to learn from")
        return rows.summed(cut)

    @classmethod
    def merge(cls, trees: Iterable[StyleTree]) -> StyleTree:
        """Add up trees over disjoint pages, exactly, in any order. Raises `ModelError` where they share a page."""
        parts = list(trees)
        if len({part.cut for part in parts}) != 1:
            raise ModelError("style trees of different cuts, or none, cannot be merged")
        pages = np.concatenate([part.pages for part in parts])
        if len(np.unique(pages)) < len(pages):
            raise ModelError("the style trees share pages; each page may be learned once")
        rows = _Rows()
        for part in parts:
            rows.add_tree(part)
        return rows.summed(parts[0].cut)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StyleTree) and all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]


class Grower:
    """Style trees of one site, grown page by page, one for each cut."""

    def __init__(self, *cuts: int) -> None:
        self.rows = {cut: _Rows() for cut in cuts}

    def add(self, tree: PageTree) -> None:
        """Add one page."""
        for cut, rows in self.rows.items():
            rows.add_page(tree, cut)

    def tree(self, cut: int) -> StyleTree:
        """The tree of one cut over the pages so far."""
        return self.rows[cut].summed(cut)


_ELEMENT_COLUMNS = ("key", "parent", "way", "style", "shape", "position", "kind", "m")
_STYLE_COLUMNS = ("style_element", "style_sequence", "style_m")
_FEATURE_COLUMNS = ("feature_element", "feature", "df", "total", "entropy_sum")


class _Rows:
    """Rows of the three tables, unsummed."""

    def __init__(self) -> None:
        self.pages: list[Keys] = []
        self.elements: list[tuple[NDArray[np.generic], ...]] = []
        self.styles: list[tuple[NDArray[np.generic], ...]] = []
        self.features: list[tuple[NDArray[np.generic], ...]] = []

    def add_tree(self, tree: StyleTree) -> None:
        self.pages.append(tree.pages)
        self.elements.append(tuple(getattr(tree, name) for name in _ELEMENT_COLUMNS))
        self.styles.append(tuple(getattr(tree, name) for name in _STYLE_COLUMNS))
        self.features.append(tuple(getattr(tree, name) for name in _FEATURE_COLUMNS))

    def add_page(self, tree: PageTree, cut: int) -> None:
        cutting = elements_of_page(tree, cut)
        self.pages.append(np.array([int(exact_fingerprint(tree)[:16], 16)], np.uint64))
        inside = np.flatnonzero(cutting.kind != OUTSIDE)
        up = np.maximum(tree.parent[inside], 0)
        is_root = inside == 0
        ones = np.ones(len(inside), np.int64)
        self.elements.append(
            (
                cutting.key[inside],
                np.where(is_root, np.uint64(0), cutting.key[up]),
                np.where(is_root, np.uint64(0), cutting.sequence[up]),
                tree.style[inside],
                tree.shape[inside],
                cutting.position[inside],
                cutting.kind[inside],
                ones,
            )
        )
        internal = inside[cutting.kind[inside] == INTERNAL]
        self.styles.append((cutting.key[internal], cutting.sequence[internal], np.ones(len(internal), np.int64)))
        self._add_features(tree, cutting)

    def _add_features(self, tree: PageTree, cutting: PageElements) -> None:
        _, first, count = np.unique(pair_key(cutting.leaf_key, cutting.feature), return_index=True, return_counts=True)
        node, leaf, feature = cutting.leaf_node[first], cutting.leaf_key[first], cutting.feature[first]
        text_leaf = cutting.kind[node] == INTERNAL
        texts = np.unique(node[text_leaf])
        nothing = np.zeros(len(texts), np.uint64)
        self.elements.append(
            (
                leaf_keys(cutting.key, cutting.kind)[texts],
                cutting.key[texts],
                nothing,
                nothing,
                nothing,
                np.full(len(texts), -1, np.int32),
                np.full(len(texts), LEAF, np.uint8),
                np.ones(len(texts), np.int64),
            )
        )
        f = count.astype(np.int64)
        scaled = np.rint(L_SCALE * f * np.log2(f)).astype(np.int64)
        self.features.append((leaf, feature, np.ones(len(leaf), np.int64), f, scaled))
        above = np.where(text_leaf, node, tree.parent[node])
        held_by, held = spread(tree.parent, above.astype(np.int32), feature)
        zeros = np.zeros(len(held), np.int64)
        self.features.append((cutting.key[held_by], held, np.ones(len(held), np.int64), zeros, zeros))

    def summed(self, cut: int) -> StyleTree:
        elements = _sum_up(self.elements, 1, 7)
        styles = _sum_up(self.styles, 2, 2)
        features = _sum_up(self.features, 2, 2)
        return StyleTree(
            cut=cut,
            pages=np.sort(np.concatenate(self.pages)),
            **dict(zip(_ELEMENT_COLUMNS, elements, strict=True)),  # type: ignore[arg-type]
            **dict(zip(_STYLE_COLUMNS, styles, strict=True)),  # type: ignore[arg-type]
            **dict(zip(_FEATURE_COLUMNS, features, strict=True)),  # type: ignore[arg-type]
        )


def _sum_up(rows: list[tuple[NDArray[np.generic], ...]], keys: int, summed_from: int) -> list[NDArray[np.generic]]:
    """Rows of one table in one: sorted by the first `keys` columns, those from `summed_from` on added up."""
    columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
    if not len(columns[0]):
        return columns
    combined: Keys = columns[0] if keys == 1 else pair_key(columns[0], columns[1])
    order = np.argsort(combined, kind="stable")
    ranked = combined[order]
    first = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    return [
        np.add.reduceat(column[order], first) if k >= summed_from else column[order[first]]
        for k, column in enumerate(columns)
    ]
