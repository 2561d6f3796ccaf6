"""The page model: what one page alone tells of each of its blocks. The weights ship as arrays; see CARD.md."""

from __future__ import annotations

from webwinnow.pagemodel.evidence import PageEvidence
from webwinnow.pagemodel.features import GENRES
from webwinnow.pagemodel.model import Favor, PageModel, PageScores, best_cut, expected_f
from webwinnow.pagemodel.posts import PostModel

__all__ = ["GENRES", "Favor", "PageEvidence", "PageModel", "PageScores", "PostModel", "best_cut", "expected_f"]
