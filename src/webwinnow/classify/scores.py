"""Scores of classification: precision, recall and F (thesis 5.2, DocView 7.1); calibration of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS = 10
"""Bins of equal width in which probabilities are compared with the share of correct predictions."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassScores:
    """Counts of pages: `confusion[t, p]` of class t were classified as class p."""

    classes: tuple[str, ...]
    confusion: NDArray[np.int64]

    @classmethod
    def of(cls, truth: Sequence[str], predicted: Sequence[str], classes: Sequence[str] | None = None) -> ClassScores:
        """Compare two labellings. `classes` are those of both, in alphabetical order, unless given."""
        names = tuple(sorted({*truth, *predicted}) if classes is None else classes)
        place = {name: number for number, name in enumerate(names)}
        rows, columns = (np.array([place[name] for name in labels], np.int64) for labels in (truth, predicted))
        counts = np.bincount(rows * len(names) + columns, minlength=len(names) ** 2)
        return cls(names, counts.reshape(len(names), len(names)))

    @property
    def pages(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.confusion.sum(axis=1)
        return found

    def largest(self, most: int) -> list[int]:
        """The classes with the most pages, the most first; ties by name."""
        return sorted(range(len(self.classes)), key=lambda c: (-int(self.pages[c]), self.classes[c]))[:most]

    @property
    def right(self) -> NDArray[np.int64]:
        """Pages of each class that were classified correctly."""
        return np.diagonal(self.confusion)

    @property
    def precision(self) -> NDArray[np.float64]:
        """The share of the pages assigned to a class that belong to it (DocView, equation 4); 0 of none."""
        return _share(self.right, self.confusion.sum(axis=0))

    @property
    def recall(self) -> NDArray[np.float64]:
        """The share of the pages of a class that were assigned to it (equation 5)."""
        return _share(self.right, self.pages)

    @property
    def f(self) -> NDArray[np.float64]:
        """`2 p r / (p + r)` (equation 6)."""
        return _share(2 * self.right, self.pages + self.confusion.sum(axis=0))

    @property
    def accuracy(self) -> float:
        """The share of pages classified correctly."""
        return float(self.right.sum() / max(int(self.confusion.sum()), 1))

    @property
    def macro_f(self) -> float:
        """The mean F of the classes that have pages."""
        there = self.pages > 0
        return float(self.f[there].mean()) if there.any() else 0.0

    @property
    def micro_f(self) -> float:
        """F over all decisions; with one class per page this is the accuracy."""
        return self.accuracy

    def to_plain(self) -> dict[str, Any]:
        rounded = [np.round(column, 6).tolist() for column in (self.precision, self.recall, self.f)]
        return {
            "accuracy": round(self.accuracy, 6),
            "macro_f": round(self.macro_f, 6),
            "micro_f": round(self.micro_f, 6),
            "classes": [
                {"class": name, "pages": pages, "precision": p, "recall": r, "f": f}
                for name, pages, p, r, f in zip(self.classes, self.pages.tolist(), *rounded, strict=True)
            ],
        }


class Reliability(NamedTuple):
    """Calibration of the probability of the predicted class, in equal bins: pages, mean probability, share correct.

    `brier` is the mean over pages of the squared error summed over classes (Brier 1950; 0 is best, 2 worst).
    """

    brier: float
    pages: NDArray[np.int64]
    predicted: NDArray[np.float64]
    right: NDArray[np.float64]

    @classmethod
    def of(cls, probability: NDArray[np.float64], truth: NDArray[np.int64], bins: int = BINS) -> Reliability:
        """Compare the probabilities (pages, classes) with the true classes."""
        rows = np.arange(len(truth))
        errors = np.square(probability).sum(axis=1) - 2 * probability[rows, truth] + 1
        best = probability.argmax(axis=1) if len(truth) else np.zeros(0, np.int64)
        most = probability[rows, best]
        which = np.clip((most * bins).astype(np.int64), 0, bins - 1)
        pages = np.bincount(which, minlength=bins)
        predicted = _share(np.bincount(which, weights=most, minlength=bins), pages)
        right = _share(np.bincount(which, weights=best == truth, minlength=bins), pages)
        return cls(float(errors.mean()) if len(truth) else 0.0, pages, predicted, right)

    @property
    def expected_error(self) -> float:
        """The mean over pages of the difference between the probability and the share correct in their bin (ECE)."""
        return float((self.pages * np.abs(self.predicted - self.right)).sum() / max(int(self.pages.sum()), 1))

    def to_plain(self) -> dict[str, Any]:
        return {"brier": round(self.brier, 6), "expected_calibration_error": round(self.expected_error, 6)}


def _share(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)
    return found
