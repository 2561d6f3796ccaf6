"""Feature vectors of a collection, learned and weighted site by site."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import SettingsError
from webwinnow.features.vectors import FeatureMatrix, VectorBuilder, VectorSettings, learn_weights
from webwinnow.judge.verdict import Verdict
from webwinnow.page.tree import PageTree
from webwinnow.record.cleaner import Cleaner
from webwinnow.run.outputs import check_apart, check_output, opened_output
from webwinnow.run.pagestore import PageRow
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.settings import CollectionSettings
from webwinnow.site.featureweights import FeatureWeights
from webwinnow.site.learned import LearnedSite

WeighedPage = tuple[PageRow, PageTree | None, FeatureWeights | None]
"""A page, its tree unless it failed, and the feature weights of its site if the weighting uses them."""


class FeaturePage(NamedTuple):
    """A page on its way into a feature matrix: its tree unless it failed, and the verdict if it was cleaned."""

    row: PageRow
    tree: PageTree | None
    verdict: Verdict | None
    features: NDArray[np.uint64]
    """The features that the page has, by hash."""


def write_features(
    inputs: Sequence[str | Path],
    out: Path,
    settings: CollectionSettings,
    vectors: VectorSettings,
    cleaner: Cleaner | None = None,
    **options: Unpack[OpenOptions],
) -> tuple[int, int, int]:
    """Write the feature matrix of all pages to an `.npz`; returns (pages, features, pages that failed).

    With a `cleaner`, only what it keeps is counted; weightings that learn from whole sites take none.
    """
    check_output(out, "jsonl")
    check_apart(inputs, out)
    check_cleaner(vectors, cleaner)
    with ParsedCollection.open(inputs, settings, records=cleaner is None, **options) as collection:
        matrix = collect_features(collection, vectors, cleaner)
        with opened_output(out) as file:
            matrix.save(file)
        return len(matrix.page_ids), len(matrix.vocabulary), collection.failed_count


def check_cleaner(vectors: VectorSettings, cleaner: Cleaner | None) -> None:
    """Raise `SettingsError` if the weighting reads whole pages and a cleaner is given."""
    if cleaner is not None and vectors.learns_sites:
        raise SettingsError(
            f"the weighting {vectors.weighting} weighs whole pages; a method needs --weighting tfidf or topic"
        )


def collect_features(
    collection: ParsedCollection,
    vectors: VectorSettings,
    cleaner: Cleaner | None = None,
    on_page: Callable[[FeaturePage], None] = lambda _page: None,
) -> FeatureMatrix:
    """The feature matrix of all pages.

    Rows are in the order (site, input ordinal), named by the page's id, or its URL where it has none; `on_page` is
    called for each. A page that could not be read has an empty row. Topic weights count what a cleaner keeps, by
    default that of the default method; records are clean already.
    """
    check_cleaner(vectors, cleaner)
    if cleaner is None and vectors.counts_clean_pages and collection.has_markup:
        cleaner = Cleaner.of()
    builder = VectorBuilder(vectors)
    total = collection.page_count
    pages: Iterator[tuple[PageRow, PageTree | None, FeatureWeights | None, Verdict | None]]
    if cleaner is None:
        pages = ((*page, None) for page in weighed_pages(collection, vectors))
    else:
        pages = cleaned_pages(collection, cleaner)
    for row, tree, weights, verdict in pages:
        builder.add(row.name, tree, weights, site=row.site, verdict=verdict)
        on_page(FeaturePage(row, tree, verdict, builder.rows[-1][0]))
        collection.progress("clean", len(builder.page_ids), total)
    return builder.matrix()


def cleaned_pages(
    collection: ParsedCollection, cleaner: Cleaner
) -> Iterator[tuple[PageRow, PageTree | None, None, Verdict | None]]:
    """The pages of a collection with the verdicts of a cleaner, each site learned from its own pages."""
    learns = cleaner.method.learns and collection.settings.site_by.has_sites
    for site, _ in collection.sites():
        model = None
        if learns and (trees := list(collection.chosen_trees(site))):
            model = LearnedSite.learn(trees, site, cleaner.method.parts, cleaner.settings)
        for row in collection.pages_of(site):
            tree = None if row.ref is None else collection.tree(row)
            yield row, tree, None, None if tree is None else cleaner.clean(tree, model).verdict


WITHOUT_HTML: Final = "give --weighting tfidf, wplus or topic"
"""What to do where records are given and the weighting is `cst`."""


def weighed_pages(
    collection: ParsedCollection, vectors: VectorSettings, instead: str = WITHOUT_HTML
) -> Iterator[WeighedPage]:
    """The pages of a collection with the feature weights of their sites.

    `SettingsError` if they are records and the weighting needs HTML; the message ends with what to do `instead`.
    """
    if not collection.has_markup and vectors.weighting == "cst":
        raise SettingsError(f"the weighting cst needs the HTML of pages, and these are records; {instead}")
    learns = vectors.learns_sites and collection.settings.site_by.has_sites and collection.has_markup
    for site, _ in collection.sites():
        trees = collection.chosen_trees(site) if learns else iter(())
        first = next(trees, None)
        weights = None if first is None else learn_weights(chain([first], trees), vectors.weights)
        for row in collection.pages_of(site):
            yield row, None if row.ref is None else collection.tree(row), weights
