"""The kinds of noise (thesis 2.2, Figure 2-4), as data: what a removed block is for.

The thesis's three families hold what it names; kinds that the web has added since have their place among them. User
posts are no noise by themselves: on a forum they are the content, below an article they are not.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FAMILIES", "KINDS", "KIND_CODE", "Kind"]

FAMILIES: tuple[str, ...] = ("content", "fixed", "service", "navigation", "posts")
"""The three families of the thesis, between content and user posts."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of block: `name`, the `family` it belongs to, and `about`, one line for people."""

    name: str
    family: str
    about: str


KINDS: tuple[Kind, ...] = (
    Kind("content", "content", "main content, or not yet given a kind"),
    Kind("posts", "posts", "comments, replies and reviews that readers wrote, and the way to them"),
    Kind("decoration", "fixed", "logos, slogans, ornaments, the site's name as its own dress"),
    Kind("declaration", "fixed", "copyright, terms, privacy, licence, imprint, who the publisher is"),
    Kind("page-description", "fixed", "about this page or an entry on it: byline, date, counters, tags, credits"),
    Kind("consent", "service", "banners that ask for consent to cookies and tracking, and their settings"),
    Kind("page-service", "service", "print, save, jump within the page, skip links, text size, other versions of it"),
    Kind("share", "service", "share, like and follow bars"),
    Kind("board", "service", "small information boards: weather, stocks, scores, clocks, statistics"),
    Kind("interactive", "service", "search, sign-in, language, votes, filters, other forms and controls"),
    Kind("newsletter", "service", "boxes that ask for a subscription or an address"),
    Kind("global-directory", "navigation", "the main sections of the site"),
    Kind("hierarchic-directory", "navigation", "where the page stands: breadcrumbs, the path of sections, the way up"),
    Kind("hybrid-directory", "navigation", "the section that the page stands in, opened: side menus, trees, tabs"),
    Kind("contents", "navigation", "table of contents of this page"),
    Kind("pagination", "navigation", "next, previous and numbered pages"),
    Kind("advertisement", "navigation", "advertisements, offers, promotions, calls to buy or try"),
    Kind("site-recommendation", "navigation", "links to other sites"),
    Kind("page-recommendation", "navigation", "other pages of this site: related, latest, most read, bought together"),
    Kind("notice", "service", "messages of the machinery: loading, a script or plug-in wanted, an old browser"),
)
"""What a code of `Verdict.kind` means; the list only grows at its end."""

KIND_CODE: dict[str, int] = {kind.name: code for code, kind in enumerate(KINDS)}
