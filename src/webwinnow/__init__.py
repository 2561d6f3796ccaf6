r"""Site-aware web page cleaning for web mining.

>>> import webwinnow
>>> webwinnow.extract("<p>Grain</p><script>chaff()</script>")
'Grain\n'

This module is the public API: what can be imported from `webwinnow` itself. Everything else is internal and may change
in any release, unless the documentation names it. Each name is imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from webwinnow._version import __version__

if find_spec("webwinnow.page._nodes") is None:
    raise ImportError("webwinnow's kernels are not built: run `pip install .`, which needs a C compiler")
if TYPE_CHECKING:
    from webwinnow.errors import InputError, MissingExtra, ModelError, PageRefused, SettingsError, WebwinnowError
    from webwinnow.features.estimators import SiteFeatureWeighter as SiteFeatureWeighter
    from webwinnow.features.estimators import SiteTextCleaner as SiteTextCleaner
    from webwinnow.judge.page import PageSettings
    from webwinnow.judge.verdict import Verdict
    from webwinnow.methods.registry import CleaningSettings
    from webwinnow.methods.viewsettings import ViewSettings
    from webwinnow.page.fingerprints import Fingerprint, fingerprint
    from webwinnow.page.metadata import Metadata, metadata
    from webwinnow.page.parsing import ParseLimits, parse
    from webwinnow.page.records import Dropped, Failed, Kept, Outcome, PageRecord
    from webwinnow.page.tree import Head, Node, PageTree
    from webwinnow.page.urls import SiteKey
    from webwinnow.page.words import StopList
    from webwinnow.record.cleaner import Cleaner, CleanPage, Decision, clean_page, extract
    from webwinnow.record.sitemodel import SiteCleaner, SiteModel, learn
    from webwinnow.record.view import DocView
    from webwinnow.run.cleaning import run
    from webwinnow.run.inputs import open_pages
    from webwinnow.run.settings import RunSettings

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

_MODULE_OF = {
    name: module
    for module, names in {
        "errors": "InputError MissingExtra ModelError PageRefused SettingsError WebwinnowError",
        "features.estimators": "SiteFeatureWeighter SiteTextCleaner",
        "judge.page": "PageSettings",
        "judge.verdict": "Verdict",
        "methods.registry": "CleaningSettings",
        "methods.viewsettings": "ViewSettings",
        "page.fingerprints": "Fingerprint fingerprint",
        "page.metadata": "Metadata metadata",
        "page.parsing": "ParseLimits parse",
        "page.records": "Dropped Failed Kept Outcome PageRecord",
        "page.tree": "Head Node PageTree",
        "page.urls": "SiteKey",
        "page.words": "StopList",
        "record.cleaner": "Cleaner CleanPage Decision clean_page extract",
        "record.sitemodel": "SiteCleaner SiteModel learn",
        "record.view": "DocView",
        "run.cleaning": "run",
        "run.inputs": "open_pages",
        "run.settings": "RunSettings",
    }.items()
    for name in names.split()
}
"""The module of each public name. The estimators need the extra `mining`, so `from webwinnow import *` leaves them
out."""


def __getattr__(name: str) -> Any:
    """Import a public name on its first use (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULE_OF, *(name for name in globals() if name.startswith("__"))})
