"""How many clusters to make."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score, silhouette_score

from webwinnow.cluster.clustering import EQUAL, Labels, UnitRows, k_means
from webwinnow.cluster.settings import KMeans

MOST_CLUSTERS: Final = 20
"""The largest number of clusters that is tried; the smallest is 2."""
TRIAL_RUNS: Final = 12
BEST: Final = 6
"""Runs per number, and the best of them by cohesion, whose agreement counts: poor runs only show poor seeds."""
SAMPLE: Final = 2000
"""Pages that are used, a random sample of larger collections."""
PAGES_A_CLUSTER: Final = 3
"""Numbers of clusters with fewer pages per cluster are not tried."""
STABLE: Final = 0.5
"""The least agreement of the runs of a number that is suggested. Below it the clusters are those of the seed: 0.2 for
every number on samples/docs.warc.gz, 0.9 to 1 on cuisines, genres, roles and makes (docs/cluster.md)."""


class ClusterCountTrial(NamedTuple):
    """One number of clusters: how far they are apart (silhouette by cosine, -1 to 1), and how far the best runs agree
    (adjusted Rand index, 0 for chance, 1 for full agreement).
    """

    silhouette: float
    agreement: float

    @property
    def worth(self) -> float:
        """The silhouette times the square of the agreement.

        The silhouette grows with the number of clusters where there are none, the agreement falls; with the agreement
        itself as the factor, the growth wins (20 clusters of sites-news, at an agreement of 0.4).
        """
        return round(max(self.silhouette, 0.0) * max(self.agreement, 0.0) ** 2, 6)


class Suggestion(NamedTuple):
    """A number of clusters, and the trial of each number. `stands_out` is whether the trials favour that number."""

    k: int
    trials: dict[int, ClusterCountTrial]
    stands_out: bool = True


def suggest_k(
    unit: UnitRows,
    *,
    most: int = MOST_CLUSTERS,
    seed: int = 0,
    jobs: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> Suggestion:
    """Suggest the number of clusters of the largest worth among the stable ones, the lowest of equal ones.

    The silhouette (Rousseeuw 1987) alone prefers ever more and smaller clusters; stability (Lange et al. 2004) alone
    prefers two or three coarse ones. If no number is stable, the root of half the pages is returned, a rule of thumb
    (Mardia, Kent and Bibby 1979); that number does not stand out, and neither does `most`, beyond which nothing was
    tried. Equal pages, or fewer than six, make one cluster. docs/cluster.md has results.
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
            k_means(some, KMeans(k=k, start="k-means++"), runs=TRIAL_RUNS, seed=seed, jobs=jobs),
            key=lambda run: -round(run.cohesion, 6),
        )[:BEST]
        trials[k] = _trial(apart, [run.label for run in runs])
        if on_progress is not None:
            on_progress(done, len(tried))
    stable = [k for k, trial in trials.items() if trial.agreement >= STABLE and trial.worth > 0]
    if not stable:
        return Suggestion(min(max(round(math.sqrt(pages / 2)), 2), tried[-1]), trials, stands_out=False)
    best = max(stable, key=lambda k: (trials[k].worth, -k))
    return Suggestion(best, trials, stands_out=best < most)


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
