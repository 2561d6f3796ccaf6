# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Compiled: how a page is laid over a site tree. Each has a twin in plain_mapping.py that says what it means."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

import numpy as np

from webwinnow._kernels.mixing cimport mixed

cdef enum:
    LARGEST_TABLE = 4000000  # plain_mapping.LARGEST_TABLE
    SAME_TAG = 1
    SAME_STYLE = 2
    SAME_CONTENT = 1


cdef inline int likeness(
    uint64_t tag, uint64_t style, uint64_t content, uint64_t other_tag, uint64_t other_style, uint64_t other_content
) noexcept nogil:
    if tag != other_tag:
        return 0
    return (SAME_STYLE if style == other_style else SAME_TAG) + (SAME_CONTENT if content and content == other_content else 0)


def align(
    const uint64_t[::1] tag, const uint64_t[::1] style, const uint64_t[::1] content,
    const uint64_t[::1] other_tag, const uint64_t[::1] other_style, const uint64_t[::1] other_content,
):
    """The place in the first row of each child of the second, -1 where there is none (see plain_mapping.align)."""
    cdef Py_ssize_t n = tag.shape[0], m = other_tag.shape[0], first = 0, rows, columns, x, y
    if style.shape[0] != n or content.shape[0] != n or other_style.shape[0] != m or other_content.shape[0] != m:
        raise ValueError("tags, styles and contents differ in number")
    found = np.full(m, -1, np.int32)
    cdef int32_t[::1] place = found
    cdef int like
    cdef int32_t best
    cdef int32_t* above
    cdef int32_t* below
    cdef int32_t* swap
    cdef uint8_t* table
    while first < n and first < m and likeness(
        tag[first], style[first], content[first], other_tag[first], other_style[first], other_content[first]
    ) == SAME_STYLE + SAME_CONTENT:
        place[first] = <int32_t>first
        first += 1
    while n > first and m > first and likeness(
        tag[n - 1], style[n - 1], content[n - 1], other_tag[m - 1], other_style[m - 1], other_content[m - 1]
    ) == SAME_STYLE + SAME_CONTENT:
        n -= 1
        m -= 1
        place[m] = <int32_t>n
    rows, columns = n - first, m - first
    if rows == 0 or columns == 0:
        return found
    if rows * columns > LARGEST_TABLE:
        for x in range(min(rows, columns)):
            if tag[first + x] == other_tag[first + x]:
                place[first + x] = <int32_t>(first + x)
        return found
    table = <uint8_t*>malloc(rows * columns)
    above = <int32_t*>calloc(columns + 1, sizeof(int32_t))
    below = <int32_t*>calloc(columns + 1, sizeof(int32_t))
    if table == NULL or above == NULL or below == NULL:
        free(table)
        free(above)
        free(below)
        raise MemoryError
    with nogil:
        for x in range(rows - 1, -1, -1):
            swap = above
            above = below
            below = swap
            above[columns] = 0
            for y in range(columns - 1, -1, -1):
                like = likeness(
                    tag[first + x], style[first + x], content[first + x],
                    other_tag[first + y], other_style[first + y], other_content[first + y],
                )
                best = below[y]
                table[x * columns + y] = 1
                if above[y + 1] > best:
                    best = above[y + 1]
                    table[x * columns + y] = 2
                if like and below[y + 1] + like >= best:
                    best = below[y + 1] + like
                    table[x * columns + y] = 0
                above[y] = best
        x = y = 0
        while x < rows and y < columns:
            if table[x * columns + y] == 0:
                place[first + y] = <int32_t>(first + x)
                x += 1
                y += 1
            elif table[x * columns + y] == 1:
                x += 1
            else:
                y += 1
    free(table)
    free(above)
    free(below)
    return found


def topmost(const int32_t[::1] parent, marked):
    """For each node the highest marked one of itself and its ancestors, or -1 (see plain_mapping.topmost)."""
    cdef const uint8_t[::1] mark = np.ascontiguousarray(marked, np.bool_).view(np.uint8)
    cdef Py_ssize_t i, size = parent.shape[0]
    found = np.empty(size, np.int32)
    cdef int32_t[::1] out = found
    if mark.shape[0] != size:
        raise ValueError(f"{mark.shape[0]} marks for {size} nodes")
    for i in range(size):
        out[i] = out[parent[i]] if 0 <= parent[i] < i else -1
        if out[i] < 0 and mark[i]:
            out[i] = <int32_t>i
    return found


def grouped(const int64_t[::1] group, Py_ssize_t groups):
    """Rows by group, and where each group begins (see plain_mapping.grouped)."""
    cdef Py_ssize_t k, size = group.shape[0]
    order = np.empty(size, np.int64)
    bounds = np.zeros(groups + 1, np.int64)
    cdef int64_t[::1] rows = order, at = bounds
    for k in range(size):
        if not 0 <= group[k] < groups:
            raise ValueError(f"there is no group {group[k]} of {groups}")
        at[group[k] + 1] += 1
    for k in range(groups):
        at[k + 1] += at[k]
    cdef int64_t[::1] free_row = bounds.copy()
    for k in range(size):
        rows[free_row[group[k]]] = k
        free_row[group[k]] += 1
    return order, bounds


def way_keys(const int32_t[::1] parent, const uint64_t[::1] style):
    """Keys of the styles from the root down to each node, and of the last three (see plain_mapping.way_keys)."""
    cdef Py_ssize_t i, size = parent.shape[0]
    cdef int32_t p, g
    if style.shape[0] != size:
        raise ValueError(f"{style.shape[0]} styles for {size} nodes")
    whole, near = np.empty(size, np.uint64), np.empty(size, np.uint64)
    cdef uint64_t[::1] down = whole, last = near
    for i in range(size):
        p = parent[i]
        if p >= i:
            raise ValueError(f"node {i} has the parent {p}")
        g = parent[p] if p >= 0 else -1
        down[i] = mixed(down[p] * <uint64_t>0x9E3779B97F4A7C15 + style[i]) if p >= 0 else 1
        last[i] = mixed(mixed(mixed(style[i]) ^ (style[p] if p >= 0 else 0)) ^ (style[g] if g >= 0 else 0))
    return whole, near


cdef inline Py_ssize_t first_from(const int32_t[::1] starts, Py_ssize_t runs, int32_t value, Py_ssize_t low) noexcept:
    """The first run from `low` on that starts at `value` or behind it, found in steps that double."""
    cdef Py_ssize_t high, step = 1, middle
    if low and starts[low - 1] >= value:
        low = 0
    high = low
    while high < runs and starts[high] < value:
        low = high + 1
        high += step
        step *= 2
    if high > runs:
        high = runs
    while low < high:
        middle = (low + high) >> 1
        if starts[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def kept_around(
    const int32_t[::1] parent,
    const int32_t[::1] text_start,
    const int32_t[::1] text_end,
    const int32_t[::1] run_start,
    said,
    keep,
    seen,
):
    """The nodes around kept text (see plain_mapping.kept_around)."""
    cdef const uint8_t[::1] says = np.ascontiguousarray(said, np.bool_).view(np.uint8)
    cdef const uint8_t[::1] kept = np.ascontiguousarray(keep, np.bool_).view(np.uint8)
    cdef const uint8_t[::1] visible = np.ascontiguousarray(seen, np.bool_).view(np.uint8)
    cdef Py_ssize_t size = parent.shape[0], runs = run_start.shape[0] - 1, i, r, first = 0, last
    if not (text_start.shape[0] == text_end.shape[0] == visible.shape[0] == size):
        raise ValueError("columns of different lengths")
    if not (says.shape[0] == kept.shape[0] == runs):
        raise ValueError("columns of different lengths")
    found, around = np.zeros(size, np.bool_), np.zeros(size, np.uint8)
    sums = np.zeros((2, runs + 1), np.int32)
    cdef int32_t[::1] spoken = sums[0], stays = sums[1]
    cdef uint8_t[::1] inside = found.view(np.uint8), stands = around
    cdef bint has_text, has_kept
    for r in range(runs):
        spoken[r + 1] = spoken[r] + says[r]
        stays[r + 1] = stays[r] + (says[r] and kept[r])
    for i in range(size):
        if parent[i] >= i:
            raise ValueError(f"node {i} has the parent {parent[i]}")
        first = first_from(run_start, runs, text_start[i], first)
        last = first_from(run_start, runs, text_end[i], first)
        has_text = spoken[last] > spoken[first]
        has_kept = stays[last] > stays[first]
        stands[i] = has_kept if has_text else (stands[parent[i]] if parent[i] >= 0 else 0)
        inside[i] = stands[i] and (visible[i] or has_kept)
    return found
