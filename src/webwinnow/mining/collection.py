"""A collection clustered and described: how many clusters, which pages, their names, and where they lie on a map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, SettingsError
from webwinnow.mining.choosing import Suggestion, suggest_k
from webwinnow.mining.cluster import ITERATIONS, STARTS, Clustering, KMeans, UnitRows, best_run, k_means
from webwinnow.mining.naming import cluster_names, cluster_terms
from webwinnow.mining.places import drawn_pages, plane
from webwinnow.mining.rows import PageRows
from webwinnow.progress import Progress

__all__ = ["BATCH", "MANY_PAGES", "Cluster", "ClusterSettings", "ClusteredPages", "cluster_pages"]

MANY_PAGES: Final = 50_000
"""Collections of more pages are clustered by mini-batches."""
BATCH: Final = 10_000
"""Pages in a mini-batch."""
RUNS: Final = 20
"""Runs of which the best is taken. On car makes the best of 20 by cohesion has a mean F of 0.95, a run 0.81 (in-sample,
docs/cluster.md); more gain little."""
TYPICAL: Final = 5
"""Pages nearest the centroid that stand for a cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """How a collection is clustered.

    - `k`: clusters; None for a suggestion (`suggest_k`).
    - `runs`: from so many starts; the run with the greatest cohesion is taken.
    - `start`, `iterations`: as in `KMeans`.
    - `batch`: pages in a mini-batch; None for all pages up to `MANY_PAGES`, and `BATCH` beyond.
    - `seed`: of all that is drawn. `jobs`: threads; the result does not depend on them.
    - `map`: whether pages are laid out on a plane.
    """

    k: int | None = None
    runs: int = RUNS
    start: str = "k-means++"
    iterations: int = ITERATIONS
    batch: int | None = None
    seed: int = 0
    jobs: int = 1
    map: bool = True

    def __post_init__(self) -> None:
        for name in ("k", "runs", "iterations", "batch", "jobs"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(f"{name} is {value}: expected 1 or more")
        if self.start not in STARTS:
            raise SettingsError(f"there is no start {self.start!r}; there are: {', '.join(STARTS)}")
        if self.seed < 0:
            raise SettingsError(f"seed is {self.seed}: expected 0 or more")


@dataclass(frozen=True, slots=True)
class Cluster:
    """One cluster: its name, its strongest terms with their strength, and the pages nearest its centroid."""

    name: str
    size: int
    cohesion: float
    terms: tuple[tuple[str, float], ...]
    typical: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredPages:
    """A clustered collection, the largest cluster first; clusters that drew no page are left out.

    - `clustering`: of each page the number of its cluster, or `NO_CLUSTER`.
    - `asked`: how many clusters were asked for or suggested. `suggestion` is None where the number was given.
    - `drawn`, `points`: the pages on the map, and where they lie, from 0 to 1.
    """

    clustering: Clustering
    clusters: tuple[Cluster, ...]
    asked: int
    suggestion: Suggestion | None
    drawn: NDArray[np.int64]
    points: NDArray[np.float64]


def cluster_pages(
    rows: PageRows, settings: ClusterSettings | None = None, *, on_progress: Progress | None = None
) -> ClusteredPages:
    """Cluster the pages of a collection and describe the clusters."""
    settings = settings or ClusterSettings()
    tell = on_progress or (lambda _stage, _done, _total: None)
    unit = UnitRows.of(rows.matrix)
    if not len(unit.page):
        raise InputError(f"none of {unit.pages} pages has a feature: there is nothing to cluster")
    suggestion = None
    if settings.k is None:
        suggestion = suggest_k(
            unit, seed=settings.seed, jobs=settings.jobs, on_progress=lambda done, total: tell("choose", done, total)
        )
    k = settings.k or (suggestion.k if suggestion else 1)
    batch = settings.batch or (BATCH if len(unit.page) > MANY_PAGES else None)
    how = KMeans(k=k, iterations=settings.iterations, start=settings.start, batch=batch)
    best: Clustering | None = None
    for done, run in enumerate(k_means(unit, how, runs=settings.runs, seed=settings.seed, jobs=settings.jobs), start=1):
        best = run if best is None else best_run([best, run])
        tell("cluster", done, settings.runs)
    assert best is not None
    best = best.by_size()
    drawn, points = np.zeros(0, np.int64), np.zeros((0, 2))
    if settings.map:
        tell("map", 0, None)
        chosen = drawn_pages(unit, settings.seed)
        drawn, points = unit.page[chosen], plane(unit.rows[chosen], settings.seed)
    return ClusteredPages(best, _described(unit, best, rows.vocabulary), k, suggestion, drawn, points)


def _described(unit: UnitRows, found: Clustering, vocabulary: list[str]) -> tuple[Cluster, ...]:
    terms = cluster_terms(unit, found.label, vocabulary)
    described = []
    for cluster, (name, some) in enumerate(zip(cluster_names(terms), terms, strict=True)):
        pages = np.flatnonzero(found.label == cluster)
        likeness = found.similarity[pages]
        nearest = pages[np.lexsort((pages, -likeness))[:TYPICAL]]
        cohesion = float(likeness.mean(dtype=np.float64))
        described.append(Cluster(name, len(pages), cohesion, tuple(some), tuple(nearest.tolist())))
    return tuple(described)
