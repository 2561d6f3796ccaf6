"""Method `sst`: pages laid over the simplified site style tree (thesis 4.2.3 to 4.2.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from webwinnow.cleaning import none
from webwinnow.cleaning.verdict import (
    HIDDEN_REASON,
    LOCALLY_NOISY_REASON,
    MEANINGFUL_REASON,
    NOISY_REASON,
    POSSIBLY_REASON,
    Verdict,
    keep_around,
    reasons_of_nodes,
    without_site,
)
from webwinnow.errors import SettingsError
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.mapping import NOWHERE

__all__ = ["SstSettings", "clean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SstSettings:
    """`threshold`: importance up to which an element is noise, None for the site's own.

    Below `min_pages` pages nothing is known.
    """

    threshold: float | None = None
    min_pages: int = 3

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0.0 <= self.threshold <= 1.0:
            raise SettingsError(f"the threshold must lie between 0 and 1, not at {self.threshold}")


def clean(tree: PageTree, model: LearnedSite | None, settings: SstSettings | None = None) -> Verdict:
    """Drop what maps onto noisy elements and what is locally noisy; what the tree does not know may be meaningful."""
    settings = settings or SstSettings()
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        return none.clean(tree, method="sst", note=note)
    threshold = model.threshold if settings.threshold is None else settings.threshold
    mapped = model.noise.lay(tree, threshold)
    visible = tree.visible[tree.run_owner]
    run_reason = np.select(
        [~visible, mapped.noisy, mapped.unmatched, mapped.dull],
        [HIDDEN_REASON, NOISY_REASON, POSSIBLY_REASON, LOCALLY_NOISY_REASON],
        MEANINGFUL_REASON,
    ).astype(np.uint8)
    keep_runs = (run_reason == MEANINGFUL_REASON) | (run_reason == POSSIBLY_REASON)
    keep = keep_around(tree, keep_runs)
    importance = np.where(mapped.element == NOWHERE, 1.0, model.noise.importance.composite[mapped.element])
    return Verdict(
        method="sst",
        keep=keep,
        keep_runs=keep_runs,
        reason=reasons_of_nodes(tree, keep, run_reason, MEANINGFUL_REASON, NOISY_REASON),
        run_reason=run_reason,
        score=importance.astype(np.float32),
        weight=keep.astype(np.float32),
        kind=np.zeros(len(tree), np.uint8),
    )
