"""Results of the mining experiment, the statistics of the papers' tables, and the results as CSV files."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from webwinnow.papers.experiment import DECIMALS, Tables
from webwinnow.papers.mining.miners import ClusterRun, PairTrial
from webwinnow.papers.mining.tasks import LabelledTask
from webwinnow.papers.mining.words import MinedMethod

RAW, UNIT, BOTH = "raw", "unit", "both"
"""Rows of the SVM: as they are, of length 1, or once each."""


class Average(NamedTuple):
    """Mean F and accuracy over a number of experiments."""

    f: float
    accuracy: float
    experiments: int


class NeighbourScores(NamedTuple):
    """Precision, recall and F1 of one class on held-out pages (DocView 7.1)."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class ClusterStatistics:
    """Tables 5-3 and 5-4: mean F over all runs, and the runs with F below or above a bound; purity and NMI are ours."""

    runs: int
    mean: float
    deviation: float
    least: float
    most: float
    below: dict[float, int]
    at_least: dict[float, int]
    purity: float
    nmi: float

    BELOW = (0.5, 0.6)
    AT_LEAST = (0.7, 0.8, 0.9)

    @classmethod
    def of(cls, runs: Sequence[ClusterRun]) -> ClusterStatistics:
        found = [run.f for run in runs]
        return cls(
            runs=len(found),
            mean=statistics.fmean(found),
            deviation=statistics.pstdev(found),
            least=min(found),
            most=max(found),
            below={bound: sum(f < bound for f in found) for bound in cls.BELOW},
            at_least={bound: sum(f >= bound for f in found) for bound in cls.AT_LEAST},
            purity=statistics.fmean(run.purity for run in runs),
            nmi=statistics.fmean(run.nmi for run in runs),
        )


@dataclass(frozen=True, slots=True, eq=False)
class TaskResults:
    """The results of one task, by the letter of the method.

    `unit_trials` are the SVM's on rows of length 1 where both were asked for. `emptied` counts the pages without a word
    left; `folds_by` names the unit that was held out for k-NN.
    """

    task: LabelledTask
    methods: tuple[MinedMethod, ...]
    trials: dict[str, tuple[PairTrial, ...]]
    unit_trials: dict[str, tuple[PairTrial, ...]]
    runs: dict[str, tuple[ClusterRun, ...]]
    neighbours: dict[str, tuple[NeighbourScores, ...]]
    emptied: dict[str, int]
    folds_by: str
    rows: str = RAW

    def rows_of(self, method: MinedMethod) -> str:
        """The SVM's rows in `trials`: `raw`, or `unit` for length 1."""
        return UNIT if method.unit or self.rows == UNIT else RAW

    @property
    def letters(self) -> list[str]:
        return [method.letter for method in self.methods]

    @property
    def configurations(self) -> list[int]:
        """The configurations with at least one experiment."""
        return sorted({trial.configuration for found in self.trials.values() for trial in found})

    def average(
        self, letter: str, configuration: int, classes: tuple[int, int] | None = None, *, unit: bool = False
    ) -> Average | None:
        """The mean over the experiments of a configuration, of two classes or of all; None if there is none."""
        found = [
            trial
            for trial in (self.unit_trials if unit else self.trials).get(letter, ())
            if trial.configuration == configuration and (classes is None or trial.pair[:2] == classes)
        ]
        if not found:
            return None
        f, accuracy = (statistics.fmean(values) for values in zip(*((t.f, t.accuracy) for t in found), strict=True))
        return Average(f, accuracy, len(found))

    def class_pairs(self, configuration: int) -> list[tuple[int, int]]:
        """The pairs of classes with an experiment: the rows of Tables 5-5 to 5-16."""
        first = next(iter(self.trials.values()), ())
        return sorted({(t.pair.first, t.pair.second) for t in first if t.configuration == configuration})

    def clustering(self, letter: str) -> ClusterStatistics | None:
        """The statistics over all runs; None if there is none."""
        return ClusterStatistics.of(self.runs[letter]) if self.runs[letter] else None

    def macro_f(self, letter: str) -> float | None:
        """The mean F1 of k-NN over the classes."""
        found = self.neighbours[letter]
        return statistics.fmean(scores.f for scores in found) if found else None

    def mean_f(self, letter: str) -> float | None:
        """The mean F of k-means over all runs; None if there is none."""
        found = self.clustering(letter)
        return None if found is None else found.mean

    def third(self, letter: str) -> float | None:
        """Mean F in configuration 3; None if there is no experiment."""
        found = self.average(letter, 3)
        return None if found is None else found.f

    def drop(self, letter: str) -> tuple[float, float] | None:
        """Mean F in configurations 1 and 3; None if one of them has no experiment."""
        first, third = self.average(letter, 1), self.average(letter, 3)
        return None if first is None or third is None else (first.f, third.f)


@dataclass(frozen=True, slots=True, eq=False)
class MiningResults:
    """The whole experiment: the tasks that could be mined, and those that could not with their notes."""

    data: str
    pages: int
    sites: int
    methods: tuple[MinedMethod, ...]
    rows: str
    runs: int
    seed: int
    tasks: tuple[TaskResults, ...]
    left_out: tuple[LabelledTask, ...]
    notes: tuple[str, ...]
    command: str

    @property
    def letters(self) -> list[str]:
        return [method.letter for method in self.methods]


# CSV files

Rows = Iterator[dict[str, Any]]


def tables_of(results: MiningResults) -> Tables:
    """The tables, for CSV files."""

    def of_tasks(rows: Callable[[TaskResults], Rows]) -> Rows:
        return ({"task": task.task.name} | row for task in results.tasks for row in rows(task))

    makers = (_averages, _experiments, _clustering, _runs, _neighbours)
    return {make.__name__[1:]: of_tasks(make) for make in makers}


def _averages(task: TaskResults) -> Rows:
    """Tables 5-5 to 5-16 in long form; rows without classes are over all experiments."""
    for configuration in task.configurations:
        for pair in [*task.class_pairs(configuration), None]:
            first, second = (None, None) if pair is None else (task.task.classes[c] for c in pair)
            for method in task.methods:
                of_rows = {task.rows_of(method): task.average(method.letter, configuration, pair)}
                of_rows.setdefault(UNIT, task.average(method.letter, configuration, pair, unit=True))
                for rows, found in of_rows.items():
                    if found is not None:
                        classes = {"configuration": configuration, "class_1": first, "class_2": second}
                        yield classes | _named(method) | {"rows": rows} | _rounded(found._asdict())


def _experiments(task: TaskResults) -> Rows:
    """Every classifier, one row for all methods."""
    classes, sites = task.task.classes, task.task.sites
    for trials in zip(*task.trials.values(), strict=True):
        one = trials[0]
        by_letter = list(zip(task.trials, trials, strict=True))
        yield {
            "configuration": one.configuration,
            "class_1": classes[one.pair.first],
            "class_2": classes[one.pair.second],
            "site_1": sites[one.pair.site_i],
            "site_2": sites[one.pair.site_j],
            "train": one.train,
            "test": one.test,
            **_rounded({f"F({letter})": trial.f for letter, trial in by_letter}),
            **_rounded({f"A({letter})": trial.accuracy for letter, trial in by_letter}),
        }


def _clustering(task: TaskResults) -> Rows:
    """Tables 5-3 and 5-4."""
    for method in task.methods:
        found = task.clustering(method.letter)
        if found is not None:
            columns = asdict(found)
            below = {f"F<{bound}": count for bound, count in columns.pop("below").items()}
            above = {f"F>={bound}": count for bound, count in columns.pop("at_least").items()}
            agreement = {name: columns.pop(name) for name in ("purity", "nmi")}
            yield _named(method) | _rounded(columns | below | above | agreement)


def _runs(task: TaskResults) -> Rows:
    """F of every run, one row for all methods: the points of Figure 5-3."""
    by_run: dict[int, dict[str, Any]] = {}
    for letter, runs in task.runs.items():
        for run in runs:
            by_run.setdefault(run.run, {"run": run.run})[f"F({letter})"] = round(run.f, DECIMALS)
    yield from (by_run[number] for number in sorted(by_run))


def _neighbours(task: TaskResults) -> Rows:
    """DocView's Figure 5."""
    for method in task.methods:
        for name, scores in zip(task.task.classes, task.neighbours[method.letter], strict=False):
            yield {"class": name} | _named(method) | _rounded(scores._asdict())


def _named(method: MinedMethod) -> dict[str, Any]:
    return {"method": method.letter, "cleaning": method.name}


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, DECIMALS) if isinstance(value, float) else value for name, value in values.items()}
