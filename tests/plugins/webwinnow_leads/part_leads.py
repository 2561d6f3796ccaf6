"""Part `leads`: on how many pages of a site a block begins with the same words."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.page.blocks import Blocks
from webwinnow.page.page import Page
from webwinnow.site.counts import Counts
from webwinnow.site.parts import Part


def lead_keys(blocks: Blocks, words: int) -> NDArray[np.uint64]:
    """A key of the first words of each block."""
    leads = (" ".join(text.lower().split()[:words]) for text in blocks.texts())
    return np.array([xxh3_64_intdigest(lead.encode("utf-8", "replace")) for lead in leads], np.uint64)


class LeadPart(Part):
    """Counts of leads, of as many words as the settings of method `leads` say."""

    NAME = READS = "leads"
    ABOUT = "counts of leads"
    SUMS = MODEL = Counts

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        self.words = 3 if settings is None else settings.words
        self.counter: Counter[int] = Counter()

    def add(self, page: Page) -> None:
        self.counter.update(set(lead_keys(page.blocks, self.words).tolist()))

    def merge(self, other: Self) -> None:
        self.counter.update(other.counter)

    def sums(self) -> Counts:
        return Counts.of(self.counter)

    def take(self, sums: Counts) -> None:
        self.counter.update(sums.counter())

    def finish(self) -> Counts:
        return self.sums().repeated()


PART = LeadPart
