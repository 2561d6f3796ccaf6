from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from webwinnow.counted import counted
from webwinnow.page.records import PageRecord
from webwinnow.record.fields import record_line
from webwinnow.run import unpacking
from webwinnow.run.pagestore import read_parts

ReadAll = Callable[..., list[PageRecord]]
PACKINGS = pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstd"])


def lines(*rows: object) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@PACKINGS
def test_a_line_is_a_page(pack: Callable[[bytes], bytes], tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.jsonl"
    row = {"url": "http://a.test/é", "html": "<p>é", "site": "A", "page_id": 7, "fetched_at": "2024", "other": [1]}
    file.write_bytes(pack(b"\xef\xbb\xbf" + lines(row) + b"\n  \n" + lines({"html": ""}).strip()))
    assert read_all(file) == [
        PageRecord(
            url="http://a.test/é",
            body="<p>é".encode(),
            content_type="text/html; charset=utf-8",
            fetched_at="2024",
            site="A",
            page_id="7",
            ordinal=0,
        ),
        PageRecord(url="", body=b"", content_type="text/html; charset=utf-8", ordinal=1),
    ]


def test_text_is_utf_8_whatever_charset_the_row_names(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(lines({"html": "é", "content_type": "application/xhtml+xml; charset=latin-1"}))
    [page] = read_all(file)
    assert (page.body, page.content_type) == ("é".encode(), "application/xhtml+xml; charset=utf-8")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"html": "<p>', "line 2 is no JSON"),
        (b"\xff\xfe\x00", "line 2 is no JSON"),
        (b"[" * 100_000, "line 2 is no JSON"),
        (b'{"html": ' + b"9" * 10_000 + b"}", "line 2 is no JSON"),
        (b'["html"]', "line 2 is a JSON list"),
        (b'{"url": "http://a.test/"}', "line 2: there is no 'html'"),
        (b'{"html": null}', "line 2: there is no 'html'"),
        (b'{"html": ["x"]}', "line 2: 'html' is a list"),
        (b'{"html": "x", "site": {}}', "line 2: 'site' is a dict"),
        (b'{"html": "x", "page_id": true}', "line 2: 'page_id' is a bool"),
    ],
)
def test_a_bad_line_is_a_refused_page(line: bytes, reason: str, tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(lines({"html": "a"}) + line + b"\n" + lines({"html": "b"}))
    first, refused, last = read_all(file)
    assert (first.body, last.body) == (b"a", b"b")
    assert refused.refused is not None
    assert refused.refused.startswith(reason)
    assert refused.body == b""
    assert [first.ordinal, refused.ordinal, last.ordinal] == [0, 1, 2]


def test_a_refused_page_keeps_its_url_and_id(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(lines({"url": "http://a.test/", "page_id": "x", "html": None}))
    [page] = read_all(file)
    assert (page.url, page.page_id) == ("http://a.test/", "x")


def test_lone_surrogates_do_not_travel_on(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(b'{"url": "http://a.test/\\ud800", "html": "x\\udfff"}\n')
    [page] = read_all(file)
    assert (page.url, page.body) == ("http://a.test/?", b"x?")


@PACKINGS
def test_a_line_over_the_limit_is_refused_and_the_next_is_read(
    pack: Callable[[bytes], bytes], tmp_path: Path, read_all: ReadAll
) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(pack(lines({"html": "a"}, {"html": "x" * 3_000_000}, {"html": "b"})))
    first, refused, last = read_all(file, max_line_bytes=1_000_000)
    assert refused.refused == "line 2 has more than 1000000 bytes"
    assert (first.body, last.body) == (b"a", b"b")


def test_a_page_over_the_limit_is_refused(tmp_path: Path, read_all: ReadAll) -> None:
    file = tmp_path / "pages.jsonl"
    file.write_bytes(lines({"url": "http://a.test/", "html": "x" * 1001}))
    [page] = read_all(file, max_page_bytes=1000)
    assert page.refused == "line 1: 'html' has 1001 bytes, more than 1000"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_a_line_that_is_a_bomb_is_refused_and_stops_its_file(
    pack: Callable[[bytes], bytes], tmp_path: Path, read_all: ReadAll, problems: list[str]
) -> None:
    bomb = tmp_path / "bomb.jsonl.gz"
    bomb.write_bytes(pack(lines({"html": "a"}) + b'{"html": "' + b"x" * 200_000_000))
    good = tmp_path / "good.jsonl"
    good.write_bytes(lines({"html": "b"}))
    first, refused, last = read_all(bomb, good, max_line_bytes=1_000_000, max_ratio=500)
    assert (first.body, last.body) == (b"a", b"b")
    assert refused.refused == "line 2 has more than 1000000 bytes"
    assert problems == [f"{bomb}: one record unpacks to more than 500 times its {_name(pack)} size, after 2 pages"]


def _name(pack: Callable[[bytes], bytes]) -> str:
    return "gzip" if pack is gzip.compress else "zstd"


def test_many_alike_lines_are_no_bomb(tmp_path: Path, read_all: ReadAll, problems: list[str]) -> None:
    file = tmp_path / "pages.jsonl.zst"
    file.write_bytes(zstandard.compress(lines({"html": "<p>alike" * 1000}) * 20_000))
    assert len(read_all(file)) == 20_000
    assert problems == []


def test_a_file_of_short_lines_that_is_a_bomb_is_read_up_to_the_limit(
    tmp_path: Path, read_all: ReadAll, problems: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "FILE_RATIO_FLOOR", 1_000_000)
    file = tmp_path / "bomb.jsonl.zst"
    file.write_bytes(zstandard.compress(lines({"html": "a"}) + b"\n" * 20_000_000 + lines({"html": "b"})))
    assert [page.body for page in read_all(file)] == [b"a"]
    assert problems == [f"{file}: unpacks to more than 1000 times its zstd size, after 1 page"]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstd"])
def test_records_before_a_break_are_read_and_the_break_is_reported(
    pack: Callable[[bytes], bytes], tmp_path: Path, read_all: ReadAll, problems: list[str]
) -> None:
    file = tmp_path / "pages.jsonl.gz"
    file.write_bytes(pack(lines({"html": "a"})) + pack(lines({"html": "b" * 100}))[:-3])
    pages = read_all(file)
    assert pages[0].body == b"a"
    assert problems == [f"{file}: the {_name(pack)} data ends early, after {counted(len(pages), 'page')}"]


def test_an_empty_file_has_no_pages_and_no_problem(tmp_path: Path, read_all: ReadAll, problems: list[str]) -> None:
    file = tmp_path / "pages.jsonl"
    file.touch()
    assert read_all(file) == []
    assert problems == []


def test_parts_are_read_back_as_they_were_written(tmp_path: Path) -> None:
    records = [{"url": f"http://a.test/{i}", "text": "é\u2028\n", "confidence": 0.1 + 0.2} for i in range(3)]
    parts = [tmp_path / "1.jsonl", tmp_path / "2.jsonl"]
    parts[0].write_bytes(record_line(records[0]))
    parts[1].write_bytes(record_line(records[1]) + record_line(records[2]))
    again = list(read_parts(parts))
    assert [record_line(record) for record in again] == [record_line(record) for record in records]
    assert again[2]["keywords"] == []
    assert "markdown" not in again[2]


def test_a_record_is_one_line_of_utf_8_whatever_it_holds() -> None:
    line = record_line({"url": "a\nb\ud800é", "links": ["x\ry"]})
    assert line.count(b"\n") == 1
    assert json.loads(line)["url"] == "a\nb?é"


def test_a_record_has_all_fields_in_one_order() -> None:
    record = json.loads(record_line({"text": "x", "url": "u", "html": "h"}))
    assert list(record) == [
        *("url", "page_id", "site", "outcome", "reason", "method", "type", "genre", "category", "title", "author"),
        *("date", "keywords", "abstract", "text", "html", "links", "lang", "confidence", "replica_of"),
        *("kept_words", "all_words", "site_name", "description", "summary", "relevant_links"),
    ]


def test_a_field_that_is_none_of_ours_is_an_error() -> None:
    with pytest.raises(ValueError, match="no field txt; the fields are url"):
        record_line({"txt": "x"})
