"""Pages with further columns: values and pages of Parquet and JSONL, row by row."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from webwinnow.errors import InputError
from webwinnow.links.ranking import read_links
from webwinnow.run.tablefiles import TableFile, read_records

ROWS = [
    {"url": "http://a.test/1", "html": "<p>one", "topic": " fruit ", "year": 2011, "site": "a"},
    {"url": "http://a.test/2", "html": "<p>two", "topic": "", "year": None, "site": None},
    {"url": "http://a.test/3", "html": "<p>three", "topic": None, "year": 2013, "site": "b"},
]


def no_problem(problem: str) -> None:
    pytest.fail(problem)


def written(folder: Path, kind: str) -> Path:
    path = folder / f"pages.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS), path)
    else:
        lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
        path.write_bytes(gzip.compress(lines) if kind.endswith("gz") else lines)
    return path


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "jsonl.gz"])
def test_values_and_pages_come_row_by_row(tmp_path, kind):
    file = TableFile(written(tmp_path, kind))
    file.check(["html", "topic", "year"])
    assert list(file.values(["topic", "year", "site"], no_problem)) == [
        ("fruit", "2011", "a"),
        (None, None, None),
        (None, "2013", "b"),
    ]
    pages = list(file.pages(no_problem))
    assert [page.url for page in pages] == [row["url"] for row in ROWS]
    assert [page.body for page in pages] == [b"<p>one", b"<p>two", b"<p>three"]


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_a_missing_column_is_named_with_those_there_are(tmp_path, kind):
    with pytest.raises(InputError, match="has no column colour; the columns are: url, html, topic, year, site"):
        TableFile(written(tmp_path, kind)).check(["topic", "colour"])


def test_lines_that_are_no_objects_are_reported_and_passed_over_in_both_readings(tmp_path):
    path = tmp_path / "pages.jsonl"
    path.write_text(f"{json.dumps(ROWS[0])}\nno json\n[1]\n\n{json.dumps({'html': None, 'topic': ['x']})}\n")
    file, problems = TableFile(path), []
    assert list(file.values(["topic"], problems.append)) == [("fruit",), (None,)]
    assert problems == [f"{path}: line 2 is no JSON object", f"{path}: line 3 is no JSON object"]
    pages = list(file.pages(lambda _: None))
    assert [page.refused for page in pages] == [None, "row 1: there is no 'html'"]


def test_text_that_is_no_table_and_files_that_are_not_there(tmp_path):
    (tmp_path / "a.html").write_text("<!doctype html><p>x")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    for name, message in (("a.html", "expected Parquet or JSONL"), ("b.parquet", "damaged"), ("c", "cannot be read")):
        with pytest.raises(InputError, match=message):
            TableFile(tmp_path / name)


def test_fields_of_records_are_texts_and_lists_of_texts(tmp_path):
    odd = {"outcome": "kept", "text": 7, "title": ["a"], "url": "http://a.example/\ud800", "keywords": 3, "site": True}
    odd |= {"links": ["http://b.example/", None, {}], "relevant_links": "http://c.example/", "kept_words": "many"}
    (tmp_path / "records.jsonl").write_text(json.dumps(odd) + "\n", encoding="ascii")
    [record] = read_records([tmp_path / "records.jsonl"], on_problem=no_problem)
    assert record["text"] == "7"
    assert record["title"] is record["site"] is None
    assert record["url"] == "http://a.example/?"
    assert record["keywords"] == ["3"]
    assert record["links"] == ["http://b.example/"]
    assert record["relevant_links"] == ["http://c.example/"]


def test_links_without_a_text_at_one_end_are_problems(tmp_path):
    lines = [
        {"source": "a", "target": "b", "site": ["x"]},
        {"source": None, "target": "b"},
        {"source": "a", "target": {}},
    ]
    (tmp_path / "links.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    problems = []
    links = list(read_links([tmp_path / "links.jsonl"], on_problem=problems.append))
    assert links == [{"source": "a", "target": "b", "site": None}]
    assert len(problems) == 2
