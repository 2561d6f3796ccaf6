"""Pages as weighted feature vectors: one sparse row a page, one column a feature (thesis 4.3, the CST's weights)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import SettingsError
from webwinnow.pagetree import PageTree
from webwinnow.site.features import feature_names, page_features
from webwinnow.site.finish import finish
from webwinnow.site.styletree import CST_CUT, Keys, StyleTree
from webwinnow.site.weights import FeatureWeights, WeightSettings
from webwinnow.words import IMAGE_PREFIX, LINK_PREFIX, stop_words

__all__ = ["FEATURE_KINDS", "FeatureMatrix", "VectorBuilder", "VectorSettings", "learn_weights"]

FEATURE_KINDS = ("words", "images", "links")
DEFAULT_LANGUAGE = "en"
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSettings:
    """What goes into the rows.

    - `kinds`: of `words`, `images`, `links`; what is learned from the site counts all three.
    - `stop_words`: leave out the stop words of the page's language, words of one letter and those with digits.
    - `weighting`: `cst`, or `tfidf` for counts times inverse document frequency over the collection.
    - `weights`: how the CST weighs.
    """

    kinds: tuple[str, ...] = ("words",)
    stop_words: bool = True
    weighting: str = "cst"
    weights: WeightSettings = field(default_factory=WeightSettings)

    def __post_init__(self) -> None:
        if not self.kinds or set(self.kinds) - set(FEATURE_KINDS):
            raise SettingsError(
                f"no features {', '.join(self.kinds) or '(none)'}; there are: {', '.join(FEATURE_KINDS)}"
            )
        if self.weighting not in ("cst", "tfidf"):
            raise SettingsError(f"no weighting {self.weighting!r}; there are: cst, tfidf")


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMatrix:
    """A CSR matrix with the names of its rows (pages) and columns (features).

    `keys` are the hashes of the columns. `rarity` is what each column was multiplied with over the collection, if it
    was: a matrix of other pages wants the same (`VectorBuilder.matrix`).
    """

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    page_ids: list[str]
    vocabulary: list[str]
    keys: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    rarity: NDArray[np.float64] | None = None

    def save(self, out: BinaryIO) -> None:
        """Write one `.npz` with `data`, `indices`, `indptr`, `shape`, `page_ids`, `vocabulary`."""
        np.savez_compressed(
            out,
            allow_pickle=False,
            data=self.data,
            indices=self.indices,
            indptr=self.indptr,
            shape=np.array([len(self.page_ids), len(self.vocabulary)], np.int64),
            page_ids=np.array(self.page_ids, np.str_),
            vocabulary=np.array(self.vocabulary, np.str_),
        )


def learn_weights(trees: Iterable[PageTree], settings: WeightSettings | None = None) -> FeatureWeights:
    """Learn the compressed structure tree of a site and weigh its features; choose the pages first (`site.choose`)."""
    return FeatureWeights(finish(StyleTree.grow(trees, CST_CUT)), settings)


class VectorBuilder:
    """Gathers rows; `matrix` puts them together with the columns in alphabetical order."""

    def __init__(self, settings: VectorSettings | None = None) -> None:
        self.settings = settings or VectorSettings()
        self.page_ids: list[str] = []
        self.rows: list[tuple[Keys, NDArray[np.float64]]] = []
        self.names: dict[int, str] = {}

    def add(self, page_id: str, tree: PageTree | None, weights: FeatureWeights | None) -> None:
        """Add a page: weighted by its site, in full without weights, an empty row without a tree."""
        self.page_ids.append(page_id)
        if tree is None:
            self.rows.append((np.zeros(0, np.uint64), np.zeros(0)))
            return
        found = weights.weigh(tree) if weights is not None else _counted(tree)
        names = feature_names(tree)
        stops = stop_words(tree.head.language or DEFAULT_LANGUAGE) if self.settings.stop_words else frozenset()
        wanted = np.array([self._is_wanted(names[feature], stops) for feature in found[0].tolist()], np.bool_)
        features, values = found[0][wanted], found[1][wanted]
        self.names.update((feature, names[feature]) for feature in features.tolist())
        self.rows.append((features, values))

    def vocabulary(self) -> dict[int, str]:
        """The features met so far by their hashes, in the order of columns."""
        return dict(sorted(self.names.items(), key=lambda entry: (entry[1], entry[0])))

    def matrix(
        self, vocabulary: dict[int, str] | None = None, rarity: NDArray[np.float64] | None = None
    ) -> FeatureMatrix:
        """All rows as one matrix; with a vocabulary, of its columns alone, and with the rarity of each if given."""
        ordered = list((self.vocabulary() if vocabulary is None else vocabulary).items())
        if vocabulary is not None:
            known = np.sort(np.array(list(vocabulary), np.uint64))
            self.rows = [
                (features[inside], values[inside])
                for features, values in self.rows
                for inside in [np.isin(features, known)]
            ]
        keys = np.array([feature for feature, _ in ordered], np.uint64)
        by_key = np.argsort(keys)
        features = np.concatenate([row for row, _ in self.rows]) if self.rows else np.zeros(0, np.uint64)
        data = np.concatenate([values for _, values in self.rows]) if self.rows else np.zeros(0)
        indices = (
            by_key[np.searchsorted(keys[by_key], features)].astype(np.int32) if len(keys) else features.astype(np.int32)
        )
        indptr = np.concatenate(([0], np.cumsum([len(row) for row, _ in self.rows], dtype=np.int64)))
        if rarity is None and self.settings.weighting == "tfidf":
            pages_with = np.bincount(indices, minlength=len(keys))
            rarity = np.log((1 + len(self.rows)) / (1 + pages_with)) + 1
        if rarity is not None:
            data = data * rarity[indices]
        return FeatureMatrix(data, indices, indptr, self.page_ids, [name for _, name in ordered], keys, rarity)

    def _is_wanted(self, name: str, stops: frozenset[str]) -> bool:
        if name.startswith(LINK_PREFIX):
            return "links" in self.settings.kinds
        if name.startswith(IMAGE_PREFIX):
            return "images" in self.settings.kinds
        if "words" not in self.settings.kinds:
            return False
        return not self.settings.stop_words or (_WORD.fullmatch(name) is not None and name not in stops)


def _counted(tree: PageTree) -> tuple[Keys, NDArray[np.float64]]:
    features, counts = np.unique(page_features(tree).feature, return_counts=True)
    return features, counts.astype(np.float64)
