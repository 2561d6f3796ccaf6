"""Results of the sites experiment as plain values, and as CSV files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, pstdev
from typing import Any

from webwinnow.papers.experiment import DECIMALS, Tables
from webwinnow.papers.sites.labelledsites import SiteAnswer
from webwinnow.papers.sites.likelihood import Curve
from webwinnow.papers.sites.trials import RuleReading
from webwinnow.topics.scores import macro_accuracy


def accuracy_of(answers: Sequence[SiteAnswer]) -> float:
    """Equation 16 over answers."""
    return macro_accuracy([answer.label for answer in answers], [answer.topic for answer in answers])


@dataclass(frozen=True, slots=True)
class SizeResults:
    """A method with a number of training sites: its accuracy (16) in each random sample."""

    method: str
    sites: int
    accuracies: tuple[float, ...]

    @property
    def mean(self) -> float:
        return mean(self.accuracies)

    @property
    def deviation(self) -> float:
        return pstdev(self.accuracies)


@dataclass(frozen=True, slots=True)
class DenoisingRow:
    """A choice of denoising: the answers of each method, the shares of words and pages that were used, seconds."""

    choice: str
    answers: dict[str, tuple[SiteAnswer, ...]]
    words: float
    pages: float
    seconds: float


@dataclass(frozen=True, slots=True)
class PruningRow:
    """A rule for reading pages, over all sites."""

    rule: str
    readings: tuple[RuleReading, ...]

    @property
    def read(self) -> int:
        return sum(one.read for one in self.readings)

    @property
    def kept(self) -> int:
        return sum(one.kept for one in self.readings)

    @property
    def accuracy(self) -> float:
        """Equation 16."""
        return accuracy_of([one.answer for one in self.readings])


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesResults:
    """All measurements. `sites` are (name, label, pages); `left_out` has each site classified by the others."""

    data: str
    label: str
    command: str
    seed: int
    repeats: int
    folds: int
    reading_method: str
    thesaurus: str | None
    sites: tuple[tuple[str, str, int], ...]
    methods: tuple[str, ...]
    sizes: tuple[SizeResults, ...]
    left_out: dict[str, tuple[SiteAnswer, ...]]
    denoising: tuple[DenoisingRow, ...]
    pruning: tuple[PruningRow, ...]
    drawn: tuple[Curve, ...]
    learned: tuple[Curve, ...]
    seconds: dict[str, float]
    deepest: int
    """Links from a start page to the farthest stored page."""
    notes: tuple[str, ...] = ()

    @property
    def pages(self) -> int:
        return sum(count for *_, count in self.sites)

    @property
    def labels(self) -> dict[str, int]:
        return dict(sorted(Counter(label for _, label, _ in self.sites).items()))

    def accuracy(self, method: str) -> float:
        """Equation 16, every site left out once."""
        return accuracy_of(self.left_out[method])

    def right(self, method: str) -> int:
        """Sites that a method has right, every site left out once."""
        return sum(answer.right for answer in self.left_out[method])


# CSV files


def tables_of(results: SitesResults) -> Tables:
    """The tables, for CSV files."""
    tables = {
        "accuracy": ("method training_sites draw accuracy", _accuracy(results)),
        "sites": ("method site pages label found right probability", _sites(results)),
        "denoising": ("denoising method accuracy words_taking_part pages_taking_part seconds", _denoising(results)),
        "reading": ("way site read kept label found right", _reading(results)),
        "likelihood": ("trees em pass nats_a_node", _likelihood(results)),
        "times": ("stage seconds", ((stage, round(seconds, 3)) for stage, seconds in results.seconds.items())),
    }
    return {
        name: [dict(zip(columns.split(), row, strict=True)) for row in rows] for name, (columns, rows) in tables.items()
    }


Rows = Iterator[tuple[Any, ...]]


def _accuracy(results: SitesResults) -> Rows:
    """Figure 9: every random sample."""
    for size in results.sizes:
        for draw, value in enumerate(size.accuracies):
            yield size.method, size.sites, draw, round(value, DECIMALS)


def _sites(results: SitesResults) -> Rows:
    """Every site left out once."""
    pages = {name: count for name, _, count in results.sites}
    for method, answers in results.left_out.items():
        for one in answers:
            probability = round(one.probability, DECIMALS)
            yield method, one.site, pages[one.site], one.label, one.topic, one.right, probability


def _denoising(results: SitesResults) -> Rows:
    for row in results.denoising:
        used = (round(row.words, DECIMALS), round(row.pages, DECIMALS), round(row.seconds, 2))
        for method, answers in row.answers.items():
            yield row.choice, method, round(accuracy_of(answers), DECIMALS), *used


def _reading(results: SitesResults) -> Rows:
    """Figure 11: every site with every rule."""
    for row in results.pruning:
        for one in row.readings:
            answer = one.answer
            yield row.rule, answer.site, one.read, one.kept, answer.label, answer.topic, answer.right


def _likelihood(results: SitesResults) -> Rows:
    """Figure 6."""
    for trees, curves in (("drawn", results.drawn), ("sites", results.learned)):
        for curve in curves:
            for number, value in enumerate(curve.history, start=1):
                yield trees, curve.name, number, round(value, 6)
