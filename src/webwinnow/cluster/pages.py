"""A clustered collection: the number of clusters, their pages, names and hierarchy, and a map."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.cluster.clustering import Clustering, UnitRows, best_run, k_means
from webwinnow.cluster.count import Suggestion, suggest_k
from webwinnow.cluster.density import density_clusters
from webwinnow.cluster.latent import drawn_pages, latent_rows, plane
from webwinnow.cluster.names import ClusterTerms, numbered
from webwinnow.cluster.rows import PageRows
from webwinnow.cluster.settings import ClusterSettings, KMeans
from webwinnow.cluster.tree import ClusterTree, cluster_tree
from webwinnow.counted import counted
from webwinnow.errors import InputError
from webwinnow.progress import Progress, no_progress

MANY_PAGES: Final = 50_000
"""Larger collections are clustered by mini-batches."""
BATCH: Final = 10_000
"""Pages in a mini-batch."""
TYPICAL: Final = 5
"""Pages nearest to the centroid that represent a cluster."""


class Cluster(NamedTuple):
    """One cluster: its name, its strongest terms with their strength, and the pages nearest to its centroid."""

    name: str
    size: int
    cohesion: float
    terms: tuple[tuple[str, float], ...]
    typical: tuple[int, ...]


class ClusteredPages(NamedTuple):
    """A clustered collection, the largest cluster first; empty clusters are left out.

    - `clustering`: the number of the cluster of each page, or `NO_CLUSTER`.
    - `tree`: the hierarchy of the clusters.
    - `compared`: whether each page has features to compare; with HDBSCAN such pages may be outliers.
    - `wanted`: the number of clusters that was given, suggested or else found. `suggestion` is None if it was given.
    - `algorithm`: as in `ClusterSettings`.
    - `drawn`, `points`: the pages on the map, and their coordinates from 0 to 1.
    """

    clustering: Clustering
    clusters: tuple[Cluster, ...]
    tree: ClusterTree
    compared: NDArray[np.bool_]
    wanted: int
    suggestion: Suggestion | None
    drawn: NDArray[np.int64]
    points: NDArray[np.float64]
    algorithm: str = "k-means"

    @property
    def names(self) -> list[str]:
        """The names of the clusters."""
        return [cluster.name for cluster in self.clusters]


def cluster_pages(
    rows: PageRows, settings: ClusterSettings | None = None, *, on_progress: Progress | None = None
) -> ClusteredPages:
    """Cluster the pages of a collection and describe the clusters."""
    settings = settings or ClusterSettings()
    progress = on_progress or no_progress
    words = UnitRows.of(rows.matrix)
    if not len(words.page):
        raise InputError(f"none of {counted(words.pages, 'page')} has a feature: there is nothing to cluster")
    unit = latent_rows(words, settings.directions, settings.seed)
    if settings.algorithm == "hdbscan":
        progress("cluster", 0, None)
        best = density_clusters(unit, least_pages=settings.least_pages, k=settings.k)
        k, suggestion = settings.k or int(best.label.max()) + 1, None
    else:
        best, k, suggestion = _best_k_means(unit, settings, progress)
    best = best.by_size()
    drawn, points = np.zeros(0, np.int64), np.zeros((0, 2))
    if settings.map:
        progress("map", 0, None)
        chosen = drawn_pages(unit, settings.seed)
        drawn, points = unit.page[chosen], plane(unit.rows[chosen], settings.seed)
    terms = ClusterTerms.of(words, best.label, rows.vocabulary, sites=rows.sites, phrases=rows.phrases)
    tree = cluster_tree(unit, best.label, lambda clusters: terms.of_clusters(clusters).name)
    compared = np.zeros(unit.pages, np.bool_)
    compared[unit.page] = True
    described = _described(terms, best)
    return ClusteredPages(best, described, tree, compared, k, suggestion, drawn, points, settings.algorithm)


def _best_k_means(
    unit: UnitRows, settings: ClusterSettings, progress: Progress
) -> tuple[Clustering, int, Suggestion | None]:
    """The best run of k-means, the number of clusters, and the suggestion of that number if none was given."""
    suggestion = None
    if settings.k is None:
        suggestion = suggest_k(
            unit,
            seed=settings.seed,
            jobs=settings.jobs,
            on_progress=lambda done, total: progress("choose", done, total),
        )
    k = settings.k or (suggestion.k if suggestion else 1)
    batch = settings.batch or (BATCH if len(unit.page) > MANY_PAGES else None)
    how = KMeans(k=k, iterations=settings.iterations, start=settings.start, batch=batch)
    runs = k_means(unit, how, runs=settings.runs, seed=settings.seed, jobs=settings.jobs)
    return best_run(_shown(runs, settings.runs, progress)), k, suggestion


def _shown(found: Iterator[Clustering], runs: int, progress: Progress) -> Iterator[Clustering]:
    """The runs, with progress."""
    for done, run in enumerate(found, start=1):
        yield run
        progress("cluster", done, runs)


def _described(terms: ClusterTerms, found: Clustering) -> tuple[Cluster, ...]:
    of_each = [terms.of_clusters([cluster]) for cluster in range(len(terms.sizes))]
    described = []
    for cluster, (name, some) in enumerate(zip(numbered([one.name for one in of_each]), of_each, strict=True)):
        pages = np.flatnonzero(found.label == cluster)
        similarity = found.similarity[pages]
        nearest = pages[np.lexsort((pages, -similarity))[:TYPICAL]]
        cohesion = float(similarity.mean(dtype=np.float64))
        described.append(Cluster(name, len(pages), cohesion, some.words, tuple(nearest.tolist())))
    return tuple(described)
