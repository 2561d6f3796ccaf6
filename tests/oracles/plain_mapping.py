"""How a page is laid over a site tree, in plain Python: what the compiled twin means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LARGEST_TABLE = 4_000_000
"""Cells of an alignment at most; longer rows are matched place by place."""
SAME_TAG, SAME_STYLE, SAME_CONTENT = 1, 2, 1

_Child = tuple[int, int, int]


def _likeness(one: _Child, other: _Child) -> int:
    """What a match of two children is worth; 0 where the tags differ. Content 0 is like no other."""
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
    """Lay one row of children over another, in order: the place in the first of each child of the second, or -1.

    Of all ways to match children in order, one that is worth most; a match of the same tag counts 1, of the same
    style 2, and the same content 1 more. Equal ends are matched first.
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
    """Rows by group, in their own order within it; group g holds rows `bounds[g]:bounds[g + 1]` of them."""
    for k in group.tolist():
        if not 0 <= k < groups:
            raise ValueError(f"there is no group {k} of {groups}")
    order = np.argsort(group, kind="stable").astype(np.int64)
    return order, np.searchsorted(group[order], np.arange(groups + 1)).astype(np.int64)
