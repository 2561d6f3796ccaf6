"""`Blocks`: a page cut into its logical units (thesis 6.1a), what cleaners decide on.

A block is a row of inline text runs that no block element, line break or table cell parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import nearest
from webwinnow.markup import BLOCK_TAGS, CUSTOM_TAG, TAG_CODE
from webwinnow.pagetree import PageTree

__all__ = ["Blocks", "cut"]

_PARTS = np.zeros(CUSTOM_TAG + 1, np.bool_)
for _tag in BLOCK_TAGS | {"br"}:
    _PARTS[TAG_CODE[_tag]] = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """Block b holds runs `first_run[b]:first_run[b + 1]`; `owner[b]` is the nearest block element around it."""

    tree: PageTree
    first_run: NDArray[np.int64]
    owner: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.owner)

    def text(self, b: int) -> str:
        """The text of block b, source white space kept."""
        starts = self.tree.run_start
        return self.tree.text[starts[self.first_run[b]] : starts[self.first_run[b + 1]]]

    def texts(self) -> list[str]:
        """The text of every block, white space folded."""
        bounds, text = self.tree.run_start[self.first_run].tolist(), self.tree.text
        return [" ".join(text[a:b].split()) for a, b in pairwise(bounds)]

    def of_run(self) -> NDArray[np.int64]:
        """For each run the block that it belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.first_run))


def cut(tree: PageTree) -> Blocks:
    """Cut a page into blocks. Every run belongs to exactly one, in page order."""
    parts = _PARTS[np.minimum(tree.tag, CUSTOM_TAG)]
    parted = np.concatenate(([0], np.cumsum(parts)))  # block elements before node i
    around = nearest(tree.parent, parts)[tree.run_owner]
    opened = parted[tree.run_before]
    starts = np.ones(tree.run_count, np.bool_)
    starts[1:] = (around[1:] != around[:-1]) | (opened[1:] != opened[:-1])
    first = np.flatnonzero(starts)
    return Blocks(tree=tree, first_run=np.append(first, tree.run_count), owner=around[first])
