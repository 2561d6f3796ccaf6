"""`Follow`: which links of a page to follow, so that a crawl can be steered by what it finds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import urldefrag

from webwinnow.page.records import PageRecord
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey, is_route, resolve_web
from webwinnow.record.sitemodel import SiteCleaner

MOST_LINKS: Final = 20_000
"""Links of one page that are used. Ours: a page of nothing but links has some thousands."""
_REFRESH: Final = re.compile(r"\s*[0-9.]+\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
ENOUGH_PAGES: Final = 10
"""Pages of a site after which `FollowKept` skips links. Ours: repetition shows on a few pages; a few more, because the
first pages are hubs near the start page, whose links are their content."""


@dataclass(frozen=True, slots=True, eq=False)
class CrawledPage:
    """A fetched page as a record and as a tree, with all its links, the start page of its site, its distance from there
    in links, and the URL of the page that linked to it.
    """

    record: PageRecord
    tree: PageTree
    links: Sequence[str]
    start: str
    depth: int
    referrer: str | None


@dataclass(frozen=True, slots=True)
class Next:
    """What to do after a page: follow `links` if they are in scope; add `sites` by their start pages; with `leave_site`
    fetch no more pages of this site.
    """

    links: Sequence[str] = ()
    sites: Sequence[str] = ()
    leave_site: bool = False


class Follow(Protocol):
    """Chooses the links to follow, in the process that called `crawl`: it may hold a model or a queue of sites.

    `next` is called once per page, in the order of storing, before another page of that site is chosen. When a crawl is
    resumed, a `Follow` that `learns` is first shown the pages of the earlier run; its answers to those are ignored.
    """

    learns: bool

    def next(self, page: CrawledPage) -> Next: ...


class FollowAll:
    """Follows every link, except from pages that ask not to (`nofollow` in their robots meta)."""

    learns = False

    def next(self, page: CrawledPage) -> Next:
        return Next(()) if asks_not_to(page.tree) else Next(page.links)


class FollowNone:
    """Follows nothing: start pages only."""

    learns = False

    def next(self, page: CrawledPage) -> Next:  # noqa: ARG002
        return Next(())


class FollowKept:
    """Follows the links in the blocks that the default cleaner keeps, with the site model learned so far.

    All links are followed until `enough` pages of a site were seen.
    """

    learns = True

    def __init__(self, *, site_by: SiteKey | str = "host", enough: int = ENOUGH_PAGES) -> None:
        self.cleaner = SiteCleaner(site_by=site_by)
        self.enough = enough

    def next(self, page: CrawledPage) -> Next:
        clean = self.cleaner.add(page.tree)
        if asks_not_to(page.tree):
            return Next(())
        if clean.model is None or clean.model.pages < self.enough:
            return Next(page.links)
        kept = set(clean.tree.links(clean.verdict.keep).targets(fragments=True))
        return Next([*clean.links, *(url for url in page.links if url in kept and is_route(urldefrag(url).fragment))])


def asks_not_to(tree: PageTree) -> bool:
    """Whether a page asks not to follow its links."""
    return not tree.head.robots.isdisjoint({"nofollow", "none"})


def crawled(
    record: PageRecord, tree: PageTree, start: str, depth: int, referrer: str | None, *, routes: bool = False
) -> CrawledPage:
    """Return a page with its links, including a refresh in its head, at most `MOST_LINKS`.

    With `routes` links within the page that are pages of a client-rendered site are among them.
    """
    found = tree.links(areas=True)
    targets = found.targets(fragments=routes)
    is_link = [not href.startswith("#") or is_route(href[1:]) for href in found.href]
    links = [*_refreshes(tree), *(url for url, wanted in zip(targets, is_link, strict=True) if url and wanted)]
    links = links[:MOST_LINKS]
    return CrawledPage(record, tree, links, start, depth, referrer)


def _refreshes(tree: PageTree) -> list[str]:
    """Return where the page redirects its readers (`<meta http-equiv=refresh>`)."""
    found = (_REFRESH.match(content) for name, content in tree.head.metas if name == "refresh")
    return list(filter(None, (resolve_web(tree.base, match[1].strip()) for match in found if match)))
