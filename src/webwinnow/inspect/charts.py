"""Charts as inline SVG: no script, no external file, colours from the style sheet of the page.

Every chart is shown beside a table with the same numbers. The markup is in `templates/`; this module places the marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Any, NamedTuple

from markupsafe import Markup

from webwinnow.inspect.templating import render

COLOURS = 6
"""Colour classes `c0`, `c1`, ... of the style sheet; further series start again."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 420.0, 12.0, 232.0
_LINE = 13.0
"""Least distance between two labels at the ends of lines."""
_TICKS = 5
_MARKED_POINTS = 30
"""Lines with at least this many points have no marks."""


class Series(NamedTuple):
    """A line: its name, its points (x, y) from left to right, and the class of its colour."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str = ""


class Axis(NamedTuple):
    """The name and range of an axis; `percent` and `whole` set the format of its numbers."""

    name: str
    low: float
    high: float
    percent: bool = False
    whole: bool = False

    def at(self, value: float) -> float:
        """Position of a value, from 0 to 1."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return min(max(share, 0.0), 1.0)

    def ticks(self) -> list[float]:
        """Round numbers from low to high."""
        if self.high <= self.low:
            return [self.low]
        rough = (self.high - self.low) / _TICKS
        power = 10.0 ** floor(log10(rough))
        step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * 0.999)
        step = max(step, 1.0) if self.whole else step
        first = ceil(self.low / step - 1e-9)
        return [step * k for k in range(first, floor(self.high / step + 1e-9) + 1)]

    def label(self, value: float) -> str:
        """The label of a tick."""
        return f"{100 * value:.0f} %" if self.percent else f"{value:,.0f}" if self.whole else f"{value:,.6g}"


def line_chart(title: str, series: Sequence[Series], across: Axis, up: Axis) -> Markup:
    """Lines with their names beside their ends."""
    lines, ends = [], []
    for number, one in enumerate(series):
        places = [_place(x, y, across, up) for x, y in one.points]
        if places:
            colour = one.colour or f"c{number % COLOURS}"
            lines.append((colour, places, len(places) < _MARKED_POINTS))
            ends.append((places[-1][1], places[-1][0], number, colour, one.name))
    ends.sort()
    labels = [
        {"x": x + 3, "y": y, "label_y": label_y, "colour": colour, "name": name}
        for (y, x, _, colour, name), label_y in zip(ends, _spread([end[0] for end in ends]), strict=True)
    ]
    return _chart(title, across, up, lines=lines, labels=labels)


def point_chart(title: str, points: Sequence[tuple[str, float, float, int]], across: Axis, up: Axis) -> Markup:
    """Numbered points (name, x, y, colour), with a legend below."""
    placed = [
        {"place": _place(x, y, across, up), "name": name, "colour": f"c{colour % COLOURS}"}
        for name, x, y, colour in points
    ]
    return _chart(title, across, up, points=placed)


def _chart(title: str, across: Axis, up: Axis, **marks: Any) -> Markup:
    values: dict[str, Any] = {"lines": [], "labels": [], "points": []} | marks
    box = {"left": _LEFT, "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM}
    return render(
        "chart.html.j2",
        title=title,
        across=across.name,
        rows=[(_place(across.low, value, across, up)[1], up.label(value)) for value in up.ticks()],
        columns=[(_place(value, up.low, across, up)[0], across.label(value)) for value in across.ticks()],
        box=box,
        **values,
    )


def _place(x: float, y: float, across: Axis, up: Axis) -> tuple[float, float]:
    return _LEFT + (_RIGHT - _LEFT) * across.at(x), _BOTTOM - (_BOTTOM - _TOP) * up.at(y)


def _spread(heights: Sequence[float]) -> list[float]:
    """Positions of labels beside the ends of lines, from the top: as near as possible without overlap."""
    placed: list[float] = []
    for y in heights:
        placed.append(y if not placed else max(y, placed[-1] + _LINE))
    over = max(placed[-1] - _BOTTOM, 0.0) if placed else 0.0
    for k in range(len(placed) - 1, -1, -1):
        highest = placed[k + 1] - _LINE if k + 1 < len(placed) else placed[k] - over
        placed[k] = min(placed[k], highest)
    return placed
