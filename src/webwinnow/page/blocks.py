"""`Blocks`: a page cut into its logical units (thesis 6.1a), the units that cleaners decide on.

A block is a sequence of inline text runs that no block element, line break or table cell splits.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from webwinnow.page._nodes import cut_runs, nearest
from webwinnow.page.markup import BLOCK_TAGS, CUSTOM_TAG, TAG_CODE
from webwinnow.page.tree import PageTree

_SPLITS = np.zeros(CUSTOM_TAG + 1, np.bool_)
_SPLITS[[TAG_CODE[tag] for tag in BLOCK_TAGS | {"br"}]] = True
SPLITTING_TAGS = _SPLITS[:CUSTOM_TAG]
"""For the code of each known tag whether such nodes split text."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """Block b has runs `first_run[b]:first_run[b + 1]`; `owner[b]` is the nearest block element around it."""

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
    first, owner = cut_runs(tree.tag, tree.parent, _SPLITS, tree.run_owner, tree.run_before)
    return Blocks(tree=tree, first_run=first, owner=owner)


def splitting_nodes(tree: PageTree) -> NDArray[np.bool_]:
    """The nodes that split the text before, in and after them; the root is one."""
    return _SPLITS[np.minimum(tree.tag, CUSTOM_TAG)]


def are_split(tree: PageTree, nodes: NDArray[np.bool_], runs: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether one of `nodes`, which include the root, starts or ends between each of `runs` and the next."""
    around = nearest(tree.parent, nodes)[tree.run_owner[runs]]
    opened = np.concatenate(([0], np.cumsum(nodes)))[tree.run_before[runs]]
    split: NDArray[np.bool_] = (around[1:] != around[:-1]) | (opened[1:] != opened[:-1])
    return split


def text_of_runs(tree: PageTree, runs: NDArray[np.bool_]) -> str:
    """The text of some runs, source white space kept, with a blank where a block ends: no two words become one."""
    wanted = np.flatnonzero(runs)
    starts, ends = tree.run_start[wanted].tolist(), tree.run_start[wanted + 1].tolist()
    gaps = np.where(are_split(tree, splitting_nodes(tree), wanted), " ", "").tolist()
    return "".join([tree.text[a:b] + gap for a, b, gap in zip(starts, ends, [*gaps, ""], strict=False)])


def runs_of_nodes(tree: PageTree) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each node its first run, and the first run after it."""
    starts = tree.run_start[:-1]
    return np.searchsorted(starts, tree.text_start), np.searchsorted(starts, tree.text_end)
