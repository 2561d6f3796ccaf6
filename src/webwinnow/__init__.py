r"""Site-aware web page cleaning for web mining.

>>> import webwinnow
>>> webwinnow.extract("<p>Grain</p><script>chaff()</script>")
'Grain\n'
"""

from __future__ import annotations

from collections.abc import Iterable

from webwinnow._version import __version__
from webwinnow.cleaning import Verdict
from webwinnow.cleanpage import CleanPage, Decision, clean_page
from webwinnow.errors import InputError, MissingExtra, ModelError, PageRefused, SettingsError, WebwinnowError
from webwinnow.fingerprint import Fingerprint, fingerprint
from webwinnow.metadata import Metadata, metadata
from webwinnow.pagetree import Head, Node, PageTree
from webwinnow.parse import ParseLimits, parse
from webwinnow.records import Dropped, Failed, Kept, Outcome, PageRecord
from webwinnow.site import SiteModel, choose_pages, page_key

__all__ = [
    "CleanPage",
    "Decision",
    "Dropped",
    "Failed",
    "Fingerprint",
    "Head",
    "InputError",
    "Kept",
    "Metadata",
    "MissingExtra",
    "ModelError",
    "Node",
    "Outcome",
    "PageRecord",
    "PageRefused",
    "PageTree",
    "ParseLimits",
    "SettingsError",
    "SiteModel",
    "Verdict",
    "WebwinnowError",
    "__version__",
    "clean_page",
    "extract",
    "fingerprint",
    "learn",
    "metadata",
    "parse",
]


def extract(html: bytes | str, url: str | None = None, output: str = "text", *, method: str = "none") -> str:
    """One page in; its text, Markdown or sanitised HTML out (`output="text"|"markdown"|"html"`).

    Bytes are decoded as a browser would. Raises `PageRefused` for a page over the limits of `ParseLimits`.
    """
    return clean_page(parse(html, url=url or ""), method).render(output)


def learn(pages: Iterable[PageRecord | PageTree], site: str = "") -> SiteModel:
    """Learn how a site is built from its pages: replicas count once, then the 500 whose addresses hash lowest."""
    trees = (
        page if isinstance(page, PageTree) else parse(page.body, url=page.url, content_type=page.content_type)
        for page in pages
    )
    keyed = ((page_key(tree.url), fingerprint(tree).exact, tree) for tree in trees)
    return SiteModel.learn(choose_pages(keyed), site)
