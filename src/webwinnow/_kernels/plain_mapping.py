"""How a page is laid over a site tree, in plain Python: what the compiled twin means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels.plain import mixed, nearest

__all__ = ["LARGEST_TABLE", "align", "grouped", "kept_around", "topmost", "way_keys"]

_GOLDEN, _ALL_BITS = 0x9E3779B97F4A7C15, (1 << 64) - 1

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


def topmost(parent: NDArray[np.int32], marked: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For each node the highest marked one of itself and its ancestors, or -1. Parents stand before children."""
    if len(marked) != len(parent):
        raise ValueError(f"{len(marked)} marks for {len(parent)} nodes")
    found = np.full(len(parent), -1, np.int32)
    for i, up in enumerate(parent.tolist()):
        if 0 <= up < i:
            found[i] = found[up]
        if found[i] < 0 and marked[i]:
            found[i] = i
    return found


def way_keys(parent: NDArray[np.int32], style: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Two keys of where each node stands: the styles from the root down to it, and its own and those of two above.

    Neither knows positions: all items of a list share theirs.
    """
    if len(style) != len(parent):
        raise ValueError(f"{len(style)} styles for {len(parent)} nodes")
    up, own = parent.tolist(), style.tolist()
    whole: list[int] = []
    near: list[int] = []
    for i, p in enumerate(up):
        if p >= i:
            raise ValueError(f"node {i} has the parent {p}")
        g = up[p] if p >= 0 else -1
        whole.append(mixed((whole[p] * _GOLDEN + own[i]) & _ALL_BITS) if p >= 0 else 1)
        near.append(mixed(mixed(mixed(own[i]) ^ (own[p] if p >= 0 else 0)) ^ (own[g] if g >= 0 else 0)))
    return np.array(whole, np.uint64), np.array(near, np.uint64)


def kept_around(
    parent: NDArray[np.int32],
    text_start: NDArray[np.int32],
    text_end: NDArray[np.int32],
    run_start: NDArray[np.int32],
    says: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    visible: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """The nodes with a kept run that says something, and visible ones that hold no text inside such."""
    if not len(parent) == len(text_start) == len(text_end) == len(visible):
        raise ValueError("columns of different lengths")
    if not len(says) == len(kept) == len(run_start) - 1:
        raise ValueError("columns of different lengths")
    for i in np.flatnonzero(parent >= np.arange(len(parent))).tolist():
        raise ValueError(f"node {i} has the parent {parent[i]}")
    spoken = np.concatenate(([0], np.cumsum(says)))
    stays = np.concatenate(([0], np.cumsum(kept & says)))
    first = np.searchsorted(run_start[:-1], text_start)
    last = np.searchsorted(run_start[:-1], text_end)
    has_text = spoken[last] > spoken[first]
    has_kept = stays[last] > stays[first]
    around = nearest(parent, has_text)
    inside: NDArray[np.bool_] = np.where(around >= 0, has_kept[around], False) & (visible | has_kept)
    return inside
