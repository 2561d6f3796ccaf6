"""Labels with pages and in separate files."""

from __future__ import annotations

import json

import pytest

from webwinnow import InputError
from webwinnow.run.inputs import open_pages
from webwinnow.run.tablefiles import check_label_column, read_labels

WANTED = {"p1": "cats", "http://a.example/2": "cars"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", "label,page_id,url\ncats,p1,\ncars,,http://a.example/2\n,p3,\n"),
        ("l.tsv", "page_id\tlabel\np1\tcats\nhttp://a.example/2\tcars\n"),
        ("plain.tsv", "p1\tcats\nhttp://a.example/2\tcars\np3\t \n"),
        ("l.jsonl", '{"page_id": "p1", "label": "cats"}\nno json\n{"url": "http://a.example/2", "label": "cars"}\n'),
        ("bom.csv", "\ufeffpage_id,label\r\np1,cats\r\nhttp://a.example/2,cars\r\n"),
    ],
)
def test_labels_are_read_from_tables_and_jsonl(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    assert read_labels(path) == WANTED


def test_labels_are_read_from_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "l.parquet"
    pq.write_table(pa.table({"page_id": ["p1", "p2"], "label": ["cats", None], "more": [1, 2]}), path)
    assert read_labels(path) == {"p1": "cats"}


@pytest.mark.parametrize("content", [b"", b"a,b,c\n1,2,3\n", b"\xff\xfe\x00,x\n", b'{"page_id": "p", "class": "x"}\n'])
def test_files_without_labels_are_refused(tmp_path, content):
    path = tmp_path / "l.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"l\.csv"):
        read_labels(path)


def test_missing_file_of_labels_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_labels(tmp_path / "none.csv")


def test_pages_carry_the_label_that_was_asked_for(tmp_path):
    values = ["cats", None, " ", 7, float("nan"), ["x"], "=\ud800"]
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps({"url": "u", "html": "<p>a", "topic": value}) + "\n" for value in values))
    pages = list(open_pages([path], on_problem=pytest.fail, label="topic"))
    assert [page.label for page in pages] == ["cats", None, None, "7", None, None, "=?"]
    assert all(page.refused is None for page in pages)
    assert all(page.label is None for page in open_pages([path], on_problem=pytest.fail))


def test_pages_of_parquet_carry_labels(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"url": ["a", "b"], "html": ["<p>a", "<p>b"], "topic": ["x", None]}), path)
    assert [page.label for page in open_pages([path], on_problem=pytest.fail, label="topic")] == ["x", None]
    assert [page.label for page in open_pages([path], on_problem=pytest.fail, label="none")] == [None, None]
    check_label_column([path], "topic")
    with pytest.raises(InputError, match="the columns are: url, html, topic"):
        check_label_column([path], "none")


def test_files_without_columns_have_none(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<html><p>topic")
    with pytest.raises(InputError, match="the columns are: none"):
        check_label_column([path], "topic")


def test_column_may_be_in_one_of_several_files_and_folders_pass(tmp_path):
    for name, row in (("a.jsonl", {"html": ""}), ("b.jsonl", {"html": "", "topic": "x"})):
        (tmp_path / name).write_text(json.dumps(row) + "\n")
    check_label_column([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], "topic")
    check_label_column([tmp_path], "topic")
