"""Every real page under WEBWINNOW_DATA becomes a tree. Skipped, with a message, if there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from webwinnow import parse
from webwinnow.record.flow import to_text

DATA = Path(os.environ.get("WEBWINNOW_DATA") or "no-data")
FILES = [path for path in sorted(DATA.glob("*.parquet")) if "html" in pq.read_schema(path).names]


@pytest.mark.skipif(not FILES, reason="WEBWINNOW_DATA names no folder with pages")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_page_becomes_a_tree_and_text(path):
    pages = 0
    for batch in pq.ParquetFile(path).iter_batches(64, columns=["url", "html"]):
        for page in batch.to_pylist():
            tree = parse(page["html"], url=page["url"])
            assert tree.end[0] == len(tree)
            assert tree.run_start[-1] == len(tree.text)
            pages += bool(to_text(tree, tree.visible)) or tree.reason is not None or not tree.text.strip()
    assert pages > 0.99 * pq.ParquetFile(path).metadata.num_rows
