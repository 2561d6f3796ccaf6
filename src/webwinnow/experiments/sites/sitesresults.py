"""What the experiment measured, as plain values, with the sums that report and tables share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean, pstdev

from webwinnow.experiments.sites.labelledsites import Answer
from webwinnow.experiments.sites.likelihood import Curve
from webwinnow.experiments.sites.pruned import Read
from webwinnow.sitemining.measures import macro_accuracy

__all__ = ["DenoisingRow", "PruningRow", "SitesResults", "Size", "accuracy_of"]


def accuracy_of(answers: Sequence[Answer]) -> float:
    """Equation 16 over answers."""
    return macro_accuracy([answer.label for answer in answers], [answer.topic for answer in answers])


@dataclass(frozen=True, slots=True)
class Size:
    """A method with so many training sites: its accuracy (16) in each draw."""

    method: str
    sites: int
    accuracies: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over the draws."""
        return mean(self.accuracies)

    @property
    def deviation(self) -> float:
        """Over the draws."""
        return pstdev(self.accuracies)


@dataclass(frozen=True, slots=True)
class DenoisingRow:
    """One way of denoising: the answers of each method, the shares of words and pages that took part, seconds."""

    choice: str
    answers: dict[str, tuple[Answer, ...]]
    words: float
    pages: float
    seconds: float


@dataclass(frozen=True, slots=True)
class PruningRow:
    """One way of reading, over all sites."""

    way: str
    reads: tuple[Read, ...]

    @property
    def read(self) -> int:
        """Pages that were read."""
        return sum(one.read for one in self.reads)

    @property
    def kept(self) -> int:
        """Pages that were kept of these."""
        return sum(one.kept for one in self.reads)

    @property
    def accuracy(self) -> float:
        """Equation 16."""
        return accuracy_of([one.answer for one in self.reads])


@dataclass(frozen=True, slots=True, kw_only=True)
class SitesResults:
    """All that was measured. `sites` are (name, label, pages); `left_out` has each site classified by the others."""

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
    sizes: tuple[Size, ...]
    left_out: dict[str, tuple[Answer, ...]]
    denoising: tuple[DenoisingRow, ...]
    pruning: tuple[PruningRow, ...]
    drawn: tuple[Curve, ...]
    own: tuple[Curve, ...]
    seconds: dict[str, float]
    deepest: int
    """Links from a start page to the farthest stored page."""
    notes: tuple[str, ...] = field(default=())

    @property
    def pages(self) -> int:
        """Of all sites."""
        return sum(count for *_, count in self.sites)

    @property
    def labels(self) -> dict[str, int]:
        """Sites of each label."""
        names = sorted({label for _, label, _ in self.sites})
        return {name: sum(label == name for _, label, _ in self.sites) for name in names}

    def accuracy(self, method: str) -> float:
        """Equation 16, every site left out once."""
        return accuracy_of(self.left_out[method])

    def right(self, method: str) -> int:
        """Sites that a method has right, every site left out once."""
        return sum(answer.right for answer in self.left_out[method])

    def of_size(self, method: str) -> list[Size]:
        """The accuracies of a method by number of training sites."""
        return [size for size in self.sizes if size.method == method]
