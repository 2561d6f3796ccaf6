"""The experiment from a file of labelled sites to its results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from webwinnow.errors import InputError, SettingsError
from webwinnow.experiments.sites.labelledsites import Answer, Clock, StoredSite, read_sites
from webwinnow.experiments.sites.likelihood import drawn_curves, site_curves
from webwinnow.experiments.sites.pruned import ways
from webwinnow.experiments.sites.sitesresults import DenoisingRow, PruningRow, SitesResults, Size, accuracy_of
from webwinnow.experiments.sites.sitetrials import (
    Answers,
    Split,
    Trial,
    draws,
    each_left_out,
    folds,
    run_trial,
    sizes_of,
    worked,
)
from webwinnow.io.tablefiles import TableFile
from webwinnow.methods import DEFAULT_METHOD as DEFAULT_CLEANING
from webwinnow.progress import Progress
from webwinnow.sitemining.denoising import CHOICES, Choice, DenoisingSettings
from webwinnow.sitemining.multiscaletree import NOTHING
from webwinnow.sitemining.thesaurus import Thesaurus, needs_ahocorasick
from webwinnow.sitemining.topics import DEFAULT_METHOD, METHODS, topic_method

__all__ = ["FOLDS", "REPEATS", "SitesSettings", "sites_experiment"]

REPEATS = 10
"""Draws of training sites of each size."""
FOLDS = 5
"""Parts of the sites, each left out once, to compare ways of denoising; every site where there are fewer."""
LEAST_SITES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesSettings:
    """What to run.

    - `label`, `site`: the columns with a site's topic and its name.
    - `methods`: of classifying sites; `choices`: of denoising, none for no comparison.
    - `thesaurus`: a file of terms; without it they are learned from the training sites.
    - `cleaning`: the cleaning method of the choices with a cleaner.
    - `repeats`: draws of training sites of each size; 0 for no curve.
    - `pruning`, `likelihood`: whether Figures 11 and 6 are made too.
    - `most_pages`: pages of a site, at most, in the order of the file.
    - `jobs`: worker processes, 0 for one a core; no result but the times depends on it.
    """

    label: str
    site: str = "site"
    methods: tuple[str, ...] = tuple(METHODS)
    choices: tuple[Choice, ...] = CHOICES
    denoising: DenoisingSettings = field(default_factory=DenoisingSettings)
    thesaurus: Path | None = None
    cleaning: str = DEFAULT_CLEANING
    repeats: int = REPEATS
    pruning: bool = True
    likelihood: bool = True
    most_pages: int | None = None
    seed: int = 0
    jobs: int = 1

    def __post_init__(self) -> None:
        if not self.methods:
            raise SettingsError("no method to run")
        for name in self.methods:
            topic_method(name)
        for choice in self.choices:
            if choice not in CHOICES:
                raise SettingsError(f"there is no denoising {choice!r}; there are: {'; '.join(CHOICES)}")
        for name, least in (("repeats", 0), ("seed", 0), ("jobs", 0), ("most_pages", 1)):
            if getattr(self, name) is not None and getattr(self, name) < least:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected {least} or more")


def sites_experiment(
    data: Path,
    settings: SitesSettings,
    *,
    command: str = "",
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> SitesResults:
    """Classify the sites of a Parquet or JSONL file in every way. The same file and settings give the same results."""
    notes: dict[str, None] = {}

    def note(problem: str) -> None:
        if problem not in notes and on_problem is not None:
            on_problem(problem)
        notes.setdefault(problem)

    tell = on_progress or (lambda _stage, _done, _total: None)
    terms = None
    if any("thesaurus" in choice for choice in settings.choices):
        needs_ahocorasick()
        terms = None if settings.thesaurus is None else Thesaurus.read(settings.thesaurus).terms
    clock = Clock()
    sites = read_sites(
        TableFile(data),
        settings.label,
        settings.site,
        cleaning=settings.cleaning if settings.choices else None,
        clock=clock,
        most_pages=settings.most_pages,
        on_progress=tell,
        on_problem=note,
    )
    labels = [one.label for one in sites]
    if len(sites) < LEAST_SITES or len(set(labels)) < 2:
        raise InputError(
            f"{data}: {len(sites)} sites with {len(set(labels))} labels in column {settings.label}; expected "
            f"{LEAST_SITES} sites and 2 labels at least"
        )
    alone = [label for label, count in sorted(Counter(labels).items()) if count == 1]
    if alone:
        note(f"with one site only, and so never right where that site is left out: {', '.join(alone)}")
    run = _Run(sites, settings, terms, tell, clock)
    left_out, pruning = run.left_out()
    trees = [one.site.page_tree for one in sites]
    return SitesResults(
        data=data.name,
        label=settings.label,
        command=command,
        seed=settings.seed,
        repeats=settings.repeats,
        folds=min(FOLDS, len(sites)),
        reading_method=run.reading_method,
        thesaurus=None if settings.thesaurus is None else settings.thesaurus.name,
        sites=tuple((one.name, one.label, len(one.pages)) for one in sites),
        methods=settings.methods,
        sizes=run.sizes(),
        left_out=left_out,
        denoising=run.denoising(),
        pruning=pruning,
        drawn=tuple(drawn_curves(settings.seed)) if settings.likelihood else (),
        own=tuple(site_curves(sites)) if settings.likelihood else (),
        seconds=dict(clock.seconds),
        deepest=max(int(tree.depth.max()) - int(tree.page[0] == NOTHING) for tree in trees if len(tree)),
        notes=tuple(notes),
    )


class _Run:
    """The trials of one experiment, one kind after another."""

    def __init__(
        self,
        sites: list[StoredSite],
        settings: SitesSettings,
        terms: tuple[str, ...] | None,
        tell: Progress,
        clock: Clock,
    ) -> None:
        self.sites, self.settings, self.terms, self.tell, self.clock = sites, settings, terms, tell, clock
        self.labels = [one.label for one in sites]
        self.bare = [one.without_text() for one in sites]
        self.reading_method = DEFAULT_METHOD if DEFAULT_METHOD in settings.methods else settings.methods[-1]
        self.sized = [
            (size, split)
            for size in (sizes_of(self.labels) if settings.repeats else [])
            for split in draws(self.labels, size, settings.repeats, np.random.default_rng([settings.seed, size]))
        ]
        self.parts = folds(self.labels, FOLDS, np.random.default_rng(settings.seed))
        self.total = len(self.sized) + len(sites) + len(settings.choices) * len(self.parts)
        self.done = 0

    def left_out(self) -> tuple[dict[str, tuple[Answer, ...]], tuple[PruningRow, ...]]:
        """Every site classified by all others, and each way of reading it (Figure 11)."""
        reading = self.reading_method if self.settings.pruning else None
        found = self._trials((self._trial(split, reading=reading) for split in each_left_out(self.labels)), timed=True)
        answers = {
            method: tuple(answer for one in found for answer in one.by_method[method])
            for method in self.settings.methods
        }
        reads = [read for one in found for read in one.reads]
        rows = [PruningRow(way, tuple(read[k] for read in reads)) for k, way in enumerate(ways()) if reads]
        return answers, tuple(rows)

    def sizes(self) -> tuple[Size, ...]:
        """Accuracy by number of training sites (Figure 9)."""
        found = self._trials(self._trial(split) for _, split in self.sized)
        accuracies: dict[tuple[str, int], list[float]] = defaultdict(list)
        for (size, _), answers in zip(self.sized, found, strict=True):
            for method, said in answers.by_method.items():
                accuracies[method, size].append(accuracy_of(said))
        return tuple(Size(method, size, tuple(values)) for (method, size), values in accuracies.items())

    def denoising(self) -> tuple[DenoisingRow, ...]:
        """Each way of denoising, every part of the sites left out once."""
        rows = []
        for choice in self.settings.choices:
            found = self._trials(self._trial(split, choice) for split in self.parts)
            rows.append(
                DenoisingRow(
                    choice,
                    {
                        method: tuple(answer for answers in found for answer in answers.by_method[method])
                        for method in self.settings.methods
                    },
                    float(np.mean([answers.words for answers in found])),
                    float(np.mean([answers.pages for answers in found])),
                    sum(answers.seconds.get(f"denoising: {choice}", 0.0) for answers in found),
                )
            )
        return tuple(rows)

    def _trial(self, split: Split, choice: Choice = "repeated", reading: str | None = None) -> Trial:
        sites = self.bare if choice in ("none", "repeated") else self.sites
        learned, tested = (tuple(sites[s] for s in part) for part in split)
        settings = self.settings
        return Trial(learned, tested, settings.methods, choice, settings.denoising, self.terms, reading)

    def _trials(self, trials: Iterable[Trial], *, timed: bool = False) -> list[Answers]:
        found: dict[int, Answers] = {}
        for number, answers in worked(run_trial, trials, self.settings.jobs):
            found[number] = answers
            self._step()
            for stage, seconds in answers.seconds.items() if timed else ():
                self.clock.seconds[stage] += seconds
        return [found[number] for number in sorted(found)]

    def _step(self) -> None:
        self.done += 1
        self.tell("mine", self.done, self.total)
