"""The experiment from a file of labelled pages to its results: read, parse, clean, mine."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.collection.pagestore import CollectionStore
from webwinnow.collection.parsedpages import parse_all
from webwinnow.collection.settings import RunSettings
from webwinnow.collection.workerpool import WorkerPool
from webwinnow.errors import InputError, MissingExtra, SettingsError
from webwinnow.experiments.answercache import Kept
from webwinnow.experiments.jobpool import Workers
from webwinnow.experiments.mining.cleanedwords import MethodRows, clean_sites, unit_rows
from webwinnow.experiments.mining.minedmethods import DEFAULT_METHODS, Mined, mined
from webwinnow.experiments.mining.minejobs import (
    CONFIGURATIONS,
    ClusterJob,
    Job,
    NeighbourJob,
    PairJob,
    TaskFile,
    jobs_of,
    key_of_job,
    mine,
)
from webwinnow.experiments.mining.mineresults import MiningResults, NeighbourScores, TaskResults
from webwinnow.experiments.mining.minetasks import LabelledTask, TaskSettings
from webwinnow.io.tablefiles import TableFile
from webwinnow.progress import Progress
from webwinnow.records import PageRecord
from webwinnow.urls import SiteKey

__all__ = ["RUNS", "MiningSettings", "mining_experiment"]

RUNS = 800
"""Runs of k-means in the thesis (5.4)."""
SHOWN_ERRORS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningSettings:
    """What to mine and how.

    - `tasks`: what is to be told apart; `site`: the column that names a page's site.
    - `methods`: letters or names of cleaning methods (`methods.MINED`).
    - `runs`: of k-means; 0 for none. `configurations`: of the SVM, of 1, 2, 3; none for no SVM.
    - `neighbours`: whether chi-square and k-NN are asked too.
    - `jobs`: worker processes, 0 for one a core; no result depends on it.
    """

    tasks: tuple[TaskSettings, ...]
    site: str = "site"
    methods: tuple[str, ...] = DEFAULT_METHODS
    runs: int = RUNS
    configurations: tuple[int, ...] = CONFIGURATIONS
    neighbours: bool = True
    seed: int = 0
    jobs: int = 0

    def __post_init__(self) -> None:
        if not self.tasks:
            raise SettingsError("nothing to tell apart: name a column of labels, or tasks")
        names = [task.shown_name for task in self.tasks]
        if len(set(names)) < len(names):
            raise SettingsError(f"two tasks have one name ({', '.join(names)}): give them names, NAME: COLUMN")
        mined(self.methods)
        unknown = set(self.configurations) - set(CONFIGURATIONS)
        if unknown:
            raise SettingsError(f"no configuration {', '.join(map(str, sorted(unknown)))}; there are: 1, 2, 3")
        for name in ("runs", "seed", "jobs"):
            if getattr(self, name) < 0:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected 0 or more")


def mining_experiment(
    data: Path,
    settings: MiningSettings,
    *,
    command: str = "",
    tmp: Path | None = None,
    keep: Path | None = None,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> MiningResults:
    """Clean the pages of a Parquet or JSONL file with every method and mine each task with every miner.

    The same file and settings give the same results, whatever the number of worker processes. A task that has nothing
    to tell apart is left out with a note; `InputError` where that leaves none. What is done is kept in the folder
    `keep`, if one is given: a run that was killed goes on from there.
    """
    _needs_mining()
    tell = on_progress or (lambda _stage, _done, _total: None)
    told: dict[str, None] = {}

    def note(problem: str) -> None:
        if problem not in told and on_problem is not None:
            on_problem(problem)
        told.setdefault(problem)

    methods, kept = mined(settings.methods), Kept(keep)
    file = TableFile(data)
    rows = _Rows(file, settings, note)
    tasks = rows.tasks()
    if not any(task.ready for task in tasks):
        raise InputError(f"{data}: no task can be mined; {' '.join(_told(task) for task in tasks)}")
    with tempfile.TemporaryDirectory(prefix="webwinnow-", dir=tmp) as folder, Workers(settings.jobs) as workers:
        with CollectionStore(Path(folder) / "run", {}, resume=False) as store:
            _parse(file, rows, store, settings, tell, note)
            total = store.page_count()
            tell("clean", 0, total)
            cleaned = clean_sites(store, methods, rows.sites, workers, kept, lambda done: tell("clean", done, total))
        tasks = rows.tasks(cleaned.read)
        ready = [task for task in tasks if task.ready]
        found = _mine(ready, cleaned, methods, settings, Path(folder), workers, kept, tell)
    return MiningResults(
        data=data.name,
        pages=int(cleaned.read.sum()),
        sites=len({site for site, is_read in zip(rows.sites, cleaned.read, strict=True) if is_read}),
        methods=methods,
        runs=settings.runs,
        seed=settings.seed,
        tasks=tuple(found),
        left_out=tuple(task for task in tasks if not task.ready),
        notes=tuple(told),
        command=command,
    )


def _needs_mining() -> None:
    try:
        import scipy  # noqa: F401, PLC0415 (an optional extra)
        import sklearn  # noqa: F401, PLC0415
    except ImportError:
        raise MissingExtra("webwinnow experiment mining", "mining") from None


def _told(task: LabelledTask) -> str:
    return f"{task.name}: {' '.join(task.notes)}"


# Reading


class _Rows:
    """The columns of the file that tasks ask for, row by row."""

    def __init__(self, file: TableFile, settings: MiningSettings, note: Callable[[str], None]) -> None:
        self.settings = settings.tasks
        columns = list(dict.fromkeys([settings.site, *(name for task in settings.tasks for name in task.columns)]))
        file.check(["html", *columns])
        self.values = dict(zip(columns, _columns(file.values(columns, note), len(columns)), strict=True))
        self.sites = self.values[settings.site]

    def tasks(self, read: NDArray[np.bool_] | None = None) -> list[LabelledTask]:
        """The tasks; with `read`, of the pages that could be read."""
        found = []
        for task in self.settings:
            inside = [
                all(self.values[column][k] == value for column, value in task.where) for k in range(len(self.sites))
            ]
            found.append(LabelledTask.of(task, self.values[task.label], self.sites, inside, read))
        return found

    def wanted_sites(self) -> set[str]:
        """The sites that have a page in a task: they are learned from all their pages, labelled or not."""
        return {str(task.sites[s]) for task in self.tasks() if task.ready for s in set(task.site.tolist())}


def _columns(rows: Iterator[tuple[str | None, ...]], count: int) -> list[list[str | None]]:
    columns: list[list[str | None]] = [[] for _ in range(count)]
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return columns


def _parse(
    file: TableFile,
    rows: _Rows,
    store: CollectionStore,
    settings: MiningSettings,
    tell: Progress,
    note: Callable[[str], None],
) -> None:
    """Parse the pages of the sites that matter into the store, by the number of their row."""
    wanted = rows.wanted_sites()
    total = sum(site in wanted for site in rows.sites)

    def pages() -> Iterator[PageRecord]:
        for number, (page, site) in enumerate(zip(file.pages(note), rows.sites, strict=False)):
            if site in wanted:
                yield replace(page, site=site, ordinal=number)

    run = RunSettings(
        method="none",
        site_by=SiteKey(by="column"),
        jobs=settings.jobs,
        keep_trees=True,
        replicas=None,
        view=None,
    )
    with WorkerPool(run.workers, run.to_plain(), page_seconds=run.page_seconds, memory=run.worker_memory) as pool:
        parse_all(pages(), store, pool, run, lambda stage, done, _: tell(stage, done, total))
    for error, count in store.errors(SHOWN_ERRORS):
        note(f"{count:,} pages could not be read and are left out: {error}")


# Mining


def _mine(
    tasks: Sequence[LabelledTask],
    cleaned: MethodRows,
    methods: Sequence[Mined],
    settings: MiningSettings,
    folder: Path,
    workers: Workers,
    kept: Kept,
    tell: Progress,
) -> list[TaskResults]:
    """All jobs of all tasks, mixed so that the time left can be told from the time gone."""
    jobs: list[Job] = []
    emptied: dict[int, dict[str, int]] = defaultdict(dict)
    for number, task in enumerate(tasks):
        for way in methods:
            rows = unit_rows(cleaned.matrices[way.letter][task.page], tfidf=way.cleaning is not None)
            emptied[number][way.letter] = int((np.diff(rows.indptr) == 0).sum())
            file = TaskFile.save(number, way.letter, folder, rows, task)
            jobs += jobs_of(
                task,
                file,
                configurations=settings.configurations,
                runs=settings.runs if task.settings.runs is None else task.settings.runs,
                seed=settings.seed,
                neighbours=settings.neighbours,
            )
    jobs.sort(key=lambda job: xxh3_64_intdigest(repr((job.file[:2], job[1:])).encode()))
    total, done = sum(job.trials for job in jobs), 0
    tell("mine", 0, total)
    answers: dict[tuple[type, int, str], list[Any]] = defaultdict(list)

    def take(job: Job, answer: Any) -> None:
        nonlocal done
        answers[type(job), job.file.task, job.file.letter].append(answer)
        done += job.trials
        tell("mine", done, total)

    def unkept() -> Iterator[Job]:
        for job in jobs:
            known = kept.answer(key_of_job(job))
            if known is None:
                yield job
            else:
                take(job, job.read(known))

    for job, answer in workers.run(mine, unkept()):
        kept.keep(key_of_job(job), answer)
        take(job, answer)
    return [_results(number, task, methods, answers, emptied[number]) for number, task in enumerate(tasks)]


def _results(
    number: int,
    task: LabelledTask,
    methods: Sequence[Mined],
    answers: dict[tuple[type, int, str], list[Any]],
    emptied: dict[str, int],
) -> TaskResults:
    """The answers of one task put in order."""

    def of(kind: type, letter: str) -> list[Any]:
        return answers[kind, number, letter]

    letters = [way.letter for way in methods]
    neighbours, folds_by = {}, ""
    for letter in letters:
        cut, scores = of(NeighbourJob, letter)[0] if of(NeighbourJob, letter) else ("", [])
        folds_by = folds_by or cut
        neighbours[letter] = tuple(NeighbourScores(*found) for found in scores)
    return TaskResults(
        task=task,
        methods=tuple(methods),
        trials={letter: tuple(sorted(t for part in of(PairJob, letter) for t in part)) for letter in letters},
        runs={letter: tuple(sorted(r for part in of(ClusterJob, letter) for r in part)) for letter in letters},
        neighbours=neighbours,
        emptied=emptied,
        folds_by=folds_by,
    )
