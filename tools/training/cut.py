"""How far from the best expected cut the best cut of a page is, by genre: `PageModel.cut_shift`.

The expected F1 takes the blocks of a page as independent. On pages of items they are not, and their probabilities are
too low in the middle, so a lower cut is better. It is chosen on held-out probabilities, pooled over tables and lists as
in cleaning. Articles keep the expected cut: their best one differs by less than 0.002 in F1 from it, and other news
loses by a lower one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from training.pages import LabelledPage
from webwinnow.judge.evidence import PageEvidence, page_with, reading_of
from webwinnow.judge.models import best_cut
from webwinnow.judge.reading import GENRES
from webwinnow.judge.wholes import pooled

__all__ = ["cut_shift"]

SHIFTS = np.linspace(-0.3, 0.1, 33)
COST = 1.0
"""F1 that a shift of 1 costs, times its square: flat curves stay near 0. Of 0.1, 0.3 and 1 the last was best on pages
of other sites."""
SMOOTHED = 5
"""Neighbouring shifts whose mean F1 counts."""


def cut_shift(
    pages: Sequence[LabelledPage], probability: Sequence[NDArray[np.float64]], genre: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The shift of each genre with the highest F1, given held-out probabilities of blocks and genres."""
    chosen = [k for k, page in enumerate(pages) if page.truth is not None and len(page.label)]
    curves = np.array([_curve(pages[k], probability[k], genre[k]) for k in chosen])
    weight = np.array([pages[k].weight for k in chosen])
    shift = np.zeros(len(GENRES))
    for g in range(1, len(GENRES)):
        share = weight * genre[chosen, g]
        mean = np.pad((share @ curves) / max(share.sum(), 1e-9), SMOOTHED // 2, mode="edge")
        smooth = np.convolve(mean, np.full(SMOOTHED, 1.0 / SMOOTHED), "valid")
        shift[g] = SHIFTS[int(np.argmax(smooth - COST * SHIFTS**2))]
    return np.round(shift, 6)


def _curve(page: LabelledPage, own: NDArray[np.float64], genre: NDArray[np.float64]) -> NDArray[np.float64]:
    """The F1 of a page by shift, in words of labelled blocks."""
    reading, blocks, none = reading_of(page), reading_of(page).blocks, np.zeros(0, np.uint64)
    evidence = PageEvidence(
        said=reading.said.astype(np.int32),
        words=reading.words.astype(np.int32),
        text=reading.text_key,
        path=reading.text_key,
        probability=own,
        post=np.zeros(len(own)),
        genre_probability=genre,
        names=none,
        first_run=blocks.first_run.astype(np.int32),
        owner=blocks.owner,
    )
    probability = pooled(page_with(page.tree, evidence), own)
    content = page.words * page.label
    order = np.argsort(-probability, kind="stable")
    kept, right = np.cumsum(page.words[order]), np.cumsum(content[order])
    lowest = np.minimum(best_cut(probability, reading.words)[0] + SHIFTS, probability.max())
    count = np.searchsorted(-probability[order], -lowest, side="right")
    found: NDArray[np.float64] = 2 * right[count - 1] / np.maximum(kept[count - 1] + content.sum(), 1.0)
    return found
