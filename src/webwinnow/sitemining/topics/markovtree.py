"""Method `markovtree`: the 0-order Markov tree (Ester et al. [9]): page topics, each depending on the site's alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.sitemining.arraychecks import floats
from webwinnow.sitemining.fusion import Neighbours
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.method import Arrays, Told
from webwinnow.sitemining.topics.topicvector import topic_counts
from webwinnow.sitemining.topics.training import Training
from webwinnow.sitemining.topicwords import TopicWords, probabilities

__all__ = ["MarkovTree"]

SMOOTHING = 1.0
"""Pages added to every pair of topics (Laplace; ours)."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkovTree:
    """P(site) = P(topic) times the product over its pages of `emitted[topic, page's topic]`."""

    name: ClassVar[str] = "markovtree"
    words: TopicWords
    emitted: NDArray[np.float64]

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn words, and how often the pages of each topic's sites have which topic, by what other sites tell."""
        counts = np.full((training.topics, training.topics), SMOOTHING)
        for held, number in zip(training.held_out, training.topic.tolist(), strict=True):
            if held is None:
                counts[number, number] += 1  # alone with its topic: a page of its own, so that the topic can be told
            else:
                counts[number] += topic_counts(held.pages)
        return cls(training.words, counts / counts.sum(axis=1, keepdims=True))

    def tell(self, site: SitePages, neighbours: Neighbours | None = None) -> Told:  # noqa: ARG002
        """By Bayes' rule, all topics being as likely before."""
        pages = self.words.of_pages(site.page_words)
        likelihood = np.log(self.emitted) @ topic_counts(pages)
        return Told(probabilities(likelihood[None])[0], pages, pages)

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        return self.words.to_arrays() | {"emitted": self.emitted}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        emitted = floats(arrays, "emitted", (topics, topics), low=np.finfo(np.float64).tiny, high=1.0)
        return cls(TopicWords.from_arrays(arrays, topics), emitted)
