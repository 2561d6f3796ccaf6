"""Method `segments`: keep the tables whose words distinguish pages (Lin and Ho, KDD 2002; thesis 3.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from webwinnow.cleaning import verdict as reasons
from webwinnow.cleaning.settings import MethodSettings, min_pages, setting, share
from webwinnow.cleaning.verdict import Verdict, keep_by_reason, keep_visible, without_site
from webwinnow.pagemodel import PageContext
from webwinnow.site.learned import LearnedSite
from webwinnow.site.segmenttable import SEGMENTATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentSettings(MethodSettings):
    """Settings of method `segments`."""

    by: str = setting(
        "tables",
        "what divides a page into blocks",
        f"one of {', '.join(SEGMENTATIONS)}",
        str,
        SEGMENTATIONS.__contains__,
    )
    threshold: float | None = share(None, "keep a block up to this entropy; none for the site's own")
    min_pages: int = min_pages()


def clean(page: PageContext, model: LearnedSite | None, settings: SegmentSettings) -> Verdict:
    """Keep the blocks whose entropy (4-2) is at most the threshold."""
    tree = page.tree
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        return keep_visible(tree, "segments", note)
    table = model.segment_table
    threshold = table.threshold_of(settings.by) if settings.threshold is None else settings.threshold
    block, entropy = table.block_entropy(tree, settings.by)
    entropy = entropy[block]
    reason = np.where(entropy <= threshold, reasons.INFORMATIVE_REASON, reasons.REDUNDANT_REASON)[tree.run_owner]
    score = (1.0 - entropy).astype(np.float32)
    return keep_by_reason(tree, "segments", reason, (reasons.INFORMATIVE_REASON,), reasons.REDUNDANT_REASON, score)
