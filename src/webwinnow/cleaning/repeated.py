"""Method `repeated`: drop only the text that a site says on a large share of its pages. Simple, high recall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from webwinnow.blocks import cut
from webwinnow.cleaning.verdict import HIDDEN_REASON, KEPT_REASON, REPEATED_REASON, Verdict, keep_around, without_site
from webwinnow.errors import SettingsError
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sums import block_keys

__all__ = ["RepeatedSettings", "clean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedSettings:
    """`share`: a text on at least this share of the learned pages goes. `min_pages`: fewer pages show nothing."""

    share: float = 0.5
    min_pages: int = 3

    def __post_init__(self) -> None:
        if not 0.0 < self.share <= 1.0:
            raise SettingsError(f"the share of pages must lie above 0 and at most at 1, not at {self.share}")


def clean(tree: PageTree, model: LearnedSite | None, settings: RepeatedSettings | None = None) -> Verdict:
    """Keep what is visible and not repeated on the site; each block of text goes or stays as a whole."""
    settings = settings or RepeatedSettings()
    blocks = cut(tree)
    visible = tree.visible[tree.run_owner]
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        share = np.zeros(len(blocks))
    else:
        share = model.pages_that_say(block_keys(blocks)) / model.pages
    repeated = (share >= settings.share)[blocks.of_run()]
    keep_runs = visible & ~repeated
    keep = keep_around(tree, keep_runs)
    reason = np.where(keep, KEPT_REASON, np.where(tree.visible, REPEATED_REASON, HIDDEN_REASON))
    run_reason = np.where(keep_runs, KEPT_REASON, np.where(visible, REPEATED_REASON, HIDDEN_REASON))
    score = np.ones(len(tree), np.float32)
    np.minimum.at(score, tree.run_owner, (1 - share[blocks.of_run()]).astype(np.float32))
    return Verdict(
        method="repeated",
        keep=keep,
        keep_runs=keep_runs,
        reason=reason.astype(np.uint8),
        run_reason=run_reason.astype(np.uint8),
        score=score,
        weight=keep.astype(np.float32),
        kind=np.zeros(len(tree), np.uint8),
        note=note,
    )
