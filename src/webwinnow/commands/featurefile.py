"""Feature vectors of a collection: learn and weigh site by site."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Unpack

from webwinnow.cleaner import Cleaner
from webwinnow.collection.pagestore import PageRow
from webwinnow.collection.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.collection.settings import CollectionSettings
from webwinnow.errors import SettingsError
from webwinnow.io import check_apart, check_output
from webwinnow.pagetree import PageTree
from webwinnow.site.featureweights import FeatureWeights
from webwinnow.site.learned import LearnedSite
from webwinnow.storage import atomic_file
from webwinnow.vectors import FeatureMatrix, VectorBuilder, VectorSettings, learn_weights

WeighedPage = tuple[PageRow, PageTree | None, FeatureWeights | None]
"""A page, its tree unless it failed, and the feature weights of its site if the weighting uses them."""


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
    if cleaner is not None and vectors.learns_sites:
        raise SettingsError(f"the weighting {vectors.weighting} weighs whole pages; a method needs --weighting tfidf")
    check_output(out, "jsonl")
    check_apart(inputs, out)
    with ParsedCollection.open(inputs, settings, **options) as collection:
        matrix = collect_features(collection, vectors) if cleaner is None else _of_clean(collection, vectors, cleaner)
        with atomic_file(out) as file:
            matrix.save(file)
        return len(matrix.page_ids), len(matrix.vocabulary), collection.failed_count


def collect_features(
    collection: ParsedCollection,
    vectors: VectorSettings,
    on_page: Callable[[PageRow, PageTree | None], None] = lambda _row, _tree: None,
) -> FeatureMatrix:
    """The feature matrix of all pages.

    Rows are in the order (site, input ordinal), named by the page's id, or its URL where it has none; `on_page` is
    called for each. A page that could not be read has an empty row.
    """
    builder = VectorBuilder(vectors)
    total = collection.page_count
    for row, tree, weights in weighed_pages(collection, vectors):
        builder.add(row.name, tree, weights, site=row.site)
        on_page(row, tree)
        collection.progress("clean", len(builder.page_ids), total)
    return builder.matrix()


def _of_clean(collection: ParsedCollection, vectors: VectorSettings, cleaner: Cleaner) -> FeatureMatrix:
    """The feature matrix of what a cleaning method keeps of all pages, each site learned from its own."""
    builder = VectorBuilder(vectors)
    learns = cleaner.method.learns and collection.settings.site_by.has_sites
    for site, _ in collection.sites():
        model = None
        if learns and (trees := list(collection.chosen_trees(site))):
            model = LearnedSite.learn(trees, site, cleaner.method.parts, cleaner.settings.joins)
        for row in collection.pages_of(site):
            tree = None if row.ref is None else collection.tree(row)
            verdict = None if tree is None else cleaner.clean(tree, model).verdict
            builder.add(row.name, tree, None, site=row.site, verdict=verdict)
            collection.progress("clean", len(builder.page_ids), collection.page_count)
    return builder.matrix()


def weighed_pages(collection: ParsedCollection, vectors: VectorSettings) -> Iterator[WeighedPage]:
    """The pages of a collection with the feature weights of their sites."""
    learns = vectors.learns_sites and collection.settings.site_by.has_sites
    for site, _ in collection.sites():
        trees = collection.chosen_trees(site) if learns else iter(())
        first = next(trees, None)
        weights = None if first is None else learn_weights(chain([first], trees), vectors.weights)
        for row in collection.pages_of(site):
            yield row, None if row.ref is None else collection.tree(row), weights
