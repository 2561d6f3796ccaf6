"""What `webwinnow classify train` found out, as one HTML page: scores, the confusion matrix as a picture, mistakes.

The page is static: no script, no address to load from, pictures drawn inline. What labels and pages say is escaped, and
its policy allows nothing but its own style sheet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from math import cos, radians, sin

import numpy as np
from numpy.typing import NDArray

from webwinnow._version import __version__
from webwinnow.commands.classify import Trained
from webwinnow.mining.classifiers import LinearSVM
from webwinnow.mining.classscores import ClassScores, Reliability
from webwinnow.report.templating import hash_of, numbers, part, section, table

__all__ = ["classes_html", "confusion_svg", "reliability_svg"]

MOST_SHOWN = 40
"""Classes in a picture at most: those of the most pages."""
SIDE_BY_SIDE = 6
"""A matrix of more classes has the width of the page."""
MOST_ROWS = 1000
SHOWN_WORDS = 10
LONGEST = 26
"""Characters of a name in a picture; what is longer is shown in full when pointed at."""
NARROW = 24
"""Above columns of so few pixels names stand upright, not aslant."""
LETTER = 6.7
"""Pixels that a character takes, about."""


def classes_html(trained: Trained) -> str:
    """The report on a training."""
    style = part("classes.css")
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {hash_of(style)}"
    pages, model = trained.pages, trained.model
    counted = (
        f"{pages['learned']:,} of {pages['all']:,} pages from {trained.sites:,} sites, "
        f"{len(model.classifier.classes_):,} classes, {len(model.keys):,} features; "
        f"method {model.method}, weighting {model.vectors.weighting}."
    )
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<title>Classes · webwinnow classify</title>",
        f"<style>{style}</style></head><body>",
        '<h1><span class="grain"></span>Classes of pages</h1>',
        f"<p>{escape(counted)}</p>",
        *_body(trained),
        f"<footer>webwinnow {escape(__version__)} · classify train</footer></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _body(trained: Trained) -> Iterator[str]:
    if trained.folds is not None and trained.reliability is not None and trained.scores:
        last, found = trained.scores[-1], trained.reliability
        held = "Whole sites were held out" if trained.folds.by == "site" else "Pages were held out"
        yield (
            f"<p>{held}, {trained.folds.count} folds ({escape(trained.folds.why)}): "
            "every page is told by a classifier that has not seen it"
            f"{', nor any page of its site' if trained.folds.by == 'site' else ''}.</p>"
        )
        yield numbers(
            {
                "Accuracy": f"{last.accuracy:.3f}",
                "Macro F": f"{last.macro_f:.3f}",
                "Brier score": f"{found.brier:.3f}",
                "Calibration error": f"{found.expected_error:.3f}",
            }
        )
    if trained.remarks:
        yield "<ul class=remarks>" + "".join(f"<li>{escape(remark)}</li>" for remark in trained.remarks) + "</ul>"
    if len(trained.scores) > 1:
        yield section("Levels", "Labels are paths; the deeper, the finer.", _level_table(trained.scores))
    yield from _pictures(trained)
    if trained.scores:
        yield section("Each class", "", _class_table(trained.scores[-1]))
    words = _telling_words(trained)
    if words:
        yield section("What tells a class", "The features with the greatest weights.", words)
    if trained.mistakes:
        about = "Held-out pages that were told wrong, the surest first: look here for wrong labels."
        yield section("Mistakes", about, _mistake_table(trained))


def _pictures(trained: Trained) -> Iterator[str]:
    """Confusion at the first and at the last level, and what probabilities are worth; small pictures side by side."""
    small: list[str] = []
    large: list[str] = []
    for level in sorted({0, len(trained.scores) - 1} if trained.scores else ()):
        scores = trained.scores[level]
        named = f", level {level + 1}" if len(trained.scores) > 1 else ""
        there = int((scores.pages + scores.confusion.sum(axis=0) > 0).sum())
        few = f" Of {there:,} classes, the {MOST_SHOWN} with the most pages." if there > MOST_SHOWN else ""
        about = f"A row is the class that pages have, a column the one they were taken for.{few}"
        shown = section(f"Confusion matrix{named}", about, confusion_svg(scores))
        (large if there > SIDE_BY_SIDE else small).append(shown)
    if trained.reliability is not None:
        about = "How often the likeliest class was right, by how likely it was said to be; dashed: where both agree."
        small.append(section("What the probabilities are worth", about, reliability_svg(trained.reliability)))
    if small:
        yield f"<div class=pictures>{''.join(small)}</div>"
    yield from large


def _level_table(scores: Sequence[ClassScores]) -> str:
    rows = [
        [str(level), f"{int((found.pages > 0).sum()):,}", f"{found.accuracy:.3f}", f"{found.macro_f:.3f}"]
        for level, found in enumerate(scores, start=1)
    ]
    return table(["level", "topics", "accuracy", "macro F"], rows, (1, 2, 3))


def _class_table(scores: ClassScores) -> str:
    order = sorted(range(len(scores.classes)), key=lambda c: (-int(scores.pages[c]), scores.classes[c]))[:MOST_ROWS]
    rows = [
        [
            escape(scores.classes[c]),
            f"{int(scores.pages[c]):,}",
            f"{scores.precision[c]:.3f}",
            f"{scores.recall[c]:.3f}",
            f"{scores.f[c]:.3f}",
            _bar(float(scores.f[c])),
        ]
        for c in order
    ]
    left = len(scores.classes) - len(order)
    more = f"<p>and {left:,} more classes, of fewer pages</p>" if left else ""
    return table(["class", "pages", "precision", "recall", "F", ""], rows, (1, 2, 3, 4)) + more


def _bar(share: float) -> str:
    return (
        '<svg width="120" height="20" aria-hidden="true"><rect class="cell" y="5" width="120" height="10" rx="3"/>'
        f'<rect class="right" y="5" width="{120 * share:.1f}" height="10" rx="3"/></svg>'
    )


def _mistake_table(trained: Trained) -> str:
    rows = [
        [escape(found.page), escape(found.site), escape(found.label), escape(found.told), f"{found.probability:.2f}"]
        for found in trained.mistakes
    ]
    return table(["page", "site", "label", "told", "probability"], rows, (4,))


def _telling_words(trained: Trained) -> str:
    classifier, names = trained.model.classifier, trained.model.names
    if not isinstance(classifier, LinearSVM) or len(classifier.classes_) < 2 or not names:
        return ""
    rows = []
    for name, weight in list(zip(classifier.classes_.tolist(), classifier.weight_, strict=True))[:MOST_ROWS]:
        best = np.argsort(-weight, kind="stable")[:SHOWN_WORDS]
        words = ", ".join(_short(names[column]) for column in best.tolist() if weight[column] > 0)
        rows.append([escape(name), f"<span class=words>{escape(words)}</span>"])
    return table(["class", "features"], rows, ())


# Pictures


def confusion_svg(scores: ClassScores) -> str:
    """The confusion matrix as a picture: green for what was told right, red for what was not, by shares of a row."""
    there = np.flatnonzero(scores.pages + scores.confusion.sum(axis=0))
    order = sorted(there.tolist(), key=lambda c: (-int(scores.pages[c]), scores.classes[c]))
    shown = sorted(order[:MOST_SHOWN], key=lambda c: scores.classes[c])
    names = [scores.classes[c] for c in shown]
    counts = scores.confusion[np.ix_(shown, shown)]
    size = (
        58
        if len(shown) <= 6
        else 46
        if len(shown) <= 12
        else 32
        if len(shown) <= 20
        else 24
        if len(shown) <= 30
        else 18
    )
    longest = max((len(_short(name)) for name in names), default=1) * LETTER
    angle = 45 if size > NARROW else 90
    rise, reach = longest * sin(radians(angle)), longest * cos(radians(angle))
    left, top = longest + 34, rise + 42
    width, height = left + size * len(shown) + reach + 12, top + size * len(shown) + 8
    parts = [
        f'<svg role="img" aria-label="Confusion matrix" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        f'<text class="axis" x="{left:.1f}" y="14">taken for</text>',
        f'<text class="axis" transform="translate(12 {top + 4:.1f}) rotate(-90)" text-anchor="end">has</text>',
    ]
    for n, name in enumerate(names):
        middle = size * (n + 0.5)
        told = f"<title>{escape(name)}</title>{escape(_short(name))}"
        parts.append(f'<text class="end" x="{left - 10:.1f}" y="{top + middle + 4:.1f}">{told}</text>')
        turned = f"translate({left + middle + 3:.1f} {top - 8:.1f}) rotate({-angle})"
        parts.append(f'<text transform="{turned}">{told}</text>')
    parts += _cells(names, counts, scores.pages[shown], size, left, top)
    return "".join(parts) + "</svg>"


def _cells(
    names: Sequence[str],
    counts: NDArray[np.int64],
    pages: NDArray[np.int64],
    size: int,
    left: float,
    top: float,
) -> Iterator[str]:
    """A square for each pair of classes, deeper the larger its share of the row, with its count where there is one."""
    inner = size - 2
    for row, (label, line) in enumerate(zip(names, counts.tolist(), strict=True)):
        for column, count in enumerate(line):
            x, y = left + size * column, top + size * row
            yield f'<rect class="cell" x="{x:.1f}" y="{y:.1f}" width="{inner}" height="{inner}" rx="3"/>'
            if not count:
                continue
            share = count / max(int(pages[row]), 1)
            kind = "right" if row == column else "wrong"
            told = f"{label}: {count:,} of {int(pages[row]):,} pages taken for {names[column]}"
            yield (
                f'<g><title>{escape(told)}</title><rect class="{kind}" fill-opacity="{0.12 + 0.88 * share:.2f}" '
                f'x="{x:.1f}" y="{y:.1f}" width="{inner}" height="{inner}" rx="3"/>'
            )
            if len(str(count)) * LETTER < inner:
                on = " on" if share > 0.5 else ""
                yield f'<text class="count{on}" x="{x + inner / 2:.1f}" y="{y + inner / 2 + 4:.1f}">{count}</text>'
            yield "</g>"


def reliability_svg(found: Reliability) -> str:
    """How often the likeliest class was right against how likely it was said to be; below, the pages of each bin."""
    side, left, top, low = 280, 52, 12, 54
    width, height = left + side + 16, top + side + low + 40
    filled = np.flatnonzero(found.pages)
    points = [(left + side * found.told[n], top + side * (1 - found.right[n])) for n in filled]
    parts = [
        f'<svg role="img" aria-label="Reliability of probabilities" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">',
        f'<path class="ideal" d="M{left} {top + side}L{left + side} {top}"/>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = left + side * tick, top + side * (1 - tick)
        parts.append(f'<path class="line" d="M{left} {y:.1f}H{left + side}"/>')
        parts.append(f'<text class="axis end" x="{left - 8}" y="{y + 4:.1f}">{tick:g}</text>')
        parts.append(f'<text class="axis middle" x="{x:.1f}" y="{height - 18}">{tick:g}</text>')
    parts.append(f'<path class="curve" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}"/>' if points else "")
    most = max(int(found.pages.max(initial=0)), 1)
    for n, (x, y) in zip(filled.tolist(), points, strict=True):
        pages = int(found.pages[n])
        told = f"{pages:,} pages, probability {found.told[n]:.3f}, right {found.right[n]:.3f}"
        bar, step = low * pages / most, side / len(found.pages)
        parts.append(
            f'<g><title>{escape(told)}</title><circle class="right" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
            f'<rect class="pages" x="{left + step * n + 1:.1f}" y="{top + side + 6 + low - bar:.1f}" '
            f'width="{step - 2:.1f}" height="{bar:.1f}"/></g>'
        )
    parts.append(f'<text class="axis" x="{left}" y="{height - 3}">probability; below the curve, pages</text>')
    turned = f"translate(14 {top + side / 2}) rotate(-90)"
    parts.append(f'<text class="axis middle" transform="{turned}">share right</text></svg>')
    return "".join(parts)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
