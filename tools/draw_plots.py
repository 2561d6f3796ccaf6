"""Draw the plots of docs/benchmarks.md from benchmarks/RESULTS.md, as SVG: `python tools/draw_plots.py`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from math import floor, log10
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
PLOTS = ROOT / "docs" / "plots"
COLOURS = ("#00796b", "#b0a070", "#5b7fa6")
"""webwinnow first."""
FONT = "font-family='system-ui, sans-serif' font-size='12' fill='#1d2626'"
WIDE, LABELS, BAR = 760, 250, 15
_NUMBER = re.compile(r"[\d,]*\.?\d+")


def tables(text: str) -> dict[str, list[list[str]]]:
    """The rows of the first table of each section of the results, without header and emphasis."""
    found: dict[str, list[list[str]]] = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        name, _, body = section.partition("\n")
        table = re.search(r"(?:^\|.*\n)+", body, re.MULTILINE)
        rows = table[0].splitlines()[2:] if table else []
        found[name.strip()] = [[cell.strip().replace("**", "") for cell in row.strip("|").split("|")] for row in rows]
    return found


def number(text: str) -> float:
    """The first number in a cell."""
    found = _NUMBER.search(text)
    if found is None:
        raise ValueError(f"there is no number in {text!r}")
    return float(found[0].replace(",", ""))


def bars(title: str, groups: Mapping[str, Sequence[float]], names: Sequence[str], low: float, form: str) -> str:
    """Horizontal bars: for each group one bar per name, on an axis that begins at `low`."""
    most = max(value for values in groups.values() for value in values)
    step = BAR * len(names) + 12
    high = 64 + step * len(groups)
    lines = _head(title, WIDE, high)
    lines += _legend(names) if len(names) > 1 else []
    length = WIDE - LABELS - 70
    for place, (group, values) in enumerate(groups.items()):
        top = 52 + step * place
        lines.append(f"<text x='{LABELS - 8}' y='{top + step / 2 - 2:.0f}' text-anchor='end'>{escape(group)}</text>")
        for series, value in enumerate(values):
            wide = max(length * (value - low) / (most - low), 0)
            y = top + BAR * series
            lines.append(f"<rect x='{LABELS}' y='{y}' width='{wide:.1f}' height='{BAR - 2}' fill='{COLOURS[series]}'/>")
            lines.append(f"<text x='{LABELS + wide + 5:.1f}' y='{y + 11}' font-size='11'>{value:{form}}</text>")
    note = f"The axis begins at {low:g}." if low else ""
    lines.append(f"<text x='{LABELS}' y='{high - 2}' font-size='10'>{note}</text>")
    return "\n".join([*lines, "</svg>", ""])


def curves(title: str, series: Mapping[str, Sequence[tuple[float, float]]], x_name: str, y_name: str) -> str:
    """Lines from the origin, each with its name at its end."""
    wide, high, left, bottom = WIDE, 340, 70, 290
    most_x = max(x for points in series.values() for x, _ in points)
    most_y = max(y for points in series.values() for _, y in points)
    lines = _head(title, wide, high)

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (wide - left - 110) * x / most_x, bottom - (bottom - 50) * y / most_y

    for value in ticks(most_y):
        _, y = place(0, value)
        lines.append(f"<line x1='{left}' x2='{wide - 110}' y1='{y:.1f}' y2='{y:.1f}' stroke='#dde3e3'/>")
        lines.append(f"<text x='{left - 8}' y='{y + 4:.1f}' text-anchor='end' font-size='11'>{value:,.0f}</text>")
    for value in ticks(most_x):
        x, _ = place(value, 0)
        lines.append(f"<text x='{x:.1f}' y='{bottom + 18}' text-anchor='middle' font-size='11'>{value:,.0f}</text>")
    for colour, (name, points) in zip(COLOURS, series.items(), strict=True):
        placed = [place(x, y) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        lines.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2.2'/>")
        lines += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{colour}'/>" for x, y in placed]
        x, y = placed[-1]
        lines.append(f"<text x='{x + 9:.1f}' y='{y + 4:.1f}' fill='{colour}' font-weight='600'>{escape(name)}</text>")
    lines.append(
        f"<text x='{(left + wide - 110) / 2:.0f}' y='{high - 10}' text-anchor='middle'>{escape(x_name)}</text>"
    )
    lines.append(f"<text x='{left - 60}' y='40'>{escape(y_name)}</text>")
    return "\n".join([*lines, "</svg>", ""])


def ticks(most: float) -> list[float]:
    """Round numbers from 0 up to `most`, four to eight of them."""
    power = 10 ** floor(log10(most))
    step = next(part * power for part in (0.2, 0.5, 1, 2) if most / (part * power) <= 7)
    return [step * place for place in range(floor(most / step) + 1)]


def _head(title: str, wide: int, high: int) -> list[str]:
    return [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {wide} {high}' width='{wide}' height='{high}' "
        f"role='img' {FONT}>",
        f"<title>{escape(title)}</title>",
        f"<rect width='{wide}' height='{high}' fill='#ffffff'/>",
        f"<text x='10' y='20' font-weight='600' font-size='14'>{escape(title)}</text>",
    ]


def _legend(names: Sequence[str]) -> list[str]:
    lines, x = [], LABELS
    for colour, name in zip(COLOURS, names, strict=False):
        lines.append(f"<rect x='{x}' y='30' width='11' height='11' fill='{colour}'/>")
        lines.append(f"<text x='{x + 16}' y='40'>{escape(name)}</text>")
        x += 40 + 7 * len(name)
    return lines


def plots(text: str) -> dict[str, str]:
    """All plots of a file of results, by name."""
    found = tables(text)
    quality = {
        re.sub(r": F1.*", "", what): (number(measured), number(measured.partition("best peer")[2]))
        for what, measured in found["page"]
        if "best peer" in measured
    }
    groups = {}
    for what, page, combined in found["sites"]:
        if what.startswith("sites-news, on no news"):
            groups[what.removeprefix("sites-news, on no news, ").removesuffix(": word F1")] = (
                number(combined),
                number(page),
            )
    groups["all pages"] = groups.pop("all pages")  # last, as the largest
    speed = {
        re.sub(r"webwinnow clean --method (\w+)", r"webwinnow, \1", what.removesuffix(", ms per page")).replace(
            " --no-view --no-replicas", ", text only"
        ): (1000 / number(measured),)
        for what, measured in found["clean"]
        if what.endswith("ms per page")
    }
    time: dict[str, list[tuple[float, float]]] = {}
    memory: dict[str, list[tuple[float, float]]] = {}
    for engine, _, pages, seconds, _, peak, _ in found["scale"]:
        time.setdefault(engine, []).append((number(pages), number(seconds)))
        memory.setdefault(engine, []).append((number(pages), number(peak)))
    return {
        "quality": bars(
            "Word F1 on single pages of unseen sites",
            quality,
            ("webwinnow, method page", "best other tool"),
            0.5,
            ".3f",
        ),
        "sites": bars(
            "Word F1 on news sites, page model trained on no news", groups, ("combined", "page alone"), 0.9, ".4f"
        ),
        "speed": bars("Pages per second of CPU", speed, ("pages/s",), 0, ".0f"),
        "time": curves("Seconds for a crawl of 100,000 sites, two cores", time, "pages", "seconds"),
        "memory": curves("Peak memory of all processes", memory, "pages", "MB"),
    }


def main() -> None:
    """Write the plots."""
    PLOTS.mkdir(exist_ok=True)
    for name, plot in plots(RESULTS.read_text(encoding="utf-8")).items():
        (PLOTS / f"{name}.svg").write_text(plot, encoding="utf-8")


if __name__ == "__main__":
    main()
