"""Method `combined`, the default: page evidence and site evidence on each block, in one probability.

Two readings of a site are weighed by how likely each is. On a site of written pages (articles, threads,
documentation) the page model's log odds are moved by what the site shows: the same text elsewhere and a place that is
always filled alike speak against a block, the page model's mean there and a place that each page fills anew speak for
it. On a site of records (products, players, jobs) whatever the site does not repeat is the record. Which it is, is read
off the site as a whole, and believed the more, the more pages there are; with one page only the page model speaks. All
numbers are in `combined.json`, made by `make train`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webwinnow.cleaning.page import PageSettings, verdict_of
from webwinnow.cleaning.verdict import Verdict, without_site
from webwinnow.errors import ModelError
from webwinnow.pagemodel import PageEvidence, PageModel
from webwinnow.pagemodel.features import GENRES
from webwinnow.pagetree import PageTree
from webwinnow.site.blocks import SiteEvidence
from webwinnow.site.knowledge import SiteKnowledge
from webwinnow.site.sums import page_fingerprint

__all__ = ["RECORD_FEATURES", "SITE_FEATURES", "WRITTEN_FEATURES", "Combiner", "clean", "joined"]

SHIPPED = Path(__file__).with_name("combined.json")
WRITTEN_FEATURES = ("page", "mean", "some_pages", "share", "copies", "fixed", "field")
RECORD_FEATURES = ("page", "some_pages", "share", "copies", "fixed", "field")
SITE_FEATURES = ("written", "service", "goods", "expected", "prose", "fields")
PRIOR_PAGES = 10.0
"""Pages beyond the first at which half of what the site as a whole looks like is believed."""
LEAST_PAGES = 2
REPEATED_SHARE = 0.5
"""A block that goes and stands on so many pages is called repeated."""


@dataclass(frozen=True, slots=True)
class Combiner:
    """Weights of the three logistic models, each with its bias last."""

    written: NDArray[np.float64]
    record: NDArray[np.float64]
    site: NDArray[np.float64]

    @classmethod
    def load(cls, path: Path | None = None) -> Combiner:
        """The weights of a file, or those that ship with the package, which are read once."""
        return _shipped() if path is None else cls.from_json(path.read_text(encoding="utf-8"), str(path))

    @classmethod
    def from_json(cls, text: str, name: str = "the combiner") -> Combiner:
        """Read weights. Raises `ModelError` where they do not fit."""
        try:
            told = json.loads(text)
            found = [
                np.array([*(float(told[part][feature]) for feature in features), float(told[part]["bias"])])
                for part, features in _PARTS.items()
            ]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ModelError(f"{name} holds no weights to combine evidence with ({error}); run `make train`") from None
        if not all(np.isfinite(part).all() for part in found):
            raise ModelError(f"{name} holds weights that are no numbers; run `make train`")
        return cls(*found)


_PARTS = {"written": WRITTEN_FEATURES, "record": RECORD_FEATURES, "site": SITE_FEATURES}


@cache
def _shipped() -> Combiner:
    return Combiner.from_json(SHIPPED.read_text(encoding="utf-8"), str(SHIPPED))


def clean(
    tree: PageTree,
    model: SiteKnowledge | None,
    settings: PageSettings | None = None,
    evidence: PageEvidence | None = None,
    combiner: Combiner | None = None,
) -> Verdict:
    """Keep the blocks that page and site together show to be main content; the cut is chosen for this page."""
    settings = settings or PageSettings()
    evidence = evidence or PageEvidence.of(tree)
    pages = PageModel.load()
    note = without_site(model, LEAST_PAGES)
    probability = evidence.probability
    shares: NDArray[np.float64] | None = None
    if note is None and model is not None:
        table = model.block_table
        learned = page_fingerprint(tree) in model.learned
        asked = table.ask(evidence, model.pages, learned=learned)
        probability = joined(evidence, asked, table.whole, model.pages, combiner or Combiner.load())
        shares = asked.share
    confidence = pages.expected_quality(probability, evidence.words)
    keep = probability >= pages.cut(probability, evidence.words, settings.favor)
    repeated = None if shares is None else shares >= REPEATED_SHARE
    return verdict_of(tree, evidence, probability, keep, confidence, method="combined", repeated=repeated, note=note)


def joined(
    evidence: PageEvidence, asked: SiteEvidence, whole: NDArray[np.float64], pages: int, combiner: Combiner
) -> NDArray[np.float64]:
    """The probability that each block is main content, by page and site."""
    is_record = _logistic(site_features(whole) @ combiner.site[:-1] + combiner.site[-1])
    believed = is_record * (pages - 1) / (pages - 1 + PRIOR_PAGES)
    written = _logistic(written_features(evidence, asked) @ combiner.written[:-1] + combiner.written[-1])
    record = _logistic(record_features(evidence, asked) @ combiner.record[:-1] + combiner.record[-1])
    found: NDArray[np.float64] = np.round((1 - believed) * written + believed * record, 6)
    return found


def written_features(evidence: PageEvidence, asked: SiteEvidence) -> NDArray[np.float64]:
    """`WRITTEN_FEATURES` of each block."""
    logit = evidence.logit
    return np.stack(
        (
            logit,
            asked.known * (asked.mean - logit),
            np.minimum(4 * asked.share, 1.0),
            asked.share,
            np.log1p(asked.copies) * asked.known,
            asked.fixed,
            asked.field * _new(asked),
        ),
        axis=1,
    )


def record_features(evidence: PageEvidence, asked: SiteEvidence) -> NDArray[np.float64]:
    """`RECORD_FEATURES` of each block."""
    return np.delete(written_features(evidence, asked), WRITTEN_FEATURES.index("mean"), axis=1)


def _new(asked: SiteEvidence) -> NDArray[np.float64]:
    """1 for a text of its own in a place that is filled anew, 0 for what half of the pages repeat."""
    return (1 - np.minimum(2 * asked.share, 1.0)) * (1 - asked.fixed)


def site_features(whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """`SITE_FEATURES` of a site (`BlockTable.whole`)."""
    genre = dict(zip(GENRES, whole[: len(GENRES)].tolist(), strict=True))
    written = genre["article"] + genre["documentation"] + genre["forum"]
    return np.array([written, genre["service"], genre["product"] + genre["collection"], *whole[len(GENRES) :]])


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        found: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-x))
    return found
