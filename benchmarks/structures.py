"""Wholes, not blocks: tables, labels, pictures, headings and headlines, before (`page.wholes=false`) and after.

`python benchmarks/structures.py [PART...] [--pages N] [--sites N] [--model news|nonews] [--methods page,combined]`
prints a line for each measure: what, before, after. Pages are cleaned by `Cleaner`, with page models that have not seen
their site (`heldout.py`; set `WEBWINNOW_FOLD_MODELS`). docs/structures.md defines the measures.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import heldout
import numpy as np
import pyarrow.parquet as pq
from heldout import MORE, NEWS, SHOPS, SINGLE, HeldOutPage, HeldOutSite, nested_folds, nested_model, site_of
from numpy.typing import NDArray
from site_quality import kept_blocks, news_f1, values_of

from webwinnow.judge.evidence import evidence_of
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page._nodes import nearest
from webwinnow.page._words import blank_runs
from webwinnow.page.blocks import runs_of_nodes
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree
from webwinnow.record.cleaner import Cleaner, CleanPage
from webwinnow.record.walk import picture_source
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sums import SiteSums

CRAWL = "crawl-ics"
COLUMNS = ("what", "before", "after")
WHENS = ("before", "after")
HALF = 0.5
"""A text is repeated if this share of the site's pages have it."""
_WORD = re.compile(r"\w+")
_PAIR = re.compile(r":\s*\S")
LABEL_WORDS, LABEL_DISTANCE = 8, 4
"""A label has at most so many words, and its value is at most so many blocks behind it."""
JUDGEMENTS = Path(__file__).with_name("judgements")
Mask = NDArray[np.bool_]
Row = tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Sample:
    """What is measured: at most so many pages (of each site, or of a file) and sites."""

    data: Path
    pages: int | None = None
    sites: int | None = None
    models: tuple[str, ...] = heldout.MODELS
    methods: tuple[str, ...] = ("page", "combined")
    files: tuple[str, ...] = (SINGLE, NEWS, MORE)

    def cleaners(self) -> dict[tuple[str, str], Cleaner]:
        """The cleaners of each method, before and after."""
        return {
            (method, when): Cleaner.of(method, CleaningSettings.from_pairs(SETTINGS[when]))
            for method in self.methods
            for when in WHENS
        }

    def held_out_pages(self, source: str) -> Iterator[HeldOutPage]:
        """Single pages of a file."""
        return heldout.held_out_pages(self.data, source, pages=self.pages) if source in self.files else iter(())

    def held_out_sites(self, source: str, trained_on: str) -> Iterator[HeldOutSite]:
        """Whole sites of a file."""
        most = self.pages or heldout.MOST_PAGES
        if source not in (*self.files, SHOPS):
            return iter(())
        return heldout.held_out_sites(self.data, source, trained_on, sites=self.sites, pages=most)


SETTINGS: dict[str, tuple[str, ...]] = {"before": ("page.wholes=false",), "after": ()}


def structures(data: Path) -> list[Row]:
    """All measures."""
    sample = Sample(data=data)
    return [row for part in PARTS.values() for row in part(sample)]


def _shown(name: str, before: Sequence[float], after: Sequence[float], digits: int = 3) -> Row:
    shown = [", ".join("none" if np.isnan(v) else f"{v:.{digits}f}" for v in values) for values in (before, after)]
    return name, shown[0], f"**{shown[1]}**"


def _mean(values: Iterable[float]) -> float:
    """The mean of the values that are numbers."""
    known = [value for value in values if not np.isnan(value)]
    return statistics.fmean(known) if known else float("nan")


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


# Tables


class Grid(NamedTuple):
    """A table of the page: for each row and column the node of the cell that covers it, -1 for none."""

    table: int
    cells: list[list[int]]
    wide: frozenset[int]
    """Cells that cover several columns."""

    @property
    def is_ragged(self) -> bool:
        """Whether the source itself has rows of different lengths."""
        return len({len(row) for row in self.cells}) > 1

    def numbered(self, text: str) -> set[int]:
        """The rows or columns of a judgement: `0,2-4`, `-` for none, `w` for the rows that are one wide cell."""
        found: set[int] = set()
        for part in text.split(",") if text != "-" else ():
            if part == "w":
                found |= {r for r, row in enumerate(self.cells) if len(set(row)) == 1 and row[0] in self.wide}
            else:
                first, _, last = part.partition("-")
                found |= set(range(int(first), int(last or first) + 1))
        return found


def grids_of(tree: PageTree) -> list[Grid]:
    """The tables without a table inside, with spans expanded; rows without cells are left out."""
    tables = tree.tagged("table")
    around = nearest(tree.parent, tables)
    rows_of: dict[int, list[int]] = defaultdict(list)
    for row in np.flatnonzero(tree.tagged("tr")).tolist():
        rows_of[int(around[row])].append(row)
    return [
        _grid(tree, table, rows_of[table])
        for table in np.flatnonzero(tables).tolist()
        if not tables[table + 1 : tree.end[table]].any()
    ]


def _grid(tree: PageTree, table: int, rows: list[int]) -> Grid:
    cells, wide, hanging = [], set(), {}
    for row in rows:
        line: list[int] = []
        for child in tree[row].children:
            if child.tag not in ("td", "th"):
                continue
            while hanging.get(len(line), (0, 0))[1]:
                _hang(hanging, line)
            across, down = (_span(tree.attribute(child.index, name)) for name in ("colspan", "rowspan"))
            if across > 1:
                wide.add(child.index)
            for _ in range(across):
                if down > 1:
                    hanging[len(line)] = (child.index, down - 1)
                line.append(child.index)
        while hanging.get(len(line), (0, 0))[1]:
            _hang(hanging, line)
        if line:
            cells.append(line)
    return Grid(table, cells, frozenset(wide))


def _hang(hanging: dict[int, tuple[int, int]], line: list[int]) -> None:
    cell, left = hanging[len(line)]
    hanging[len(line)] = (cell, left - 1)
    line.append(cell)


def _span(written: str | None) -> int:
    return min(max(int(written), 1), 50) if written and re.fullmatch(r"[0-9]{1,6}", written) else 1


class Kept:
    """What of each node's text a clean page keeps."""

    def __init__(self, tree: PageTree, clean: CleanPage) -> None:
        self.tree, self.clean = tree, clean
        says = ~blank_runs(tree.text, tree.run_start) & tree.visible[tree.run_owner]
        runs = clean.verdict.keep_runs & clean.verdict.keep[tree.run_owner]
        self.runs = runs
        first, last = runs_of_nodes(tree)
        total, kept = (np.concatenate(([0], np.cumsum(some))) for some in (says, says & runs))
        self.words, self.kept = total[last] - total[first], kept[last] - kept[first]

    def says(self, node: int) -> bool:
        """Whether a node has visible text."""
        return node >= 0 and bool(self.words[node])

    def any(self, node: int) -> bool:
        """Whether some of its text is kept."""
        return bool(self.kept[node])

    def all(self, node: int) -> bool:
        """Whether all of its text is kept."""
        return bool(self.kept[node] == self.words[node])

    def inside(self, node: int, output: str) -> str:
        """What is kept of one node alone, rendered."""
        verdict, tree = self.clean.verdict, self.tree
        nodes = np.zeros(len(tree), np.bool_)
        nodes[node : tree.end[node]] = True
        keep = verdict.keep & nodes
        alone = dataclasses.replace(verdict, keep=keep, keep_runs=verdict.keep_runs & nodes[tree.run_owner])
        return dataclasses.replace(self.clean, verdict=alone).render(output)


_TABLE_LINE = re.compile(r"^[\s>]*(?:(?:-|\d+\.) )?\|.*\|$")
_RULE = re.compile(r"^[\s>]*\|(?: --- \|)+$")
_BAR = re.compile(r"(?<!\\)\|")


def markdown_tables(markdown: str) -> list[list[int]]:
    """For each table of a Markdown text, the number of cells of each row."""
    found = []
    for is_table, lines in groupby(markdown.split("\n"), key=lambda line: bool(_TABLE_LINE.match(line))):
        several = list(lines)
        if is_table and len(several) > 1 and _RULE.match(several[1]):
            found.append([len(_BAR.findall(line)) - 1 for line in several])
    return found


class TableCounts(NamedTuple):
    """Kept tables of two rows and columns or more; how many of them are damaged although their source is not."""

    kept: int = 0
    ragged: int = 0
    ragged_text: int = 0
    holed: int = 0
    """A cell is missing although others of its row and of its column are kept."""
    shown: int = 0
    shown_ragged: int = 0
    """Tables of the page's Markdown, whatever their source, and those of them that are ragged."""

    def plus(self, other: TableCounts) -> TableCounts:
        return TableCounts(*map(sum, zip(self, other, strict=True)))


def count_tables(grids: list[Grid], tree: PageTree, clean: CleanPage) -> TableCounts:
    """The kept tables of one page."""
    kept, counts = Kept(tree, clean), Counter()
    widths = markdown_tables(clean.markdown)
    ragged = sum(len(set(table)) > 1 for table in widths)
    for grid in grids:
        if not kept.any(grid.table):
            continue
        rows = [row for row in grid.cells if any(map(kept.says, row))]
        if len(rows) < 2 or max(map(len, rows)) < 2:
            continue
        lines = [line for line in kept.inside(grid.table, "text").split("\n") if line.strip()]
        if not any("|" in line for line in lines):
            continue  # a layout table, or nothing but one column is left
        counts["kept"] += 1
        if grid.is_ragged:
            continue
        if ragged:
            tables = markdown_tables(kept.inside(grid.table, "markdown"))
            counts["ragged"] += any(len(set(table)) > 1 for table in tables)
        if not any("|" in tree[cell].text for row in rows for cell in row if cell >= 0):
            titles = [len(set(row) - {-1}) == 1 for row in rows]  # a row that is one cell is a line of its own
            is_row = [not title for title in titles] if len(lines) == len(rows) else [False] * len(lines)
            widths_of = {line.count("|") for line, row in zip(lines, is_row, strict=True) if row or "|" in line}
            counts["ragged_text"] += len(widths_of) > 1
        counts["holed"] += _is_holed(grid, kept)
    return TableCounts(**counts, shown=len(widths), shown_ragged=ragged)


def _is_holed(grid: Grid, kept: Kept) -> bool:
    narrow = [
        (r, c, cell)
        for r, row in enumerate(grid.cells)
        for c, cell in enumerate(row)
        if cell not in grid.wide and kept.says(cell)
    ]
    rows = {r for r, _, cell in narrow if kept.any(cell)}
    columns = {c for _, c, cell in narrow if kept.any(cell)}
    return any(r in rows and c in columns and not kept.any(cell) for r, c, cell in narrow)


# Labels of values, and repeated words


def labels_of(page: HeldOutPage, often: Mask) -> NDArray[np.int64]:
    """For each block with text the block that labels it, -1 for none.

    That is the nearest block before it that half of the site's pages have, in the same table row, `dl` or parent, if it
    reads like a label: short, visible, with a letter, not a link or a button, and not a pair itself (`Age: NA`).
    """
    tree, evidence, blocks = page.context.tree, evidence_of(page.context), page.context.blocks
    owner, run = blocks.owner[evidence.said], tree.run_owner[blocks.first_run[evidence.said]]
    holders = [nearest(tree.parent, tree.tagged(tag))[owner] for tag in ("tr", "dl")]
    holders.append(tree.parent[owner])
    pressed = nearest(tree.parent, tree.tagged("a", "button"))
    labels = often & tree.visible[run] & (evidence.words <= LABEL_WORDS)
    for b in np.flatnonzero(labels).tolist():
        text, runs = " ".join(blocks.text(evidence.said[b]).split()), blocks.first_run[evidence.said[b]]
        own = tree.run_owner[runs : blocks.first_run[evidence.said[b] + 1]]
        links = [tree.run(int(runs) + k).isspace() or pressed[node] >= 0 for k, node in enumerate(own.tolist())]
        labels[b] = not all(links) and not _PAIR.search(text) and any(map(str.isalpha, text))
    found = np.full(len(owner), -1, np.int64)
    for b in np.flatnonzero(~often).tolist():
        for before in range(b - 1, max(b - 1 - LABEL_DISTANCE, -1), -1):
            at = owner[before]
            if not any(h[b] >= 0 and h[b] <= at < tree.end[h[b]] for h in holders):
                break
            if often[before]:
                found[b] = before if labels[before] else -1
                break
    return found


def excused_blocks(
    page: HeldOutPage, grids: list[Grid], often: Mask, mask: Mask, label_of: NDArray[np.int64]
) -> tuple[Mask, Mask]:
    """Repeated blocks that are headings, headers or labels of kept values; then, those and other cells of such tables.

    A table counts if it has a kept cell that is not repeated. Its headers are its first row, `th` cells, and rows that
    are one cell; its labels are the first cells of rows with another kept cell.
    """
    tree, said = page.context.tree, evidence_of(page.context).said
    owner = page.context.blocks.owner[said]
    headings = nearest(tree.parent, tree.tagged("h1", "h2", "h3", "h4", "h5", "h6"))
    excused = headings[owner] >= 0
    labels = label_of[mask & ~often]
    excused[labels[labels >= 0]] = True
    cell_of = nearest(tree.parent, tree.tagged("td", "th"))[owner]
    own, kept = (set(cell_of[some].tolist()) - {-1} for some in (mask & ~often, mask))
    of_tables, all_cells = set(), set()
    for grid in grids:
        rows = [[cell for cell in dict.fromkeys(row) if cell >= 0] for row in grid.cells]
        if len(rows) > 1 and any(own & set(row) for row in rows):
            all_cells |= {cell for row in rows for cell in row}
            of_tables |= {cell for k, row in enumerate(rows) for cell in row
                          if k == 0 or len(row) == 1 or tree.tag_name(cell) == "th"}  # fmt: skip
            of_tables |= {row[0] for row in rows if kept & set(row[1:])}
    return excused | np.isin(cell_of, sorted(of_tables)), excused | np.isin(cell_of, sorted(all_cells))


def _named(page: HeldOutPage) -> Mask:
    """Blocks that are the page's title or a part of it: names, which have no label where they are the headline."""
    blocks, said = page.context.blocks, evidence_of(page.context).said
    title, *texts = (
        " ".join(["", *_WORD.findall(text.lower()), ""])
        for text in (page.context.tree.head.title, *map(blocks.text, said.tolist()))
    )
    return np.array([bool(text.strip()) and text in title for text in texts], np.bool_)


class ShopScores(NamedTuple):
    """Measures of one site: see `shops`."""

    recall: float
    kept: float
    repeated: float
    repeated_unexcused: float
    repeated_elsewhere: float
    labelled: float


def shop_scores(site: HeldOutSite, cleaner: Cleaner, shared: dict[str, Any]) -> tuple[ShopScores, TableCounts]:
    """Recall of true values, words kept, repeated words, and labels of kept values; tables of the site."""
    counts, rows = TableCounts(), []
    for page, clean in site.cleaned(cleaner):
        tree, evidence = page.context.tree, evidence_of(page.context)
        known = shared.setdefault(page.row["page_id"], {})
        if not known:
            said = 2 * shared["table"].pages_that_say(evidence.text)
            often = said >= len(site.pages)
            known |= {
                "often": often,
                "grids": grids_of(tree),
                "values": values_of(page),
                "labels": labels_of(page, often),
                "named": _named(page),
            }
        often, grids, values, labels = (known[name] for name in ("often", "grids", "values", "labels"))
        counts = counts.plus(count_tables(grids, tree, clean))
        mask, words = kept_blocks(page, clean), evidence.words
        repeated = mask & often
        excused, in_tables = excused_blocks(page, grids, often, mask, labels)
        spelled = [any(mask[list(s)].all() for s in found) for found in values if found]
        with_label = [
            [bool(mask[labels[s[0]]]) for s in found if mask[list(s)].all() and labels[s[0]] >= 0]
            for found in values
            if not any(mask[list(s)].all() and known["named"][s[0]] for s in found)
        ]
        rows.append(
            ShopScores(
                _mean(spelled) if spelled else 1.0,
                words[mask].sum() / max(words.sum(), 1),
                words[repeated].sum() / max(words[mask].sum(), 1),
                words[repeated & ~excused].sum() / max(words[mask].sum(), 1),
                words[repeated & ~in_tables].sum() / max(words[mask].sum(), 1),
                _mean(any(found) for found in with_label if found),
            )
        )
    return ShopScores(*(_mean(getattr(row, name) for row in rows) for name in ShopScores._fields)), counts


def shops(sample: Sample) -> list[Row]:
    """Tables, recall, repeated words and labels on sites-swde."""
    rows = []
    for trained_on in sample.models:
        scores: dict[tuple[str, str], list[ShopScores]] = defaultdict(list)
        tables: dict[tuple[str, str], TableCounts] = defaultdict(TableCounts)
        for site in sample.held_out_sites(SHOPS, trained_on):
            known = {"table": site.learned(Cleaner.of("combined")).block_table}
            for key, cleaner in sample.cleaners().items():
                found, counts = shop_scores(site, cleaner, known)
                scores[key].append(found)
                tables[key] = tables[key].plus(counts)
        for method in sample.methods:
            name = f"sites-swde, {trained_on}, {method}"
            before, after = (
                ShopScores(*(_mean(getattr(s, f) for s in scores[method, when]) for f in ShopScores._fields))
                for when in WHENS
            )
            rows.append(_shown(f"{name}: recall, words kept", before[:2], after[:2]))
            rows.append(
                _shown(
                    f"{name}: repeated words; not counting headings, headers and labels; nor cells of data tables",
                    before[2:5],
                    after[2:5],
                    4,
                )
            )
            rows.append(_shown(f"{name}: kept values that keep their label", before[5:], after[5:]))
            ratios = []
            for when in WHENS:
                t = tables[method, when]
                ratios.append([_share(n, t.kept) for n in (t.ragged, t.ragged_text, t.holed)])
            t, u = (tables[method, when] for when in WHENS)
            rows.append(
                (
                    f"{name}: ragged of all Markdown tables",
                    f"{t.shown_ragged:,} of {t.shown:,}",
                    f"{u.shown_ragged:,} of {u.shown:,}",
                )
            )
            rows.append(
                _shown(
                    f"{name}: kept data tables ragged although the source is not, Markdown, text; with missing cells",
                    *ratios,
                )
            )
    return rows


# Headings and headlines

_TITLE_PARTS = re.compile(r"\s*[|–—»·]\s*|\s+-+\s+|:\s+|\s+::?\s+|\s+/\s+|\s*<\s*")
_PLAIN = re.compile(r"[\W_]+")
_BOUNDS = "li td th dd article aside nav section footer form details dialog".split()
_HEADINGS, _NO_HEADLINE = "h1 h2 h3 h4 h5 h6", "a li option select form nav footer button"
LEAST_HEADING, LEAST_TITLE = 3, 8
"""Letters and digits of a headline that is a heading, and of another, at least."""


def plain(text: str) -> str:
    """Letters and digits alone, in lower case."""
    return _PLAIN.sub("", text.lower())


def headlines_of(page: HeldOutPage, common: frozenset[str] = frozenset()) -> list[str]:
    """The title of a page, or neighbouring parts of it, as the page shows it: the longest, and all of half its length.

    Headings, or else other blocks of two words and `LEAST_TITLE` letters that are not in a link, list or form. The name
    of the site is none: its `og:site_name`, its host, and `common`, titles of the site. A page may repeat its whole
    title in a heading beside its headline.
    """
    tree, blocks = page.context.tree, page.context.blocks
    titles = [title for title in (tree.head.title, tree.head.open_graph.get("title", "")) if title]
    split = [[plain(part) for part in _TITLE_PARTS.split(title)] for title in titles]
    parts = {"".join(some[i:j]) for some in split for i in range(len(some)) for j in range(i + 1, len(some) + 1)}
    host = plain(urlsplit(tree.url).netloc)
    parts -= {part for part in parts if part in host or part in common} | {
        plain(tree.head.open_graph.get("site_name", ""))
    }
    owner, texts = tree.run_owner[blocks.first_run[:-1]], blocks.texts()
    shown = tree.visible[owner]
    heads, beside = (nearest(tree.parent, tree.tagged(*tags.split()))[owner] for tags in (_HEADINGS, _NO_HEADLINE))
    written: dict[int, str] = defaultdict(str)
    for b in np.flatnonzero(shown & (heads >= 0)).tolist():
        written[int(heads[b])] += plain(texts[b])
    found = {text for text in written.values() if len(text) >= LEAST_HEADING and text in parts}
    if not found:
        others = (texts[b] for b in np.flatnonzero(shown & (heads < 0) & (beside < 0)).tolist())
        long = (plain(text) for text in others if " " in text)
        found = {text for text in long if len(text) >= LEAST_TITLE and text in parts}
    longest = max(map(len, found), default=0)
    return sorted((text for text in found if 2 * len(text) >= longest), key=len, reverse=True)


class HeadingCounts(NamedTuple):
    """Headings by whether they and their sections are kept, and pages by whether they keep their headline.

    A section is kept if something of the narrow reading is, and removed if nothing of the wide reading is left.
    """

    both: int = 0
    section: int = 0
    heading: int = 0
    neither: int = 0
    pages: int = 0
    in_text: int = 0
    first: int = 0
    once: int = 0

    def plus(self, other: HeadingCounts) -> HeadingCounts:
        return HeadingCounts(*map(sum, zip(self, other, strict=True)))


class Headed(NamedTuple):
    """The blocks of a heading and of what it heads, in a narrow and in a wide reading."""

    own: NDArray[np.intp]
    narrow: NDArray[np.intp]
    wide: NDArray[np.intp]


def sections_of(page: HeldOutPage) -> list[Headed]:
    """What the visible headings of a page head: what is behind them, up to the next heading of their rank or higher.

    Narrow: other visible text inside the nearest element around the heading in which text follows, visible or not.
    Wide: all, headings of lower rank too, that is not beyond a list item, a cell, an `aside` or a `section` around the
    heading. A title with its byline in a box heads, in the narrow reading, the byline only.
    """
    tree, blocks, evidence = page.context.tree, page.context.blocks, evidence_of(page.context)
    runs = blocks.first_run[evidence.said]
    at, shown = tree.run_start[runs], tree.visible[tree.run_owner[runs]]
    of = nearest(tree.parent, tree.tagged(*_HEADINGS.split()))[blocks.owner[evidence.said]]
    bound = nearest(tree.parent, tree.tagged(*_BOUNDS))
    heads = [h for h in np.unique(of[of >= 0]).tolist() if tree.visible[h]]
    ranks = {h: int(tree.tag_name(h)[1]) for h in heads}
    found = []
    for k, head in enumerate(heads):
        own = np.flatnonzero(of == head)
        stop = next((tree.text_start[other] for other in heads[k + 1 :] if ranks[other] <= ranks[head]), len(tree.text))
        last = min(stop, tree.text_end[bound[head]] if bound[head] >= 0 else stop)
        behind = np.flatnonzero((at >= tree.text_end[head]) & (at < last))
        text, around = behind[of[behind] < 0], int(tree.parent[head])
        while len(text) and tree.text_end[around] <= at[text[0]]:
            around = int(tree.parent[around])
        text = text[shown[text]]
        if len(text):
            found.append(Headed(own, text[at[text] < tree.text_end[around]], behind[shown[behind]]))
    return found


def count_headings(page: HeldOutPage, clean: CleanPage, sections: list[Headed], titles: list[str]) -> HeadingCounts:
    """The headings of one page, and its headline. A second one that is a title of the page need not stay."""
    mask, counts = kept_blocks(page, clean), Counter()
    texts, said = page.context.blocks.texts(), evidence_of(page.context).said
    names = {int(own[0]) for own, _, _ in sections if plain(" ".join(texts[said[k]] for k in own)) in titles}
    has_name = any(mask[k] for k in names)
    for own, narrow, wide in sections:
        if own[0] in names and has_name and not mask[own].any():
            continue
        stays = bool(mask[own].any())
        if mask[narrow].any():
            counts["both" if stays else "section"] += 1
        elif not mask[wide].any():
            counts["heading" if stays else "neither"] += 1
    if titles:
        lines = [line for line in map(plain, clean.text.split("\n")) if line]
        counts["pages"] = 1
        counts["in_text"] = any(title in "".join(lines) for title in titles)
        counts["first"] = bool(lines) and lines[0] in titles
        counts["once"] = any(lines.count(title) == 1 for title in titles)
    return HeadingCounts(**counts)


def headings(sample: Sample) -> list[Row]:
    """Headings with their sections, and headlines, on pages-wcxb and sites-news."""
    rows: list[Row] = []
    cleaners = sample.cleaners()
    counts: dict[tuple[str, str, str], HeadingCounts] = defaultdict(HeadingCounts)
    for page in sample.held_out_pages(SINGLE):
        sections, titles = sections_of(page), headlines_of(page)
        for (method, when), cleaner in cleaners.items():
            if method == "page":  # there is no site to learn
                key = SINGLE, method, when
                counts[key] = counts[key].plus(count_headings(page, page.cleaned(cleaner), sections, titles))
    for site in sample.held_out_sites(NEWS, sample.models[0]):
        common = _common_titles(site)
        known = [(sections_of(page), headlines_of(page, common)) for page in site.pages]
        for (method, when), cleaner in cleaners.items():
            for (sections, titles), (page, clean) in zip(known, site.cleaned(cleaner), strict=True):
                key = NEWS, method, when
                counts[key] = counts[key].plus(count_headings(page, clean, sections, titles))
    for source, method in dict.fromkeys((source, method) for source, method, _ in counts):
        before, after = (counts[source, method, when] for when in WHENS)
        shares = [
            (_share(c.both, c.both + c.section), _share(c.neither, c.neither + c.heading)) for c in (before, after)
        ]
        rows.append(_shown(f"{source}, {method}: headings that stay with their section, that go with it", *shares))
        shares = [
            (_share(c.in_text, c.pages), _share(c.first, c.pages), _share(c.once, c.pages)) for c in (before, after)
        ]  # type: ignore[misc]
        rows.append(_shown(f"{source}, {method}: headline in the text, first, once ({before.pages:,} pages)", *shares))
    return rows


def _common_titles(site: HeldOutSite) -> frozenset[str]:
    """Parts of titles that half of the pages share."""
    pages = Counter(
        part for page in site.pages for part in set(map(plain, _TITLE_PARTS.split(page.context.tree.head.title)))
    )
    return frozenset(part for part, count in pages.items() if len(site.pages) > 1 and 2 * count >= len(site.pages))


# Text


def text(sample: Sample) -> list[Row]:
    """Word F1 on pages-wcxb and sites-news, and the sets recipe, harvest and product of pages-more."""
    from training.pages import word_f1

    rows = []
    by_when: dict[str, list[float]] = defaultdict(list)
    alone = {when: Cleaner.of("page", CleaningSettings.from_pairs(SETTINGS[when])) for when in WHENS}
    for page in sample.held_out_pages(SINGLE):
        for when, cleaner in alone.items():
            by_when[when].append(word_f1(page.cleaned(cleaner).text, page.row["text"])[0])
    if by_when:
        rows.append(_shown("pages-wcxb, page, nested: word F1", *([_mean(by_when[when])] for when in WHENS), digits=4))
    for trained_on in sample.models if NEWS in sample.files else ():
        sites = list(sample.held_out_sites(NEWS, trained_on))
        found = {key: news_f1(sites, cleaner) for key, cleaner in sample.cleaners().items()}
        for method in sample.methods:
            values = ([found[method, when]] for when in WHENS)
            rows.append(_shown(f"sites-news, {trained_on}, {method}: word F1", *values, digits=4))
    return [*rows, *(_more(sample, alone) if MORE in sample.files else ())]


def _more(sample: Sample, cleaners: dict[str, Cleaner]) -> list[Row]:
    """Scores of `score_more.py`, with page models that have not seen the site."""
    scorer = sample.data.parent / "tools" / "score_more.py"
    sets = ("recipe", "harvest", "product")
    if not scorer.is_file():
        return [("pages-more", "skipped: score_more.py is not beside the data", "")]
    table = pq.read_table(sample.data / f"{MORE}.parquet", filters=[("set", "in", sets)]).to_pylist()
    if sample.pages:
        kept = defaultdict(list)
        for row in table:
            kept[row["set"]].append(row)
        table = [row for rows in kept.values() for row in rows[:: max(len(rows) // sample.pages, 1)][: sample.pages]]
    import pyarrow as pa

    of_site, lines = nested_folds(sample.data), {}
    pages = [HeldOutPage.of(row, nested_model(sample.data, of_site.get(site_of(MORE, row), 0))) for row in table]
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(pa.Table.from_pylist(table), f"{folder}/some.parquet")
        for when, cleaner in cleaners.items():
            with Path(f"{folder}/{when}.jsonl").open("w", encoding="utf-8") as out:
                for page in pages:
                    clean = page.cleaned(cleaner)
                    fields = {"page_id": page.row["page_id"], "text": clean.text}
                    counts = {"kept_words": clean.kept_words, "all_words": clean.all_words}
                    out.write(json.dumps(fields | counts) + "\n")
            command = [sys.executable, str(scorer), f"{folder}/some.parquet", f"{folder}/{when}.jsonl"]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            lines[when] = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in done.stdout.splitlines()}
    return [(f"pages-more, {name}, page", lines["before"][name], lines["after"][name]) for name in lines["before"]]


# Judged tables and pictures


def judged(name: str) -> dict[tuple[str, str], list[dict[str, str]]]:
    """The judgements of a file by (data file, page_id)."""
    lines = (JUDGEMENTS / name).read_text(encoding="utf-8").splitlines()
    head = lines[0].split("\t")
    found = defaultdict(list)
    for line in lines[1:]:
        row = dict(zip(head, line.split("\t"), strict=True))
        found[row["file"], row["page_id"]].append(row)
    return dict(found)


def judged_pages(
    sample: Sample, wanted: Iterable[tuple[str, str]]
) -> Iterator[tuple[str, HeldOutPage, Callable[[Cleaner], CleanPage]]]:
    """Judged pages with how to clean each: pages of a crawl with their site, others alone."""
    by_file = defaultdict(list)
    for file, page_id in sorted(wanted):
        if file in (*sample.files, SHOPS, CRAWL):
            by_file[file].append(page_id)
    for file, found in by_file.items():
        ids = found[: sample.pages]
        rows = pq.read_table(sample.data / f"{file}.parquet").to_pylist()
        if file in (SINGLE, MORE):
            folds = heldout.nested_folds(sample.data)
            for row in (row for row in rows if row["page_id"] in ids):
                fold = folds[heldout.site_of(file, row)] if file == SINGLE else None
                model = None if fold is None else heldout.nested_model(sample.data, fold)
                page = HeldOutPage.of(row, model)
                yield file, page, page.cleaned
            continue
        names = sorted({row["site"] for row in rows})
        for number, name in enumerate(names):
            own = [row for row in rows if row["site"] == name]
            if not any(row["page_id"] in ids for row in own):
                continue
            model = None
            if file != CRAWL:
                fold = heldout.fold_of(file, name, number)
                model = heldout.site_models(sample.data, sample.models[0])[fold]
            own = sorted(own, key=lambda row: row["page_id"] not in ids)[: heldout.MOST_PAGES]
            site = HeldOutSite(file, name, [HeldOutPage.of(row, model) for row in own])
            learned = cache(site.learned)
            for page in site.pages:
                if page.row["page_id"] in ids:
                    yield (
                        file,
                        page,
                        lambda cleaner, page=page, learned=learned: page.cleaned(cleaner, learned(cleaner)),
                    )  # type: ignore[misc]


def tables(sample: Sample) -> list[Row]:
    """Judged data cells that are kept with their column header and row label, on sites-swde and crawl-ics."""
    known = judged("tables.tsv")
    scores: dict[tuple[str, str, str], list[tuple[int, int, int]]] = defaultdict(list)
    for file, page, cleaned in judged_pages(sample, known):
        grids = {grid.table: grid for grid in grids_of(page.context.tree)}
        for (method, when), cleaner in sample.cleaners().items():
            kept = Kept(page.context.tree, cleaned(cleaner))
            counts = [0, 0, 0]
            for row in known[file, page.row["page_id"]]:
                if row["data"] == "1":
                    for k, count in enumerate(_cells(grids[int(row["node"])], row, kept)):
                        counts[k] += count
            scores[file, method, when].append((counts[0], counts[1], counts[2]))
    rows = []
    for file, method in dict.fromkeys((file, method) for file, method, _ in scores):
        shares = [
            (_mean(_share(k, n) for n, k, _ in found), _mean(_share(w, n) for n, _, w in found))
            for found in (scores[file, method, when] for when in WHENS)
        ]
        count = sum(n > 0 for n, *_ in scores[file, method, "after"])
        rows.append(
            _shown(f"{file}, {method}: true data cells kept, kept with header and label ({count} pages)", *shares)
        )
    return rows


def _cells(grid: Grid, row: dict[str, str], kept: Kept) -> tuple[int, int, int]:
    """True data cells of a table; those kept; those kept with the header of their column and the label of their row."""
    names = ("header_rows", "label_columns", "noise_rows", "noise_columns")
    heads, labels, no_rows, no_columns = (grid.numbered(row[name]) for name in names)
    cells, kept_cells, whole, seen = 0, 0, 0, set()
    for r, line in enumerate(grid.cells):
        for c, cell in enumerate(line):
            if r in heads | no_rows or c in labels | no_columns or cell in seen or not kept.says(cell):
                continue
            seen.add(cell)
            cells += 1
            if not kept.all(cell):
                continue
            kept_cells += 1
            above = [grid.cells[h][c] for h in sorted(heads) if h < r and c < len(grid.cells[h])]
            beside = [line[k] for k in labels if k < len(line)]
            above = [other for other in above if other not in grid.wide] or above
            whole += all(kept.any(other) for other in (*above[-1:], *beside) if kept.says(other))
    return cells, kept_cells, whole


def pictures(sample: Sample) -> list[Row]:
    """Precision and recall of kept content pictures on judged pages; pooled over pages."""
    known = judged("pictures.tsv")
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for file, page, cleaned in judged_pages(sample, known):
        for key, cleaner in sample.cleaners().items():
            shown = set(kept_pictures(cleaned(cleaner)))
            for row in known[file, page.row["page_id"]]:
                is_content, is_kept = row["content"] == "1", int(row["node"]) in shown
                counts[key][
                    "both" if is_content and is_kept else "missed" if is_content else "extra" if is_kept else "none"
                ] += 1
    rows = []
    for method in sample.methods:
        shares = []
        for when in WHENS:
            c = counts[method, when]
            shares.append((_share(c["both"], c["both"] + c["extra"]), _share(c["both"], c["both"] + c["missed"])))
        total = sum(counts[method, "after"].values())
        rows.append(
            _shown(f"judged pictures, {method}: precision, recall of kept content pictures ({total:,})", *shares)
        )
    return rows


def kept_pictures(clean: CleanPage) -> Iterator[int]:
    """The nodes of pictures that Markdown shows."""
    tree = clean.tree
    for node in np.flatnonzero(tree.tagged("img", "image") & clean.verdict.keep).tolist():
        if picture_source(tree, tree.attribute(node, "src"), tree.attribute(node, "data-src")):
            yield node


# Cost

COST_PAGES, COST_ROUNDS, COST_SITE_PAGES = 300, 3, 20


def cost(sample: Sample) -> list[Row]:
    """CPU of parsing, cleaning and writing the record of a page with the shipped model, paired, best of rounds."""
    most = sample.pages or COST_PAGES
    single = pq.read_table(sample.data / f"{SINGLE}.parquet", columns=["url", "html"]).to_pylist()
    shops = defaultdict(list)
    for row in pq.read_table(sample.data / f"{SHOPS}.parquet", columns=["site", "url", "html"]).to_pylist():
        shops[row["site"]].append(row)
    sites = [rows[:COST_SITE_PAGES] for rows in shops.values()]
    alone = _cost("page", [(row, None) for row in single[:: max(len(single) // most, 1)]])
    pages = []
    for rows in sites[:: max(len(sites) * COST_SITE_PAGES // most, 1)]:
        sums = SiteSums("", Cleaner.of("combined").method.parts)
        for row in rows:
            sums.add(parse(row["html"], url=row["url"] or ""))
        model = LearnedSite.of(sums)
        pages += [(row, model) for row in rows]
    both = _cost("combined", pages)
    name = "ms of CPU per page: parsing, cleaning, record with Markdown"
    return [(f"{name}: pages-wcxb, page", *alone), (f"{name}: sites-swde, combined", *both)]


def _cost(method: str, pages: list[tuple[dict[str, Any], LearnedSite | None]]) -> tuple[str, str]:
    cleaners = {when: Cleaner.of(method, CleaningSettings.from_pairs(SETTINGS[when])) for when in WHENS}
    spent: dict[str, list[float]] = defaultdict(list)
    for number, (row, model) in enumerate(pages):
        best: dict[str, float] = {}
        for turn in range(2 * COST_ROUNDS):
            when = WHENS[(number + turn) % 2]
            started = time.process_time()
            cleaners[when].clean(parse(row["html"], url=row["url"] or ""), model).record(also=("markdown",))
            took = time.process_time() - started
            best[when] = min(best.get(when, took), took)
        for when in WHENS:
            spent[when].append(best[when])
    before, after = (1_000 * statistics.fmean(spent[when]) for when in WHENS)
    return f"{before:.2f}", f"**{after:.2f}** ({after / before - 1:+.1%})"


PARTS: dict[str, Callable[[Sample], list[Row]]] = {
    "tables": tables,
    "shops": shops,
    "pictures": pictures,
    "headings": headings,
    "text": text,
    "cost": cost,
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all by default")
    options.add_argument("--pages", type=int, help="pages of each site, or of a file, at most")
    options.add_argument("--sites", type=int, help="sites of a file, at most, spread over it")
    options.add_argument("--model", choices=("news", "nonews"), help="one of the two page models for whole sites")
    options.add_argument("--methods", default="page,combined")
    options.add_argument(
        "--files", default=",".join(Sample.files), help="files to read besides sites-swde and crawl-ics"
    )
    chosen = options.parse_args()
    if unknown := set(chosen.parts) - set(PARTS):
        options.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    models = heldout.MODELS if chosen.model is None else (heldout.MODELS[chosen.model == "nonews"],)
    sample = Sample(
        data=Path(os.environ["WEBWINNOW_DATA"]),
        pages=chosen.pages,
        sites=chosen.sites,
        models=models,
        methods=tuple(chosen.methods.split(",")),
        files=tuple(chosen.files.split(",")),
    )
    for name in chosen.parts or PARTS:
        for what, before, after in PARTS[name](sample):
            print(f"{what}: {before} -> {after}", flush=True)


if __name__ == "__main__":
    main()
