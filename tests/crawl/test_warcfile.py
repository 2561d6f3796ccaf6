"""The WARC file: truncated records that can be continued; exchanges as transmitted; messages."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from webwinnow.crawl.downloads import _final_response
from webwinnow.crawl.messages import FetchedPage, Go, Message, read_message, write_message
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.warcfile import Exchange, WarcFile, claims_another_type, headers_of
from webwinnow.errors import SettingsError

EXCHANGE = Exchange(
    b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Long: a\r\n b\r\n\r\n<p>Page\r\n\r\n<p>End",
    "192.0.2.1",
    "2026-01-02T03:04:05Z",
)


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc"])
def test_bytes_after_the_last_whole_record_can_be_cut(
    tmp_path: Path, stored_pages: Callable[[Path], Counter[str]], name: str
) -> None:
    path = tmp_path / name
    warc = WarcFile(path)
    warc.begin(CrawlSettings())
    end = warc.append("http://a.test/", EXCHANGE)
    warc.append("http://a.test/b", EXCHANGE)
    warc.close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 10)
    warc = WarcFile(path)
    warc.truncate(end)
    warc.append("http://a.test/c", EXCHANGE)
    warc.close()
    assert stored_pages(path) == Counter(["http://a.test/", "http://a.test/c"])


def test_an_exchange_is_read_from_its_bytes() -> None:
    assert EXCHANGE.status == 200
    assert EXCHANGE.headers == [("Content-Type", "text/html"), ("X-Long", "a b")]
    assert EXCHANGE.header("content-type") == "text/html"
    assert EXCHANGE.body == b"<p>Page\r\n\r\n<p>End"


def test_headers_with_bare_line_ends_and_without_a_colon_are_read() -> None:
    assert headers_of(b"HTTP/1.0 200\nA: b\nrubbish\nC:d\n\n") == [("A", "b"), ("C", "d")]


@pytest.mark.parametrize(
    ("content_type", "another"),
    [("", False), ("text/html; charset=x", False), ("Application/XHTML+xml", False), ("image/png", True)],
)
def test_the_content_type_shows_what_is_not_a_page(content_type: str, another: bool) -> None:
    assert claims_another_type(content_type) == another


def test_messages_come_through_a_stream_and_its_end_is_seen() -> None:
    stream = io.BytesIO()
    messages: list[Message] = [FetchedPage(1, "http://a.test/\n", b"\n\0<p>", None, "", 1, 0, None), Go()]
    for message in messages:
        write_message(stream, message)
    whole = stream.getvalue()
    stream.seek(0)
    assert [read_message(stream), read_message(stream), read_message(stream)] == [*messages, None]
    assert read_message(io.BytesIO(whole[:7])) is None


@pytest.mark.parametrize(
    "wrong",
    [{"pages": 0}, {"delay": -1}, {"strategy": "best"}, {"scope": "all"}, {"user_agent": "a\nb"}, {"seconds": 0}],
)
def test_invalid_settings_are_reported(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        CrawlSettings(**wrong)  # type: ignore[arg-type]


def test_settings_come_back_from_plain_values() -> None:
    settings = CrawlSettings(pages=3, seconds=1.5)
    assert CrawlSettings.from_plain(settings.to_plain()) == settings


def test_many_interim_responses_are_passed_over_without_a_copy_each() -> None:
    class Counted(bytes):
        copies = 0

        def __getitem__(self, place: Any) -> Any:
            Counted.copies += 1
            return Counted(super().__getitem__(place))

    final = b"HTTP/1.1 200 OK\r\n\r\n<p>x"
    assert _final_response(Counted(b"HTTP/1.1 103 Early\r\n\r\n" * 1_000 + final), None) == final
    assert Counted.copies == 2  # the header and the response


@pytest.mark.parametrize("trailer", [b"", b"Expires: never\r\n", b"A: b\r\nC: d\r\n"])
def test_bytes_after_the_last_chunk_are_no_part_of_the_response(trailer: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n"
    response = head + b"5\r\nhello\r\n3;x=y\r\n0\r\n\r\n0\r\n" + trailer + b"\r\n"
    assert _final_response(response + b"HTTP/1.1 200 OK\r\n\r\nsmuggled", None) == response
    assert _final_response(head + b"5\r\nhello\r\n9\r\ncut", None) == head + b"5\r\nhello\r\n9\r\ncut"
    assert _final_response(head + b"not chunked\r\n\r\n", None) == head + b"not chunked\r\n\r\n"
