"""The sets of pages-more, cleaned by page models that saw no page of the site, beside trafilatura and resiliparse.

`python benchmarks/more.py [--shipped] [--peers]` prints the table. Scores are those of `score_more.py` beside the data;
with `--shipped` the page model is the one that ships, which has seen the pages with `use = train`; `--peers` runs the
other extractors alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from heldout import MORE, HeldOutPage, held_out_pages
from peers import WITHOUT_COMMENTS, Extractor

from webwinnow.record.cleaner import Cleaner

PEERS = (WITHOUT_COMMENTS, "resiliparse, main content")
"""The extractors that every set is also scored with. The true texts have no comments, and ours leaves them out too."""


def more(data: Path, *, shipped: bool = False, method: str = "page") -> list[tuple[str, ...]]:
    """A row for each set: ours, then the peers."""
    scorer = _scorer(data)
    if not scorer.is_file():
        return [("all", f"skipped: {scorer.name} is not beside the data", *("" for _ in PEERS))]
    ours = _scores(data, _ours(data, Cleaner.of(method), shipped=shipped))
    theirs = [_scores(data, records) for records in _peers(data)]
    return [(name, scores, *(found[name] for found in theirs)) for name, scores in ours.items()]


def peers(data: Path) -> list[tuple[str, ...]]:
    """A row for each set: the peers alone."""
    found = [_scores(data, records) for records in _peers(data)]
    return [(name, *(scores[name] for scores in found)) for name in found[0]]


def _scorer(data: Path) -> Path:
    return data.parent / "tools" / "score_more.py"


def _scores(data: Path, records: Iterator[dict[str, Any]]) -> dict[str, str]:
    """The scores of each set."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as out:
        out.writelines(json.dumps(record) + "\n" for record in records)
        out.flush()
        command = [sys.executable, str(_scorer(data)), str(data / f"{MORE}.parquet"), out.name]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return dict(line.split(" ", 1) for line in lines)


def _ours(data: Path, cleaner: Cleaner, *, shipped: bool) -> Iterator[dict[str, Any]]:
    for page in _shipped(data) if shipped else held_out_pages(data, MORE):
        clean = page.cleaned(cleaner)
        counts = {"kept_words": clean.kept_words, "all_words": clean.all_words}
        yield {"page_id": page.row["page_id"], "text": clean.text, **counts}


def _shipped(data: Path) -> Iterator[HeldOutPage]:
    for row in _rows(data):
        yield HeldOutPage.of(row, None)


def _peers(data: Path) -> Iterator[Iterator[dict[str, Any]]]:
    """For each peer, its records; a page that it fails on has no text."""
    for name in PEERS:
        yield _extracted(data, name)


def _extracted(data: Path, name: str) -> Iterator[dict[str, Any]]:
    extractor = Extractor(name, max(os.sched_getaffinity(0)))
    try:
        for row in _rows(data):
            yield {"page_id": row["page_id"], "text": extractor(row["html"])[0]}
    finally:
        extractor.stop()


def _rows(data: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(data / f"{MORE}.parquet").to_pylist()
    return rows


if __name__ == "__main__":
    given = Path(os.environ["WEBWINNOW_DATA"])
    for row in peers(given) if "--peers" in sys.argv else more(given, shipped="--shipped" in sys.argv):
        print(*row, sep=" | ")
