"""`Counts`: on how many pages of a site each of some things occurs, by a 64-bit key."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.site.blocktable import lookup
from webwinnow.storage.modelfile import ArrayTable, Column

Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts(ArrayTable):
    """Keys, ascending, and the number of pages that have each."""

    key: Annotated[Keys, Column(ascending=True)]
    pages: Annotated[NDArray[np.int32], Column(least=1)]

    @classmethod
    def of(cls, counter: Counter[int]) -> Self:
        """The counts of a counter."""
        key = np.fromiter(counter.keys(), np.uint64, len(counter))
        order = np.argsort(key)
        return cls(key=key[order], pages=np.fromiter(counter.values(), np.int32, len(counter))[order])

    def counter(self) -> Counter[int]:
        """The counts, to add to."""
        return Counter(dict(zip(self.key.tolist(), self.pages.tolist(), strict=True)))

    def repeated(self) -> Self:
        """Only what more than one page has, as models store it."""
        often = self.pages > 1
        return type(self)(key=self.key[often], pages=self.pages[often])

    def pages_with(self, keys: Keys, missing: int = 0) -> NDArray[np.int32]:
        """On how many pages each key occurs; `missing` for one that is not counted."""
        return lookup(self.key, self.pages, keys, missing).astype(np.int32)
