"""K-means by cosine over sparse rows (thesis 5.1.1), and how well clusters agree with classes (thesis 5.4).

A row is a page of unit length. Several runs share one pass over the rows: their centroids are side by side in one dense
array, so that one product gives the similarities of all of them. The result of a run depends on its own seed only, not
on the runs beside it nor on the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.cluster.settings import KMeans
from webwinnow.counted import counted
from webwinnow.errors import InputError, MissingExtra, SettingsError

try:
    import scipy.sparse as sp
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix
except ImportError:  # pragma: no cover - an installation without the extra
    raise MissingExtra("clustering", "mining") from None

NO_CLUSTER: Final = -1
"""The label of a page without features, which is similar to no page."""
SIDE_BY_SIDE: Final = 32
"""Centroids per pass over the rows (ours: more are not faster)."""
CELLS_SIDE_BY_SIDE: Final = 1 << 24
"""Cells (features times centroids) per pass: 200 MB."""
MOST_CELLS: Final = 1 << 27
"""Cells of the centroids of one run: 1.6 GB; more are refused."""
EQUAL: Final = 1e-6
"""Rows with a cosine this near to 1 are equal: the precision of float32."""
ROWS_AT_ONCE: Final = 1 << 16
"""Rows whose cosines are computed at once."""

Labels = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """The result of one run: the cluster of each page, `NO_CLUSTER` for a page without features, and its similarity
    to the centroid of its cluster, 0 for such a page.
    """

    label: Labels
    similarity: NDArray[np.float32]
    iterations: int
    converged: bool

    def by_size(self) -> Clustering:
        """The same with clusters numbered by size, the largest first; of equal ones the one whose page comes first."""
        inside = self.label[self.label != NO_CLUSTER]
        found, first, sizes = np.unique(inside, return_index=True, return_counts=True)
        number = np.full(int(inside.max(initial=NO_CLUSTER)) + 2, NO_CLUSTER, np.int32)  # the last serves NO_CLUSTER
        number[found[np.lexsort((first, -sizes))]] = np.arange(len(found))
        return replace(self, label=number[self.label])

    @property
    def cohesion(self) -> float:
        """The mean similarity of the pages with features to their centroids: the greater, the less J of (6-1).

        For unit rows and unit centroids |x - c|^2 = 2 - 2 cos(x, c).
        """
        inside = self.label != NO_CLUSTER
        return float(self.similarity[inside].mean(dtype=np.float64)) if inside.any() else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class UnitRows:
    """Rows of length 1, for the cosine of (6-3); rows without features are left out.

    - `rows`: CSR of float32; `columns`: its transpose of float64, to sum clusters.
    - `page`: the index of each row among all `pages`.
    """

    rows: Any
    columns: Any
    page: NDArray[np.int64]
    pages: int

    @classmethod
    def of(cls, matrix: Any) -> Self:
        """The rows of a sparse matrix of finite values; some weightings (W+) have values below 0."""
        csr = sp.csr_matrix(matrix, dtype=np.float64)
        if not np.isfinite(csr.data).all():
            raise InputError("a page has a feature whose weight is no number; expected finite weights")
        length = np.sqrt(np.asarray(csr.multiply(csr).sum(axis=1)).ravel())
        page = np.flatnonzero(length > 0)
        exact = sp.diags_array(1 / length[page]).tocsr() @ csr[page]
        return cls(exact.astype(np.float32), exact.T.tocsr(), page, csr.shape[0])

    def clustering(
        self, label: Labels, similarity: NDArray[Any], iterations: int = 1, *, converged: bool = True
    ) -> Clustering:
        """The clusters of these rows as clusters of all pages."""
        labels = np.full(self.pages, NO_CLUSTER, np.int32)
        similarities = np.zeros(self.pages, np.float32)
        labels[self.page], similarities[self.page] = label, similarity
        return Clustering(labels, similarities, iterations, converged)


def k_means(
    rows: UnitRows | Any, settings: KMeans, *, runs: int = 1, seed: int = 0, jobs: int = 1
) -> Iterator[Clustering]:
    """Cluster the rows `runs` times and yield the result of each run, in order; `rows` may be any sparse matrix.

    Run i uses the random generator of (seed, i). `jobs` is the number of threads.
    """
    unit = rows if isinstance(rows, UnitRows) else UnitRows.of(rows)
    if settings.k > len(unit.page):
        pages = counted(len(unit.page), "page")
        raise SettingsError(f"{counted(settings.k, 'cluster')} of {pages} with features: expected at most as many")
    features = unit.rows.shape[1]
    cells = settings.k * features
    if cells > MOST_CELLS:
        raise SettingsError(
            f"{settings.k} clusters over {features:,} features do not fit into memory: expected at most "
            f"{MOST_CELLS // features:,}"
        )
    work = _mini_batches if settings.batch is not None and settings.batch < len(unit.page) else _lloyd
    together = max(1, min(SIDE_BY_SIDE // settings.k, CELLS_SIDE_BY_SIDE // max(cells, 1)))
    groups = [
        [np.random.default_rng((seed, run)) for run in range(first, min(first + together, runs))]
        for first in range(0, runs, together)
    ]
    if jobs <= 1 or len(groups) <= 1:
        for group in groups:
            yield from work(unit, settings, group)
        return
    pool = ThreadPoolExecutor(jobs)
    try:
        for done in [pool.submit(work, unit, settings, group) for group in groups]:
            yield from done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def best_run(found: Iterable[Clustering]) -> Clustering:
    """The run with the greatest cohesion, the first of equal ones."""
    return max(found, key=lambda run: run.cohesion)


def members(label: Labels) -> Any:
    """A sparse matrix of clusters by rows, 1 where a row belongs to a cluster: its product with rows sums clusters."""
    inside = np.flatnonzero(label != NO_CLUSTER)
    shape = (int(label.max(initial=NO_CLUSTER)) + 1, len(label))
    return sp.csr_matrix((np.ones(len(inside)), (label[inside], inside)), shape=shape)


# One group of runs


def _lloyd(unit: UnitRows, settings: KMeans, draws: list[np.random.Generator]) -> list[Clustering]:
    """Figure 5-1 for several runs at once; a run that has converged leaves the group."""
    k, pages = settings.k, len(unit.page)
    centroids = np.concatenate([_seeds(unit, settings, draw) for draw in draws], axis=1)
    found: list[Clustering | None] = [None] * len(draws)
    active = np.arange(len(draws))
    before = np.full((pages, len(draws)), NO_CLUSTER, np.int32)
    for iteration in range(1, settings.iterations + 1):
        label, similarity = _nearest(unit.rows, centroids, k)
        settled = (label == before).all(axis=0)
        for place in np.flatnonzero(settled | (iteration == settings.iterations)):
            found[active[place]] = unit.clustering(
                label[:, place], similarity[:, place], iteration, converged=bool(settled[place])
            )
        if settled.any():
            active, before, label = active[~settled], before[:, ~settled], label[:, ~settled]
            centroids = centroids[:, np.repeat(~settled, k)]
        if not len(active):
            break
        centroids = _centroids(unit.columns @ _membership(label, k), centroids)
        before = label
    return [run for run in found if run is not None]


def _mini_batches(unit: UnitRows, settings: KMeans, draws: list[np.random.Generator]) -> list[Clustering]:
    """Mini-batch k-means (Sculley 2010) by cosine: a centroid is the direction of all pages assigned to it so far.

    A last pass assigns all pages.
    """
    assert settings.batch is not None
    found = []
    for draw in draws:
        centroids = _seeds(unit, settings, draw)
        sums = np.zeros(centroids.shape)
        for _ in range(settings.iterations):
            some = unit.rows[np.sort(draw.choice(len(unit.page), settings.batch, replace=False))]
            label, _ = _nearest(some, centroids, settings.k)
            sums += some.T @ _membership(label, settings.k)
            centroids = _centroids(sums, centroids)
        label, similarity = _nearest(unit.rows, centroids, settings.k)
        found.append(unit.clustering(label[:, 0], similarity[:, 0], settings.iterations, converged=False))
    return found


# Steps of Figure 5-1. Centroids of r runs are one array of shape (features, r * k), labels of shape (pages, r).


def _seeds(unit: UnitRows, settings: KMeans, draw: np.random.Generator) -> NDArray[np.float32]:
    """Step 1: k pages as first centroids."""
    pages = len(unit.page)
    if settings.start == "random":
        chosen = draw.choice(pages, settings.k, replace=False)
    else:
        chosen = _far_apart(unit, settings.k, draw)
    return np.ascontiguousarray(unit.rows[chosen].toarray().T)


def _far_apart(unit: UnitRows, k: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Seeds of k-means++ (Arthur and Vassilvitskii 2007): sampled by the squared distance to the nearest one so far.

    Between unit rows it is 2 - 2 cos; if every page equals a seed, any other page is taken.
    """
    pages = len(unit.page)
    chosen = [int(draw.integers(pages))]
    similarity = np.zeros(pages)
    for _ in range(1, k):
        seed = unit.rows[[chosen[-1]]].toarray().ravel()
        similarity = np.maximum(similarity, unit.rows @ seed)
        distance = np.maximum(1 - similarity, 0)
        distance[distance < EQUAL] = 0
        distance[chosen] = 0
        if distance.any():
            chosen.append(int(draw.choice(pages, p=distance / distance.sum())))
        else:
            chosen.append(int(draw.choice(np.setdiff1d(np.arange(pages), chosen))))
    return np.array(chosen, np.int64)


def _nearest(rows: Any, centroids: NDArray[np.float32], k: int) -> tuple[Labels, NDArray[np.float32]]:
    """Step 2: for each row the nearest centroid of each run, the first of equal ones, and its cosine."""
    runs = centroids.shape[1] // k
    label = np.zeros((rows.shape[0], runs), np.int32)
    similarity = np.zeros((rows.shape[0], runs), np.float32)
    for first in range(0, rows.shape[0], ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        some = rows if rows.shape[0] <= ROWS_AT_ONCE else rows[part]
        cosines = (some @ centroids).reshape(some.shape[0], runs, k)
        label[part] = cosines.argmax(axis=2)
        similarity[part] = np.take_along_axis(cosines, label[part, :, None], axis=2)[:, :, 0]
    return label, similarity


def _membership(label: Labels, k: int) -> NDArray[np.float64]:
    """1 where a row belongs to a centroid, of shape (pages, r * k)."""
    pages, runs = label.shape
    member = np.zeros((pages, runs * k))
    member[np.arange(pages)[:, None], label + k * np.arange(runs)] = 1
    return member


def _centroids(sums: NDArray[np.float64], before: NDArray[np.float32]) -> NDArray[np.float32]:
    """Step 3: the direction of the sum of each cluster (6-2); the centroid of an empty cluster does not move."""
    length = np.sqrt(np.einsum("ij,ij->j", sums, sums))
    moved = np.empty(sums.shape, np.float32)
    np.multiply(sums, 1 / np.where(length > 0, length, 1), out=moved, casting="same_kind")
    moved[:, length == 0] = before[:, length == 0]
    return moved


class Agreement(NamedTuple):
    """How well clusters agree with the classes of the same pages, each from 0 to 1.

    - `f`: mean over classes of F under the assignment of classes to clusters that makes it greatest (thesis 5.4).
    - `purity`: share of pages in the most common class of their cluster.
    - `nmi`: mutual information of clusters and classes over the mean of their entropies (scikit-learn).
    """

    f: float
    purity: float
    nmi: float

    def __str__(self) -> str:
        return f"F {self.f:.3f}, purity {self.purity:.3f}, NMI {self.nmi:.3f}"


def agreement(classes: Sequence[Any] | NDArray[Any], label: NDArray[Any]) -> Agreement:
    """Compare the clusters of pages, given by number, with their classes.

    Pages without a cluster (numbers below 0) count as pages of their class that no cluster found; for `nmi` they are
    one more cluster.
    """
    named, label = np.asarray(classes), np.asarray(label)
    if not len(named):
        return Agreement(0.0, 0.0, 0.0)
    counts = contingency_matrix(named, label)
    sizes, table = counts.sum(axis=1), counts[:, np.unique(label) >= 0]
    nmi = float(normalized_mutual_info_score(named, label))
    if not table.size:
        return Agreement(0.0, 0.0, nmi)
    return Agreement(_assigned_f(table, sizes), float(table.max(axis=0).sum() / sizes.sum()), nmi)


def _assigned_f(table: NDArray[np.int64], sizes: NDArray[np.int64]) -> float:
    """Thesis 5.4: F = 2pr / (p + r) of each class and the cluster assigned to it, on average over the classes.

    A class without a cluster has F 0. With p = cell / cluster and r = cell / class, F is 2 cell / (cluster + class).
    """
    f = 2 * table / (table.sum(axis=0) + sizes[:, None])
    rows, columns = linear_sum_assignment(f, maximize=True)
    return float(f[rows, columns].sum() / len(sizes))
