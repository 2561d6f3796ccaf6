"""Which text of a page its fingerprint is made of: what tells this page from others, whatever site it stands on.

A site's model is learned from its pages, so the replicas on a site change what cleaning by that model leaves of them,
and a copy on another site is cleaned otherwise. So the fingerprint looks at what the page alone shows to be main
content, less the blocks that the site repeats on many pages, which no page model can know.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from webwinnow.blocks import cut
from webwinnow.cleaning import Verdict
from webwinnow.cleaning.combined import RECORD_AT
from webwinnow.cleaning.page import HIDDEN_ABOVE, JUDGED_WORDS, NO_CONTENT_BELOW
from webwinnow.markup import HIDDEN
from webwinnow.pagemodel import PageEvidence, PageModel
from webwinnow.pagetree import PageTree
from webwinnow.site.knowledge import SiteKnowledge

__all__ = ["telling_runs"]

SITE_PAGES: Final = 10
"""A site of fewer pages is not asked what it repeats: its pages may all be replicas of one."""
LEAST_LEFT: Final = 0.1
"""Nor is one that repeats more than all but this share of a page: that page has replicas on most of the site."""
LEAST_CONTENT: Final = 10
"""Words of main content below which the page is taken as its cleaner leaves it."""


def telling_runs(
    tree: PageTree, verdict: Verdict, evidence: PageEvidence | None = None, model: SiteKnowledge | None = None
) -> NDArray[np.bool_]:
    """The text runs to fingerprint: with `evidence` what the module says, else all that the verdict keeps."""
    if evidence is not None:
        blocks = cut(tree)
        shown = (tree.flags[tree.run_owner[blocks.first_run[evidence.said]]] & HIDDEN) == 0
        kept = _content(evidence) & (shown | (evidence.probability >= HIDDEN_ABOVE))
        said = int(evidence.words[kept].sum())
        if said >= LEAST_CONTENT:
            own = kept & ~_repeated(evidence, model)
            told = np.zeros(len(blocks), np.bool_)
            told[evidence.said] = own if evidence.words[own].sum() >= LEAST_LEFT * said else kept
            return np.repeat(told, np.diff(blocks.first_run))
    return verdict.keep_runs & verdict.keep[tree.run_owner]


def _content(evidence: PageEvidence) -> NDArray[np.bool_]:
    """The blocks that method `page` keeps, whichever way the user leans."""
    probability, words = evidence.probability, evidence.words
    lowest, quality = PageModel.load().judged(probability, words)
    if quality < NO_CONTENT_BELOW and words.sum() >= JUDGED_WORDS:
        return np.zeros(len(probability), np.bool_)
    kept: NDArray[np.bool_] = probability >= lowest
    return kept


def _repeated(evidence: PageEvidence, model: SiteKnowledge | None) -> NDArray[np.bool_]:
    """The blocks that the site says on so many of its pages that they belong to no record."""
    if model is None or model.pages < SITE_PAGES:
        return np.zeros(len(evidence), np.bool_)
    found: NDArray[np.bool_] = model.block_table.pages_that_say(evidence.text) >= RECORD_AT * model.pages
    return found
