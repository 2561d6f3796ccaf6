"""Method `combined`, the default: page evidence and site evidence on each block, in one probability.

Two models of a site are mixed by the probability of each. On a site of written pages (articles, threads, documentation)
the site answers where the page model is unsure: a block moves towards the page model's mean at its place, the less the
more confident the page model is. A text that other pages have too counts against it, less so if they are few and the
page model is confident that it is content; so does a place whose text is repeated. On a site of records (products,
players, restaurants) a text is boilerplate only if half of the pages have it, and all other text is probably the
record, most of all in a place that each page fills with other text and after a label ("Height", then 6-9); so it is on
pages that are no articles, threads or documentation, as far as the page model thinks so. Which of the two a site is, is
estimated from the site as a whole.

All site evidence counts the more the more pages support it; copies of a page do not count (`site.blocktable`). With one
page only the page model decides. `benchmarks/run.py sites` compares with `page` on sites that no model was trained on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.evidence import PageEvidence, evidence_of, page_model
from webwinnow.judge.models import sigmoid
from webwinnow.judge.page import PageSettings, verdict_of
from webwinnow.judge.reading import GENRES
from webwinnow.judge.verdict import Verdict, without_site
from webwinnow.judge.visualevidence import with_layout
from webwinnow.judge.wholes import SAID_OFTEN, WRITTEN, pooled
from webwinnow.page.page import Page
from webwinnow.site.blocktable import LABEL_EXCUSES, SiteEvidence
from webwinnow.site.learned import LearnedSite

LEAST_PAGES = 2
REPEATED, REPEATED_AT = 4.0, 0.1
"""Log odds that a text loses if it is the site's and on this share of the other pages, or more."""
FIXED = 2.0
"""Log odds that a block loses in a place whose text is always repeated."""
FIELD, LABELLED = 1.0, 1.5
"""Log odds that a block gains, on records, in a place that each page fills once and differently; and after a label."""
SMOOTHED = 0.5
"""How far the log odds of a block of a record move towards the mean of its place."""
RECORD, RECORD_STEP, RECORD_AT = 4.0, 30.0, 0.49
"""On a site of records a text on less than half of the other pages gains these log odds, and any other loses them."""
SITE_STEP, SITE_AT, WRITTEN_COUNTS, PROSE_COUNTS, VALUES_COUNT = 3.0, 10.5, 1.5, 2.0, 2.0
"""A site is one of records if its labelled values (log) outweigh its written genres and its prose (log of its words).
Near the weights of a logistic model over the sites of `benchmarks/run.py sites`; models trained without one kind of
sites or one publisher predicted that one as well as any rule tried. Steeper, so that few sites stay undecided."""
PRIOR_PAGES = 20.0
"""Pages beyond the first at which the estimate for the whole site counts half."""
_PROSE, _VALUES = len(GENRES), len(GENRES) + 1
"""Indexes into `BlockTable.whole`."""


def clean(page: Page, model: LearnedSite | None, settings: PageSettings) -> Verdict:
    """Keep the blocks that page and site together show to be main content; the cut is chosen for this page."""
    evidence, asked = evidence_of(page), None
    probability, note = evidence.probability, without_site(model, LEAST_PAGES)
    if note is None and model is not None:
        asked = site_evidence(page, model)
        probability = joined(evidence, asked)
    if settings.layout and page.tree.layout is not None:
        probability = with_layout(page, probability, keep_likely=settings.unseen)
    own = probability
    if settings.wholes:
        probability = pooled(page, own, asked)
    genre = evidence.genre_probability if asked is None else None
    lowest, confidence = page_model(page).judged(probability, evidence.words, settings.favor, genre)
    return verdict_of(page, own, probability, lowest, confidence, settings, method="combined", asked=asked, note=note)


def site_evidence(page: Page, model: LearnedSite) -> SiteEvidence:
    """What the site shows about each block of a page, the page itself left out."""
    learned = page.fingerprint in model.learned
    asked = model.block_table.ask(evidence_of(page), learned=learned)
    return replace(asked, records=believed_records(model.block_table.whole, model.block_table.pages))


def joined(evidence: PageEvidence, asked: SiteEvidence) -> NDArray[np.float64]:
    """The probability that each block is main content, from page and site."""
    share = asked.share * (1 - LABEL_EXCUSES * asked.labelled)
    alone, probability = evidence.logit, evidence.probability
    unsure = 4 * probability * (1 - probability)
    towards_mean = asked.known * (asked.mean - alone)
    is_new = (1 - np.minimum(share / SAID_OFTEN, 1.0)) * (1 - asked.fixed)
    gained = (FIELD * asked.field + LABELLED * asked.labelled) * is_new
    of_items = 1 - float(evidence.genre_probability[WRITTEN].sum())
    doubted = 1 - (1 - asked.supported) * np.maximum(2 * probability - 1, 0.0)
    repeated = np.minimum(share / REPEATED_AT, 1.0) * asked.certain * doubted
    written = alone + unsure * towards_mean + of_items * gained - REPEATED * repeated - FIXED * asked.fixed
    smoothed = alone + SMOOTHED * towards_mean
    of_page = np.clip(RECORD_STEP * (RECORD_AT - share), -1.0, 1.0)
    record = np.where(of_page > 0, smoothed + gained, np.minimum(smoothed, 0.0)) + RECORD * of_page
    return sigmoid((1 - asked.records) * written + asked.records * record)


def believed_records(whole: NDArray[np.float64], pages: int) -> float:
    """The probability that a site is one of records, lower the fewer of its pages are known."""
    return record_share(whole) * (pages - 1) / (pages - 1 + PRIOR_PAGES)


def record_share(whole: NDArray[np.float64]) -> float:
    """The probability that a site is one of records (`BlockTable.whole`)."""
    written = WRITTEN_COUNTS * float(whole[WRITTEN].sum()) + PROSE_COUNTS * float(np.log1p(whole[_PROSE]))
    values = VALUES_COUNT * float(np.log1p(whole[_VALUES]))
    return float(sigmoid(np.array(SITE_STEP * (SITE_AT - written + values))))
