"""Learn content categories (DocView 6 and 7.1) from pages that are cleaned like those that will get a category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, Unpack

import numpy as np

from webwinnow.classify.category import CategoryModel, CategorySettings
from webwinnow.errors import InputError, SettingsError
from webwinnow.methods.method_docview import FeatureVector
from webwinnow.page.records import PageRecord
from webwinnow.run.outputparts import clean_all
from webwinnow.run.pagestore import read_parts
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.settings import RunSettings
from webwinnow.run.tablefiles import check_label_column, read_labels


class TrainedCategories(NamedTuple):
    """A model, and the number of pages learned from, without a label, and that could not be read."""

    model: CategoryModel
    learned: int
    without_label: int
    failed: int


def train_categories(
    inputs: Sequence[str | Path],
    settings: CategorySettings,
    cleaning: RunSettings,
    *,
    label: str | None = None,
    labels: Path | None = None,
    **options: Unpack[OpenOptions],
) -> TrainedCategories:
    """Learn categories from pages whose label is in the column `label`, or in the file `labels`.

    Pages are cleaned as `webwinnow clean` cleans them with these settings; pages without a label help to learn their
    site. Raises `InputError` where no page has a label.
    """
    if (label is None) == (labels is None):
        raise SettingsError("expected either a column of labels (--label) or a file of labels (--labels)")
    if label is not None:
        check_label_column(inputs, label)
    known = {} if labels is None else read_labels(labels)
    label_of: dict[int, str] = {}

    def noted(pages: Iterator[PageRecord]) -> Iterator[PageRecord]:
        for page in pages:
            found = page.label or known.get(page.page_id or "") or known.get(page.url)
            if found is not None:
                label_of[page.ordinal] = found
            yield page

    run = replace(cleaning, vectors=True, replicas=None, categories=None)
    vectors: list[FeatureVector] = []
    categories: list[str] = []
    pages = failed = 0
    with ParsedCollection.open(inputs, run, pages=noted, label=label, **options) as collection:
        store = collection.store
        clean_all(store, collection.pool, run, collection.progress)
        lines = read_parts(store.part_path(number) for number, _ in store.parts())
        for row, line in zip(collection.rows(), lines, strict=True):
            pages += 1
            if line["key"] is None:
                failed += 1
            elif row.ordinal in label_of:
                vectors.append(_vector(line))
                categories.append(label_of[row.ordinal])
    if not vectors:
        raise InputError(f"{labels or label}: no page has a label; expected its page_id or url, and a label")
    model = CategoryModel.train(vectors, categories, settings, run.cleaned_by())
    return TrainedCategories(model, len(vectors), pages - failed - len(vectors), failed)


def _vector(line: dict[str, list[float]]) -> FeatureVector:
    key = np.array(line["key"], np.uint64)
    return FeatureVector(key, np.array(line["weight"], np.float64), np.zeros(len(key), np.int64))
