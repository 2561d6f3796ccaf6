"""Feature vectors of a collection: parse and spool as in a cleaning run, then learn and weigh site by site."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from webwinnow.collection.pagestore import CollectionStore, PageRow
from webwinnow.collection.parsedpages import parse_all
from webwinnow.collection.settings import RunSettings
from webwinnow.collection.workerpool import WorkerPool
from webwinnow.io import check_apart, check_output, open_pages
from webwinnow.pagetree import PageTree
from webwinnow.progress import Progress
from webwinnow.records import PageRecord
from webwinnow.site.featureweights import FeatureWeights
from webwinnow.storage import atomic_file
from webwinnow.treebytes import tree_from_bytes
from webwinnow.vectors import FeatureMatrix, VectorBuilder, VectorSettings, learn_weights

__all__ = ["Weighed", "collect_features", "parsed_pages", "weighed_pages", "write_features"]

Weighed = tuple[PageRow, PageTree | None, FeatureWeights | None]
"""A page, its tree unless it failed, and what its site makes of features where the weighting asks the site."""


def write_features(
    inputs: Sequence[str | Path],
    out: Path,
    settings: RunSettings,
    vectors: VectorSettings,
    *,
    tmp: Path | None = None,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> tuple[int, int, int]:
    """Write the feature matrix of all pages to an `.npz`; returns (pages, features, pages that failed)."""
    check_output(out, "jsonl")
    check_apart(inputs, out)
    failed = 0

    def count(_: PageRow, tree: PageTree | None) -> None:
        nonlocal failed
        failed += tree is None

    matrix = collect_features(
        inputs, settings, vectors, tmp=tmp, on_page=count, on_progress=on_progress, on_problem=on_problem
    )
    with atomic_file(out) as file:
        matrix.save(file)
    return len(matrix.page_ids), len(matrix.vocabulary), failed


def collect_features(
    inputs: Sequence[str | Path],
    settings: RunSettings,
    vectors: VectorSettings,
    *,
    tmp: Path | None = None,
    on_page: Callable[[PageRow, PageTree | None], None] | None = None,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> FeatureMatrix:
    """The feature matrix of all pages.

    Rows come in the order (site, input ordinal) and bear the page's id, or its URL where it has none; `on_page` is told
    of each as it comes. A page that could not be read has an empty row.
    """
    pages = open_pages(inputs, on_problem=on_problem or (lambda _: None))
    tell = on_progress or (lambda _stage, _done, _total: None)
    builder = VectorBuilder(vectors)
    with parsed_pages(pages, settings, tmp=tmp, tell=tell) as store:
        total = store.page_count()
        for row, tree, weights in weighed_pages(store, settings, vectors):
            builder.add(row.page_id or row.url, tree, weights, site=row.site)
            if on_page is not None:
                on_page(row, tree)
            tell("clean", len(builder.page_ids), total)
    return builder.matrix()


@contextmanager
def parsed_pages(
    pages: Iterator[PageRecord], settings: RunSettings, *, tmp: Path | None, tell: Progress
) -> Iterator[CollectionStore]:
    """A store of these pages, parsed, for as long as it is open."""
    with (
        tempfile.TemporaryDirectory(prefix="webwinnow-", dir=tmp) as folder,
        CollectionStore(Path(folder) / "run", {}, resume=False) as store,
    ):
        with WorkerPool(
            settings.workers, settings.to_plain(), page_seconds=settings.page_seconds, memory=settings.worker_memory
        ) as pool:
            parse_all(pages, store, pool, settings, tell)
        yield store


def weighed_pages(store: CollectionStore, settings: RunSettings, vectors: VectorSettings) -> Iterator[Weighed]:
    """Pages in the order (site, input ordinal)."""
    for site, _ in list(store.sites()):
        chosen = (
            store.chosen_of(site, settings.learn_pages) if vectors.learns_sites and settings.site_by.has_sites else []
        )
        trees = (tree_from_bytes(store.read(ref)) for ref in chosen)
        weights = learn_weights(trees, vectors.weights) if chosen else None
        for row in store.pages_of(site):
            yield row, None if row.ref is None else tree_from_bytes(store.read(row.ref)), weights
