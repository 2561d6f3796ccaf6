from __future__ import annotations

import errno
import gzip
import io
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from webwinnow.errors import InputError, SettingsError
from webwinnow.page.records import PageRecord
from webwinnow.run.inputs import open_pages
from webwinnow.run.unpacking import ReadLimits

HTML = b"<!doctype html><html><body><p>Hello</p></body></html>"
LINE = json.dumps({"url": "http://a.test/", "html": "<p>x"}).encode() + b"\n"

MakeRecord = Callable[..., bytes]
ReadAll = Callable[..., list[PageRecord]]


def give_stdin(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_an_html_file_is_a_page_with_its_path_for_a_url(
    tmp_path: Path, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path("sub/a.html").write_bytes(HTML)
    assert read_all("sub/a.html") == [PageRecord(url="sub/a.html", body=HTML)]


def test_ordinals_count_over_all_inputs(tmp_path: Path, make_record: MakeRecord, read_all: ReadAll) -> None:
    (tmp_path / "a.html").write_bytes(HTML)
    (tmp_path / "b.jsonl").write_bytes(LINE * 2)
    (tmp_path / "c.warc").write_bytes(make_record("http://a.test/c"))
    pages = read_all(tmp_path / "c.warc", str(tmp_path / "b.jsonl"), tmp_path / "a.html")
    assert [page.ordinal for page in pages] == [0, 1, 2, 3]
    assert [page.url.rpartition("/")[2] for page in pages] == ["c", "", "", "a.html"]


def test_a_folder_is_walked_in_the_order_of_names(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    for name in ("z.html", "b/y.HTM", "b/a/x.xhtml", "c.html", ".hidden/h.html", ".h.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_bytes(HTML)
    (tmp_path / "b.warc.gz").write_bytes(gzip.compress(make_record("http://a.test/w")))
    (tmp_path / "b" / "p.jsonl").write_bytes(LINE)
    (tmp_path / "b" / "about").write_bytes(b"\xef\xbb\xbf <!-- saved --> <!DOCTYPE html><p>no suffix")
    (tmp_path / "b" / "index.php?id=3").write_bytes(b"<?xml version='1.0'?>\n<html xmlns='x'>")
    for name, content in {"s.css": b"p{}", "s.js": b"<!-- x", "README.md": b"<p align=x>", "i.png": b"\x89PNG"}.items():
        (tmp_path / "b" / name).write_bytes(content)
    assert [page.url for page in read_all(tmp_path)] == [
        "b/a/x.xhtml",
        "b/about",
        "b/index.php?id=3",
        "http://a.test/",
        "b/y.HTM",
        "http://a.test/w",
        "c.html",
        "z.html",
    ]
    assert problems == []


def test_a_loop_of_links_ends(tmp_path: Path, read_all: ReadAll, problems: list[str]) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "page.html").write_bytes(HTML)
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "gone.html").symlink_to(tmp_path / "nowhere")
    (tmp_path / "self").symlink_to(tmp_path / "self")
    assert [page.url for page in read_all(tmp_path)] == ["a/page.html"]


def test_a_folder_without_pages_is_an_input_error(tmp_path: Path, read_all: ReadAll) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    with pytest.raises(InputError, match=r"no pages in this folder; expected \.html"):
        read_all(tmp_path)


def test_a_bad_file_in_a_folder_does_not_stop_the_others(
    tmp_path: Path, read_all: ReadAll, problems: list[str]
) -> None:
    (tmp_path / "a.html").write_bytes(b"%PDF-1.4")
    (tmp_path / "b.jsonl").write_bytes(b"%PDF-1.4")
    (tmp_path / "c.html").write_bytes(HTML)
    refused, page = read_all(tmp_path)
    assert refused.url == "a.html"
    assert refused.refused is not None
    assert "is a PDF document" in refused.refused
    assert page.body == HTML
    assert len(problems) == 1
    assert "b.jsonl: is a PDF document" in problems[0]


def test_a_file_name_that_is_no_utf_8_makes_a_url_that_is(tmp_path: Path, read_all: ReadAll) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.html")).write_bytes(HTML)
    except OSError:
        pytest.skip("this file system takes only UTF-8")
    [page] = read_all(tmp_path)
    assert page.url == "caf\ufffd.html"


@pytest.mark.parametrize(
    ("name", "content", "bodies"),
    [
        ("crawl.warc.gz", "warc", [HTML]),
        ("crawl.warc", "warc gzip", [HTML]),
        ("pages.html", "warc zstd", [HTML]),
        ("pages.html", "html gzip", [HTML]),
        ("pages.html.gz", "html", [HTML]),
        ("pages.jsonl", "html", [HTML]),
        ("pages.html", "jsonl", [b"<p>x"]),
        ("pages.jsonl.gz", "jsonl zstd", [b"<p>x"]),
        ("pages", "jsonl", [b"<p>x"]),
    ],
)
def test_a_file_is_what_its_content_says(
    name: str, content: str, bodies: list[bytes], *, tmp_path: Path, make_record: MakeRecord, read_all: ReadAll
) -> None:
    kind, _, packing = content.partition(" ")
    plain = {"warc": make_record(), "html": HTML, "jsonl": LINE}[kind]
    packers: dict[str, Callable[[bytes], bytes]] = {"": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}
    (tmp_path / name).write_bytes(packers[packing](plain))
    assert [page.body for page in read_all(tmp_path / name)] == bodies


def test_an_html_file_that_is_parquet_is_read_as_parquet(tmp_path: Path, read_all: ReadAll) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"url": ["u"], "html": ["x"]}), tmp_path / "page.html")
    assert [page.url for page in read_all(tmp_path / "page.html")] == ["u"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.html", b"%PDF-1.7 ...", "is a PDF document; expected HTML, WARC"),
        ("a.html", b"\x89PNG\r\n\x1a\n", "is a PNG image"),
        ("a.html", b"\xff\xd8\xff\xe0", "is a JPEG image"),
        ("a.warc.gz", b"BZh91AY", "is a bzip2 file: unpack it first"),
        ("a.jsonl", b'[{"url": 1}]', r"is a JSON array; expected JSONL.*jq -c"),
        ("a.html", b"\x00\x01\x02\x03", "is a binary file of an unknown kind"),
        ("a.warc", b"hello world", "is plain text"),
        ("a.txt", b"hello world", "is plain text"),
        ("a.csv", b"url,html\nx,<html><body>", "is plain text"),
        ("a.xml", b"<?xml version='1.0'?><rss></rss>", "is plain text"),
        ("a.txt", b"", "is empty"),
        ("a.parquet", b"", "is empty"),
        ("a.warc.gz", gzip.compress(gzip.compress(HTML)), "gzip inside a compressed file: unpack it first"),
        ("a.parquet.gz", gzip.compress(b"PAR1...."), "is Parquet inside gzip; unpack it first"),
        ("a.jsonl.gz", b"\x1f\x8b\x08\x00", "the gzip data ends early; nothing could be read"),
        ("a.jsonl.gz", b"\x1f\x8b\x08\xff" * 9, "the gzip data is damaged"),
        ("a.jsonl.zst", zstandard.compress(LINE)[:9], "the zstd data ends early; nothing could be read"),
    ],
)
def test_a_file_that_is_nothing_of_ours_is_refused_clearly(
    name: str, content: bytes, message: str, tmp_path: Path, read_all: ReadAll
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as raised:
        read_all(tmp_path / name)
    assert name in str(raised.value)


@pytest.mark.parametrize(
    "content",
    [
        b"just a fragment, <b>bold",
        b"",
        b"\xff\xfe" + "<html>x".encode("utf-16-le"),
        b"\xfe\xff" + "<html>x".encode("utf-16-be"),
        b"\xef\xbb\xbf\n<HTML>",
        b"<div>x",
        b"<!-- x --><p>",
        b"\x00\x0b junk <body>",
    ],
)
def test_an_html_file_need_not_look_like_one(content: bytes, tmp_path: Path, read_all: ReadAll) -> None:
    (tmp_path / "a.html").write_bytes(content)
    assert [page.body for page in read_all(tmp_path / "a.html")] == [content]


def test_inputs_are_looked_at_before_the_first_page_is_read(tmp_path: Path) -> None:
    (tmp_path / "good.html").write_bytes(HTML)
    (tmp_path / "bad.html").write_bytes(b"%PDF-1.4")
    for bad, message in (("bad.html", "is a PDF"), ("missing", "no such file or folder")):
        with pytest.raises(InputError, match=message):
            open_pages([tmp_path / "good.html", tmp_path / bad], on_problem=print)


def test_no_input_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no input given"):
        open_pages([], on_problem=print)


def test_an_input_that_vanishes_is_reported_and_the_next_is_read(tmp_path: Path, problems: list[str]) -> None:
    first, second = tmp_path / "a.html", tmp_path / "b.html"
    first.write_bytes(HTML)
    second.write_bytes(HTML)
    pages = open_pages([first, second], on_problem=problems.append)
    first.unlink()
    assert [page.url for page in pages] == [second.as_posix()]
    assert problems == [f"{first}: cannot be read (No such file or directory)"]


def test_an_html_file_over_the_limit_is_refused(tmp_path: Path, read_all: ReadAll) -> None:
    (tmp_path / "a.html").write_bytes(HTML)
    [page] = read_all(tmp_path / "a.html", max_page_bytes=10)
    assert (page.body, page.refused) == (b"", "the page has more than 10 bytes")


@pytest.mark.parametrize("size", [5_000_000, 200_000_000])
def test_an_html_file_that_is_a_bomb_is_refused(size: int, tmp_path: Path, read_all: ReadAll) -> None:
    (tmp_path / "a.html.gz").write_bytes(gzip.compress(HTML + b"\n" * size))
    [page] = read_all(tmp_path / "a.html.gz")
    assert page.body == b""
    assert page.refused is not None
    assert "more than" in page.refused


def test_an_html_file_whose_gzip_is_cut_is_refused(tmp_path: Path, read_all: ReadAll) -> None:
    (tmp_path / "a.html.gz").write_bytes(gzip.compress(HTML)[:-3])
    [page] = read_all(tmp_path / "a.html.gz")
    assert (page.body, page.refused) == (b"", "the gzip data ends early")


@pytest.mark.parametrize("packing", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstd"])
@pytest.mark.parametrize(("kind", "body"), [("warc", HTML), ("html", HTML), ("jsonl", b"<p>x")])
def test_standard_input_is_what_its_content_says(
    kind: str,
    body: bytes,
    packing: Callable[[bytes], bytes],
    *,
    make_record: MakeRecord,
    read_all: ReadAll,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give_stdin(monkeypatch, packing({"warc": make_record(), "html": HTML, "jsonl": LINE}[kind]))
    assert [page.body for page in read_all("-")] == [body]


def test_a_page_from_standard_input_has_no_url(read_all: ReadAll, monkeypatch: pytest.MonkeyPatch) -> None:
    give_stdin(monkeypatch, b"some warning\n<html><p>x")
    assert [page.url for page in read_all("-")] == [""]


@pytest.mark.parametrize(("content", "message"), [(b"", "standard input: is empty"), (b"hello", "is plain text")])
def test_standard_input_that_holds_no_page_is_an_input_error(
    content: bytes, message: str, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_stdin(monkeypatch, content)
    with pytest.raises(InputError, match=message):
        read_all("-")


def test_standard_input_can_be_given_once(read_all: ReadAll) -> None:
    with pytest.raises(InputError, match="given twice"):
        read_all("-", Path("-"))


def test_a_named_pipe_is_read(tmp_path: Path, read_all: ReadAll) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(LINE,))
    writer.start()
    assert [page.body for page in read_all(pipe)] == [b"<p>x"]
    writer.join()


def test_a_socket_costs_itself_only(tmp_path: Path, read_all: ReadAll, problems: list[str]) -> None:
    place = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
    page = tmp_path / "a.html"
    page.write_bytes(b"<html>")
    assert [found.body for found in read_all(place, page)] == [b"<html>"]
    assert problems == [f"{place}: cannot be read ({os.strerror(errno.ENXIO)})"]


def test_a_reader_that_stops_early_leaves_no_file_open(
    tmp_path: Path, make_record: MakeRecord, problems: list[str]
) -> None:
    (tmp_path / "a.warc").write_bytes(make_record() * 3)
    pages = open_pages([tmp_path / "a.warc"], on_problem=problems.append)
    assert next(pages).ordinal == 0
    del pages  # an open file would be a ResourceWarning, and so an error
    assert problems == []


def test_limits_must_be_above_zero() -> None:
    with pytest.raises(SettingsError, match="max_ratio is 0"):
        ReadLimits(max_ratio=0)
