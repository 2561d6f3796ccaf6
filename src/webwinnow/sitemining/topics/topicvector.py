"""Method `topicvector`: a site is the vector of its pages' topics (Ester et al. [9]); the nearest such vectors vote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.sitemining.arraychecks import floats, indexes
from webwinnow.sitemining.fusion import Neighbours
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.method import Arrays, Told
from webwinnow.sitemining.topics.training import Training
from webwinnow.sitemining.topics.votes import NEAREST, votes
from webwinnow.sitemining.topicwords import TopicWords

__all__ = ["TopicVector", "topic_counts"]


def topic_counts(pages: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many pages have each topic, each the likeliest one; pages without known words are not counted."""
    told = pages[~np.isnan(pages[:, 0])]
    return np.bincount(told.argmax(axis=1), minlength=pages.shape[1]).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class TopicVector:
    """Two phases of classification: pages by words, then sites by the counts of page topics, cosine, k = 3.

    The vectors of training sites are those that the other sites give them; a site alone with its topic stands as a
    vector of nothing else.
    """

    name: ClassVar[str] = "topicvector"
    words: TopicWords
    vectors: NDArray[np.float64]
    topic: NDArray[np.int64]

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn words, and keep the vector of each site."""
        alone = np.eye(training.topics)
        vectors = [
            alone[number] if held is None else topic_counts(held.pages)
            for held, number in zip(training.held_out, training.topic.tolist(), strict=True)
        ]
        return cls(training.words, np.stack(vectors), training.topic)

    def tell(self, site: SitePages, neighbours: Neighbours | None = None) -> Told:  # noqa: ARG002
        """Votes of the nearest vectors."""
        pages = self.words.of_pages(site.page_words)
        likeness = _units(self.vectors) @ _units(topic_counts(pages))
        return Told(votes(likeness, self.topic, pages.shape[1], NEAREST), pages, pages)

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        return self.words.to_arrays() | {"vectors": self.vectors, "topic": self.topic}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        topic = indexes(arrays, "topic", topics)
        vectors = floats(arrays, "vectors", (len(topic), topics))
        return cls(TopicWords.from_arrays(arrays, topics), vectors, topic)


def _units(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.sqrt((rows * rows).sum(axis=-1, keepdims=True))
    found: NDArray[np.float64] = rows / np.where(length > 0, length, 1.0)
    return found
