"""The miners: SVM in three configurations (thesis 5.5), k-means (5.4), chi-square with k-NN (DocView 7.1).

The SVM is scikit-learn's with default settings: no feature selection, no calibration. Rows are as they are or of length
1; in both cases C is the default of SVMlight, which the thesis used: 1 / mean of x.x over the training rows.
A job is a share of one miner's work on one task and one method; its answer depends on the job alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.classify.classifiers import ChiSquareNeighbours
from webwinnow.classify.scores import ClassScores
from webwinnow.cluster.clustering import UnitRows, agreement, k_means
from webwinnow.cluster.settings import KMeans
from webwinnow.papers.jobpool import cache_key
from webwinnow.papers.mining.tasks import LabelledTask
from webwinnow.papers.mining.words import unit_rows

CONFIGURATIONS = (1, 2, 3)
PAIRS_A_JOB = 25
RUNS_A_JOB = 40


class SitePair(NamedTuple):
    """Training pages of the thesis: C1(Site_i) and C2(Site_j), by number; i = j is configuration 1."""

    first: int
    second: int
    site_i: int
    site_j: int


class PairTrial(NamedTuple):
    """One classifier: its training pair, and F of the first class and accuracy on the test pages."""

    configuration: int
    pair: SitePair
    train: int
    test: int
    f: float
    accuracy: float


class ClusterRun(NamedTuple):
    """One run of k-means, by its number, and the agreement of clusters with classes."""

    run: int
    f: float
    purity: float
    nmi: float


class TaskFile(NamedTuple):
    """The rows of one task and method in a file, with the class and the site of each; `content` is a digest of it."""

    task: int
    letter: str
    path: str
    content: str

    @classmethod
    def save(cls, number: int, letter: str, folder: Path, rows: Any, task: LabelledTask) -> TaskFile:
        """Write the rows."""
        indices, indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        arrays = {"data": rows.data, "indices": indices, "indptr": indptr, "label": task.label, "site": task.site}
        digest = cache_key(*(np.ascontiguousarray(array).tobytes() for array in arrays.values()))
        path = folder / f"{number}-{letter}.npz"
        np.savez(path, allow_pickle=False, shape=rows.shape, **arrays)
        return cls(number, letter, str(path), digest)

    def load(self) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
        """Read rows, classes and sites."""
        from scipy import sparse  # noqa: PLC0415 (an optional extra)

        with np.load(self.path, allow_pickle=False) as saved:
            cells = (saved["data"], saved["indices"], saved["indptr"])
            return sparse.csr_matrix(cells, shape=tuple(saved["shape"])), saved["label"], saved["site"]


class PairJob(NamedTuple):
    """Some training pairs of one task and method."""

    file: TaskFile
    pairs: tuple[SitePair, ...]
    configurations: tuple[int, ...]
    unit: bool
    """Whether the rows are scaled to length 1."""

    @property
    def trials(self) -> int:
        return len(self.pairs)

    def work(self) -> list[PairTrial]:
        """Train each pair once; configurations 2 and 3 differ only in the test pages."""
        rows, label, site = _loaded(self.file, self.unit)
        return [trial for pair in self.pairs for trial in pair_trials(rows, label, site, pair, self.configurations)]


class ClusterJob(NamedTuple):
    """Some runs of k-means, from `first` on, on one task and method."""

    file: TaskFile
    first: int
    runs: int
    seed: int

    @property
    def trials(self) -> int:
        return self.runs

    def work(self) -> list[ClusterRun]:
        """Cluster into as many clusters as there are classes (5.4)."""
        unit, label = _unit(self.file)
        # All methods use the same random numbers for the first centroids; each share of the runs has its own.
        seed = int(np.random.SeedSequence((self.seed, self.first)).generate_state(1)[0])
        settings = KMeans(k=int(label.max()) + 1)
        if settings.k > len(unit.page):
            return []
        found = []
        for run, clustering in enumerate(k_means(unit, settings, runs=self.runs, seed=seed), start=self.first):
            agreed = agreement(label, clustering.label)
            found.append(ClusterRun(run, agreed.f, agreed.purity, agreed.nmi))
        return found


class NeighbourJob(NamedTuple):
    """Chi-square and k-NN on one task and method, over held-out pages."""

    file: TaskFile
    seed: int

    @property
    def trials(self) -> int:
        return 1

    def work(self) -> tuple[str, list[tuple[float, float, float]]]:
        """Return the unit of the folds, and for each class precision, recall and F1 (DocView 7.1, equations 4 to 6)."""
        rows, label, site = _loaded(self.file, True)
        names = [f"{number:06d}" for number in range(int(label.max()) + 1)]
        machine = ChiSquareNeighbours(seed=self.seed)
        machine.fit(rows, np.array(names)[label], site.astype(np.str_))
        if machine.held_out_ is None or machine.folds_ is None:
            return "", []
        predicted = machine.classes_[machine.held_out_.argmax(axis=1)]
        scores = ClassScores.of(np.array(names)[label].tolist(), predicted.tolist(), names)
        columns = (scores.precision, scores.recall, scores.f)
        return machine.folds_.by, [(float(p), float(r), float(f)) for p, r, f in zip(*columns, strict=True)]


Job = PairJob | ClusterJob | NeighbourJob


def key_of_job(job: Job) -> str:
    """Return the cache key of a job's answer."""
    return cache_key(type(job).__name__, job.file.content, repr(job[1:]))


def mine(job: Job) -> Any:
    """Do a job, in a worker process."""
    return job.work()


def site_pairs(task: LabelledTask, configurations: Sequence[int] = CONFIGURATIONS) -> Iterator[SitePair]:
    """Yield the training pairs of a task: every two classes, every two sites that have them (thesis 5.5)."""
    there = task.counts > 0
    for first, second in combinations(range(len(task.classes)), 2):
        for i, j in product(np.flatnonzero(there[first]).tolist(), np.flatnonzero(there[second]).tolist()):
            if (1 in configurations) if i == j else (2 in configurations or 3 in configurations):
                yield SitePair(first, second, i, j)


def jobs_of(
    task: LabelledTask,
    file: TaskFile,
    *,
    configurations: tuple[int, ...] = CONFIGURATIONS,
    units: Sequence[bool] = (False,),
    runs: int,
    seed: int,
    neighbours: bool = True,
) -> Iterator[Job]:
    """Yield the jobs of a task and a method; the SVM's once for each of `units` (`PairJob.unit`)."""
    if len(task.sites) > 1:
        pairs = tuple(site_pairs(task, configurations))
        for unit, first in product(units, range(0, len(pairs), PAIRS_A_JOB)):
            yield PairJob(file, pairs[first : first + PAIRS_A_JOB], configurations, unit)
    for first in range(0, runs, RUNS_A_JOB):
        yield ClusterJob(file, first, min(RUNS_A_JOB, runs - first), seed)
    if neighbours:
        yield NeighbourJob(file, seed)


def pair_trials(
    rows: Any,
    label: NDArray[np.int64],
    site: NDArray[np.int64],
    pair: SitePair,
    configurations: Sequence[int] = CONFIGURATIONS,
) -> Iterator[PairTrial]:
    """Train on C1(Site_i) and C2(Site_j) and test on the C1 and C2 pages that each configuration leaves (5.5).

    1: i = j, those of other sites. 2: those of neither Site_i nor Site_j. 3: all but the training pages.
    """
    both = np.flatnonzero((label == pair.first) | (label == pair.second))
    is_first, of_site = label[both] == pair.first, site[both]
    train = np.where(is_first, of_site == pair.site_i, of_site == pair.site_j)
    outside = (of_site != pair.site_i) & (of_site != pair.site_j)
    tests = {1: outside} if pair.site_i == pair.site_j else {2: outside, 3: ~train}
    tests = {number: test for number, test in tests.items() if number in configurations and test.any()}
    if not tests or is_first[train].all() or not is_first[train].any():
        return
    predicted = predicted_first(rows[both[train]], is_first[train], rows[both])
    for number, test in tests.items():
        yield PairTrial(
            number, pair, int(train.sum()), int(test.sum()), *f_and_accuracy(is_first[test], predicted[test])
        )


def predicted_first(rows: Any, is_first: NDArray[np.bool_], tested: Any) -> NDArray[np.bool_]:
    """Predict by a linear SVM (5.1.2) trained on `rows` whether the tested rows are of the first class."""
    from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 (an optional extra)
    from sklearn.svm import LinearSVC  # noqa: PLC0415

    used = np.unique(rows.indices)
    if not len(used):  # no training page has a word: all pages get the larger class
        return np.full(tested.shape[0], is_first.mean() >= 0.5)
    machine = LinearSVC(random_state=0)
    scale = float(np.sqrt(rows.shape[0] / (rows.data**2).sum()))  # C = 1 on scaled rows is 1 / mean(x.x) on these
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(rows[:, used] * scale, ~is_first)
    margin = tested[:, used] @ (scale * machine.coef_[0]) + machine.intercept_[0]  # towards the second class (6-5)
    found: NDArray[np.bool_] = np.round(margin, 6) <= 0
    return found


def f_and_accuracy(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> tuple[float, float]:
    """F of the class True (thesis 5.2), 0 without a true positive, and the share of right predictions."""
    right = int((truth & predicted).sum())
    return 2 * right / max(int(truth.sum()) + int(predicted.sum()), 1), float((truth == predicted).mean())


@lru_cache(maxsize=2)
def _loaded(file: TaskFile, unit: bool) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    rows, label, site = file.load()
    return unit_rows(rows) if unit else rows, label, site


@lru_cache(maxsize=1)
def _unit(file: TaskFile) -> tuple[UnitRows, NDArray[np.int64]]:
    """Rows for k-means, of length 1. Rows of W+ may have negative values; their cosines are right too."""
    rows, label, _ = _loaded(file, True)
    page = np.flatnonzero(np.diff(rows.indptr) > 0)
    return UnitRows(rows[page].astype(np.float32), rows[page].T.tocsr(), page, rows.shape[0]), label
