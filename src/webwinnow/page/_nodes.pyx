# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Loops over the nodes of a page, which are in preorder. tests/oracles/plain_nodes.py is the slow version."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

import numpy as np

from webwinnow.page._hashing cimport GOLDEN, mixed
from webwinnow.page._memory cimport Scratch, bytes_of, check_columns
from webwinnow.page._signs cimport has_sign, is_icon, is_sign, is_space_or_control
from webwinnow.page._unicode cimport PyUnicode_DATA, PyUnicode_KIND, PyUnicode_READ


def nearest(const int32_t[::1] parent, marked):
    """For each node the nearest marked one of itself and its ancestors, or -1."""
    cdef const uint8_t[::1] mark = bytes_of(marked)
    cdef Py_ssize_t i, size = parent.shape[0]
    cdef int32_t[::1] found = np.empty(size, np.int32)
    check_columns(mark.shape[0] == size)
    for i in range(size):
        if mark[i]:
            found[i] = <int32_t>i
        else:
            found[i] = found[parent[i]] if 0 <= parent[i] < i else -1
    return found.base


def topmost(const int32_t[::1] parent, marked):
    """For each node the highest marked one of itself and its ancestors, or -1."""
    cdef const uint8_t[::1] mark = bytes_of(marked)
    cdef Py_ssize_t i, size = parent.shape[0]
    cdef int32_t[::1] found = np.empty(size, np.int32)
    check_columns(mark.shape[0] == size)
    for i in range(size):
        found[i] = found[parent[i]] if 0 <= parent[i] < i else -1
        if found[i] < 0 and mark[i]:
            found[i] = <int32_t>i
    return found.base


def cut_runs(const uint16_t[::1] tag, const int32_t[::1] parent, splits, const int32_t[::1] run_owner,
             const int32_t[::1] run_before):
    """The first run of each block, and the number of runs; and the splitting element around each block, or -1.

    `splits` says for each tag code whether such nodes split the text; its last place is for all codes beyond.
    """
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] split = bytes_of(splits)
    cdef Py_ssize_t i, r, size = tag.shape[0], runs = run_owner.shape[0], known = split.shape[0], count = 0
    cdef int32_t last = -1
    check_columns(parent.shape[0] == size and run_before.shape[0] == runs)
    cdef int64_t[::1] first = np.empty(runs + 1, np.int64)
    cdef int32_t[::1] owner = np.empty(runs, np.int32)
    cdef int32_t* around = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int32_t* opened = <int32_t*>scratch.room(size, sizeof(int32_t))
    for i in range(size):
        if split[tag[i] if tag[i] < known else known - 1]:
            around[i] = <int32_t>i
            opened[i + 1] = opened[i] + 1
        else:
            around[i] = around[parent[i]] if 0 <= parent[i] < i else -1
            opened[i + 1] = opened[i]
    for r in range(runs):
        if not (0 <= run_owner[r] < size and 0 <= run_before[r] <= size):
            raise ValueError(f"run {r} is outside the tree")
        if r == 0 or around[run_owner[r]] != around[run_owner[r - 1]] or opened[run_before[r]] != last:
            first[count], owner[count] = r, around[run_owner[r]]
            count += 1
        last = opened[run_before[r]]
    first[count] = runs
    return first.base[: count + 1], owner.base[:count]


def path_keys(const int32_t[::1] parent, const uint64_t[::1] style):
    """Two keys of each node: of the styles from the root down to it, and of its own and the two styles above.

    Neither depends on positions: all items of a list share theirs.
    """
    cdef Py_ssize_t i, size = parent.shape[0]
    cdef int32_t p, g
    check_columns(style.shape[0] == size)
    cdef uint64_t[::1] whole = np.empty(size, np.uint64), near = np.empty(size, np.uint64)
    for i in range(size):
        p = parent[i]
        if p >= i:
            raise ValueError(f"node {i} has the parent {p}")
        g = parent[p] if p >= 0 else -1
        whole[i] = mixed(whole[p] * GOLDEN + style[i]) if p >= 0 else 1
        near[i] = mixed(mixed(mixed(style[i]) ^ (style[p] if p >= 0 else 0)) ^ (style[g] if g >= 0 else 0))
    return whole.base, near.base


def kept_around(const int32_t[::1] parent, const int32_t[::1] run_owner, has_text, keep, visible):
    """The nodes with kept text, and the visible nodes without text inside of such."""
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] says = bytes_of(has_text), kept = bytes_of(keep), seen = bytes_of(visible)
    cdef Py_ssize_t size = parent.shape[0], runs = run_owner.shape[0], i, r
    check_columns(seen.shape[0] == size and says.shape[0] == kept.shape[0] == runs)
    cdef uint8_t[::1] found = np.empty(size, np.uint8)
    cdef uint8_t* any_text = <uint8_t*>scratch.room(size, 1)
    cdef uint8_t* any_kept = <uint8_t*>scratch.room(size, 1)
    for r in range(runs):
        if not 0 <= run_owner[r] < size:
            raise ValueError(f"run {r} is outside the tree")
        if says[r]:
            any_text[run_owner[r]] = 1
            any_kept[run_owner[r]] |= kept[r]
    for i in range(size - 1, -1, -1):
        if parent[i] >= i:
            raise ValueError(f"node {i} has the parent {parent[i]}")
        if parent[i] >= 0:
            any_text[parent[i]] |= any_text[i]
            any_kept[parent[i]] |= any_kept[i]
    for i in range(size):
        found[i] = any_kept[i] and (seen[i] or any_text[i])
        if not any_text[i] and parent[i] >= 0 and any_kept[parent[i]]:
            any_kept[i] = 1  # as the nearest element with text
            found[i] = seen[i]
    return found.base.view(np.bool_)


def permalinks(str text, const int32_t[::1] text_start, const int32_t[::1] text_end, const uint16_t[::1] tag,
               const int32_t[::1] end, linked, int link):
    """The links to headings inside them (nodes), and where their signs are in the text, ascending.

    `linked` says for each tag code whether it is one of a heading. A link in a heading is one where all its text is signs, and the heading has other text. Glyphs of icon fonts and a
    pilcrow at the end are signs without a link, too.
    """
    cdef const uint8_t[::1] may = bytes_of(linked)
    cdef int32_t size = <int32_t>tag.shape[0], i = 0, k, at
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef bint says
    cdef Py_UCS4 c
    cdef list nodes = [], places = []
    check_columns(text_start.shape[0] == text_end.shape[0] == end.shape[0] == size)
    while i < size:
        if tag[i] >= may.shape[0] or not may[tag[i]]:
            i += 1
            continue
        if not i < end[i] <= size:
            raise ValueError(f"node {i} has the end {end[i]}")
        if not has_sign(text, text_start[i], text_end[i]):
            i = end[i]
            continue
        says = False
        for at in range(text_start[i], text_end[i]):
            c = PyUnicode_READ(kind, data, at)
            if not (is_sign(c) or is_space_or_control(c)):
                says = True
                break
        found = set()
        k = i + 1
        while says and k < end[i]:
            if tag[k] == link and text_start[i] <= text_start[k] < text_end[k] <= text_end[i] and k < end[k] <= end[i]:
                for at in range(text_start[k], text_end[k]):
                    c = PyUnicode_READ(kind, data, at)
                    if not (is_sign(c) or is_space_or_control(c)):
                        break
                else:
                    signs = [at for at in range(text_start[k], text_end[k]) if is_sign(text[at])]
                    if signs:
                        nodes.append(k)
                        found.update(signs)
                    k = end[k]
                    continue
            k += 1
        found.update([at for at in range(text_start[i], text_end[i]) if is_icon(text[at])])
        at = text_end[i] - 1
        while says and at >= text_start[i] and (at in found or is_space_or_control(text[at]) or text[at] == "\xb6"):
            if text[at] == "\xb6":
                found.add(at)
            at -= 1
        places += sorted(found)
        i = end[i]
    return nodes, places
