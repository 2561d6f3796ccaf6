"""Where the parts of a page stand in a finished tree: the walk that MapSST (Figure 4-7) and MapCST (4-10) share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import OUTSIDE
from webwinnow.pagetree import PageTree
from webwinnow.site.finish import SiteTree
from webwinnow.site.styletree import PageElements

__all__ = ["NOWHERE", "SiteMap"]

NOWHERE = -1

_Way = tuple[int, int, int, int]


class SiteMap:
    """The ways of a finished tree, ready to be walked."""

    def __init__(self, site: SiteTree) -> None:
        self.ways: dict[_Way, int] = {
            (element, sequence, position, kind): child
            for element, sequence, position, kind, child in zip(
                site.way_element.tolist(),
                site.way_sequence.tolist(),
                site.way_position.tolist(),
                site.kind[site.way_child].tolist(),
                site.way_child.tolist(),
                strict=True,
            )
        }
        self.text_leaf = np.full(len(site) + 1, NOWHERE, np.int32)
        """The `#text` leaf of each element; the last entry serves `NOWHERE`."""
        is_text = site.way_position < 0
        self.text_leaf[site.way_element[is_text]] = site.way_child[is_text]

    def locate(self, tree: PageTree, cutting: PageElements) -> NDArray[np.int32]:
        """The element of each node; `NOWHERE` where the page leaves the tree, and for what lies below its leaves."""
        found = np.full(len(tree), NOWHERE, np.int32)
        found[0] = 0
        inside = np.flatnonzero(cutting.kind != OUTSIDE)[1:]
        parents: list[int] = tree.parent[inside].tolist()
        sequences: list[int] = cutting.sequence[tree.parent[inside]].tolist()
        positions: list[int] = cutting.position[inside].tolist()
        kinds: list[int] = cutting.kind[inside].tolist()
        at: dict[int, int] = {0: 0}
        ways = self.ways
        for i, parent, sequence, position, kind in zip(
            inside.tolist(), parents, sequences, positions, kinds, strict=True
        ):
            above = at.get(parent, NOWHERE)
            if above != NOWHERE:
                at[i] = ways.get((above, sequence, position, kind), NOWHERE)
        found[list(at)] = list(at.values())
        return found
