"""Pages with content blocks labelled by reading (`tools/labels/pages.jsonl`), as rows like those of a data file."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from xxhash import xxh3_64_hexdigest

from webwinnow.page.blocks import Blocks, cut
from webwinnow.page.parsing import parse

__all__ = ["LABELS", "content_blocks", "labelled_rows", "read_rows", "span"]

LABELS = Path(__file__).parents[1] / "labels/pages.jsonl"
HASH_DIGITS = 10


def labelled_rows(labels: Path = LABELS) -> list[dict[str, Any]]:
    """The labels of the pages that have been read."""
    rows = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if "content" in row]


def read_rows(data: Path, labels: Path = LABELS) -> tuple[list[dict[str, Any]], list[str]]:
    """The labelled pages, and the ids of those whose positions no longer match their text.

    A row has the columns of a file with truth (`page_id`, `url`, `site`, `html`, `page_type`, `text`) and `content`:
    for each block of the page whether it is content.
    """
    by_file = defaultdict(list)
    for label in labelled_rows(labels):
        by_file[label["file"]].append(label)
    found, failed = [], []
    for file, own in by_file.items():
        table = pq.read_table(
            data / f"{file}.parquet",
            columns=["page_id", "url", "site", "html"],
            filters=[("page_id", "in", [label["page_id"] for label in own])],
        )
        pages = {page["page_id"]: page for page in table.to_pylist()}
        for label in own:
            page = pages.get(label["page_id"])
            content = None
            if page is not None:
                blocks = cut(parse(page["html"], url=page["url"] or ""))
                content = content_blocks(blocks, label["content"])
            if page is None or content is None:
                failed.append(f"{file}: {label['page_id']}")
                continue
            text = "\n".join(blocks.text(b) for b in np.flatnonzero(content).tolist())
            found.append(page | {"file": file, "page_type": label["genre"], "text": text, "content": content})
    return found, failed


def content_blocks(blocks: Blocks, spans: list[list[Any]]) -> NDArray[np.bool_] | None:
    """For each block whether one of the labelled spans contains it; None if the page is cut or reads differently."""
    content = np.zeros(len(blocks), np.bool_)
    for one in spans:
        first, last = one[:2]
        if last >= len(blocks) or span(blocks, first, last) != one:
            return None
        content[first : last + 1] = True
    return content


def span(blocks: Blocks, first: int, last: int) -> list[Any]:
    """The position of some blocks: first and last block, first run, first run after them, hash of their text."""
    a, b = int(blocks.first_run[first]), int(blocks.first_run[last + 1])
    starts = blocks.tree.run_start
    text = blocks.tree.text[starts[a] : starts[b]]
    return [first, last, a, b, xxh3_64_hexdigest(text.encode("utf-8", "surrogatepass"))[:HASH_DIGITS]]
