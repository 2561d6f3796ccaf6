"""Trials: some sites to learn from, others to classify, by every method; drawn so that each can be run again."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from copy import copy
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from webwinnow.experiments.sites.labelledsites import Answer, Clock, StoredSite
from webwinnow.experiments.sites.pruned import Read, read_less
from webwinnow.sitemining.denoising import Choice, Denoiser, DenoisingSettings, learned_thesaurus
from webwinnow.sitemining.thesaurus import Thesaurus
from webwinnow.sitemining.topics import SiteTopics, Training
from webwinnow.sitemining.topics.treemethods import HmtMethod, Multiscale, TwoPhase

__all__ = ["Answers", "Trial", "draws", "each_left_out", "folds", "run_trial", "sizes_of", "worked"]

SIZES = 4
"""Numbers of training sites that are tried, from one a topic up."""
TESTED_SHARE = 0.25
"""Sites that are left to test on where most are learned from, at least."""

Split = tuple[tuple[int, ...], tuple[int, ...]]
"""Sites to learn from, sites to test on."""
Job = TypeVar("Job")
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Sites to learn from and to test on, denoised in one way; `reading` names the method that also reads less."""

    learned: tuple[StoredSite, ...]
    tested: tuple[StoredSite, ...]
    methods: tuple[str, ...]
    choice: Choice = "repeated"
    settings: DenoisingSettings = field(default_factory=DenoisingSettings)
    terms: tuple[str, ...] | None = None
    reading: str | None = None


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of each method in one trial, the shares of words and pages that took part, seconds by stage; and each
    tested site read in every way.
    """

    by_method: dict[str, tuple[Answer, ...]]
    words: float
    pages: float
    seconds: dict[str, float]
    reads: tuple[list[Read], ...] = ()


def run_trial(trial: Trial) -> Answers:
    """Learn, then classify the sites that were left out; denoising learns from the training sites alone."""
    clock = Clock()
    labels = [one.label for one in trial.learned]
    with clock.of(f"denoising: {trial.choice}"):
        denoiser = learned_denoiser(trial.learned, trial.choice, trial.settings, trial.terms)
        learned = [one.denoised(denoiser) for one in trial.learned]
        tested = [one.denoised(denoiser) for one in trial.tested]
    training = Training(learned, labels)
    with clock.of("learning: words of topics"):
        training.words  # noqa: B018 (learned once, shared by the methods)
    models: dict[str, SiteTopics] = {}
    by_method = {}
    for name in sorted(trial.methods, key=lambda name: name != Multiscale.name):
        with clock.of(f"learning: {name}"):
            models[name] = _learned(name, training, models)
    for name in trial.methods:
        with clock.of(f"classifying: {name}"):
            found = [models[name].classify(site) for site in tested]
        by_method[name] = tuple(
            Answer(one.name, one.label, said.topic, said.probability)
            for one, said in zip(trial.tested, found, strict=True)
        )
    reads: tuple[list[Read], ...] = ()
    if trial.reading is not None:
        with clock.of("reading in every way"):
            of_pages = HmtMethod.learn(training)
            reads = tuple(read_less(one, models[trial.reading], of_pages) for one in trial.tested)
    words = [site.kept[site.words.row] for site in tested]
    pages = [np.isin(np.arange(len(site)), site.page_words.row) for site in tested]
    return Answers(
        by_method,
        float(np.concatenate(words).mean()),
        float(np.concatenate(pages).mean()),
        dict(clock.seconds),
        reads,
    )


def _learned(name: str, training: Training, models: dict[str, SiteTopics]) -> SiteTopics:
    """A method that has learned; both phases of `multiscale` are `twophase`, and are not learned again."""
    multiscale = models.get(Multiscale.name)
    if name == TwoPhase.name and multiscale is not None and isinstance(multiscale.method_, Multiscale):
        found = copy(multiscale)
        found.method, found.method_ = name, multiscale.method_.raw
        return found
    return SiteTopics(name).learn(training)


def learned_denoiser(
    sites: Sequence[StoredSite], choice: Choice, settings: DenoisingSettings, terms: Sequence[str] | None
) -> Denoiser:
    """A denoiser from training sites: with terms that were given, else with those that the sites tell."""
    labels = [one.label for one in sites]
    if "thesaurus" in choice:
        given = learned_thesaurus([one.shares or {} for one in sites], labels) if terms is None else Thesaurus(terms)
        return Denoiser(choice, settings, thesaurus=given)
    if choice == "centroid":
        return Denoiser(choice, settings, words=Training([one.everything for one in sites], labels).words)
    return Denoiser(choice, settings)


# Which sites are learned from


def each_left_out(labels: Sequence[str]) -> list[Split]:
    """Every site left out once."""
    sites = range(len(labels))
    return [(tuple(s for s in sites if s != out), (out,)) for out in sites]


def folds(labels: Sequence[str], count: int, chance: np.random.Generator) -> list[Split]:
    """So many parts, each left out once, with the sites of each label spread over them; at most one a site."""
    order = [s for name in sorted(set(labels)) for s in _shuffled(labels, name, chance)]
    parts = [tuple(sorted(order[k :: min(count, len(order))])) for k in range(min(count, len(order)))]
    return [(tuple(s for s in range(len(labels)) if s not in part), part) for part in parts]


def sizes_of(labels: Sequence[str]) -> list[int]:
    """The numbers of training sites to try: evenly from one for each label to all but a quarter."""
    least, most = len(set(labels)), int(len(labels) * (1 - TESTED_SHARE))
    return sorted({round(least + (most - least) * k / (SIZES - 1)) for k in range(SIZES)}) if most > least else [least]


def draws(labels: Sequence[str], size: int, repeats: int, chance: np.random.Generator) -> list[Split]:
    """So many draws of training sites, a site of each label in turn; the other sites are tested on."""
    found = []
    for _ in range(repeats):
        queues = [_shuffled(labels, name, chance) for name in sorted(set(labels))]
        turns = [queue[k] for k in range(max(map(len, queues))) for queue in queues if k < len(queue)]
        learned = tuple(sorted(turns[:size]))
        found.append((learned, tuple(s for s in range(len(labels)) if s not in learned)))
    return found


def _shuffled(labels: Sequence[str], name: str, chance: np.random.Generator) -> list[int]:
    sites = [s for s, label in enumerate(labels) if label == name]
    return [sites[k] for k in chance.permutation(len(sites)).tolist()]


# Worker processes


def worked(work: Callable[[Job], Found], jobs: Iterable[Job], workers: int) -> Iterator[tuple[int, Found]]:
    """What `work`, a function of a module, makes of each job, with the job's number, as they come; 0 workers are one a
    core. No result depends on how many there are.
    """
    count = workers or len(os.sched_getaffinity(0))
    if count == 1:
        yield from ((number, work(job)) for number, job in enumerate(jobs))
        return
    with ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting: dict[Future[Found], int] = {}
        try:
            for number, job in enumerate(jobs):
                waiting[pool.submit(work, job)] = number
                if len(waiting) > count:
                    yield from _done(waiting)
            while waiting:
                yield from _done(waiting)
        finally:
            pool.shutdown(cancel_futures=True)


def _done(waiting: dict[Future[Found], int]) -> Iterator[tuple[int, Found]]:
    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
        yield waiting.pop(future), future.result()
