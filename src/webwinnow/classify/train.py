"""Learn classes of pages, or the categories of DocView, from labelled pages.

The labels come with the pages, or from a file. Cross-validation holds out whole sites where it can, so that a site's
design is not mistaken for the class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from webwinnow.classify.apply import NO_FEATURES
from webwinnow.classify.category import CategoryModel, CategorySettings
from webwinnow.classify.classifiers import (
    COST,
    FOLDS,
    KNN_FEATURES,
    NEIGHBOURS,
    SVM_FEATURES,
    ChiSquareNeighbours,
    Classifier,
    Folds,
    LinearSVM,
)
from webwinnow.classify.classmodel import METHODS, SEPARATOR, ClassModel, Taxonomy
from webwinnow.classify.scores import ClassScores, Reliability
from webwinnow.counted import counted
from webwinnow.errors import InputError, SettingsError
from webwinnow.features.run import weighed_pages
from webwinnow.features.vectors import VectorBuilder, VectorSettings
from webwinnow.methods.method_docview import FeatureVector
from webwinnow.page.records import PageRecord
from webwinnow.plugins import meant
from webwinnow.run.outputparts import clean_all
from webwinnow.run.pagestore import PageRow, read_parts
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.settings import CollectionSettings, RunSettings
from webwinnow.run.tablefiles import check_label_column, read_labels

NAMES_SHOWN = 5
MOST_MISTAKES = 50


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
    scores: tuple[ClassScores, ...] = ()
    reliability: Reliability | None = None
    mistakes: tuple[Mistake, ...] = ()
    remarks: tuple[str, ...] = ()

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


class PageLabels:
    """The labels of pages by ordinal, from a column of the input (`label`) or from a file (`labels`)."""

    def __init__(
        self, inputs: Sequence[str | Path], label: str | None, labels: Path | None, tidy: Callable[[str], str] = str
    ) -> None:
        if (label is None) == (labels is None):
            raise SettingsError(
                "expected either the name of a column of labels (--label) or a file of labels (--labels)"
            )
        if label is not None:
            check_label_column(inputs, label, "or give a file of labels (--labels)")
        self.label_of: dict[int, str] = {}
        self._known = {} if labels is None else read_labels(labels)
        self._tidy = tidy

    def noted(self, pages: Iterator[PageRecord]) -> Iterator[PageRecord]:
        """The pages, whose labels are noted as they pass."""
        for page in pages:
            found = page.label or self._known.get(page.page_id or "") or self._known.get(page.url)
            if found is not None and (named := self._tidy(found)):
                self.label_of[page.ordinal] = named
            yield page


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
    given = PageLabels(inputs, label, labels, Taxonomy([], settings.separator).tidy)
    builder = VectorBuilder(settings.vectors)
    rows: list[PageRow] = []
    counts: Counter[str] = Counter()
    sites: set[str] = set()
    noted = given.noted
    with ParsedCollection.open(inputs, collecting, records=True, pages=noted, label=label, **options) as collection:
        counts["all"] = collection.page_count
        errors = collection.store.errors(1)
        weighed = weighed_pages(collection, settings.vectors, "give --weighting tfidf")
        for done, (row, tree, weights) in enumerate(weighed, start=1):
            sites.add(row.site)
            if tree is None:
                counts["failed"] += 1
            elif row.ordinal not in given.label_of:
                counts["without_label"] += 1
            else:
                builder.add(row.name, tree, weights)
                rows.append(row)
            collection.progress("weigh", done, counts["all"])
    full = np.array([len(features) > 0 for features, _ in builder.rows], np.bool_)
    rows = [row for row, is_full in zip(rows, full, strict=True) if is_full]
    counts["empty"], counts["learned"] = int((~full).sum()), len(rows)
    if not rows:
        raise InputError(_nothing(counts, label, labels))
    collection.progress("train", 0, None)
    matrix = builder.matrix()
    named = [given.label_of[row.ordinal] for row in rows]
    classifier = settings.classifier().fit(matrix.rows()[full], named, [row.site for row in rows])
    model = ClassModel.of(
        settings.method, classifier, matrix, settings.vectors, separator=settings.separator, site_by=site_by
    )
    trained = Trained(
        model=model,
        pages=counts,
        sites=len(sites),
        folds=classifier.folds_,
        remarks=tuple(_remarks(counts, errors, named, rows, classifier.folds_)),
        **_measured(classifier, model.taxonomy, rows, named),
    )
    plain = trained.to_plain()
    levels = [{name: level[name] for name in ("accuracy", "macro_f")} for level in plain["levels"]]
    about = {name: plain[name] for name in ("pages", "sites", "folds", "probabilities")} | {"levels": levels}
    return replace(trained, model=replace(model, about=about))


def _nothing(counts: Counter[str], label: str | None, labels: Path | None) -> str:
    where = f"in column {label!r}" if labels is None else f"in {labels} (by page_id or url)"
    without, empty = counted(counts["without_label"], "has", "have"), counted(counts["empty"], "is", "are")
    return (
        f"no page to learn from: of {counted(counts['all'], 'page')} {without} no label {where}, "
        f"{empty} empty, {counts['failed']:,} could not be read"
    )


def _measured(
    classifier: Classifier, taxonomy: Taxonomy, rows: Sequence[PageRow], labels: Sequence[str]
) -> dict[str, Any]:
    """Scores of the predictions for held-out pages at each level, their reliability, and the mistakes, if any."""
    if classifier.held_out_ is None:
        return {}
    topics, certain = taxonomy.predict(classifier.held_out_)
    predicted = [[names[topic] for topic in topics[:, level]] for level, names in enumerate(taxonomy.names)]
    scores = tuple(
        ClassScores.of([taxonomy.at(name, level) for name in labels], predicted[level], names)
        for level, names in enumerate(taxonomy.names)
    )
    truth = np.searchsorted(classifier.classes_, np.array(labels, object))
    return {
        "scores": scores,
        "reliability": Reliability.of(classifier.held_out_, truth),
        "mistakes": _mistakes(rows, labels, predicted[-1], certain[:, -1]),
    }


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
    rows: Sequence[PageRow],
    folds: Folds | None,
) -> Iterator[str]:
    """Remarks on the input, one sentence each."""
    if counts["without_label"]:
        yield f"{counted(counts['without_label'], 'page')} without a label: passed over"
    if counts["empty"]:
        yield f"{counted(counts['empty'], 'page')} with a label and without features ({NO_FEATURES}): passed over"
    if counts["failed"]:
        yield f"{counted(counts['failed'], 'page')} could not be read ({errors[0][0] if errors else 'no reason known'})"
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
    for name, row in zip(labels, rows, strict=True):
        sites_of.setdefault(name, set()).add(row.site)
    local = sorted(name for name, found in sites_of.items() if len(found) == 1 and pages[name] > 1)
    if local and len({row.site for row in rows}) > 1:
        by_site = folds is not None and folds.by == "site"
        why = (
            "while the site is held out nothing is known of them, and their scores are 0"
            if by_site
            else "their scores may show how well the site is known, not the class"
        )
        yield f"{_classes(local)} on one site only: {why}"


def _classes(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_SHOWN]) + (", …" if len(names) > NAMES_SHOWN else "")
    return f"{counted(len(names), 'class', 'classes')} ({shown})"


# Categories of DocView


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
    given = PageLabels(inputs, label, labels)
    noted = given.noted
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
            elif row.ordinal in given.label_of:
                vectors.append(_vector(line))
                categories.append(given.label_of[row.ordinal])
    if not vectors:
        raise InputError(f"{labels or label}: no page has a label; expected its page_id or url, and a label")
    model = CategoryModel.train(vectors, categories, settings, run.cleaned_by())
    return TrainedCategories(model, len(vectors), pages - failed - len(vectors), failed)


def _vector(line: dict[str, list[float]]) -> FeatureVector:
    key = np.array(line["key"], np.uint64)
    return FeatureVector(key, np.array(line["weight"], np.float64), np.zeros(len(key), np.int64))
