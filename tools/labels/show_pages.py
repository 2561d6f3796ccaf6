"""Print sampled pages for a reader, without probabilities: `python tools/labels/show_pages.py FOLDER`.

One file per page: a line per block with its number, its place (tags and names of the innermost elements; `"` for the
same as above), its first words, and the number of words if there are more. Long lists of short entries are abridged.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from draw_pages import LABELS
from noise_pages import data_folder

from webwinnow.page.blocks import Blocks, cut
from webwinnow.page.parsing import parse

WORDS, STEPS, CHARACTERS = 12, 2, 90
SHORT, LISTED = 5, 8
"""Words of a block that may share a line, and blocks of one place with a line of their own."""
SAME = '"'


def main() -> None:
    """Write the views."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--pages", default="", help="numbers of pages, from 1, separated by commas")
    chosen = options.parse_args()
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    wanted = [int(number) for number in chosen.pages.split(",") if number] or range(1, len(rows) + 1)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    shown = [rows[number - 1] for number in wanted]
    pages = pages_of(shown)
    for place, row in enumerate(shown, 1):
        page = pages[row["file"], row["page_id"]]
        blocks = cut(parse(page["html"], url=page["url"] or ""))
        lines = [f"=== {place} {row['file']} {row['page_id']} {page['url']}", blocks.tree.head.title, *view(blocks)]
        (chosen.folder / f"{place:03}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def pages_of(rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """The pages of some labels, by file and id."""
    found = {}
    for file in {row["file"] for row in rows}:
        ids = [row["page_id"] for row in rows if row["file"] == file]
        table = pq.read_table(
            data_folder() / f"{file}.parquet",
            columns=["page_id", "url", "html"],
            filters=[("page_id", "in", ids)],
        )
        found.update({(file, page["page_id"]): page for page in table.to_pylist()})
    return found


def view(blocks: Blocks) -> Iterator[str]:
    """A line per block with text; more than `LISTED` short ones in a row at the same place share a line."""
    said = [(b, text.split()) for b, text in enumerate(blocks.texts()) if text.strip()]
    last = ""
    for (place, short), group in groupby(said, lambda one: (_place(blocks, one[0]), len(one[1]) <= SHORT)):
        own = list(group)
        shown = SAME if place == last else place
        last = place
        if short and len(own) > LISTED:
            entries = [f"{b} {' '.join(words)[:CHARACTERS]}" for b, words in own]
            yield f"[{shown}] {' · '.join([*entries[: LISTED - 2], '…', *entries[-2:]])}"
            continue
        for b, words in own:
            more = f" …{len(words)}" if len(words) > WORDS else ""
            yield f"{b} [{shown}] {' '.join(words[:WORDS])[:CHARACTERS]}{more}"
            shown = SAME


def _place(blocks: Blocks, b: int) -> str:
    node, steps = int(blocks.owner[b]), []
    while node > 0 and len(steps) < STEPS:
        tag = blocks.tree.tag_name(node)
        name = blocks.tree.attribute(node, "id") or blocks.tree.attribute(node, "class") or ""
        steps.append(f"{tag}.{'.'.join(name.split()[:2])[:24]}" if name else tag)
        node = int(blocks.tree.parent[node])
    if steps[:1] and steps[0].split(".")[0] == "td":
        return "td"
    return ">".join(reversed(steps))


if __name__ == "__main__":
    main()
