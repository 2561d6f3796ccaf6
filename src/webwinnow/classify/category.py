"""The content category of a page (DocView 6 and 7.1): chi-square chooses features, the nearest neighbours vote.

A model is plain arrays: the features it knows, the training pages as rows over them, their categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import SettingsError
from webwinnow.methods.method_docview import FeatureVector
from webwinnow.settings import Settings, setting
from webwinnow.storage.modelfile import ModelFormat, SavedModel, is_within

SHOWN = 3
"""Differences in cleaning that an error names."""
_DTYPES = {"key": "u8", "row": "i4", "feature": "i4", "weight": "f4", "category": "i4"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CategorySettings(Settings):
    """`features`: the number kept of those that chi-square ranks; `neighbours`: the number of training pages that vote.

    Ours: the paper names neither (Yang and Liu 1999, which it follows, take 45 neighbours of 7,769 stories).
    """

    features: Annotated[int, setting("Features kept.", least=1)] = 5_000
    neighbours: Annotated[int, setting("Training pages that vote.", least=1)] = 15


@dataclass(frozen=True, slots=True, eq=False)
class CategoryModel(SavedModel):
    """Training pages over the chosen features.

    `key` ascending; page `row[i]` has feature `feature[i]` with `weight[i]`, rows of length 1; page r is of category
    `names[category[r]]`. `cleaning` says how the training pages were cleaned (`RunSettings.cleaned_by`); pages to
    classify are cleaned in the same way. It is empty where that is unknown.
    """

    file_format: ClassVar[ModelFormat] = ModelFormat(
        "model of categories", 3, "train it again with: webwinnow classify train --classifier docview"
    )
    key: NDArray[np.uint64]
    row: NDArray[np.int32]
    feature: NDArray[np.int32]
    weight: NDArray[np.float32]
    category: NDArray[np.int32]
    names: tuple[str, ...]
    neighbours: int
    cleaning: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def train(
        cls,
        pages: Sequence[FeatureVector],
        categories: Sequence[str],
        settings: CategorySettings | None = None,
        cleaning: dict[str, Any] | None = None,
    ) -> CategoryModel:
        """Learn from pages and their categories: choose features by their greatest chi-square over the categories."""
        from webwinnow.classify.classifiers import ChiSquareNeighbours, sparse_rows  # noqa: PLC0415 (slow to load)

        settings = settings or CategorySettings()
        if len(pages) != len(categories) or not pages:
            raise SettingsError(f"{len(pages)} pages and {len(categories)} categories: expected one for each, and some")
        keys, feature = np.unique(np.concatenate([page.key for page in pages]), return_inverse=True)
        weight = np.concatenate([page.weight for page in pages])
        rows = sparse_rows(weight, feature, np.cumsum([0, *map(len, pages)]), len(keys))
        known = ChiSquareNeighbours(features=settings.features, folds=0).fit(rows, categories)
        cells = known.rows_.tocoo()
        return cls(
            keys[known.columns_],
            cells.row.astype(np.int32),
            cells.col.astype(np.int32),
            cells.data.astype(np.float32),
            known.truth_.astype(np.int32),
            tuple(known.classes_.tolist()),
            min(settings.neighbours, len(pages)),
            cleaning or {},
        )

    def check_method(self, method: str) -> None:
        """Raise `SettingsError` if the training pages were cleaned by another method."""
        trained = self.cleaning.get("method", method)
        if trained != method:
            raise SettingsError(
                f"the categories were learned from pages cleaned by method {trained}, not {method}: "
                f"clean with {trained}, or train them again"
            )

    def check_cleaning(self, cleaning: dict[str, Any]) -> None:
        """Raise `SettingsError` with the differences if the training pages were not cleaned like this."""
        if not self.cleaning or self.cleaning == cleaning:
            return
        before, now = _flat(self.cleaning), _flat(cleaning)
        differing = [name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]
        shown = "; ".join(f"{name} is {now.get(name)!r}, was {before.get(name)!r}" for name in differing[:SHOWN])
        raise SettingsError(
            f"the categories were learned from pages cleaned in another way: {shown}. Clean as in training (without "
            "--method, --set, --favor, --comments and --task that is so), or train them again with these options"
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

    def to_bytes(self) -> bytes:
        about = {"names": self.names, "neighbours": self.neighbours, "cleaning": self.cleaning}
        return self.file_format.pack(about, {name: getattr(self, name) for name in _DTYPES})

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Self:
        with cls.file_format.reading(data, name) as file:
            names, neighbours, cleaning = (file.about[name] for name in ("names", "neighbours", "cleaning"))
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise ValueError("its categories have no names")
            if not isinstance(cleaning, dict) or not isinstance(neighbours, int) or neighbours < 1:
                raise ValueError("its settings are of the wrong type")
            arrays = file.typed(_DTYPES)
            key, row, feature, weight, category = arrays.values()
            is_whole = len(row) == len(feature) == len(weight) and bool(np.isfinite(weight).all())
            sizes = ((row, len(category)), (feature, len(key)), (category, len(names)))
            if not is_whole or not all(is_within(*pair) for pair in sizes) or (key[1:] <= key[:-1]).any():
                raise ValueError("its arrays do not fit together")
        return cls(**arrays, names=tuple(names), neighbours=neighbours, cleaning=cleaning)


def _flat(plain: dict[str, Any], before: str = "") -> dict[str, Any]:
    """The values of nested dictionaries by their joined names."""
    found: dict[str, Any] = {}
    for name, value in plain.items():
        found |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {f"{before}{name}": value}
    return found
