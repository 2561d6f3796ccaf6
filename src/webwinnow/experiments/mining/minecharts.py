"""The papers' figures as inline SVG: no script, no file beside the page, colours from the page's styles."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from webwinnow.experiments.mining.minejobs import ClusterRun
from webwinnow.experiments.mining.mineresults import TaskResults

__all__ = ["colour_of", "configuration_lines", "drops", "neighbour_bars", "run_panels"]

COLOURED = ("N", "T", "S", "W", "C", "W+")
"""Methods with a colour of their own: those of the thesis, and ours beside them. The others are grey."""
STEPS = 200
"""Steps of F between 0 and 1 in the plot of runs."""


def colour_of(letter: str) -> str:
    """The class of the page's styles that colours a method."""
    return f"m-{letter.replace('+', 'plus')}" if letter in COLOURED else "m-other"


def run_panels(results: TaskResults) -> str:
    """Figure 5-3: F (up) of each run (across), a panel a method, with the mean as a line."""
    return "".join(_panel(way.letter, way.name, results.runs[way.letter]) for way in results.methods)


def _panel(letter: str, name: str, runs: Sequence[ClusterRun]) -> str:
    if not runs:
        return ""
    mean = sum(run.f for run in runs) / len(runs)
    points, last_x, last_y = [], 0, 0
    for run in runs:
        x, y = run.run, round(STEPS * (1 - run.f))
        points.append(f"m{x - last_x} {y - last_y}h0")
        last_x, last_y = x, y
    width = max(run.run for run in runs) + 1
    scale = f"translate(30 8) scale({220 / width:.5f} {100 / STEPS})"
    return (
        f'<figure class="panel {colour_of(letter)}"><figcaption><b>F({escape(letter)})</b> {escape(name)}: '
        f"mean {mean:.3f}</figcaption>"
        f'<svg viewBox="0 0 256 124" role="img" aria-label="F of {len(runs)} runs, {escape(name)}, mean {mean:.3f}">'
        f"{_grid(30, 250, 8, 108)}"
        f'<g transform="{scale}"><path class="dots" d="{"".join(points)}"/></g>'
        f'<path class="mean" d="M30 {108 - 100 * mean:.1f}h220"/>'
        f'<text class="tick" x="30" y="120">1</text><text class="tick end" x="250" y="120">{width:,}</text>'
        "</svg></figure>"
    )


def _grid(left: float, right: float, top: float, bottom: float) -> str:
    """Lines and names of F from 0 (bottom) to 1 (top)."""
    parts = []
    for step in range(0, 11, 2):
        y = bottom - (bottom - top) * step / 10
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{right}"/>')
        parts.append(f'<text class="tick end" x="{left - 4}" y="{y + 3:.1f}">{step / 10:g}</text>')
    return "".join(parts)


def configuration_lines(results: TaskResults, measure: str, title: str) -> str:
    """Figures 5-5 to 5-8: mean F or accuracy (up) over the configurations (across), a line a coloured method."""
    configurations = results.configurations
    letters = [letter for letter in results.letters if letter in COLOURED] or results.letters[: len(COLOURED)]
    if len(configurations) < 2:
        return ""
    left, right, top, bottom = 34, 300, 10, 190
    across = {
        configuration: left + 20 + (right - left - 40) * k / (len(configurations) - 1)
        for k, configuration in enumerate(configurations)
    }
    lines, ends = [], []
    for letter in letters:
        places = []
        for configuration in configurations:
            found = results.average(letter, configuration)
            if found is not None:
                places.append((across[configuration], bottom - (bottom - top) * getattr(found, measure)))
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2"/>' for x, y in places)
        lines.append(f'<g class="{colour_of(letter)}"><path class="line" d="{path}"/>{marks}</g>')
        ends.append((places[-1][1], letter))
    labels = []
    for y, told, letter in _apart(ends, 12):
        labels.append(
            f'<g class="{colour_of(letter)}"><path class="lead" d="M{across[configurations[-1]] + 5:.1f} {y:.1f}'
            f'L{right + 2} {told:.1f}"/>'
            f'<text class="name" x="{right + 5}" y="{told + 4:.1f}">{escape(letter)}</text></g>'
        )
    ticks = "".join(f'<text class="tick mid" x="{x:.1f}" y="206">{c}</text>' for c, x in across.items())
    return (
        f'<figure class="wide"><figcaption>{escape(title)}</figcaption><svg viewBox="0 0 330 222" role="img" '
        f'aria-label="{escape(title)} by configuration; the numbers are in the table below">'
        f"{_grid(left, right, top, bottom)}{''.join(lines)}{''.join(labels)}{ticks}"
        f'<text class="tick mid" x="{(left + right) / 2}" y="219">configuration</text></svg></figure>'
    )


def _apart(ends: Sequence[tuple[float, str]], least: float) -> list[tuple[float, float, str]]:
    """Where names stand beside the ends of lines, from the top: as near as can be, at least so far from each other."""
    placed: list[tuple[float, float, str]] = []
    for y, letter in sorted(ends):
        told = y if not placed else max(y, placed[-1][1] + least)
        placed.append((y, told, letter))
    over = max(placed[-1][1] - 196, 0) if placed else 0
    return [(y, told - over, letter) for y, told, letter in placed]


def drops(results: TaskResults) -> str:
    """Mean F of each method in configurations 1, 2 and 3 on one line: the longer the line, the more it loses."""
    left, right, row = 92, 400, 20
    height = 26 + row * len(results.letters)
    parts = []
    for step in range(0, 11, 2):
        x = left + (right - left) * step / 10
        parts.append(f'<path class="grid" d="M{x:.1f} 20V{height - 4}"/>')
        parts.append(f'<text class="tick mid" x="{x:.1f}" y="14">{step / 10:g}</text>')
    for k, way in enumerate(results.methods):
        y = 30 + row * k
        found = {c: average for c in (1, 2, 3) if (average := results.average(way.letter, c)) is not None}
        if not found:
            continue
        at = {c: left + (right - left) * average.f for c, average in found.items()}
        marks = [f'<path class="line" d="M{min(at.values()):.1f} {y}H{max(at.values()):.1f}"/>']
        for c, x in at.items():
            marks.append(_mark(c, x, y))
        said = " → ".join(f"{average.f:.3f}" for average in found.values())
        parts.append(
            f'<g class="{colour_of(way.letter)}"><text class="name end" x="{left - 8}" y="{y + 4}">'
            f'{escape(way.letter)} <tspan class="soft">{escape(way.name)}</tspan></text>{"".join(marks)}'
            f'<text class="tick" x="{right + 8}" y="{y + 3}">{said}</text></g>'
        )
    return (
        '<figure class="scroll"><figcaption>Mean F by configuration: '
        f"{_legend()}</figcaption>"
        f'<svg viewBox="0 0 560 {height}" width="560" height="{height}" role="img" '
        'aria-label="Mean F of each method in each configuration">'
        f"{''.join(parts)}</svg></figure>"
    )


def _mark(configuration: int, x: float, y: float) -> str:
    if configuration == 1:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>'
    if configuration == 2:
        return f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="3.6"/>'
    return f'<path class="diamond" d="M{x:.1f} {y - 5.5:.1f}l5.5 5.5l-5.5 5.5l-5.5 -5.5z"/>'


def _legend() -> str:
    return " ".join(
        f'<svg class="key" viewBox="0 0 14 14" aria-hidden="true">{_mark(c, 7, 7)}</svg>&nbsp;{c}' for c in (1, 2, 3)
    )


def neighbour_bars(results: TaskResults) -> str:
    """DocView's Figure 5: F1 of each class (groups), a bar a coloured method and `docview`."""
    shown = [letter for letter in results.letters if letter in (*COLOURED, "D") and results.neighbours[letter]]
    classes = results.task.classes
    if not shown:
        return ""
    bar, gap, left, bottom = 11, 14, 34, 150
    group = bar * len(shown) + gap
    width = left + group * len(classes) + 6
    parts = [_grid(left, width - 4, 10, bottom)]
    for c, name in enumerate(classes):
        start = left + 4 + group * c
        for k, letter in enumerate(shown):
            value = results.neighbours[letter][c].f
            height = (bottom - 10) * value
            x = start + bar * k
            parts.append(
                f'<g class="{colour_of(letter)}"><rect class="bar" x="{x}" y="{bottom - height:.1f}" width="{bar - 2}" '
                f'height="{height:.1f}"><title>{escape(name)}, {escape(letter)}: {value:.3f}</title></rect>'
                f'<text class="under" x="{x + (bar - 2) / 2}" y="{bottom + 9}">{escape(letter)}</text></g>'
            )
        middle = start + (group - gap) / 2
        parts.append(f'<text class="tick mid" x="{middle:.1f}" y="{bottom + 22}">{escape(_short(name))}</text>')
    return (
        '<figure class="scroll"><figcaption>F1 of each class, chi-square and k-NN on held-out pages</figcaption>'
        f'<svg viewBox="0 0 {width} 178" width="{width}" height="178" role="img" aria-label="F1 by class, method">'
        f"{''.join(parts)}</svg></figure>"
    )


def _short(name: str, most: int = 14) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
