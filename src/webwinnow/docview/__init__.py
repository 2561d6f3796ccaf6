"""DocView (Zhang, Chen and Li 2004): one record for a page: type, keywords, title, abstract, links, category.

It works on the output of any cleaning method, and has a method of its own, `docview` (`docview.contentblocks.clean`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from webwinnow.lazy import lazy_names

if TYPE_CHECKING:
    from webwinnow.docview.category import CategoryModel, CategorySettings
    from webwinnow.docview.contentblocks import FeatureVector
    from webwinnow.docview.settings import ViewSettings
    from webwinnow.docview.view import DocView, Provenance, features_of, view_of

__all__ = [
    "CategoryModel",
    "CategorySettings",
    "DocView",
    "FeatureVector",
    "Provenance",
    "ViewSettings",
    "features_of",
    "view_of",
]

__getattr__ = lazy_names(
    __name__,
    {
        "category": "CategoryModel CategorySettings",
        "contentblocks": "FeatureVector",
        "settings": "ViewSettings",
        "view": "DocView Provenance features_of view_of",
    },
)
