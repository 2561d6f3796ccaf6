"""The sets of pages-more, cleaned by page models that saw no page of the site, beside trafilatura.

`python benchmarks/more.py [--shipped]` prints the table. Scores are those of `score_more.py` beside the data; with
`--shipped` the page model is the one that ships, which has seen the pages with `use = train`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
from heldout import MORE, HeldOutPage, held_out_pages

from webwinnow.cleaner import Cleaner

QUOTED = {
    "trafilatura": "have 0.953, not 0.897",
    "recipe": "have 0.893",
    "fundus": "F 0.957",
    "harvest": "F 0.728, have 0.697",
    "product": "have 0.547",
    "zh": "F 0.940",
    "readability": "F 0.914",
    "fixtures": "F 0.864, have 0.809",
    "chaos": "F 0.957",
    "l3s": "F 0.903, not 0.786",
    "dragnet": "F 0.902",
    "cleaneval": "F 0.839",
}
"""trafilatura 2.3.1 on the same pages with the same scorer; from the table beside the data."""


def more(data: Path, *, shipped: bool = False, method: str = "page") -> list[tuple[str, str, str]]:
    """A row for each set."""
    scorer = data.parent / "tools" / "score_more.py"
    if not scorer.is_file():
        return [("all", "skipped: score_more.py is not beside the data", "")]
    cleaner = Cleaner.of(method)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as out:
        for page in _shipped(data) if shipped else held_out_pages(data, MORE):
            clean = page.cleaned(cleaner)
            counts = {"kept_words": clean.kept_words, "all_words": clean.all_words}
            out.write(json.dumps({"page_id": page.row["page_id"], "text": clean.text, **counts}) + "\n")
        out.flush()
        command = [sys.executable, str(scorer), str(data / f"{MORE}.parquet"), out.name]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [(name, scores, QUOTED.get(name, "")) for name, scores in (line.split(" ", 1) for line in lines)]


def _shipped(data: Path) -> Iterator[HeldOutPage]:
    for row in pq.read_table(data / f"{MORE}.parquet").to_pylist():
        yield HeldOutPage.of(row, None)


if __name__ == "__main__":
    for row in more(Path(os.environ["WEBWINNOW_DATA"]), shipped="--shipped" in sys.argv):
        print(*row, sep=" | ")
