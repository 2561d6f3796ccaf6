"""Method `combined`, the default: page evidence and site evidence on each block, in one probability.

Two readings of a site are mixed by how likely each is. On a site of written pages (articles, threads, documentation)
the page model's log odds are moved by what the site shows: the same text on other pages and a place that is filled
alike speak against a block; the page model's mean at that place, a place that each page fills anew, and most of all a
label before it ("Height", then 6-9) speak for it. On a site of records (products, players, restaurants) all of that
holds, but a text is the site's only if half of its pages have it, and whatever else the page says is likely the record.
Which it is, is read off the site as a whole and believed the more, the more pages there are; with one page only the
page model speaks.

The constants are few and round; `benchmarks/run.py sites` shows what they do on sites that no part has learned from.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.cleaning.page import PageSettings, verdict_of
from webwinnow.cleaning.verdict import Verdict, without_site
from webwinnow.fingerprints import page_fingerprint
from webwinnow.pagemodel import PageEvidence, PageModel
from webwinnow.pagemodel.features import GENRES
from webwinnow.pagemodel.forest import sigmoid
from webwinnow.pagetree import PageTree
from webwinnow.site.blocktable import SiteEvidence
from webwinnow.site.learned import LearnedSite

__all__ = ["LEAST_PAGES", "clean", "joined", "record_share"]

LEAST_PAGES = 2
SMOOTHED = 0.5
"""How far a block's log odds go to the mean of its place."""
REPEATED, REPEATED_AT = 4.0, 0.1
"""Log odds that a text loses if it stands on this share of the other pages, or more."""
FIXED = 2.0
"""Log odds that a block loses in a place whose text is always repeated."""
FIELD, LABELLED = 1.0, 1.5
"""Log odds that a block gains in a place that each page fills once, and each otherwise; and as what follows a label."""
LABEL_EXCUSES = 0.5
"""How much of its share of other pages is not held against what follows a label: "Genre", then "Drama"."""
RECORD, RECORD_STEP, RECORD_AT = 4.0, 30.0, 0.49
"""On a site of records a text on less than half of the other pages gains so many log odds, and any other loses them."""
SITE_STEP, SITE_AT, WRITTEN_COUNTS, PROSE_COUNTS, VALUES_COUNT = 3.0, 10.5, 1.5, 2.0, 2.0
"""A site is one of records if its labelled values (log) outweigh its written genres and its prose (log of its words).
Near the weights of a logistic model over the sites of `benchmarks/run.py sites`, of which others, trained without one
kind of sites or one publisher, told that one as well as any rule tried; steeper, not to stay undecided."""
PRIOR_PAGES = 20.0
"""Pages beyond the first at which half of what the site as a whole looks like is believed."""
SAID_OFTEN = 0.5
"""A block that goes and stands on so many pages is called repeated."""
_WRITTEN = [GENRES.index(genre) for genre in ("article", "documentation", "forum")]
_PROSE, _VALUES = len(GENRES), len(GENRES) + 1
"""Places in `BlockTable.whole`."""


def clean(
    tree: PageTree,
    model: LearnedSite | None,
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
    lowest, confidence = PageModel.load().judged(probability, evidence.words, settings.favor)
    return verdict_of(
        tree,
        evidence,
        probability,
        lowest,
        confidence,
        method="combined",
        comments=settings.comments,
        repeated=repeated,
        note=note,
    )


def joined(evidence: PageEvidence, asked: SiteEvidence, whole: NDArray[np.float64], pages: int) -> NDArray[np.float64]:
    """The probability that each block is main content, by page and site."""
    believed = record_share(whole) * (pages - 1) / (pages - 1 + PRIOR_PAGES)
    share = asked.share * (1 - LABEL_EXCUSES * asked.labelled)
    smoothed = evidence.logit + SMOOTHED * asked.known * (asked.mean - evidence.logit)
    is_new = (1 - np.minimum(share / SAID_OFTEN, 1.0)) * (1 - asked.fixed)
    shown = smoothed + (FIELD * asked.field + LABELLED * asked.labelled) * is_new
    written = shown - REPEATED * np.minimum(share / REPEATED_AT, 1.0) - FIXED * asked.fixed
    of_page = np.clip(RECORD_STEP * (RECORD_AT - share), -1.0, 1.0)
    record = np.where(of_page > 0, shown, np.minimum(smoothed, 0.0)) + RECORD * of_page
    return sigmoid((1 - believed) * written + believed * record)


def record_share(whole: NDArray[np.float64]) -> float:
    """How likely a site is one of records (`BlockTable.whole`)."""
    written = WRITTEN_COUNTS * float(whole[_WRITTEN].sum()) + PROSE_COUNTS * float(np.log1p(whole[_PROSE]))
    values = VALUES_COUNT * float(np.log1p(whole[_VALUES]))
    return float(sigmoid(np.array(SITE_STEP * (SITE_AT - written + values))))
