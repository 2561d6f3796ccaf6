"""Documentation pages of sites-docs, labelled by the element that contains the content of each site.

The elements were found by reading two pages of each of these sites; two sites without such an element are left out.
Tables of contents, edit links and navigation inside the element have no label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.reading import Reading
from webwinnow.page.tree import PageTree

__all__ = ["CONTENT", "PAGES", "content_labels"]

CONTENT: dict[str, tuple[tuple[str, str], ...]] = {
    "apache2-doc": (("id", "page-content"),),
    "cmake-doc": (("role", "main"),),
    "cppreference-doc-en-html": (("id", "mw-content-text"),),
    "exim4-doc-html": (("id", "chapter"),),
    "libboost1.74-doc": (("class", "section"), ("class", "chapter"), ("class", "article")),
    "libgtk-3-doc": (("class", "refentry"), ("class", "chapter"), ("class", "sect1")),
    "postgresql-doc-15": (("class", "sect1"), ("class", "refentry"), ("class", "chapter"), ("class", "appendix")),
    "python-django-doc": (("id", "yui-main"),),
    "python-scipy-doc": (("role", "main"),),
    "python-sqlalchemy-doc": (("id", "docs-body"),),
    "python-statsmodels-doc": (("role", "main"),),
    "python-tornado-doc": (("role", "main"),),
    "rust-doc": (("id", "content"),),
}
"""Attribute and value (or one word of it) of the element that contains the content of a page, by site."""
PAGES = 8
"""Pages of each site, spread over it."""
UNSURE = frozenset("toc contents quickview navigation nav related headerlink editsection navbar breadcrumb".split())
"""Words of class names inside the content whose text has no label."""


def content_labels(reading: Reading, site: str) -> NDArray[np.float32] | None:
    """1 for the blocks of the content, 0 for those outside, NaN for navigation inside it; None without content."""
    tree, owner = reading.blocks.tree, reading.owner
    content = _first(tree, CONTENT[site])
    if content is None:
        return None
    label = ((owner >= content) & (owner < tree.end[content])).astype(np.float32)
    for name in ("class", "role", "id"):
        for node, value in zip(*tree.values(name), strict=True):
            if node > content and UNSURE & set(value.lower().replace("-", " ").replace("_", " ").split()):
                label[(owner >= node) & (owner < tree.end[node]) & (label == 1)] = np.nan
    return label


def _first(tree: PageTree, wanted: tuple[tuple[str, str], ...]) -> int | None:
    """The first element with one of some attributes and values."""
    found = [
        int(node)
        for name, word in wanted
        for node, value in zip(*tree.values(name), strict=True)
        if word in value.split()
    ]
    return min(found, default=None)
