"""`PageRegions`: a page cut into pieces that every method treats as a whole; the viewer marks these pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow._words import blank_runs
from webwinnow.blocks import Blocks, cut
from webwinnow.pagetree import PageTree
from webwinnow.report.dials import DialReading
from webwinnow.site.learned import LearnedSite
from webwinnow.site.mapping import NOWHERE
from webwinnow.site.sums import block_keys

_WORD = re.compile(r"\w+")


def words_of_runs(tree: PageTree) -> NDArray[np.int64]:
    """Return the number of words of each run, hidden ones too; they add up to `count_words`."""
    bounds = pairwise(tree.run_start.tolist())
    return np.array([len(_WORD.findall(tree.text, a, b)) for a, b in bounds], np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageRegions:
    """The regions of a page in page order. `of_run[r]` is the region of run r, -1 for a run of white space only.

    Each region has its `first` run, its number of `words`, the number of `pages` of the site with the text of its
    block, and its `element` of the site style tree.
    """

    blocks: Blocks
    of_run: NDArray[np.int32]
    first: NDArray[np.int64]
    words: NDArray[np.int64]
    pages: NDArray[np.int32]
    element: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.first)

    @classmethod
    def of(cls, tree: PageTree, model: LearnedSite, readings: list[DialReading]) -> PageRegions:
        """Cut a page into regions: runs of one block that no reading distinguishes."""
        blocks = cut(tree)
        block = blocks.of_run()
        said = np.flatnonzero(~blank_runs(tree.text, tree.run_start))
        starts = np.ones(len(said), np.bool_)
        if len(said):
            columns = [block, tree.visible[tree.run_owner]]
            for reading in readings:
                kind = reading.verdict.kind[tree.run_owner]
                columns += [reading.limit, reading.kept_reason, reading.gone_reason, kind]
            starts[1:] = np.any([column[said][1:] != column[said][:-1] for column in columns], axis=0)
        of_run = np.full(tree.run_count, -1, np.int32)
        of_run[said] = np.cumsum(starts) - 1
        first = said[starts]
        says = model.pages_that_say(block_keys(blocks)) if model.pages else np.zeros(len(blocks), np.int32)
        element = np.full(tree.run_count, NOWHERE, np.int32)
        if model.sst is not None:
            element = model.noise.trace(tree).element
        return cls(
            blocks=blocks,
            of_run=of_run,
            first=first,
            words=np.bincount(of_run[said], weights=words_of_runs(tree)[said], minlength=len(first)).astype(np.int64),
            pages=says[block[first]],
            element=element[first],
        )

    def xpaths(self, most: int) -> dict[str, Any]:
        """The XPaths of the first `most` regions' blocks as steps: `step[k]` is below `up[k]`, `at` is the last."""
        tree = self.blocks.tree
        steps, parents = _steps(tree)
        owners = self.blocks.owner[self.blocks.of_run()[self.first[:most]]].tolist()
        numbered: dict[int, int] = {0: -1}
        up: list[int] = []
        step: list[str] = []
        for owner in owners:
            path = []
            node = owner
            while node not in numbered:
                path.append(node)
                node = parents[node]
            for below in reversed(path):
                numbered[below] = len(up)
                up.append(numbered[parents[below]])
                step.append(steps[below])
        return {"up": up, "step": step, "at": [numbered[owner] for owner in owners]}


def _steps(tree: PageTree) -> tuple[list[str], list[int]]:
    """The step of `PageTree.xpath` and the parent of every node, in one pass."""
    parents: list[int] = tree.parent.tolist()
    codes: list[int] = tree.tag.tolist()
    seen: dict[tuple[int, int], int] = {}
    steps = [""]
    for i in range(1, len(tree)):
        place = (parents[i], codes[i])
        seen[place] = seen.get(place, 0) + 1
        steps.append(f"{tree.tag_name(i)}[{seen[place]}]" if i > 1 else tree.tag_name(i))
    return steps, parents
