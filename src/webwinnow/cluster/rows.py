"""The feature vectors of a collection and their file; phrases of two words, for the names of clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import MissingExtra
from webwinnow.features.vectors import FeatureMatrix
from webwinnow.judge.verdict import Verdict
from webwinnow.page._words import word_spans
from webwinnow.page.tree import PageTree

try:
    import scipy.sparse as sp
except ImportError:  # pragma: no cover - an installation without the extra
    raise MissingExtra("clustering", "mining") from None

LEAST_PAGES: Final = 3
"""A phrase is on at least this many pages."""
MOST_WORDS: Final = 2000
"""Words of a page that are read for phrases."""

Keys = NDArray[np.uint64]


class PhraseRows(NamedTuple):
    """One row per page, one column per phrase (`matrix`, CSR of ones), and the two words of each phrase."""

    matrix: Any
    words: list[tuple[str, str]]


@dataclass(slots=True, eq=False)
class PhraseCollector:
    """Collects the word pairs of pages; `rows` keeps those that are phrases."""

    pages: list[tuple[Keys, Keys]] = field(default_factory=list)

    def add(self, tree: PageTree | None, verdict: Verdict | None, features: Keys) -> None:
        """Add the pairs of neighbouring words of a page that both are `features`; of a cleaned page those kept."""
        if tree is None:
            self.pages.append((np.zeros(0, np.uint64), np.zeros(0, np.uint64)))
            return
        read = tree.visible[tree.run_owner]
        if verdict is not None:
            read = read & verdict.keep_runs & verdict.keep[tree.run_owner]
        word, run, begin, end = (found[:MOST_WORDS] for found in word_spans(tree.text, tree.run_start, read))
        known = np.isin(word, features)
        side_by_side = known[:-1] & known[1:] & (run[:-1] == run[1:]) & (begin[1:] - end[:-1] == 1)
        at = np.array([k for k in np.flatnonzero(side_by_side).tolist() if tree.text[end[k]].isspace()], np.int64)
        pairs = np.unique(np.stack((word[at], word[at + 1])), axis=1) if len(at) else np.zeros((2, 0), np.uint64)
        self.pages.append((pairs[0], pairs[1]))

    def rows(self, names: dict[int, str]) -> PhraseRows:
        """The pairs of words in `names` (by hash) that are on `LEAST_PAGES` pages or more."""
        first = np.concatenate([one for one, _ in self.pages]) if self.pages else np.zeros(0, np.uint64)
        second = np.concatenate([two for _, two in self.pages]) if self.pages else np.zeros(0, np.uint64)
        page = np.repeat(np.arange(len(self.pages)), [len(one) for one, _ in self.pages])
        keys = np.fromiter(names, np.uint64, len(names))
        named = np.isin(first, keys) & np.isin(second, keys) & (first != second)
        first, second, page = first[named], second[named], page[named]
        found, pair, times = np.unique(np.stack((first, second)), axis=1, return_inverse=True, return_counts=True)
        often = np.flatnonzero(times >= LEAST_PAGES)
        words = [(names[int(found[0, k])], names[int(found[1, k])]) for k in often.tolist()]
        order = sorted(range(len(words)), key=lambda k: words[k])
        column = np.full(len(times), -1)
        column[often[order]] = np.arange(len(order))
        cell = column[pair.ravel()]
        inside = cell >= 0
        ones = np.ones(int(inside.sum()))
        matrix = sp.csr_matrix((ones, (page[inside], cell[inside])), shape=(len(self.pages), len(words)))
        return PhraseRows(matrix, [words[k] for k in order])


@dataclass(frozen=True, slots=True, eq=False)
class PageRows:
    """One row per page (`matrix`, CSR), one column per feature, with names: `page_ids` and `vocabulary`.

    `sites` and `phrases` of the pages, where they are known, serve the names of clusters.
    """

    matrix: Any
    page_ids: list[str]
    vocabulary: list[str]
    sites: list[str] | None = None
    phrases: PhraseRows | None = None

    @classmethod
    def of(
        cls, features: FeatureMatrix, sites: list[str] | None = None, phrases: PhraseCollector | None = None
    ) -> Self:
        rows = features.rows()
        matrix = sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)  # with 32-bit indexes
        names = dict(zip(features.keys.tolist(), features.vocabulary, strict=False))
        found = None if phrases is None else phrases.rows(names)
        return cls(matrix, features.page_ids, features.vocabulary, sites, found)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The rows of an `.npz` that `webwinnow features` wrote. `InputError` if it is damaged or something else."""
        return cls.of(FeatureMatrix.read(path))
