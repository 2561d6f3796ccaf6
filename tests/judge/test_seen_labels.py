"""The labels of the rendered pages (`benchmarks/seenpages.py`): two readers, the same pages and blocks."""

from __future__ import annotations

import json
from pathlib import Path

JUDGEMENTS = Path(__file__).parents[2] / "benchmarks" / "judgements"
DIGITS = 4


def labels_of(reader: str) -> dict[str, dict[str, object]]:
    lines = (JUDGEMENTS / f"seen-{reader}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len({row["page_id"] for row in rows}) == len(rows)
    return {row["page_id"]: row for row in rows}


def test_two_readers_labelled_the_same_blocks_of_100_pages() -> None:
    first, second = labels_of("first"), labels_of("second")
    assert len(first) == 100
    assert {name: row["blocks"] for name, row in first.items()} == {name: row["blocks"] for name, row in second.items()}


def test_labels_are_positions_of_blocks_in_order() -> None:
    for reader in ("first", "second"):
        for name, row in labels_of(reader).items():
            content, count = row["content"], len(row["blocks"]) // DIGITS
            assert content == sorted(set(content)), name
            assert all(0 <= position < count for position in content), name
