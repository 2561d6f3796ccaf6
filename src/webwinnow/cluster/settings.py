"""Settings of clustering, in a module that needs no extra."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from webwinnow.settings import Settings, setting

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
class KMeans(Settings):
    """Settings of k-means.

    - `k`: clusters.
    - `iterations`: at most; a run ends sooner when no page changes its cluster.
    - `start`: `random` pages as first centroids (the thesis), or `k-means++`, where each next one is sampled by its
      distance from those before.
    - `batch`: None for all pages in every iteration, or the number of pages sampled per iteration (mini-batch).
    """

    k: Annotated[int, setting("Clusters.", least=1)]
    iterations: Annotated[int, setting("Iterations of a run.", least=1)] = ITERATIONS
    start: Annotated[str, setting("First centroids.", known=lambda: STARTS)] = "random"
    batch: Annotated[int | None, setting("Pages in a mini-batch.", least=1)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings(Settings):
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

    k: Annotated[int | None, setting("Clusters.", least=1)] = None
    algorithm: Annotated[str, setting("How to cluster.", known=lambda: ALGORITHMS)] = "k-means"
    directions: Annotated[int, setting("Latent semantic directions.", least=0)] = DIRECTIONS
    least_pages: Annotated[int | None, setting("Pages of a cluster.", least=2)] = None
    runs: Annotated[int, setting("Starts.", least=1, most=MOST_RUNS)] = RUNS
    start: Annotated[str, setting("First centroids.", known=lambda: STARTS)] = "k-means++"
    iterations: Annotated[int, setting("Iterations of a run.", least=1)] = ITERATIONS
    batch: Annotated[int | None, setting("Pages in a mini-batch.", least=1)] = None
    seed: Annotated[int, setting("Seed.", least=0, most=MOST_SEED)] = 0
    jobs: Annotated[int, setting("Threads.", least=1)] = 1
    map: bool = True
