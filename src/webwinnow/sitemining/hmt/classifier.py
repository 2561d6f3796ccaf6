"""`HiddenMarkovTreeClassifier`: one model a class and the likeliest class, the other way of Sites 3.2."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from webwinnow.arrays import NOT_ARRAYS, packed_arrays, read_array
from webwinnow.errors import InputError, ModelError
from webwinnow.site.archive import write_whole
from webwinnow.sitemining.hmt.forest import Forest
from webwinnow.sitemining.hmt.model import LARGEST_COLUMN, HiddenMarkovTree

__all__ = ["HiddenMarkovTreeClassifier"]


class HiddenMarkovTreeClassifier:
    """Whole trees by maximum likelihood: a model is learned from the trees of each class; a tree belongs to the class
    under whose model it is likeliest. The states mean nothing outside their own model. `model` is the one to learn for
    each class, its settings that is.

    After `fit`: `classes_` in order, and `models_`, one for each.
    """

    def __init__(self, model: HiddenMarkovTree) -> None:
        self.model = model

    def fit(self, forest: Forest, labels: ArrayLike) -> Self:
        """Learn from trees and the class of each, in the order of `forest.roots`."""
        self.classes_: NDArray[Any] = np.zeros(0, "U1")
        self.models_: list[HiddenMarkovTree] = []
        return self.partial_fit(forest, labels)

    def partial_fit(self, forest: Forest, labels: ArrayLike) -> Self:
        """Learn from more trees; classes not met before get a model of their own."""
        given = np.asarray(labels)
        if given.shape != forest.roots.shape or given.dtype.kind not in "iuU":
            raise InputError(
                f"labels of shape {given.shape} and type {given.dtype} for {len(forest.roots)} trees: expected a whole "
                "number or a text for each"
            )
        if not len(given):
            raise InputError("no trees to learn from")
        models = dict(zip(getattr(self, "classes_", np.zeros(0)).tolist(), getattr(self, "models_", []), strict=True))
        if models and {type(name) for name in models} != {type(given[0].item())}:
            raise InputError("labels of another type than those learned before")
        tree = forest.tree
        for name in np.unique(given).tolist():
            model = models.setdefault(name, HiddenMarkovTree(**self.model.settings))
            model.partial_fit(forest.at(np.flatnonzero((given == name)[tree])))
        self.classes_ = np.array(sorted(models))
        self.models_ = [models[name] for name in self.classes_.tolist()]
        return self

    def score_trees(self, forest: Forest) -> NDArray[np.float64]:
        """Log P(W | lambda_c) of each tree, a column a class."""
        self._check_learned()
        return np.stack([model.score_trees(forest) for model in self.models_], axis=1)

    def predict(self, forest: Forest) -> NDArray[Any]:
        """The class of each tree: arg max P(W | lambda_c); the first of equal ones."""
        likeliest = self._possible(forest).argmax(axis=1)
        found: NDArray[Any] = self.classes_[likeliest]
        return found

    def predict_proba(self, forest: Forest) -> NDArray[np.float64]:
        """The probability of each class for each tree, if all classes are as frequent."""
        found = self._possible(forest)
        return np.exp(found - np.logaddexp.reduce(found, axis=1, keepdims=True))

    def to_bytes(self) -> bytes:
        """All models as one `.npz` archive; the same gives the same bytes."""
        self._check_learned()
        columns: dict[str, NDArray[Any]] = {"classes": self.classes_}
        for number, model in enumerate(self.models_):
            columns[f"model_{number}"] = np.frombuffer(model.to_bytes(), np.uint8)
        return packed_arrays(columns)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the classifier") -> Self:
        """Read what `to_bytes` wrote; everything in it is checked. Raises `ModelError`."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                classes = read_array(archive, "classes", LARGEST_COLUMN)
                if classes.ndim != 1 or classes.dtype.kind not in "iuU" or len(np.unique(classes)) != len(classes):
                    raise ValueError("its classes are no row of distinct names")
                packed = [bytes(read_array(archive, f"model_{k}", LARGEST_COLUMN)) for k in range(len(classes))]
        except (*NOT_ARRAYS, TypeError) as error:
            raise ModelError(f"{name} is no classifier of trees or is damaged ({error}); learn it again") from None
        if not packed:
            raise ModelError(f"{name} holds no models; learn it again")
        models = [HiddenMarkovTree.from_bytes(model, name) for model in packed]
        found = cls(HiddenMarkovTree(**models[0].settings))
        found.classes_, found.models_ = classes, models
        return found

    def save(self, path: Path) -> None:
        """Write the classifier to a file, whole or not at all."""
        write_whole(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a classifier from a file."""
        return cls.from_bytes(path.read_bytes(), str(path))

    def _check_learned(self) -> None:
        if not getattr(self, "models_", None):
            raise InputError("the classifier has not learned anything: call fit first")

    def _possible(self, forest: Forest) -> NDArray[np.float64]:
        found = self.score_trees(forest)
        impossible = np.flatnonzero(np.isneginf(found).all(axis=1))
        if len(impossible):
            raise InputError(
                f"{len(impossible)} trees cannot occur under any class, the first with its root at node "
                f"{forest.roots[impossible[0]]}; learn with smoothing"
            )
        return found
