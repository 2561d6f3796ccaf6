"""Methods that compare a site with training sites: `superpage` and `topicvector`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.sitemining.arraychecks import floats, indexes, keys
from webwinnow.sitemining.fusion import Neighbours
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.topicmethod import Arrays, TopicPrediction, Training
from webwinnow.sitemining.topicwords import TopicWords, WordRows

NEAREST = 3
"""Training sites that vote."""

Floats = NDArray[np.float64]


def votes(likeness: Floats, topic: NDArray[np.int64], topics: int, nearest: int) -> Floats:
    """The share of each topic in the votes of the nearest sites, each voting as much as it is alike.

    Where nothing is alike all topics have the same share. Of sites alike the first ones vote.
    """
    chosen = np.argsort(-likeness, kind="stable")[:nearest]
    given = np.bincount(topic[chosen], np.maximum(likeness[chosen], 0.0), topics).astype(np.float64)
    total = given.sum()
    return given / total if total > 0 else np.full(topics, 1 / topics)


@dataclass(frozen=True, slots=True, eq=False)
class Superpage:
    """Sublinear tf-idf over sites, cosine, k = 3. Nothing is cleaned: that is what makes it the baseline."""

    name: ClassVar[str] = "superpage"
    key: NDArray[np.uint64]
    weight: NDArray[np.float64]
    rows: WordRows
    topic: NDArray[np.int64]
    topics: int

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Keep the vectors of all sites; idf = log ((1 + sites) / (1 + sites with the word)) + 1."""
        words = [site.all_words for site in training.sites]
        key, sites_with = np.unique(np.concatenate([one.key for one in words]), return_counts=True)
        weight = np.log((1 + len(words)) / (1 + sites_with)) + 1.0
        rows = WordRows.join([WordRows.of(one, key).weighted(weight) for one in words])
        return cls(key, weight, rows, training.topic, training.topics)

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """Votes of the nearest sites, each as much as its cosine."""
        own = WordRows.of(site.all_words, self.key).weighted(self.weight).dense(len(self.key))[0]
        return TopicPrediction(votes(self.rows.times(own), self.topic, self.topics, NEAREST))

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        rows = self.rows
        return {
            "key": self.key,
            "weight": self.weight,
            "row": rows.row,
            "column": rows.column,
            "value": rows.value,
            "topic": self.topic,
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        key, topic = keys(arrays, "key"), indexes(arrays, "topic", topics)
        row, column = indexes(arrays, "row", len(topic)), indexes(arrays, "column", len(key))
        value = floats(arrays, "value", (len(row),))
        if len(row) != len(column):
            raise ValueError(f"{len(row)} rows and {len(column)} columns")
        return cls(key, floats(arrays, "weight", (len(key),)), WordRows(len(topic), row, column, value), topic, topics)


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

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """Votes of the nearest vectors."""
        pages = self.words.of_pages(site.page_words)
        likeness = _units(self.vectors) @ _units(topic_counts(pages))
        return TopicPrediction(votes(likeness, self.topic, pages.shape[1], NEAREST), pages, pages)

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
