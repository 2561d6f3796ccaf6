"""How well sites are classified: the measures of Sites, section 5, and sites left out one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from typing import Self

import numpy as np

from webwinnow.counted import counted
from webwinnow.topics.pages import SitePages
from webwinnow.topics.sitetopics import SiteTopic, SiteTopics
from webwinnow.topics.training import TopicSettings, Training

MOST_LEFT_OUT = 40
"""Evenly spaced sites that are left out, one at a time: each costs a training."""
LEAST = 1e-9
"""Lower bound of a probability in the log loss."""


@dataclass(frozen=True, slots=True)
class LeftOutScore:
    """The sites that were left out, with their labels and the answers.

    `alone` is the number of sites that are the only ones of their topic: they cannot be right and are not left out.
    """

    labels: tuple[str, ...]
    answers: tuple[SiteTopic, ...]
    alone: int = 0

    @classmethod
    def of(
        cls,
        method: str,
        sites: Sequence[SitePages],
        labels: Sequence[str],
        settings: TopicSettings | None = None,
        *,
        most: int = MOST_LEFT_OUT,
        on_site: Callable[[int, int], None] | None = None,
    ) -> Self:
        """Classify each site, or `most` of them, by a model of the others."""
        count = Counter(labels)
        several = [s for s, label in enumerate(labels) if count[label] > 1] if len(count) > 1 else []
        chosen = several[:: max(1, -(-len(several) // most))]
        answers = []
        for done, out in enumerate(chosen, start=1):
            others = [s for s in range(len(sites)) if s != out]
            training = Training([sites[s] for s in others], [labels[s] for s in others], settings)
            answers.append(SiteTopics(method).learn(training).classify(sites[out]))
            if on_site is not None:
                on_site(done, len(chosen))
        return cls(tuple(labels[s] for s in chosen), tuple(answers), len(labels) - len(several))

    @property
    def right(self) -> list[bool]:
        return [found.topic == label for found, label in zip(self.answers, self.labels, strict=True)]

    @property
    def log_loss(self) -> float:
        """Mean of -log P(label): how far the probabilities can be trusted."""
        shares = [found.posterior[label] for found, label in zip(self.answers, self.labels, strict=True)]
        return -float(np.mean([log(max(share, LEAST)) for share in shares]))

    @property
    def none(self) -> int:
        """Sites for which the answer would be none of the topics."""
        return sum(found.why_none() is not None for found in self.answers)

    def level(self, depth: int) -> list[bool]:
        """Whether each site is right at a level of names like computing/databases, of those that have this level."""
        found = []
        for answer, label in zip(self.answers, self.labels, strict=True):
            parts, levels = label.split("/"), answer.levels()
            if len(parts) > depth:
                found.append(len(levels) > depth and levels[depth][0] == "/".join(parts[: depth + 1]))
        return found

    def lines(self) -> list[str]:
        """The score for people."""
        if not self.answers:
            return ["leave one site out: every topic has one site only, so none can be left out"]
        low, high = bootstrap_interval(self.right)
        accuracy = macro_accuracy(self.labels, [found.topic for found in self.answers])
        found = [
            f"leave one site out: {sum(self.right):,} of {len(self.right):,} right ({np.mean(self.right):.2f}, 95 % "
            f"interval {low:.2f} to {high:.2f}), accuracy by topic (16) {accuracy:.2f}, log loss {self.log_loss:.2f}, "
            f"{self.none:,} without an answer"
        ]
        depths = max(label.count("/") for label in self.labels)
        for depth in range(depths + 1 if depths else 0):
            right = self.level(depth)
            found.append(f"  level {depth + 1}: {sum(right):,} of {len(right):,} right")
        if self.alone:
            alone = counted(self.alone, "site is the only one of its topic", "sites are the only ones of their topic")
            found.append(f"  {alone}: not left out")
        return found


def spotting_rate(new: int, seeds: int) -> float:
    """N_new / N_seed (15): sites found per seed site, 1.87 in the paper. A ratio, not per cent."""
    return new / seeds


def class_accuracies(labels: Sequence[str], found: Sequence[str]) -> dict[str, float]:
    """M^(i) / N_new^(i) of each class i: the share of its sites that was classified correctly."""
    sites = Counter(labels)
    right = Counter(label for label, topic in zip(labels, found, strict=True) if label == topic)
    return {label: right[label] / sites[label] for label in sorted(sites)}


def macro_accuracy(labels: Sequence[str], found: Sequence[str]) -> float:
    """The mean over classes of M^(i) / N_new^(i) (16): each class has the same weight.

    The paper's mean is over its 10 classes; ours over those that have a site, for the others have no share.
    """
    each = class_accuracies(labels, found)
    return sum(each.values()) / len(each)


def bootstrap_interval(right: Sequence[float], *, share: float = 0.95, samples: int = 2000) -> tuple[float, float]:
    """The interval that contains this share of the accuracies of resampled sites (percentile bootstrap, seed 0)."""
    values = np.asarray(right, np.float64)
    drawn = np.random.default_rng(0).integers(0, len(values), (samples, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [(1 - share) / 2, (1 + share) / 2])
    return float(low), float(high)
