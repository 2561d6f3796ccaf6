"""What the methods of classifying sites share: training sites, the prediction, and the interface of a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError
from webwinnow.sitemining.arraychecks import Arrays
from webwinnow.sitemining.fusion import Neighbours
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topicwords import HeldOut, TopicWords, learn_words


class _Learns(Protocol):
    @classmethod
    def learn(cls, training: Training) -> Self: ...


Learned = TypeVar("Learned", bound=_Learns)


class Training:
    """Sites and the topic of each. `names` are the topics in order, `topic[s]` the number of site s's.

    Several methods may learn from one `Training`: the words of topics are learned once.
    """

    def __init__(self, sites: Sequence[SitePages], labels: Sequence[str]) -> None:
        if len(sites) != len(labels):
            raise InputError(f"{len(sites)} sites and {len(labels)} labels: expected one for each")
        empty = [site.site for site in sites if not len(site)]
        if empty:
            raise InputError(f"the site {empty[0]!r} has no pages; expected some of each")
        self.sites = tuple(sites)
        self.names: tuple[str, ...] = tuple(sorted(set(labels)))
        if len(self.names) < 2:
            raise InputError(f"{len(self.names)} topics among {len(sites)} sites: expected two or more")
        self._by_method: dict[type[_Learns], _Learns] = {}
        self.topic: NDArray[np.int64] = np.array([self.names.index(label) for label in labels], np.int64)

    @property
    def topics(self) -> int:
        """The number of topics."""
        return len(self.names)

    @property
    def words(self) -> TopicWords:
        """The words that tell of topics, learned from all sites."""
        return self._learned[0]

    @property
    def held_out(self) -> list[HeldOut | None]:
        """What each site is told by the words of the others; None for one that is alone with its topic."""
        return self._learned[1]

    @cached_property
    def _learned(self) -> tuple[TopicWords, list[HeldOut | None]]:
        return learn_words(self.sites, self.topic, self.topics)

    def learned(self, method: type[Learned]) -> Learned:
        """What a method has learned from these sites; methods that build on it ask here, so that it learns once."""
        if method not in self._by_method:
            self._by_method[method] = method.learn(self)
        found = self._by_method[method]
        assert isinstance(found, method)
        return found

    @property
    def links(self) -> list[tuple[int, int]]:
        """The links between sites: (from, to), each pair once."""
        home = {host: s for s, site in enumerate(self.sites) for host in site.hosts}
        return sorted(
            {(s, home[host]) for s, site in enumerate(self.sites) for host in site.linked if home.get(host, s) != s}
        )


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TopicPrediction:
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

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:
        """How likely each topic is; `neighbours` are sites linked with it whose topics are known, where one asks."""
        ...

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        ...

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave, of so many topics; `ValueError` where something does not fit."""
        ...
