"""A trained classifier with what it needs to read pages of any site, in one file: arrays and JSON, never code.

Feature weights are not in it: those of a new site are learned from its own pages. The model holds the features by their
hashes, how rare each was in training where the weighting asks, what the classifier learned, and the settings.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.mining.classifiers import MOST_CLASSES, ChiSquareNeighbours, LinearSVM, sparse_rows
from webwinnow.mining.taxonomy import SEPARATOR, Taxonomy
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.storage import ModelFile, ModelFormat, is_within
from webwinnow.urls import SiteKey
from webwinnow.vectors import FeatureMatrix, VectorBuilder, VectorSettings

FORMAT = ModelFormat("classifier", 2, "train it again")
METHODS: dict[str, type[LinearSVM] | type[ChiSquareNeighbours]] = {"svm": LinearSVM, "knn": ChiSquareNeighbours}
_TYPES = {"key": "u8", "rarity": "f8", "prior": "f8"}
_OWN_TYPES = {
    "svm": {"weight": "f4", "bias": "f8"},
    "knn": {"row_data": "f8", "row_indices": "i4", "row_indptr": "i8", "truth": "i8"},
}
_OWN_SETTINGS = {"svm": ("features", "cost", "folds", "seed"), "knn": ("features", "neighbours", "folds", "seed")}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassModel:
    """A classifier over the columns `keys`, called `names`; `rarity` is empty where columns are not multiplied.

    `about` is for people: how many pages it was trained on, how well held-out pages were told.
    """

    method: str
    classifier: LinearSVM | ChiSquareNeighbours
    keys: NDArray[np.uint64]
    names: tuple[str, ...]
    rarity: NDArray[np.float64]
    vectors: VectorSettings
    separator: str = SEPARATOR
    site_by: str = "host"
    about: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        method: str,
        classifier: LinearSVM | ChiSquareNeighbours,
        matrix: FeatureMatrix,
        vectors: VectorSettings,
        **others: Any,
    ) -> ClassModel:
        """The model of a classifier that was fitted to a matrix; columns that it does not use are left behind."""
        columns = classifier.columns_
        own = copy.copy(classifier)
        own.columns_, own.width_, own.held_out_ = np.arange(len(columns)), len(columns), None
        rarity = np.zeros(0) if matrix.rarity is None else matrix.rarity[columns]
        names = tuple(matrix.vocabulary[column] for column in columns.tolist())
        return cls(
            method=method,
            classifier=own,
            keys=matrix.keys[columns],
            names=names,
            rarity=rarity,
            vectors=vectors,
            **others,
        )

    @property
    def taxonomy(self) -> Taxonomy:
        """The levels of the classes."""
        return Taxonomy(self.classifier.classes_.tolist(), self.separator)

    def rows(self, builder: VectorBuilder) -> Any:
        """The pages of a builder over the model's columns, a CSR array."""
        vocabulary = dict(zip(self.keys.tolist(), self.names, strict=True))
        found = builder.matrix(vocabulary, self.rarity if len(self.rarity) else np.ones(len(self.keys)))
        return sparse_rows(found.data, found.indices, found.indptr, len(self.keys))

    # To and from bytes

    def to_bytes(self) -> bytes:
        """The model as a `.npz` archive; the same model gives the same bytes."""
        own = self.classifier
        settings = {name: getattr(own, name) for name in _OWN_SETTINGS[self.method]}
        about = {
            "method": self.method,
            "names": self.names,
            "settings": settings,
            "classes": own.classes_.tolist(),
            "slope": own.slope_,
            "vectors": asdict(self.vectors),
            "separator": self.separator,
            "site_by": self.site_by,
            "about": self.about,
        }
        columns: dict[str, NDArray[Any]] = {
            "key": self.keys,
            "rarity": self.rarity,
            "prior": own.prior_,
        }
        if isinstance(own, LinearSVM):
            columns |= {"weight": own.weight_.ravel(), "bias": own.bias_}
        else:
            rows = own.rows_
            columns |= {
                "row_data": rows.data.astype(np.float64),
                "row_indices": rows.indices.astype(np.int32),
                "row_indptr": rows.indptr.astype(np.int64),
                "truth": own.truth_,
            }
        return FORMAT.pack(about, columns)

    @classmethod
    def load(cls, path: Path) -> ClassModel:
        """Read a model file. Raises `ModelError`."""
        return cls.from_bytes(FORMAT.load(path), str(path))

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> ClassModel:
        """Read a model; everything in it is validated. Raises `ModelError`."""
        with FORMAT.reading(data, name) as file:
            return cls._checked(file)

    @classmethod
    def _checked(cls, file: ModelFile) -> ClassModel:
        about = file.about
        method, classes, names = about["method"], about["classes"], about["names"]
        if method not in METHODS:
            raise ValueError(f"it was trained by a method {str(method)[:40]!r}")
        columns = file.typed(_TYPES | _OWN_TYPES[method])
        keys = columns["key"]
        if not _are_texts(classes) or not 1 <= len(classes) <= MOST_CLASSES or sorted(set(classes)) != classes:
            raise ValueError("its classes are no sorted list of names")
        if not _are_texts(names) or len(names) != len(keys) or len(np.unique(keys)) != len(keys):
            raise ValueError("its features and their names do not fit")
        if not isinstance(about["separator"], str) or not isinstance(about["about"], dict):
            raise ValueError("its settings are of the wrong type")
        if len(columns["rarity"]) not in (0, len(keys)) or len(columns["prior"]) != len(classes):
            raise ValueError("arrays of different lengths")
        if not all(np.isfinite(column).all() for column in columns.values() if column.dtype.kind == "f"):
            raise ValueError("weights that are no numbers")
        slope = about["slope"]
        if not isinstance(slope, float) or not 0 < slope < float("inf"):
            raise ValueError("a slope that is no number above 0")
        classifier = METHODS[method](**_settings(about["settings"], _OWN_SETTINGS[method]))
        classifier.classes_ = np.array(classes, np.str_)
        classifier.prior_, classifier.slope_ = columns["prior"], slope
        classifier.columns_, classifier.width_ = np.arange(len(keys)), len(keys)
        if isinstance(classifier, LinearSVM):
            _fill_svm(classifier, columns)
        else:
            _fill_neighbours(classifier, columns)
        return cls(
            method=method,
            classifier=classifier,
            keys=keys,
            names=tuple(names),
            rarity=columns["rarity"],
            vectors=_vector_settings(about["vectors"]),
            separator=about["separator"],
            site_by=_site_by(about["site_by"]),
            about=about["about"],
        )


def _fill_svm(classifier: LinearSVM, columns: dict[str, NDArray[Any]]) -> None:
    classes, width = len(classifier.classes_), classifier.width_
    if len(columns["weight"]) != classes * width or len(columns["bias"]) != classes:
        raise ValueError("arrays of different lengths")
    classifier.weight_, classifier.bias_ = columns["weight"].reshape(classes, width), columns["bias"]


def _fill_neighbours(classifier: ChiSquareNeighbours, columns: dict[str, NDArray[Any]]) -> None:
    data, indices, indptr, truth = (columns[name] for name in _OWN_TYPES["knn"])
    rows_fit = len(indptr) == len(truth) + 1 and indptr[0] == 0 and indptr[-1] == len(data) == len(indices)
    if not rows_fit or not len(truth) or (np.diff(indptr) < 0).any():
        raise ValueError("arrays of different lengths")
    if not is_within(indices, classifier.width_) or not is_within(truth, len(classifier.classes_)):
        raise ValueError("an index is out of range")
    classifier.rows_, classifier.truth_ = sparse_rows(data, indices, indptr, classifier.width_), truth


def _are_texts(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(text, str) for text in found)


def _settings(found: Any, names: Sequence[str]) -> dict[str, Any]:
    """The settings of a classifier: numbers, under these names."""
    if not isinstance(found, dict) or set(found) != set(names):
        raise ValueError("its settings are not those of its method")
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in found.values()):
        raise ValueError("its settings are no numbers")
    if any(not isinstance(value, int) for name, value in found.items() if name != "cost"):
        raise ValueError("its settings are no whole numbers")
    return found


def _vector_settings(plain: Any) -> VectorSettings:
    """What `asdict` made of the settings of feature vectors; raises for what this program does not know."""
    if not isinstance(plain, dict) or not _are_texts(plain.get("kinds")) or not isinstance(plain.get("weights"), dict):
        raise ValueError("its settings of feature vectors are of the wrong type")
    if not isinstance(plain.get("weighting"), str):
        raise ValueError("its weighting has no name")
    weights = CstWeightSettings(**plain["weights"])
    return VectorSettings(**plain | {"kinds": tuple(plain["kinds"]), "weights": weights})


def _site_by(told: Any) -> str:
    SiteKey.parse(told)
    return str(told)
