"""Classes whose names are paths (`science/physics/optics`): a tree of topics, and what is said at each of its levels.

The classification system of DocView 7.1 has 739 topics in a tree of depth 3. Here a classifier tells the classes apart,
whatever their depth; the probability of a topic is the sum over the classes below it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["MOST_LEVELS", "SEPARATOR", "Taxonomy"]

SEPARATOR = "/"
MOST_LEVELS = 8
"""Deeper paths end here: what is left of them is one name. The paper's tree has 3 levels."""


class Taxonomy:
    """The levels of some classes, in the order of `classes`. An empty separator makes names plain: one level.

    `names[level]` are the topics of a level, sorted; `topic[level][c]` is where class c belongs. A class that ends
    above a level stands there under its own name, so the topics of the last level are the classes.
    """

    def __init__(self, classes: Sequence[str], separator: str = SEPARATOR) -> None:
        self.separator = separator
        self.classes = tuple(classes)
        parts = [self.parts(name) for name in self.classes]
        self.depth = max((len(path) for path in parts), default=1)
        self.names: list[tuple[str, ...]] = []
        self.topic: list[NDArray[np.int64]] = []
        for level in range(self.depth):
            found, topic = np.unique([self.joined(path[: level + 1]) for path in parts], return_inverse=True)
            self.names.append(tuple(str(name) for name in found.tolist()))
            self.topic.append(topic.astype(np.int64))

    def parts(self, label: str) -> tuple[str, ...]:
        """The names on the way to a class; blank ones are passed over. NUL counts as blank: arrays of texts drop it."""
        label = label.replace("\0", " ")
        if not self.separator:
            return (label.strip(),)
        found = [part.strip() for part in label.split(self.separator)]
        found = [part for part in found if part]
        last = found[MOST_LEVELS - 1 :]
        return (*found[: MOST_LEVELS - 1], self.separator.join(last)) if last else tuple(found) or (label.strip(),)

    def joined(self, parts: Sequence[str]) -> str:
        """A path as one name."""
        return self.separator.join(parts)

    def tidy(self, label: str) -> str:
        """The one spelling of a label: no blanks around names, no empty ones."""
        return self.joined(self.parts(label))

    def at(self, label: str, level: int) -> str:
        """The topic of a label at a level (from 0)."""
        return self.joined(self.parts(label)[: level + 1])

    def probabilities(self, probability: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """For each level the probability of each topic (columns): the sum over its classes."""
        levels = []
        for names, topic in zip(self.names, self.topic, strict=True):
            summed = np.zeros((len(probability), len(names)))
            np.add.at(summed.T, topic, probability.T)
            levels.append(summed)
        return levels

    def predict(self, probability: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The likeliest class and the topics above it: (pages, levels) of topics, and of their probabilities.

        So a page's labels lie on one path. From the top down, the likeliest topic first, is no better: see
        docs/classify.md.
        """
        best = probability.argmax(axis=1)
        chosen = np.stack([topic[best] for topic in self.topic], axis=1)
        certain = [
            found[np.arange(len(best)), chosen[:, level]] for level, found in enumerate(self.probabilities(probability))
        ]
        return chosen, np.stack(certain, axis=1)
