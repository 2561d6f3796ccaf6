"""`Blocks`: a page cut into its logical units (thesis 6.1a), what cleaners decide on.

A block is a row of inline text runs that no block element, line break or table cell parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from webwinnow._nodes import cut_runs, nearest
from webwinnow.markup import BLOCK_TAGS, CUSTOM_TAG, TAG_CODE
from webwinnow.pagetree import PageTree

__all__ = ["Blocks", "are_parted", "cut", "parting", "parting_tags", "said_in"]

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
    first, owner = cut_runs(tree.tag, tree.parent, _PARTS, tree.run_owner, tree.run_before)
    return Blocks(tree=tree, first_run=first, owner=owner)


def parting(tree: PageTree) -> NDArray[np.bool_]:
    """The nodes that part the text before, in and after them; the root is one."""
    return _PARTS[np.minimum(tree.tag, CUSTOM_TAG)]


def parting_tags() -> NDArray[np.bool_]:
    """For the code of each known tag whether such nodes part text."""
    return _PARTS[:CUSTOM_TAG].copy()


def are_parted(tree: PageTree, nodes: NDArray[np.bool_], runs: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether a start or an end of one of `nodes`, the root among them, stands between each of `runs` and the next."""
    around = nearest(tree.parent, nodes)[tree.run_owner[runs]]
    opened = np.concatenate(([0], np.cumsum(nodes)))[tree.run_before[runs]]
    parted: NDArray[np.bool_] = (around[1:] != around[:-1]) | (opened[1:] != opened[:-1])
    return parted


def said_in(tree: PageTree, runs: NDArray[np.bool_]) -> str:
    """The text of some runs, source white space kept, with a blank where a block ends: no two words become one."""
    wanted = np.flatnonzero(runs)
    starts, ends = tree.run_start[wanted].tolist(), tree.run_start[wanted + 1].tolist()
    gaps = np.where(are_parted(tree, parting(tree), wanted), " ", "").tolist()
    return "".join([tree.text[a:b] + gap for a, b, gap in zip(starts, ends, [*gaps, ""], strict=False)])
