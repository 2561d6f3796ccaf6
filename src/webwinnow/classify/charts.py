"""Charts of classes as inline SVG, styled by the page: the confusion matrix and the reliability of probabilities.

The report shows the same numbers in a table.
"""

from __future__ import annotations

from math import cos, radians, sin

import numpy as np
from markupsafe import Markup

from webwinnow.classify.scores import ClassScores, Reliability
from webwinnow.counted import counted
from webwinnow.inspect.templating import render, shortened

MOST_CLASSES = 40
"""Classes in a confusion matrix: those with the most pages."""
CELL_SIZES = ((6, 58), (12, 46), (20, 32), (30, 24), (MOST_CLASSES, 18))
"""Pixels of a cell by the number of classes."""
LONGEST_NAME = 26
"""Characters of a class name; the tooltip shows the whole name."""
NARROW = 24
"""Columns of at most this many pixels have vertical labels, wider ones slanted labels."""
LETTER = 6.7
"""Approximate width of a character in pixels."""


def confusion_chart(scores: ClassScores) -> Markup:
    """A confusion matrix: right predictions green, wrong ones red, shaded by the share of the row."""
    used = scores.pages + scores.confusion.sum(axis=0) > 0
    order = [c for c in scores.largest(len(used)) if used[c]]
    shown = sorted(order[:MOST_CLASSES], key=lambda c: scores.classes[c])
    names = [scores.classes[c] for c in shown]
    size = next(pixels for most, pixels in CELL_SIZES if len(shown) <= most)
    longest = max((len(shortened(name, LONGEST_NAME)) for name in names), default=1) * LETTER
    angle = 45 if size > NARROW else 90
    left, top = longest + 34, longest * sin(radians(angle)) + 42
    cells = [
        {
            "x": left + size * column,
            "y": top + size * row,
            "count": count,
            "share": count / max(int(scores.pages[c]), 1),
            "title": f"{names[row]}: {count:,} of {counted(int(scores.pages[c]), 'page')} "
            f"classified as {names[column]}",
            "kind": "right" if row == column else "wrong",
            "has_room": len(str(count)) * LETTER < size - 2,
        }
        for row, c in enumerate(shown)
        for column, count in enumerate(scores.confusion[c, shown].tolist())
    ]
    return render(
        "confusion.svg.j2",
        width=left + size * len(shown) + longest * cos(radians(angle)) + 12,
        height=top + size * len(shown) + 8,
        labels=[(size * (n + 0.5), name, shortened(name, LONGEST_NAME)) for n, name in enumerate(names)],
        cells=cells,
        **{"left": left, "top": top, "inner": size - 2, "angle": angle},
    )


def reliability_chart(found: Reliability) -> Markup:
    """Share of correct predictions by predicted probability; below, the number of pages of each bin."""
    side, left, top, low = 280, 52, 12, 54
    step, most = side / len(found.pages), max(int(found.pages.max(initial=0)), 1)
    bins = [
        {
            "x": left + side * found.predicted[n],
            "y": top + side * (1 - found.right[n]),
            "title": f"{counted(int(found.pages[n]), 'page')}, probability {found.predicted[n]:.3f}, "
            f"correct {found.right[n]:.3f}",
            "bar_x": left + step * n + 1,
            "bar": low * int(found.pages[n]) / most,
        }
        for n in np.flatnonzero(found.pages).tolist()
    ]
    box = {"side": side, "left": left, "top": top, "low": low, "bar_width": step - 2}
    return render("reliability.svg.j2", bins=bins, ticks=(0.0, 0.25, 0.5, 0.75, 1.0), **box)
