"""Methods that compare a site with the training sites: `superpage` (Sites 2) and `topicvector` (Ester et al. [9])."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.storage.arrays import Arrays, floats, indexes, keys
from webwinnow.topics.fusion import Neighbours
from webwinnow.topics.sitepages import SitePages
from webwinnow.topics.topicmethod import NEAREST, TopicMethod, TopicPrediction, Training, WordMethod
from webwinnow.topics.topicwords import TopicWords
from webwinnow.topics.wordrows import WordRows

Floats = NDArray[np.float64]
Indexes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Superpage(TopicMethod):
    """All words of a site as one page; the nearest training sites vote (Sites 2, the baseline).

    Sublinear tf-idf over sites, cosine, k = 3. Nothing is cleaned: that is what makes it the baseline.
    """

    name: ClassVar[str] = "superpage"
    key: NDArray[np.uint64]
    weight: Floats
    rows: WordRows
    topic: Indexes
    topics: int
    nearest: int = NEAREST

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Keep the vectors of all sites; idf = log ((1 + sites) / (1 + sites with the word)) + 1."""
        words = [site.all_words for site in training.sites]
        key, sites_with = np.unique(np.concatenate([one.key for one in words]), return_counts=True)
        weight = np.log((1 + len(words)) / (1 + sites_with)) + 1.0
        rows = WordRows.join([WordRows.of(one, key).weighted(weight) for one in words])
        return cls(key, weight, rows, training.topic, training.topics, training.settings.nearest)

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """Votes of the nearest sites, weighted by cosine."""
        own = WordRows.of(site.all_words, self.key).weighted(self.weight)
        vector = np.zeros(len(self.key))
        vector[own.column] = own.value
        return TopicPrediction(votes(self.rows.times(vector), self.topic, self.topics, self.nearest))

    def none_of_these(self, site: SitePages) -> float:
        """0 if a word is known: the baseline always answers."""
        return 0.0 if np.isin(site.all_words.key, self.key).any() else float("nan")

    def to_arrays(self) -> Arrays:
        rows = {"row": self.rows.row, "column": self.rows.column, "value": self.rows.value}
        return {"key": self.key, "weight": self.weight} | rows | {"topic": self.topic} | _nearest_array(self.nearest)

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        key, topic = keys(arrays, "key"), indexes(arrays, "topic", topics)
        row, column = indexes(arrays, "row", len(topic)), indexes(arrays, "column", len(key))
        value = floats(arrays, "value", (len(row),))
        if len(row) != len(column):
            raise ValueError(f"{len(row)} rows and {len(column)} columns")
        weight, rows = floats(arrays, "weight", (len(key),)), WordRows(len(topic), row, column, value)
        return cls(key, weight, rows, topic, topics, _read_nearest(arrays))


@dataclass(frozen=True, slots=True, eq=False)
class TopicVector(WordMethod):
    """A site as the vector of its pages' topics: pages are classified by words, sites by the nearest such vectors.

    Cosine, k = 3. The vectors of training sites are predicted by the other sites; the only site of a topic has a
    vector with that topic alone.
    """

    name: ClassVar[str] = "topicvector"
    words: TopicWords
    vectors: Floats
    topic: Indexes
    nearest: int = NEAREST

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn the words, and keep the vector of each site."""
        alone = np.eye(training.topics)
        vectors = [
            alone[number] if held is None else topic_counts(held.pages)
            for held, number in zip(training.held_out, training.topic.tolist(), strict=True)
        ]
        return cls(training.words, np.stack(vectors), training.topic, training.settings.nearest)

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """Votes of the nearest vectors."""
        pages = self.words.of_pages(site.page_words)
        cosines = _unit(self.vectors) @ _unit(topic_counts(pages))
        return TopicPrediction(votes(cosines, self.topic, pages.shape[1], self.nearest), pages, pages)

    def to_arrays(self) -> Arrays:
        return self.words.to_arrays() | {"vectors": self.vectors, "topic": self.topic} | _nearest_array(self.nearest)

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        topic = indexes(arrays, "topic", topics)
        vectors = floats(arrays, "vectors", (len(topic), topics))
        return cls(TopicWords.from_arrays(arrays, topics), vectors, topic, _read_nearest(arrays))


def _nearest_array(nearest: int) -> Arrays:
    """The number of voting sites for a model file, which has it only if it is not the usual one."""
    return {} if nearest == NEAREST else {"nearest": np.array([nearest], np.int64)}


def _read_nearest(arrays: Arrays) -> int:
    if "nearest" not in arrays:
        return NEAREST
    found = arrays["nearest"]
    if found.shape != (1,) or found.dtype.kind != "i" or not found[0] >= 1:
        raise ValueError("its number of voting sites is none")
    return int(found[0])


def votes(similarity: Floats, topic: Indexes, topics: int, nearest: int = NEAREST) -> Floats:
    """The share of each topic in the votes of the nearest sites, each vote weighted by its similarity.

    Of equally similar sites the first ones vote. If none is similar, all topics have the same share.
    """
    chosen = np.argsort(-similarity, kind="stable")[:nearest]
    given = np.bincount(topic[chosen], np.maximum(similarity[chosen], 0.0), topics).astype(np.float64)
    total = given.sum()
    return given / total if total > 0 else np.full(topics, 1 / topics)


def topic_counts(pages: Floats) -> Floats:
    """The number of pages of each topic, by the most probable topic; pages without known words are not counted."""
    known = pages[~np.isnan(pages[:, 0])]
    return np.bincount(known.argmax(axis=1), minlength=pages.shape[1]).astype(np.float64)


def _unit(rows: Floats) -> Floats:
    length = np.sqrt((rows * rows).sum(axis=-1, keepdims=True))
    found: Floats = rows / np.where(length > 0, length, 1.0)
    return found
