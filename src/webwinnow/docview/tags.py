"""Container and weighty tags (DocView 3.1) as data: what parts a page into content blocks, what gives words force.

The paper names TABLE, TR, TD, P and DIV "and so on" as containers, B, I, STRONG and H1 as weighty; the rest of 2003's
tags and those of today join them here. It gives no forces, only that H1 has more than H3: the numbers are ours.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.markup import CUSTOM_TAG, TAG_CODE

__all__ = [
    "CONTAINER_CODES",
    "CONTAINER_TAGS",
    "FORCE",
    "FORCE_CODES",
    "GUIDING_ROLES",
    "GUIDING_TAGS",
    "MARGINAL_ROLES",
    "MARGINAL_TAGS",
    "MODERN_CONTAINER_TAGS",
    "tag_mask",
]

CONTAINER_TAGS: frozenset[str] = frozenset(
    "#root body table caption thead tbody tfoot tr td th p div center blockquote pre ul ol li dir menu dl dt dd form "
    "fieldset address h1 h2 h3 h4 h5 h6".split()
)
"""The containers of 2003 (DocView 3.1), with BODY and the virtual root, which cannot be avoided.

A departure: headings are blocks too, besides being weighty. Algorithm 1 lets force go out from leaves alone; a heading
mostly stands directly in a container that is none, and its force would be lost.
"""
MODERN_CONTAINER_TAGS: frozenset[str] = frozenset(
    "main article section header footer nav aside figure figcaption details summary dialog search hgroup".split()
)
"""Containers that HTML 5 added."""

FORCE: dict[str, float] = {
    "h1": 4.0,
    "h2": 3.0,
    "h3": 2.5,
    "h4": 2.0,
    "h5": 1.5,
    "h6": 1.5,
    "b": 1.5,
    "strong": 1.5,
    "big": 1.5,
    "mark": 1.5,
    "i": 1.2,
    "em": 1.2,
    "u": 1.2,
    "dfn": 1.2,
    "blink": 1.2,
    "font": 1.1,
}
"""The force of each weighty tag (DocView 3.2). Ours: headings by rank, then bold, slanted; FONT may only colour."""

MARGINAL_TAGS: frozenset[str] = frozenset("header footer nav aside menu form dialog search address".split())
"""Containers that stand around the central area of a page (DocView 4.1), by what HTML 5 says of them."""
MARGINAL_ROLES: frozenset[str] = frozenset(
    "banner navigation contentinfo complementary search menu menubar dialog".split()
)
"""ARIA roles that say the same."""

GUIDING_TAGS: frozenset[str] = MARGINAL_TAGS - {"aside", "address"}
GUIDING_ROLES: frozenset[str] = MARGINAL_ROLES - {"complementary"}
"""Those of them whose links lead through the site; what stands beside the content may be about the same."""


def tag_mask(tags: frozenset[str]) -> NDArray[np.bool_]:
    """Whether a tag is one of these, by its code; the last place stands for tags without a code."""
    mask = np.zeros(CUSTOM_TAG + 1, np.bool_)
    mask[[TAG_CODE[tag] for tag in tags]] = True
    return mask


CONTAINER_CODES = tag_mask(CONTAINER_TAGS | MODERN_CONTAINER_TAGS)
"""Which nodes are content blocks, by the code of their tag."""
FORCE_CODES = np.zeros(CUSTOM_TAG + 1)
"""The force of a tag by its code; 0 for one that is not weighty."""
for _tag, _force in FORCE.items():
    FORCE_CODES[TAG_CODE[_tag]] = _force
