"""Where the parts of a page stand in a finished tree: the walk that MapSST (Figure 4-7) and MapCST (4-10) share.

A row of children that the SST does not know is laid over the children it knows, as `finish` lays known rows (ours).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.pagetree import PageTree
from webwinnow.site._mapping import align
from webwinnow.site._styles import Pairs, Paths
from webwinnow.site.sitetree import SiteTree
from webwinnow.site.styletree import INTERNAL, OUTSIDE, SST_CUT, Keys, PageElements

__all__ = ["NOWHERE", "SiteMap"]

NOWHERE = -1
BY_WAY = -2
"""A node whose element is found by the way that leads to it."""


class SiteMap:
    """The ways of a finished tree, ready to be walked."""

    def __init__(self, site: SiteTree) -> None:
        self.site = site
        self.styles = Pairs(site.style_element.astype(np.uint64), site.style_sequence)
        self.first_child = np.searchsorted(site.parent, np.arange(len(site) + 1))
        """Children of an element stand in a row, in the order of their places."""
        columns = (site.way_element, site.way_sequence, site.way_position, site.kind[site.way_child], site.way_child)
        self.ways = Paths(*map(np.ascontiguousarray, columns))
        self.text_leaf = np.full(len(site) + 1, NOWHERE, np.int32)
        """The `#text` leaf of each element; the last entry serves `NOWHERE`."""
        is_text = site.way_position < 0
        self.text_leaf[site.way_element[is_text]] = site.way_child[is_text]

    def locate(self, tree: PageTree, cutting: PageElements) -> NDArray[np.int32]:
        """The element of each node; `NOWHERE` where the page leaves the tree, and for what lies below its leaves."""
        held = np.full(len(tree), BY_WAY, np.int32)
        found = self.ways.walk(tree.parent, cutting.sequence, cutting.position, cutting.kind, held)
        if self.site.cut != SST_CUT:
            return found
        laid = np.zeros(len(tree), np.bool_)
        while True:
            strays = self._strays(found, cutting, laid)
            if not len(strays):
                return found
            for i in strays.tolist():
                self._lay(tree, cutting, i, int(found[i]), held)
            laid[strays] = True
            found = self.ways.walk(tree.parent, cutting.sequence, cutting.position, cutting.kind, held)

    def _strays(self, found: NDArray[np.int32], cutting: PageElements, laid: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The nodes whose element is known and whose row of children is not."""
        known = np.flatnonzero((found != NOWHERE) & (cutting.kind == INTERNAL) & ~laid)
        rows = self.styles.rows(found[known].astype(np.uint64), cutting.sequence[known])
        return known[rows < 0]

    def _lay(self, tree: PageTree, cutting: PageElements, i: int, element: int, held: NDArray[np.int32]) -> None:
        """Lay a row of children that the site has never shown over the children of the element."""
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
        held[row] = np.where(places < 0, NOWHERE, known[places]) if len(known) else NOWHERE


def _of_kind(shape: Keys, kind: NDArray[np.uint8]) -> Keys:
    """Shapes that differ where kinds do: a leaf is never taken for an internal element."""
    return shape ^ kind.astype(np.uint64)
