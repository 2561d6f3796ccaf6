"""Method `cst`: a text view of the compressed structure tree's weights (thesis 4.3). Blocks of weighty words stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow.blocks import Blocks, cut
from webwinnow.cleaning.verdict import (
    HIDDEN_REASON,
    LIGHT_REASON,
    WEIGHTY_REASON,
    Verdict,
    keep_around,
    keep_visible,
    reasons_of_nodes,
    without_site,
)
from webwinnow.errors import SettingsError
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite

__all__ = ["CstSettings", "block_weights", "clean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CstSettings:
    """`weight`: a block stays if its words weigh so much on average. Below `min_pages` pages nothing is known."""

    weight: float = 0.5
    """The best of a row from 0.01 to 0.9 on `sites-news`, and flat around: `benchmarks/run.py sst`."""
    min_pages: int = 3

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1.0:
            raise SettingsError(f"the weight per word must lie between 0 and 1, not at {self.weight}")


def clean(tree: PageTree, model: LearnedSite | None, settings: CstSettings | None = None) -> Verdict:
    """Keep the blocks whose mean weight per word (5-10) is high; blocks without words go or stay with those before."""
    settings = settings or CstSettings()
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        return keep_visible(tree, method="cst", note=note)
    blocks = cut(tree)
    of_run = blocks.of_run()
    mean = block_weights(blocks, model)
    visible = tree.visible[tree.run_owner]
    run_reason = np.where(
        visible, np.where(mean >= settings.weight, WEIGHTY_REASON, LIGHT_REASON)[of_run], HIDDEN_REASON
    ).astype(np.uint8)
    keep_runs = run_reason == WEIGHTY_REASON
    keep = keep_around(tree, keep_runs)
    score = keep.astype(np.float32)
    score[tree.run_owner] = mean[of_run]
    return Verdict(
        method="cst",
        keep=keep,
        keep_runs=keep_runs,
        reason=reasons_of_nodes(tree, keep, run_reason, WEIGHTY_REASON, LIGHT_REASON),
        run_reason=run_reason,
        score=score,
        weight=score,
        kind=np.zeros(len(tree), np.uint8),
    )


def block_weights(blocks: Blocks, model: LearnedSite) -> NDArray[np.float64]:
    """The mean weight per word of each block; one without words has that of the last before it with some."""
    of_run = blocks.of_run()
    runs, weight = model.weights.of_words(blocks.tree)
    words = np.bincount(of_run[runs], minlength=len(blocks))
    mean = np.bincount(of_run[runs], weights=weight, minlength=len(blocks)) / np.maximum(words, 1)
    last = np.maximum.accumulate(np.where(words > 0, np.arange(len(blocks)), -1))
    found: NDArray[np.float64] = np.where(last >= 0, np.round(mean, 6)[last], 0.0)
    return found
