# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Loops over the nodes of a page. tests/oracles/plain_nodes.py has a slow version of each, and tests compare the two."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport free, malloc

import numpy as np

from webwinnow._hashing cimport GOLDEN, mixed
from webwinnow._memory cimport bytes_of


def topmost(const int32_t[::1] parent, marked):
    """For each node the highest marked one of itself and its ancestors, or -1 (see plain_mapping.topmost)."""
    cdef const uint8_t[::1] mark = bytes_of(marked)
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


def nearest(const int32_t[::1] parent, marked):
    """For each node the nearest marked one of itself and its ancestors, or -1 (see plain.nearest)."""
    cdef const uint8_t[::1] mark = bytes_of(marked)
    cdef Py_ssize_t i, size = parent.shape[0]
    found = np.empty(size, np.int32)
    cdef int32_t[::1] out = found
    if mark.shape[0] != size:
        raise ValueError(f"{mark.shape[0]} marks for {size} nodes")
    for i in range(size):
        if mark[i]:
            out[i] = <int32_t>i
        elif 0 <= parent[i] < i:
            out[i] = out[parent[i]]
        else:
            out[i] = -1
    return found


def cut_runs(
    const uint16_t[::1] tag, const int32_t[::1] parent, parts, const int32_t[::1] run_owner,
    const int32_t[::1] run_before,
):
    """The first run of each block, and the element around it (see plain.cut_runs)."""
    cdef const uint8_t[::1] parting = bytes_of(parts)
    cdef Py_ssize_t i, r, size = tag.shape[0], runs = run_owner.shape[0], known = parting.shape[0], count = 0
    cdef int32_t last = -1
    if parent.shape[0] != size or run_before.shape[0] != runs:
        raise ValueError("columns of different lengths")
    first, owner = np.empty(runs + 1, np.int64), np.empty(runs, np.int32)
    cdef int64_t[::1] begins = first
    cdef int32_t[::1] owns = owner
    cdef int32_t* around = <int32_t*>malloc((2 * size + 1) * sizeof(int32_t))
    if around == NULL:
        raise MemoryError
    cdef int32_t* opened = around + size
    try:
        opened[0] = 0
        for i in range(size):
            if parting[tag[i] if tag[i] < known else known - 1]:
                around[i] = <int32_t>i
                opened[i + 1] = opened[i] + 1
            else:
                around[i] = around[parent[i]] if 0 <= parent[i] < i else -1
                opened[i + 1] = opened[i]
        for r in range(runs):
            if not (0 <= run_owner[r] < size and 0 <= run_before[r] <= size):
                raise ValueError(f"run {r} stands nowhere")
            if r == 0 or around[run_owner[r]] != around[run_owner[r - 1]] or opened[run_before[r]] != last:
                begins[count], owns[count] = r, around[run_owner[r]]
                count += 1
            last = opened[run_before[r]]
        begins[count] = runs
    finally:
        free(around)
    return first[: count + 1], owner[:count]


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
        down[i] = mixed(down[p] * GOLDEN + style[i]) if p >= 0 else 1
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
    cdef const uint8_t[::1] says = bytes_of(said)
    cdef const uint8_t[::1] kept = bytes_of(keep)
    cdef const uint8_t[::1] visible = bytes_of(seen)
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
