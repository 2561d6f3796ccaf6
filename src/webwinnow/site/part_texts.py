"""Part `texts`: on how many pages of a site each text occurs."""

from __future__ import annotations

import re
from collections import Counter
from typing import Self

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.page.blocks import Blocks
from webwinnow.page.page import Page
from webwinnow.site.counts import Counts
from webwinnow.site.parts import Part

_NO_WORD = re.compile(r"[^\w\n]+")


def block_keys(blocks: Blocks) -> NDArray[np.uint64]:
    """A 64-bit hash of each block's text: its words in lower case or, where it has none, its other characters."""
    texts = blocks.texts()
    worded = _NO_WORD.sub(" ", "\n".join(texts).lower()).split("\n") if texts else []
    hashes = (
        xxh3_64_intdigest((words.strip() or text).encode("utf-8", "replace"))
        for words, text in zip(worded, texts, strict=True)
    )
    return np.fromiter(hashes, np.uint64, len(texts))


class TextPart(Part):
    """Counts of texts by `block_keys`."""

    NAME, ABOUT, PREFIX, RANK = "texts", "counts of texts", "text_", 0
    SUMS = MODEL = Counts

    def __init__(self, settings: None = None) -> None:
        super().__init__(settings)
        self.counter: Counter[int] = Counter()

    def add(self, page: Page) -> None:
        self.counter.update(np.unique(block_keys(page.blocks)).tolist())

    def merge(self, other: Self) -> None:
        self.counter.update(other.counter)

    def sums(self) -> Counts:
        return Counts.of(self.counter)

    def take(self, sums: Counts) -> None:
        self.counter.update(sums.counter())

    def finish(self) -> Counts:
        return self.sums().repeated()


PART = TextPart
