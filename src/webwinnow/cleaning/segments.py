"""Method `segments`: keep the tables whose words tell pages apart (Lin and Ho, KDD 2002; thesis 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from webwinnow.cleaning.verdict import (
    HIDDEN_REASON,
    INFORMATIVE_REASON,
    REDUNDANT_REASON,
    Verdict,
    keep_around,
    keep_visible,
    reasons_of_nodes,
    without_site,
)
from webwinnow.errors import SettingsError
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.segmenttable import SEGMENTATIONS

__all__ = ["SegmentSettings", "clean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentSettings:
    """`by`: what parts a page, of `SEGMENTATIONS`. `threshold`: block entropy up to which a block stays, None for the
    site's own. Below `min_pages` pages nothing is known.
    """

    by: str = "tables"
    threshold: float | None = None
    min_pages: int = 3

    def __post_init__(self) -> None:
        if self.by not in SEGMENTATIONS:
            raise SettingsError(f"pages are not cut by {self.by!r}; there are: {', '.join(SEGMENTATIONS)}")
        if self.threshold is not None and not 0.0 <= self.threshold <= 1.0:
            raise SettingsError(f"the block entropy must lie between 0 and 1, not at {self.threshold}")


def clean(tree: PageTree, model: LearnedSite | None, settings: SegmentSettings | None = None) -> Verdict:
    """Keep the blocks whose entropy (4-2) is at most the threshold."""
    settings = settings or SegmentSettings()
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        return keep_visible(tree, method="segments", note=note)
    table = model.segment_table
    threshold = table.threshold_of(settings.by) if settings.threshold is None else settings.threshold
    block, entropy = table.block_entropy(tree, settings.by)
    entropy = entropy[block]
    visible = tree.visible[tree.run_owner]
    run_reason = np.where(
        visible,
        np.where(entropy <= threshold, INFORMATIVE_REASON, REDUNDANT_REASON)[tree.run_owner],
        HIDDEN_REASON,
    ).astype(np.uint8)
    keep_runs = run_reason == INFORMATIVE_REASON
    keep = keep_around(tree, keep_runs)
    return Verdict(
        method="segments",
        keep=keep,
        keep_runs=keep_runs,
        reason=reasons_of_nodes(tree, keep, run_reason, INFORMATIVE_REASON, REDUNDANT_REASON),
        run_reason=run_reason,
        score=(1.0 - entropy).astype(np.float32),
        weight=keep.astype(np.float32),
        kind=np.zeros(len(tree), np.uint8),
    )
