"""What the experiment found, and the statistics of the papers' tables read off it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from webwinnow.experiments.mining.minedmethods import Mined
from webwinnow.experiments.mining.minejobs import ClusterRun, PairTrial
from webwinnow.experiments.mining.minetasks import LabelledTask

__all__ = ["Average", "ClusterStatistics", "MiningResults", "NeighbourScores", "TaskResults"]


class Average(NamedTuple):
    """Mean F and accuracy over so many experiments."""

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
    """Tables 5-3 and 5-4: mean F over all runs, and in how many F is below or at least so much; ours beside them."""

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
        """The statistics of some runs."""
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
    """What was found in one task, by the letter of the method.

    `emptied` are pages of which a method leaves no word; `folds_by` is how held-out pages of k-NN were chosen.
    """

    task: LabelledTask
    methods: tuple[Mined, ...]
    trials: dict[str, tuple[PairTrial, ...]]
    runs: dict[str, tuple[ClusterRun, ...]]
    neighbours: dict[str, tuple[NeighbourScores, ...]]
    emptied: dict[str, int]
    folds_by: str

    @property
    def letters(self) -> list[str]:
        """The methods."""
        return [mined.letter for mined in self.methods]

    @property
    def configurations(self) -> list[int]:
        """The configurations that had an experiment."""
        return sorted({trial.configuration for found in self.trials.values() for trial in found})

    def average(self, letter: str, configuration: int, classes: tuple[int, int] | None = None) -> Average | None:
        """The mean over all experiments of a configuration, of two classes or of all; None where there is none."""
        found = [
            trial
            for trial in self.trials[letter]
            if trial.configuration == configuration and (classes is None or trial.pair[:2] == classes)
        ]
        if not found:
            return None
        f, accuracy = (statistics.fmean(values) for values in zip(*((t.f, t.accuracy) for t in found), strict=True))
        return Average(f, accuracy, len(found))

    def class_pairs(self, configuration: int) -> list[tuple[int, int]]:
        """The pairs of classes that had an experiment: the rows of Tables 5-5 to 5-16."""
        first = next(iter(self.trials.values()), ())
        return sorted({(t.pair.first, t.pair.second) for t in first if t.configuration == configuration})

    def clustering(self, letter: str) -> ClusterStatistics | None:
        """The statistics over all runs; None where there was none."""
        return ClusterStatistics.of(self.runs[letter]) if self.runs[letter] else None

    def macro_f(self, letter: str) -> float | None:
        """The mean F1 of k-NN over the classes."""
        found = self.neighbours[letter]
        return statistics.fmean(scores.f for scores in found) if found else None

    def drop(self, letter: str) -> tuple[float, float] | None:
        """Mean F in configurations 1 and 3; None where one of them had no experiment."""
        first, third = self.average(letter, 1), self.average(letter, 3)
        return None if first is None or third is None else (first.f, third.f)


@dataclass(frozen=True, slots=True, eq=False)
class MiningResults:
    """The whole experiment: the tasks that could be mined, and notes on those that could not."""

    data: str
    pages: int
    sites: int
    methods: tuple[Mined, ...]
    runs: int
    seed: int
    tasks: tuple[TaskResults, ...]
    left_out: tuple[LabelledTask, ...]
    notes: tuple[str, ...]
    command: str

    @property
    def letters(self) -> list[str]:
        """The methods."""
        return [mined.letter for mined in self.methods]
