"""The threshold of a site style tree, chosen from the site itself (the thesis has a person try some: 5.3).

Long texts are what a site writes anew for each page: their importance tells how far from 1 new text stands on this
site, since its common words recur on every page. What stands clearly further from 1 is noise.
"""

from __future__ import annotations

import numpy as np

from webwinnow._kernels import LEAF
from webwinnow.site.finish import SiteTree
from webwinnow.site.noise import Importance

__all__ = ["choose_threshold"]

LONG_TEXT = 20
"""Features a page, on average, in a leaf that holds a long text."""
VARIES = 0.5
"""Leaves of at most this importance are fixed text, however long; unless the site has no other."""
LEVEL = 0.3
"""The share of the words of long texts that lies below the level of new text."""
MARGIN = 1.6
"""How many times further from 1 than that level the threshold lies. `LONG_TEXT`, `LEVEL` and `MARGIN` were chosen on
`sites-news`; a wide range of them serves (`benchmarks/run.py sst` shows the thresholds around)."""
HIGHEST = 0.95
"""No site's threshold lies higher: where all long texts share no word at all, they stand at 1 themselves."""


def choose_threshold(site: SiteTree, importance: Importance) -> float:
    """The importance up to which an element is noise, between 0 and `HIGHEST`."""
    words = np.bincount(site.feature_element, weights=site.total, minlength=len(site))
    varies = (site.kind == LEAF) & (words > 0) & (importance.composite > 0)
    long = varies & (words >= LONG_TEXT * site.m) & (importance.composite > VARIES)
    texts = long if long.any() else varies
    if not texts.any():
        return 0.0
    order = np.lexsort((words[texts], importance.composite[texts]))
    below = np.cumsum(words[texts][order])
    level = importance.composite[texts][order][np.searchsorted(below, LEVEL * below[-1])]
    return round(min(max(0.0, 1 - MARGIN * (1 - float(level))), HIGHEST), 6)
