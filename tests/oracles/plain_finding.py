"""Words in the text and the attributes of a page, in plain Python: the reference for the compiled versions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray


def first_found(text: str, words: Sequence[bytes]) -> int:
    """Where the first of some ASCII words that the text has begins; -1 if it has none."""
    return next((at for word in words if (at := text.find(word.decode())) >= 0), -1)


def marked_attributes(
    text: str,
    word: bytes,
    end: int,
    most: int,
    starts: NDArray[np.int32],
    name: NDArray[np.uint8],
    marking: Collection[int],
) -> list[int]:
    """The attributes of some names in whose value one of the `most` first places of an ASCII word begins."""
    found: list[int] = []
    at = text.find(word.decode(), 0, end)
    while at >= 0 and most:
        k = int(starts.searchsorted(at, side="right")) - 1
        if int(name[k]) in marking and found[-1:] != [k]:
            found.append(k)
        at, most = text.find(word.decode(), at + len(word), end), most - 1
    return found
