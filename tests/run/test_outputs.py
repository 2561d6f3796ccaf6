from __future__ import annotations

import csv
import errno
import gzip
import io
import json
import os
import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zstandard

from webwinnow.errors import SettingsError
from webwinnow.record.fields import record_line
from webwinnow.run.outputs import OutputFormat, check_apart, check_output, check_writable, output_format, write_output
from webwinnow.run.pagestore import read_parts

RECORDS = [{"url": f"http://a.test/{i}", "text": f"page {i} é", "links": ["http://b.test/"] * i} for i in range(50)]
PLAIN = b"".join(map(record_line, RECORDS))
FORMATS: list[tuple[str, OutputFormat]] = [
    ("out.jsonl", "jsonl"),
    ("out.jsonl.gz", "jsonl"),
    ("out.jsonl.zst", "jsonl"),
    ("out.parquet", "parquet"),
    ("out", "markdown"),
    ("out", "html"),
]
EVERY_FORMAT = pytest.mark.parametrize(("name", "format"), FORMATS)


def content_of(path: Path) -> dict[str, bytes]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files}


def test_jsonl_is_packed_as_its_name_says(tmp_path: Path) -> None:
    for name in ("out.jsonl", "out.jsonl.gz", "out.JSONL.ZST"):
        write_output(RECORDS, tmp_path / name, "jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == PLAIN
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == PLAIN
    packed = (tmp_path / "out.JSONL.ZST").read_bytes()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(packed) == PLAIN


@EVERY_FORMAT
def test_the_bytes_do_not_depend_on_the_parts(name: str, format: OutputFormat, tmp_path: Path) -> None:
    outputs = []
    for cut in (0, 1, 20):
        folder = tmp_path / str(cut)
        folder.mkdir()
        parts = [folder / "1.part", folder / "2.part"]
        parts[0].write_bytes(b"".join(map(record_line, RECORDS[:cut])))
        parts[1].write_bytes(b"".join(map(record_line, RECORDS[cut:])))
        write_output(read_parts(parts), folder / name, format)
        outputs.append(content_of(folder / name))
    assert outputs[0] == outputs[1] == outputs[2]


def test_nothing_of_the_day_is_in_packed_output(tmp_path: Path) -> None:
    write_output(RECORDS, tmp_path / "out.jsonl.gz", "jsonl")
    assert (tmp_path / "out.jsonl.gz").read_bytes()[3:8] == b"\0\0\0\0\0"  # no name, no time (RFC 1952, 2.3)


def broken_records() -> Iterator[dict[str, Any]]:
    yield from RECORDS
    raise KeyboardInterrupt


@EVERY_FORMAT
def test_an_error_leaves_nothing_behind(name: str, format: OutputFormat, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        write_output(broken_records(), tmp_path / name, format)
    assert list(tmp_path.iterdir()) == []


def test_an_error_leaves_the_former_output_in_place(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_bytes(b"former")
    with pytest.raises(KeyboardInterrupt):
        write_output(broken_records(), tmp_path / "out.jsonl", "jsonl")
    assert content_of(tmp_path) == {"out.jsonl": b"former"}


@contextmanager
def full_disk() -> Iterator[None]:
    """Limit files to 100 bytes by the operating system: larger writes fail with an OSError.

    Not a fixture: pytest writes its report, perhaps to a file, before a fixture ends.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@EVERY_FORMAT
def test_a_disk_that_takes_no_more_leaves_nothing_behind(name: str, format: OutputFormat, tmp_path: Path) -> None:
    records = [{"url": os.urandom(100).hex(), "text": os.urandom(10_000).hex()} for _ in range(20)]
    with full_disk(), pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
        write_output(records, tmp_path / name, format)
    assert list(tmp_path.iterdir()) == []


def test_a_full_device_is_an_os_error() -> None:
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        write_output(RECORDS, "/dev/full", "jsonl")


def test_a_device_is_written_to_and_never_replaced() -> None:
    write_output(RECORDS, "/dev/null", "jsonl")
    assert Path("/dev/null").is_char_device()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "out.jsonl").symlink_to(tmp_path / "there" / "real.jsonl")
    write_output(RECORDS, tmp_path / "out.jsonl", "jsonl")
    assert (tmp_path / "out.jsonl").is_symlink()
    assert (tmp_path / "there" / "real.jsonl").read_bytes() == PLAIN


def test_a_named_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_output(RECORDS, tmp_path / "pipe", "jsonl")
    reader.join()
    assert read == [PLAIN]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_standard_output_is_written_and_stays_open(format: OutputFormat, monkeypatch: pytest.MonkeyPatch) -> None:
    stdout = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", stdout)
    write_output(RECORDS, "-", format)
    written = stdout.buffer
    assert isinstance(written, io.BytesIO)
    assert written.getvalue() == PLAIN if format == "jsonl" else written.getvalue().endswith(b"PAR1")


def test_the_new_file_has_the_rights_of_new_files(tmp_path: Path) -> None:
    write_output(RECORDS, tmp_path / "out.jsonl", "jsonl")
    (tmp_path / "other").touch()
    assert (tmp_path / "out.jsonl").stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("format", ["markdown", "html"])
def test_a_folder_may_be_there_if_it_is_empty(format: OutputFormat, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write_output(RECORDS, tmp_path / "out", format)
    assert len(list((tmp_path / "out").iterdir())) == len(RECORDS)
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


@pytest.mark.parametrize(
    ("out", "format", "message"),
    [
        ("-", "markdown", "makes a folder of files"),
        ("full", "html", "is a folder with files in it"),
        ("full", "jsonl", "is a folder; jsonl makes a file"),
        ("full/file", "markdown", "is a file; markdown makes a folder"),
        ("missing/out.jsonl", "jsonl", "does not exist; make it first"),
    ],
)
def test_an_output_that_cannot_be_is_known_before_the_work(
    out: str, format: OutputFormat, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("full").mkdir()
    Path("full/file").write_text("precious")
    with pytest.raises(SettingsError, match=message):
        check_output(out, format)
    with pytest.raises(SettingsError, match=message):
        write_output(RECORDS, out, format)
    assert Path("full/file").read_text() == "precious"


@pytest.mark.parametrize(
    ("out", "wanted", "expected"),
    [
        ("x.parquet", None, "parquet"),
        ("x.jsonl.gz", None, "jsonl"),
        ("-", None, "jsonl"),
        ("x.parquet", "JSONL", "jsonl"),
        ("x", "markdown", "markdown"),
        ("x.csv.zst", None, "csv"),
        ("x.json", None, "jsonl"),
        ("x.gz", None, "jsonl"),
        ("x", None, "jsonl"),
        ("crawl.2026-11", None, "jsonl"),
        ("x.xml", "dublin-core", "dublin-core"),
    ],
)
def test_the_format_is_the_one_wanted_or_by_name(out: str, wanted: str | None, expected: str) -> None:
    assert output_format(out, wanted) == expected


@pytest.mark.parametrize("out", ["x.xml", "notes.md", "x.html", "x.xml.gz", "x.parquet.gz"])
def test_a_suffix_of_no_known_format_is_refused(out: str) -> None:
    with pytest.raises(SettingsError, match="is not a known format; give --format"):
        output_format(out)


def test_only_suffixes_of_formats_that_are_written_are_suggested() -> None:
    with pytest.raises(SettingsError, match=r"a name in .*\.parquet, \.pq$"):
        output_format("out.xyz")
    with pytest.raises(SettingsError, match=r"a name in .*\.graphml, \.edges$"):
        output_format("out.xyz", links=True)


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match=r"r\.jsonl: \S+/file is a file, not a folder; give another name"):
        check_writable(tmp_path / "file" / "r.jsonl")


def test_an_output_is_no_input_and_no_other_output(tmp_path: Path) -> None:
    crawl, out = tmp_path / "crawl.jsonl", tmp_path / "out.jsonl"
    crawl.write_text("{}")
    (tmp_path / "link.jsonl").symlink_to(crawl)
    with pytest.raises(SettingsError, match="is an input, which the output would replace"):
        check_apart([crawl], tmp_path / "link.jsonl")
    with pytest.raises(SettingsError, match="is named for two outputs"):
        check_apart([crawl], out, tmp_path / "." / "out.jsonl")
    check_apart([tmp_path, "-", "http://a.example/"], crawl, out, None, "-", "/dev/null", "/dev/null")
    with pytest.raises(SettingsError, match="is given for two outputs"):
        check_apart([crawl], "-", out, "-")


def test_an_unknown_format_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(SettingsError, match="no format 'xml'; there are: jsonl, parquet, csv, markdown, html"):
        output_format("x", "xml")


def test_other_fields_can_be_written(tmp_path: Path) -> None:
    from webwinnow.record.fields import Field, FieldKind

    fields = (Field("page_id"), Field("cluster", FieldKind.INTEGER))
    write_output([{"cluster": 3, "page_id": "a"}], tmp_path / "out.jsonl", "jsonl", fields=fields)
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {"page_id": "a", "cluster": 3}


def test_csv_has_a_line_of_names_and_no_formulas(tmp_path: Path) -> None:
    out = tmp_path / "records.csv"
    record = {
        "url": "http://a.example/",
        "title": "=1+1",
        "keywords": ["a, b"],
        "kept_words": 3,
        "text": 'two\nlines "said"',
    }
    write_output([record], out, output_format(out))
    with out.open(encoding="utf-8", newline="") as file:
        [row] = csv.DictReader(file)
    assert row["title"] == "'=1+1"
    assert row["keywords"] == '["a, b"]'
    assert row["kept_words"] == "3"
    assert row["text"] == 'two\nlines "said"'
    assert row["author"] == ""
