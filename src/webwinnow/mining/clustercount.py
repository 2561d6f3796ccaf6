"""The number of clusters of a collection, if it is not given: clusters that are far apart and that runs agree on."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import MissingExtra
from webwinnow.mining.clustering import EQUAL, KMeans, Labels, UnitRows, k_means

try:
    from sklearn.metrics import adjusted_rand_score, silhouette_score
except ImportError:  # pragma: no cover - an installation without the extra
    raise MissingExtra("webwinnow.mining", "mining") from None

MOST_CLUSTERS: Final = 20
"""The largest number of clusters that is tried; the smallest is 2."""
RUNS: Final = 12
BEST: Final = 6
"""Runs per number, and the best of them by cohesion, whose agreement counts: poor runs only show poor seeds."""
SAMPLE: Final = 2000
"""Pages that are used, a random sample of larger collections."""
PAGES_A_CLUSTER: Final = 3
"""Numbers of clusters with fewer pages per cluster are not tried."""


class ClusterCountTrial(NamedTuple):
    """One number of clusters: how far they are apart (silhouette by cosine, -1 to 1), and how far the best runs agree
    (adjusted Rand index, 0 for chance, 1 for full agreement).
    """

    silhouette: float
    agreement: float

    @property
    def worth(self) -> float:
        """The product of both."""
        return round(max(self.silhouette, 0.0) * max(self.agreement, 0.0), 6)


class Suggestion(NamedTuple):
    """A number of clusters, and the trial of each number."""

    k: int
    trials: dict[int, ClusterCountTrial]


def suggest_k(
    unit: UnitRows,
    *,
    most: int = MOST_CLUSTERS,
    seed: int = 0,
    jobs: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> Suggestion:
    """Suggest the number of clusters with the largest silhouette times stability, the lowest of equal ones.

    The silhouette (Rousseeuw 1987) alone prefers ever more and smaller clusters; stability (Lange et al. 2004) alone
    prefers two or three coarse ones. Equal pages, or fewer than six, make one cluster. docs/cluster.md has results.
    """
    some = _sample(unit, seed)
    pages = len(some.page)
    tried = range(2, min(most, pages // PAGES_A_CLUSTER) + 1)
    if not tried or _are_alike(some):
        return Suggestion(1, {})
    apart = np.clip(1 - (some.rows @ some.rows.T).toarray(), 0, None)
    np.fill_diagonal(apart, 0)
    trials: dict[int, ClusterCountTrial] = {}
    for done, k in enumerate(tried, start=1):
        runs = sorted(
            k_means(some, KMeans(k=k, start="k-means++"), runs=RUNS, seed=seed, jobs=jobs),
            key=lambda run: -round(run.cohesion, 6),
        )[:BEST]
        trials[k] = _trial(apart, [run.label for run in runs])
        if on_progress is not None:
            on_progress(done, len(tried))
    return Suggestion(max(trials, key=lambda k: (trials[k].worth, -k)), trials)


def _trial(apart: NDArray[np.float32], labels: list[Labels]) -> ClusterCountTrial:
    """The silhouette of the best run, given first, and the mean agreement of each pair."""
    filled = len(np.unique(labels[0]))
    silhouette = silhouette_score(apart, labels[0], metric="precomputed") if 1 < filled < len(apart) else 0.0
    pairs = itertools.combinations(labels, 2)
    agreement = statistics.mean(float(adjusted_rand_score(one, other)) for one, other in pairs)
    return ClusterCountTrial(float(silhouette), agreement)


def _sample(unit: UnitRows, seed: int) -> UnitRows:
    """A sample of the rows, with the columns that they use."""
    some = unit.rows
    if len(unit.page) > SAMPLE:
        some = some[np.sort(np.random.default_rng((seed, SAMPLE)).choice(len(unit.page), SAMPLE, replace=False))]
    return UnitRows.of(some[:, np.unique(some.indices)])


def _are_alike(unit: UnitRows) -> bool:
    total: Any = np.asarray(unit.columns.sum(axis=1)).ravel()
    return bool(np.linalg.norm(total) / len(unit.page) > 1 - EQUAL)
