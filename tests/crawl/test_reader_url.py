"""URLs among the inputs of `clean`."""

from __future__ import annotations

from pathlib import Path

import pytest

from webwinnow import plugins
from webwinnow.crawl.crawling import state_folder
from webwinnow.crawl.settings import CrawlSettings

URLS = plugins.load("reader", "url").READER


@pytest.mark.parametrize(("given", "is_url"), [("https://a.test/b", True), ("a.html", False), ("-", False)])
def test_urls_are_taken(given: str, is_url: bool) -> None:
    assert URLS.takes(given) is is_url


def test_files_are_passed_on(tmp_path: Path) -> None:
    with URLS.fetched(["a.html"], str(tmp_path / "o"), CrawlSettings(), resume=False) as files:
        assert files == ["a.html"]


def test_a_finished_crawl_is_not_repeated_when_its_run_is_resumed(tmp_path: Path) -> None:
    out = str(tmp_path / "clean.jsonl")
    URLS.kept_file(out).write_bytes(b"WARC/1.0")
    with URLS.fetched(["http://a.test/", "b.html"], out, CrawlSettings(), resume=True) as files:
        assert files == [str(tmp_path / "clean.jsonl.warc.gz"), "b.html"]


def test_what_is_left_of_a_stopped_crawl_is_named(tmp_path: Path) -> None:
    out = str(tmp_path / "clean.jsonl")
    assert URLS.after_stop(out) is None
    warc = URLS.kept_file(out)
    warc.touch()
    assert URLS.after_stop(out).startswith(f"{warc} has the pages of the crawl")
    state_folder(warc).mkdir()
    assert URLS.after_stop(out).startswith(f"{warc} has what was fetched")
