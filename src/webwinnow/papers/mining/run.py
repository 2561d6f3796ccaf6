"""The mining experiment from a file of labelled pages to its results: read, parse, clean, mine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.counted import counted
from webwinnow.errors import InputError, MissingExtra, SettingsError
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.urls import SiteKey
from webwinnow.page.words import StopList
from webwinnow.papers.experiment import Notes
from webwinnow.papers.jobpool import AnswerCache, JobPool
from webwinnow.papers.mining import miners, words
from webwinnow.papers.mining.results import BOTH, RAW, UNIT, MiningResults, NeighbourScores, TaskResults
from webwinnow.papers.mining.tasks import LabelledTask, TaskSettings
from webwinnow.progress import Progress, no_progress
from webwinnow.run.parsedcollection import ParsedCollection
from webwinnow.run.settings import CollectionSettings
from webwinnow.run.tablefiles import TableFile
from webwinnow.settings import Settings, setting
from webwinnow.storage.atomic import scratch_folder

RUNS = 800
"""Runs of k-means in the thesis (5.4)."""
ROWS = {RAW: (False,), UNIT: (True,), BOTH: (False, True)}
"""Whether the SVM's rows have length 1, by setting."""
SHOWN_ERRORS = 5

_Answers = dict[tuple[type, int, str, bool], list[Any]]
"""Answers by the type of job, the number of the task, the letter of the method, and whether rows have length 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningSettings(Settings):
    """Settings of the experiment.

    - `tasks`: the columns of classes; `site`: the column with a page's site.
    - `methods`: letters or names of `MINED_METHODS`.
    - `runs`: of k-means; 0 for none. `configurations`: of the SVM, of 1, 2, 3; none for no SVM.
    - `neighbours`: whether to run chi-square with k-NN.
    - `rows`: of the SVM: `raw`, as in the papers, `unit`, of length 1, or `both`.
    - `stop_list`: the words that are left out.
    - `cleaning`: settings of the methods and of the weights; `css`: of the parser (`ParseLimits`).
    - `jobs`: worker processes, 0 for one per core; no result depends on it.
    """

    tasks: tuple[TaskSettings, ...]
    site: str = "site"
    methods: tuple[str, ...] = words.DEFAULT_METHODS
    runs: Annotated[int, setting("Runs of k-means.", least=0)] = RUNS
    configurations: tuple[int, ...] = miners.CONFIGURATIONS
    neighbours: bool = True
    rows: Annotated[str, setting("Rows of the SVM.", known=lambda: ROWS)] = RAW
    cleaning: CleaningSettings = field(default_factory=CleaningSettings)
    stop_list: StopList = field(default_factory=StopList)
    css: bool = False
    seed: Annotated[int, setting("Seed.", least=0)] = 0
    jobs: Annotated[int, setting("Worker processes.", least=0)] = 0

    def validate(self) -> None:
        """Raise `SettingsError` for tasks, methods or configurations that there are not."""
        if not self.tasks:
            raise SettingsError("nothing to classify: name a column of labels, or tasks")
        names = [task.shown_name for task in self.tasks]
        if len(set(names)) < len(names):
            raise SettingsError(f"two tasks have one name ({', '.join(names)}): give them names, NAME: COLUMN")
        words.mined_methods(self.methods)
        unknown = set(self.configurations) - set(miners.CONFIGURATIONS)
        if unknown:
            raise SettingsError(f"no configuration {', '.join(map(str, sorted(unknown)))}; there are: 1, 2, 3")


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

    The same file and settings give the same results, whatever the number of worker processes. A task with nothing to
    classify is left out with a note; `InputError` if no task remains. Finished work is stored in the folder `keep`, if
    given: a killed run resumes from there.
    """
    _needs_mining()
    progress, note = on_progress or no_progress, Notes(on_problem)
    methods, cache = words.mined_methods(settings.methods), AnswerCache(keep)
    file = TableFile(data)
    rows = _Rows(file, settings, note)
    tasks = rows.tasks()
    if not any(task.ready for task in tasks):
        reasons = " ".join(f"{task.name}: {' '.join(task.notes)}" for task in tasks)
        raise InputError(f"{data}: no task can be mined; {reasons}")
    with scratch_folder(tmp) as folder, JobPool(settings.jobs) as pool:
        with _parsed(file, rows, settings, tmp, progress, note) as collection:
            cleaned = words.clean_sites(
                collection.store, methods, settings.cleaning, rows.sites, settings.stop_list, pool, cache, progress
            )
        tasks = rows.tasks(cleaned.read)
        ready = [task for task in tasks if task.ready]
        found = _mine(ready, cleaned, methods, settings, folder, pool, cache, progress)
    return MiningResults(
        data=data.name,
        pages=int(cleaned.read.sum()),
        sites=len({site for site, is_read in zip(rows.sites, cleaned.read, strict=True) if is_read}),
        methods=methods,
        rows=settings.rows,
        runs=settings.runs,
        seed=settings.seed,
        tasks=tuple(found),
        left_out=tuple(task for task in tasks if not task.ready),
        notes=tuple(note.lines),
        command=command,
    )


def _needs_mining() -> None:
    try:
        import scipy  # noqa: F401, PLC0415 (an optional extra)
        import sklearn  # noqa: F401, PLC0415
    except ImportError:
        raise MissingExtra("webwinnow experiment mining", "mining") from None


# Reading


class _Rows:
    """The columns of the file that tasks need."""

    def __init__(self, file: TableFile, settings: MiningSettings, note: Callable[[str], None]) -> None:
        self.settings = settings.tasks
        columns = list(dict.fromkeys([settings.site, *(name for task in settings.tasks for name in task.columns)]))
        file.check_pages()
        file.check(["html", *columns])
        rows = list(file.values(columns, note))
        self.values = {name: [row[k] for row in rows] for k, name in enumerate(columns)}
        self.sites = self.values[settings.site]

    def tasks(self, read: NDArray[np.bool_] | None = None) -> list[LabelledTask]:
        """The tasks; with `read`, over the pages that could be read."""
        found = []
        for task in self.settings:
            inside = [
                all(self.values[column][k] == value for column, value in task.where) for k in range(len(self.sites))
            ]
            found.append(LabelledTask.of(task, self.values[task.label], self.sites, inside, read))
        return found

    def wanted_sites(self) -> set[str]:
        """The sites with a page in a task: they are learned from all their pages, labelled or not."""
        return {str(task.sites[s]) for task in self.tasks() if task.ready for s in set(task.site.tolist())}


@contextmanager
def _parsed(
    file: TableFile,
    rows: _Rows,
    settings: MiningSettings,
    tmp: Path | None,
    progress: Progress,
    note: Callable[[str], None],
) -> Iterator[ParsedCollection]:
    """Parse the pages of the sites in tasks; their ordinals are the numbers of their rows."""
    wanted = rows.wanted_sites()
    total = sum(site in wanted for site in rows.sites)
    pages = (
        replace(page, site=site, ordinal=number)
        for number, (page, site) in enumerate(zip(file.pages(note), rows.sites, strict=False))
        if site in wanted
    )
    collecting = CollectionSettings(
        site_by=SiteKey(by="column"), limits=ParseLimits(css=settings.css), jobs=settings.jobs
    )
    with ParsedCollection.of_pages(
        pages, collecting, tmp=tmp, on_progress=lambda stage, done, _: progress(stage, done, total)
    ) as collection:
        for error, count in collection.store.errors(SHOWN_ERRORS):
            unread = counted(count, "page could not be read and is", "pages could not be read and are")
            note(f"{unread} left out: {error}")
        yield collection


# Mining


def _mine(
    tasks: Sequence[LabelledTask],
    cleaned: words.MethodRows,
    methods: Sequence[words.MinedMethod],
    settings: MiningSettings,
    folder: Path,
    pool: JobPool,
    cache: AnswerCache,
    progress: Progress,
) -> list[TaskResults]:
    """Run all jobs of all tasks, in mixed order so that the remaining time can be estimated."""
    jobs: list[miners.Job] = []
    emptied: dict[int, dict[str, int]] = defaultdict(dict)
    for number, task in enumerate(tasks):
        for method in methods:
            rows = words.mined_rows(cleaned.matrices[method.letter][task.page], tfidf=method.cleaning is not None)
            emptied[number][method.letter] = int((np.diff(rows.indptr) == 0).sum())
            file = miners.TaskFile.save(number, method.letter, folder, rows, task)
            jobs += miners.jobs_of(
                task,
                file,
                configurations=settings.configurations,
                units=(True,) if method.unit else ROWS[settings.rows],
                runs=settings.runs if task.settings.runs is None else task.settings.runs,
                seed=settings.seed,
                neighbours=settings.neighbours,
            )
    jobs.sort(key=lambda job: xxh3_64_intdigest(repr((job.file[:2], job[1:])).encode()))
    total, done = sum(job.trials for job in jobs), 0
    progress("mine", 0, total)
    answers: _Answers = defaultdict(list)

    def add(job: miners.Job, answer: Any) -> None:
        nonlocal done
        unit = isinstance(job, miners.PairJob) and job.unit
        answers[type(job), job.file.task, job.file.letter, unit].append(answer)
        done += job.trials
        progress("mine", done, total)

    def uncached() -> Iterator[miners.Job]:
        for job in jobs:
            known = cache.get(miners.key_of_job(job))
            if known is None:
                yield job
            else:
                add(job, known)

    for job, answer in pool.run(miners.mine, uncached()):
        cache.put(miners.key_of_job(job), answer)
        add(job, answer)
    return [
        _results(number, task, methods, answers, emptied[number], settings.rows) for number, task in enumerate(tasks)
    ]


def _results(
    number: int,
    task: LabelledTask,
    methods: Sequence[words.MinedMethod],
    answers: _Answers,
    emptied: dict[str, int],
    rows: str,
) -> TaskResults:
    """Collect the answers of one task; those from the cache have lists instead of tuples."""
    trials, unit_trials, runs, neighbours, folds_by = {}, {}, {}, {}, ""
    for letter in (method.letter for method in methods):
        raw, unit, clusters, nearest = (
            [row for answer in answers[kind, number, letter, unit] for row in answer]
            for kind, unit in (
                (miners.PairJob, False),
                (miners.PairJob, True),
                (miners.ClusterJob, False),
                (miners.NeighbourJob, False),
            )
        )
        trials[letter] = _trials(raw or unit)
        if rows == BOTH:
            unit_trials[letter] = _trials(unit)
        runs[letter] = tuple(sorted(miners.ClusterRun(*run) for run in clusters))
        held_out, classes = nearest or ("", [])
        neighbours[letter] = tuple(NeighbourScores(*scores) for scores in classes)
        folds_by = folds_by or held_out
    return TaskResults(task, tuple(methods), trials, unit_trials, runs, neighbours, emptied, folds_by, rows)


def _trials(answers: list[Any]) -> tuple[miners.PairTrial, ...]:
    return tuple(sorted(miners.PairTrial(c, miners.SitePair(*pair), *scores) for c, pair, *scores in answers))
