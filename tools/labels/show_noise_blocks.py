"""Print sampled regions for a labeller: `python tools/labels/show_noise_blocks.py [--ids n001-n025] [--kinds]`.

`--blind 0.2` prints a random fifth of them, numbered, without kinds; `--ids-out` writes their ids to a file.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from draw_noise_blocks import LABELS
from noise_pages import context, data_folder, short_context, text_hash, text_of

from webwinnow.page.parsing import parse


def main() -> None:
    """Print the regions."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--labels", type=Path, default=LABELS)
    options.add_argument("--ids", default="", help="comma-separated ids; n001-n025 is a range")
    options.add_argument("--blind", type=float, default=0.0, help="random share of the regions, numbered, without ids")
    options.add_argument("--seed", type=int, default=60)
    options.add_argument("--ids-out", type=Path)
    options.add_argument("--kinds", action="store_true", help="print the kinds too")
    options.add_argument("--short", action="store_true", help="three lines per region")
    chosen = options.parse_args()
    rows = [json.loads(line) for line in chosen.labels.read_text(encoding="utf-8").splitlines()]
    if chosen.ids:
        rows = [row for row in rows if any(_within(row["id"], part) for part in chosen.ids.split(","))]
    if chosen.blind:
        rng = np.random.default_rng(chosen.seed)
        rows = [rows[k] for k in rng.permutation(len(rows))[: round(chosen.blind * len(rows))].tolist()]
    if chosen.ids_out:
        chosen.ids_out.write_text(json.dumps([row["id"] for row in rows]) + "\n", encoding="utf-8")
    shown = contexts(rows, short=chosen.short)
    for number, row in enumerate(rows, 1):
        name = str(number) if chosen.blind else row["id"]
        print(f"## {name}{' ' + (row['kind'] or '?') if chosen.kinds and not chosen.blind else ''}")
        print(shown[row["id"]], end="\n\n")


def _within(name: str, part: str) -> bool:
    first, _, last = part.partition("-")
    return first <= name <= (last or first)


def contexts(rows: list[dict[str, Any]], *, short: bool = False) -> dict[str, str]:
    """The labeller's view of each region; a changed text is an error."""
    data, found = data_folder(), {}
    by_file = defaultdict(list)
    for row in rows:
        by_file[row["file"]].append(row)
    for file, own in by_file.items():
        table = pq.read_table(
            data / f"{file}.parquet",
            columns=["page_id", "url", "html"],
            filters=[("page_id", "in", [row["page_id"] for row in own])],
        )
        pages = {page["page_id"]: page for page in table.to_pylist()}
        for row in own:
            page = pages[row["page_id"]]
            tree = parse(page["html"], url=page["url"])
            if text_hash(text_of(tree, row)) != row["hash"]:
                raise SystemExit(f"{row['id']}: the text has changed; sample again")
            found[row["id"]] = (short_context if short else context)(tree, row)
    return found


if __name__ == "__main__":
    main()
