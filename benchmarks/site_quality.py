"""The default cleaner on whole sites: page evidence alone, with site evidence, and by the number of pages learned.

Two folds of news by publisher: no page model has seen a site that it scores. The few constants of `cleaning.combined`
were chosen on these sites.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from training.fit import fit
from training.pages import NEWS, load
from training.sites import RECORDS, WRITTEN, Site, SitePage, fold_of, load_sites, table_of

from webwinnow.cleaning.combined import LEAST_PAGES, joined
from webwinnow.pagemodel import PageModel, best_cut

CURVE = (1, 2, 5, 10, 20)
MOST_PAGES = 200
KEPT_MODELS = os.environ.get("WEBWINNOW_FOLD_MODELS")
"""A folder with the page models of the folds, to skip training."""

Keep = Callable[[Site, list[SitePage]], list[NDArray[np.bool_]]]


def sites(data: Path) -> list[tuple[str, str]]:
    """Word F1 on news, recall of true values on shops; with a page model that saw other news, and one that saw none."""
    rows = []
    for name, models in (("page model trained on other news too", _models(data)), ("on no news", _without_news(data))):
        found = list(load_sites(data, models, MOST_PAGES))
        news = [site for site in found if site.kind == WRITTEN]
        alone, both = _news(news, _alone), _news(news, _both)
        rows.append((f"sites-news, {name}: page, combined", f"{alone:.4f}, **{both:.4f}** ({both - alone:+.4f})"))
        curve = ", ".join(f"{n}: {_news(news, _both, n):.3f}" for n in CURVE)
        rows.append((f"sites-news, {name}: combined by pages learned", f"{curve}, all: {both:.3f}"))
        shops = [site for site in found if site.kind == RECORDS]
        for method, keep in (("page", _alone), ("combined", _both)):
            recall, leak, kept = _shops(shops, keep)
            rows.append(
                (
                    f"sites-swde, {name}, {method}: recall, repeated words in the output, words kept",
                    f"**{recall:.4f}**, {leak:.4f}, {kept:.3f}",
                )
            )
    return rows


def _models(data: Path) -> dict[int, PageModel]:
    """A page model for each fold, trained without the fold's news."""
    if KEPT_MODELS:
        return {fold: PageModel.load(Path(KEPT_MODELS) / f"fold{fold}.npz") for fold in (0, 1)}
    pages = load(data)
    return {
        fold: fit([page for page in pages if page.source != NEWS or fold_of(WRITTEN, page.site, 0) != fold])
        for fold in (0, 1)
    }


def _without_news(data: Path) -> dict[int, PageModel]:
    model = PageModel.load(Path(KEPT_MODELS) / "nonews.npz") if KEPT_MODELS else fit(load(data, news=False))
    return {0: model, 1: model}


def _cut(probability: NDArray[np.float64], page: SitePage) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = probability >= best_cut(probability, page.evidence.words)[0]
    return found


def _alone(_site: Site, pages: list[SitePage]) -> list[NDArray[np.bool_]]:
    return [_cut(page.evidence.probability, page) for page in pages]


def _both(site: Site, pages: list[SitePage]) -> list[NDArray[np.bool_]]:
    if len(pages) < LEAST_PAGES:
        return _alone(site, pages)
    table = table_of(pages)
    asked = [table.ask(page.evidence, len(pages), learned=True) for page in pages]
    return [
        _cut(joined(page.evidence, site_evidence, table.whole, len(pages)), page)
        for page, site_evidence in zip(pages, asked, strict=True)
    ]


def _news(sites: list[Site], keep: Keep, most: int | None = None) -> float:
    """Word F1, mean over sites; with `most`, pages are learned and cleaned in groups of that size."""
    scores = []
    for site in sites:
        step = most or len(site.pages)
        parts = [site.pages[k : k + step] for k in range(0, len(site.pages), step)]
        scores.append(
            statistics.mean(
                _f1(page, mask) for part in parts for page, mask in zip(part, keep(site, part), strict=True)
            )
        )
    return statistics.mean(scores)


def _f1(page: SitePage, keep: NDArray[np.bool_]) -> float:
    found, wanted = Counter(word for b in np.flatnonzero(keep) for word in page.said[b]), Counter(page.truth)
    shared = (found & wanted).total()
    return 2 * shared / (found.total() + wanted.total()) if shared else 0.0


def _shops(sites: list[Site], keep: Keep) -> tuple[float, float, float]:
    """Recall of true values, share of the output's words in texts that half of the pages have, share of words kept."""
    measures = []
    for site in sites:
        table = table_of(site.pages)
        rows = []
        for page, mask in zip(site.pages, keep(site, site.pages), strict=True):
            words = page.evidence.words
            spelled = [any(mask[list(blocks)].all() for blocks in spellings) for spellings in page.spelled if spellings]
            often = 2 * table.pages_that_say(page.evidence.text) >= len(site.pages)
            rows.append(
                (
                    float(np.mean(spelled)) if spelled else 1.0,
                    float(words[mask & often].sum() / max(words[mask].sum(), 1)),
                    float(words[mask].sum() / max(words.sum(), 1)),
                )
            )
        measures.append(np.mean(rows, axis=0))
    recall, leak, kept = np.mean(measures, axis=0)
    return float(recall), float(leak), float(kept)


if __name__ == "__main__":
    print(json.dumps(sites(Path(os.environ["WEBWINNOW_DATA"])), indent=1))
