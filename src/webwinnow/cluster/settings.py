"""Settings of clustering, in a module that needs no extra."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from webwinnow.errors import SettingsError, check_range

ITERATIONS: Final = 30
"""Thesis 5.1.1: the algorithm ends after 30 iterations."""
STARTS: Final = ("random", "k-means++")
ALGORITHMS: Final = ("k-means", "hdbscan")
DIRECTIONS: Final = 50
"""Directions that clustering uses. 30, 50 and 100 gave the same results on sites-news and sites-swde
(docs/cluster.md)."""
RUNS: Final = 20
"""Runs, of which the best is used. On car makes the best of 20 by cohesion has a mean F of 0.95, a run 0.81 (in-sample,
docs/cluster.md); more gain little."""
MOST_RUNS: Final = 10_000
MOST_SEED: Final = 2**32 - 1
"""scikit-learn takes no other."""
DEFAULT_WEIGHTING: Final = "topic"
"""Groups pages by subject rather than by site (docs/cluster.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KMeans:
    """Settings of k-means.

    - `k`: clusters.
    - `iterations`: at most; a run ends sooner when no page changes its cluster.
    - `start`: `random` pages as first centroids (the thesis), or `k-means++`, where each next one is sampled by its
      distance from those before.
    - `batch`: None for all pages in every iteration, or the number of pages sampled per iteration (mini-batch).
    """

    k: int
    iterations: int = ITERATIONS
    start: str = "random"
    batch: int | None = None

    def __post_init__(self) -> None:
        check_range(self, "k", "iterations", "batch", least=1)
        if self.start not in STARTS:
            raise SettingsError(f"there is no start {self.start!r}; there are: {', '.join(STARTS)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """Settings of `cluster_pages`.

    - `k`: clusters; None to choose the number (`suggest_k`, or HDBSCAN). HDBSCAN finds at most `k`.
    - `algorithm`: `k-means`, every page in a cluster, or `hdbscan`, where pages between clusters are outliers.
    - `directions`: latent semantic directions to cluster in; 0 for the words themselves (thesis 5.1.1).
    - `least_pages`: pages of a cluster at least (HDBSCAN); None for half the root of the number of pages, 5 at least.
    - `runs`: the number of starts; the run with the greatest cohesion is used.
    - `start`, `iterations`: as in `KMeans`.
    - `batch`: pages in a mini-batch; None for all pages up to `MANY_PAGES`, and `BATCH` beyond.
    - `seed`: of all random numbers. `jobs`: threads; the result does not depend on them.
    - `map`: whether to lay out the pages on a plane.
    """

    k: int | None = None
    algorithm: str = "k-means"
    directions: int = DIRECTIONS
    least_pages: int | None = None
    runs: int = RUNS
    start: str = "k-means++"
    iterations: int = ITERATIONS
    batch: int | None = None
    seed: int = 0
    jobs: int = 1
    map: bool = True

    def __post_init__(self) -> None:
        KMeans(k=1 if self.k is None else self.k, iterations=self.iterations, start=self.start, batch=self.batch)
        if self.algorithm not in ALGORITHMS:
            raise SettingsError(f"there is no algorithm {self.algorithm!r}; there are: {', '.join(ALGORITHMS)}")
        check_range(self, "jobs", least=1)
        check_range(self, "runs", least=1, most=MOST_RUNS)
        check_range(self, "directions", least=0)
        check_range(self, "seed", least=0, most=MOST_SEED)
        check_range(self, "least_pages", least=2)
