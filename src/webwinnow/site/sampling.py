"""Which pages of a site to learn from: one for each content, then the k whose addresses hash lowest.

The choice depends on the set of pages only, not on their order, on the number of workers or on the engine; and
choices over parts of a site combine: the k lowest of a union are among the k lowest of its parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from xxhash import xxh3_64_intdigest

from webwinnow.urls import canonical

__all__ = ["LEARNED_PAGES", "choose_pages", "page_key"]

LEARNED_PAGES = 500
"""Pages learned from one site at most (thesis 5.3 samples 500)."""

T = TypeVar("T")


def page_key(url: str, seed: int = 0) -> int:
    """`xxh3(seed, canonical URL)`, what pages are drawn by."""
    return xxh3_64_intdigest(canonical(url).encode("utf-8", "replace"), seed=seed)


def choose_pages(pages: Iterable[tuple[int, str, T]], k: int = LEARNED_PAGES) -> list[T]:
    """Choose from (page_key, exact fingerprint, page): replicas once, then the k lowest keys, in key order."""
    lowest: dict[str, tuple[int, T]] = {}
    for key, content, page in pages:
        known = lowest.get(content)
        if known is None or key < known[0]:
            lowest[content] = (key, page)
    return [page for _, page in sorted(lowest.values(), key=lambda found: found[0])[:k]]
