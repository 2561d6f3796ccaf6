"""DocView (Zhang, Chen and Li 2004): one record for a page: type, keywords, title, abstract, links, category.

Works on what any cleaning method keeps, and has a method of its own, `docview`, which it adds to the others.
"""

from __future__ import annotations

from webwinnow.cleaning.registry import Method, register
from webwinnow.docview.category import CategoryModel, CategorySettings
from webwinnow.docview.method import METHOD, clean
from webwinnow.docview.view import DocView, Provenance, ViewSettings, features_of, view_of
from webwinnow.docview.weights import FeatureVector, WeightSettings

__all__ = [
    "CategoryModel",
    "CategorySettings",
    "DocView",
    "FeatureVector",
    "Provenance",
    "ViewSettings",
    "WeightSettings",
    "features_of",
    "view_of",
]

register(
    Method(
        METHOD,
        "keep blocks by the type of the page (DocView 4.2), the page alone",
        frozenset(),
        lambda tree, *_: clean(tree),
    )
)
