"""`Follow`: which links of a page are read next. A small protocol, so that a crawl can be steered by what it finds.

    class Follow(Protocol):
        learns: bool
        def next(self, page: CrawledPage) -> Next: ...

`next` is asked once for each page that was stored, in the order of storing, before another page of that site is drawn.
It is asked in the process that called `crawl`, so it may hold what it likes: a model, a growing tree, a queue of sites.
One that `learns` is shown the pages of an earlier run first, when a crawl is resumed; what it answers to those is not
used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from webwinnow.pagetree import PageTree
from webwinnow.records import PageRecord
from webwinnow.sitemining.sitetree import links_of
from webwinnow.sitemodel import SiteCleaner
from webwinnow.urls import SiteKey

__all__ = ["CrawledPage", "Follow", "FollowAll", "FollowKept", "FollowNone", "Next"]

ENOUGH_PAGES: Final = 10
"""Pages of a site from which on `FollowKept` leaves links out. Ours: what repeats shows on a few pages; a few more, as
the first pages are hubs near the start page, whose links are their content.
"""


@dataclass(frozen=True, slots=True, eq=False)
class CrawledPage:
    """A page that was stored: as a record and as a tree, with all its links, the start page of its site, how many links
    it is away from there, and the address of the page that led to it.
    """

    record: PageRecord
    tree: PageTree
    links: Sequence[str]
    start: str
    depth: int
    referrer: str | None


@dataclass(frozen=True, slots=True)
class Next:
    """Where to go from a page: `links` to follow as far as they are in scope; `sites`, start pages of further sites;
    `leave_site` to read no more of this one.
    """

    links: Sequence[str] = ()
    sites: Sequence[str] = ()
    leave_site: bool = False


class Follow(Protocol):
    """Says where to go from a page."""

    learns: bool

    def next(self, page: CrawledPage) -> Next:
        """Where to go from this page."""
        ...


class FollowAll:
    """Follows every link, except from pages that ask not to (`nofollow` in their robots meta)."""

    learns = False

    def next(self, page: CrawledPage) -> Next:
        """All links of the page."""
        return Next(()) if asks_not_to(page.tree) else Next(page.links)


class FollowNone:
    """Follows nothing: start pages only."""

    learns = False

    def next(self, page: CrawledPage) -> Next:  # noqa: ARG002
        """No links."""
        return Next(())


class FollowKept:
    """Follows the links in the blocks that the default cleaner keeps, by what was learned of the site so far.

    While fewer than `enough` pages of a site were seen, all links are followed.
    """

    learns = True

    def __init__(self, *, site_by: SiteKey | str = "host", enough: int = ENOUGH_PAGES) -> None:
        self.cleaner = SiteCleaner(site_by=site_by)
        self.enough = enough

    def next(self, page: CrawledPage) -> Next:
        """The links of the page that stand in what is kept of it."""
        clean = self.cleaner.add(page.tree)
        if asks_not_to(page.tree):
            return Next(())
        if clean.model is None or clean.model.pages < self.enough:
            return Next(page.links)
        return Next(clean.links)


def asks_not_to(tree: PageTree) -> bool:
    """Whether a page asks that its links are not followed."""
    return not tree.head.robots.isdisjoint({"nofollow", "none"})


def crawled(record: PageRecord, tree: PageTree, start: str, depth: int, referrer: str | None) -> CrawledPage:
    """A page with its links."""
    return CrawledPage(record, tree, links_of(tree), start, depth, referrer)
