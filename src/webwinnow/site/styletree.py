"""The style tree of a site as integer sums (thesis 4.2.1, 4.3.1): grown page by page, merged exactly in any order.

An element is known by its key, a hash of its path: the presentation style (the sequence of child
styles) and the position at each level. One page holds one tag node of a key at most, so `m` counts pages. Per element
the tree keeps how many tag nodes use each presentation style, and for each feature in how many tag nodes it occurs
(`df`); at the leaves also F = sum of f_j and L = sum of round(2^32 f_j log2 f_j) over the pages j. From these

    H(a) = (log F - L / F) / log m,  freq(a) = df / m

so no per-page counts are kept, and sums of integers do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import ModelError
from webwinnow.page._words import image_hashes, link_hashes, name_hash
from webwinnow.page.markup import ATTRIBUTE_CODE, TAG_CODE
from webwinnow.page.page import Page, derived
from webwinnow.page.tree import PageTree
from webwinnow.page.words import image_feature, link_feature
from webwinnow.site._styles import StyleSums, element_keys, leaves_around
from webwinnow.storage.modelfile import ArrayTable, Column


class Cut(NamedTuple):
    """Where the elements of a style tree end, and how many tag nodes of a page an element may have.

    A node of at most `leaf_height` levels is a virtual leaf. One of less than `least_height` is part of its parent's
    sequence but no element: its features belong to its parent's `#text` leaf. With `one_per_page`, elements that occur
    on the same page are not joined.
    """

    leaf_height: int
    least_height: int = 0
    one_per_page: bool = True


SST_CUT = Cut(1, least_height=1)
"""Virtual leaves of the SST: the parents of the actual leaves, which are no elements (thesis 4.2.5, enhancement 2)."""
ALIGNED_CUT = Cut(1)
"""Virtual leaves of our variant of the SST: the parents of actual leaves, and actual leaves beside higher nodes."""
CST_CUT = Cut(2, one_per_page=False)
"""Virtual leaves of the CST: the grandparents of the actual leaves (thesis 4.3.3)."""
OUTSIDE, INTERNAL, LEAF = range(3)
"""Kinds of nodes: below a leaf or hidden; with elements below; a virtual leaf. `_styles.pyx` uses the same numbers."""
LEAST_LEVELS = 50
"""Levels of elements that every page has; of 2,800 pages of seven collections (400 each) none is deeper than 47."""
MOST_LEVEL_CHARACTERS = 50_000_000
"""Levels times characters of the text and attributes of a page, up to which a page has more levels.

Each element counts the features of all elements below: 1 MB of text 500 levels deep is gigabytes of counts. Of those
pages none has more than 13,546,824.
"""
L_SCALE = 1 << 32
MOST_TOTAL = 1 << 40
"""No feature occurs so often on the pages of a site."""
ROOT_KEY = np.uint64(1)

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]
_Columns = tuple[NDArray[Any], ...]


def _mixed(x: Keys) -> Keys:
    """`mixed` of `page/_hashing.pxd` over arrays."""
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> np.uint64(33))


def pair_key(one: Keys, other: Keys) -> Keys:
    """One key for each pair of keys."""
    return _mixed(_mixed(one) ^ other)


# Features


@dataclass(frozen=True, slots=True, eq=False)
class PageFeatures:
    """Each occurrence of a feature on a page: the node that directly contains it, and the feature's hash."""

    owner: NDArray[np.int32]
    feature: NDArray[np.uint64]


def page_features(tree: PageTree) -> PageFeatures:
    """All features of the visible part of a page, words in page order, then links, then images."""
    visible = tree.visible
    words = tree.words
    owners, features = [tree.run_owner[words.run]], [words.key]
    for hashed, (named, naming) in zip((link_hashes, image_hashes), _NAMED, strict=True):
        at = _attributes(tree, visible, *named)
        owners.append(tree.attr_node[at])
        features.append(hashed(tree.attr_text, tree.attr_start, at, naming))
    return PageFeatures(np.concatenate(owners), np.concatenate(features))


@derived
def features_of(page: Page) -> PageFeatures:
    """`page_features`, once for all trees that are grown from a page."""
    return page_features(page.tree)


def feature_names(tree: PageTree) -> dict[int, str]:
    """The features of a page by their hashes: words in lower case, links and images with their prefixes."""
    visible = tree.visible
    words = tree.words
    _, first = np.unique(words.key, return_index=True)
    names = {int(words.key[k]): tree.text[words.start[k] : words.end[k]].lower() for k in first.tolist()}
    for named, naming in _NAMED:
        for k in _attributes(tree, visible, *named).tolist():
            name = naming(tree.attr_text[tree.attr_start[k] : tree.attr_start[k + 1]])
            names[name_hash(name)] = name
    return names


_NAMED = ((("href", "a"), link_feature), (("src", "img"), image_feature))


def _attributes(tree: PageTree, visible: NDArray[np.bool_], attribute: str, tag: str) -> NDArray[np.int64]:
    """Indexes of an attribute at visible nodes of a tag."""
    at = np.flatnonzero(tree.attr_name == ATTRIBUTE_CODE[attribute])
    nodes = tree.attr_node[at]
    wanted: NDArray[np.int64] = at[visible[nodes] & (tree.tag[nodes] == TAG_CODE[tag])]
    return wanted


# Elements


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
    owner: NDArray[np.int32]
    """The node that directly contains each occurrence."""


def cut_elements(tree: PageTree, cut: Cut) -> tuple[Keys, Keys, NDArray[np.int32], NDArray[np.uint8]]:
    """`element_keys` of the visible nodes of a page; deeper levels than the page may have belong to those above."""
    alive, levels = tree.visible, most_levels(tree)
    if levels < len(tree):
        ended = np.cumsum(np.bincount(tree.end, minlength=len(tree) + 1))[:-1]
        alive = alive & (np.arange(len(tree)) - ended <= levels)
    return element_keys(tree.parent, tree.style, alive, *cut[:2])


def most_levels(tree: PageTree) -> int:
    """The levels of elements that a page may have in a style tree: the more text, the fewer."""
    return max(LEAST_LEVELS, MOST_LEVEL_CHARACTERS // (len(tree.text) + len(tree.attr_text) + 1))


def elements_of_page(tree: PageTree, cut: Cut) -> PageElements:
    """Cut a page: elements down to the virtual leaves, features gathered at these."""
    key, sequence, position, kind = cut_elements(tree, cut)
    found = page_features(tree)
    leaf_node, leaf_key = leaves_around(tree.parent, key, kind, found.owner)
    return PageElements(key, sequence, position, kind, leaf_node, leaf_key, found.feature, found.owner)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StyleTree(ArrayTable):
    """A raw style tree: elements, their styles, their features, each sorted by key."""

    NOT_STORED = ("cut", "pages")

    cut: Cut
    pages: Keys
    """Fingerprints of the pages, ascending."""
    key: Annotated[Keys, Column(ascending=True)]
    parent: Annotated[Keys, Column(among="key")]
    """Key of the element above; 0 for the root."""
    sequence: Keys
    """Sequence of the parent's style that contains the element."""
    style: Keys
    """Style hash of the element itself: (TAG, Attr); 0 for a `#text` leaf."""
    shape: Keys
    """Shape hash of the element itself: tag and role; 0 for a `#text` leaf."""
    position: Annotated[NDArray[np.int32], Column(least=-1)]
    kind: Annotated[NDArray[np.uint8], Column(least=INTERNAL, most=LEAF)]
    m: Annotated[Counts, Column(least=1)]
    style_element: Annotated[Keys, Column("styles", among="key", least=1)]
    style_sequence: Annotated[Keys, Column("styles")]
    style_m: Annotated[Counts, Column("styles", least=1)]
    feature_element: Annotated[Keys, Column("features", among="key", least=1)]
    feature: Annotated[Keys, Column("features")]
    df: Annotated[Counts, Column("features", least=1)]
    total: Annotated[Counts, Column("features", least=0, most=MOST_TOTAL)]
    """F, 0 where the element is not a leaf."""
    entropy_sum: Annotated[Counts, Column("features")]
    """L, in units of 2^-32."""

    @classmethod
    def grow(cls, trees: Iterable[PageTree], cut: Cut) -> StyleTree:
        """Grow from pages; choose them first (`choose_pages`)."""
        grower = Grower(cut)
        for tree in trees:
            grower.add(Page(tree))
        return grower.tree()

    @classmethod
    def merge(cls, trees: Iterable[StyleTree]) -> StyleTree:
        """Add up trees over disjoint pages, exactly, in any order. Raises `ModelError` where they share a page."""
        parts = list(trees)
        if len({part.cut for part in parts}) != 1:
            raise ModelError("style trees of different cuts, or none, cannot be merged")
        pages = np.concatenate([part.pages for part in parts])
        if len(np.unique(pages)) < len(pages):
            raise ModelError("the style trees share pages; each page may be learned once")
        return _style_tree(
            parts[0].cut,
            pages,
            _summed(parts, _ELEMENT_COLUMNS, 1, 7),
            _summed(parts, _STYLE_COLUMNS, 2, 2),
            _summed(parts, _FEATURE_COLUMNS, 2, 2),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StyleTree) and all(
            np.array_equal(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]


_ELEMENT_COLUMNS = ("key", "parent", "sequence", "style", "shape", "position", "kind", "m")
_STYLE_COLUMNS = ("style_element", "style_sequence", "style_m")
_FEATURE_COLUMNS = ("feature_element", "feature", "df", "total", "entropy_sum")


class Grower:
    """Grows the style tree of one cut, page by page."""

    def __init__(self, cut: Cut) -> None:
        self.cut = cut
        self.pages: list[int] = []
        self.sums = StyleSums()

    def add(self, page: Page, fingerprint: int | None = None) -> None:
        """Learn a page; its fingerprint is made where it is not given."""
        tree, found = page.tree, features_of(page)
        self.pages.append(page.fingerprint if fingerprint is None else fingerprint)
        key, sequence, position, kind = cut_elements(tree, self.cut)
        self.sums.add(tree.parent, tree.style, tree.shape, key, sequence, position, kind, found.owner, found.feature)

    def tree(self) -> StyleTree:
        """The tree over the pages so far."""
        if not self.pages:
            raise ModelError("there are no pages to learn from")
        sums, pages = self.sums, np.array(self.pages, np.uint64)
        return _style_tree(self.cut, pages, sums.element_columns(), sums.style_columns(), sums.feature_columns())


def _style_tree(cut: Cut, pages: Keys, elements: _Columns, styles: _Columns, features: _Columns) -> StyleTree:
    return StyleTree(
        cut=cut,
        pages=np.sort(pages),
        **dict(zip(_ELEMENT_COLUMNS, elements, strict=True)),
        **dict(zip(_STYLE_COLUMNS, styles, strict=True)),
        **dict(zip(_FEATURE_COLUMNS, features, strict=True)),
    )


def _summed(trees: list[StyleTree], names: tuple[str, ...], keys: int, summed_from: int) -> _Columns:
    """One table of several trees: sorted by the first `keys` columns, those from `summed_from` on added up."""
    columns = [np.concatenate([getattr(tree, name) for tree in trees]) for name in names]
    if not len(columns[0]):
        return tuple(columns)
    combined: Keys = columns[0] if keys == 1 else pair_key(columns[0], columns[1])
    order = np.argsort(combined, kind="stable")
    ranked = combined[order]
    first = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    return tuple(
        np.add.reduceat(column[order], first) if k >= summed_from else column[order[first]]
        for k, column in enumerate(columns)
    )
