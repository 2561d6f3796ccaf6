"""Crawl pages of sites into a WARC file, politely, within limits, and resumable after a kill (extra `crawl`).

`guard`, which decides where a connection may go, can be used on its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from webwinnow.lazy import lazy_names

if TYPE_CHECKING:
    from webwinnow.crawl.crawling import CrawlSummary, crawl, fetch_page
    from webwinnow.crawl.crawlsettings import CrawlSettings
    from webwinnow.crawl.follow import CrawledPage, Follow, FollowAll, FollowKept, FollowNone, Next
    from webwinnow.crawl.guard import AddressGuard, AddressRefused, Route

ScopeKind = Literal["below", "host", "domain", "any"]
"""The pages of a site that are crawled."""
RenderWhen = Literal["never", "auto", "all"]
"""The pages that a browser renders."""

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
    "RenderWhen",
    "Route",
    "ScopeKind",
    "crawl",
    "fetch_page",
]

__getattr__ = lazy_names(
    __name__,
    {
        "crawling": "CrawlSummary crawl fetch_page",
        "crawlsettings": "CrawlSettings",
        "follow": "CrawledPage Follow FollowAll FollowKept FollowNone Next",
        "guard": "AddressGuard AddressRefused Route",
    },
)
