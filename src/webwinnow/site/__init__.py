"""How a site is built, learned from its own pages."""

from __future__ import annotations

from webwinnow.site.choose import choose_pages, page_key
from webwinnow.site.model import SiteModel

__all__ = ["SiteModel", "choose_pages", "page_key"]
