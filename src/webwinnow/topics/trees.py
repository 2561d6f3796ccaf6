"""The two scales of a site's tree (Sites, Definition 1): its pages as a tree of links, each page as a tree of blocks.

Both are arrays of parents, as `Forest` takes them; `SitePages` has both for a site.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError
from webwinnow.page.blocks import Blocks, cut
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import canonical
from webwinnow.storage.arrays import frozen

NOTHING = -1
"""Instead of a page or a block: a node without observation."""

Indexes = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class LinkTree:
    """The page tree T_P, breadth-first from the start page, so that parents come before their children.

    Node u is page `page[u]` of those given; its `parent` is the first node that links to it. Pages that no known page
    links to are, with the start page, children of a virtual root, whose `page` is NOTHING.
    """

    page: Indexes
    parent: Indexes
    depth: Indexes

    def __len__(self) -> int:
        return len(self.page)

    @classmethod
    def of(cls, urls: Sequence[str], links: Sequence[Sequence[str]], start: str | None = None) -> Self:
        """The tree of stored pages: `links[i]` are the URLs that page i links to, in page order.

        `start` is the URL of the start page. By default it is one of the pages in the folder nearest to the top: the
        one at the folder's own URL, else the one with most links to it (correct on 15 of the 16 sites of sites-docs).
        Of pages with the same URL a link means the first.
        """
        spelled = [canonical(url) for url in urls]
        number = {url: i for i, url in reversed(list(enumerate(spelled)))}
        targets = [
            list(dict.fromkeys(number[target] for link in row if (target := canonical(link)) in number))
            for row in links
        ]
        return cls._grown(targets, _start_page(spelled, targets, start))

    @classmethod
    def of_crawl(cls, urls: Sequence[str], referrers: Sequence[str | None]) -> Self:
        """The tree of a crawl in the order of reading: each page below its referrer, None for a start page."""
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
        """Breadth-first from the start page, then from pages without links to them, then from the rest, in order."""
        above: dict[int, int] = {}  # the page that led to each page, in the order of reading

        def read_from(top: int) -> None:
            above[top] = NOTHING
            waiting = deque([top])
            while waiting:
                page = waiting.popleft()
                for target in targets[page]:
                    if target not in above:
                        above[target] = page
                        waiting.append(target)

        if start is not None:
            read_from(start)
        pages = range(len(targets))
        linked = {target for page in pages if page not in above for target in targets[page] if target != page}
        for page in (*(page for page in pages if page not in linked), *pages):
            if page not in above:
                read_from(page)
        virtual = [NOTHING] * (list(above.values()).count(NOTHING) > 1)
        order = [*virtual, *above]
        place = {page: u for u, page in enumerate(order)}
        parent = [*virtual, *(place.get(up, NOTHING) for up in above.values())]
        depth: list[int] = []
        for up in parent:
            depth.append(0 if up < 0 else depth[up] + 1)
        by_depth = np.argsort(np.array(depth, np.int32), kind="stable")
        moved = np.empty(len(order) + 1, np.int32)
        moved[by_depth], moved[-1] = np.arange(len(order)), NOTHING
        found = [np.array(column, np.int32)[by_depth] for column in (order, parent, depth)]
        return cls(frozen(found[0]), frozen(moved[found[1]]), frozen(found[2]))


@dataclass(frozen=True, slots=True, eq=False)
class BlockTree:
    """The DOM tree of one page: its blocks are the leaves, the elements that separate them the inner nodes.

    Node u is block `block[u]` of `blocks`, or a container, where `block` is NOTHING: an element with blocks in more
    than one child. `element[u]` is the element of a container, or the owner of a block. Node 0 is the page.
    """

    blocks: Blocks
    parent: Indexes
    block: Indexes
    element: Indexes

    def __len__(self) -> int:
        return len(self.parent)

    @classmethod
    def of(cls, tree: PageTree) -> Self:
        """The blocks of a page that have text."""
        runs = tree.visible_runs
        blocks = cut(tree)
        shown = np.bincount(blocks.of_run(), weights=runs, minlength=len(blocks)) > 0
        shown_blocks = [b for b, text in enumerate(blocks.texts()) if text and shown[b]]
        owner = blocks.owner[shown_blocks].tolist()
        up, branches = tree.parent.tolist(), _branches(tree, owner)
        top = next((element for element, count in enumerate(branches) if count > 1), 0)  # contains all blocks
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
            frozen(np.array([*parent, *(place[nearest[element]] for element in owner)], np.int32)),
            frozen(np.array([*[NOTHING] * len(containers), *shown_blocks], np.int32)),
            frozen(np.array([*containers, *owner], np.int32)),
        )


def joined_parents(parents: Sequence[Indexes]) -> Indexes:
    """The parents of several forests as those of one."""
    firsts = np.cumsum([0, *map(len, parents)])
    moved = [np.where(one < 0, NOTHING, one + first) for one, first in zip(parents, firsts, strict=False)]
    return frozen(np.concatenate([np.zeros(0, np.int32), *moved]).astype(np.int32))


def links_of(tree: PageTree) -> list[str]:
    """Where the links of a page point, visible or not: absolute http(s) URLs, in page order."""
    return list(filter(None, tree.links(areas=True).targets()))


def _branches(tree: PageTree, owner: list[int]) -> list[int]:
    """For each element the number of its own blocks plus that of its children with blocks."""
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
