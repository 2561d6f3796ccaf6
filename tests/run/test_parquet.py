from __future__ import annotations

import datetime
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from webwinnow.errors import InputError
from webwinnow.page.records import PageRecord
from webwinnow.record.fields import page_fields, record_line
from webwinnow.run import parquet as our_parquet
from webwinnow.run.inputs import known_page_count
from webwinnow.run.outputs import write_output

ReadAll = Callable[..., list[PageRecord]]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)
def test_html_as_text_becomes_utf_8(kind: pa.DataType, tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    table = pa.table({"url": ["http://a.test/"], "html": pa.array(["<p>é"], pa.string()).cast(kind)})
    pq.write_table(table, file)
    [page] = read_all(file)
    assert (page.body, page.content_type) == ("<p>é".encode(), "text/html; charset=utf-8")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(4)], ids=str)
def test_html_as_bytes_stays_as_it_is(kind: pa.DataType, tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"url": ["http://a.test/"], "html": pa.array([b"<p>\xe9"], kind)}), file)
    [page] = read_all(file)
    assert (page.body, page.content_type) == (b"<p>\xe9", None)


def test_optional_columns_are_read_and_others_are_not(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    when = datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.UTC)
    table = pa.table(
        {
            "other": [[1, 2], [3]],
            "page_id": [41, 42],
            "site": ["A", None],
            "html": [b"a", b"b"],
            "url": ["http://a.test/", None],
            "fetched_at": pa.array([when, None], pa.timestamp("s", "UTC")),
            "content_type": ["text/html; charset=latin-1", None],
        }
    )
    pq.write_table(table, file)
    assert read_all(file) == [
        PageRecord(
            url="http://a.test/",
            body=b"a",
            content_type="text/html; charset=latin-1",
            fetched_at="2024-05-06T07:08:09+00:00",
            site="A",
            page_id="41",
            ordinal=0,
        ),
        PageRecord(url="", body=b"b", page_id="42", ordinal=1),
    ]


def test_row_groups_are_read_one_after_the_other(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    bodies = [b"%d" % i for i in range(100)]
    pq.write_table(pa.table({"html": bodies, "url": [f"u{i}" for i in range(100)]}), file, row_group_size=7)
    pages = read_all(file)
    assert [page.body for page in pages] == bodies
    assert [page.ordinal for page in pages] == list(range(100))


def test_rows_without_html_or_over_the_limit_are_refused(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"html": [b"a", None, b"x" * 1001], "url": ["u", "v", "w"]}), file)
    pages = read_all(file, max_page_bytes=1000)
    assert [page.refused for page in pages] == [
        None,
        "row 1: there is no 'html'",
        "row 2: 'html' has 1001 bytes, more than 1000",
    ]


def test_text_that_is_no_utf_8_is_taken_as_bytes(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"<p>\xe9"]).buffers())
    pq.write_table(pa.table({"html": bad, "url": bad}), file)
    [page] = read_all(file)
    assert (page.body, page.url, page.content_type) == (b"<p>\xe9", "<p>\ufffd", None)


def test_a_file_without_html_is_an_error_that_names_the_columns(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"link": ["u"], "content": ["x"]}), file)
    with pytest.raises(InputError, match=r"no column 'html' and no 'url'; the columns are: link, content"):
        read_all(file)


def test_html_of_another_type_is_an_error(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"url": ["u"], "html": [1]}), file)
    with pytest.raises(InputError, match="'html' has the type int64; expected text or bytes"):
        read_all(file)


def test_a_cut_file_is_an_error(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"url": ["u"], "html": ["x"]}), file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match="is a damaged Parquet file"):
        read_all(file)


def test_a_damaged_row_group_is_reported_and_the_ones_before_are_read(
    tmp_path: Path, read_all: ReadAll, problems: list[str]
) -> None:
    file = tmp_path / "pages.parquet"
    table = pa.table({"html": [bytes([i]) * 1000 for i in range(40)], "url": [f"u{i}" for i in range(40)]})
    pq.write_table(table, file, row_group_size=20, compression="zstd", use_dictionary=False)
    place = pq.ParquetFile(file).metadata.row_group(1).column(0).data_page_offset
    whole = bytearray(file.read_bytes())
    whole[place : place + 60] = b"\xff" * 60
    file.write_bytes(whole)
    assert [page.body for page in read_all(file)] == [bytes([i]) * 1000 for i in range(20)]
    assert len(problems) == 1
    assert problems[0].startswith(f"{file}: cannot be read on (")
    assert problems[0].endswith("after 20 pages")


def test_a_row_group_that_is_a_bomb_is_reported(tmp_path: Path, read_all: ReadAll, problems: list[str]) -> None:
    file = tmp_path / "pages.parquet"
    bomb = pa.table({"url": ["a", "b"], "html": [b"a", b"\0" * 50_000_000]})
    pq.write_table(bomb, file, row_group_size=1, compression="zstd", use_dictionary=False)
    assert [page.body for page in read_all(file)] == [b"a"]
    assert problems == [f"{file}: row group 1 unpacks to more than 1000 times its size, after 1 page"]


def test_records_are_written_with_one_schema_and_read_back(tmp_path: Path) -> None:
    file = tmp_path / "out.parquet"
    records = [{"url": f"u{i}", "keywords": ["k"] * i, "kept_words": i, "confidence": i / 2} for i in range(3)]
    write_output(records, file, "parquet")
    table = pq.read_table(file)
    assert table.schema.names == [field.name for field in page_fields()]
    assert table["keywords"].to_pylist() == [[], ["k"], ["k", "k"]]
    assert table["confidence"].to_pylist() == [0.0, 0.5, 1.0]
    assert table["markdown"].to_pylist() == [None] * 3


def test_no_records_make_a_file_with_the_schema(tmp_path: Path) -> None:
    write_output([], tmp_path / "out.parquet", "parquet")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_row_groups_are_bounded_by_rows_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(our_parquet, "GROUP_ROWS", 4)
    monkeypatch.setattr(our_parquet, "GROUP_BYTES", 1000)
    file = tmp_path / "out.parquet"
    write_output([{"text": "x" * size} for size in (1, 1, 1, 1, 1, 999, 1)], file, "parquet")
    written = pq.ParquetFile(file)
    assert [written.metadata.row_group(i).num_rows for i in range(written.num_row_groups)] == [4, 2, 1]


def test_the_same_records_give_the_same_parquet(tmp_path: Path) -> None:
    records = [{"url": f"u{i}", "text": "x" * i} for i in range(2500)]
    for name in ("one.parquet", "two.parquet"):
        write_output((json.loads(record_line(record)) for record in records), tmp_path / name, "parquet")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_parquet_through_a_pipe_is_read(tmp_path: Path, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"url": ["u"], "html": ["x"]}), file)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    assert [page.url for page in read_all("-")] == ["u"]


def test_parquet_through_a_pipe_is_bounded(tmp_path: Path, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"url": ["u"], "html": ["x"]}), file)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    with pytest.raises(InputError, match="more than 100 bytes; give it as a file"):
        read_all("-", max_spool_bytes=100)


WITHOUT_PYARROW = """
import sys
sys.modules["pyarrow"] = None
from webwinnow.errors import MissingExtra
from webwinnow.run.inputs import open_pages
from webwinnow.run.outputs import check_output
for attempt in (lambda: open_pages([sys.argv[1]], on_problem=print), lambda: check_output("x.parquet", "parquet")):
    try:
        attempt()
    except MissingExtra as error:
        print(error)
"""


def test_without_pyarrow_the_error_says_what_to_install(tmp_path: Path) -> None:
    file = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"url": ["u"], "html": ["x"]}), file)
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYARROW, str(file)], capture_output=True, text=True, check=True, timeout=240
    )
    assert ran.stdout.splitlines() == ["Parquet needs the extra 'parquet': pip install 'webwinnow[parquet]'"] * 2


def test_pyarrow_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys, webwinnow.run.inputs; print('pyarrow' in sys.modules, 'tldextract' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240)
    assert ran.stdout.strip() == "False False"


def test_the_number_of_pages_is_known_for_parquet_only(tmp_path: Path) -> None:
    table = pa.table({"url": ["http://a.test/1", "http://a.test/2"], "html": ["<p>one", "<p>two"]})
    (tmp_path / "folder").mkdir()
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table, tmp_path / "folder" / "b.parquet")
    assert known_page_count([tmp_path / "a.parquet", tmp_path / "folder"]) == 4
    (tmp_path / "folder" / "c.jsonl").write_text('{"url": "http://a.test/3", "html": "<p>three"}\n')
    assert known_page_count([tmp_path / "folder"]) is None
    assert known_page_count([tmp_path / "a.parquet", "-"]) is None
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    assert known_page_count([tmp_path / "broken.parquet"]) is None
