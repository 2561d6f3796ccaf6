"""The multiscale site tree (Sites, Definition 1): a site's pages as a tree of links, each page as a tree of blocks.

Both are arrays of parents, as `hmt.Forest` takes them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.blocks import Blocks, cut
from webwinnow.errors import InputError
from webwinnow.pagetree import PageTree
from webwinnow.urls import canonical

__all__ = ["NOTHING", "BlockTree", "LinkTree", "MultiscaleTree", "links_of"]

NOTHING = -1
"""In place of a page or a block: a node at which nothing is observed."""

Indexes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class LinkTree:
    """The page tree T_P: breadth-first from the start page, so that parents stand before their children.

    Node u is page `page[u]` of those given; the first node that links to it is its `parent`. Pages that no known page
    leads to hang, with the start page, from a virtual root, where `page` is NOTHING.
    """

    page: Indexes
    parent: Indexes
    depth: Indexes

    def __len__(self) -> int:
        return len(self.page)

    @classmethod
    def of(cls, urls: Sequence[str], links: Sequence[Sequence[str]], start: str | None = None) -> Self:
        """The tree of stored pages: `links[i]` are the addresses that page i links to, in page order.

        `start` is the address of the start page; without it, of the pages in the folder nearest to the top, the one
        at the folder's own address, else the one that most pages link to (right on 15 of the 16 sites of sites-docs).
        Of pages with one address the first is meant by a link.
        """
        if len(urls) != len(links):
            raise InputError(f"{len(urls)} addresses and {len(links)} rows of links: expected one for each page")
        spelled = [canonical(url) for url in urls]
        number = {url: i for i, url in reversed(list(enumerate(spelled)))}
        targets = [
            list(dict.fromkeys(number[target] for link in row if (target := canonical(link)) in number))
            for row in links
        ]
        return cls._grown(targets, _start_page(spelled, targets, start))

    @classmethod
    def of_crawl(cls, urls: Sequence[str], referrers: Sequence[str | None]) -> Self:
        """The tree of a crawl in the order of reading: each page below the one that led to it, None for a start."""
        if len(urls) != len(referrers):
            raise InputError(f"{len(urls)} addresses and {len(referrers)} referrers: expected one for each page")
        number: dict[str, int] = {}
        targets: list[list[int]] = [[] for _ in urls]
        for i, (url, referrer) in enumerate(zip(urls, referrers, strict=True)):
            above = None if referrer is None else number.get(canonical(referrer))
            if above is not None:
                targets[above].append(i)
            number.setdefault(canonical(url), i)
        return cls._grown(targets, 0 if urls else None)

    @classmethod
    def _grown(cls, targets: list[list[int]], start: int | None) -> Self:
        """Breadth-first from the start page, then from pages that none leads to, then from what is left, in order."""
        above = [NOTHING] * len(targets)
        reached = [False] * len(targets)
        order: list[int] = []
        tops: list[int] = []

        def read_from(top: int) -> None:
            tops.append(top)
            reached[top] = True
            waiting = deque([top])
            while waiting:
                page = waiting.popleft()
                order.append(page)
                for target in targets[page]:
                    if not reached[target]:
                        reached[target], above[target] = True, page
                        waiting.append(target)

        if start is not None:
            read_from(start)
        linked = {target for page, row in enumerate(targets) if not reached[page] for target in row if target != page}
        for page in (*(p for p in range(len(targets)) if p not in linked), *range(len(targets))):
            if not reached[page]:
                read_from(page)
        if len(tops) < 2:
            return cls._numbered(order, above)
        return cls._numbered([NOTHING, *order], above)

    @classmethod
    def _numbered(cls, order: list[int], above: list[int]) -> Self:
        """Nodes in this order, those at depth 0 and 1 first and so on, so that the whole is breadth-first."""
        place = {page: u for u, page in enumerate(order)}
        root = NOTHING if place.get(NOTHING) is None else 0
        parent = [NOTHING if page == NOTHING else (place[above[page]] if above[page] >= 0 else root) for page in order]
        depth: list[int] = []
        for up in parent:
            depth.append(0 if up < 0 else depth[up] + 1)
        sorted_nodes = np.argsort(np.array(depth, np.int32), kind="stable")
        moved = np.empty(len(order) + 1, np.int32)
        moved[sorted_nodes], moved[-1] = np.arange(len(order)), NOTHING
        found = [np.array(column, np.int32)[sorted_nodes] for column in (order, parent, depth)]
        return cls(_frozen(found[0]), _frozen(moved[found[1]]), _frozen(found[2]))


@dataclass(frozen=True, slots=True, eq=False)
class BlockTree:
    """The DOM tree of one page: its blocks are the leaves, the elements that part them the nodes above.

    Node u is block `block[u]` of `blocks`, or a container, where `block` is NOTHING: an element whose blocks stand in
    more than one child. `element[u]` is the element of a container, and the owner of a block. Node 0 is the page.
    """

    blocks: Blocks
    parent: Indexes
    block: Indexes
    element: Indexes

    def __len__(self) -> int:
        return len(self.parent)

    @classmethod
    def of(cls, tree: PageTree, kept_runs: NDArray[np.bool_] | None = None) -> Self:
        """The blocks of a page that say something; with `kept_runs` of a verdict, those that a cleaner kept."""
        runs = tree.visible[tree.run_owner] if kept_runs is None else kept_runs
        if runs.shape != (tree.run_count,):
            raise InputError(f"a mask of shape {runs.shape} for {tree.run_count} runs")
        blocks = cut(tree)
        shown = np.bincount(blocks.of_run(), weights=runs, minlength=len(blocks)) > 0
        said = [b for b, text in enumerate(blocks.texts()) if text and shown[b]]
        owner = blocks.owner[said].tolist()
        up, branches = tree.parent.tolist(), _branches(tree, owner)
        top = next((element for element, count in enumerate(branches) if count > 1), 0)  # all blocks stand in it
        parent, containers, place = [NOTHING], [top], {top: 0}
        nearest = [top] * max(len(tree), 1)
        for element in range(top + 1, len(tree)):
            nearest[element] = nearest[up[element]]
            if branches[element] > 1:
                place[element] = len(parent)
                parent.append(place[nearest[element]])
                containers.append(element)
                nearest[element] = element
        return cls(
            blocks,
            _frozen(np.array([*parent, *(place[nearest[element]] for element in owner)], np.int32)),
            _frozen(np.array([*[NOTHING] * len(containers), *said], np.int32)),
            _frozen(np.array([*containers, *owner], np.int32)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class MultiscaleTree:
    """The multiscale tree T_M: the page tree, and for each page given its tree of blocks."""

    pages: LinkTree
    blocks: tuple[BlockTree, ...]

    @classmethod
    def of(
        cls, trees: Sequence[PageTree], start: str | None = None, kept_runs: Sequence[NDArray[np.bool_]] | None = None
    ) -> Self:
        """The tree of a site from its stored pages; `kept_runs` of each page where a cleaner went before."""
        if kept_runs is not None and len(kept_runs) != len(trees):
            raise InputError(f"{len(kept_runs)} masks for {len(trees)} pages: expected one each")
        pages = LinkTree.of([tree.url for tree in trees], [links_of(tree) for tree in trees], start)
        masks: Sequence[NDArray[np.bool_] | None] = kept_runs or [None] * len(trees)
        return cls(pages, tuple(BlockTree.of(tree, mask) for tree, mask in zip(trees, masks, strict=True)))

    def block_forest(self) -> tuple[Indexes, Indexes]:
        """The trees of blocks of all pages as one: the parent of each node, and the page that it is in."""
        firsts = np.cumsum([0, *map(len, self.blocks)])
        parents = [
            np.where(one.parent < 0, NOTHING, one.parent + first)
            for one, first in zip(self.blocks, firsts, strict=False)
        ]
        sizes = [len(one) for one in self.blocks]
        parent = np.concatenate(parents) if parents else np.zeros(0)
        return _frozen(parent.astype(np.int32)), _frozen(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes))


def links_of(tree: PageTree) -> list[str]:
    """Where the links of a page point, visible or not: absolute http(s) URLs, in page order."""
    return list(filter(None, tree.links(areas=True).targets()))


def _branches(tree: PageTree, owner: list[int]) -> list[int]:
    """For each element its own blocks and its children that hold blocks, counted together."""
    up = tree.parent.tolist()
    branches = [0] * max(len(tree), 1)
    for element in owner:
        branches[element] += 1
    for element in range(len(tree) - 1, 0, -1):
        if branches[element]:
            branches[up[element]] += 1
    return branches


def _start_page(spelled: list[str], targets: list[list[int]], start: str | None) -> int | None:
    if start is not None:
        if canonical(start) not in spelled:
            raise InputError(f"the start page {start} is not among the {len(spelled)} pages")
        return spelled.index(canonical(start))
    linked = Counter(target for page, row in enumerate(targets) for target in row if target != page)
    paths = [url.partition("?")[0] for url in spelled]
    near_the_top = [(path.count("/"), not path.endswith("/"), -linked[i], i) for i, path in enumerate(paths)]
    return min(near_the_top)[-1] if near_the_top else None


def _frozen(column: Indexes) -> Indexes:
    column.flags.writeable = False
    return column
