"""The page model: what a page alone shows about each of its blocks. The weights ship as arrays; see CARD.md."""

from __future__ import annotations

from webwinnow.pagemodel.evidence import PageContext, PageEvidence
from webwinnow.pagemodel.models import Favor, PageModel, PageScores, PostModel, best_cut
from webwinnow.pagemodel.reading import GENRES

__all__ = [
    "GENRES",
    "Favor",
    "PageContext",
    "PageEvidence",
    "PageModel",
    "PageScores",
    "PostModel",
    "best_cut",
]
