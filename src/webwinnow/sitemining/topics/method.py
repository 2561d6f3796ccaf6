"""What a method of classifying sites is: it learns from sites, and says how likely each topic is for another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.sitemining.arraychecks import Arrays
from webwinnow.sitemining.fusion import Neighbours
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.training import Training

__all__ = ["Arrays", "Told", "TopicMethod"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """P(topic | site) and, where the method knows of them, of its pages (a row each).

    `texts` and `blocks` are what pages and the nodes of their trees of blocks say by themselves, NaN where no word is
    known: what decided.
    """

    site: Floats
    pages: Floats | None = None
    texts: Floats | None = None
    blocks: Floats | None = None


class TopicMethod(Protocol):
    """One way to tell the topic of a site."""

    name: ClassVar[str]

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn from sites whose topics are known."""
        ...

    def tell(self, site: SitePages, neighbours: Neighbours | None = None) -> Told:
        """How likely each topic is; `neighbours` are sites linked with it whose topics are known, where one asks."""
        ...

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        ...

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave, of so many topics; `ValueError` where something does not fit."""
        ...
