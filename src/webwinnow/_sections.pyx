# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Sections, introductions, code and figures of a page. tests/oracles/plain_sections.py is the slow version."""

from libc.stdint cimport int32_t, uint8_t

import numpy as np

from webwinnow._memory cimport Scratch, bytes_of, check_columns, check_parent, lower_bound
from webwinnow._unicode cimport (
    PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ, Py_UNICODE_ISSPACE
)

cdef enum:
    LEVEL = 7  # of a heading, 1 to 6
    LISTS = 8  # lists, tables and code, which a sentence introduces
    CODE = 16
    FIGURE = 32
    PICTURE = 64
    BOUND = 128  # what a heading inside of it does not reach beyond: lists, items, tables, asides


cdef inline bint is_colon(Py_UCS4 c) noexcept nogil:
    """A colon of any script."""
    return c == 0x3A or c == 0xFF1A or c == 0xFE55 or c == 0xFE13 or c == 0x1366 or c == 0x55D


def outline(const int32_t[::1] parent, const int32_t[::1] text_start, const int32_t[::1] text_end,
            const uint8_t[::1] role, str text, const int32_t[::1] owner, const int32_t[::1] start,
            const int32_t[::1] stop, const int32_t[::1] words, int beside):
    """Five columns over blocks: heading level, heading above, end of what a block heads or introduces, code, figure.

    `role` describes nodes; block k has the text `start[k]:stop[k]` and is in node `owner[k]`. See `Sections`.
    """
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t size = parent.shape[0], n = owner.shape[0], i, k, depth = 0, last, after
    cdef int32_t node, up
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    check_columns(text_start.shape[0] == text_end.shape[0] == role.shape[0] == size)
    check_columns(start.shape[0] == stop.shape[0] == words.shape[0] == n)
    for k in range(n):
        if not (0 <= owner[k] < size and (k == 0 or start[k - 1] <= start[k])
                and 0 <= start[k] <= stop[k] <= PyUnicode_GET_LENGTH(text)):
            raise ValueError(f"block {k} is outside the page")
    cdef int32_t* head_of = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int32_t* code_of = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int32_t* figure_of = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int32_t* pictures = <int32_t*>scratch.room(size + 1, sizeof(int32_t))
    cdef int32_t* total = <int32_t*>scratch.room(n + 1, sizeof(int32_t))
    cdef int32_t* opened = <int32_t*>scratch.room(n + 1, sizeof(int32_t))
    for i in range(size):
        if i:
            check_parent(parent, i)
            up = parent[i]
            head_of[i], code_of[i], figure_of[i] = head_of[up], code_of[up], figure_of[up]
        else:
            head_of[i] = code_of[i] = figure_of[i] = -1
        if role[i] & LEVEL and head_of[i] < 0:
            head_of[i] = <int32_t>i
        if role[i] & CODE and code_of[i] < 0:
            code_of[i] = <int32_t>i
        if role[i] & FIGURE:
            figure_of[i] = <int32_t>i
        if role[i] & PICTURE and figure_of[i] >= 0:
            pictures[figure_of[i]] = 1
    levels = np.zeros(n, np.uint8)
    headings, ends, codes, figures = (np.full(n, -1, np.int32) for _ in range(4))
    cdef uint8_t[::1] level = levels
    cdef int32_t[::1] heading = headings, end = ends, code = codes, figure = figures
    for k in range(n):
        total[k + 1] = total[k] + words[k]
    for k in range(n):
        while depth and end[opened[depth - 1]] <= k:
            depth -= 1
        node = owner[k]
        code[k] = code_of[node]
        if figure_of[node] >= 0 and pictures[figure_of[node]]:
            figure[k] = figure_of[node]
        node = head_of[node]
        if node < 0:
            heading[k] = opened[depth - 1] if depth else -1
            end[k] = 0
            continue
        level[k] = role[node] & LEVEL
        if k and head_of[owner[k - 1]] == node:  # another line of the heading before
            heading[k] = heading[k - 1] if end[k - 1] == 0 else <int32_t>(k - 1)
            end[k] = 0
            continue
        while depth and level[opened[depth - 1]] >= level[k]:
            depth -= 1
            end[opened[depth]] = <int32_t>k
        heading[k] = opened[depth - 1] if depth else -1
        # The container: above elements that have hardly any text but the heading
        after = lower_bound(&start[0], k, n, text_end[node])
        up = node
        last = after
        while up > 0 and other_words(total, start, text_start[up], k, after, last) <= beside:
            if role[up] & BOUND:
                break
            up = parent[up]
            last = lower_bound(&start[0], after, n, text_end[up])
        if depth and end[opened[depth - 1]] < last:
            last = end[opened[depth - 1]]
        end[k] = <int32_t>last
        opened[depth] = <int32_t>k
        depth += 1
    # Introductions: a colon at the end of a block, directly before a list, a table or code, of which one may be wrapped
    for k in range(n - 1):
        if level[k] or not ends_in_colon(kind, data, start[k], stop[k]):
            continue
        node = owner[k + 1]
        up = -1
        while node > 0 and text_start[node] >= stop[k]:
            if role[node] & LISTS:
                up = node
            node = parent[node]
        if up > 0 and (node == owner[k] or node == parent[owner[k]]) and (parent[up] == node or parent[parent[up]] == node):
            end[k] = <int32_t>lower_bound(&start[0], k + 1, n, text_end[up])
    return levels, headings, ends, codes, figures


cdef inline int32_t other_words(int32_t* total, const int32_t[::1] start, int32_t begin, Py_ssize_t k, Py_ssize_t after,
                                Py_ssize_t last) noexcept:
    """Words of an element, whose text is from `begin` to block `last`, before and after blocks `k:after`."""
    return total[last] - total[after] + total[k] - total[lower_bound(&start[0], 0, k, begin)]


cdef inline bint ends_in_colon(int kind, void* data, Py_ssize_t start, Py_ssize_t stop) noexcept:
    while stop > start and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, stop - 1)):
        stop -= 1
    return stop > start and is_colon(PyUnicode_READ(kind, data, stop - 1))


def raised(const uint8_t[::1] level, const int32_t[::1] heading, const int32_t[::1] end, const int32_t[::1] code,
           const int32_t[::1] figure, shown, const int32_t[::1] words, const double[::1] probability,
           double hidden_above):
    """The probabilities, those of parts that depend on others as high as the highest of these.

    The blocks of code share their highest, a list is at least as probable as the sentence that introduces it, and that
    sentence as its list, a caption as the text around. A heading is exactly as probable as what it heads, or at least
    so if it has more words than that: then it is a text with a line below. What has probability 0 keeps it. Text that
    is not `shown` counts above `hidden_above` only. A block has 0 `words` if the site repeats it: no heading keeps it.
    """
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t n = level.shape[0], k, first, after, depth = 0
    cdef const uint8_t[::1] seen = bytes_of(shown)
    check_columns(heading.shape[0] == end.shape[0] == code.shape[0] == figure.shape[0] == n)
    check_columns(seen.shape[0] == words.shape[0] == probability.shape[0] == n)
    cdef int32_t* opened = <int32_t*>scratch.room(n + 1, sizeof(int32_t))
    cdef double* best = <double*>scratch.room(n + 1, sizeof(double))
    cdef int32_t* below = <int32_t*>scratch.room(n, sizeof(int32_t))
    cdef int32_t* own = <int32_t*>scratch.room(n, sizeof(int32_t))
    cdef double highest
    cdef double[::1] found = np.array(probability)
    for k in range(n):
        if not (-1 <= heading[k] < k and 0 <= end[k] <= n):
            raise ValueError(f"block {k} is under block {heading[k]}")
    k = 0
    while k < n:
        after = same_from(code, k)
        if code[k] >= 0 and after > k + 1:
            highest = 0.0
            for first in range(k, after):
                highest = max(highest, found[first])
            lift(found, k, after, highest)
        k = after
    for k in range(n):  # lists
        while depth and end[opened[depth - 1]] <= k:
            depth -= 1
        if depth:
            lift(found, k, k + 1, best[depth - 1])
        if level[k] == 0 and end[k] > k:
            opened[depth], best[depth] = <int32_t>k, found[k]
            depth += 1
    k = 0
    while k < n:
        after = same_from(figure, k)
        if figure[k] >= 0:
            lift(found, k, after, min(found[k - 1] if k else 0.0, found[after] if after < n else 0.0))
        k = after
    depth = 0
    for k in range(n + 1):  # sentences
        while depth and (k == n or end[opened[depth - 1]] <= k):
            depth -= 1
            lift(found, opened[depth], opened[depth] + 1, best[depth])
            if depth:
                best[depth - 1] = max(best[depth - 1], best[depth])
        if k < n and depth and level[k] == 0 and (seen[k] or found[k] >= hidden_above):
            best[depth - 1] = max(best[depth - 1], found[k])
        if k < n and level[k] == 0 and end[k] > k:
            opened[depth], best[depth] = <int32_t>k, 0.0
            depth += 1
    for k in range(n):
        best[k] = -1.0
        first = heading[k] if level[k] and end[k] == 0 else k  # further lines of a heading
        own[first] += words[k]
        found[first] = max(found[first], found[k])
    for k in range(n - 1, -1, -1):
        if level[k] and end[k] == 0:
            continue
        if level[k] and best[k] >= 0.0:
            found[k] = max(found[k], best[k]) if own[k] > below[k] else best[k]
        if heading[k] >= 0:
            highest = found[k] if level[k] or seen[k] or found[k] >= hidden_above else 0.0
            best[heading[k]] = max(best[heading[k]], highest)
            below[heading[k]] += own[k] + below[k]
    for k in range(n):
        if level[k] and end[k] == 0:
            found[k] = found[heading[k]]
        elif level[k] == 0 and heading[k] >= 0 and words[k] and own[heading[k]] > below[heading[k]]:
            lift(found, k, k + 1, found[heading[k]])
    return found.base


cdef inline Py_ssize_t same_from(const int32_t[::1] values, Py_ssize_t k) noexcept:
    """The first place after k with another value."""
    cdef Py_ssize_t after = k + 1
    while after < values.shape[0] and values[after] == values[k]:
        after += 1
    return after


cdef inline void lift(double[::1] found, Py_ssize_t first, Py_ssize_t after, double least) noexcept:
    """Raise probabilities other than 0 to `least`."""
    cdef Py_ssize_t k
    for k in range(first, after):
        if found[k] > 0.0:
            found[k] = max(found[k], least)


def beside(const int32_t[::1] parent, const int32_t[::1] text_start, const int32_t[::1] text_end,
           const int32_t[::1] start, const int32_t[::1] nodes):
    """For each of `nodes`, which have no text, the nearest block before and after it; -1 for none.

    Of the two only the one that shares the smaller element with the node, or both if they share the same.
    """
    cdef Py_ssize_t size = parent.shape[0], n = start.shape[0], j
    cdef int32_t node, before, after
    check_columns(text_start.shape[0] == text_end.shape[0] == size)
    cdef int32_t[:, ::1] found = np.full((2, nodes.shape[0]), -1, np.int32)
    if n == 0:
        return found.base
    for j in range(nodes.shape[0]):
        if not 0 <= nodes[j] < size:
            raise ValueError(f"node {nodes[j]} is outside the page")
        node = parent[nodes[j]]
        after = <int32_t>lower_bound(&start[0], 0, n, text_start[nodes[j]])
        before = after - 1
        while node >= 0 and found[0, j] < 0 and found[1, j] < 0:
            if before >= 0 and text_start[node] <= start[before]:
                found[0, j] = before
            if after < n and start[after] < text_end[node]:
                found[1, j] = after
            if parent[node] >= node:
                raise ValueError(f"node {node} has the parent {parent[node]}")
            node = parent[node]
    return found.base
