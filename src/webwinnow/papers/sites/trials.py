"""Trials: some sites to learn from, others to classify, by every method; the splits are reproducible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from webwinnow.papers.sites.denoising import Choice, Denoiser, RivalSettings, learned_thesaurus
from webwinnow.papers.sites.labelledsites import Clock, LabelledSite, SiteAnswer
from webwinnow.settings import Settings, setting
from webwinnow.site.hmt.treemodel import Forest
from webwinnow.topics.methods import HmtMethod, Multiscale, TwoPhase
from webwinnow.topics.pruning import KlRule, Rule, VarianceRule, prune
from webwinnow.topics.sitetopics import SiteTopics
from webwinnow.topics.thesaurus import Thesaurus
from webwinnow.topics.training import TopicSettings, Training
from webwinnow.topics.trees import NOTHING, LinkTree
from webwinnow.topics.treescale import page_observations

FIXED_DEPTH = 2
"""Links from the start page that a crawl of fixed depth follows: three levels of pages, as the paper's baseline."""
SIZES = 4
"""Numbers of training sites that are tried, from one per topic up."""
TESTED_SHARE = 0.25
"""Least share of sites to test on."""


Mask = NDArray[np.bool_]
Split = tuple[tuple[int, ...], tuple[int, ...]]
"""Sites to learn from, sites to test on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSettings(Settings):
    """The ways of reading fewer pages that are compared.

    The paper's baseline reads three levels. It names no delta: 1e-6 is the convergence parameter of our training.
    `first_pages` are read breadth-first without a rule (ours).
    """

    depths: Annotated[tuple[int, ...], setting("fixed depths: links from the start page", least=0)] = (0, 1, 2)
    first_pages: Annotated[tuple[int, ...], setting("numbers of first pages", least=1)] = (5, 10, 20, 50)
    deltas: Annotated[tuple[float, ...], setting("delta of the KL rule (14)", least=0)] = (1e-6, 1e-4, 1e-3, 1e-2)
    omegas: Annotated[tuple[float, ...], setting("omega of the variance rule", least=1e-9)] = (1.0, 2.0, 4.0)
    crawled: Annotated[int, setting("with --crawl: fixed depth of the baseline", least=0)] = FIXED_DEPTH

    def names(self) -> list[str]:
        """The names of all rules, in the order of the report."""
        fixed = [f"depth {depth}" for depth in self.depths]
        first = [f"first {count} pages" for count in self.first_pages]
        kl = [f"KL, delta {delta:g}" for delta in self.deltas]
        return ["everything", *fixed, *first, *kl, *(f"variance, omega {omega:g}" for omega in self.omegas)]

    def pruning(self) -> list[Rule]:
        """The rules that prune."""
        kl: list[Rule] = [KlRule(delta=delta) for delta in self.deltas]
        return [*kl, *(VarianceRule(omega=omega) for omega in self.omegas)]


@dataclass(frozen=True, slots=True)
class RuleReading:
    """A site read by one rule: pages read, pages kept, and the topic of the kept pages."""

    rule: str
    read: int
    kept: int
    answer: SiteAnswer


@dataclass(frozen=True, slots=True, eq=False)
class SiteTrial:
    """Sites to learn from and to test on, and how to denoise them; `reading` names the method for reading by rules."""

    learned: tuple[LabelledSite, ...]
    tested: tuple[LabelledSite, ...]
    methods: tuple[str, ...]
    choice: Choice = "repeated"
    settings: RivalSettings = field(default_factory=RivalSettings)
    terms: Mapping[str, tuple[str, ...]] | None = None
    reading: str | None = None
    rules: RuleSettings = field(default_factory=RuleSettings)
    topics: TopicSettings = field(default_factory=TopicSettings)


@dataclass(frozen=True, slots=True)
class TrialAnswers:
    """The answers of each method in one trial, the shares of words and pages that were used, seconds by stage; and each
    tested site read by every rule.
    """

    by_method: dict[str, tuple[SiteAnswer, ...]]
    words: float
    pages: float
    seconds: dict[str, float]
    readings: tuple[list[RuleReading], ...] = ()


def run_trial(trial: SiteTrial) -> TrialAnswers:
    """Learn, then classify the tested sites; denoising learns from the training sites alone."""
    clock = Clock()
    labels = [one.label for one in trial.learned]
    with clock.of(f"denoising: {trial.choice}"):
        denoiser = learned_denoiser(trial.learned, trial.choice, trial.settings, trial.terms)
        learned = [one.denoised(denoiser) for one in trial.learned]
        tested = [one.denoised(denoiser) for one in trial.tested]
    training = Training(learned, labels, trial.topics)
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
        by_method[name] = tuple(map(SiteAnswer.of, trial.tested, found))
    readings: tuple[list[RuleReading], ...] = ()
    if trial.reading is not None:
        with clock.of("reading in every way"):
            of_pages = HmtMethod.learn(training)
            readings = tuple(read_by_rules(one, models[trial.reading], of_pages, trial.rules) for one in trial.tested)
    words = [site.kept[site.words.row] for site in tested]
    pages = [np.isin(np.arange(len(site)), site.page_words.row) for site in tested]
    words_used, pages_used = (float(np.concatenate(masks).mean()) for masks in (words, pages))
    return TrialAnswers(by_method, words_used, pages_used, dict(clock.seconds), readings)


def _learned(name: str, training: Training, models: dict[str, SiteTopics]) -> SiteTopics:
    """Learn a method. `twophase` is a part of `multiscale` and is not learned again."""
    multiscale = models.get(Multiscale.name)
    if name == TwoPhase.name and multiscale is not None and isinstance(multiscale.method_, Multiscale):
        found = copy(multiscale)
        found.method, found.method_ = name, multiscale.method_.raw
        return found
    return SiteTopics(name).learn(training)


def learned_denoiser(
    sites: Sequence[LabelledSite], choice: Choice, settings: RivalSettings, terms: Mapping[str, tuple[str, ...]] | None
) -> Denoiser:
    """Return a denoiser learned from training sites, with the given terms or with terms learned from the sites."""
    labels = [one.label for one in sites]
    if "thesaurus" in choice:
        given = learned_thesaurus([one.shares or {} for one in sites], labels) if terms is None else Thesaurus(terms)
        return Denoiser(choice, settings, thesaurus=given)
    if choice == "centroid":
        return Denoiser(choice, settings, words=Training([one.everything for one in sites], labels).words)
    return Denoiser(choice, settings)


# Splits into training and tested sites


def each_left_out(labels: Sequence[str]) -> list[Split]:
    """Every site left out once."""
    sites = range(len(labels))
    return [(tuple(s for s in sites if s != out), (out,)) for out in sites]


def folds(labels: Sequence[str], count: int, rng: np.random.Generator) -> list[Split]:
    """Return `count` folds, each left out once, with the sites of each label spread over them; at most one per site."""
    order = [s for name in sorted(set(labels)) for s in _shuffled(labels, name, rng)]
    parts = [tuple(sorted(order[k :: min(count, len(order))])) for k in range(min(count, len(order)))]
    return [(tuple(s for s in range(len(labels)) if s not in part), part) for part in parts]


def sizes_of(labels: Sequence[str]) -> list[int]:
    """Return the numbers of training sites to try: evenly from one per label to all but a quarter."""
    least, most = len(set(labels)), int(len(labels) * (1 - TESTED_SHARE))
    return sorted({round(least + (most - least) * k / (SIZES - 1)) for k in range(SIZES)}) if most > least else [least]


def random_splits(labels: Sequence[str], size: int, repeats: int, rng: np.random.Generator) -> list[Split]:
    """Return random samples of training sites, one of each label in turn; the other sites are tested."""
    found = []
    for _ in range(repeats):
        queues = [_shuffled(labels, name, rng) for name in sorted(set(labels))]
        turns = [queue[k] for k in range(max(map(len, queues))) for queue in queues if k < len(queue)]
        learned = tuple(sorted(turns[:size]))
        found.append((learned, tuple(s for s in range(len(labels)) if s not in learned)))
    return found


def _shuffled(labels: Sequence[str], name: str, rng: np.random.Generator) -> list[int]:
    sites = [s for s, label in enumerate(labels) if label == name]
    return [sites[k] for k in rng.permutation(len(sites)).tolist()]


# Reading fewer pages of a site (Sites 4.2, Figure 11)


def read_by_rules(site: LabelledSite, model: SiteTopics, pages: HmtMethod, settings: RuleSettings) -> list[RuleReading]:
    """Read one site by every rule, breadth-first through its stored links, and classify the kept pages.

    A rule sees all words of a page, since repeated content is unknown while the site is read; its model of pages is
    that of method `hmt`. The site is then classified as if the kept pages were the whole site.
    """
    tree = site.site.page_tree
    parent, shown = page_observations(tree, pages.words.of_pages(site.everything.page_words))
    forest = Forest(parent, evidence=pages.pages.evidence(shown))
    chosen = [(mask, mask) for mask in _fixed(tree, settings)]
    for rule in settings.pruning():
        found = prune(forest, pages.pages.parameters, rule)
        chosen.append((found.read, found.kept))
    is_page = tree.page != NOTHING
    readings = []
    for name, (read, kept) in zip(settings.names(), chosen, strict=True):
        answer = SiteAnswer.of(site, model.classify(site.of_pages(kept)))
        readings.append(RuleReading(name, int((read & is_page).sum()), int((kept & is_page).sum()), answer))
    return readings


def _fixed(tree: LinkTree, settings: RuleSettings) -> Sequence[Mask]:
    """The nodes of everything, of fixed depths and of first pages; a virtual root does not count as a level."""
    is_virtual = len(tree) > 0 and tree.page[0] == NOTHING
    depth = tree.depth - int(is_virtual)
    order = np.arange(len(tree)) - int(is_virtual)
    return [
        np.ones(len(tree), np.bool_),
        *(depth <= most for most in settings.depths),
        *(order < count for count in settings.first_pages),
    ]
