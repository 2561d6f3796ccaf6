"""A trained classifier with what it needs to read pages of any site, in one file: arrays and JSON, never code.

Feature weights are not in it: those of a new site are learned from its own pages. The model holds the features by their
hashes, how rare each was in training where the weighting asks, what the classifier learned, and the settings.
"""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.arrays import NOT_ARRAYS, packed_arrays, read_array
from webwinnow.errors import ModelError, SettingsError
from webwinnow.mining.classifiers import MOST_CLASSES, ChiSquareNeighbours, LinearSVM, sparse_rows
from webwinnow.mining.taxonomy import SEPARATOR, Taxonomy
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.urls import SiteKey
from webwinnow.vectors import FeatureMatrix, VectorBuilder, VectorSettings

__all__ = ["FORMAT_VERSION", "METHODS", "ClassModel"]

FORMAT_VERSION = 1
KIND = "classifier"
LARGEST_COLUMN = 1 << 30
"""Bytes of one array of a model file at most."""
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
            "kind": KIND,
            "format_version": FORMAT_VERSION,
            "method": self.method,
            "settings": settings,
            "classes": own.classes_.tolist(),
            "slope": own.slope_,
            "vectors": asdict(self.vectors),
            "separator": self.separator,
            "site_by": self.site_by,
            "about": self.about,
        }
        columns: dict[str, NDArray[Any]] = {
            "about": _json_column(about),
            "names": _json_column(list(self.names)),
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
        return packed_arrays(columns)

    @classmethod
    def load(cls, path: Path) -> ClassModel:
        """Read a model file. Raises `ModelError` for one that is foreign, damaged, newer, or not there."""
        try:
            if path.stat().st_size > LARGEST_COLUMN:
                raise ModelError(f"{path} has more than {LARGEST_COLUMN:,} bytes; no model of classes is so large")
            return cls.from_bytes(path.read_bytes(), str(path))
        except FileNotFoundError:
            raise ModelError(f"{path}: no such file; expected a model of webwinnow classify train") from None
        except OSError as error:
            raise ModelError(f"{path}: cannot be read ({error.strerror})") from None

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> ClassModel:
        """Read a model back; everything in it is checked. Raises `ModelError`."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                about = _json(archive, "about")
                _check_versions(about, name)
                method = about["method"]
                if method not in METHODS:
                    raise ValueError(f"it was trained by a method {str(method)[:40]!r}")
                names = _json(archive, "names")
                types = _TYPES | _OWN_TYPES[method]
                columns = {column: _column(archive, column, dtype) for column, dtype in types.items()}
            return cls._checked(about, names, columns)
        except (*NOT_ARRAYS, TypeError, AttributeError, SettingsError) as error:
            raise ModelError(f"{name} is no model of classes or is damaged ({error}); train it again") from None

    @classmethod
    def _checked(cls, about: dict[str, Any], names: Any, columns: dict[str, NDArray[Any]]) -> ClassModel:
        method, classes, keys = about["method"], about["classes"], columns["key"]
        if not _are_texts(classes) or not 1 <= len(classes) <= MOST_CLASSES or sorted(set(classes)) != classes:
            raise ValueError("its classes are no sorted list of names")
        if not _are_texts(names) or len(names) != len(keys) or len(np.unique(keys)) != len(keys):
            raise ValueError("its features and their names do not fit")
        if not isinstance(about["separator"], str) or not isinstance(about["about"], dict):
            raise ValueError("its settings are of the wrong type")
        if len(columns["rarity"]) not in (0, len(keys)) or len(columns["prior"]) != len(classes):
            raise ValueError("columns of different lengths")
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
        raise ValueError("columns of different lengths")
    classifier.weight_, classifier.bias_ = columns["weight"].reshape(classes, width), columns["bias"]


def _fill_neighbours(classifier: ChiSquareNeighbours, columns: dict[str, NDArray[Any]]) -> None:
    data, indices, indptr, truth = (columns[name] for name in _OWN_TYPES["knn"])
    rows_fit = len(indptr) == len(truth) + 1 and indptr[0] == 0 and indptr[-1] == len(data) == len(indices)
    if not rows_fit or not len(truth) or (np.diff(indptr) < 0).any():
        raise ValueError("columns of different lengths")
    if not _within(indices, classifier.width_) or not _within(truth, len(classifier.classes_)):
        raise ValueError("an index lies outside")
    classifier.rows_, classifier.truth_ = sparse_rows(data, indices, indptr, classifier.width_), truth


def _within(indexes: NDArray[Any], size: int) -> bool:
    return not len(indexes) or bool(indexes.min() >= 0 and indexes.max() < size)


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


def _check_versions(about: Any, name: str) -> None:
    version = about.get("format_version") if isinstance(about, dict) else None
    if not isinstance(version, int) or version < 1 or about.get("kind") != KIND:
        raise ValueError("it does not say that it is one")
    if version > FORMAT_VERSION:
        raise ModelError(f"{name} has format {version}, this webwinnow reads up to {FORMAT_VERSION}; upgrade webwinnow")


def _json_column(told: Any) -> NDArray[np.uint8]:
    return np.frombuffer(json.dumps(told, sort_keys=True).encode(), np.uint8)


def _json(archive: zipfile.ZipFile, name: str) -> Any:
    return json.loads(bytes(_column(archive, name, "u1")))


def _column(archive: zipfile.ZipFile, name: str, dtype: str) -> NDArray[Any]:
    found = read_array(archive, name, LARGEST_COLUMN)
    if found.dtype != np.dtype(dtype) or found.ndim != 1:
        raise ValueError(f"{name} is a {found.ndim}-dimensional array of {found.dtype}")
    return found
