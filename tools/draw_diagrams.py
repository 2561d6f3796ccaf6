"""Draw the diagrams of docs/concepts and docs/design.md as SVG: `python tools/draw_diagrams.py`.

A diagram is boxes on a grid, joined by arrows. Colours have the same meaning everywhere: green is kept, red is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
FILLS = {"plain": "#eef3f3", "kept": "#d9efd9", "removed": "#f7dcd8", "store": "#fff6da", "none": "none"}
LINE = 16
FONT = "font-family='system-ui, sans-serif' font-size='12'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A box with lines of text; the first one is bold if `titled`."""

    x: int
    y: int
    wide: int
    text: Sequence[str]
    fill: str = "plain"
    titled: bool = False
    mono: bool = False

    @property
    def high(self) -> int:
        """Height in pixels."""
        return LINE * len(self.text) + 12

    def svg(self) -> Iterator[str]:
        """The rectangle and its lines."""
        edge = "none" if self.fill == "none" else "#7a8a8a"
        yield f"<rect x='{self.x}' y='{self.y}' width='{self.wide}' height='{self.high}' rx='5'"
        yield f" fill='{FILLS[self.fill]}' stroke='{edge}'/>"
        face = " font-family='ui-monospace, monospace'" if self.mono else ""
        for number, line in enumerate(self.text):
            weight = " font-weight='600'" if self.titled and number == 0 else ""
            spaces = " xml:space='preserve'" if self.mono else ""
            at = self.y + LINE * (number + 1) + 2
            yield f"<text x='{self.x + 9}' y='{at}'{weight}{face}{spaces}>{escape(line)}</text>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """A line from one point to another, with a word beside it."""

    points: Sequence[tuple[int, int]]
    word: str = ""
    headless: bool = False

    def svg(self) -> Iterator[str]:
        """The line, and the word above its middle."""
        path = " ".join(f"{x},{y}" for x, y in self.points)
        head = "" if self.headless else " marker-end='url(#head)'"
        yield f"<polyline points='{path}' fill='none' stroke='#4a5a5a' stroke-width='1.3'{head}/>"
        if self.word:
            (x0, y0), (x1, y1) = self.points[0], self.points[-1]
            yield f"<text x='{(x0 + x1) // 2}' y='{(y0 + y1) // 2 - 6}' text-anchor='middle' font-style='italic'>"
            yield f"{escape(self.word)}</text>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagram:
    """Boxes and arrows, with a description for those who cannot see them."""

    name: str
    wide: int
    high: int
    title: str
    parts: Sequence[Box | Arrow] = field(default=())

    def svg(self) -> str:
        """The whole file."""
        lines = [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {self.wide} {self.high}' "
            f"width='{self.wide}' height='{self.high}' role='img' {FONT} fill='#1d2626'>",
            f"<title>{escape(self.title)}</title>",
            "<defs><marker id='head' viewBox='0 0 8 8' refX='7' refY='4' markerWidth='7' markerHeight='7' "
            "orient='auto'><path d='M0,0 L8,4 L0,8 z' fill='#4a5a5a'/></marker></defs>",
            f"<rect width='{self.wide}' height='{self.high}' fill='#ffffff'/>",
            *("".join(part.svg()) for part in self.parts),
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def _tree(nodes: Sequence[tuple[int, int, str, str, int | None]]) -> Iterator[Box | Arrow]:
    """Nodes (x, y, label, fill, parent) as small boxes with lines to their parents."""
    for x, y, _, _, parent in nodes:
        if parent is not None:
            px, py = nodes[parent][:2]
            yield Arrow(points=[(px + 44, py + 28), (x + 44, y)], headless=True)
    for x, y, label, fill, _ in nodes:
        yield Box(x=x, y=y, wide=88, text=[label], fill=fill)


PAGE_TREE = Diagram(
    name="concepts/page-tree.svg",
    wide=820,
    high=330,
    title="A page as HTML, as a tree, and as arrays: nodes in preorder, with tag, parent and end of each",
    parts=(
        Box(
            x=10,
            y=14,
            wide=270,
            mono=True,
            text=[
                "<nav><a href='/'>Home</a>",
                "     <a href='/news'>News</a></nav>",
                "<main><h1>Seals</h1>",
                "  <p>Volunteers counted",
                "     <b>1,312</b> seals.</p></main>",
            ],
        ),
        Arrow(points=[(284, 60), (326, 60)], word="parse"),
        *_tree(
            [
                (520, 14, "1  body", "plain", None),
                (400, 66, "2  nav", "plain", 0),
                (640, 66, "5  main", "plain", 0),
                (336, 118, "3  a", "plain", 1),
                (440, 118, "4  a", "plain", 1),
                (580, 118, "6  h1", "plain", 2),
                (700, 118, "7  p", "plain", 2),
                (700, 170, "8  b", "plain", 6),
            ]
        ),
        Box(
            x=10,
            y=210,
            wide=800,
            mono=True,
            text=[
                "node     0      1      2      3      4      5      6      7      8",
                "tag      #root  body   nav    a      a      main   h1     p      b",
                "parent   -1     0      1      2      2      1      5      5      7",
                "end      9      9      5      4      5      9      7      9      9     "
                + "the subtree of node i is i : end[i]",
                "run owners  3 Home   4 News   6 Seals   7 Volunteers counted   8 1,312   7 seals.",
            ],
        ),
    ),
)

SITE_TREE = Diagram(
    name="concepts/site-tree.svg",
    wide=820,
    high=330,
    title="Three pages of a site overlaid: parts that all fill with the same words have importance 0, others near 1",
    parts=(
        *(
            Box(
                x=10,
                y=y,
                wide=220,
                text=[f"page {number}", "Home  News  Sport", words, "All rights reserved"],
                titled=True,
            )
            for number, y, words in (
                (1, 14, "Seal count reaches a record"),
                (2, 112, "Old quay lamps return"),
                (3, 210, "Fish market moves"),
            )
        ),
        Arrow(points=[(236, 52), (330, 130)]),
        Arrow(points=[(236, 150), (330, 150)], word="overlay"),
        Arrow(points=[(236, 248), (330, 170)]),
        *_tree(
            [
                (520, 40, "body  3 of 3", "plain", None),
                (380, 130, "nav  3 of 3", "removed", 0),
                (520, 130, "h1  3 of 3", "kept", 0),
                (660, 130, "footer  3 of 3", "removed", 0),
            ]
        ),
        Box(x=366, y=176, wide=120, text=["the same words", "entropy 1", "importance 0"], fill="none"),
        Box(x=508, y=176, wide=130, text=["different words", "entropy 0", "importance 1"], fill="none"),
        Box(x=648, y=176, wide=130, text=["the same words", "entropy 1", "importance 0"], fill="none"),
        Box(
            x=366,
            y=254,
            wide=444,
            text=[
                "A new page is mapped onto this tree, element by element:",
                "what falls on importance at most the threshold is removed.",
            ],
        ),
    ),
)

STRUCTURES = Diagram(
    name="concepts/structures.svg",
    wide=820,
    high=300,
    title="Structures of a page: section, label and value, list, data table, headline, records, the end of an article",
    parts=(
        Box(
            x=10,
            y=14,
            wide=250,
            text=["section", "heading: kept exactly if", "something below it is kept"],
            titled=True,
            fill="kept",
        ),
        Box(
            x=10,
            y=92,
            wide=250,
            text=["label and value", "Capacity | 0.9 litres", "a value keeps its label"],
            titled=True,
            fill="kept",
        ),
        Box(
            x=10,
            y=170,
            wide=250,
            text=["list", "items are kept or removed together,", "the sentence before it with them"],
            titled=True,
            fill="kept",
        ),
        Box(
            x=286,
            y=14,
            wide=250,
            mono=True,
            titled=True,
            fill="kept",
            text=[
                "data table",
                "Sailing | Harbour | Oster",
                "101     | 06:15   | 07:40",
                "103     | 08:30   | 09:55",
                "111     | 22:30   | 23:55",
            ],
        ),
        Box(x=286, y=110, wide=250, text=["rows and columns go as wholes,", "never a single cell"], fill="none"),
        Box(
            x=286,
            y=170,
            wide=250,
            text=["headline", "the heading that the title confirms;", "what is above it is rarely content"],
            titled=True,
            fill="kept",
        ),
        Box(
            x=562,
            y=14,
            wide=248,
            titled=True,
            fill="kept",
            text=[
                "records",
                "[ Heron kettle   89.00 ]",
                "[ Drum kettle    46.50 ]",
                "[ Wren kettle    34.00 ]",
                "a kept record keeps all its fields",
            ],
        ),
        Box(
            x=562,
            y=126,
            wide=248,
            text=["what follows an article", "comments, further articles and", "link teasers are removed"],
            titled=True,
            fill="removed",
        ),
        Box(
            x=10,
            y=248,
            wide=800,
            text=["The blocks of a whole get one probability, so the same cut keeps or removes all of them."],
        ),
    ),
)

VERDICT = Diagram(
    name="concepts/verdict.svg",
    wide=820,
    high=420,
    title="How a verdict is reached: blocks, page model, site evidence, structures, cut, kinds and task",
    parts=(
        Box(x=10, y=14, wide=180, text=["1  blocks", "runs of text that are", "judged as one"], titled=True),
        Arrow(points=[(194, 44), (226, 44)]),
        Box(
            x=230,
            y=14,
            wide=240,
            text=["2  evidence of the page", "words, links, length, tags, place:", "a probability for each block"],
            titled=True,
        ),
        Arrow(points=[(474, 44), (506, 44)]),
        Box(
            x=510,
            y=14,
            wide=300,
            text=["3  evidence of the site", "how many other pages say it;", "what else they have in its place"],
            titled=True,
        ),
        Box(
            x=650,
            y=96,
            wide=160,
            text=["model of the site:", "up to 500 of its pages"],
            fill="store",
        ),
        Arrow(points=[(730, 96), (730, 78)]),
        Arrow(points=[(580, 76), (580, 178)]),
        Box(
            x=510,
            y=180,
            wide=300,
            text=["4  structures", "tables, lists, records, sections:", "one probability for a whole"],
            titled=True,
        ),
        Arrow(points=[(506, 210), (474, 210)]),
        Box(
            x=230,
            y=180,
            wide=240,
            text=["5  the cut", "highest expected word F1 of this", "page; --favor shifts it"],
            titled=True,
        ),
        Arrow(points=[(226, 210), (117, 210), (117, 316)]),
        Arrow(points=[(350, 244), (350, 270)]),
        Box(x=230, y=272, wide=240, text=["kept", "text, Markdown, HTML, record"], titled=True, fill="kept"),
        Box(
            x=10,
            y=320,
            wide=214,
            text=["removed", "reason, XPath, probability", "in --rejected and --explain"],
            titled=True,
            fill="removed",
        ),
        Arrow(points=[(228, 350), (300, 350)]),
        Box(x=304, y=330, wide=230, text=["6  kind of what was removed", "menu, consent, related, ..."], titled=True),
        Arrow(points=[(538, 350), (576, 350)]),
        Box(x=580, y=330, wide=230, text=["7  task", "may restore kinds for its use"], titled=True),
        Arrow(points=[(690, 326), (690, 292), (474, 292)]),
    ),
)

ROOMS = Diagram(
    name="rooms.svg",
    wide=860,
    high=318,
    title="The rooms: a page flows from run through page, site, judge and record back to run; capabilities plug in",
    parts=(
        Box(x=10, y=66, wide=114, text=["inputs", "WARC, WACZ,", "Parquet, JSONL,", "HTML, URLs"], fill="store"),
        Arrow(points=[(128, 104), (148, 104)]),
        Box(x=150, y=74, wide=104, text=["run", "readers,", "workers, spool"], titled=True),
        Arrow(points=[(258, 104), (290, 104)], word="bytes"),
        Box(x=294, y=74, wide=104, text=["page", "parse once;", "Page"], titled=True),
        Arrow(points=[(402, 104), (434, 104)], word="Page"),
        Box(x=438, y=48, wide=124, text=["site", "parts learned of", "a site's pages"], titled=True),
        Box(x=438, y=122, wide=124, text=["judge, methods", "keep or remove,", "with the reason"], titled=True),
        Arrow(points=[(500, 112), (500, 119)], headless=True),
        Arrow(points=[(566, 150), (610, 150)], word="Verdict"),
        Box(x=614, y=114, wide=116, text=["record", "CleanPage: text,", "Markdown, fields"], titled=True),
        Arrow(points=[(734, 150), (754, 150)]),
        Box(x=756, y=128, wide=96, text=["outputs", "in input order"], fill="store"),
        Box(x=10, y=10, wide=842, text=["cli: the app, and the commands of the core"], titled=True),
        Box(
            x=10,
            y=214,
            wide=842,
            text=[
                "capabilities: a room each, with command, logic, report, settings",
                "inspect   crawl   links   replicas   features   cluster   classify   search   topics   serve   papers",
            ],
            titled=True,
        ),
        Arrow(points=[(202, 210), (202, 146)], word=""),
        Box(x=62, y=176, wide=138, text=["readers, stages"], fill="none"),
        Arrow(points=[(666, 182), (666, 210)]),
        Box(x=672, y=182, wide=138, text=["clean pages, records"], fill="none"),
        Box(
            x=10,
            y=274,
            wide=842,
            text=["storage: model files, atomic writes, SQLite, messages between processes"],
            titled=True,
        ),
    ),
)

DIAGRAMS = (PAGE_TREE, SITE_TREE, STRUCTURES, VERDICT, ROOMS)


def main() -> None:
    """Write all diagrams."""
    for diagram in DIAGRAMS:
        (DOCS / diagram.name).write_text(diagram.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
