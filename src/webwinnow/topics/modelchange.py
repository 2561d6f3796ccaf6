"""`model_change`: how far a model moved when sites were added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from webwinnow.topics.treemethods import TwoPhase
from webwinnow.topics.treescale import TreeScale

TOP_WORDS = 15
"""Words of a topic that are its own most clearly; a change lists those that are new among them, and those that left."""
UNKNOWN = "?"
"""A word without a known spelling."""


def model_change(
    before: TwoPhase, after: TwoPhase, names: Sequence[str], spelled: Mapping[int, str]
) -> dict[str, dict[str, Any]]:
    """The change from one model to the next, as plain values.

    `largest` is the largest change of any element of pi, A and B, of page trees and of DOM trees. `topics` has P(C) of
    sites, pages and blocks, before and after, and the words that entered and left the most distinctive ones.
    """
    largest = {
        scale: {
            symbol: _rounded(np.abs(getattr(new, row) - getattr(old, row)).max())
            for symbol, row in (("pi", "root"), ("A", "transition"), ("B", "emission"))
        }
        for scale, old, new in (
            ("pages", before.pages.parameters, after.pages.parameters),
            ("blocks", before.blocks.parameters, after.blocks.parameters),
        )
    }
    priors = [_priors(model.pages, model.blocks) for model in (before, after)]
    words = [model.words.distinctive(TOP_WORDS) for model in (before, after)]
    topics = {
        name: {
            "prior_before": priors[0][number],
            "prior": priors[1][number],
            "words_in": [spelled.get(key, UNKNOWN) for key in words[1][number] if key not in words[0][number]],
            "words_out": [spelled.get(key, UNKNOWN) for key in words[0][number] if key not in words[1][number]],
        }
        for number, name in enumerate(names)
    }
    return {"largest": largest, "topics": topics}


def _priors(pages: TreeScale, blocks: TreeScale) -> list[dict[str, float]]:
    """P(C) of each topic at the three scales of fusion."""
    rows = zip(pages.parameters.root, pages.prior, blocks.prior, strict=True)
    return [dict(zip(("sites", "pages", "blocks"), map(_rounded, row), strict=True)) for row in rows]


def _rounded(number: float) -> float:
    return round(float(number), 6)
