# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Compiled: how a page is laid over a site tree. Each has a twin in plain_mapping.py that says what it means."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

import numpy as np

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
