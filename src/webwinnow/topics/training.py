"""What the methods of classifying sites share: `Training`, `TopicPrediction` and the base class `TopicMethod`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from webwinnow.counted import counted
from webwinnow.errors import InputError
from webwinnow.lazy import lazy_property
from webwinnow.settings import Settings, setting
from webwinnow.storage.arrays import Stored
from webwinnow.topics.fusion import LINK_SMOOTHING, Neighbours
from webwinnow.topics.pages import SitePages
from webwinnow.topics.topicwords import HeldOut, LearnedWords, TopicWords, learn_words

NEAREST = 3
"""Training sites that vote (ours; the paper names no number)."""
TOLERANCE = 1e-4
"""Learning stops when a pass gains less, in nats per site."""
MOST_PASSES = 50

Floats = NDArray[np.float64]
HeldOutSite = tuple[SitePages, HeldOut, int]
"""A site, predictions by words that were not learned from it, and the number of its topic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSettings(Settings):
    """How topics are learned."""

    nearest: Annotated[int, setting("superpage, topicvector: training sites that vote", least=1)] = NEAREST
    link_smoothing: Annotated[float, setting("multiscale: links added to each pair of topics (11)", above=0)] = (
        LINK_SMOOTHING
    )
    tolerance: Annotated[float, setting("trees: EM ends when a pass gains less, in nats per site", least=0)] = TOLERANCE
    passes: Annotated[int, setting("trees: passes of EM at most", least=1)] = MOST_PASSES


@dataclass(frozen=True, slots=True, eq=False)
class TopicPrediction:
    """P(topic | site) and, where the method classifies pages, P(topic) of each page (one row per page).

    `texts` and `blocks` are P(topic | text) of single pages and of the nodes of their block trees, NaN where no word is
    known. They show what decided.
    """

    site: Floats
    pages: Floats | None = None
    texts: Floats | None = None
    blocks: Floats | None = None


class TopicMethod(Stored, ABC):
    """A method of classifying sites."""

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def learn(cls, training: Training) -> Self:
        """Learn from sites whose topics are known."""

    def grown(self, training: Training, fresh: Sequence[HeldOutSite]) -> Self:  # noqa: ARG002
        """Add sites, which `training` has too. By default what is learned from words is learned again: it is cheap."""
        return type(self).learn(training)

    @abstractmethod
    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:
        """The probability of each topic. `neighbours` are linked sites of known topics; some methods use them."""

    @abstractmethod
    def none_of_these(self, site: SitePages) -> float:
        """P(the site has none of the topics); NaN if none of its words is known."""


class WordMethod(TopicMethod):
    """A method that classifies pages by the words of topics."""

    words: TopicWords

    def none_of_these(self, site: SitePages) -> float:
        return self.words.none_of_these(site.page_words)


Method = TypeVar("Method", bound=TopicMethod)


class Training:
    """Training sites with their topics: `names` are the topics in order, `topic[s]` the number of site s's topic.

    Methods may share one `Training`: words, and methods that others build on, are learned once.
    """

    def __init__(
        self, sites: Sequence[SitePages], labels: Sequence[str], settings: TopicSettings | None = None
    ) -> None:
        self.settings = settings or TopicSettings()
        if len(sites) != len(labels):
            raise InputError(f"{len(sites)} sites and {len(labels)} labels: expected one for each")
        empty = [site.site for site in sites if not len(site)]
        if empty:
            raise InputError(f"the site {empty[0]!r} has no pages; expected some of each")
        self.sites = tuple(sites)
        self.names: tuple[str, ...] = tuple(sorted(set(labels)))
        if len(self.names) < 2:
            raise InputError(
                f"{counted(len(self.names), 'topic')} among {counted(len(sites), 'site')}: expected two or more"
            )
        self.topic: NDArray[np.int64] = np.array([self.names.index(label) for label in labels], np.int64)
        self.topics = len(self.names)
        self._by_method: dict[type[TopicMethod], TopicMethod] = {}

    def grown(self, sites: Sequence[SitePages], labels: Sequence[str]) -> Training:
        """A training with these sites too, of known topics. Words, and methods learned so far, are not learned again:
        the new sites are added to them (incremental EM, steps 1.1 and 1.2 of Algorithm 1).
        """
        if not sites:
            return self
        if missing := sorted(set(labels) - set(self.names)):
            raise InputError(
                f"no site has the topic {', '.join(missing)} so far; the topics are {', '.join(self.names)}"
            )
        grown = Training([*self.sites, *sites], [*(self.names[k] for k in self.topic), *labels], self.settings)
        topic = grown.topic[len(self.sites) :]
        rows = zip(self.sites, self.held_out, self.topic.tolist(), strict=True)
        alone = [(s, site, number) for s, (site, held, number) in enumerate(rows) if held is None and number in topic]
        grown._words = self._words.grown(sites, topic, alone)
        new, now_held_out = grown._words.held_out[: len(sites)], grown._words.held_out[len(sites) :]
        grown.held_out = [*self.held_out, *new]
        for (s, _, _), held in zip(alone, now_held_out, strict=True):
            grown.held_out[s] = held
        added = {s for s, _, _ in alone}.union(range(len(self.sites), len(grown.sites)))
        fresh = grown.held_out_sites(added)
        for method, learned in self._by_method.items():
            grown._by_method[method] = learned.grown(grown, fresh)
        return grown

    @property
    def words(self) -> TopicWords:
        """The words of each topic, learned from all sites."""
        return self._words.words

    @lazy_property
    def held_out(self) -> list[HeldOut | None]:
        """Predictions for each site by the words of the others; None for the only site of a topic."""
        return self._words.held_out

    @lazy_property
    def _words(self) -> LearnedWords:
        return learn_words(self.sites, self.topic, self.topics)

    def held_out_sites(self, among: Collection[int] | None = None) -> list[HeldOutSite]:
        """The sites, or those `among` them, that can be held out, with predictions and the number of their topic."""
        rows = enumerate(zip(self.sites, self.held_out, self.topic.tolist(), strict=True))
        among = range(len(self.sites)) if among is None else among
        return [(site, held, number) for s, (site, held, number) in rows if held is not None and s in among]

    def learned(self, method: type[Method]) -> Method:
        """A method trained on these sites, at most once."""
        if method not in self._by_method:
            self._by_method[method] = method.learn(self)
        found = self._by_method[method]
        assert isinstance(found, method)
        return found

    @property
    def links(self) -> list[tuple[int, int]]:
        """The links between sites, (from, to), each pair once."""
        home = {host: s for s, site in enumerate(self.sites) for host in site.hosts}
        return sorted(
            {(s, home[host]) for s, site in enumerate(self.sites) for host in site.linked if home.get(host, s) != s}
        )
