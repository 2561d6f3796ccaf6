from __future__ import annotations

import gzip
import io
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from webwinnow.errors import InputError
from webwinnow.page.records import PageRecord

MakeRecord = Callable[..., bytes]
ReadAll = Callable[..., list[PageRecord]]


def write_zip(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_the_archives_of_a_wacz_are_read_in_the_order_of_their_names(
    compression: int, tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    members = {
        "datapackage.json": b"{}",
        "archive/b.warc": make_record("http://a.test/3"),
        "archive/a.warc.gz": gzip.compress(make_record("http://a.test/1"))
        + gzip.compress(make_record("http://a.test/2")),
        "pages/pages.jsonl": b"{}",
        "indexes/index.cdx": b"",
    }
    file = write_zip(tmp_path / "crawl.wacz", members, compression)
    assert [page.url for page in read_all(file)] == ["http://a.test/1", "http://a.test/2", "http://a.test/3"]
    assert problems == []


def test_a_zip_that_is_no_wacz_is_refused(tmp_path: Path, read_all: ReadAll) -> None:
    file = write_zip(tmp_path / "pages.zip", {"index.html": b"<html>"})
    with pytest.raises(InputError, match=r"a zip archive without archive/\*\.warc\.gz"):
        read_all(file)


def test_a_damaged_zip_is_refused(tmp_path: Path, make_record: MakeRecord, read_all: ReadAll) -> None:
    file = write_zip(tmp_path / "crawl.wacz", {"archive/a.warc": make_record()})
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(InputError, match="damaged zip archive"):
        read_all(file)


def test_a_cut_archive_inside_is_reported_and_the_next_is_read(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    cut = gzip.compress(make_record("http://a.test/1")) + gzip.compress(make_record("http://a.test/2"))[:-9]
    members = {"archive/a.warc.gz": cut, "archive/b.warc": make_record("http://a.test/3")}
    pages = read_all(write_zip(tmp_path / "crawl.wacz", members))
    assert {page.url for page in pages if page.refused is None} >= {"http://a.test/1", "http://a.test/3"}
    assert "crawl.wacz/archive/a.warc.gz: the gzip data ends early" in problems[0]


def test_a_member_whose_bytes_changed_is_reported(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    file = write_zip(tmp_path / "crawl.wacz", {"archive/a.warc": make_record("http://a.test/1")})
    file.write_bytes(file.read_bytes().replace(b"Hello", b"HELLO"))
    with pytest.raises(InputError, match="Bad CRC-32"):
        read_all(file)
    assert "Bad CRC-32" in problems[0]


def test_a_member_that_is_a_bomb_is_reported_and_not_unpacked(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    members = {"archive/a.warc": b"\0" * 5_000_000, "archive/b.warc": make_record("http://a.test/1")}
    file = write_zip(tmp_path / "crawl.wacz", members, zipfile.ZIP_DEFLATED)
    assert [page.url for page in read_all(file)] == ["http://a.test/1"]
    assert problems == [f"{file}/archive/a.warc: unpacks to more than 1000 times its size"]


def test_an_unsupported_compression_of_a_member_is_reported(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    file = write_zip(tmp_path / "crawl.wacz", {"archive/a.warc": make_record()}, zipfile.ZIP_LZMA)
    with pytest.raises(InputError, match="compressed by a method that WACZ does not allow"):
        read_all(file)


def test_a_wacz_through_a_pipe_is_read(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_zip(tmp_path / "crawl.wacz", {"archive/a.warc": make_record("http://a.test/1")})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(file.read_bytes())))
    assert [page.url for page in read_all("-")] == ["http://a.test/1"]


@pytest.mark.parametrize("bit", [5, 6])
def test_a_member_with_a_flag_that_python_does_not_read_is_reported(
    bit: int, tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    members = {"archive/a.warc": make_record("http://a.test/1"), "archive/b.warc": make_record("http://a.test/2")}
    file = write_zip(tmp_path / "crawl.wacz", members)
    data = bytearray(file.read_bytes())
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + at] |= 1 << bit
    file.write_bytes(data)
    assert [page.url for page in read_all(file)] == ["http://a.test/2"]
    assert len(problems) == 1
    assert problems[0].startswith(f"{file}/archive/a.warc: cannot be read (")


def test_members_of_one_name_are_all_read(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    file = write_zip(tmp_path / "crawl.wacz", {"archive/a.warc": make_record("http://a.test/1")})
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("archive/a.warc", make_record("http://a.test/2"))
    assert [page.url for page in read_all(file)] == ["http://a.test/1", "http://a.test/2"]
    assert problems == []


def test_a_member_that_is_listed_many_times_is_read_once(
    tmp_path: Path, make_record: MakeRecord, read_all: ReadAll, problems: list[str]
) -> None:
    file = write_zip(tmp_path / "crawl.wacz", {"archive/a.warc": make_record("http://a.test/1")})
    content, times = file.read_bytes(), 50
    start, end = content.index(b"PK\x01\x02"), content.index(b"PK\x05\x06")
    listed = content[start:end] * times
    ending = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, times, times, len(listed), start, 0)
    file.write_bytes(content[:start] + listed + ending)
    assert [page.url for page in read_all(file)] == ["http://a.test/1"]
    assert problems == [f"{file}/archive/a.warc: overlaps another member"] * (times - 1)
