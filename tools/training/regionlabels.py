"""Labelled regions of `tools/labels`, and where they are in a page that is parsed and cleaned again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from xxhash import xxh3_64_hexdigest

from webwinnow.judge.removedregions import SPAN, RemovedRegions
from webwinnow.page.tree import PageTree

__all__ = ["MEASURED", "TRAINING", "Span", "label_rows", "located", "spans_of", "with_labelled"]

MEASURED, TRAINING = "noise-blocks.jsonl", "noise-training.jsonl"
Span = tuple[int, ...]
"""A region's numbers in the order of `SPAN`."""


def label_rows(folder: Path, *names: str) -> list[dict[str, Any]]:
    """The labelled regions of some files."""
    lines = [line for name in names for line in (folder / name).read_text(encoding="utf-8").splitlines()]
    return [json.loads(line) for line in lines]


def located(cut: RemovedRegions, rows: Sequence[dict[str, Any]]) -> dict[str, Span]:
    """For each labelled region of a page, by its id, where it is in the tree; without those that are lost.

    A label is a position in the tree, whatever the cleaner removes. If the text at that position is another one because
    the parser has changed, the region is the removed region with the labelled text.
    """
    tree, found = cut.tree, {}
    inside = [row for row in rows if row["last_node"] <= len(tree) and row["last_run"] <= tree.run_count]
    for row, digest in zip(inside, _hashes(tree, [_span(row) for row in inside]), strict=True):
        if digest == row["hash"] and tree.xpath(row["node"]) == row["xpath"]:
            found[row["id"]] = _span(row)
    moved = [row for row in rows if row["id"] not in found and row["first_run"] < row["last_run"]]
    if moved:
        by_text = dict(zip(_hashes(tree, spans_of(cut)), spans_of(cut), strict=True))
        found |= {row["id"]: by_text[row["hash"]] for row in moved if row["hash"] in by_text}
    return found


def _hashes(tree: PageTree, spans: Sequence[Span]) -> list[str]:
    return [xxh3_64_hexdigest(text.encode("utf-8"))[:10] for text in _regions(tree, spans).texts()]


def _regions(tree: PageTree, spans: Sequence[Span]) -> RemovedRegions:
    columns = np.array(spans, np.int32).reshape(-1, len(SPAN)).T
    return RemovedRegions(tree=tree, **dict(zip(SPAN, columns, strict=True)))


def with_labelled(cut: RemovedRegions, labelled: Iterable[Span]) -> RemovedRegions:
    """The regions of a page with the labelled ones among them, even if the cleaner or the rule of regions has changed.

    Regions that overlap a labelled one are left out. Of regions without text only labelled ones are added.
    """
    labelled = list(labelled)
    kept = [s for s in spans_of(cut) if not any(s[3] < other[4] and other[3] < s[4] for other in labelled)]
    return _regions(cut.tree, sorted([*kept, *labelled], key=lambda span: (span[3] == span[4], span[3], span[1])))


def spans_of(cut: RemovedRegions) -> list[Span]:
    """The regions as tuples."""
    return list(zip(*(getattr(cut, name).tolist() for name in SPAN), strict=True))


def _span(row: dict[str, Any]) -> Span:
    return tuple(row[name] for name in SPAN)
