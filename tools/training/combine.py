"""The combiner of page and site evidence: three small logistic models (`webwinnow.cleaning.combined`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from training.sites import RECORDS, WRITTEN, Site, SitePage, table_of
from webwinnow.cleaning.combined import (
    RECORD_FEATURES,
    SITE_FEATURES,
    WRITTEN_FEATURES,
    record_features,
    site_features,
    written_features,
)

__all__ = ["fit_combiner"]

SIZES = (2, 5, 25)
"""Pages of a site that are shown at a time."""
WORD_POWER = 0.6
"""A block counts words^0.6, as in the page model."""
REPEATED, RARE = 0.5, 0.3
"""A text on so many pages is no part of a record; a value on fewer is."""
LEAN = -1.5
"""Added to the log odds of a record site: to take an article for a record costs more than the reverse."""
SITE_C, BLOCK_C = 0.1, 10.0
"""How freely the models fit (scikit-learn's C): 62 sites, but many blocks."""


def fit_combiner(sites: Sequence[Site], seed: int = 0) -> str:
    """Learn the weights from sites; returns them as JSON."""
    chance = np.random.default_rng(seed)
    blocks: dict[str, list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]] = {WRITTEN: [], RECORDS: []}
    wholes: list[NDArray[np.float64]] = []
    is_record: list[bool] = []
    for site in sites:
        for size in SIZES:
            pages = [site.pages[k] for k in chance.permutation(len(site.pages))[:size]]
            table = table_of(pages)
            wholes.append(site_features(table.whole))
            is_record.append(site.kind == RECORDS)
            for page in pages:
                asked = table.ask(page.evidence, len(pages), learned=True)
                if site.kind == WRITTEN:
                    rows = written_features(page.evidence, asked), *_written_labels(page)
                else:
                    rows = record_features(page.evidence, asked), *_record_labels(page, asked.share)
                blocks[site.kind].append(rows)
    written = _fitted(*map(np.concatenate, zip(*blocks[WRITTEN], strict=True)), BLOCK_C)
    record = _fitted(*map(np.concatenate, zip(*blocks[RECORDS], strict=True)), BLOCK_C)
    return json.dumps(
        {
            "written": dict(zip((*WRITTEN_FEATURES, "bias"), written, strict=True)),
            "record": dict(zip((*RECORD_FEATURES, "bias"), record, strict=True)),
            "site": dict(zip((*SITE_FEATURES, "bias"), _site(np.array(wholes), np.array(is_record)), strict=True)),
            "about": {"sites": len(sites), "pages": sum(len(site.pages) for site in sites), "lean": LEAN},
        },
        indent=1,
    )


def _weight(page: SitePage, use: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(use & (page.evidence.words > 0), page.evidence.words.astype(np.float64) ** WORD_POWER, 0.0)


def _written_labels(page: SitePage) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    content = page.label >= 0.5
    weight = _weight(page, np.ones(len(content), np.bool_))
    return content, weight / max(float(weight[content].sum()), 0.15 * float(weight.sum()), 1e-9)


def _record_labels(page: SitePage, share: NDArray[np.float64]) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """True values are content, repeated text is not; of the rest nobody knows, so it counts nothing."""
    content = np.zeros(len(share), np.bool_)
    for ways in page.spelled:
        for way in ways:
            content[[b for b in way if share[b] < RARE]] = True
    weight = _weight(page, content | (share >= REPEATED))
    for side in (content, ~content):
        weight[side] *= 0.5 / max(float(weight[side].sum()), 1e-9)
    return content, weight


def _fitted(features: NDArray[Any], content: NDArray[Any], weight: NDArray[Any], c: float) -> list[float]:
    use = weight > 0
    model = LogisticRegression(C=c, max_iter=1000)
    model.fit(features[use], content[use], sample_weight=weight[use] * use.sum() / weight[use].sum())
    return [round(float(x), 4) for x in (*model.coef_[0], model.intercept_[0])]


def _site(wholes: NDArray[np.float64], is_record: NDArray[np.bool_]) -> list[float]:
    """The weights of a logistic model of standardised features, for the features as they are."""
    mean, spread = wholes.mean(axis=0), np.maximum(wholes.std(axis=0), 1e-6)
    weight = np.where(is_record, 0.5 / is_record.sum(), 0.5 / (~is_record).sum()) * len(is_record)
    model = LogisticRegression(C=SITE_C, max_iter=1000)
    model.fit((wholes - mean) / spread, is_record, sample_weight=weight)
    coefficients = model.coef_[0] / spread
    bias = float(model.intercept_[0] - (coefficients * mean).sum()) + LEAN
    return [round(float(x), 4) for x in (*coefficients, bias)]
