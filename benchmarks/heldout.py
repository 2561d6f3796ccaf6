"""Page models that have not seen the pages they clean, and pages and sites cleaned with them as `webwinnow clean` does.

`python benchmarks/heldout.py` trains the models that are missing in the folder `WEBWINNOW_FOLD_MODELS`; benchmarks that
find them there skip the training.
"""

from __future__ import annotations

import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from training.sites import fold_of, site_of

from webwinnow.judge.evidence import page_with
from webwinnow.judge.models import PageModel
from webwinnow.page.fingerprints import exact_fingerprint
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse
from webwinnow.record.cleaner import Cleaner, CleanPage
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sums import SiteSums, choose_pages, page_key

SINGLE, NEWS, SHOPS, MORE = "pages-wcxb", "sites-news", "sites-swde", "pages-more"
NEWS_SETS = ("fundus", "zh")
"""Sets of pages-more that are news."""
FOLDS, MODELS = 5, ("page model trained on other news too", "on no news")
"""Folds of the nested models; the two page models that whole sites are cleaned with."""
MOST_PAGES = 200
"""Pages of a site that are learned and cleaned."""


def kept_model(name: str, train: Callable[[], PageModel]) -> PageModel:
    """The model of that name in the folder `WEBWINNOW_FOLD_MODELS`; trained, and kept if there is a folder."""
    folder = os.environ.get("WEBWINNOW_FOLD_MODELS")
    path = Path(folder) / f"{name}.npz" if folder else None
    if path is not None and path.is_file():
        return PageModel.load(path)
    started = time.perf_counter()
    model = train()
    print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(model.to_bytes())
    return model


@cache
def training_pages(data: Path) -> Sequence[Any]:
    """The labelled single pages, news pages and training pages of pages-more, read once."""
    from training.pages import load

    return load(data)


def _fit(data: Path, use: Callable[[Any], bool], seed: int = 0) -> PageModel:
    from training.fit import fit

    return fit([page for page in training_pages(data) if use(page)], seed=seed, progress=lambda _: None)


@cache
def site_models(data: Path, trained_on: str) -> dict[int, PageModel]:
    """A page model for each of two folds of sites, trained without the fold's news, or on no news at all; and on no
    page of pages-wcxb or pages-more of a site that is measured: newegg.com and wikipedia.org are sites of both.
    """
    measured = {site_of(source, row) for source in (NEWS, SHOPS) for row in _places(data, source)}

    if trained_on == MODELS[1]:

        def is_no_news(page: Any) -> bool:
            return page.source != NEWS and page.part not in NEWS_SETS and is_elsewhere(page, measured)

        model = kept_model("nonews", lambda: _fit(data, is_no_news))
        return {0: model, 1: model}

    def without(fold: int) -> PageModel:
        return _fit(
            data, lambda p: is_elsewhere(p, measured) and (p.source != NEWS or fold_of(NEWS, p.site, 0) != fold)
        )

    return {fold: kept_model(f"fold{fold}", lambda fold=fold: without(fold)) for fold in (0, 1)}  # type: ignore[misc]


def is_elsewhere(page: Any, measured: set[str]) -> bool:
    """Whether a training page is of no site that is measured; the folds leave out news by their publisher."""
    return page.source == NEWS or page.site not in measured


def _places(data: Path, source: str) -> list[dict[str, Any]]:
    """URL and site of each page of a file."""
    rows: list[dict[str, Any]] = pq.read_table(data / f"{source}.parquet", columns=["url", "site"]).to_pylist()
    return rows


@cache
def nested_folds(data: Path, folds: int = FOLDS, seed: int = 0) -> dict[str, int]:
    """The fold of each site: of the single pages and the news, then of the further sites of pages-more."""
    rng = np.random.default_rng(seed)
    found: dict[str, int] = {}
    for sources in ((SINGLE, NEWS), (MORE,)):
        sites = {site_of(source, row) for source in sources for row in _places(data, source)} - set(found)
        found |= {site: number % folds for number, site in enumerate(rng.permutation(sorted(sites)).tolist())}
    return found


@cache
def nested_model(data: Path, fold: int, folds: int = FOLDS, seed: int = 0, *, news: bool = True) -> PageModel:
    """The page model that was trained on the other folds; without `news`, on their single pages only."""
    of_site = nested_folds(data, folds, seed)
    name = f"nested{fold}" if (folds, seed, news) == (FOLDS, 0, True) else f"nested{fold}-{folds}-{seed}-{news}"
    return kept_model(
        name,
        lambda: _fit(data, lambda page: of_site.get(page.site) != fold and (news or page.source != NEWS), seed),
    )


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutPage:
    """A row of a data file, and its page with a page model that has not seen its site."""

    row: dict[str, Any]
    context: Page

    @classmethod
    def of(cls, row: dict[str, Any], model: PageModel | None) -> HeldOutPage:
        """Parse a page; it is scored when that is needed, once."""
        return cls(row, page_with(parse(row["html"], url=row["url"] or ""), model=model))

    def cleaned(self, cleaner: Cleaner, site: LearnedSite | None = None) -> CleanPage:
        """The page, cleaned as users do."""
        return cleaner.clean_in(self.context, site)


@dataclass(frozen=True, slots=True, eq=False)
class HeldOutSite:
    """A site of `sites-news` or `sites-swde`."""

    source: str
    name: str
    pages: list[HeldOutPage]

    def learned(self, cleaner: Cleaner, pages: Sequence[HeldOutPage] | None = None) -> LearnedSite | None:
        """The site learned from some of its pages, or all; None for methods that learn nothing."""
        if not cleaner.method.learns:
            return None
        sums = SiteSums(self.name, cleaner.method.parts, cleaner.settings)
        keyed = ((page_key(p.context.tree.url), exact_fingerprint(p.context.tree), p) for p in pages or self.pages)
        for page in choose_pages(keyed):
            sums.add(page.context)
        return LearnedSite.of(sums)

    def cleaned(self, cleaner: Cleaner) -> Iterator[tuple[HeldOutPage, CleanPage]]:
        """Each page, cleaned with what was learned from all."""
        site = self.learned(cleaner)
        for page in self.pages:
            yield page, page.cleaned(cleaner, site)


def held_out_sites(
    data: Path, source: str, trained_on: str, *, sites: int | None = None, pages: int = MOST_PAGES
) -> Iterator[HeldOutSite]:
    """Whole sites, each with the page model of its fold; with `sites` only so many, spread over the file."""
    rows = defaultdict(list)
    for row in pq.read_table(data / f"{source}.parquet").to_pylist():
        rows[row["site"]].append(row)
    numbered = list(enumerate(sorted(rows)))
    for number, name in numbered if sites is None else numbered[:: max(len(numbered) // sites, 1)][:sites]:
        model = site_models(data, trained_on)[fold_of(source, name, number)]
        yield HeldOutSite(source, name, [HeldOutPage.of(row, model) for row in rows[name][:pages]])


def held_out_pages(data: Path, source: str, *, pages: int | None = None) -> Iterator[HeldOutPage]:
    """Pages of a file with nested models; with `pages` only so many, spread over the file."""
    of_site, table = nested_folds(data), pq.read_table(data / f"{source}.parquet").to_pylist()
    for row in table if pages is None else table[:: max(len(table) // pages, 1)][:pages]:
        yield HeldOutPage.of(row, nested_model(data, of_site[site_of(source, row)]))


def all_held_out_pages(data: Path) -> Iterator[tuple[str, HeldOutPage]]:
    """All pages with a truth, each with its file, or its set of pages-more."""
    for page in held_out_pages(data, SINGLE):
        yield SINGLE, page
    for site in held_out_sites(data, NEWS, MODELS[0]):
        for page in site.pages:
            yield NEWS, page
    for page in held_out_pages(data, MORE):
        yield page.row["set"], page


def grouped_sites(data: Path, source: str) -> Iterator[HeldOutSite]:
    """The sites with two pages or more of a file of single pages, with nested models; pages-more: set by set."""
    of_site, rows = nested_folds(data), defaultdict(list)
    for row in pq.read_table(data / f"{source}.parquet").to_pylist():
        rows[row["set"] if source == MORE else "", row["site"]].append(row)
    for (_, name), found in sorted(rows.items()):
        if len(found) > 1:
            models = [nested_model(data, of_site.get(site_of(source, row), 0)) for row in found]
            pages = [HeldOutPage.of(row, model) for row, model in zip(found, models, strict=True)]
            yield HeldOutSite(source, name, pages)


def main() -> None:
    """Train what is missing, that for whole sites first."""
    if not os.environ.get("WEBWINNOW_FOLD_MODELS"):
        sys.exit("heldout: set WEBWINNOW_FOLD_MODELS to the folder for the models")
    data = Path(os.environ["WEBWINNOW_DATA"])
    for trained_on in reversed(MODELS):
        site_models(data, trained_on)
    for fold in range(FOLDS):
        nested_model(data, fold)


if __name__ == "__main__":
    main()
