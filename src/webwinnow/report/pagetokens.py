"""A page as a list of tokens from which the viewer rebuilds it: known tags and plain text, nothing else.

A token is the number of a tag in `SHOWN_TAGS` (an element opens), `CLOSE`, `NEXT_REGION` (the next region starts
here), `BLANK`, or a string: text. The page's attributes, URLs, styles and scripts are left out.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from webwinnow._nodes import nearest
from webwinnow._words import blank_runs
from webwinnow.markup import BLOCK_TAGS, CUSTOM_TAG, PREFORMATTED, TAG_CODE, TAGS
from webwinnow.pagetree import PageTree
from webwinnow.render.walk import walk
from webwinnow.report.pageregions import PageRegions

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
_WHITE = re.compile(r"\s+")


def tokens(tree: PageTree, regions: PageRegions, most: int) -> list[Token]:
    """Return the page up to its region `most`, images as their alternative text."""
    shown = _SHOWN[np.minimum(tree.tag, CUSTOM_TAG)].astype(np.int64)
    alts = _alts(tree)
    said = (regions.of_run >= 0) & (regions.of_run < most)
    keep = _containing(tree, said)
    keep[list(alts)] = True
    last = int(np.flatnonzero(said)[-1]) if said.any() else -1
    ruled = np.flatnonzero(tree.tagged("hr", "br"))
    keep[ruled] = last >= 0 and ruled < tree.run_owner[last]
    shown[_menus(tree, said)] = _NUMBER["menu"]
    shown[_in_layout_tables(tree)] = _NUMBER["div"]
    opened = (shown != _NOT_SHOWN) & ~_wrappers(tree, keep, shown)
    opened[0] = True
    spoken = said | (_in_shown_blocks(regions, said) & blank_runs(tree.text, tree.run_start))
    written: list[Token] = []
    speaking = iter(np.flatnonzero(keep[tree.run_owner] & spoken).tolist())
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

    def says(text: str) -> None:
        nonlocal region
        run = next(speaking)
        if of_run[run] < 0 and not preformatted[run]:
            written.append(BLANK)
            return
        if of_run[run] > region:
            region = of_run[run]
            written.append(NEXT_REGION)
        written.append(text if preformatted[run] else _WHITE.sub(" ", text))

    walk(tree, keep, spoken, opened, opens=opens, closes=closes, says=says, parts=lambda _: written.append(BLANK))
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


def _containing(tree: PageTree, runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The nodes that contain one of `runs`."""
    counted = np.concatenate(([0], np.cumsum(runs)))
    first = np.searchsorted(tree.run_start[:-1], tree.text_start)
    last = np.searchsorted(tree.run_start[:-1], tree.text_end)
    held: NDArray[np.bool_] = counted[last] > counted[first]
    return held


def _in_shown_blocks(regions: PageRegions, said: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The runs of blocks that have a shown run."""
    of_run = regions.blocks.of_run()
    speaking = np.bincount(of_run, weights=said, minlength=len(regions.blocks))
    found: NDArray[np.bool_] = speaking[of_run] > 0
    return found


def _wrappers(tree: PageTree, keep: NDArray[np.bool_], shown: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Boxes that contain one other box and nothing else: the page looks the same without them."""
    kept = np.flatnonzero(keep[1:]) + 1
    children = np.bincount(tree.parent[kept], minlength=len(tree))
    boxes = np.bincount(tree.parent[kept[_BLOCKS[shown[kept]]]], minlength=len(tree))
    has_text = np.zeros(len(tree), np.bool_)
    has_text[tree.run_owner[~blank_runs(tree.text, tree.run_start)]] = True
    found: NDArray[np.bool_] = (shown == _NUMBER["div"]) & (children == 1) & (boxes == 1) & ~has_text
    return found


def _in_layout_tables(tree: PageTree) -> NDArray[np.bool_]:
    """The elements of layout tables: those with tables or long texts in their cells."""
    tables, cells = tree.tagged("table"), tree.tagged("td", "th")
    counted = np.concatenate(([0], np.cumsum(tables)))
    lays_out = tables & (counted[tree.end] - counted[:-1] > 1)
    around = nearest(tree.parent, tables)
    long = around[cells & (tree.text_end - tree.text_start > CELL_CHARACTERS)]
    lays_out[long[long >= 0]] = True
    elements = tables | cells | tree.tagged("tbody", "thead", "tfoot", "tr", "caption")
    found: NDArray[np.bool_] = elements & (around >= 0) & lays_out[around]
    return found


def _menus(tree: PageTree, said: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The innermost lists of short links."""
    length = np.diff(tree.run_start) * said
    linked = np.zeros(len(tree), np.bool_)
    links = tree.tagged("a")
    linked[links] = True
    parents: list[int] = tree.parent.tolist()
    in_link: list[bool] = linked.tolist()
    for i in range(1, len(tree)):
        in_link[i] = in_link[i] or in_link[parents[i]]
    total = np.concatenate(([0], np.cumsum(length)))
    of_links = np.concatenate(([0], np.cumsum(length * np.array(in_link)[tree.run_owner])))
    first = np.searchsorted(tree.run_start[:-1], tree.text_start)
    last = np.searchsorted(tree.run_start[:-1], tree.text_end)
    is_list, items = tree.tagged("ul", "ol"), np.concatenate(([0], np.cumsum(links & _containing(tree, said))))
    lists = np.concatenate(([0], np.cumsum(is_list)))
    count = items[tree.end] - items[:-1]
    text, link_text = total[last] - total[first], of_links[last] - of_links[first]
    found = is_list & (count >= MENU_LINKS) & (text <= MENU_CHARACTERS * count) & (link_text >= 0.9 * text)
    return np.flatnonzero(found & (lists[tree.end] - lists[:-1] == 1))
