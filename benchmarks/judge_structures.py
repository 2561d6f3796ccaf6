"""Judge tables and pictures by reading: `show tables|pictures` prints what to judge, `agree` compares two readers.

`benchmarks/judgements/structures.md` is the guide. Pages are a random sample with a fixed seed, stratified by site. No
page text is stored: a judgement has the data file, the page_id and the number of the node in `webwinnow.parse`'s tree.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from heldout import NEWS, SHOPS, SINGLE
from structures import CRAWL, MORE, Grid, grids_of

from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree
from webwinnow.record.walk import picture_source

SEED = 22
TABLE_PAGES = {SHOPS: 40, CRAWL: 20}
PICTURE_PAGES = {SINGLE: 15, SHOPS: 15, NEWS: 15, MORE: 15}
MOST_TABLES, MOST_PICTURES = 5, 8
"""Tables and pictures of a page that are judged, a random sample."""
SHOWN_ROWS, SHOWN_COLUMNS, SHOWN_LETTERS = 14, 12, 22
COLUMNS = {
    "tables": ("file", "page_id", "node", "data", "header_rows", "label_columns", "noise_rows", "noise_columns"),
    "pictures": ("file", "page_id", "node", "content"),
}


def has_columns(tree: PageTree, grid: Grid) -> bool:
    """Whether a table has at least two rows and two columns with visible text."""
    full = [(r, c) for r, row in enumerate(grid.cells) for c, cell in enumerate(row)
            if cell >= 0 and tree.visible[cell] and tree[cell].text.strip() and cell not in grid.wide]  # fmt: skip
    return len({r for r, _ in full}) > 1 and len({c for _, c in full}) > 1


def tables_to_judge(tree: PageTree) -> list[int]:
    """The tables of a page that are judged."""
    return [grid.table for grid in grids_of(tree) if has_columns(tree, grid)]


def pictures_to_judge(tree: PageTree) -> list[int]:
    """The visible pictures that output can show."""
    return [
        node
        for node in np.flatnonzero(tree.tagged("img", "image") & tree.visible).tolist()
        if picture_source(tree, tree.attribute(node, "src"), tree.attribute(node, "data-src"))
    ]


def sample(data: Path, what: str) -> Iterator[tuple[str, dict[str, Any], PageTree, list[int]]]:
    """The pages to judge with the nodes to judge: sites in random order, in each a random page that has some."""
    wanted, nodes_of = (TABLE_PAGES, tables_to_judge) if what == "tables" else (PICTURE_PAGES, pictures_to_judge)
    most = MOST_TABLES if what == "tables" else MOST_PICTURES
    for file, count in wanted.items():
        by_site = defaultdict(list)
        for row in pq.read_table(data / f"{file}.parquet").to_pylist():
            if row.get("use", "train") == "train":
                by_site[row["site"]].append(row)
        chance = random.Random(f"{SEED} {what} {file}")
        sites = sorted(by_site)
        chance.shuffle(sites)
        for site in sites:
            chance.shuffle(by_site[site])
        found = 0
        while found < count and any(by_site.values()):
            for site in sites:
                while by_site[site] and found < count:
                    row = by_site[site].pop()
                    tree = parse(row["html"], url=row["url"] or "")
                    nodes = nodes_of(tree)
                    if nodes:
                        found += 1
                        yield file, row, tree, sorted(chance.sample(nodes, min(most, len(nodes))))
                        break


def show(data: Path, what: str) -> None:
    """Print what must be judged."""
    for file, row, tree, nodes in sample(data, what):
        print(f"\n=== {file}\t{row['page_id']}\n{_cut(tree.head.title, 90)} | {(row['url'] or '')[:90]}")
        for node in nodes:
            (_show_table if what == "tables" else _show_picture)(tree, node)


def _cut(text: str, most: int) -> str:
    folded = " ".join(text.split())
    return folded if len(folded) <= most else folded[: most - 1] + "…"


def _show_table(tree: PageTree, node: int) -> None:
    grid = next(grid for grid in grids_of(tree) if grid.table == node)
    before = tree.text[: tree.text_start[node]].split()[-12:]
    print(f"-- table {node}: {len(grid.cells)} rows; before it: {' '.join(before)!r}")
    for r, row in enumerate(grid.cells):
        if SHOWN_ROWS - 3 < r < len(grid.cells) - 2:
            print("   …") if r == SHOWN_ROWS - 2 else None
            continue
        seen: list[str] = []
        for c, cell in enumerate(row[:SHOWN_COLUMNS]):
            shown = _cut(tree[cell].text, SHOWN_LETTERS)
            if cell in row[:c]:
                shown = "<"
            elif r and c < len(grid.cells[r - 1]) and grid.cells[r - 1][c] == cell:
                shown = "^"
            head = "*" if tree.tag_name(cell) == "th" else ""
            pictured = tree.tagged("img")[cell : tree.end[cell]].any() and not shown
            seen.append(head + (shown or ("[img]" if pictured else "")))
        print(f"   {r}: " + " | ".join(seen) + (" …" if len(row) > SHOWN_COLUMNS else ""))


def _show_picture(tree: PageTree, node: int) -> None:
    at = tree.attributes(node)
    source = picture_source(tree, at.get("src"), at.get("data-src")) or ""
    names, up, link = [], int(tree.parent[node]), ""
    while up > 1 and len(names) < 3:
        if tree.tag_name(up) == "a":
            link = _cut(tree.attribute(up, "href") or "", 40)
        mark = tree.attribute(up, "class") or tree.attribute(up, "id") or ""
        names.append(tree.tag_name(up) + (f".{_cut(mark, 20)}" if mark else ""))
        up = int(tree.parent[up])
    before = _cut(" ".join(tree.text[: tree.text_start[node]].split()[-8:]), 60)
    after = _cut(" ".join(tree.text[tree.text_end[node] : tree.text_end[node] + 300].split()[:8]), 60)
    size = f"{at.get('width', '?')}x{at.get('height', '?')}"
    path = "/".join(source.split("?")[0].split("/")[-2:])
    alt = _cut(at.get("alt", ""), 50)
    print(f"{node}: {path[-55:]} alt={alt!r} {size} in {' < '.join(names)} link={link!r} | {before} ## {after}")


# Agreement


def read(path: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    """Judgements by (file, page_id, node)."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = lines[0].split("\t")
    rows = [dict(zip(head, line.split("\t"), strict=True)) for line in lines[1:] if line.strip()]
    return {(row["file"], row["page_id"], row["node"]): row for row in rows}


def kappa(pairs: list[tuple[str, str]]) -> tuple[float, float]:
    """Agreement of two readers, and Cohen's kappa."""
    agreed = sum(a == b for a, b in pairs) / len(pairs)
    first, second = (Counter(pair[k] for pair in pairs) for k in (0, 1))
    by_chance = sum(first[name] * second[name] for name in first) / len(pairs) ** 2
    return agreed, (agreed - by_chance) / (1 - by_chance) if by_chance < 1 else 1.0


def roles(data: Path, rows: dict[tuple[str, str, str], dict[str, str]]) -> dict[tuple[str, str, str, int], str]:
    """The role of each cell with text of each judged data table: header, label, noise or data."""
    found = {}
    trees = {}
    for file in TABLE_PAGES:
        wanted = [("page_id", "in", [key[1] for key in rows])]
        for row in pq.read_table(data / f"{file}.parquet", filters=wanted).to_pylist():
            trees[file, row["page_id"]] = parse(row["html"], url=row["url"] or "")
    for (file, page_id, node), row in rows.items():
        if row["data"] != "1":
            continue
        tree = trees[file, page_id]
        grid = next(grid for grid in grids_of(tree) if grid.table == int(node))
        named = {name: grid.numbered(row[name]) for name in COLUMNS["tables"][4:]}
        for r, line in enumerate(grid.cells):
            for c, cell in enumerate(line):
                if tree[cell].text.strip():
                    noise = r in named["noise_rows"] or c in named["noise_columns"]
                    header, label = r in named["header_rows"], c in named["label_columns"]
                    role = "noise" if noise else "header" if header else "label" if label else "data"
                    found.setdefault((file, page_id, node, cell), role)
    return found


def agree(data: Path, what: str, one: Path, other: Path) -> None:
    """Print agreement and kappa of two readers, and where they differ."""
    first, second = read(one), read(other)
    both = [key for key in first if key in second]
    print(f"{len(first)} and {len(second)} judgements, {len(both)} of both")
    field = "data" if what == "tables" else "content"
    print("agreement {:.3f}, kappa {:.3f}".format(*kappa([(first[key][field], second[key][field]) for key in both])))
    if what == "tables":
        mine, theirs = roles(data, first), roles(data, second)
        cells = [key for key in mine if key in theirs]
        pairs = [(mine[key], theirs[key]) for key in cells]
        print(
            f"roles of {len(cells)} cells of tables that both call data: "
            + "agreement {:.3f}, kappa {:.3f}".format(*kappa(pairs))
        )
    for key in both:
        if first[key] != second[key]:
            print(*key, *(f"{name}: {first[key][name]} / {second[key][name]}" for name in COLUMNS[what][3:]), sep="\t")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("command", choices=("show", "agree"))
    options.add_argument("what", choices=tuple(COLUMNS))
    options.add_argument("files", nargs="*", type=Path, help="agree: the judgements of two readers")
    chosen = options.parse_args()
    data = Path(os.environ["WEBWINNOW_DATA"])
    if chosen.command == "show":
        show(data, chosen.what)
    elif len(chosen.files) != 2:
        sys.exit("judge_structures: agree needs two files")
    else:
        agree(data, chosen.what, *chosen.files)


if __name__ == "__main__":
    main()
