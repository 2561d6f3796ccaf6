"""A column of labels, read from the rows of the pages."""

from __future__ import annotations

import gzip
import json

import pytest

from webwinnow.errors import InputError
from webwinnow.run.tablefiles import read_label_column

ROWS = [
    {"page_id": "a", "url": "http://x.example/a", "html": "<p>a", "make": "bmw"},
    {"url": "http://x.example/b", "html": "<p>b", "make": 3},
    {"page_id": "c", "url": "http://x.example/c", "html": "<p>c", "make": None},
    {"page_id": "d", "html": "<p>d"},
]
FOUND = {"a": "bmw", "http://x.example/b": "3"}


def test_labels_of_jsonl_are_by_id_or_else_by_url(tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS) + "no json\n[1]\n")
    assert read_label_column([path], "make") == FOUND


def test_packed_jsonl_is_read_too(tmp_path):
    path = tmp_path / "pages.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    assert read_label_column([path], "make") == FOUND


def test_labels_of_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    rows = [{"page_id": row.get("page_id"), "url": row.get("url"), "make": str(row.get("make") or "")} for row in ROWS]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "pages.parquet")
    assert read_label_column([tmp_path / "pages.parquet"], "make") == FOUND


def test_a_column_that_no_row_has_is_an_error(tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n")
    with pytest.raises(InputError, match="no page with a 'brand'"):
        read_label_column([path], "brand")


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_label_column([tmp_path / "none.jsonl"], "make")
