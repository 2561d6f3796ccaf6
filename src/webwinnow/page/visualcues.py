"""`VisualCues`: what the layout of a rendered page shows about its elements, as arrays beside its tree.

Sources of the cues:

- position and size, relative to the page: Song, Liu, Wen and Ma, Learning block importance models for web pages, WWW
  2004 (spatial features); Kovačević, Diligenti, Gori and Milutinović, Recognition of common areas in a web page using
  visual information, ICDM 2002 (left, right and centre);
- fonts and colours: Cai, Yu, Wen and Ma, VIPS, MSR-TR-2003-79 (text, colour and size cues); the contrast of two colours
  is that of WCAG 2.2, 1.4.3;
- fixed boxes: consent notices are bars and dialogs over the page (Utz, Degeling, Fahl, Schaub and Holz, (Un)informed
  consent, CCS 2019);
- text that nobody sees: Gyöngyi and Garcia-Molina, Web spam taxonomy, AIRWeb 2005 (content hiding).

The thresholds are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from webwinnow.page._nodes import nearest, topmost
from webwinnow.page.blocks import Blocks
from webwinnow.page.layout import BACKGROUND_IMAGE, CLIPPING, POSITIONS, UNKNOWN_COVER, VISIBLE, PageLayout
from webwinnow.page.markup import TAG_CODE
from webwinnow.page.tree import PageTree

Mask = NDArray[np.bool_]
Shares = NDArray[np.float32]

MOSTLY: Final = 0.5
"""If a larger share of the text outside links is covered, the page has a dialog over it; if a larger share is not
drawn, it was not drawn yet."""
MOST_OF_OVERLAY: Final = 0.3
"""A fixed box with a larger share of the text outside links is no overlay but the page itself, or a part of it: some
sites open an article in a box over the list of articles."""
COVERED_PERCENT: Final = 60
"""Percentage of sample points at which a text must be covered: three of the five."""
OPAQUE: Final = 128
"""Alpha from which a background hides the one behind it."""
UNSEEN_PIXELS: Final = 1
"""Width or height, in pixels, of boxes that clip their text away: collapsed ones, and texts for screen readers."""
CELLS: Final = 64
"""Cells of the page's width in which the main column is searched."""
_ABSOLUTE, _FIXED = POSITIONS.index("absolute"), POSITIONS.index("fixed")
_WHITE: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VisualCues:
    """One row per node of the tree; shares are of the page's width or area.

    - `left`, `width`, `area`: shares; `off_centre`: distance of the box's middle from the page's, 0 to 1 (its edge).
    - `in_column`: share of the box's width that is within the main column, where most of the text is.
    - `font`: size relative to the page's usual one; `contrast` of text and background, 1 to 21, 0 where not known.
    - `above_fold`: in the window without scrolling.
    - `overlay`: in a fixed box over the page; `unseen`: shown nowhere; `covered`: under another element.

    `column` is the main column, from and to, in pixels.
    """

    left: Shares
    width: Shares
    area: Shares
    off_centre: Shares
    in_column: Shares
    font: Shares
    contrast: Shares
    above_fold: Mask
    overlay: Mask
    unseen: Mask
    covered: Mask
    column: tuple[int, int]

    @property
    def shown(self) -> Mask:
        """Nodes that a person sees as part of the page."""
        return ~(self.overlay | self.unseen | self.covered)

    @classmethod
    def of(cls, blocks: Blocks) -> VisualCues | None:
        """The cues of a page; None if it was not rendered."""
        tree = blocks.tree
        if tree.layout is None:
            return None
        layout = _with_all_nodes(tree, tree.layout)
        page_width = max(layout.page_size[0], layout.viewport[0], 1)
        page_area = float(page_width) * max(layout.page_size[1], layout.viewport[1], 1)
        text = _text_outside_links(tree)
        unseen = _unseen(tree, layout, text)
        text[unseen[tree.run_owner]] = 0
        overlay = _overlays(tree, layout, text)
        covered = _covered(tree, layout, overlay, text)
        text[overlay[tree.run_owner]] = 0
        column = _main_column(blocks, layout, text, page_width)
        left, right = layout.left.astype(np.float64), layout.left.astype(np.float64) + layout.width
        within = np.minimum(right, column[1]) - np.maximum(left, column[0])
        middle = page_width / 2
        return cls(
            left=_share(left / page_width),
            width=_share(layout.width / page_width),
            area=_share(layout.width.astype(np.float64) * layout.height / page_area),
            off_centre=_share(np.abs((left + right) / 2 - middle) / middle),
            in_column=_share(within / np.maximum(layout.width, 1)),
            font=(layout.font_size / _usual(layout.font_size[tree.run_owner], text)).astype(np.float32),
            contrast=_contrast(tree, layout),
            above_fold=layout.top < layout.viewport[1],
            overlay=overlay,
            unseen=unseen,
            covered=covered,
            column=column,
        )


def _share(value: NDArray[np.float64]) -> Shares:
    return np.clip(value, 0.0, 1.0).astype(np.float32)


def _with_all_nodes(tree: PageTree, layout: PageLayout) -> PageLayout:
    """The layout, in which a node that the browser did not have is drawn as the element around it."""
    known = (layout.font_size > 0) | (layout.flags > 0) | (layout.display > 0)
    return layout if known.all() else layout.taken(np.maximum(nearest(tree.parent, known), 0))


def _text_outside_links(tree: PageTree) -> NDArray[np.int64]:
    """Characters of each run; 0 for white space, hidden text and links."""
    size = np.diff(tree.run_start).astype(np.int64)
    linked = nearest(tree.parent, tree.tag == TAG_CODE["a"])[tree.run_owner] >= 0
    size[linked | ~tree.written_runs | ~tree.visible_runs] = 0
    return size


def _unseen(tree: PageTree, layout: PageLayout, text: NDArray[np.int64]) -> Mask:
    """Nodes that the browser does not draw, clips away, or draws left of or above the page.

    None if most of the text would be: such a page waits for a script that failed before it shows itself.
    """
    flags = layout.flags
    small = np.minimum(layout.width, layout.height) <= UNSEEN_PIXELS
    clipped = small & ((flags & CLIPPING) != 0)
    outside = (layout.left + layout.width <= 0) | (layout.top + layout.height <= 0)
    outside &= (layout.width > 0) & ((layout.position == _ABSOLUTE) | (layout.position == _FIXED))
    away = nearest(tree.parent, clipped | outside) >= 0
    drawn = ((flags & VISIBLE) != 0) & (layout.font_size > 0) & ((layout.colour & 0xFF) > 0)
    drawn[0] = True
    unseen: Mask = away | ~drawn
    if text[unseen[tree.run_owner]].sum() > MOSTLY * text.sum():
        unseen = ~tree.visible
    return unseen


def _overlays(tree: PageTree, layout: PageLayout, text: NDArray[np.int64]) -> Mask:
    """Nodes in fixed boxes, unless most of the page is in one: then the box is the page."""
    fixed = topmost(tree.parent, (layout.position == _FIXED) & ((layout.flags & VISIBLE) != 0))
    inside = fixed >= 0
    if inside.any():
        held = np.bincount(np.maximum(fixed, 0)[tree.run_owner], text * inside[tree.run_owner], len(tree))
        page = held > MOST_OF_OVERLAY * text.sum()
        inside = inside & ~page[np.maximum(fixed, 0)]
    return inside


def _covered(tree: PageTree, layout: PageLayout, overlay: Mask, text: NDArray[np.int64]) -> Mask:
    """Nodes under other elements; none if most of the text is: then a dialog is over the page."""
    under = (layout.covered >= COVERED_PERCENT) & (layout.covered != UNKNOWN_COVER) & ~overlay
    if not under.any() or text[under[tree.run_owner]].sum() > MOSTLY * text.sum():
        return np.zeros(len(tree), np.bool_)
    covered: Mask = (nearest(tree.parent, under) >= 0) & ~overlay
    return covered


def _main_column(blocks: Blocks, layout: PageLayout, text: NDArray[np.int64], width: int) -> tuple[int, int]:
    """The column with the most text for its width: left and right edge, as most of its text has them."""
    weight = np.add.reduceat(text, blocks.first_run[:-1]) if len(blocks) else np.zeros(0, np.int64)
    left, right = layout.left[blocks.owner], layout.left[blocks.owner] + layout.width[blocks.owner]
    wanted = (weight > 0) & (right > 0) & (left < width) & (right > left)
    weight, left, right = weight[wanted], np.maximum(left[wanted], 0), np.minimum(right[wanted], width)
    if not len(weight):
        return 0, width
    first, last = left * CELLS // width, (right - 1) * CELLS // width
    density = np.zeros(CELLS + 1)
    np.add.at(density, first, weight / (last - first + 1))
    np.subtract.at(density, last + 1, weight / (last - first + 1))
    peak = int(np.argmax(np.cumsum(density)[:CELLS]))
    there = (first <= peak) & (peak <= last)
    return int(_usual(left[there], weight[there])), int(_usual(right[there], weight[there]))


def _usual(values: NDArray[np.integer], weight: NDArray[np.int64]) -> float:
    """The median, each value counted by its weight; at least 1."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    if not len(total) or not total[-1]:
        return float(max(np.median(values), 1)) if len(values) else 1.0
    return float(max(values[order][np.searchsorted(total, total[-1] / 2)], 1))


def _contrast(tree: PageTree, layout: PageLayout) -> Shares:
    """The contrast ratio of text and background (WCAG 2.2); 0 where there is a picture behind the text."""
    pictured = (layout.flags & BACKGROUND_IMAGE) != 0
    opaque = (layout.background & 0xFF) >= OPAQUE
    behind = nearest(tree.parent, opaque | pictured)
    colour = np.where(behind >= 0, layout.background[behind], np.uint32(_WHITE))
    one, other = _luminance(layout.colour), _luminance(colour)
    ratio = (np.maximum(one, other) + 0.05) / (np.minimum(one, other) + 0.05)
    ratio[(behind >= 0) & pictured[behind]] = 0.0
    return ratio.astype(np.float32)


def _luminance(colour: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Relative luminance of sRGB colours (WCAG 2.2)."""
    total = np.zeros(len(colour))
    for shift, weight in ((24, 0.2126), (16, 0.7152), (8, 0.0722)):
        part = ((colour >> np.uint32(shift)) & np.uint32(0xFF)) / 255.0
        total += weight * np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return total
