"""Readers: how the format of an input is recognised, and formats of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from webwinnow import plugins
from webwinnow.errors import InputError
from webwinnow.page.records import PageRecord
from webwinnow.run import readers
from webwinnow.run.inputs import open_pages
from webwinnow.run.readers import Reader, Source, reader_by_name, reader_of


@pytest.mark.parametrize("name", plugins.built_in("reader"))
def test_a_reader_is_found_by_its_name(name: str) -> None:
    assert isinstance(plugins.load("reader", name).READER, Reader)


@pytest.mark.parametrize(
    ("head", "name", "kind"),
    [
        (b"WARC/1.0\r\n", "page.html", "WARC"),
        (b"PK\x03\x04", "x", "WACZ"),
        (b"PAR1", "x.jsonl", "Parquet"),
        (b' {"url": 1}', "page.html", "JSONL"),
        (b"<p>text", "x.jsonl", "HTML"),
        (b"no tag", "page.htm.gz", "HTML"),
        (b"no tag", "x.jsonl", "JSONL"),
        (b"words, then <body>", "x", "HTML"),
        (b"", "x.warc", "WARC"),
    ],
)
def test_the_bytes_decide_and_the_name_of_other_text(head: bytes, name: str, kind: str) -> None:
    assert reader_of(head, name).kind == kind


class Letters(Reader):
    """A format of another package: a letter is a page."""

    kind, suffixes, magic = "letters", (".letters",), (b"%PDF-letters",)

    def pages(self, source: Source) -> Iterator[PageRecord]:
        """A page for each letter."""
        for letter in source.stream.read().decode().removeprefix("%PDF-letters"):
            yield PageRecord(url=letter, body=b"<p>" + letter.encode())


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    load = plugins.load
    monkeypatch.setattr(plugins, "installed", lambda kind: {"letters": "letters"} if kind == "reader" else {})
    monkeypatch.setattr(
        plugins, "load", lambda kind, name: SimpleNamespace(READER=Letters()) if name == "letters" else load(kind, name)
    )
    readers._installed.cache_clear()
    yield
    readers._installed.cache_clear()


@pytest.mark.usefixtures("installed")
def test_a_format_of_another_package_is_read_by_its_first_bytes_and_found_in_folders(tmp_path: Path) -> None:
    (tmp_path / "some.letters").write_text("%PDF-lettersab")
    found = reader_by_name("some.letters.gz")
    assert found is not None and found.kind == "letters"
    for given in (tmp_path, tmp_path / "some.letters"):
        assert [page.url for page in open_pages([given], on_problem=print)] == ["a", "b"]


@pytest.mark.usefixtures("installed")
def test_what_no_package_reads_is_named() -> None:
    with pytest.raises(InputError, match="is a PDF document; expected HTML"):
        reader_of(b"%PDF-1.7", "x.pdf")


def test_packages_are_not_searched_for_a_format_that_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "installed", lambda _kind: pytest.fail("searched"))
    readers._installed.cache_clear()
    assert reader_of(b'{"a": 1}', "x").kind == "JSONL"
    assert reader_of(b"no tag", "x.html").kind == "HTML"
