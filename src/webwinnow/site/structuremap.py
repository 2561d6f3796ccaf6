"""MapCST (thesis Figure 4-10): the nodes of a page mapped to elements of a compressed structure tree, child by child.

The figure does not say when a child of the page matches a child of the element. Here

1. in a sequence of children that was learned, each child is the element that it was learned in (its path);
2. otherwise a child matches the element's children of equal tag and attributes (its style). Of several, it is the one
   at the nearest position in any sequence; then that at the lower position, that with the most tag nodes, the first.

A virtual leaf matches a virtual leaf if there is one, and otherwise an internal element; and the reverse. The features
directly inside a node that matches an internal element are those of the element's `#text` leaf.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.page.tree import PageTree
from webwinnow.site._structuremap import Walk
from webwinnow.site.sitetree import SiteTree
from webwinnow.site.styletree import INTERNAL, cut_elements, pair_key

NOWHERE = -1


class StructureMap:
    """The children of each element of a compressed structure tree, indexed for mapping pages."""

    def __init__(self, site: SiteTree) -> None:
        self.cut = site.cut
        is_text = site.path_position < 0
        self.text_leaf = np.full(len(site) + 1, NOWHERE, np.int32)
        """The `#text` leaf of each element; the last entry is for `NOWHERE`."""
        self.text_leaf[site.path_element[is_text]] = site.path_child[is_text]
        self.is_internal = np.append(site.kind == INTERNAL, False)
        element, child = site.path_element[~is_text].astype(np.uint64), site.path_child[~is_text]
        position, kind = site.path_position[~is_text], site.kind[child].astype(np.uint64)
        path = pair_key(site.path_sequence[~is_text] ^ (position.astype(np.uint64) * np.uint64(4) + kind), element)
        style = pair_key(site.style[child] + kind, element)
        by_path = np.argsort(path)
        by_style = np.lexsort((child, -site.m[child], position, style))
        changes = (np.diff(style[by_style]) != 0) | (np.diff(position[by_style]) != 0)
        by_style = by_style[np.concatenate((np.ones(min(len(child), 1), np.bool_), changes))]
        styles, start = np.unique(style[by_style], return_index=True)
        self.walk = Walk(
            path[by_path],
            child[by_path].astype(np.int32),
            styles,
            np.append(start, len(by_style)).astype(np.int32),
            position[by_style],
            child[by_style].astype(np.int32),
            site.kind,
        )

    def leaves(self, tree: PageTree) -> NDArray[np.int32]:
        """The leaf element of the features directly inside each node; `NOWHERE` where no element matches."""
        _, sequence, position, kind = cut_elements(tree, self.cut)
        found = self.walk.down(tree.parent, tree.style, sequence, position, kind)
        leaf: NDArray[np.int32] = np.where(self.is_internal[found], self.text_leaf[found], found)
        return leaf
