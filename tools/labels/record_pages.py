"""Record what a reader found: `python tools/labels/record_pages.py FILE [--second OUT]`. Writes `pages.jsonl`.

A line of FILE is the number of a page in `pages.jsonl`, its genre and its content blocks, for example
`12 product 184-186,204`; `-` for none. With `--second` the labels of another reading are written to OUT instead.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from draw_pages import LABELS
from show_pages import pages_of

sys.path.insert(0, str(Path(__file__).parents[1]))
from training.readpages import span

from webwinnow.judge.reading import GENRES
from webwinnow.page.blocks import Blocks, cut
from webwinnow.page.parsing import parse


def main() -> None:
    """Check the labels and write them with their positions."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("read", type=Path)
    options.add_argument("--second", type=Path)
    chosen = options.parse_args()
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    given = [line.split() for line in chosen.read.read_text(encoding="utf-8").splitlines() if line.strip()]
    own = [rows[int(number) - 1] for number, *_ in given]
    pages = pages_of(own)
    for row, (number, genre, ranges) in zip(own, given, strict=True):
        page = pages[row["file"], row["page_id"]]
        try:
            row |= {"genre": GENRES[GENRES.index(genre)]}
            row |= {"content": spans(cut(parse(page["html"], url=page["url"] or "")), ranges)}
        except ValueError as error:
            sys.exit(f"page {number}: {error}")
    if chosen.second:
        rows = [{key: row[key] for key in ("file", "page_id", "genre", "content")} for row in own]
    out = chosen.second or LABELS
    out.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), encoding="utf-8")
    print(f"{out}: {sum('content' in row for row in rows)} of {len(rows)} pages have labels")


def spans(blocks: Blocks, ranges: str) -> list[list[Any]]:
    """The positions of the ranges. Raises `ValueError` for one without text, or that is not after the one before."""
    said = [bool(text) for text in blocks.texts()]
    found: list[list[Any]] = []
    for part in () if ranges == "-" else ranges.split(","):
        first, _, last = part.partition("-")
        a, b = int(first), int(last or first)
        if not (found[-1][1] if found else -1) < a <= b < len(blocks) or not (said[a] and said[b]):
            raise ValueError(f"{part} is out of order or has no text")
        found.append(span(blocks, a, b))
    return found


if __name__ == "__main__":
    main()
