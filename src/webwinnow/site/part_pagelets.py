"""Part `pagelets`: on how many pages of a site each pagelet occurs (`pagelets`)."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np

from webwinnow.errors import ModelError
from webwinnow.page.page import Page
from webwinnow.site.counts import Counts
from webwinnow.site.pagelets import PageletCounts, PageletSettings, pagelets_of
from webwinnow.site.parts import Part


class PageletPart(Part):
    """Counts of pagelets by fingerprint, split as the settings of method `template` say, or as a file was."""

    NAME, ABOUT, READS, RANK = "pagelets", "pagelets", "template", 50
    SUMS = MODEL = PageletCounts

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        self.how: PageletSettings = PageletSettings() if settings is None else settings.pagelets
        self.counter: Counter[int] = Counter()

    def add(self, page: Page) -> None:
        self.counter.update(np.unique(pagelets_of(page.tree, self.how).fingerprint).tolist())

    def like(self, other: Self) -> None:
        self.how = other.how

    def merge(self, other: Self) -> None:
        if self.how != other.how:
            raise ModelError("only sums with the same settings of pagelets can be merged")
        self.counter.update(other.counter)

    def sums(self) -> PageletCounts:
        return PageletCounts.of(Counts.of(self.counter), self.how)

    def take(self, sums: PageletCounts) -> None:
        self.how = sums.settings
        self.counter.update(sums.counts.counter())

    def finish(self) -> PageletCounts:
        return PageletCounts.of(Counts.of(self.counter).repeated(), self.how)


PART = PageletPart
