"""A page for the viewer: its regions, which every method treats as a whole, and tokens to rebuild it from.

Tokens are known tags and plain text, nothing else.

A token is the number of a tag in `SHOWN_TAGS` (an element opens), `CLOSE`, `NEXT_REGION` (the next region starts
here), `BLANK`, or a string: text. The page's attributes, URLs, styles and scripts are left out.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.inspect.dials import DialReading
from webwinnow.judge.evidence import evidence_of, owner_of, sections_of
from webwinnow.page._nodes import nearest
from webwinnow.page.blocks import Blocks
from webwinnow.page.layout import PageLayout
from webwinnow.page.markup import BLOCK_TAGS, CUSTOM_TAG, PREFORMATTED, TAG_CODE, TAGS
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.record.walk import walk
from webwinnow.site.learned import LearnedSite
from webwinnow.site.mapping import NOWHERE
from webwinnow.site.part_texts import block_keys

SHOWN_TAGS: tuple[str, ...] = tuple(
    "div p h1 h2 h3 h4 h5 h6 ul ol li dl dt dd table caption thead tbody tfoot tr td th pre blockquote figure "
    "figcaption hr br a b i code sup sub small s u mark menu image".split()
)
"""Elements of the viewer. `menu` is a list of short links, shown as a row; `image` is a placeholder for an image."""
CLOSE, NEXT_REGION, BLANK = -1, -2, -3
Token = int | str

_AS = (
    {"strong": "b", "em": "i", "cite": "i", "dfn": "i", "var": "i", "kbd": "code", "samp": "code", "tt": "code"}
    | {"del": "s", "strike": "s", "ins": "u", "textarea": "pre", "listing": "pre", "xmp": "pre", "plaintext": "pre"}
    | {"dir": "ul", "img": "image"}
)
_NUMBER = {tag: number for number, tag in enumerate(SHOWN_TAGS)}
_NOT_SHOWN = -1
_SHOWN = np.full(CUSTOM_TAG + 1, _NOT_SHOWN, np.int16)
for _code, _tag in enumerate(TAGS):
    _name = _AS.get(_tag, _tag)
    if _name in _NUMBER and _tag not in ("menu", "image"):
        _SHOWN[_code] = _NUMBER[_name]
    elif _tag in BLOCK_TAGS:
        _SHOWN[_code] = _NUMBER["div"]
_BLOCKS = np.zeros(len(SHOWN_TAGS) + 1, np.bool_)
for _name in SHOWN_TAGS:
    _BLOCKS[_NUMBER[_name]] = _name in BLOCK_TAGS
MENU_LINKS, MENU_CHARACTERS = 3, 32
"""A list of at least this many links and nothing else, with at most this mean length, is shown as a row."""
CELL_CHARACTERS = 300
"""A table with a longer cell is a layout table: its columns would be unreadable in half a window."""
LONGEST_ALT = 120
MOST_PARTS, LONGEST_PART = 400, 40
"""Structures of a page that are drawn over its screenshot, and characters of their names."""
_WHITE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageRegions:
    """The regions of a page in page order. `of_run[r]` is the region of run r, -1 for a run of white space only.

    Each region has its `first` run, its number of `words`, the number of `pages` of the site with the text of its
    block, and its `element` of the site style tree.
    """

    page: Page
    of_run: NDArray[np.int32]
    first: NDArray[np.int64]
    words: NDArray[np.int64]
    pages: NDArray[np.int32]
    element: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.first)

    @property
    def blocks(self) -> Blocks:
        """The blocks of the page."""
        return self.page.blocks

    @classmethod
    def of(cls, page: Page, model: LearnedSite, readings: list[DialReading], shown: str | None) -> PageRegions:
        """Cut a page into regions: runs of one block that no reading distinguishes. `shown` names the tree to show."""
        tree, blocks = page.tree, page.blocks
        block = blocks.of_run()
        filled = np.flatnonzero(tree.written_runs)
        starts = np.ones(len(filled), np.bool_)
        if len(filled):
            columns = [block, tree.visible_runs]
            for reading in readings:
                kind = reading.verdict.kind[tree.run_owner]
                columns += [reading.limit, reading.kept_reason, reading.gone_reason, kind]
            starts[1:] = np.any([column[filled][1:] != column[filled][:-1] for column in columns], axis=0)
        of_run = np.full(tree.run_count, -1, np.int32)
        of_run[filled] = np.cumsum(starts) - 1
        first = filled[starts]
        repeated = model.pages_that_say(block_keys(blocks)) if model.pages else np.zeros(len(blocks), np.int32)
        element = np.full(tree.run_count, NOWHERE, np.int32)
        if shown is not None:
            element = model.noise_map(shown).trace(tree).element
        return cls(
            page=page,
            of_run=of_run,
            first=first,
            words=np.bincount(of_run[filled], weights=tree.run_words[filled], minlength=len(first)).astype(np.int64),
            pages=repeated[block[first]],
            element=element[first],
        )

    def seen(self, most: int) -> dict[str, Any] | None:
        """The screenshot of a rendered page, in base64, and the boxes of its first `most` regions; None if it has none.

        Boxes are left, top, width and height in pixels of the page; the picture is as wide as `width` of them. `parts`
        are its structures: kind, name and box of each.
        """
        tree, layout = self.blocks.tree, self.blocks.tree.layout
        if layout is None or not layout.picture:
            return None
        runs = np.flatnonzero((self.of_run >= 0) & (self.of_run < most) & (layout.width[tree.run_owner] > 0))
        region, node = self.of_run[runs], tree.run_owner[runs]
        start = np.full((min(len(self), most), 2), np.iinfo(np.int32).max, np.int64)
        end = np.zeros_like(start)
        np.minimum.at(start, region, np.stack((layout.left, layout.top), axis=1)[node].astype(np.int64))
        sizes = np.stack((layout.left + layout.width, layout.top + layout.height), axis=1)
        np.maximum.at(end, region, sizes[node].astype(np.int64))
        boxes = np.concatenate((start, np.maximum(end - start, 0)), axis=1)
        picture = base64.b64encode(layout.picture).decode("ascii")
        parts = _parts(self.page, layout)[:MOST_PARTS]
        return {"picture": picture, "width": layout.viewport[0], "boxes": boxes.ravel().tolist(), "parts": parts}

    def structures(self, most: int) -> list[str]:
        """The table or list that the block of each of the first `most` regions is in, in words."""
        found = self.page.structures
        return [found.says(node) for node in self.blocks.owner[self.blocks.of_run()[self.first[:most]]].tolist()]

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


def _parts(page: Page, layout: PageLayout) -> list[list[Any]]:
    """The sections, lists, records and data tables of a rendered page: kind, name, left, top, width, height."""
    found, blocks, said = page.structures, page.blocks, evidence_of(page).said
    sections, owner = sections_of(page), owner_of(page)
    texts = blocks.texts()
    named: list[tuple[str, str, NDArray[Any]]] = []
    for k in np.flatnonzero((sections.level > 0) & (sections.end > 0)).tolist():
        title = texts[int(said[k])][:LONGEST_PART]
        named.append(("section", title, owner[k : int(sections.end[k])]))
    by_list = np.argsort(found.list_of, kind="stable")
    first = np.searchsorted(found.list_of[by_list], np.arange(found.lists.shape[1] + 1))
    for number, node in enumerate(found.lists[0].tolist()):
        items = by_list[first[number] : first[number + 1]]
        named.append(("list", f"list {number + 1}", items if len(items) else np.array([node])))
    for node, group, number in found.records.T.tolist():
        named.append(("record", f"record {number + 1} of {int(found.groups[1, group])}", np.array([node])))
    for number, node in enumerate(found.tables[0].tolist()):
        named.append(("table", f"table {number + 1}", np.array([node])))
    return [[kind, name, *_around(layout, nodes)] for kind, name, nodes in named if (layout.width[nodes] > 0).any()]


def _around(layout: PageLayout, nodes: NDArray[Any]) -> list[int]:
    """The box around some nodes that are drawn: left, top, width, height."""
    drawn = nodes[layout.width[nodes] > 0]
    left, top = int(layout.left[drawn].min()), int(layout.top[drawn].min())
    right = int((layout.left[drawn] + layout.width[drawn]).max())
    bottom = int((layout.top[drawn] + layout.height[drawn]).max())
    return [left, top, right - left, bottom - top]


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


# Tokens


def tokens(tree: PageTree, regions: PageRegions, most: int) -> list[Token]:
    """Return the page up to its region `most`, images as their alternative text."""
    shown = _SHOWN[np.minimum(tree.tag, CUSTOM_TAG)].astype(np.int64)
    alts = _alts(tree)
    shown_runs = (regions.of_run >= 0) & (regions.of_run < most)
    keep = _inside(tree, shown_runs) > 0
    keep[list(alts)] = True
    last = int(np.flatnonzero(shown_runs)[-1]) if shown_runs.any() else -1
    ruled = np.flatnonzero(tree.tagged("hr", "br"))
    keep[ruled] = last >= 0 and ruled < tree.run_owner[last]
    shown[_menus(tree, shown_runs)] = _NUMBER["menu"]
    shown[_in_layout_tables(tree)] = _NUMBER["div"]
    opened = (shown != _NOT_SHOWN) & ~_wrappers(tree, keep, shown)
    opened[0] = True
    written_runs = shown_runs | (_in_shown_blocks(regions, shown_runs) & ~tree.written_runs)
    written: list[Token] = []
    next_run = iter(np.flatnonzero(keep[tree.run_owner] & written_runs).tolist())
    preformatted = ((tree.flags[tree.run_owner] & PREFORMATTED) != 0).tolist()
    of_run: list[int] = regions.of_run.tolist()
    numbers: list[int] = shown.tolist()
    region = -1

    def opens(i: int) -> None:
        if i:
            written.append(numbers[i])
            if i in alts:
                written.append(alts[i])

    def closes(i: int) -> None:
        if i:
            written.append(CLOSE)

    def write_text(text: str) -> None:
        nonlocal region
        run = next(next_run)
        if of_run[run] < 0 and not preformatted[run]:
            written.append(BLANK)
            return
        if of_run[run] > region:
            region = of_run[run]
            written.append(NEXT_REGION)
        written.append(text if preformatted[run] else _WHITE.sub(" ", text))

    walk(
        tree,
        keep,
        written_runs,
        opened,
        on_open=opens,
        on_close=closes,
        on_text=write_text,
        on_split=lambda _: written.append(BLANK),
    )
    return written


def _alts(tree: PageTree) -> dict[int, str]:
    """The alternative texts of visible images, by node."""
    nodes, alts = tree.values("alt")
    visible = tree.visible
    return {
        i: _WHITE.sub(" ", alt).strip()[:LONGEST_ALT]
        for i, alt in zip(nodes.tolist(), alts, strict=True)
        if alt.strip() and visible[i] and tree.tag[i] == TAG_CODE["img"]
    }


def _inside(tree: PageTree, values: NDArray[Any]) -> NDArray[Any]:
    """The sum of a value of each run over the runs inside each node."""
    total = np.concatenate(([0], np.cumsum(values)))
    first, last = (np.searchsorted(tree.run_start[:-1], ends) for ends in (tree.text_start, tree.text_end))
    inside: NDArray[Any] = total[last] - total[first]
    return inside


def _below(tree: PageTree, nodes: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The number of these nodes in the subtree of each node."""
    total = np.concatenate(([0], np.cumsum(nodes)))
    below: NDArray[np.int64] = total[tree.end] - total[:-1]
    return below


def _in_shown_blocks(regions: PageRegions, shown_runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The runs of blocks that have a shown run."""
    of_run = regions.blocks.of_run()
    in_block = np.bincount(of_run, weights=shown_runs, minlength=len(regions.blocks))
    found: NDArray[np.bool_] = in_block[of_run] > 0
    return found


def _wrappers(tree: PageTree, keep: NDArray[np.bool_], shown: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Boxes that contain one other box and nothing else: the page looks the same without them."""
    kept = np.flatnonzero(keep[1:]) + 1
    children = np.bincount(tree.parent[kept], minlength=len(tree))
    boxes = np.bincount(tree.parent[kept[_BLOCKS[shown[kept]]]], minlength=len(tree))
    has_text = np.zeros(len(tree), np.bool_)
    has_text[tree.run_owner[tree.written_runs]] = True
    found: NDArray[np.bool_] = (shown == _NUMBER["div"]) & (children == 1) & (boxes == 1) & ~has_text
    return found


def _in_layout_tables(tree: PageTree) -> NDArray[np.bool_]:
    """The elements of layout tables: those with tables or long texts in their cells."""
    tables, cells = tree.tagged("table"), tree.tagged("td", "th")
    lays_out = tables & (_below(tree, tables) > 1)
    around = nearest(tree.parent, tables)
    long = around[cells & (tree.text_end - tree.text_start > CELL_CHARACTERS)]
    lays_out[long[long >= 0]] = True
    elements = tables | cells | tree.tagged("tbody", "thead", "tfoot", "tr", "caption")
    found: NDArray[np.bool_] = elements & (around >= 0) & lays_out[around]
    return found


def _menus(tree: PageTree, shown_runs: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The innermost lists of short links."""
    length = np.diff(tree.run_start) * shown_runs
    links, lists = tree.tagged("a"), tree.tagged("ul", "ol")
    in_link = nearest(tree.parent, links) >= 0
    count = _below(tree, links & (_inside(tree, shown_runs) > 0))
    text, link_text = _inside(tree, length), _inside(tree, length * in_link[tree.run_owner])
    found = lists & (count >= MENU_LINKS) & (text <= MENU_CHARACTERS * count) & (link_text >= 0.9 * text)
    return np.flatnonzero(found & (_below(tree, lists) == 1))
