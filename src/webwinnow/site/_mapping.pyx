# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""How a page maps to a site tree. tests/oracles/plain_mapping.py is the slow version."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

import numpy as np

from webwinnow.page._memory cimport Scratch, check_columns

cdef enum:
    LARGEST_TABLE = 4000000  # cells of an alignment; longer rows are matched place by place
    SAME_TAG = 1
    SAME_STYLE = 2
    SAME_CONTENT = 1
    EQUAL = SAME_STYLE + SAME_CONTENT


cdef struct Children:
    const uint64_t* tag
    const uint64_t* style
    const uint64_t* content


cdef inline int similarity(const Children* one, Py_ssize_t x, const Children* other, Py_ssize_t y) noexcept nogil:
    """The value of a match of two children: 0 if their tags differ. Content 0 equals no other."""
    if one.tag[x] != other.tag[y]:
        return 0
    return (SAME_STYLE if one.style[x] == other.style[y] else SAME_TAG) + (
        SAME_CONTENT if one.content[x] and one.content[x] == other.content[y] else 0)


def align(const uint64_t[::1] tag, const uint64_t[::1] style, const uint64_t[::1] content,
          const uint64_t[::1] other_tag, const uint64_t[::1] other_style, const uint64_t[::1] other_content):
    """Align two rows of children in order: the place in the first of each child of the second, or -1.

    Of all alignments, one of the highest value: a match of the same tag counts 1, of the same style 2, and the same
    content 1 more. Equal ends are matched first.
    """
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t n = tag.shape[0], m = other_tag.shape[0], first = 0, rows, columns, x, y
    check_columns(style.shape[0] == content.shape[0] == n and other_style.shape[0] == other_content.shape[0] == m)
    cdef int32_t[::1] place = np.full(m, -1, np.int32)
    if n == 0 or m == 0:
        return place.base
    cdef Children one = Children(&tag[0], &style[0], &content[0])
    cdef Children other = Children(&other_tag[0], &other_style[0], &other_content[0])
    cdef int value
    cdef int32_t best
    while first < n and first < m and similarity(&one, first, &other, first) == EQUAL:
        place[first] = <int32_t>first
        first += 1
    while n > first and m > first and similarity(&one, n - 1, &other, m - 1) == EQUAL:
        n -= 1
        m -= 1
        place[m] = <int32_t>n
    rows, columns = n - first, m - first
    if rows == 0 or columns == 0:
        return place.base
    if rows * columns > LARGEST_TABLE:
        for x in range(first, first + min(rows, columns)):
            if tag[x] == other_tag[x]:
                place[x] = <int32_t>x
        return place.base
    cdef uint8_t* table = <uint8_t*>scratch.room(rows * columns, 1)
    cdef int32_t* above = <int32_t*>scratch.room(columns, sizeof(int32_t))
    cdef int32_t* below = <int32_t*>scratch.room(columns, sizeof(int32_t))
    with nogil:
        for x in range(rows - 1, -1, -1):
            above, below = below, above
            above[columns] = 0
            for y in range(columns - 1, -1, -1):
                value = similarity(&one, first + x, &other, first + y)
                best = below[y]
                table[x * columns + y] = 1
                if above[y + 1] > best:
                    best = above[y + 1]
                    table[x * columns + y] = 2
                if value and below[y + 1] + value >= best:
                    best = below[y + 1] + value
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
    return place.base


def grouped(const int64_t[::1] group, Py_ssize_t groups):
    """The rows by group, in order within a group; group g is `bounds[g]:bounds[g + 1]` of them."""
    cdef Py_ssize_t k, size = group.shape[0]
    cdef int64_t[::1] rows = np.empty(size, np.int64), at = np.zeros(groups + 1, np.int64)
    for k in range(size):
        if not 0 <= group[k] < groups:
            raise ValueError(f"there is no group {group[k]} of {groups}")
        at[group[k] + 1] += 1
    for k in range(groups):
        at[k + 1] += at[k]
    cdef int64_t[::1] free_row = at.base.copy()
    for k in range(size):
        rows[free_row[group[k]]] = k
        free_row[group[k]] += 1
    return rows.base, at.base


def pages_of(const int64_t[::1] item, const int64_t[::1] page, Py_ssize_t items):
    """On how many pages each item occurs; the rows of a page follow each other."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t k, size = item.shape[0]
    check_columns(page.shape[0] == size)
    cdef int64_t[::1] count = np.zeros(items, np.int64)
    cdef int64_t* last = <int64_t*>scratch.room(items, sizeof(int64_t))  # the row of the item on its latest page, from 1
    for k in range(size):
        if not 0 <= item[k] < items:
            raise ValueError(f"there is no item {item[k]} of {items}")
        if not last[item[k]] or page[last[item[k]] - 1] != page[k]:
            count[item[k]] += 1
            last[item[k]] = k + 1
    return count.base
