"""`PrunedFollow` steers a crawl by what its pages show; and what was crawled, read again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from webwinnow.crawl.crawling import stored_crawl
from webwinnow.crawl.follow import CrawledPage, Next, asks_not_to
from webwinnow.errors import InputError, PageRefused
from webwinnow.page.parsing import parse
from webwinnow.page.records import PageRecord
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import canonical
from webwinnow.topics.denoising import WordCounter
from webwinnow.topics.sitepages import PageWords
from webwinnow.topics.sitereading import SiteReading


class PrunedFollow:
    """Steers a crawl by one `SiteReading` per start page: links are followed where the page tree grows, and a site is
    left when its topic is settled. With `keep_trees` the trees of pages and the spelling of their words are kept.
    """

    learns = True

    def __init__(
        self, readings: dict[str, SiteReading], *, counter: WordCounter | None = None, keep_trees: bool = False
    ) -> None:
        self.readings, self.counter = readings, counter or WordCounter()
        self.keep_trees = keep_trees
        self.trees: dict[str, list[PageTree]] = {start: [] for start in readings}
        self.spelled: dict[str, dict[int, str]] = {start: {} for start in readings}

    def next(self, page: CrawledPage) -> Next:
        """The links to follow from a page."""
        reading = self.readings.get(page.start)
        if reading is None:
            return Next()
        words = self.counter.of(page.tree, self.spelled[page.start] if self.keep_trees else None)
        unwilling = asks_not_to(page.tree)
        read = reading.read(replace(words, links=()) if unwilling else words, page.referrer)
        if self.keep_trees:
            self.trees[page.start].append(page.tree)
        return Next(page.links if read.follow and not unwilling else (), leave_site=read.settled)


def can_resume(folder: Path, warc: Path) -> bool:
    """Whether a round was begun; a crawl that cannot be continued is removed."""
    try:
        stored_crawl(warc, folder)
    except InputError:
        shutil.rmtree(folder)
        folder.mkdir()
        return False
    return True


def fates_of(log: Path) -> list[dict[str, Any]]:
    """The lines of a crawl's log, split as bytes: text would also end lines at U+2028."""
    return [json.loads(line) for line in log.read_bytes().splitlines()]


def stored_words(record: PageRecord, counter: WordCounter, spelled: dict[int, str] | None = None) -> PageWords | None:
    """The words of a stored page, without links if it forbids following them; None if it cannot be read."""
    try:
        tree = parse(record.body, url=record.url, content_type=record.content_type)
    except PageRefused:
        return None
    words = counter.of(tree, spelled)
    return replace(words, links=()) if asks_not_to(tree) else words


def linked_urls(pages: Sequence[PageWords]) -> set[str]:
    """The URLs that pages link to."""
    return {canonical(link) for page in pages for link in page.links}
