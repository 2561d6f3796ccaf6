"""Method `combined`, the default: page evidence and site evidence on each block, in one probability.

Two readings of a site are mixed by how likely each is. On a site of written pages (articles, threads, documentation)
the page model's log odds are moved by what the site shows: the same text on other pages and a place that is filled
alike speak against a block; the page model's mean at that place, and a place that each page fills anew, speak for it.
On a site of records (products, players, restaurants) whatever the site does not repeat is the record. Which it is, is
read off the site as a whole and believed the more, the more pages there are; with one page only the page model speaks.

The constants are few and round; `benchmarks/run.py sites` shows what they do on sites that no part has learned from.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.cleaning.page import PageSettings, verdict_of
from webwinnow.cleaning.verdict import Verdict, without_site
from webwinnow.fingerprint import page_fingerprint
from webwinnow.pagemodel import PageEvidence, PageModel
from webwinnow.pagemodel.features import GENRES
from webwinnow.pagetree import PageTree
from webwinnow.site.blocks import SiteEvidence
from webwinnow.site.knowledge import SiteKnowledge

__all__ = ["LEAST_PAGES", "clean", "joined", "record_share"]

LEAST_PAGES = 2
SMOOTHED = 0.5
"""How far a block's log odds go to the mean of its place."""
REPEATED, REPEATED_AT = 4.0, 0.1
"""Log odds that a text loses if it stands on this share of the other pages, or more."""
FIXED = 1.5
"""Log odds that a block loses in a place whose text is always repeated."""
FIELD = 1.0
"""Log odds that a block gains in a place that each page fills once, and each otherwise."""
RECORD_STEP, RECORD_AT, RECORD_SURE = 30.0, 0.4, 3.0
"""On a site of records a text on less than 0.4 of the other pages belongs to the record; log odds of at most 3."""
SITE_STEP, SITE_AT, PROSE_COUNTS, SERVICE_COUNTS = 30.0, 0.7, 0.5, 1.5
"""A site is written if the share of written genres, with half its share of prose, less 1.5 times that of service pages,
lies above 0.7."""
PRIOR_PAGES = 20.0
"""Pages beyond the first at which half of what the site as a whole looks like is believed."""
SAID_OFTEN = 0.5
"""A block that goes and stands on so many pages is called repeated."""
_WRITTEN = [GENRES.index(genre) for genre in ("article", "documentation", "forum")]
_SERVICE = GENRES.index("service")
_PROSE = len(GENRES) + 1
"""Places in `BlockTable.whole`."""


def clean(
    tree: PageTree,
    model: SiteKnowledge | None,
    settings: PageSettings | None = None,
    evidence: PageEvidence | None = None,
) -> Verdict:
    """Keep the blocks that page and site together show to be main content; the cut is chosen for this page."""
    settings = settings or PageSettings()
    evidence = evidence or PageEvidence.of(tree)
    note = without_site(model, LEAST_PAGES)
    probability, repeated = evidence.probability, None
    if note is None and model is not None:
        table = model.block_table
        asked = table.ask(evidence, model.pages, learned=page_fingerprint(tree) in model.learned)
        probability = joined(evidence, asked, table.whole, model.pages)
        repeated = asked.share >= SAID_OFTEN
    page_model = PageModel.load()
    confidence = page_model.expected_quality(probability, evidence.words)
    keep = probability >= page_model.cut(probability, evidence.words, settings.favor)
    return verdict_of(
        tree,
        evidence,
        probability,
        keep,
        confidence,
        method="combined",
        comments=settings.comments,
        repeated=repeated,
        note=note,
    )


def joined(evidence: PageEvidence, asked: SiteEvidence, whole: NDArray[np.float64], pages: int) -> NDArray[np.float64]:
    """The probability that each block is main content, by page and site."""
    believed = record_share(whole) * (pages - 1) / (pages - 1 + PRIOR_PAGES)
    found = (1 - believed) * _logistic(_written(evidence, asked)) + believed * _logistic(_record(asked))
    return np.round(found, 6)


def record_share(whole: NDArray[np.float64]) -> float:
    """How likely a site is one of records (`BlockTable.whole`)."""
    written = float(whole[_WRITTEN].sum()) + PROSE_COUNTS * float(whole[_PROSE])
    service = SERVICE_COUNTS * float(whole[_SERVICE])
    return float(_logistic(np.array(SITE_STEP * (SITE_AT - written + service))))


def _written(evidence: PageEvidence, asked: SiteEvidence) -> NDArray[np.float64]:
    """Log odds of main content on a site of written pages."""
    logit = evidence.logit
    smoothed = logit + SMOOTHED * asked.known * (asked.mean - logit)
    against = REPEATED * np.minimum(asked.share / REPEATED_AT, 1.0) + FIXED * asked.fixed
    is_new = (1 - np.minimum(asked.share / SAID_OFTEN, 1.0)) * (1 - asked.fixed)
    found: NDArray[np.float64] = smoothed - against + FIELD * asked.field * is_new
    return found


def _record(asked: SiteEvidence) -> NDArray[np.float64]:
    """Log odds of main content on a site of records."""
    return np.clip(RECORD_STEP * (RECORD_AT - asked.share), -RECORD_SURE, RECORD_SURE)


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        found: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-x))
    return found
