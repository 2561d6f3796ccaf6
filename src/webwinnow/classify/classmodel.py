"""`ClassModel`: a trained classifier with what it needs to read pages of any site, and its file. `Taxonomy`: classes
whose names are paths.

Feature weights are not in a model: those of a new site are learned from its own pages. It has the hashes of the
features, their rarity in training if the weighting uses it, what the classifier learned, and the settings.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.classify.classifiers import MOST_CLASSES, ChiSquareNeighbours, Classifier, LinearSVM
from webwinnow.features.vectors import FeatureMatrix, VectorBuilder, VectorSettings
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey
from webwinnow.page.words import StopList
from webwinnow.record.cleaner import CleanPage
from webwinnow.site.featureweights import CstWeightSettings, FeatureWeights
from webwinnow.storage.modelfile import ModelFormat, SavedModel

METHODS: dict[str, type[LinearSVM] | type[ChiSquareNeighbours]] = {"svm": LinearSVM, "knn": ChiSquareNeighbours}
SEPARATOR = "/"
MOST_LEVELS = 8
"""Deeper paths end here: the rest is one name. The paper's tree has 3 levels."""


class Taxonomy:
    """A tree of topics from classes whose names are paths (`science/physics/optics`), and its levels.

    The classification system of DocView 7.1 has 739 topics in a tree of depth 3. Here the classifier distinguishes the
    classes, whatever their depth; the probability of a topic is the sum over the classes below it. An empty separator
    means plain names: one level.

    `names[level]` are the topics of a level, sorted; `topic[level][c]` is the topic of class c. A class that ends above
    a level keeps its own name there, so the topics of the last level are the classes.
    """

    def __init__(self, classes: Sequence[str], separator: str = SEPARATOR) -> None:
        self.separator = separator
        self.classes = tuple(classes)
        paths = [self.path(name) for name in self.classes]
        self.depth = max(map(len, paths), default=1)
        self.names: list[tuple[str, ...]] = []
        self.topic: list[NDArray[np.int64]] = []
        for level in range(self.depth):
            found, topic = np.unique([separator.join(path[: level + 1]) for path in paths], return_inverse=True)
            self.names.append(tuple(str(name) for name in found.tolist()))
            self.topic.append(topic.astype(np.int64))

    def path(self, label: str) -> tuple[str, ...]:
        """The names on the path to a class, without blank ones. NUL is blank: arrays of texts drop it."""
        label = label.replace("\0", " ")
        if not self.separator:
            return (label.strip(),)
        found = [name.strip() for name in label.split(self.separator)]
        found = [name for name in found if name]
        last = found[MOST_LEVELS - 1 :]
        return (*found[: MOST_LEVELS - 1], self.separator.join(last)) if last else tuple(found) or (label.strip(),)

    def tidy(self, label: str) -> str:
        """The canonical spelling of a label: no blanks around names, no empty ones."""
        return self.separator.join(self.path(label))

    def at(self, label: str, level: int) -> str:
        """The topic of a label at a level (from 0)."""
        return self.separator.join(self.path(label)[: level + 1])

    def probabilities(self, probability: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """For each level the probability of each topic (columns): the sum over its classes."""
        levels = []
        for names, topic in zip(self.names, self.topic, strict=True):
            summed = np.zeros((len(probability), len(names)))
            np.add.at(summed.T, topic, probability.T)
            levels.append(summed)
        return levels

    def predict(self, probability: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The most probable class and the topics above it: (pages, levels) of topics, and of their probabilities.

        So a page's labels are on one path. Choosing from the top down is no better: see docs/classify.md.
        """
        best = probability.argmax(axis=1)
        chosen = np.stack([topic[best] for topic in self.topic], axis=1)
        certain = [
            found[np.arange(len(best)), chosen[:, level]] for level, found in enumerate(self.probabilities(probability))
        ]
        return chosen, np.stack(certain, axis=1)


class PageClass(NamedTuple):
    """The class of a page, its probability, and the probability of none of the classes."""

    label: str | None
    probability: float
    none: float

    def is_certain(self, none: float | None, least: float) -> bool:
        """Whether the class has the probability `least` or more, and none of the classes less than `none`, if given."""
        return (none is None or self.none < none) and self.probability >= least


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassModel(SavedModel):
    """A classifier over the columns `keys`, called `names`; `rarity` is empty if columns are not multiplied by it.

    `about` is for people: the number of training pages, the scores on held-out pages.
    """

    file_format: ClassVar[ModelFormat] = ModelFormat("classifier", 2, "train it again with `webwinnow classify train`")
    method: str
    classifier: Classifier
    keys: NDArray[np.uint64]
    names: tuple[str, ...]
    rarity: NDArray[np.float64]
    vectors: VectorSettings
    separator: str = SEPARATOR
    site_by: str = "host"
    about: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, method: str, classifier: Classifier, matrix: FeatureMatrix, vectors: VectorSettings, **others: Any
    ) -> ClassModel:
        """The model of a classifier that was fitted to a matrix, with the columns that it uses."""
        columns = classifier.columns_
        chosen = copy.copy(classifier)
        chosen.columns_, chosen.width_, chosen.held_out_ = np.arange(len(columns)), len(columns), None
        return cls(
            method=method,
            classifier=chosen,
            keys=matrix.keys[columns],
            names=tuple(matrix.vocabulary[column] for column in columns.tolist()),
            rarity=np.zeros(0) if matrix.rarity is None else matrix.rarity[columns],
            vectors=vectors,
            **others,
        )

    @property
    def taxonomy(self) -> Taxonomy:
        return Taxonomy(self.classifier.classes_.tolist(), self.separator)

    def rows(self, builder: VectorBuilder) -> Any:
        """The pages of a builder over the model's columns, a CSR array."""
        vocabulary = dict(zip(self.keys.tolist(), self.names, strict=True))
        return builder.matrix(vocabulary, self.rarity if len(self.rarity) else np.ones(len(self.keys))).rows()

    def classify(self, page: CleanPage | PageTree, weights: FeatureWeights | None = None) -> PageClass:
        """The class of one page, for example to fill the category of its record.

        Words are weighted by `weights`, those of the page's site; or by its site if the page is a `CleanPage` whose
        site model has the part `cst`; and by their counts otherwise. A page without a word of the model has no class.
        """
        tree, site = (page, None) if isinstance(page, PageTree) else (page.tree, page.model)
        if weights is None and self.vectors.learns_sites and site is not None and "cst" in site.parts:
            weights = site.feature_weights(self.vectors.weights)
        builder = VectorBuilder(self.vectors)
        builder.add("", tree, weights)
        rows = self.rows(builder)
        if not self.classifier.known(rows)[0]:
            return PageClass(None, 0.0, 1.0)
        probability = self.classifier.predict_proba(rows)[0]
        best = int(probability.argmax())
        label, none = str(self.classifier.classes_[best]), float(self.classifier.none_probability(rows)[0])
        return PageClass(label, round(float(probability[best]), 6), none)

    def to_bytes(self) -> bytes:
        classifier = self.classifier
        about = {
            "method": self.method,
            "settings": classifier.settings,
            "classes": classifier.classes_.tolist(),
            "slope": classifier.slope_,
            "names": self.names,
            "vectors": asdict(self.vectors),
            "separator": self.separator,
            "site_by": self.site_by,
            "about": self.about,
        }
        return self.file_format.pack(
            about, {"key": self.keys, "rarity": self.rarity, "prior": classifier.prior_} | classifier.to_arrays()
        )

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Self:
        with cls.file_format.reading(data, name) as file:
            about = file.about
            kind = METHODS[about["method"]]
            arrays = file.typed({"key": "u8", "rarity": "f8", "prior": "f8"} | kind.array_types)
            classes, names, slope, keys = about["classes"], about["names"], about["slope"], arrays["key"]
            if not (_are_texts(classes) and _are_texts(names) and isinstance(about["about"], dict)):
                raise ValueError("its classes or features have no names")
            if not isinstance(about["separator"], str) or not isinstance(slope, float) or not 0 < slope < float("inf"):
                raise ValueError("its separator or its slope is of the wrong type")
            if not 1 <= len(classes) <= MOST_CLASSES or sorted(set(classes)) != classes:
                raise ValueError("its classes are not a sorted list of names")
            lengths = len(names) == len(np.unique(keys)), len(arrays["prior"]) == len(classes)
            if not all(lengths) or len(arrays["rarity"]) not in (0, len(keys)) or len(keys) != len(names):
                raise ValueError("arrays of different lengths")
            if not all(np.isfinite(array).all() for array in arrays.values()):
                raise ValueError("weights that are not finite numbers")
            classifier = kind(**_numbers(about["settings"], kind().settings))
            classifier.classes_ = np.array(classes, object)
            classifier.prior_, classifier.slope_ = arrays["prior"], slope
            classifier.columns_, classifier.width_ = np.arange(len(keys)), len(keys)
            classifier.set_arrays(arrays)
            SiteKey.parse(about["site_by"])
            return cls(
                method=about["method"],
                classifier=classifier,
                keys=keys,
                names=tuple(names),
                rarity=arrays["rarity"],
                vectors=_vector_settings(about["vectors"]),
                separator=about["separator"],
                site_by=about["site_by"],
                about=about["about"],
            )


def _are_texts(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(text, str) for text in found)


def _numbers(found: Any, names: Collection[str]) -> dict[str, Any]:
    """The settings of a classifier: whole numbers under these names, except `cost`."""
    if not isinstance(found, dict) or set(found) != set(names):
        raise ValueError("its settings are not those of its method")
    for name, value in found.items():
        if isinstance(value, bool) or not isinstance(value, int | float if name == "cost" else int):
            raise ValueError(f"its setting {name} is {str(value)[:40]!r}")
    return found


def _vector_settings(plain: Any) -> VectorSettings:
    """The result of `asdict` for the settings of feature vectors; raises for unknown settings."""
    if not isinstance(plain, dict) or not _are_texts(plain.get("kinds")) or not isinstance(plain.get("weights"), dict):
        raise ValueError("its settings of feature vectors are of the wrong type")
    if not isinstance(plain.get("weighting"), str):
        raise ValueError("its weighting has no name")
    weights = CstWeightSettings(**plain["weights"])
    stops = StopList.from_plain(plain["stop_list"])
    return VectorSettings(**plain | {"kinds": tuple(plain["kinds"]), "weights": weights, "stop_list": stops})
