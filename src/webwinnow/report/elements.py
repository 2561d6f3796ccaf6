"""The site style tree for the viewer: which parts the site repeats, which it fills anew, and what stands in them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.report.dials import MILLION
from webwinnow.site.learned import LearnedSite
from webwinnow.site.mapping import NOWHERE
from webwinnow.site.styletree import LEAF

__all__ = ["Examples", "ShownTree"]

MOST_ELEMENTS = 12_000
"""Elements of a site's tree that a report shows at most: those on the most pages."""
SHOWN_EXAMPLES = 3
SHOWN_CHARACTERS = 90


class Examples:
    """What sample pages say in the elements of a site's tree."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = defaultdict(int)
        self.texts: dict[int, dict[str, None]] = defaultdict(dict)

    def add(self, element: NDArray[np.int32], texts: list[str]) -> None:
        """Count the regions of one page: their elements, and what they say."""
        for at, text in zip(element.tolist(), texts, strict=True):
            if at != NOWHERE:
                self.seen[at] += 1
                known = self.texts[at]
                if len(known) < SHOWN_EXAMPLES:
                    known.setdefault(text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…")


class ShownTree:
    """The elements of a site's tree that a report shows, with their numbers in it."""

    def __init__(self, model: LearnedSite) -> None:
        self.model = model
        self.shown = np.zeros(0, np.int64)
        self.number = np.full(1, NOWHERE, np.int64)
        """For each element the number of the nearest one at or above it that is shown; the last serves `NOWHERE`."""
        if model.sst is None:
            return
        site, speaks = model.sst, model.noise.importance.speaks
        order = np.lexsort((np.arange(len(site)), -site.m))
        allowed = np.zeros(len(site), np.bool_)
        allowed[order[speaks[order]][:MOST_ELEMENTS]] = True
        allowed[0] = False  # the virtual root is nothing to see
        parent: list[int] = site.parent.tolist()
        number = [NOWHERE] * (len(site) + 1)
        shown: list[int] = []
        for i in range(1, len(site)):
            if allowed[i] and (parent[i] == 0 or number[parent[i]] != NOWHERE):
                number[i] = len(shown)
                shown.append(i)
            else:
                number[i] = number[parent[i]]
        self.shown, self.number = np.array(shown, np.int64), np.array(number, np.int64)

    def columns(self, examples: Examples) -> dict[str, Any]:
        """The elements as columns, importances in millionths. Below `spotless` an element is meaningful throughout."""
        if self.model.sst is None:
            return {"parent": []}
        site, noise = self.model.sst, self.model.noise
        styles = np.bincount(site.style_element, minlength=len(site))
        labels = self.model.labels
        shown = self.shown
        return {
            "parent": self.number[site.parent[shown]].tolist(),
            "label": [labels.get(int(style), "#text" if style == 0 else "?") for style in site.style[shown]],
            "pages": site.m[shown].tolist(),
            "styles": np.where(site.kind[shown] == LEAF, 0, styles[shown]).tolist(),
            "importance": np.rint(noise.importance.composite[shown] * MILLION).astype(np.int64).tolist(),
            "noisy": np.ceil(noise.noisy_from[shown] * MILLION).astype(np.int64).tolist(),
            "spotless": np.ceil(_spotless(self.model)[shown] * MILLION).astype(np.int64).tolist(),
            "seen": [examples.seen.get(i, 0) for i in shown.tolist()],
            "says": [list(examples.texts.get(i, ())) for i in shown.tolist()],
            "left_out": int(noise.importance.speaks.sum()) - len(shown) - 1,
        }


def _spotless(model: LearnedSite) -> NDArray[np.float64]:
    """For each element the lowest importance of a leaf at or below it: below that, nothing in it is noisy."""
    assert model.sst is not None
    site, importance = model.sst, model.noise.importance
    lowest: list[float] = np.where(
        importance.speaks & (site.kind == LEAF), importance.composite, np.float64(2.0)
    ).tolist()
    for i in range(len(site) - 1, 0, -1):
        up = int(site.parent[i])
        lowest[up] = min(lowest[up], lowest[i])
    return np.array(lowest)
