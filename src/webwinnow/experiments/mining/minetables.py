"""The results as CSV: averages, every experiment, statistics of clustering, every run, classes of k-NN."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from webwinnow.experiments.mining.mineresults import ClusterStatistics, MiningResults, TaskResults
from webwinnow.io.formats import write_csv
from webwinnow.io.outputs import whole_file
from webwinnow.io.schema import Field, FieldKind, Fields

__all__ = ["TABLES", "write_tables"]

TABLES = ("averages", "experiments", "clustering", "runs", "neighbours")
"""Names of the files, `.csv` left off."""
DECIMALS = 4


def write_tables(results: MiningResults, folder: Path) -> list[Path]:
    """Write the tables that have rows into a folder; cells that a spreadsheet would run are quoted (`io.csv`)."""
    written = []
    for name, rows in zip(TABLES, (_averages, _experiments, _clustering, _runs, _neighbours), strict=True):
        records = [{"task": task.task.name} | row for task in results.tasks for row in rows(task)]
        if not records:
            continue
        path = folder.resolve() / f"{name}.csv"
        columns = tuple(dict.fromkeys(column for record in records for column in record))
        with whole_file(path) as file:
            write_csv(records, file, _fields(columns))
        written.append(path)
    return written


def _fields(columns: tuple[str, ...]) -> Fields:
    return tuple(Field(name, FieldKind.NUMBER) for name in columns)


def _averages(task: TaskResults) -> Iterator[dict[str, Any]]:
    """Tables 5-5 to 5-16, in long form; rows without classes are over all experiments."""
    classes = task.task.classes
    for configuration in task.configurations:
        for pair in [*task.class_pairs(configuration), None]:
            for way in task.methods:
                found = task.average(way.letter, configuration, pair)
                if found is not None:
                    yield {
                        "configuration": configuration,
                        "class_1": None if pair is None else classes[pair[0]],
                        "class_2": None if pair is None else classes[pair[1]],
                        "method": way.letter,
                        "cleaning": way.name,
                        "f": round(found.f, DECIMALS),
                        "accuracy": round(found.accuracy, DECIMALS),
                        "experiments": found.experiments,
                    }


def _experiments(task: TaskResults) -> Iterator[dict[str, Any]]:
    """Every classifier, a line for all methods."""
    classes, sites = task.task.classes, task.task.sites
    for trials in zip(*task.trials.values(), strict=True):
        one = trials[0]
        yield {
            "configuration": one.configuration,
            "class_1": classes[one.pair.first],
            "class_2": classes[one.pair.second],
            "site_1": sites[one.pair.site_i],
            "site_2": sites[one.pair.site_j],
            "train": one.train,
            "test": one.test,
            **{f"F({letter})": round(t.f, DECIMALS) for letter, t in zip(task.trials, trials, strict=True)},
            **{f"A({letter})": round(t.accuracy, DECIMALS) for letter, t in zip(task.trials, trials, strict=True)},
        }


def _clustering(task: TaskResults) -> Iterator[dict[str, Any]]:
    """Tables 5-3 and 5-4."""
    for way in task.methods:
        found = task.clustering(way.letter)
        if found is not None:
            yield {"method": way.letter, "cleaning": way.name} | _statistics(found)


def _statistics(found: ClusterStatistics) -> dict[str, Any]:
    return {
        "runs": found.runs,
        "mean": round(found.mean, DECIMALS),
        "deviation": round(found.deviation, DECIMALS),
        "least": round(found.least, DECIMALS),
        "most": round(found.most, DECIMALS),
        **{f"F<{bound}": count for bound, count in found.below.items()},
        **{f"F>={bound}": count for bound, count in found.at_least.items()},
        "purity": round(found.purity, DECIMALS),
        "nmi": round(found.nmi, DECIMALS),
    }


def _runs(task: TaskResults) -> Iterator[dict[str, Any]]:
    """F of every run, a line for all methods: the points of Figure 5-3."""
    by_run: dict[int, dict[str, Any]] = {}
    for letter, runs in task.runs.items():
        for run in runs:
            by_run.setdefault(run.run, {"run": run.run})[f"F({letter})"] = round(run.f, DECIMALS)
    yield from (by_run[number] for number in sorted(by_run))


def _neighbours(task: TaskResults) -> Iterator[dict[str, Any]]:
    """DocView's Figure 5."""
    for way in task.methods:
        for name, scores in zip(task.task.classes, task.neighbours[way.letter], strict=False):
            yield {
                "class": name,
                "method": way.letter,
                "cleaning": way.name,
                "precision": round(scores.precision, DECIMALS),
                "recall": round(scores.recall, DECIMALS),
                "f": round(scores.f, DECIMALS),
            }
