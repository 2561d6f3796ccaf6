"""Crawling: pages of sites into a WARC file, politely, within limits, from where a killed crawl was (extra `crawl`).

`guard` stands by itself: which addresses a connection may go to.
"""

from __future__ import annotations

from webwinnow.crawl.follow import CrawledPage, Follow, FollowAll, FollowKept, FollowNone, Next
from webwinnow.crawl.guard import AddressGuard, AddressRefused, Route
from webwinnow.crawl.run import CrawlSummary, crawl
from webwinnow.crawl.settings import CrawlSettings

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
]
