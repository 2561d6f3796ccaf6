"""Map the nodes of a page to elements of a finished tree: what MapSST (Figure 4-7) and MapCST (4-10) share.

A sequence of children that the SST does not know is aligned with the children it knows, as in `finish` (ours).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.pagetree import PageTree
from webwinnow.site._mapping import align
from webwinnow.site._styles import Pairs, Paths
from webwinnow.site.sitetree import SiteTree
from webwinnow.site.styletree import INTERNAL, OUTSIDE, SST_CUT, Keys, PageElements

NOWHERE = -1
BY_PATH = -2
"""A node whose element is found by its path."""


class SiteMap:
    """The paths of a finished tree, indexed for mapping pages."""

    def __init__(self, site: SiteTree) -> None:
        self.site = site
        self.styles = Pairs(site.style_element.astype(np.uint64), site.style_sequence)
        self.first_child = np.searchsorted(site.parent, np.arange(len(site) + 1))
        """The children of an element are consecutive, in the order of their positions."""
        columns = (
            site.path_element,
            site.path_sequence,
            site.path_position,
            site.kind[site.path_child],
            site.path_child,
        )
        self.paths = Paths(*map(np.ascontiguousarray, columns))
        self.text_leaf = np.full(len(site) + 1, NOWHERE, np.int32)
        """The `#text` leaf of each element; the last entry is for `NOWHERE`."""
        is_text = site.path_position < 0
        self.text_leaf[site.path_element[is_text]] = site.path_child[is_text]

    def locate(self, tree: PageTree, cutting: PageElements) -> NDArray[np.int32]:
        """The element of each node; `NOWHERE` where the tree has none, and below its leaves."""
        fixed = np.full(len(tree), BY_PATH, np.int32)
        found = self.paths.walk(tree.parent, cutting.sequence, cutting.position, cutting.kind, fixed)
        if self.site.cut != SST_CUT:
            return found
        aligned = np.zeros(len(tree), np.bool_)
        while True:
            unknown = self._unknown(found, cutting, aligned)
            if not len(unknown):
                return found
            for i in unknown.tolist():
                self._align(tree, cutting, i, int(found[i]), fixed)
            aligned[unknown] = True
            found = self.paths.walk(tree.parent, cutting.sequence, cutting.position, cutting.kind, fixed)

    def _unknown(self, found: NDArray[np.int32], cutting: PageElements, aligned: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The nodes whose element is known and whose sequence of children is not."""
        known = np.flatnonzero((found != NOWHERE) & (cutting.kind == INTERNAL) & ~aligned)
        rows = self.styles.rows(found[known].astype(np.uint64), cutting.sequence[known])
        return known[rows < 0]

    def _align(self, tree: PageTree, cutting: PageElements, i: int, element: int, fixed: NDArray[np.int32]) -> None:
        """Align an unknown sequence of children with the children of the element."""
        children = []
        child, end = i + 1, int(tree.end[i])
        while child < end:
            if cutting.kind[child] != OUTSIDE:
                children.append(child)
            child = int(tree.end[child])
        row = np.array(children, np.intp)
        first, last = self.first_child[element : element + 2].tolist()
        known = np.arange(first, last)[self.site.style[first:last] != 0]
        places = align(
            _of_kind(self.site.shape[known], self.site.kind[known]),
            self.site.style[known],
            np.zeros(len(known), np.uint64),
            _of_kind(tree.shape[row], cutting.kind[row]),
            tree.style[row],
            np.zeros(len(row), np.uint64),
        )
        fixed[row] = np.where(places < 0, NOWHERE, known[places]) if len(known) else NOWHERE


def _of_kind(shape: Keys, kind: NDArray[np.uint8]) -> Keys:
    """Shapes that differ by kind, so that a leaf never matches an internal element."""
    return shape ^ kind.astype(np.uint64)
