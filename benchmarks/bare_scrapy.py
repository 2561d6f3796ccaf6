"""Bare Scrapy as a baseline: `python bare_scrapy.py FOLDER PAGES START...` saves the bodies of pages as files.

Follows links on the host of each start page, at most PAGES requests per host and one at a time; obeys robots.txt.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response


class Bare(scrapy.Spider):
    """A minimal spider."""

    name = "bare"

    def __init__(self, folder: str, pages: str, *starts: str) -> None:
        super().__init__()
        self.start_urls = list(starts)
        self.folder, self.pages = Path(folder), int(pages)
        self.asked: Counter[str] = Counter(urlsplit(start).netloc for start in starts)
        self.known: set[str] = set(starts)
        self.saved = 0

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        """Save the page, follow its links."""
        self.saved += 1
        (self.folder / f"{self.saved}.html").write_bytes(response.body)
        host = urlsplit(response.url).netloc
        for href in response.css("a::attr(href)").getall():
            target = response.urljoin(href.strip()).partition("#")[0]
            if urlsplit(target).netloc == host and target not in self.known and self.asked[host] < self.pages:
                self.known.add(target)
                self.asked[host] += 1
                yield scrapy.Request(target)


if __name__ == "__main__":
    process = CrawlerProcess(
        {
            "LOG_ENABLED": False,
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
            "CONCURRENT_REQUESTS": 16,
            "DOWNLOAD_DELAY": 0,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Bare, *sys.argv[1:])
    process.start()
