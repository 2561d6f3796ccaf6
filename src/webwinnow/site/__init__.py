"""The structure of a site, learned from its own pages."""

from __future__ import annotations

from webwinnow.site.learned import LearnedSite
from webwinnow.site.sums import choose_pages, page_key

__all__ = ["LearnedSite", "choose_pages", "page_key"]
