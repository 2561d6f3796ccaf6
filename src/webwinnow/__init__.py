r"""Site-aware web page cleaning for web mining.

>>> import webwinnow
>>> webwinnow.extract("<p>Grain</p><script>chaff()</script>")
'Grain\n'

This module is the public API: what can be imported from `webwinnow` itself. Everything else is internal and may change
in any release, unless the documentation names it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

try:
    import_module("webwinnow._nodes")
except ModuleNotFoundError as error:
    if error.name != "webwinnow._nodes":
        raise
    raise ImportError("webwinnow's kernels are not built: run `pip install .`, which needs a C compiler") from None
from webwinnow._version import __version__
from webwinnow.cleaner import Cleaner, CleanPage, Decision, clean_page
from webwinnow.cleaning import Verdict
from webwinnow.cleaning.page import PageSettings
from webwinnow.docview import DocView, ViewSettings
from webwinnow.errors import InputError, MissingExtra, ModelError, PageRefused, SettingsError, WebwinnowError
from webwinnow.fingerprints import Fingerprint, fingerprint
from webwinnow.methods import DEFAULT_METHOD, CleaningSettings
from webwinnow.pagemeta import Metadata, metadata
from webwinnow.pagetree import Head, Node, PageTree
from webwinnow.parsing import ParseLimits, parse
from webwinnow.records import Dropped, Failed, Kept, Outcome, PageRecord
from webwinnow.sitemodel import SiteCleaner, SiteModel, learn
from webwinnow.urls import SiteKey
from webwinnow.words import StopList

if TYPE_CHECKING:
    from webwinnow.collection.settings import RunSettings
    from webwinnow.commands.clean import run
    from webwinnow.estimators import SiteFeatureWeighter as SiteFeatureWeighter
    from webwinnow.estimators import SiteTextCleaner as SiteTextCleaner
    from webwinnow.io import open_pages

__all__ = [
    "CleanPage",
    "Cleaner",
    "CleaningSettings",
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
    "PageSettings",
    "PageTree",
    "ParseLimits",
    "RunSettings",
    "SettingsError",
    "SiteCleaner",
    "SiteKey",
    "SiteModel",
    "StopList",
    "Verdict",
    "ViewSettings",
    "WebwinnowError",
    "__version__",
    "clean_page",
    "extract",
    "fingerprint",
    "learn",
    "metadata",
    "open_pages",
    "parse",
    "run",
]

_LAZY = {
    "RunSettings": "webwinnow.collection.settings",
    "SiteFeatureWeighter": "webwinnow.estimators",
    "SiteTextCleaner": "webwinnow.estimators",
    "open_pages": "webwinnow.io",
    "run": "webwinnow.commands",
}
"""Names imported on first use, so that `import webwinnow` stays light. The estimators need the extra `mining`, so
`from webwinnow import *` leaves them out."""


def extract(
    html: bytes | str,
    url: str | None = None,
    output: str = "text",
    *,
    method: str = DEFAULT_METHOD,
    settings: CleaningSettings | None = None,
) -> str:
    """Return the main content of one page as text, Markdown or sanitised HTML (`output="text"|"markdown"|"html"`).

    Bytes are decoded as a browser would. Raises `PageRefused` for a page over the limits of `ParseLimits`.
    """
    return clean_page(parse(html, url), method, settings=settings).render(output)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"webwinnow has no {name}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY, *(name for name in globals() if name.startswith("__"))})
