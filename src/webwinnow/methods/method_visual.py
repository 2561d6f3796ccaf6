"""Method `visual`: segment a rendered page along its visual separators, and keep the central part that is rich in text.

The segments are those of `visualsegments` (VIPS, MSR-TR-2003-79). Which of them is the main content is not part of
VIPS. Central and wide segments with much text outside links are the important ones (Song, Liu, Wen and Ma, Learning
block importance models for web pages, WWW 2004, 4.1: position, size, length of text, length of link text); header,
footer and side columns are around them (Kovačević, Diligenti, Gori and Milutinović, ICDM 2002). From the whole page the
search goes into the segment with most of the text, while there is one. The thresholds are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.verdict import Reason, Verdict, keep_by_reason, keep_visible
from webwinnow.judge.visualevidence import unseen_reason
from webwinnow.methods.registry import Method
from webwinnow.methods.visualsegments import GRANULARITY, Segments, segments
from webwinnow.page._nodes import nearest
from webwinnow.page._words import word_spans
from webwinnow.page.layout import PageLayout
from webwinnow.page.markup import TAG_CODE
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.page.visualcues import VisualCues
from webwinnow.settings import Settings, setting, share
from webwinnow.site.learned import LearnedSite

WITHOUT_LAYOUT = "the page was not rendered, so nothing is known of its layout; nothing was removed"
LEAST_LINKED = 4
"""A segment of fewer linked words is not a block of links."""
HEADLINE_FONT = 1.4
"""A text above the main part, in its column, with a font larger by this factor than the page's usual one heads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VisualSettings(Settings):
    """Settings of method `visual`."""

    granularity: Annotated[
        int,
        setting(
            "weight from which a separator divides a segment: gap in pixels, with what colours and fonts add", least=1
        ),
    ] = GRANULARITY
    descend: Annotated[
        float, share("go into a segment that has at least this share of the text of the one around it")
    ] = 0.75
    links: Annotated[float, share("a segment with a larger share of its words in links is a block of links")] = 0.5
    column: Annotated[float, share("a segment with a smaller share of its width in the main column is beside it")] = 0.1


def clean(page: Page, _model: LearnedSite | None, settings: VisualSettings) -> Verdict:
    """Keep the segments of the central part; without a layout, everything that is visible."""
    tree, cues, layout = page.tree, page.visual, page.tree.layout
    if cues is None or layout is None:
        return keep_visible(tree, "visual", WITHOUT_LAYOUT)
    found = segments(tree, layout, cues, settings.granularity)
    words, linked = _words(tree, cues, found)
    width = np.maximum(found.box[:, 2] - found.box[:, 0], 1)
    within = np.minimum(found.box[:, 2], cues.column[1]) - np.maximum(found.box[:, 0], cues.column[0])
    central = within >= settings.column * width
    text = np.where(central, words - linked, 0)
    main = _main_part(found, _totals(found, text), settings.descend)
    inside = _within(found, main)
    hub = (linked > settings.links * words) & (linked >= LEAST_LINKED)
    keep = inside & central & ~hub
    if not keep.any():
        keep = inside
    keep |= _headlines(tree, layout, cues, found, found.box[main]) & central & ~hub
    return _verdict(tree, cues, found, keep, hub, text, words)


METHOD = Method(
    "visual",
    "keep the central text-rich part of a rendered page, segmented along visual separators (VIPS)",
    clean,
    settings=VisualSettings,
)


def _words(tree: PageTree, cues: VisualCues, found: Segments) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The words of each smallest segment, and those in links."""
    seen = cues.shown & tree.visible
    _, runs, _, _ = word_spans(tree.text, tree.run_start, seen[tree.run_owner])
    owner = tree.run_owner[runs]
    part = found.part_of[owner]
    is_link = (nearest(tree.parent, tree.tag == TAG_CODE["a"]) >= 0)[owner]
    known = part >= 0
    counts = (np.bincount(part[known & which], minlength=len(found)) for which in (np.ones_like(is_link), is_link))
    words, linked = counts
    return words, linked


def _totals(found: Segments, own: NDArray[np.int64]) -> NDArray[np.int64]:
    """The sums over each segment with those in it."""
    total = own.copy()
    for part in range(len(found) - 1, 0, -1):
        total[found.parent[part]] += total[part]
    return total


def _main_part(found: Segments, total: NDArray[np.int64], descend: float) -> int:
    """The segment that is reached by going into the one with most of the text, while there is one."""
    main = 0
    largest = np.zeros(len(found), np.int64)
    for part in range(len(found) - 1, 0, -1):  # the first of equals
        best = largest[found.parent[part]]
        if not best or total[part] >= total[best]:
            largest[found.parent[part]] = part
    while largest[main] and total[largest[main]] >= descend * total[main] > 0:
        main = int(largest[main])
    return main


def _within(found: Segments, main: int) -> NDArray[np.bool_]:
    """The segments in one, and itself."""
    inside = np.zeros(len(found), np.bool_)
    inside[main] = True
    for part in range(main + 1, len(found)):
        inside[part] = inside[found.parent[part]]
    return inside


def _headlines(
    tree: PageTree, layout: PageLayout, cues: VisualCues, found: Segments, main: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """The segments above the main part that begin with a headline: `<h1>`, or a large font."""
    nodes = np.flatnonzero((found.part_of >= 0) & cues.shown & (layout.height > 0))
    large = (tree.tag[nodes] == TAG_CODE["h1"]) | (cues.font[nodes] >= HEADLINE_FONT)
    part = found.part_of[nodes[large]]
    heads = np.zeros(len(found), np.bool_)
    heads[part] = True
    heads &= (found.box[:, 3] <= main[1] + 1) & (found.box[:, 3] > 0)
    heads &= found.box[:, 3] >= main[1] - layout.viewport[1]  # at most a window above
    lowest = found.box[heads, 3].max(initial=0)
    last: NDArray[np.bool_] = heads & (found.box[:, 3] >= lowest)
    return last


def _verdict(
    tree: PageTree,
    cues: VisualCues,
    found: Segments,
    keep: NDArray[np.bool_],
    hub: NDArray[np.bool_],
    text: NDArray[np.int64],
    words: NDArray[np.int64],
) -> Verdict:
    removed = np.where(hub, Reason.HUB_BLOCK, Reason.MARGINAL)
    of_part = np.where(keep, Reason.CENTRAL, removed)
    part = found.part_of[tree.run_owner]
    rows = np.arange(tree.run_count)
    before = np.maximum.accumulate(np.where(part >= 0, rows, -1))
    part = np.where(before >= 0, part[before], -1)  # text around parts belongs to the one before it
    reason = np.where(part >= 0, of_part[part], Reason.MARGINAL)
    unseen = unseen_reason(cues)[tree.run_owner]
    reason = np.where(unseen > 0, unseen, reason)
    rich = np.where(part >= 0, (text / np.maximum(words, 1))[part], 0.0)
    score = np.zeros(len(tree), np.float32)
    np.maximum.at(score, tree.run_owner, rich.astype(np.float32))
    kept = (Reason.CENTRAL,)
    return keep_by_reason(tree, "visual", reason, kept, Reason.MARGINAL, score, drop=~cues.shown)
