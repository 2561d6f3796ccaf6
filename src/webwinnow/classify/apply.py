"""Predict the classes of the pages of a collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, Unpack

import numpy as np

from webwinnow.classify.classmodel import ClassModel
from webwinnow.errors import SettingsError
from webwinnow.features.run import WeighedPage, weighed_pages
from webwinnow.features.vectors import VectorBuilder
from webwinnow.page.urls import SiteKey
from webwinnow.record.fields import Field, FieldKind, Fields
from webwinnow.run.outputs import check_apart, check_output, output_format, write_output
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.settings import CollectionSettings
from webwinnow.settings import Settings, share

PAGES_AT_ONCE: Final = 1000
"""Pages that are classified at once, so that memory does not grow with the input."""
NO_FEATURES: Final = "the page says nothing that counts"
NOT_MET: Final = "nothing that the page says was met in training"
RETRAIN: Final = "train the model with --weighting tfidf"
"""What to do where a model needs HTML and records are given."""
NONE_OF_THESE: Final = "none of these classes"
UNCERTAIN: Final = "the class has a probability below"


class Applied(NamedTuple):
    """The numbers of pages, in all, by class, of none of the classes, empty and failed."""

    pages: int
    labels: Counter[str]
    none: int
    empty: int
    failed: int


def class_fields(depth: int) -> Fields:
    """The fields of `classify apply`; where labels are paths, with a label and probability for each level."""
    levels = [
        field
        for level in range(1, depth + 1 if depth > 1 else 1)
        for field in (
            Field(f"level_{level}", about="the topic at this level"),
            Field(f"level_{level}_probability", FieldKind.NUMBER, about="of that topic, the sum over its classes"),
        )
    ]
    return (
        Field("page_id", about="as the input had it"),
        Field("url", about="the page's URL"),
        Field("site", about="the site that the page was taken to belong to"),
        Field("outcome", about="what became of the page", values=("labelled", "none", "empty", "failed")),
        Field("reason", about="why it has no label"),
        Field("label", about="the class of the page"),
        Field("probability", FieldKind.NUMBER, about="of that class"),
        Field("second", about="the likeliest of the other classes"),
        Field("second_probability", FieldKind.NUMBER, about="of that class"),
        Field("none", FieldKind.NUMBER, about="probability of none of the classes"),
        *levels,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Certainty(Settings):
    """When a page has a class.

    - `none`: least probability of none of the classes for that answer; None for no such answer.
    - `least`: least probability of the class.
    """

    none: Annotated[float | None, share("Least probability of none of the classes for that answer.")] = None
    least: Annotated[float, share("Least probability of the class.")] = 0.0

    def why_none(self, probability: float, none: float) -> str | None:
        """Why a page has no class, or None if it has one."""
        if self.none is not None and none >= self.none:
            return NONE_OF_THESE
        return f"{UNCERTAIN} {self.least:g}" if probability < self.least else None


def apply_classes(
    model: ClassModel,
    inputs: Sequence[str | Path],
    out: str | Path,
    collecting: CollectionSettings,
    *,
    certainty: Certainty | None = None,
    format: str | None = None,
    **options: Unpack[OpenOptions],
) -> Applied:
    """Write one line per page, in the order (site, input ordinal), with its class and probability.

    A page that `certainty` gives no class has the outcome `none`, and its most probable class is `second`.
    """
    certainty = certainty or Certainty()
    wanted = output_format(out, format)
    if wanted not in ("jsonl", "csv", "parquet"):
        raise SettingsError(f"classes are written as jsonl, csv or parquet, not {wanted}")
    check_output(out, wanted)
    check_apart(inputs, out)
    counts: Counter[str] = Counter()
    labels: Counter[str] = Counter()

    def records(collection: ParsedCollection) -> Iterator[dict[str, Any]]:
        weighed = _shown(weighed_pages(collection, model.vectors, RETRAIN), collection)
        while part := list(islice(weighed, PAGES_AT_ONCE)):
            for record in _records(model, part, collection.settings.site_by, certainty):
                counts[record["outcome"]] += 1
                if record["label"] is not None:
                    labels[record["label"]] += 1
                yield record

    with ParsedCollection.open(inputs, collecting, records=True, **options) as collection:
        write_output(records(collection), out, wanted, fields=class_fields(model.taxonomy.depth))
        return Applied(collection.page_count, labels, counts["none"], counts["empty"], counts["failed"])


def _shown(weighed: Iterator[WeighedPage], collection: ParsedCollection) -> Iterator[WeighedPage]:
    """The pages, with progress."""
    total = collection.page_count
    for done, page in enumerate(weighed, start=1):
        collection.progress("weigh", done, total)
        yield page


def _records(
    model: ClassModel, pages: Sequence[WeighedPage], site_by: SiteKey, certainty: Certainty
) -> Iterator[dict[str, Any]]:
    builder = VectorBuilder(model.vectors)
    for row, tree, weights in pages:
        builder.add(row.name, tree, weights)
    has_features = [len(features) > 0 for features, _ in builder.rows]
    vectors = model.rows(builder)
    known = model.classifier.known(vectors)
    probability = model.classifier.predict_proba(vectors)
    none = model.classifier.none_probability(vectors)
    taxonomy = model.taxonomy
    topics, certain = taxonomy.predict(probability)
    for n, (row, _, _) in enumerate(pages):
        site = site_by.name(row.site, row.url)
        record: dict[str, Any] = {"page_id": row.page_id, "url": row.url, "site": site, "label": None}
        if row.ref is None:
            yield record | {"outcome": "failed", "reason": row.error}
        elif not known[n]:
            yield record | {"outcome": "empty", "reason": NOT_MET if has_features[n] else NO_FEATURES}
        elif why := certainty.why_none(float(certain[n, -1]), float(none[n])):
            record |= {"outcome": "none", "reason": why, "none": float(none[n])}
            record["second"] = taxonomy.names[-1][topics[n, -1]]
            yield record | {"second_probability": round(float(certain[n, -1]), 6)}
        else:
            chosen = topics[n].tolist()
            label = taxonomy.names[-1][chosen[-1]]
            record |= {"none": float(none[n]), "outcome": "labelled", "label": label}
            record["probability"] = round(float(certain[n, -1]), 6)
            if len(taxonomy.classes) > 1:
                others = np.where(model.classifier.classes_ == label, -1.0, probability[n])
                second = int(others.argmax())
                record |= {"second": taxonomy.classes[second], "second_probability": round(float(others[second]), 6)}
            for level, topic in enumerate(chosen if taxonomy.depth > 1 else [], start=1):
                record[f"level_{level}"] = taxonomy.names[level - 1][topic]
                record[f"level_{level}_probability"] = round(float(certain[n, level - 1]), 6)
            yield record
