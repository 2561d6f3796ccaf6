"""The report of `webwinnow classify train`: scores, confusion matrix, distinctive features and errors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from markupsafe import Markup

from webwinnow.classify.charts import MOST_CLASSES, confusion_chart, reliability_chart
from webwinnow.classify.classifiers import LinearSVM
from webwinnow.classify.scores import ClassScores
from webwinnow.classify.train import Trained
from webwinnow.counted import counted
from webwinnow.inspect.templating import Section, shortened, summary_page
from webwinnow.page.urls import is_web_link

SIDE_BY_SIDE = 6
"""Confusion matrices with more classes have the width of the page."""
MOST_ROWS = 1000
SHOWN_WORDS = 10
LONGEST_WORD = 26
LONGEST_LINK = 2000
"""Longer URLs are not linked."""
_BAR = Markup(
    '<svg width="120" height="20" aria-hidden="true"><rect class="cell" y="5" width="120" height="10" rx="3"/>'
    '<rect class="right" y="5" width="{:.1f}" height="10" rx="3"/></svg>'
)


def classes_html(trained: Trained) -> str:
    """Return the report of a training as an HTML page."""
    pages, model = trained.pages, trained.model
    lead = [
        f"{pages['learned']:,} of {counted(pages['all'], 'page')} from {counted(trained.sites, 'site')}, "
        f"{counted(len(model.classifier.classes_), 'class', 'classes')}, {counted(len(model.keys), 'feature')}; "
        f"method {model.method}, weighting {model.vectors.weighting}."
    ]
    figures = {}
    if trained.folds is not None and trained.reliability is not None and trained.scores:
        last, by_site = trained.scores[-1], trained.folds.by == "site"
        held, unseen = ("Whole sites", ", nor any page of its site") if by_site else ("Pages", "")
        lead.append(
            f"{held} were held out, {trained.folds.count} folds ({trained.folds.why}): every page is classified by a "
            f"model that has not seen it{unseen}."
        )
        figures = {
            "Accuracy": f"{last.accuracy:.3f}",
            "Macro F": f"{last.macro_f:.3f}",
            "Brier score": f"{trained.reliability.brier:.3f}",
            "Calibration error": f"{trained.reliability.expected_error:.3f}",
        }
    return summary_page(
        "Classes of pages", "classify train", lead, list(_sections(trained)), figures=figures, remarks=trained.remarks
    )


def _sections(trained: Trained) -> Iterator[Section | list[Section]]:
    if len(trained.scores) > 1:
        rows = [
            [str(level), f"{int((found.pages > 0).sum()):,}", f"{found.accuracy:.3f}", f"{found.macro_f:.3f}"]
            for level, found in enumerate(trained.scores, start=1)
        ]
        about = "Labels are paths; deeper levels are finer."
        yield Section(title="Levels", about=about, head=["level", "topics", "accuracy", "macro F"], rows=rows)
    yield from _charts(trained)
    if trained.scores:
        yield _classes(trained.scores[-1])
    yield from _distinctive_features(trained)
    if trained.mistakes:
        yield Section(
            title="Errors",
            about="Held-out pages with a wrong class, most confident first: check these for wrong labels.",
            head=["page", "site", "label", "predicted", "probability"],
            rows=[
                [_linked(one.page, one.url), one.site, one.label, one.predicted, f"{one.probability:.2f}"]
                for one in trained.mistakes
            ],
            left=range(4),
        )


def _linked(name: str, url: str) -> str:
    """The name of a page as a link to it, if its URL is a web URL of acceptable length."""
    if not is_web_link(url) or len(url) > LONGEST_LINK:
        return name
    return Markup('<a href="{}">{}</a>').format(url, name)


def _charts(trained: Trained) -> Iterator[Section | list[Section]]:
    """Confusion at the first and last level, and the reliability of probabilities; small charts side by side."""
    small: list[Section] = []
    large: list[Section] = []
    for level in sorted({0, len(trained.scores) - 1} if trained.scores else ()):
        scores = trained.scores[level]
        count = int((scores.pages + scores.confusion.sum(axis=0) > 0).sum())
        about = "Rows are the labels of pages, columns the predicted classes."
        if count > MOST_CLASSES:
            about += f" Of {count:,} classes, the {MOST_CLASSES} with the most pages."
        title = "Confusion matrix" + (f", level {level + 1}" if len(trained.scores) > 1 else "")
        shown = Section(title=title, about=about, chart=confusion_chart(scores))
        (large if count > SIDE_BY_SIDE else small).append(shown)
    if trained.reliability is not None:
        about = "Share of correct predictions by the probability of the predicted class; dashed: perfect calibration."
        chart = reliability_chart(trained.reliability)
        small.append(Section(title="Reliability of the probabilities", about=about, chart=chart))
    if small:
        yield small
    yield from large


def _classes(scores: ClassScores) -> Section:
    order = scores.largest(MOST_ROWS)
    rows = [
        [
            scores.classes[c],
            f"{int(scores.pages[c]):,}",
            *(f"{column[c]:.3f}" for column in (scores.precision, scores.recall, scores.f)),
            _BAR.format(120 * float(scores.f[c])),
        ]
        for c in order
    ]
    left = len(scores.classes) - len(order)
    more = f"and {left:,} more classes with fewer pages" if left else ""
    head = ["class", "pages", "precision", "recall", "F", ""]
    return Section(title="Scores by class", head=head, rows=rows, left=(0, 5), more=more)


def _distinctive_features(trained: Trained) -> Iterator[Section]:
    classifier, names = trained.model.classifier, trained.model.names
    if not isinstance(classifier, LinearSVM) or len(classifier.classes_) < 2 or not names:
        return
    rows = []
    for name, weight in list(zip(classifier.classes_.tolist(), classifier.weight_, strict=True))[:MOST_ROWS]:
        best = np.argsort(-weight, kind="stable")[:SHOWN_WORDS]
        words = ", ".join(shortened(names[column], LONGEST_WORD) for column in best.tolist() if weight[column] > 0)
        rows.append([name, Markup('<span class="words">{}</span>').format(words)])
    about = "The features with the largest weights."
    yield Section(title="Distinctive features", about=about, head=["class", "features"], rows=rows, left=(0, 1))
