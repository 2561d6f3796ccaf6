"""Map the nodes of a page to elements of a finished tree: what MapSST (Figure 4-7) and MapCST (4-10) share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.page.tree import PageTree
from webwinnow.site._styles import Paths
from webwinnow.site.sitetree import SiteTree
from webwinnow.site.styletree import PageElements

NOWHERE = -1
BY_PATH = -2
"""A node whose element is found by its path."""


class SiteMap:
    """The paths of a finished tree, indexed for mapping pages."""

    def __init__(self, site: SiteTree) -> None:
        self.site = site
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
        return self.paths.walk(tree.parent, cutting.sequence, cutting.position, cutting.kind, fixed)
