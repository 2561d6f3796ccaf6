"""Classify a collection: vectors as by `features`, then train, or predict the classes of pages.

The labels for training come with the pages, or from a file. Cross-validation holds out whole sites where it can, so
that a site's design is not mistaken for the class. A site without training pages is learned from its own pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from webwinnow.classify.classifiers import (
    COST,
    FOLDS,
    KNN_FEATURES,
    NEIGHBOURS,
    SVM_FEATURES,
    ChiSquareNeighbours,
    Folds,
    LinearSVM,
    sparse_rows,
)
from webwinnow.classify.classmodel import METHODS, SEPARATOR, ClassModel, Taxonomy
from webwinnow.classify.scores import ClassScores, Reliability
from webwinnow.counted import counted
from webwinnow.errors import InputError, SettingsError
from webwinnow.features.featurefile import WeighedPage, weighed_pages
from webwinnow.features.vectors import FeatureMatrix, VectorBuilder, VectorSettings
from webwinnow.page.records import PageRecord
from webwinnow.page.urls import SiteKey
from webwinnow.plugins import meant
from webwinnow.progress import Progress
from webwinnow.record.fields import Field, FieldKind, Fields
from webwinnow.run.outputs import check_apart, check_output, output_format, write_output
from webwinnow.run.pagestore import PageRow
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.settings import CollectionSettings
from webwinnow.run.tablefiles import check_label_column, read_labels
from webwinnow.settings import Settings, share

PAGES_AT_ONCE = 1000
"""Pages that are classified at once, so that memory does not grow with the input."""
NAMES_SHOWN = 5
MOST_MISTAKES = 50
NO_FEATURES = "the page says nothing that counts"
NOT_MET = "nothing that the page says was met in training"
RETRAIN = "train the model with --weighting tfidf"
"""What to do where a model needs HTML and records are given."""
NONE_OF_THESE = "none of these classes"
UNCERTAIN = "the class has a probability below"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifySettings:
    """How to train.

    - `method`: `svm` (thesis 5.1.2) or `knn` (DocView 7.1).
    - `features`: columns kept at most, by chi-square; None for the method's own number.
    - `cost`: C of the SVM; `neighbours`: pages that vote.
    - `separator`: between the names of a path in a label; "" for labels that are no paths.
    - `vectors`: how pages become vectors.
    - `folds`, `seed`: of cross-validation.
    """

    method: str = "svm"
    features: int | None = None
    cost: float = COST
    neighbours: int = NEIGHBOURS
    separator: str = SEPARATOR
    vectors: VectorSettings = field(default_factory=VectorSettings)
    folds: int = FOLDS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SettingsError(f"there is no classifier {self.method!r}; {meant(self.method, list(METHODS))}")
        self.classifier()

    def classifier(self) -> LinearSVM | ChiSquareNeighbours:
        """A classifier to fit."""
        if self.method == "svm":
            wide = self.features if self.features is not None else SVM_FEATURES
            return LinearSVM(features=wide, cost=self.cost, folds=self.folds, seed=self.seed)
        wide = self.features if self.features is not None else KNN_FEATURES
        return ChiSquareNeighbours(features=wide, neighbours=self.neighbours, folds=self.folds, seed=self.seed)


class Mistake(NamedTuple):
    """A held-out page with a wrong prediction, by its id or URL; `url` is the page's URL."""

    page: str
    url: str
    site: str
    label: str
    predicted: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trained:
    """A model, its scores on held-out pages at each level, and remarks on the input.

    `folds` is None where nothing could be held out; then there are no scores. `mistakes` are the most certain ones.
    """

    model: ClassModel
    pages: Counter[str]
    sites: int
    folds: Folds | None
    scores: tuple[ClassScores, ...]
    reliability: Reliability | None
    mistakes: tuple[Mistake, ...]
    remarks: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        """All numbers as plain values."""
        folds = self.folds
        return {
            "pages": dict(self.pages),
            "sites": self.sites,
            "folds": None if folds is None else {"by": folds.by, "count": folds.count, "why": folds.why},
            "levels": [scores.to_plain() for scores in self.scores],
            "probabilities": None if self.reliability is None else self.reliability.to_plain(),
            "remarks": list(self.remarks),
        }


def train_classes(
    inputs: Sequence[str | Path],
    settings: ClassifySettings,
    collecting: CollectionSettings,
    *,
    label: str | None = None,
    labels: Path | None = None,
    site_by: str = "host",
    **options: Unpack[OpenOptions],
) -> Trained:
    """Learn classes from pages whose label is in the column `label`, or in the file `labels`.

    The words of a site are weighed over all its pages; pages with a label and features are learned from. Raises
    `InputError` where there is none.
    """
    if settings.vectors.weighting in ("wplus", "topic"):
        raise SettingsError(
            f"{settings.vectors.weighting} weighs a collection as a whole, not single pages: expected cst or tfidf"
        )
    if (label is None) == (labels is None):
        raise SettingsError("expected either the name of a column of labels (--label) or a file of labels (--labels)")
    if label is not None:
        check_label_column(inputs, label, "or give a file of labels (--labels)")
    known = {} if labels is None else read_labels(labels)
    tidy = Taxonomy([], settings.separator).tidy
    label_of: dict[int, str] = {}

    def noted(pages: Iterator[PageRecord]) -> Iterator[PageRecord]:
        for page in pages:
            found = page.label or known.get(page.page_id or "") or known.get(page.url)
            if found is not None and (named := tidy(found)):
                label_of[page.ordinal] = named
            yield page

    builder = VectorBuilder(settings.vectors)
    rows: list[PageRow] = []
    counts: Counter[str] = Counter()
    sites: set[str] = set()
    with ParsedCollection.open(inputs, collecting, records=True, pages=noted, label=label, **options) as collection:
        total = collection.page_count
        errors = collection.store.errors(1)
        weighed = weighed_pages(collection, settings.vectors, "give --weighting tfidf")
        for done, (row, tree, weights) in enumerate(weighed, start=1):
            sites.add(row.site)
            if tree is None:
                counts["failed"] += 1
            elif row.ordinal not in label_of:
                counts["without_label"] += 1
            else:
                builder.add(row.name, tree, weights)
                rows.append(row)
            collection.progress("weigh", done, total)
    counts["all"] = total
    full = np.array([len(features) > 0 for features, _ in builder.rows], np.bool_)
    counts["empty"] = int((~full).sum())
    rows = [row for row, is_full in zip(rows, full, strict=True) if is_full]
    counts["learned"] = len(rows)
    if not rows:
        raise InputError(_nothing(counts, label, labels))
    collection.progress("train", 0, None)
    return _trained(builder.matrix(), full, rows, label_of, settings, site_by, counts, len(sites), errors)


def _nothing(counts: Counter[str], label: str | None, labels: Path | None) -> str:
    where = f"in column {label!r}" if labels is None else f"in {labels} (by page_id or url)"
    without, empty = counted(counts["without_label"], "has", "have"), counted(counts["empty"], "is", "are")
    return (
        f"no page to learn from: of {counted(counts['all'], 'page')} {without} no label {where}, "
        f"{empty} empty, {counts['failed']:,} could not be read"
    )


def _trained(
    matrix: FeatureMatrix,
    full: NDArray[np.bool_],
    rows: list[PageRow],
    label_of: Mapping[int, str],
    settings: ClassifySettings,
    site_by: str,
    counts: Counter[str],
    sites: int,
    errors: Sequence[tuple[str, int]],
) -> Trained:
    """Fit, and score the predictions for held-out pages."""
    vectors = sparse_rows(matrix.data, matrix.indices, matrix.indptr, len(matrix.vocabulary))[full]
    labels = [label_of[row.ordinal] for row in rows]
    classifier = settings.classifier().fit(vectors, labels, [row.site for row in rows])
    taxonomy = Taxonomy(classifier.classes_.tolist(), settings.separator)
    scores: tuple[ClassScores, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    reliability = None
    if classifier.held_out_ is not None:
        topics, certain = taxonomy.predict(classifier.held_out_)
        predicted = [[taxonomy.names[level][topic] for topic in topics[:, level]] for level in range(taxonomy.depth)]
        scores = tuple(
            ClassScores.of([taxonomy.at(name, level) for name in labels], predicted[level], taxonomy.names[level])
            for level in range(taxonomy.depth)
        )
        reliability = Reliability.of(
            classifier.held_out_, np.searchsorted(classifier.classes_, np.array(labels, object))
        )
        mistakes = _mistakes(rows, labels, predicted[-1], certain[:, -1])
    model = ClassModel.of(
        settings.method, classifier, matrix, settings.vectors, separator=settings.separator, site_by=site_by
    )
    trained = Trained(
        model=model,
        pages=counts,
        sites=sites,
        folds=classifier.folds_,
        scores=scores,
        reliability=reliability,
        mistakes=mistakes,
        remarks=tuple(_remarks(counts, errors, labels, [row.site for row in rows], classifier.folds_)),
    )
    plain = trained.to_plain()
    levels = [{name: level[name] for name in ("accuracy", "macro_f")} for level in plain["levels"]]
    about = {name: plain[name] for name in ("pages", "sites", "folds", "probabilities")} | {"levels": levels}
    return replace(trained, model=replace(model, about=about))


def _mistakes(
    rows: Sequence[PageRow], labels: Sequence[str], predicted: Sequence[str], certain: NDArray[np.float64]
) -> tuple[Mistake, ...]:
    """The wrong predictions that the classifier was most certain of: wrong labels are among them."""
    wrong = [n for n, (label, found) in enumerate(zip(labels, predicted, strict=True)) if label != found]
    wrong.sort(key=lambda n: (-round(float(certain[n]), 6), rows[n].site, rows[n].ordinal))
    return tuple(
        Mistake(rows[n].name, rows[n].url or "", rows[n].site, labels[n], predicted[n], round(float(certain[n]), 6))
        for n in wrong[:MOST_MISTAKES]
    )


def _remarks(
    counts: Counter[str],
    errors: Sequence[tuple[str, int]],
    labels: Sequence[str],
    sites: Sequence[str],
    folds: Folds | None,
) -> Iterator[str]:
    """Remarks on the input, one sentence each."""
    if counts["without_label"]:
        yield f"{_pages(counts['without_label'])} without a label: passed over"
    if counts["empty"]:
        yield f"{_pages(counts['empty'])} with a label and without features ({NO_FEATURES}): passed over"
    if counts["failed"]:
        yield f"{_pages(counts['failed'])} could not be read ({errors[0][0] if errors else 'no reason known'})"
    pages = Counter(labels)
    if len(pages) == 1:
        yield f"one class only, {labels[0]!r}: the model says it of every page, and there is nothing to score"
        return
    if folds is None:
        yield "nothing was held out: there are no scores, and probabilities are not calibrated"
    alone = sorted(name for name, count in pages.items() if count == 1)
    if alone:
        yield f"{_classes(alone)} of one page: while it is held out, nothing is known of them"
    sites_of: dict[str, set[str]] = {}
    for name, site in zip(labels, sites, strict=True):
        sites_of.setdefault(name, set()).add(site)
    local = sorted(name for name, found in sites_of.items() if len(found) == 1 and pages[name] > 1)
    if local and len(set(sites)) > 1:
        by_site = folds is not None and folds.by == "site"
        why = (
            "while the site is held out nothing is known of them, and their scores are 0"
            if by_site
            else "their scores may show how well the site is known, not the class"
        )
        yield f"{_classes(local)} on one site only: {why}"


def _pages(count: int) -> str:
    return f"{count:,} page{'s' * (count != 1)}"


def _classes(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN]) + (", …" if len(names) > NAMES_SHOWN else "")
    return f"{len(names):,} class{'es' * (len(names) != 1)} ({shown})"


# Prediction


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

    def counted(records: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for record in records:
            counts[record["outcome"]] += 1
            if record["label"] is not None:
                labels[record["label"]] += 1
            yield record

    with ParsedCollection.open(inputs, collecting, records=True, **options) as collection:
        total = collection.page_count
        weighed = _counting(weighed_pages(collection, model.vectors, RETRAIN), total, collection.progress)
        parts = iter(lambda: list(islice(weighed, PAGES_AT_ONCE)), [])
        site_by = collection.settings.site_by
        records = (record for part in parts for record in _records(model, part, site_by, certainty))
        write_output(counted(records), out, wanted, fields=class_fields(model.taxonomy.depth))
    return Applied(total, labels, counts["none"], counts["empty"], counts["failed"])


def _counting(weighed: Iterator[WeighedPage], total: int, progress: Progress) -> Iterator[WeighedPage]:
    for done, page in enumerate(weighed, start=1):
        progress("weigh", done, total)
        yield page


def _records(
    model: ClassModel, pages: Sequence[WeighedPage], site_by: SiteKey, certainty: Certainty
) -> Iterator[dict[str, Any]]:
    builder = VectorBuilder(model.vectors)
    for row, tree, weights in pages:
        builder.add(row.name, tree, weights)
    said = [len(features) > 0 for features, _ in builder.rows]
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
            yield record | {"outcome": "empty", "reason": NOT_MET if said[n] else NO_FEATURES}
        elif why := certainty.why_none(float(certain[n, -1]), float(none[n])):
            likeliest = {
                "second": taxonomy.names[-1][topics[n, -1]],
                "second_probability": round(float(certain[n, -1]), 6),
            }
            yield record | {"outcome": "none", "reason": why, "none": float(none[n])} | likeliest
        else:
            chosen = topics[n].tolist()
            label = taxonomy.names[-1][chosen[-1]]
            record |= {
                "none": float(none[n]),
                "outcome": "labelled",
                "label": label,
                "probability": round(float(certain[n, -1]), 6),
            }
            if len(taxonomy.classes) > 1:
                others = np.where(model.classifier.classes_ == label, -1.0, probability[n])
                second = int(others.argmax())
                record |= {"second": taxonomy.classes[second], "second_probability": round(float(others[second]), 6)}
            for level, topic in enumerate(chosen if taxonomy.depth > 1 else [], start=1):
                record[f"level_{level}"] = taxonomy.names[level - 1][topic]
                record[f"level_{level}_probability"] = round(float(certain[n, level - 1]), 6)
            yield record
