"""How a site is built, learned from its own pages."""

from __future__ import annotations

from webwinnow.site.choose import choose_pages, page_key
from webwinnow.site.knowledge import SiteKnowledge

__all__ = ["SiteKnowledge", "choose_pages", "page_key"]
