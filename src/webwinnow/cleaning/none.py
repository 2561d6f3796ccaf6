"""Method `none`: everything that is visible stays."""

from __future__ import annotations

import numpy as np

from webwinnow.cleaning.verdict import HIDDEN_REASON, KEPT_REASON, Verdict
from webwinnow.pagetree import PageTree

__all__ = ["clean"]


def clean(tree: PageTree, *, method: str = "none", note: str | None = None) -> Verdict:
    """Keep what is visible. Methods that find no evidence do the same under their own name, with a note."""
    keep = tree.visible
    keep_runs = keep[tree.run_owner]
    return Verdict(
        method=method,
        keep=keep,
        keep_runs=keep_runs,
        reason=np.where(keep, KEPT_REASON, HIDDEN_REASON).astype(np.uint8),
        run_reason=np.where(keep_runs, KEPT_REASON, HIDDEN_REASON).astype(np.uint8),
        score=np.ones(len(tree), np.float32),
        weight=np.ones(len(tree), np.float32),
        kind=np.zeros(len(tree), np.uint8),
        note=note,
    )
