"""A rendered page segmented along visual separators: the idea of VIPS (Cai, Yu, Wen and Ma, MSR-TR-2003-79).

VIPS repeats three steps: it extracts blocks from the tree (4.1), finds the separators between them, the horizontal and
vertical gaps that cross no block, with a weight for each (4.2), and builds the structure of the content (4.3), in which
the heaviest separators divide the largest parts. A part that is coherent enough is not divided further.

What differs here, and why:

- Gaps are measured between the boxes of text and pictures, not between those of elements, because style sheets of
  today make gaps by padding and leave containers of floats without height.
- The tag rules of 4.1 (`<td>`, `<font>`, `<hr>`) are about pages of 2003. Their meaning is kept: an element is divided
  if it has block children, and not if all are inline (rules 2, 4, 5 and 11); a coloured box in another is a part of its
  own (rule 7); a box that is small beside the page is not divided (rules 8 and 9).
- The degree of coherence is the weight of the heaviest separator inside a part: `granularity` is its limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from webwinnow.page.layout import DISPLAYS, OWN_TEXT, PageLayout
from webwinnow.page.markup import TAG_CODE
from webwinnow.page.tree import PageTree
from webwinnow.page.visualcues import VisualCues

GRANULARITY: Final = 24
"""Weight from which a separator divides a part: the gap in pixels of a wide paragraph break. Ours."""
WIDEST_GAP: Final = 60
"""Wider gaps weigh as much as this one."""
COLOURED, RULED, HEADED, ALIKE = 30, 20, 15, -15
"""What separators gain (VIPS 4.2): different backgrounds on both sides; a line (`<hr>`) in the gap; a larger font
below a horizontal one. And lose: text of the same font on both sides of a horizontal one. Weights ours."""
STEP: Final = 5
"""Weights are multiples of this, so that separators that look alike divide together."""
SMALL: Final = 0.02
"""A part with a smaller share of the page's area is not divided (VIPS 4.1, rules 8 and 9)."""
LARGER_FONT: Final = 1.15
"""A font that is larger by this factor heads what is below it."""
MOST_PARTS: Final = 20_000
"""Parts of a page; what is left then is not divided."""
_INLINE = np.isin(np.arange(len(DISPLAYS)), [DISPLAYS.index(name) for name in ("inline", "inline-block")])
_PICTURES = ("img", "video", "canvas", "iframe", "svg", "object", "embed", "picture")
_Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """The parts of a page. Part p is within `parent[p]` (part 0 is the page); parts are listed before those in them.

    `part_of[i]` is the smallest part that node i is in, -1 for nodes around parts. `box[p]` is left, top, right and
    bottom of what part p shows.
    """

    parent: NDArray[np.int32]
    box: NDArray[np.int32]
    part_of: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(slots=True)
class _Block:
    """Adjacent siblings that are drawn as one: their nodes, and left, top, right and bottom."""

    nodes: list[int]
    box: _Box


def segments(tree: PageTree, layout: PageLayout, cues: VisualCues, granularity: int = GRANULARITY) -> Segments:
    """Segment a page; parts have no text that nobody sees."""
    page = _DrawnPage(tree, layout, cues)
    least_area = SMALL * layout.viewport[0] * max(layout.page_size[1], layout.viewport[1])
    parents, boxes = [-1], [page.boxes[0]]
    part_of = np.full(len(tree), -1, np.int32)
    waiting: list[tuple[int, list[_Block]]] = [(0, [_Block([0], page.boxes[0])])]
    while waiting:
        part, blocks = waiting.pop()
        box = boxes[part]
        divisible = (box[2] - box[0]) * (box[3] - box[1]) >= least_area and len(parents) < MOST_PARTS
        if divisible:
            while len(blocks) == 1 and (inner := page.inside(blocks[0])) is not None:
                blocks = inner
        groups = page.divided(blocks, granularity) if divisible else [blocks]
        if len(groups) == 1 and divisible and (opened := page.opened(blocks, least_area)) is not None:
            waiting.append((part, opened))
            continue
        if len(groups) == 1:
            for block in blocks:
                for node in block.nodes:
                    part_of[node : tree.end[node]] = part
            continue
        for group in groups:
            parents.append(part)
            boxes.append(_around([block.box for block in group]))
            waiting.append((len(parents) - 1, group))
    return Segments(np.array(parents, np.int32), np.array(boxes, np.int32), part_of)


class _DrawnPage:
    """The boxes of what each element shows, and the rules of VIPS over them."""

    def __init__(self, tree: PageTree, layout: PageLayout, cues: VisualCues) -> None:
        self.tree = tree
        self.layout = layout
        drawn = cues.shown & (layout.width > 0) & (layout.height > 0)
        says = ((layout.flags & OWN_TEXT) != 0) | tree.tagged(*_PICTURES)
        self.own_text = drawn & ((layout.flags & OWN_TEXT) != 0)
        self.boxes = _content_boxes(tree, layout, drawn & says)
        self.lines = np.flatnonzero(drawn & (tree.tag == TAG_CODE["hr"]))
        self.inline = _INLINE[layout.display]
        self.colour = np.where((layout.background & 0xFF) > 0, layout.background >> np.uint32(8), np.uint32(0xFFFFFF))
        self.coloured = (layout.background & 0xFF) > 0

    def inside(self, block: _Block) -> list[_Block] | None:
        """The blocks that a block is divided into (VIPS 4.1); None if it is not divided."""
        if len(block.nodes) > 1:
            return [_Block([node], self.boxes[node]) for node in block.nodes] if self._any_block(block.nodes) else None
        children = self._children(block.nodes[0])
        if not self._any_block(children):
            return None  # rule 4: text and virtual text nodes only
        found: list[_Block] = []
        for child in children:
            if self.inline[child] and found and self.inline[found[-1].nodes[-1]]:
                found[-1].nodes.append(child)
                found[-1].box = _around([found[-1].box, self.boxes[child]])
            else:
                found.append(_Block([child], self.boxes[child]))
        return found

    def opened(self, blocks: list[_Block], least_area: float) -> list[_Block] | None:
        """The blocks with the insides of the large ones, between which no separator is heavy; None if none has any."""
        found: list[_Block] = []
        for block in blocks:
            left, top, right, bottom = block.box
            inner = self.inside(block) if (right - left) * (bottom - top) >= least_area else None
            found += [block] if inner is None else inner
        return found if len(found) > len(blocks) else None

    def _any_block(self, nodes: list[int]) -> bool:
        """Whether an element is drawn as a block: itself, or an inline one around it."""
        return any(not self.inline[node] or self._any_block(self._children(node)) for node in nodes)

    def _children(self, node: int) -> list[int]:
        """The child elements that show something."""
        tree, found = self.tree, []
        child, end = node + 1, int(tree.end[node])
        while child < end:
            if self.boxes[child][2] > self.boxes[child][0]:
                found.append(child)
            child = int(tree.end[child])
        return found

    def divided(self, blocks: list[_Block], granularity: int) -> list[list[_Block]]:
        """The groups of blocks between the heaviest separators (VIPS 4.2 and 4.3); one group if all are light."""
        best, groups = 0, [blocks]
        for axis in (1, 0):
            order = sorted(blocks, key=lambda block: block.box[axis])
            found, reach = [], order[0].box[axis + 2]
            for at, (one, other) in enumerate(pairwise(order), start=1):
                if other.box[axis] >= reach:
                    weight = self._weight(one, other, reach, other.box[axis], axis)
                    found.append((weight, at))
                reach = max(reach, other.box[axis + 2])
            heaviest = max((weight for weight, _ in found), default=0)
            if heaviest >= max(granularity, best + 1):
                cuts = [at for weight, at in found if weight == heaviest]
                best = heaviest
                groups = [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]
        return groups

    def _weight(self, one: _Block, other: _Block, start: int, end: int, axis: int) -> int:
        """The weight of the separator between two blocks (VIPS 4.2)."""
        weight = min(end - start, WIDEST_GAP)
        first, last = one.nodes[-1], other.nodes[0]
        coloured = self.coloured[first] or self.coloured[last]
        if coloured and self.colour[first] != self.colour[last]:
            weight += COLOURED
        if axis == 1:
            tops = self.layout.top[self.lines]
            if ((tops >= start) & (tops <= end)).any():
                weight += RULED
            above, below = self._font(first), self._font(last)
            if below > LARGER_FONT * above:
                weight += HEADED
            elif above == below:
                weight += ALIKE
        return weight // STEP * STEP

    def _font(self, node: int) -> int:
        """The font size of the first text in an element."""
        within = self.own_text[node : self.tree.end[node]]
        at = node + int(np.argmax(within)) if len(within) else node
        return int(self.layout.font_size[at])


def _content_boxes(tree: PageTree, layout: PageLayout, says: NDArray[np.bool_]) -> list[_Box]:
    """For each node the box around the text and pictures in it; (0, 0, 0, 0) where there are none."""
    left, top = layout.left.tolist(), layout.top.tolist()
    width, height, parent, shows = layout.width.tolist(), layout.height.tolist(), tree.parent.tolist(), says.tolist()
    found: list[_Box | None] = [None] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        box = found[node]
        if shows[node]:
            own = (left[node], top[node], left[node] + width[node], top[node] + height[node])
            box = found[node] = own if box is None else _around([own, box])
        if node and box is not None:
            above = found[parent[node]]
            found[parent[node]] = box if above is None else _around([above, box])
    return [(0, 0, 0, 0) if box is None else box for box in found]


def _around(boxes: list[_Box]) -> _Box:
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)
