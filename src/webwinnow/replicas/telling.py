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
from webwinnow.cleaning import CleaningSettings, Verdict
from webwinnow.cleaning.combined import RECORD_AT, clean
from webwinnow.fingerprint import page_fingerprint
from webwinnow.pagemodel import PageEvidence
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
    tree: PageTree,
    verdict: Verdict,
    evidence: PageEvidence | None = None,
    model: SiteKnowledge | None = None,
    settings: CleaningSettings | None = None,
) -> NDArray[np.bool_]:
    """The text runs to fingerprint: with `evidence` what the module says, else all that the verdict keeps."""
    if evidence is not None:
        alone = verdict if model is None else clean(tree, None, (settings or CleaningSettings()).page, evidence)
        blocks = cut(tree)
        words = np.zeros(len(blocks), np.int64)
        words[evidence.said] = evidence.words
        kept = alone.keep_runs[blocks.first_run[:-1]]
        if int(words[kept].sum()) >= LEAST_CONTENT:
            own = kept & ~_repeated(tree, evidence, model, len(blocks))
            return (own if words[own].sum() >= LEAST_LEFT * words[kept].sum() else kept)[blocks.of_run()]
    return verdict.keep_runs & verdict.keep[tree.run_owner]


def _repeated(tree: PageTree, evidence: PageEvidence, model: SiteKnowledge | None, blocks: int) -> NDArray[np.bool_]:
    """The blocks that the site says on so many of its other pages that they belong to no record."""
    found = np.zeros(blocks, np.bool_)
    if model is not None and model.pages >= SITE_PAGES:
        learned = page_fingerprint(tree) in model.learned
        found[evidence.said] = model.block_table.ask(evidence, model.pages, learned=learned).share >= RECORD_AT
    return found
