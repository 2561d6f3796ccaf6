r"""Site-aware web page cleaning for web mining.

>>> import webwinnow
>>> webwinnow.extract("<p>Grain</p><script>chaff()</script>")
'Grain\n'
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from webwinnow._version import __version__
from webwinnow.cleaning import Verdict
from webwinnow.cleanpage import CleanPage, Decision, clean_page
from webwinnow.docview import DocView, ViewSettings
from webwinnow.errors import InputError, MissingExtra, ModelError, PageRefused, SettingsError, WebwinnowError
from webwinnow.fingerprints import Fingerprint, fingerprint
from webwinnow.pagemeta import Metadata, metadata
from webwinnow.pagetree import Head, Node, PageTree
from webwinnow.parsing import ParseLimits, parse
from webwinnow.records import Dropped, Failed, Kept, Outcome, PageRecord
from webwinnow.sitemodel import SiteCleaner, SiteModel, learn

__all__ = [
    "CleanPage",
    "Decision",
    "DocView",
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
    "SiteCleaner",
    "SiteModel",
    "Verdict",
    "ViewSettings",
    "WebwinnowError",
    "__version__",
    "clean_page",
    "extract",
    "fingerprint",
    "learn",
    "metadata",
    "parse",
]


def extract(html: bytes | str, url: str | None = None, output: str = "text", *, method: str = "combined") -> str:
    """One page in; its text, Markdown or sanitised HTML out (`output="text"|"markdown"|"html"`).

    Bytes are decoded as a browser would. Raises `PageRefused` for a page over the limits of `ParseLimits`.
    """
    return clean_page(parse(html, url=url or ""), method).render(output)


_ESTIMATORS = ("SiteFeatureWeighter", "SiteTextCleaner")


def __getattr__(name: str) -> Any:
    """The scikit-learn estimators, imported when they are asked for: they need the extra `mining`."""
    if name in _ESTIMATORS:
        return getattr(import_module("webwinnow.estimators"), name)
    raise AttributeError(f"webwinnow has no {name}")
