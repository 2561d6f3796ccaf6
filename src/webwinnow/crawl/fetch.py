"""`fetch_page`: one page that somebody asked for, through the same guard and limits as a crawl's."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from webwinnow.crawl.follow import FollowNone
from webwinnow.crawl.run import crawl
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.errors import InputError
from webwinnow.io import open_pages
from webwinnow.records import PageRecord

__all__ = ["fetch_page"]


def fetch_page(url: str, settings: CrawlSettings | None = None) -> PageRecord:
    """Fetch one page, after redirects; `InputError` says why where it cannot be had.

    Of the settings only those of a single request count. robots.txt, which is for crawlers, is not asked.
    """
    wanted = replace(settings or CrawlSettings(), pages=1, delay=0.0, robots=False, scope="any")
    with tempfile.TemporaryDirectory(prefix="webwinnow-") as folder:
        out = Path(folder) / "page.warc.gz"
        found = crawl([url], out, wanted, follow=FollowNone())
        if not found.stored:
            why = ", ".join(reason for _, reason, _ in found.reasons) or found.ended
            raise InputError(f"{url} could not be had: {why}")
        return next(page for page in open_pages([out], on_problem=lambda _: None))
