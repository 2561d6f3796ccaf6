r"""Site-aware web page cleaning for web mining.

>>> import webwinnow
>>> webwinnow.extract("<p>Grain</p><script>chaff()</script>")
'Grain\n'

This module is the public API: what can be imported from `webwinnow` itself. Everything else is internal and may change
in any release, unless the documentation names it. Each name is imported on first use.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from webwinnow._version import __version__
from webwinnow.lazy import lazy_names

if find_spec("webwinnow._nodes") is None:
    raise ImportError("webwinnow's kernels are not built: run `pip install .`, which needs a C compiler")
if TYPE_CHECKING:
    from webwinnow.cleaner import Cleaner, CleanPage, Decision, clean_page, extract
    from webwinnow.cleaning import Verdict
    from webwinnow.cleaning.page import PageSettings
    from webwinnow.collection.settings import RunSettings
    from webwinnow.commands.clean import run
    from webwinnow.docview import DocView, ViewSettings
    from webwinnow.errors import InputError, MissingExtra, ModelError, PageRefused, SettingsError, WebwinnowError
    from webwinnow.estimators import SiteFeatureWeighter as SiteFeatureWeighter
    from webwinnow.estimators import SiteTextCleaner as SiteTextCleaner
    from webwinnow.fingerprints import Fingerprint, fingerprint
    from webwinnow.io import open_pages
    from webwinnow.methods import CleaningSettings
    from webwinnow.pagemeta import Metadata, metadata
    from webwinnow.pagetree import Head, Node, PageTree
    from webwinnow.parsing import ParseLimits, parse
    from webwinnow.records import Dropped, Failed, Kept, Outcome, PageRecord
    from webwinnow.sitemodel import SiteCleaner, SiteModel, learn
    from webwinnow.urls import SiteKey
    from webwinnow.words import StopList

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

_HOMES = {
    "cleaner": "Cleaner CleanPage Decision clean_page extract",
    "cleaning": "Verdict",
    "cleaning.page": "PageSettings",
    "collection.settings": "RunSettings",
    "commands": "run",
    "docview": "DocView ViewSettings",
    "errors": "InputError MissingExtra ModelError PageRefused SettingsError WebwinnowError",
    "estimators": "SiteFeatureWeighter SiteTextCleaner",
    "fingerprints": "Fingerprint fingerprint",
    "io": "open_pages",
    "methods": "CleaningSettings",
    "pagemeta": "Metadata metadata",
    "pagetree": "Head Node PageTree",
    "parsing": "ParseLimits parse",
    "records": "Dropped Failed Kept Outcome PageRecord",
    "sitemodel": "SiteCleaner SiteModel learn",
    "urls": "SiteKey",
    "words": "StopList",
}
"""The modules of the public names. The estimators need the extra `mining`, so `from webwinnow import *` leaves them
out."""
__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    names = (name for names in _HOMES.values() for name in names.split())
    return sorted({*__all__, *names, *(name for name in globals() if name.startswith("__"))})
