"""The fingerprint as published (DocView 5): the words that a page uses most, hashed with MD5.

Two pages with the same fingerprint are replicas; nothing in between is told.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

__all__ = ["INTERVAL", "PERCENTAGE", "chosen_words", "published_fingerprint"]

PERCENTAGE = 0.4
"""The share of a page's different words that is looked at (DocView 7.2)."""
INTERVAL = 5
"""The number of words that are hashed is a multiple of this (DocView 7.2)."""


def published_fingerprint(
    words: Sequence[str], percentage: float = PERCENTAGE, interval: int = INTERVAL
) -> bytes | None:
    """The MD5 (16 bytes) of the chosen words (step 6); None for a page with too few words to choose one interval."""
    chosen = chosen_words(words, percentage, interval)
    if not chosen:
        return None
    said = " ".join(chosen).encode(
        "utf-8", "replace"
    )  # the paper does not say how they are joined; no word holds a blank
    return hashlib.md5(said, usedforsecurity=False).digest()


def chosen_words(words: Sequence[str], percentage: float = PERCENTAGE, interval: int = INTERVAL) -> list[str]:
    """Steps 1 to 5: of the most frequent words (equals by the alphabet), in the order of the alphabet, the first.

    Sum1, Sum2 and Sum3 are `len(vector)`, `frequent` and `chosen`. `Sum1 * Percentage` is cut to whole words.
    """
    vector = Counter(words)
    by_frequency = sorted(vector, key=lambda word: (-vector[word], word))
    frequent = int(round(len(vector) * percentage, 6))
    chosen = frequent // interval * interval
    return sorted(by_frequency[:frequent])[:chosen]
