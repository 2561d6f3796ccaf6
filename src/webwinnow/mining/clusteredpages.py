"""A clustered collection: its feature vectors, the number of clusters, their pages, their names, and a map."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, MissingExtra, check_range
from webwinnow.mining.classifiers import check_csr
from webwinnow.mining.clustering import (
    EQUAL,
    ITERATIONS,
    Clustering,
    KMeans,
    Labels,
    UnitRows,
    best_run,
    k_means,
    members,
)
from webwinnow.progress import Progress
from webwinnow.storage import read_arrays
from webwinnow.vectors import FeatureMatrix
from webwinnow.weighting import TOPIC_PREFIX
from webwinnow.words import IMAGE_PREFIX, LINK_PREFIX

try:
    import scipy.sparse as sp
    from sklearn.decomposition import TruncatedSVD
    from sklearn.manifold import TSNE
    from sklearn.metrics import adjusted_rand_score, silhouette_score
    from threadpoolctl import threadpool_limits
except ImportError:  # pragma: no cover - an installation without the extra
    raise MissingExtra("webwinnow.mining", "mining") from None

LARGEST_ARRAY: Final = 1 << 34
"""Bytes of one array of a feature file; larger ones are not unpacked."""
_KINDS: Final = {"data": "f", "indices": "iu", "indptr": "iu", "shape": "iu", "page_ids": "U", "vocabulary": "U"}


@dataclass(frozen=True, slots=True, eq=False)
class PageRows:
    """One row per page (`matrix`, CSR), one column per feature, with names: `page_ids` and `vocabulary`."""

    matrix: Any
    page_ids: list[str]
    vocabulary: list[str]

    @classmethod
    def of(cls, features: FeatureMatrix) -> Self:
        shape = (len(features.page_ids), len(features.vocabulary))
        matrix = sp.csr_matrix((features.data, features.indices, features.indptr), shape=shape)
        return cls(matrix, features.page_ids, features.vocabulary)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The rows of an `.npz` that `webwinnow features` wrote. `InputError` if it is damaged or something else."""
        try:
            arrays = read_arrays(path, _KINDS, largest=LARGEST_ARRAY)
            for name, kinds in _KINDS.items():
                if arrays[name].ndim != 1 or arrays[name].dtype.kind not in kinds:
                    raise ValueError(f"{name} is {arrays[name].ndim}-dimensional of {arrays[name].dtype}")
            data, indices, indptr, given, page_ids, vocabulary = (arrays[name] for name in _KINDS)
            shape = (len(page_ids), len(vocabulary))
            if tuple(given.tolist()) != shape:
                raise ValueError(f"shape is {given.tolist()}, there are {shape[0]} pages and {shape[1]} features")
            check_csr(data, indices, indptr, shape)
        except ValueError as error:
            raise InputError(
                f"{path}: not a feature file ({error}); expected an .npz that `webwinnow features` wrote"
            ) from error
        matrix = sp.csr_matrix((data, indices, indptr), shape=shape)
        return cls(matrix, page_ids.tolist(), vocabulary.tolist())


MOST_CLUSTERS: Final = 20
"""The largest number of clusters that is tried; the smallest is 2."""
TRIAL_RUNS: Final = 12
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
            k_means(some, KMeans(k=k, start="k-means++"), runs=TRIAL_RUNS, seed=seed, jobs=jobs),
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


TERMS: Final = 10
"""Terms that describe a cluster."""
NAME_TERMS: Final = 3
"""The strongest of them, which make its name."""
NO_WORDS: Final = (LINK_PREFIX, IMAGE_PREFIX, TOPIC_PREFIX)
"""Prefixes of features that are not words."""
LONGEST_TERM: Final = 40
"""Characters of a term in a name: pages are untrusted input."""
MOST_POINTS: Final = 5000
"""Most pages on a map: more cannot be distinguished, and their layout takes minutes."""
DIRECTIONS: Final = 30
"""Directions of the greatest variance that the layout uses."""
PERPLEXITY: Final = 30.0
"""Effective number of neighbours of a page (the usual value of t-SNE)."""
ROUNDS: Final = 500
FEWEST: Final = 5
"""Fewer pages are laid out on a circle: they have no neighbourhoods."""
NO_SPREAD: Final = 1e-6
MANY_PAGES: Final = 50_000
"""Larger collections are clustered by mini-batches."""
BATCH: Final = 10_000
"""Pages in a mini-batch."""
RUNS: Final = 20
"""Runs, of which the best is used. On car makes the best of 20 by cohesion has a mean F of 0.95, a run 0.81 (in-sample,
docs/cluster.md); more gain little."""
TYPICAL: Final = 5
"""Pages nearest to the centroid that represent a cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """Settings of `cluster_pages`.

    - `k`: clusters; None to choose the number (`suggest_k`).
    - `runs`: the number of starts; the run with the greatest cohesion is used.
    - `start`, `iterations`: as in `KMeans`.
    - `batch`: pages in a mini-batch; None for all pages up to `MANY_PAGES`, and `BATCH` beyond.
    - `seed`: of all random numbers. `jobs`: threads; the result does not depend on them.
    - `map`: whether to lay out the pages on a plane.
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
        KMeans(k=1 if self.k is None else self.k, iterations=self.iterations, start=self.start, batch=self.batch)
        check_range(self, "runs", "jobs", least=1)
        check_range(self, "seed", least=0)


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
    - `asked`: the number of clusters that was given or suggested. `suggestion` is None if it was given.
    - `drawn`, `points`: the pages on the map, and their coordinates from 0 to 1.
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
    progress = on_progress or (lambda _stage, _done, _total: None)
    unit = UnitRows.of(rows.matrix)
    if not len(unit.page):
        raise InputError(f"none of {unit.pages} pages has a feature: there is nothing to cluster")
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
    best: Clustering | None = None
    for done, run in enumerate(k_means(unit, how, runs=settings.runs, seed=settings.seed, jobs=settings.jobs), start=1):
        best = run if best is None else best_run([best, run])
        progress("cluster", done, settings.runs)
    assert best is not None
    best = best.by_size()
    drawn, points = np.zeros(0, np.int64), np.zeros((0, 2))
    if settings.map:
        progress("map", 0, None)
        chosen = drawn_pages(unit, settings.seed)
        drawn, points = unit.page[chosen], plane(unit.rows[chosen], settings.seed)
    return ClusteredPages(best, _described(unit, best, rows.vocabulary), k, suggestion, drawn, points)


def _described(unit: UnitRows, found: Clustering, vocabulary: list[str]) -> tuple[Cluster, ...]:
    terms = cluster_terms(unit, found.label, vocabulary)
    described = []
    for cluster, (name, some) in enumerate(zip(cluster_names(terms), terms, strict=True)):
        pages = np.flatnonzero(found.label == cluster)
        similarity = found.similarity[pages]
        nearest = pages[np.lexsort((pages, -similarity))[:TYPICAL]]
        cohesion = float(similarity.mean(dtype=np.float64))
        described.append(Cluster(name, len(pages), cohesion, tuple(some), tuple(nearest.tolist())))
    return tuple(described)


# Names


def cluster_terms(
    unit: UnitRows, label: Labels, vocabulary: Sequence[str], *, most: int = TERMS
) -> list[list[tuple[str, float]]]:
    """The strongest terms of each cluster with their strength, the strongest first.

    The strength of a term is its mean weight in the cluster times the logarithm of how much more often a page of the
    cluster has it than another page: a word that all clusters share names none of them, nor does a word of few pages.
    If there is only one cluster, the mean weight decides. Words name a cluster; images, links and topics (W+) do only
    if it has no word.
    """
    inside = label[unit.page]
    member = members(inside)
    weight = (member @ unit.rows).tocsr()
    present = unit.rows.copy()
    present.data = np.ones_like(present.data)
    held = (member @ present).tocsr().sorted_indices()
    of_all = np.asarray(held.sum(axis=0)).ravel()
    sizes = np.bincount(inside, minlength=held.shape[0])
    pages, names = len(inside), np.array(vocabulary, dtype=np.str_)
    is_word = ~np.any([np.char.startswith(names, prefix) for prefix in NO_WORDS], axis=0)
    terms = []
    for cluster, size in enumerate(sizes.tolist()):
        row = held[[cluster]]
        columns = row.indices
        mean = weight[[cluster]].toarray().ravel()[columns] / max(size, 1)  # negative weights may cancel to nothing
        if 0 < size < pages:
            among = row.data / size
            elsewhere = (of_all[columns] - row.data) / (pages - size)
            mean = mean * np.log((among + 1 / pages) / (elsewhere + 1 / pages))
        if is_word[columns].any():
            columns, mean = columns[is_word[columns]], mean[is_word[columns]]
        best = np.lexsort((columns, -mean.round(9)))[:most]
        terms.append([(str(names[columns[i]]), float(mean[i])) for i in best if mean[i] > 0])
    return terms


def cluster_names(terms: Sequence[Sequence[tuple[str, float]]]) -> list[str]:
    """A name for each cluster, made of its strongest terms; clusters with the same name are numbered."""
    names = [", ".join(term[:LONGEST_TERM] for term, _ in some[:NAME_TERMS]) or "no terms" for some in terms]
    return [f"{name} ({names[: k + 1].count(name)})" if names.count(name) > 1 else name for k, name in enumerate(names)]


# The map


def drawn_pages(unit: UnitRows, seed: int = 0, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """The rows that a map shows, in order: all of them, or a random sample."""
    if len(unit.page) <= most:
        return np.arange(len(unit.page))
    return np.sort(np.random.default_rng((seed, most)).choice(len(unit.page), most, replace=False))


def plane(rows: Any, seed: int = 0) -> NDArray[np.float64]:
    """Coordinates from 0 to 1 for each of some unit rows: latent semantic directions, then t-SNE.

    On one thread, so that the same rows and seed give the same map on a machine. As always with t-SNE, distances
    between distant groups mean little.
    """
    pages = rows.shape[0]
    directions = min(DIRECTIONS, pages - 1, rows.shape[1] - 1)
    if pages < FEWEST or directions < 2:
        return _circle(pages)
    with threadpool_limits(1):
        latent = TruncatedSVD(directions, random_state=seed).fit_transform(rows)
        spread = latent.std(axis=0)
        if spread.max() < NO_SPREAD:  # all pages are equal
            return _circle(pages)
        first = latent[:, np.argsort(-spread, kind="stable")[:2]] / spread.max() * 1e-4
        layout = TSNE(
            init=first.astype(np.float32),
            perplexity=min(PERPLEXITY, (pages - 1) / 3),
            max_iter=ROUNDS,
            random_state=seed,
            n_jobs=1,
        ).fit_transform(latent.astype(np.float32))
    return _scaled(layout.astype(np.float64))


def _circle(pages: int) -> NDArray[np.float64]:
    turn = 2 * np.pi * np.arange(pages) / max(pages, 1)
    around = 0.5 + 0.5 * np.column_stack([np.cos(turn), np.sin(turn)])
    return around if pages > 1 else np.full((pages, 2), 0.5)


def _scaled(layout: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scaled into the unit square, with the same factor for both axes."""
    least, most = layout.min(axis=0), layout.max(axis=0)
    size = max(float((most - least).max()), NO_SPREAD)
    scaled: NDArray[np.float64] = 0.5 + (layout - (least + most) / 2) / size
    return scaled
