"""How many clusters a collection has, where nobody says: clusters that lie apart, and that every good run finds."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import MissingExtra
from webwinnow.mining.clustering import EQUAL, KMeans, Labels, UnitRows, k_means

try:
    from sklearn.metrics import adjusted_rand_score, silhouette_score
except ImportError:  # pragma: no cover - an installation without the extra
    raise MissingExtra("webwinnow.mining", "mining") from None

__all__ = ["MOST_CLUSTERS", "ClusterCountTrial", "Suggestion", "suggest_k"]

MOST_CLUSTERS: Final = 20
"""Numbers of clusters from 2 to so many are tried."""
RUNS: Final = 12
BEST: Final = 6
"""Of so many runs the best ones by cohesion, whose agreement is looked at: poor runs tell of poor seeds only."""
SAMPLE: Final = 2000
"""Pages that are looked at, drawn at random from more."""
PAGES_A_CLUSTER: Final = 3
"""Numbers of clusters that leave fewer pages a cluster are not tried."""


class ClusterCountTrial(NamedTuple):
    """One number of clusters: how far they lie apart (silhouette by cosine, -1 to 1), and how far the best runs agree
    (adjusted Rand index, 0 as by chance, 1 in everything).
    """

    silhouette: float
    agreement: float

    @property
    def worth(self) -> float:
        """Both at once: apart, and found again."""
        return round(max(self.silhouette, 0.0) * max(self.agreement, 0.0), 6)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A number of clusters, and each number that was tried."""

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
    """Suggest the number of clusters that is worth most: silhouette times stability, the lowest of equals.

    A silhouette (Rousseeuw 1987) alone grows with ever more and smaller clusters of pages; stability (Lange et al.
    2004) alone is content with two or three coarse ones. At a number that fits the pages, clusters lie apart and runs
    from other seeds find them again. Pages that all say the same, or fewer than six of them, make one cluster.
    docs/cluster.md says how well this does.
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
    """The silhouette of the best run, given first, and the mean agreement of each two."""
    filled = len(np.unique(labels[0]))
    silhouette = silhouette_score(apart, labels[0], metric="precomputed") if 1 < filled < len(apart) else 0.0
    pairs = itertools.combinations(labels, 2)
    agreement = statistics.mean(float(adjusted_rand_score(one, other)) for one, other in pairs)
    return ClusterCountTrial(float(silhouette), agreement)


def _sample(unit: UnitRows, seed: int) -> UnitRows:
    """Some of the rows, and of the columns those that they fill."""
    some = unit.rows
    if len(unit.page) > SAMPLE:
        some = some[np.sort(np.random.default_rng((seed, SAMPLE)).choice(len(unit.page), SAMPLE, replace=False))]
    return UnitRows.of(some[:, np.unique(some.indices)])


def _are_alike(unit: UnitRows) -> bool:
    total: Any = np.asarray(unit.columns.sum(axis=1)).ravel()
    return bool(np.linalg.norm(total) / len(unit.page) > 1 - EQUAL)
