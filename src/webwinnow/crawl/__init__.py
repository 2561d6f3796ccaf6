"""Crawl pages of sites into a WARC file, politely, within limits, and resumable after a kill (extra `crawl`).

`guard`, which decides where a connection may go, can be used on its own.
"""

from __future__ import annotations

from webwinnow.crawl.crawling import CrawlSummary, crawl, fetch_page
from webwinnow.crawl.crawlsettings import CrawlSettings
from webwinnow.crawl.follow import CrawledPage, Follow, FollowAll, FollowKept, FollowNone, Next
from webwinnow.crawl.guard import AddressGuard, AddressRefused, Route

__all__ = [
    "AddressGuard",
    "AddressRefused",
    "CrawlSettings",
    "CrawlSummary",
    "CrawledPage",
    "Follow",
    "FollowAll",
    "FollowKept",
    "FollowNone",
    "Next",
    "Route",
    "crawl",
    "fetch_page",
]
