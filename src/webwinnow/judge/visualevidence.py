"""What the layout of a rendered page adds to methods `page` and `combined`; without a layout, nothing.

Text in fixed overlays (consent banners) is removed. So is text that nobody sees, unseen or covered, unless it is
probably content. Both have their own reasons. For other blocks the layout moves the log odds a little: against text
beside the main column (side columns: Kovačević et al., ICDM 2002; Song et al., WWW 2004), in a small font or in a faint
colour (VIPS, MSR-TR-2003-79: text and colour cues).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.evidence import evidence_of
from webwinnow.judge.models import log_odds, sigmoid
from webwinnow.judge.verdict import Reason
from webwinnow.page.page import Page
from webwinnow.page.visualcues import VisualCues

BESIDE: Final = 0.25
"""Log odds that a block loses if it is wholly beside the main column; less if partly."""
SMALL_FONT, SMALL_PRINT = 0.85, 0.5
"""A block in a font smaller than this, relative to the page's usual one, loses these log odds."""
LEAST_CONTRAST, FAINT = 3.0, 0.25
"""A block whose contrast is known and below this, the least that WCAG 2.2 (1.4.3) allows, loses these log odds."""

UNSEEN_ABOVE: Final = 0.5
"""Text that nobody sees is kept from this probability on, wherever the cut of the page is, like text that the HTML
hides (`wholes.HIDDEN_ABOVE`)."""


def unseen_reason(cues: VisualCues) -> NDArray[np.uint8]:
    """For each node the reason not to show it; 0 where there is none."""
    found = np.zeros(len(cues.overlay), np.uint8)
    found[cues.covered] = Reason.COVERED
    found[cues.unseen] = Reason.UNSEEN
    found[cues.overlay] = Reason.OVERLAY
    return found


def unseen_blocks(
    page: Page, probability: NDArray[np.float64], *, keep_likely: bool = True
) -> NDArray[np.uint8] | None:
    """For each block with text the reason to remove it; None for a page that was not rendered.

    Overlays are removed whatever they say. With `keep_likely`, unseen and covered text that is probably content is not
    removed: the texts of tabs and folded sections are unseen until somebody clicks.
    """
    if page.visual is None:
        return None
    first = page.tree.run_owner[page.blocks.first_run[evidence_of(page).said]]
    found = unseen_reason(page.visual)[first]
    if keep_likely:
        found[(found != Reason.OVERLAY) & (probability >= UNSEEN_ABOVE)] = 0
    return found


def visual_pushes(page: Page) -> dict[str, NDArray[np.float64]]:
    """The change in log odds of each block with text, by cue; none for a page that was not rendered."""
    cues = page.visual
    if cues is None:
        return {}
    owner = page.blocks.owner[evidence_of(page).said]
    first = page.tree.run_owner[page.blocks.first_run[evidence_of(page).said]]
    faint = (cues.contrast[first] > 0) & (cues.contrast[first] < LEAST_CONTRAST)
    return {
        "beside": -BESIDE * (1.0 - cues.in_column[owner].astype(np.float64)),
        "small": np.where(cues.font[first] < SMALL_FONT, -SMALL_PRINT, 0.0),
        "faint": np.where(faint, -FAINT, 0.0),
    }


def with_layout(page: Page, probability: NDArray[np.float64], *, keep_likely: bool = True) -> NDArray[np.float64]:
    """The probabilities of blocks with what the layout adds; the same array for a page that was not rendered."""
    pushes = visual_pushes(page)
    if not pushes:
        return probability
    moved = sigmoid(log_odds(probability) + sum(pushes.values()))
    unseen = unseen_blocks(page, moved, keep_likely=keep_likely)
    return moved if unseen is None else np.where(unseen > 0, 0.0, moved)
