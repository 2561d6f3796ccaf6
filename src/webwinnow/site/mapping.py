"""Where the parts of a page stand in a finished tree: the walk that MapSST (Figure 4-7) and MapCST (4-10) share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import Ways
from webwinnow.pagetree import PageTree
from webwinnow.site.finish import SiteTree
from webwinnow.site.styletree import PageElements

__all__ = ["NOWHERE", "SiteMap"]

NOWHERE = -1


class SiteMap:
    """The ways of a finished tree, ready to be walked."""

    def __init__(self, site: SiteTree) -> None:
        columns = (site.way_element, site.way_sequence, site.way_position, site.kind[site.way_child], site.way_child)
        self.ways = Ways(*map(np.ascontiguousarray, columns))
        self.text_leaf = np.full(len(site) + 1, NOWHERE, np.int32)
        """The `#text` leaf of each element; the last entry serves `NOWHERE`."""
        is_text = site.way_position < 0
        self.text_leaf[site.way_element[is_text]] = site.way_child[is_text]

    def locate(self, tree: PageTree, cutting: PageElements) -> NDArray[np.int32]:
        """The element of each node; `NOWHERE` where the page leaves the tree, and for what lies below its leaves."""
        return self.ways.walk(tree.parent, cutting.sequence, cutting.position, cutting.kind)
