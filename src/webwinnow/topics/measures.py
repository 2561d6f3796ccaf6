"""The measures of web site mining (Sites, section 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from webwinnow.errors import InputError


def spotting_rate(new: int, seeds: int) -> float:
    """N_new / N_seed (15): sites found per seed site, 1.87 in the paper. A ratio, not per cent."""
    if seeds < 1 or new < 0:
        raise InputError(f"{new} new sites for {seeds} seeds: expected 0 or more for at least one")
    return new / seeds


def class_accuracies(labels: Sequence[str], found: Sequence[str]) -> dict[str, float]:
    """M^(i) / N_new^(i) of each class i: the share of its sites that was classified correctly."""
    if len(labels) != len(found):
        raise InputError(f"{len(labels)} labels and {len(found)} classes: expected one each")
    sites = Counter(labels)
    right = Counter(label for label, said in zip(labels, found, strict=True) if label == said)
    return {label: right[label] / sites[label] for label in sorted(sites)}


def macro_accuracy(labels: Sequence[str], found: Sequence[str]) -> float:
    """The mean over classes of M^(i) / N_new^(i) (16): each class has the same weight.

    The paper's mean is over its 10 classes; ours over those that have a site, for the others have no share.
    """
    each = class_accuracies(labels, found)
    if not each:
        raise InputError("no sites to measure the accuracy on")
    return sum(each.values()) / len(each)


def bootstrap_interval(right: Sequence[float], *, share: float = 0.95, samples: int = 2000) -> tuple[float, float]:
    """The interval that contains this share of the accuracies of resampled sites (percentile bootstrap, seed 0)."""
    values = np.asarray(right, np.float64)
    drawn = np.random.default_rng(0).integers(0, len(values), (samples, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)
