"""Pages as weighted feature vectors: a sparse row per page, a column per feature (thesis 4.3, the CST's weights)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, MissingExtra, SettingsError
from webwinnow.judge.verdict import Verdict
from webwinnow.page._words import name_hash
from webwinnow.page.tree import PageTree
from webwinnow.page.words import IMAGE_PREFIX, LINK_PREFIX, StopList, words
from webwinnow.settings import Settings, setting
from webwinnow.site.featureweights import CstWeightSettings, FeatureWeights
from webwinnow.site.sitetree import finish
from webwinnow.site.styletree import CST_CUT, Keys, StyleTree, feature_names, page_features
from webwinnow.storage.modelfile import is_within, read_arrays

FEATURE_KINDS = ("words", "images", "links")
WEIGHTINGS = ("cst", "wplus", "tfidf", "topic")
TITLE_WEIGHT = 2.0
"""What W+ and topic weights add to the weight of a word that is also in the page's title (docs/features.md)."""
SITE_WEIGHTINGS = ("cst", "wplus")
MOST_NAME_CHARACTERS = 250_000_000
"""Characters of the array of all pages' names, and of that of all features' (1 GB each): 2,500 a name with 100,000."""
LEAST_NAME_CHARACTERS = 256
"""Characters that a name may have, however many names there are."""
LARGEST_ARRAY = 1 << 34
"""Bytes of one array of a feature file; larger ones are not unpacked."""
_FILE_KINDS = {"data": "f", "indices": "iu", "indptr": "iu", "shape": "iu", "page_ids": "U", "vocabulary": "U"}
"""The arrays of a feature file and the kinds of their elements."""
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSettings(Settings):
    """Which features are in the rows, and how they are weighted.

    - `kinds`: of `words`, `images`, `links`; the site's tree is learned from all three.
    - `stop_words`: leave out stop words, words of one letter and words with digits.
    - `stop_list`: which words are stop words.
    - `weighting`: `cst`; `wplus`, the CST's weights adjusted by the whole collection (extra `mining`); `tfidf`, counts
      times inverse document frequency over the collection; or `topic`, counts of the words of cleaned pages, adjusted
      so that topics count and sites do not (extra `mining`).
    - `weights`: settings of the CST's weights.
    """

    kinds: tuple[str, ...] = ("words",)
    stop_words: bool = True
    stop_list: StopList = field(default_factory=StopList)
    weighting: Annotated[str, setting("How features are weighted.", known=lambda: WEIGHTINGS)] = "cst"
    weights: CstWeightSettings = field(default_factory=lambda: CstWeightSettings(mapped=True))

    def validate(self) -> None:
        """Raise `SettingsError` for kinds of features that there are not, or two lists of stop words."""
        if not self.kinds or set(self.kinds) - set(FEATURE_KINDS):
            raise SettingsError(
                f"no features {', '.join(self.kinds) or '(none)'}; there are: {', '.join(FEATURE_KINDS)}"
            )
        if self.stop_list.own is not None and not self.stop_words:
            raise SettingsError("a list of stop words is given, and all words are to be kept; expected one of the two")

    @property
    def learns_sites(self) -> bool:
        """Whether pages are weighted by the tree of their site."""
        return self.weighting in SITE_WEIGHTINGS

    @property
    def counts_clean_pages(self) -> bool:
        """Whether words are counted in cleaned pages."""
        return self.weighting == "topic"


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMatrix:
    """A CSR matrix with the names of its rows (pages) and columns (features).

    `keys` are the hashes of the columns. `rarity` is the factor of each column over the collection, if there is one; a
    matrix of other pages needs the same (`VectorBuilder.matrix`).
    """

    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    page_ids: list[str]
    vocabulary: list[str]
    keys: NDArray[np.uint64] = field(default_factory=lambda: np.zeros(0, np.uint64))
    rarity: NDArray[np.float64] | None = None

    def rows(self) -> Any:
        """The matrix as a CSR array of scipy (extra `mining`)."""
        try:
            from scipy.sparse import csr_array  # noqa: PLC0415 (an optional extra)
        except ImportError:
            raise MissingExtra("a matrix of features", "mining") from None
        return csr_array((self.data, self.indices, self.indptr), shape=(len(self.page_ids), len(self.vocabulary)))

    def with_rows(self, rows: Any, vocabulary: list[str], keys: NDArray[np.uint64]) -> FeatureMatrix:
        """The same pages with other features."""
        indices, indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
        return FeatureMatrix(rows.data, indices, indptr, self.page_ids, vocabulary, keys)

    def save(self, out: BinaryIO) -> None:
        """Write one `.npz` with `data`, `indices`, `indptr`, `shape`, `page_ids`, `vocabulary` (`names_array`)."""
        np.savez_compressed(
            out,
            allow_pickle=False,
            data=self.data,
            indices=self.indices,
            indptr=self.indptr,
            shape=np.array([len(self.page_ids), len(self.vocabulary)], np.int64),
            page_ids=names_array(self.page_ids),
            vocabulary=names_array(self.vocabulary),
        )

    @classmethod
    def read(cls, path: Path) -> Self:
        """A file that `save` wrote. Raises `InputError` if it is damaged or something else."""
        try:
            arrays = read_arrays(path, _FILE_KINDS, largest=LARGEST_ARRAY, padded=("page_ids", "vocabulary"))
            for name, kinds in _FILE_KINDS.items():
                if arrays[name].ndim != 1 or arrays[name].dtype.kind not in kinds:
                    raise ValueError(f"{name} is {arrays[name].ndim}-dimensional of {arrays[name].dtype}")
            data, indices, indptr, given, page_ids, vocabulary = (arrays[name] for name in _FILE_KINDS)
            shape = (len(page_ids), len(vocabulary))
            if tuple(given.tolist()) != shape:
                raise ValueError(f"shape is {given.tolist()}, there are {shape[0]} pages and {shape[1]} features")
            check_csr(data, indices, indptr, shape)
        except ValueError as error:
            raise InputError(
                f"{path}: not a feature file ({error}); expected an .npz that `webwinnow features` wrote"
            ) from error
        return cls(data, indices, indptr, page_ids.tolist(), vocabulary.tolist())


def check_csr(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> None:
    """Raise `ValueError` unless these are the arrays of a CSR matrix of finite numbers."""
    if len(indptr) != shape[0] + 1 or indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ValueError("indptr does not split the data into rows")
    if len(indices) != len(data) or not is_within(indices, shape[1]):
        raise ValueError("indices are not columns")
    if not np.isfinite(data).all():
        raise ValueError("some values are not finite numbers")


def names_array(names: list[str]) -> NDArray[np.str_]:
    """Names as an array, where each takes as much as the longest: those too long for `MOST_NAME_CHARACTERS` are cut.

    A name that is cut ends in its hash, so that different names stay different.
    """
    longest = max(MOST_NAME_CHARACTERS // max(len(names), 1), LEAST_NAME_CHARACTERS)
    return np.array([name if len(name) <= longest else _cut(name, longest) for name in names], np.str_)


def _cut(name: str, longest: int) -> str:
    digest = f"~{name_hash(name):016x}"
    return name[: longest - len(digest)] + digest


def learn_weights(trees: Iterable[PageTree], settings: CstWeightSettings | None = None) -> FeatureWeights:
    """Learn the compressed structure tree of a site and its weights; choose the pages first (`choose_pages`)."""
    settings = settings or CstWeightSettings()
    return FeatureWeights(finish(StyleTree.grow(trees, CST_CUT), settings.join), settings)


class VectorBuilder:
    """Collects rows; `matrix` joins them, with the columns in alphabetical order."""

    def __init__(self, settings: VectorSettings | None = None) -> None:
        self.settings = settings or VectorSettings()
        self.page_ids: list[str] = []
        self.sites: list[str] = []
        self.rows: list[tuple[Keys, NDArray[np.float64]]] = []
        self.names: dict[int, str] = {}

    def add(
        self,
        page_id: str,
        tree: PageTree | None,
        weights: FeatureWeights | None,
        *,
        site: str = "",
        verdict: Verdict | None = None,
    ) -> None:
        """Add a page: weighted by its site, by counts without weights, as an empty row without a tree.

        With a verdict, only features that it keeps are counted.
        """
        self.page_ids.append(page_id)
        self.sites.append(site)
        if tree is None:
            self.rows.append((np.zeros(0, np.uint64), np.zeros(0)))
            return
        found = weights.weigh(tree) if weights is not None else _counted(tree, verdict)
        names = feature_names(tree)
        stops = self.settings.stop_list.of(tree.head.language) if self.settings.stop_words else frozenset()
        wanted = np.array([self._is_wanted(names[feature], stops) for feature in found[0].tolist()], np.bool_)
        features, values = found[0][wanted], found[1][wanted]
        if self.settings.weighting in ("wplus", "topic"):
            values = values + TITLE_WEIGHT * np.isin(features, _title_features(tree))
        self.names.update((feature, names[feature]) for feature in features.tolist())
        self.rows.append((features, values))

    def vocabulary(self) -> dict[int, str]:
        """The features so far by their hashes, in the order of columns."""
        return dict(sorted(self.names.items(), key=lambda entry: (entry[1], entry[0])))

    def matrix(
        self, vocabulary: dict[int, str] | None = None, rarity: NDArray[np.float64] | None = None
    ) -> FeatureMatrix:
        """All rows as one matrix, weighted by the settings.

        With a vocabulary, only its columns; with the rarity of each column, weighted as in another collection.
        """
        found = self.site_matrix(vocabulary)
        if rarity is not None:
            return replace(found, data=found.data * rarity[found.indices], rarity=rarity)
        if self.settings.weighting == "tfidf":
            return _weighted_by_rarity(found)
        if self.settings.weighting == "cst":
            return found
        from webwinnow.features.weighting import weigh_by_topic, weigh_collection  # noqa: PLC0415 (an optional extra)

        weigh = weigh_by_topic if self.settings.weighting == "topic" else weigh_collection
        return weigh(found, self.sites)

    def site_matrix(self, vocabulary: dict[int, str] | None = None) -> FeatureMatrix:
        """All rows, each weighted by its own site; with a vocabulary, only its columns."""
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
        return FeatureMatrix(data, indices, indptr, self.page_ids, [name for _, name in ordered], keys)

    def _is_wanted(self, name: str, stops: frozenset[str]) -> bool:
        if name.startswith(LINK_PREFIX):
            return "links" in self.settings.kinds
        if name.startswith(IMAGE_PREFIX):
            return "images" in self.settings.kinds
        if "words" not in self.settings.kinds:
            return False
        return not self.settings.stop_words or is_word(name, stops)


def is_word(name: str, stops: frozenset[str]) -> bool:
    """Whether a feature is a word that counts: at least two letters, nothing but letters, not a stop word."""
    return _WORD.fullmatch(name) is not None and name not in stops


def _weighted_by_rarity(matrix: FeatureMatrix) -> FeatureMatrix:
    """Multiply the rows by the inverse document frequency of their features."""
    pages_with = np.bincount(matrix.indices, minlength=len(matrix.vocabulary))
    rarity = np.log((1 + len(matrix.page_ids)) / (1 + pages_with)) + 1
    return replace(matrix, data=matrix.data * rarity[matrix.indices], rarity=rarity)


def _title_features(tree: PageTree) -> Keys:
    return np.array([name_hash(word) for word in set(words(tree.head.title))], np.uint64)


def _counted(tree: PageTree, verdict: Verdict | None) -> tuple[Keys, NDArray[np.float64]]:
    found = page_features(tree)
    kept = found.feature if verdict is None else found.feature[verdict.keeps_features(tree, found)]
    features, counts = np.unique(kept, return_counts=True)
    return features, counts.astype(np.float64)
