"""`SiteModel`, a learned site that cleans pages, and `SiteCleaner`, for pages that arrive one at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Lock

from webwinnow.errors import SettingsError
from webwinnow.methods.registry import DEFAULT_METHOD, CleaningSettings
from webwinnow.page.fingerprints import exact_fingerprint
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse
from webwinnow.page.records import PageRecord
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey
from webwinnow.record.cleaner import Cleaner, CleanPage, clean_page
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sums import LEARNED_PAGES, SiteSums, choose_pages, page_key

LEARN_AGAIN = 1.2
"""A `SiteCleaner` builds a new model when a site's pages have grown by this factor."""


def tree_of(page: PageRecord | PageTree | bytes | str) -> PageTree:
    """The tree of a page, given in any form."""
    if isinstance(page, PageTree):
        return page
    if isinstance(page, PageRecord):
        return parse(page.body, url=page.url, content_type=page.content_type, layout=page.layout)
    return parse(page)


class SiteModel(LearnedSite):
    """What was learned of one site, ready to clean its pages."""

    def clean(
        self,
        page: PageRecord | PageTree | bytes | str,
        method: str = DEFAULT_METHOD,
        settings: CleaningSettings | None = None,
    ) -> CleanPage:
        """Clean a page of this site, learned or not."""
        return clean_page(tree_of(page), method, self, settings)


def learn(
    pages: Iterable[PageRecord | PageTree | bytes | str],
    site: str = "",
    parts: frozenset[str] | None = None,
    settings: CleaningSettings | None = None,
) -> SiteModel:
    """Learn a site from its pages: replicas count once; 500 pages at most, those whose URLs hash lowest.

    Of the settings, those that are read when a site is learned matter: `gamma` and `overlap` of its trees,
    `links`, `shingle` and `hashes` of `template`, and `stop_words` of `segments`.
    """
    if isinstance(pages, str | bytes):
        raise SettingsError("expected a list of pages, not one page")
    keyed = ((page_key(tree.url), exact_fingerprint(tree), tree) for tree in map(tree_of, pages))
    chosen = choose_pages(keyed)
    if not chosen:
        raise SettingsError("no pages to learn from: expected at least one")
    return SiteModel.learn(chosen, site, parts, settings)


@dataclass(slots=True)
class _Site:
    """What is known of a site so far."""

    sums: SiteSums
    model: SiteModel | None = None
    pages: set[int] = field(default_factory=set)


class SiteCleaner:
    """Cleans pages as they arrive, of one site or many; each page improves the model of its site.

    A page is learned before it is cleaned. Replicas are learned once, and no more than `learn_pages` pages of a site.
    `site_by` as in `SiteKey`. Several threads may use one cleaner: it learns one page at a time.
    """

    def __init__(
        self,
        method: str = DEFAULT_METHOD,
        settings: CleaningSettings | None = None,
        *,
        site_by: SiteKey | str = "host",
        learn_pages: int = LEARNED_PAGES,
    ) -> None:
        if learn_pages < 1:
            raise SettingsError(f"learn_pages is {learn_pages}: expected 1 or more")
        self.cleaner = Cleaner.of(method, settings)
        self.site_by = SiteKey.parse(site_by) if isinstance(site_by, str) else site_by
        self.learn_pages = learn_pages
        self.sites: dict[str, _Site] = {}
        self._learning = Lock()

    def add(self, page: PageRecord | PageTree | bytes | str) -> CleanPage:
        """Learn one more page, and clean it with what is known by then."""
        tree = tree_of(page)
        site = self.site_by.of(tree.url, page.site if isinstance(page, PageRecord) else None)
        parsed = Page(tree)
        return self.cleaner.clean_in(parsed, self._learned(site, parsed))

    def model(self, site: str) -> SiteModel | None:
        """The model of a site from all its pages so far; None for an unknown site."""
        with self._learning:
            known = self.sites.get(site)
            return None if known is None else SiteModel.of(known.sums)

    def _learned(self, name: str, page: Page) -> SiteModel | None:
        method = self.cleaner.method
        if not (method.learns and self.site_by.has_sites):
            return None
        with self._learning:
            site = self.sites.setdefault(name, _Site(SiteSums(name, method.parts, self.cleaner.settings)))
            key = page.fingerprint
            if key not in site.pages and len(site.pages) < self.learn_pages:
                site.pages.add(key)
                site.sums.add(page)
            if site.model is None or site.sums.pages >= LEARN_AGAIN * site.model.pages:
                site.model = SiteModel.of(site.sums)
            return site.model
