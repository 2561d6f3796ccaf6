"""The threshold of a site style tree, chosen from the site itself (the thesis has a person try some: 5.3).

Long texts are what a site writes anew for each page: their importance tells how far from 1 new text stands on this
site, since its common words recur on every page. What stands clearly further from 1 is noise.
"""

from __future__ import annotations

import numpy as np

from webwinnow._kernels import LEAF
from webwinnow.site.finish import SiteTree
from webwinnow.site.noise import Importance

__all__ = ["FALLBACK", "choose_threshold"]

LONG_TEXT = 20
"""Features a page, on average, in a leaf that holds a long text."""
VARIES = 0.5
"""Leaves of at most this importance are fixed text, however long."""
LEVEL = 0.3
"""The share of the words of long texts that lies below the level of new text."""
MARGIN = 1.6
"""How many times further from 1 than that level the threshold lies. `LONG_TEXT`, `LEVEL` and `MARGIN` were chosen on
`sites-news`; a wide range of them serves (`benchmarks/run.py sst` shows the thresholds around)."""
FALLBACK = 0.9
"""For a site without long texts."""


def choose_threshold(site: SiteTree, importance: Importance) -> float:
    """The importance up to which an element is noise, between 0 and 1."""
    words = np.bincount(site.feature_element, weights=site.total, minlength=len(site))
    long = (site.kind == LEAF) & (words >= LONG_TEXT * site.m) & (importance.composite > VARIES)
    if not long.any():
        return FALLBACK
    order = np.lexsort((words[long], importance.composite[long]))
    below = np.cumsum(words[long][order])
    level = importance.composite[long][order][np.searchsorted(below, LEVEL * below[-1])]
    return round(max(0.0, 1 - MARGIN * (1 - float(level))), 6)
