# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The walk of MapCST down a compressed structure tree. tests/oracles/plain_cst.py is the slow version."""

from libc.stdint cimport int32_t, uint8_t, uint64_t

import numpy as np

from webwinnow.page._hashing cimport mixed
from webwinnow.page._memory cimport check_columns, check_parent, lower_bound

cdef enum:
    OUTSIDE, INTERNAL, LEAF  # as in site/styletree.py

cdef enum:
    NOWHERE = -1


cdef class Keys:
    """An index of ascending hashes: the highest bits of a hash lead to its row."""

    cdef const uint64_t[::1] key
    cdef int32_t[::1] start
    cdef int shift

    def __cinit__(self, const uint64_t[::1] key):
        cdef Py_ssize_t k, size = key.shape[0]
        cdef int bits = 1
        while (<Py_ssize_t>1 << bits) < size:
            bits += 1
        self.key, self.shift = key, 64 - bits
        self.start = np.zeros((1 << bits) + 1, np.int32)
        for k in range(size):
            if k and key[k] <= key[k - 1]:
                raise ValueError("keys out of order")
            self.start[(key[k] >> self.shift) + 1] += 1
        for k in range(1 << bits):
            self.start[k + 1] += self.start[k]

    cdef Py_ssize_t row(self, uint64_t key) noexcept:
        """The row of a key, -1 if it has none."""
        cdef Py_ssize_t k
        for k in range(self.start[key >> self.shift], self.start[(key >> self.shift) + 1]):
            if self.key[k] == key:
                return k
        return -1


cdef class Walk:
    """The children of the elements of a finished tree, by path and by style.

    `path` are the keys of (element, sequence, position, kind), `path_child` the child of each. `style` are the keys of
    (element, style, kind); those of row k have the children `style_child[start[k]:start[k + 1]]`, at ascending
    positions, each position once. `kind` are those of the elements.
    """

    cdef Keys path, style
    cdef const int32_t[::1] path_child, start, position, style_child
    cdef const uint8_t[::1] kind

    def __cinit__(self, const uint64_t[::1] path, const int32_t[::1] path_child, const uint64_t[::1] style,
                  const int32_t[::1] start, const int32_t[::1] position, const int32_t[::1] style_child,
                  const uint8_t[::1] kind):
        check_columns(path.shape[0] == path_child.shape[0] and style.shape[0] + 1 == start.shape[0]
                      and position.shape[0] == style_child.shape[0] == start[start.shape[0] - 1])
        self.path, self.style, self.kind = Keys(path), Keys(style), kind
        self.path_child, self.start, self.position, self.style_child = path_child, start, position, style_child

    def down(self, const int32_t[::1] parent, const uint64_t[::1] style, const uint64_t[::1] sequence,
             const int32_t[::1] position, const uint8_t[::1] kind):
        """The element of each node: a child of its parent's element, or its parent's element if that is a leaf.

        -1 where no child matches, and below. A node below a virtual leaf of the page counts as a leaf.
        """
        cdef Py_ssize_t i, size = parent.shape[0]
        cdef int32_t above
        cdef uint8_t own
        check_columns(style.shape[0] == sequence.shape[0] == position.shape[0] == kind.shape[0] == size > 0)
        cdef int32_t[::1] at = np.full(size, NOWHERE, np.int32)
        at[0] = 0
        for i in range(1, size):
            check_parent(parent, i)
            above = at[parent[i]]
            if above == NOWHERE or self.kind[above] == LEAF:
                at[i] = above
                continue
            own = INTERNAL if kind[i] == INTERNAL else LEAF
            at[i] = self.known(above, sequence[parent[i]], position[i], own)
            if at[i] == NOWHERE:
                at[i] = self.nearest(above, style[i], position[i], own)
            if at[i] == NOWHERE:
                at[i] = self.nearest(above, style[i], position[i], INTERNAL + LEAF - own)
        return at.base

    cdef int32_t known(self, int32_t element, uint64_t sequence, int32_t position, uint8_t kind) noexcept:
        """The child at this position of a learned sequence."""
        cdef Py_ssize_t row = self.path.row(
            mixed(mixed(sequence ^ (<uint64_t>position * 4 + kind)) ^ <uint64_t>element))
        return NOWHERE if row < 0 else self.path_child[row]

    cdef int32_t nearest(self, int32_t element, uint64_t style, int32_t position, uint8_t kind) noexcept:
        """The child of this style and kind at the nearest position, of two the lower."""
        cdef Py_ssize_t row = self.style.row(mixed(mixed(style + kind) ^ <uint64_t>element)), k, low, high
        if row < 0:
            return NOWHERE
        low, high = self.start[row], self.start[row + 1]
        k = lower_bound(&self.position[0], low, high, position)
        if k == high or (k > low and position - self.position[k - 1] <= self.position[k] - position):
            k -= 1
        return self.style_child[k]
