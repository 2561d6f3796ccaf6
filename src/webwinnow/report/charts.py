"""Plots as inline SVG: no script, nothing beside the page, colours from the page's styles (classes `c0`, `c1`, ...).

A plot says nothing that its table does not: it is a picture of numbers that stand beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from typing import NamedTuple

__all__ = ["COLOURS", "Axis", "Series", "line_plot", "point_plot"]

COLOURS = 6
"""Colours that the page's styles name; more series begin again."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 46.0, 420.0, 12.0, 232.0
_WIDTH, _HEIGHT = 560, 274
_LINE = 13.0
"""Least distance of two names beside the ends of lines."""
_TICKS = 5


class Series(NamedTuple):
    """A line: its name and its points (x, y), from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


class Axis(NamedTuple):
    """What an axis tells, and from where to where; `percent` and `whole` say how its numbers are written."""

    name: str
    low: float
    high: float
    percent: bool = False
    whole: bool = False

    def at(self, value: float) -> float:
        """Where a value lies, from 0 to 1."""
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

    def told(self, value: float) -> str:
        """A number as it stands beside the axis."""
        return f"{100 * value:.0f} %" if self.percent else f"{value:,.0f}" if self.whole else f"{value:,.6g}"


def line_plot(title: str, series: Sequence[Series], across: Axis, up: Axis) -> str:
    """Lines with their names beside their ends; a figure to be put into a page."""
    drawn, ends = [], []
    for number, one in enumerate(series):
        places = [_place(x, y, across, up) for x, y in one.points]
        if not places:
            continue
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6"/>' for x, y in places) if len(places) < 30 else ""
        drawn.append(f'<g class="{_colour(number)}"><path class="line" d="{path}"/>{marks}</g>')
        ends.append((places[-1][1], places[-1][0], number, one.name))
    names = []
    for (y, x, number, name), told in zip(sorted(ends), _apart([end[0] for end in sorted(ends)]), strict=True):
        names.append(
            f'<g class="{_colour(number)}"><path class="lead" d="M{x + 3:.1f} {y:.1f}L{_RIGHT + 10:.1f} {told:.1f}"/>'
            f'<text class="name" x="{_RIGHT + 14}" y="{told + 4:.1f}">{escape(name)}</text></g>'
        )
    return _figure(title, _axes(across, up) + "".join(drawn) + "".join(names))


def point_plot(title: str, points: Sequence[tuple[str, float, float, int]], across: Axis, up: Axis) -> str:
    """Points (name, x, y, colour) with a number each, and a legend of numbers and names below."""
    drawn = []
    for number, (name, x, y, colour) in enumerate(points, start=1):
        at, height = _place(x, y, across, up)
        drawn.append(
            f'<g class="{_colour(colour)}"><circle cx="{at:.1f}" cy="{height:.1f}" r="8"/><title>{escape(name)}</title>'
            f'<text class="number" x="{at:.1f}" y="{height + 3.4:.1f}">{number}</text></g>'
        )
    legend = "".join(
        f'<li class="{_colour(colour)}"><b>{number}</b> {escape(name)}</li>'
        for number, (name, _, _, colour) in enumerate(points, start=1)
    )
    return _figure(title, _axes(across, up) + "".join(drawn), f'<ul class="legend">{legend}</ul>')


def _place(x: float, y: float, across: Axis, up: Axis) -> tuple[float, float]:
    return _LEFT + (_RIGHT - _LEFT) * across.at(x), _BOTTOM - (_BOTTOM - _TOP) * up.at(y)


def _axes(across: Axis, up: Axis) -> str:
    parts = []
    for value in up.ticks():
        y = _place(across.low, value, across, up)[1]
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_RIGHT}"/>')
        parts.append(f'<text class="tick end" x="{_LEFT - 5}" y="{y + 3.5:.1f}">{up.told(value)}</text>')
    for value in across.ticks():
        x = _place(value, up.low, across, up)[0]
        parts.append(f'<path class="grid" d="M{x:.1f} {_BOTTOM}v4"/>')
        parts.append(f'<text class="tick mid" x="{x:.1f}" y="{_BOTTOM + 16}">{across.told(value)}</text>')
    middle = (_LEFT + _RIGHT) / 2
    parts.append(f'<text class="tick mid" x="{middle}" y="{_BOTTOM + 34}">{escape(across.name)}</text>')
    return "".join(parts)


def _apart(heights: Sequence[float]) -> list[float]:
    """Where names stand beside the ends of lines, from the top: as near as can be, none over another."""
    placed: list[float] = []
    for y in heights:
        placed.append(y if not placed else max(y, placed[-1] + _LINE))
    over = max(placed[-1] - _BOTTOM, 0.0) if placed else 0.0
    for k in range(len(placed) - 1, -1, -1):
        highest = placed[k + 1] - _LINE if k + 1 < len(placed) else placed[k] - over
        placed[k] = min(placed[k], highest)
    return placed


def _colour(number: int) -> str:
    return f"c{number % COLOURS}"


def _figure(title: str, drawn: str, below: str = "") -> str:
    return (
        f'<figure class="plot"><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'role="img" aria-label="{escape(title)}; the numbers are in the table">{drawn}</svg>{below}</figure>'
    )
