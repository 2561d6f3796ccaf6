"""The sites experiment from a file of labelled sites to its results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np

from webwinnow.errors import InputError, SettingsError
from webwinnow.methods.registry import DEFAULT_METHOD as DEFAULT_CLEANING
from webwinnow.page.words import StopList
from webwinnow.papers.experiment import Notes
from webwinnow.papers.jobpool import JobPool
from webwinnow.papers.sites.denoising import CHOICES, Choice, RivalSettings
from webwinnow.papers.sites.labelledsites import Clock, LabelledSite, SiteAnswer, read_sites
from webwinnow.papers.sites.likelihood import EmSettings, random_curves, site_curves
from webwinnow.papers.sites.results import DenoisingRow, PruningRow, SitesResults, SizeResults, accuracy_of
from webwinnow.papers.sites.trials import (
    RuleSettings,
    SiteTrial,
    Split,
    TrialAnswers,
    each_left_out,
    folds,
    random_splits,
    run_trial,
    sizes_of,
)
from webwinnow.progress import Progress, no_progress
from webwinnow.run.tablefiles import TableFile
from webwinnow.settings import Settings, setting
from webwinnow.topics.sitetopics import DEFAULT_METHOD, METHODS, topic_method
from webwinnow.topics.thesaurus import Thesaurus, needs_ahocorasick
from webwinnow.topics.training import TopicSettings
from webwinnow.topics.trees import NOTHING

REPEATS = 10
"""Random samples of training sites of each size."""
FOLDS = 5
"""Folds to compare choices of denoising; one per site if there are fewer sites."""
LEAST_SITES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesSettings(Settings):
    """Settings of the experiment.

    - `label`, `site`: the columns with a site's topic and its name.
    - `methods`: of classifying sites; `choices`: of denoising, empty for no comparison.
    - `denoising`, `topics`, `rules`, `em`: settings of each part.
    - `thesaurus`: a file of terms; without it terms are learned from the training sites.
    - `cleaning`: the cleaning method of the choices with a cleaner.
    - `repeats`: random samples of training sites of each size; 0 for no curve.
    - `pruning`, `likelihood`: whether to make Figures 11 and 6.
    - `most_pages`: the most pages of a site, in the order of the file.
    - `stop_list`: the words that are left out.
    - `jobs`: worker processes, 0 for one per core; only the times depend on it.
    """

    label: str
    site: str = "site"
    methods: tuple[str, ...] = tuple(METHODS)
    choices: tuple[Choice, ...] = CHOICES
    denoising: RivalSettings = field(default_factory=RivalSettings)
    topics: TopicSettings = field(default_factory=TopicSettings)
    rules: RuleSettings = field(default_factory=RuleSettings)
    em: EmSettings = field(default_factory=EmSettings)
    thesaurus: Path | None = None
    cleaning: str = DEFAULT_CLEANING
    repeats: Annotated[int, setting("Samples of each size.", least=0)] = REPEATS
    pruning: bool = True
    likelihood: bool = True
    most_pages: Annotated[int | None, setting("Pages of a site.", least=1)] = None
    stop_list: StopList = field(default_factory=StopList)
    seed: Annotated[int, setting("Seed.", least=0)] = 0
    jobs: Annotated[int, setting("Worker processes.", least=0)] = 1

    def validate(self) -> None:
        """Raise `SettingsError` for methods or kinds of denoising that there are not."""
        if not self.methods:
            raise SettingsError("no method to run")
        for name in self.methods:
            topic_method(name)
        for choice in self.choices:
            if choice not in CHOICES:
                raise SettingsError(f"there is no denoising {choice!r}; there are: {'; '.join(CHOICES)}")


def sites_experiment(
    data: Path,
    settings: SitesSettings,
    *,
    command: str = "",
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> SitesResults:
    """Run the experiment on a Parquet or JSONL file. The same file and settings give the same results."""
    progress, note = on_progress or no_progress, Notes(on_problem)
    terms = None
    if any("thesaurus" in choice for choice in settings.choices):
        needs_ahocorasick()
        terms = (
            None
            if settings.thesaurus is None
            else Thesaurus.read(settings.thesaurus, stop_list=settings.stop_list).by_topic
        )
    clock = Clock()
    sites = read_sites(
        TableFile(data),
        settings.label,
        settings.site,
        cleaning=settings.cleaning if settings.choices else None,
        clock=clock,
        most_pages=settings.most_pages,
        stop_list=settings.stop_list,
        on_progress=progress,
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
        note(f"labels with one site only, which are never right when it is left out: {', '.join(alone)}")
    with JobPool(settings.jobs) as pool:
        run = _Run(sites, settings, terms, pool, progress, clock)
        left_out, pruning = run.left_out()
        sizes, denoising = run.sizes(), run.denoising()
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
        sizes=sizes,
        left_out=left_out,
        denoising=denoising,
        pruning=pruning,
        drawn=tuple(random_curves(settings.seed, settings.em)) if settings.likelihood else (),
        learned=tuple(site_curves(sites, settings.em)) if settings.likelihood else (),
        seconds=dict(clock.seconds),
        deepest=max(int(tree.depth.max()) - int(tree.page[0] == NOTHING) for tree in trees if len(tree)),
        notes=tuple(note.lines),
    )


class _Run:
    """The trials of one experiment."""

    def __init__(
        self,
        sites: list[LabelledSite],
        settings: SitesSettings,
        terms: Mapping[str, tuple[str, ...]] | None,
        pool: JobPool,
        progress: Progress,
        clock: Clock,
    ) -> None:
        self.sites, self.settings, self.terms = sites, settings, terms
        self.pool, self.progress, self.clock = pool, progress, clock
        self.labels = [one.label for one in sites]
        self.bare = [one.without_text() for one in sites]
        self.reading_method = DEFAULT_METHOD if DEFAULT_METHOD in settings.methods else settings.methods[-1]
        self.sized = [
            (size, split)
            for size in (sizes_of(self.labels) if settings.repeats else [])
            for split in random_splits(
                self.labels, size, settings.repeats, np.random.default_rng([settings.seed, size])
            )
        ]
        self.folds = folds(self.labels, FOLDS, np.random.default_rng(settings.seed))
        self.total = len(self.sized) + len(sites) + len(settings.choices) * len(self.folds)
        self.done = 0

    def left_out(self) -> tuple[dict[str, tuple[SiteAnswer, ...]], tuple[PruningRow, ...]]:
        """Classify every site by all others, and read it by every rule (Figure 11)."""
        reading = self.reading_method if self.settings.pruning else None
        found = self._answers([self._trial(split, reading=reading) for split in each_left_out(self.labels)])
        for one in found:
            for stage, seconds in one.seconds.items():
                self.clock.seconds[stage] += seconds
        readings = [reading for one in found for reading in one.readings]
        names = self.settings.rules.names()
        rows = [PruningRow(rule, tuple(one[k] for one in readings)) for k, rule in enumerate(names) if readings]
        return self._by_method(found), tuple(rows)

    def sizes(self) -> tuple[SizeResults, ...]:
        """Measure the accuracy by number of training sites (Figure 9)."""
        found = self._answers([self._trial(split) for _, split in self.sized])
        accuracies: dict[tuple[str, int], list[float]] = defaultdict(list)
        for (size, _), answers in zip(self.sized, found, strict=True):
            for method, of_method in answers.by_method.items():
                accuracies[method, size].append(accuracy_of(of_method))
        return tuple(SizeResults(method, size, tuple(values)) for (method, size), values in accuracies.items())

    def denoising(self) -> tuple[DenoisingRow, ...]:
        """Compare the choices of denoising, every fold left out once."""
        rows = []
        for choice in self.settings.choices:
            found = self._answers([self._trial(split, choice) for split in self.folds])
            words, pages = (float(np.mean([getattr(one, name) for one in found])) for name in ("words", "pages"))
            seconds = sum(one.seconds.get(f"denoising: {choice}", 0.0) for one in found)
            rows.append(DenoisingRow(choice, self._by_method(found), words, pages, seconds))
        return tuple(rows)

    def _trial(self, split: Split, choice: Choice = "repeated", reading: str | None = None) -> SiteTrial:
        sites = self.bare if choice in ("none", "repeated") else self.sites
        learned, tested = (tuple(sites[s] for s in part) for part in split)
        settings = self.settings
        return SiteTrial(
            learned,
            tested,
            settings.methods,
            choice,
            settings.denoising,
            self.terms,
            reading,
            settings.rules,
            settings.topics,
        )

    def _answers(self, trials: list[SiteTrial]) -> list[TrialAnswers]:
        found: dict[int, TrialAnswers] = {}
        for trial, answers in self.pool.run(run_trial, trials):
            found[id(trial)] = answers
            self.done += 1
            self.progress("mine", self.done, self.total)
        return [found[id(trial)] for trial in trials]

    def _by_method(self, found: list[TrialAnswers]) -> dict[str, tuple[SiteAnswer, ...]]:
        return {
            method: tuple(answer for one in found for answer in one.by_method[method])
            for method in self.settings.methods
        }
