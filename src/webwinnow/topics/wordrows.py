"""`WordRows`: the words of texts as sparse rows over a vocabulary, and their `Cosines` with the direction of topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.topics.pages import WordCounts

LENGTHS = 8
"""Texts of 1, 2 to 3, 4 to 7 known words and so on, the last of 128 and more, have slopes of their own."""
KEPT_TEXTS = 2000
"""Evenly spaced blocks of a site that are kept to fit slopes again when sites are added; as many pages."""

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]


class Cosines(NamedTuple):
    """Cosines of rows with each topic (NaN for an empty row), and the length class of each row."""

    value: Floats
    length: NDArray[np.int64]

    def less(self, offset: Floats, usual: Floats) -> Cosines:
        """The cosines less those that texts of this length of other topics have: `usual[length]` times `offset`."""
        return Cosines(self.value - usual[self.length][:, None] * offset, self.length)

    def thinned(self) -> Cosines:
        """Evenly spaced rows, at most twice `KEPT_TEXTS`."""
        step = max(1, len(self.length) // KEPT_TEXTS)
        return Cosines(self.value[::step], self.length[::step])


@dataclass(frozen=True, slots=True, eq=False)
class WordRows:
    """Sparse rows over the columns of a vocabulary."""

    rows: int
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    value: Floats

    @classmethod
    def of(cls, words: WordCounts, key: Keys) -> Self:
        """The words that are in the vocabulary; counts become 1 + log count (sublinear)."""
        if not len(key):
            return cls(words.rows, words.row[:0], words.row[:0], np.zeros(0))
        at = np.minimum(np.searchsorted(key, words.key), len(key) - 1)
        known = key[at] == words.key
        return cls(words.rows, words.row[known], at[known], 1.0 + np.log(words.count[known]))

    @classmethod
    def join(cls, parts: Sequence[WordRows]) -> Self:
        """The rows of several, in order."""
        firsts = np.cumsum([0, *(part.rows for part in parts)])
        return cls(
            int(firsts[-1]),
            np.concatenate([part.row + first for part, first in zip(parts, firsts, strict=False)]),
            np.concatenate([part.column for part in parts]),
            np.concatenate([part.value for part in parts]),
        )

    def weighted(self, weight: Floats) -> Self:
        """Multiply each column by its weight, then scale each row to length 1."""
        value = self.value * weight[self.column]
        there = value > 0
        row, column, value = self.row[there], self.column[there], value[there]
        length = np.sqrt(np.bincount(row, value * value, self.rows))
        return type(self)(self.rows, row, column, value / length[row])

    def at(self, columns: NDArray[np.bool_]) -> Self:
        """The rows with these columns only."""
        inside = columns[self.column]
        return type(self)(self.rows, self.row[inside], self.column[inside], self.value[inside])

    def mean(self, columns: int) -> Floats:
        """The mean of the rows that are not empty."""
        total = np.bincount(self.column, self.value, columns)
        return total / max(len(np.unique(self.row)), 1)

    def times(self, vector: Floats) -> Floats:
        """The product of each row with a vector."""
        return np.bincount(self.row, self.value * vector[self.column], self.rows).astype(np.float64)

    def cosines(self, direction: Floats) -> Cosines:
        """The products of the rows, of length 1, with each column of `direction`.

        The length class of a row is the logarithm to base 2 of its number of columns, below `LENGTHS`.
        """
        columns = np.bincount(self.row, minlength=self.rows)
        found = np.stack([self.times(topic) for topic in direction.T], axis=1)
        found[columns == 0] = np.nan
        length: NDArray[np.int64] = np.log2(np.maximum(columns, 1)).astype(np.int64)
        return Cosines(found, np.minimum(length, LENGTHS - 1))
