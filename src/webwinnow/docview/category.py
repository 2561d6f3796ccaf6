"""The content category of a page (DocView 6 and 7.1): chi-square chooses features, the nearest neighbours vote.

A model is plain arrays: the features it knows, the training pages as rows over them, their categories. It is saved as
`.npz` (never pickle) and checked when read.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.arrays import NOT_ARRAYS, packed_arrays, read_array
from webwinnow.docview.weights import FeatureVector
from webwinnow.errors import ModelError, SettingsError

__all__ = ["CategoryModel", "CategorySettings", "chi_square"]

FORMAT_VERSION = 1
LARGEST_COLUMN = 1 << 30
"""Bytes of one array of a model file at most."""
_COLUMNS = ("format_version", "key", "row", "feature", "weight", "category", "names", "neighbours")


@dataclass(frozen=True, slots=True, kw_only=True)
class CategorySettings:
    """`features`: how many are kept of those that chi-square ranks; `neighbours`: how many training pages vote.

    Ours: the paper names neither (Yang and Liu 1999, which it follows, take 45 neighbours of 7,769 stories).
    """

    features: int = 5_000
    neighbours: int = 15

    def __post_init__(self) -> None:
        for name in ("features", "neighbours"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected 1 or more")


def chi_square(
    together: NDArray[np.float64], of_feature: NDArray[np.float64], of_category: NDArray[np.float64], pages: int
) -> NDArray[np.float64]:
    """The chi-square statistic of each feature (rows) and category (columns) (Yang and Pedersen 1997, 2.4).

    `together[f, c]` is A: pages of category c with feature f. B has the feature and another category, C the category
    without the feature, D neither; the statistic is `N (A D - C B)^2 / ((A + C)(B + D)(A + B)(C + D))`.
    """
    a = together
    b = of_feature[:, None] - a
    c = of_category[None, :] - a
    d = pages - a - b - c
    bottom = (a + c) * (b + d) * (a + b) * (c + d)
    top = pages * np.square(a * d - c * b)
    found: NDArray[np.float64] = np.divide(top, bottom, out=np.zeros_like(a), where=bottom > 0)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class CategoryModel:
    """Training pages over the chosen features.

    `key` ascending; page `row[i]` has feature `feature[i]` with `weight[i]`, rows of length 1; page r is of category
    `names[category[r]]`.
    """

    key: NDArray[np.uint64]
    row: NDArray[np.int32]
    feature: NDArray[np.int32]
    weight: NDArray[np.float32]
    category: NDArray[np.int32]
    names: tuple[str, ...]
    neighbours: int

    @classmethod
    def train(
        cls, pages: Sequence[FeatureVector], categories: Sequence[str], settings: CategorySettings | None = None
    ) -> CategoryModel:
        """Learn from pages and their categories: choose features by their greatest chi-square over the categories."""
        settings = settings or CategorySettings()
        if len(pages) != len(categories) or not pages:
            raise SettingsError(f"{len(pages)} pages and {len(categories)} categories: expected one for each, and some")
        names = tuple(sorted(set(categories)))
        category = np.array([names.index(name) for name in categories], np.int32)
        row = np.repeat(np.arange(len(pages), dtype=np.int32), [len(page) for page in pages])
        keys, feature = np.unique(np.concatenate([page.key for page in pages]), return_inverse=True)
        weight = np.concatenate([page.weight for page in pages])
        cell = feature * len(names) + category[row]
        together = np.bincount(cell, minlength=len(keys) * len(names)).reshape(len(keys), len(names)).astype(np.float64)
        of_category = np.bincount(category, minlength=len(names)).astype(np.float64)
        best = chi_square(together, together.sum(axis=1), of_category, len(pages)).max(axis=1, initial=0.0)
        chosen = np.sort(np.lexsort((keys, -np.round(best, 6)))[: settings.features])
        place = np.full(len(keys), -1, np.int64)
        place[chosen] = np.arange(len(chosen))
        inside = place[feature] >= 0
        row, weight = row[inside], weight[inside]
        length = np.sqrt(np.bincount(row, weights=np.square(weight), minlength=len(pages)))
        return cls(
            keys[chosen],
            row,
            place[feature[inside]].astype(np.int32),
            (weight / length[row]).astype(np.float32),
            category,
            names,
            min(settings.neighbours, len(pages)),
        )

    def scores(self, page: FeatureVector) -> NDArray[np.float64]:
        """For each category the sum of the cosines of the nearest training pages that belong to it (Yang and Liu)."""
        weight = page.weight_of(self.key)
        length = float(np.sqrt(np.square(weight).sum()))
        if not length:
            return np.zeros(len(self.names))
        like = np.bincount(
            self.row, weights=self.weight * (weight / length)[self.feature], minlength=len(self.category)
        )
        nearest = np.lexsort((np.arange(len(like)), -np.round(like, 6)))[: self.neighbours]
        votes = np.bincount(self.category[nearest], weights=np.round(like[nearest], 6), minlength=len(self.names))
        return votes.astype(np.float64)

    def category_of(self, page: FeatureVector) -> str | None:
        """The category of a page; None where it shares no feature with the training pages."""
        scores = self.scores(page)
        return self.names[int(np.argmax(scores))] if scores.any() else None

    def save(self, path: Path) -> None:
        """Write the model as one `.npz` of arrays."""
        columns: dict[str, NDArray[Any]] = {
            "format_version": np.array([FORMAT_VERSION], np.int64),
            "key": self.key,
            "row": self.row,
            "feature": self.feature,
            "weight": self.weight,
            "category": self.category,
            "names": np.array(self.names, np.str_),
            "neighbours": np.array([self.neighbours], np.int64),
        }
        path.write_bytes(packed_arrays(columns))

    @classmethod
    def load(cls, path: Path) -> CategoryModel:
        """Read a model. Raises `ModelError` for a file that is none, or damaged."""
        try:
            with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
                columns = {name: read_array(archive, name, LARGEST_COLUMN) for name in _COLUMNS}
            return cls._checked(columns)
        except FileNotFoundError:
            raise ModelError(
                f"{path}: no such file; expected a model of categories (webwinnow classify train --classifier docview)"
            ) from None
        except NOT_ARRAYS as error:
            raise ModelError(f"{path} is no model of categories: {error}") from None

    @classmethod
    def _checked(cls, columns: dict[str, NDArray[np.generic]]) -> CategoryModel:
        kinds = {"key": "u8", "row": "i4", "feature": "i4", "weight": "f4", "category": "i4"}
        for name, kind in kinds.items():
            if columns[name].dtype != np.dtype(kind) or columns[name].ndim != 1:
                raise ValueError(f"{name} has the wrong type")
        if columns["format_version"].tolist() != [FORMAT_VERSION] or columns["names"].dtype.kind != "U":
            raise ValueError("another format")
        key, row, feature, weight, category = (np.asarray(columns[name]) for name in kinds)
        names = tuple(str(name) for name in columns["names"].tolist())
        (neighbours,) = columns["neighbours"].tolist()
        sizes = ((row, len(category)), (feature, len(key)), (category, len(names)))
        if len({len(row), len(feature), len(weight)}) > 1 or not isinstance(neighbours, int) or neighbours < 1:
            raise ValueError("columns of different lengths")
        if any(len(column) and (int(column.min()) < 0 or int(column.max()) >= size) for column, size in sizes):
            raise ValueError("an index lies outside")
        if (key[1:] <= key[:-1]).any() or not np.isfinite(weight).all():
            raise ValueError("keys out of order, or weights that are no numbers")
        return cls(key, row, feature, weight, category, names, neighbours)
