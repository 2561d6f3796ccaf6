"""Alignment of a page with a site tree, in plain Python: the reference for the compiled version."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST_TABLE = 4_000_000
"""Largest number of cells of an alignment; longer rows are matched by position."""
SAME_TAG, SAME_STYLE, SAME_CONTENT = 1, 2, 1

_Child = tuple[int, int, int]


def _likeness(one: _Child, other: _Child) -> int:
    """The score of a match of two children; 0 if the tags differ. Content 0 equals no other."""
    if one[0] != other[0]:
        return 0
    return (SAME_STYLE if one[1] == other[1] else SAME_TAG) + (SAME_CONTENT if one[2] and one[2] == other[2] else 0)


def align(
    tag: NDArray[np.uint64],
    style: NDArray[np.uint64],
    content: NDArray[np.uint64],
    other_tag: NDArray[np.uint64],
    other_style: NDArray[np.uint64],
    other_content: NDArray[np.uint64],
) -> NDArray[np.int32]:
    """Align two rows of children in order: for each child of the second its position in the first, or -1.

    Returns an alignment in order with the highest score; a match of the same tag scores 1, of the same style 2, and
    the same content 1 more. Equal ends are matched first.
    """
    a = list(zip(tag.tolist(), style.tolist(), content.tolist(), strict=True))
    b = list(zip(other_tag.tolist(), other_style.tolist(), other_content.tolist(), strict=True))
    found = np.full(len(b), -1, np.int32)
    n, m, first = len(a), len(b), 0
    while first < min(n, m) and _likeness(a[first], b[first]) == SAME_STYLE + SAME_CONTENT:
        found[first] = first
        first += 1
    while min(n, m) > first and _likeness(a[n - 1], b[m - 1]) == SAME_STYLE + SAME_CONTENT:
        n, m = n - 1, m - 1
        found[m] = n
    if (n - first) * (m - first) > LARGEST_TABLE:
        for k in range(first, min(n, m)):
            if a[k][0] == b[k][0]:
                found[k] = k
        return found
    worth = np.zeros((n + 1, m + 1), np.int64)
    step = np.zeros((n, m), np.uint8)
    for x in range(n - 1, first - 1, -1):
        for y in range(m - 1, first - 1, -1):
            like = _likeness(a[x], b[y])
            best, step[x, y] = worth[x + 1, y], 1
            if worth[x, y + 1] > best:
                best, step[x, y] = worth[x, y + 1], 2
            if like and worth[x + 1, y + 1] + like >= best:
                best, step[x, y] = worth[x + 1, y + 1] + like, 0
            worth[x, y] = best
    x = y = first
    while x < n and y < m:
        if step[x, y] == 0:
            found[y] = x
            x, y = x + 1, y + 1
        elif step[x, y] == 1:
            x += 1
        else:
            y += 1
    return found


def grouped(group: NDArray[np.int64], groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows by group, in their own order within it; group g has rows `bounds[g]:bounds[g + 1]` of them."""
    for k in group.tolist():
        if not 0 <= k < groups:
            raise ValueError(f"there is no group {k} of {groups}")
    order = np.argsort(group, kind="stable").astype(np.int64)
    return order, np.searchsorted(group[order], np.arange(groups + 1)).astype(np.int64)


def pages_of(item: NDArray[np.int64], page: NDArray[np.int64], items: int) -> NDArray[np.int64]:
    """On how many pages each item occurs."""
    for k in item.tolist():
        if not 0 <= k < items:
            raise ValueError(f"there is no item {k} of {items}")
    seen = set(zip(item.tolist(), page.tolist(), strict=True))
    return np.bincount([k for k, _ in seen], minlength=items).astype(np.int64)
