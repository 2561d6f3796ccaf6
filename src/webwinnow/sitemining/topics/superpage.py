"""Method `superpage`: all words of a site as one page, the nearest training sites vote (Sites 2, the baseline)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.sitemining.arraychecks import floats, indexes, keys
from webwinnow.sitemining.fusion import Neighbours
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.method import Arrays, Told
from webwinnow.sitemining.topics.training import Training
from webwinnow.sitemining.topics.votes import NEAREST, votes
from webwinnow.sitemining.topicwords import Rows

__all__ = ["Superpage"]


@dataclass(frozen=True, slots=True, eq=False)
class Superpage:
    """Sublinear tf-idf over sites, cosine, k = 3. Nothing is cleaned: that is what makes it the baseline."""

    name: ClassVar[str] = "superpage"
    key: NDArray[np.uint64]
    weight: NDArray[np.float64]
    rows: Rows
    topic: NDArray[np.int64]
    topics: int

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Keep the vectors of all sites; idf = log ((1 + sites) / (1 + sites with the word)) + 1."""
        words = [site.all_words for site in training.sites]
        key, sites_with = np.unique(np.concatenate([one.key for one in words]), return_counts=True)
        weight = np.log((1 + len(words)) / (1 + sites_with)) + 1.0
        rows = Rows.join([Rows.of(one, key).weighted(weight) for one in words])
        return cls(key, weight, rows, training.topic, training.topics)

    def tell(self, site: SitePages, neighbours: Neighbours | None = None) -> Told:  # noqa: ARG002
        """Votes of the nearest sites, each as much as its cosine."""
        own = Rows.of(site.all_words, self.key).weighted(self.weight).dense(len(self.key))[0]
        return Told(votes(self.rows.times(own), self.topic, self.topics, NEAREST))

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
        return cls(key, floats(arrays, "weight", (len(key),)), Rows(len(topic), row, column, value), topic, topics)
