# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""MinHashes and clusters. tests/oracles/plain_sketches.py is the slow version."""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t

import numpy as np

from webwinnow.page._hashing cimport GOLDEN, mixed
from webwinnow.page._memory cimport Scratch

cdef uint64_t EMPTY = 0xFFFFFFFFFFFFFFFF


def lowest_shingles(const uint64_t[::1] words, Py_ssize_t size, Py_ssize_t slot_bits):
    """The lowest shingle of each slot, all bits set in an empty one, and the number of distinct shingles.

    A shingle is the hash of `size` words in a row, given by their hashes; fewer words are one shingle. Its first bits
    name its slot.
    """
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t count, k, w, room = 2
    cdef uint64_t value, at, different = 0
    cdef bint zero = False
    if size < 1 or not 1 <= slot_bits <= 16:
        raise ValueError("expected shingles of one word or more, and 1 to 16 bits for the slots")
    cdef uint64_t[::1] lowest = np.full(1 << slot_bits, 0xFFFFFFFFFFFFFFFF, np.uint64)
    size = min(size, words.shape[0])
    if size == 0:
        return lowest.base, 0
    count = words.shape[0] - size + 1
    while room < 2 * count:
        room *= 2
    cdef uint64_t* known = <uint64_t*>scratch.room(room, sizeof(uint64_t))
    for k in range(count):
        value = words[k]
        for w in range(1, size):
            value = value * GOLDEN + words[k + w]
        value = mixed(value)
        if value == 0:
            different += not zero
            zero = True
        else:
            at = value & <uint64_t>(room - 1)
            while known[at] != 0 and known[at] != value:
                at = (at + 1) & <uint64_t>(room - 1)
            if known[at] == value:
                continue
            known[at] = value
            different += 1
        at = value >> (64 - slot_bits)
        if value < lowest[at]:
            lowest[at] = value
    return lowest.base, different


def lent_slots(const uint64_t[::1] lowest, const int64_t[:, ::1] lenders):
    """The last 16 bits of each slot; an empty slot has those of the first of its lenders that is not, or 0."""
    cdef Py_ssize_t s, k, size = lowest.shape[0]
    cdef int64_t lender
    if lenders.shape[0] != size:
        raise ValueError("expected the lenders of each slot")
    cdef uint16_t[::1] slots = np.zeros(size, np.uint16)
    for s in range(size):
        if lowest[s] != EMPTY:
            slots[s] = <uint16_t>lowest[s]
            continue
        for k in range(lenders.shape[1]):
            lender = lenders[s, k]
            if not 0 <= lender < size:
                raise ValueError("no such slot")
            if lowest[lender] != EMPTY:
                slots[s] = <uint16_t>lowest[lender]
                break
    return slots.base


cdef inline int64_t root_of(int64_t* parent, int64_t k) noexcept nogil:
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k


def unite(int64_t[::1] parent, const int64_t[::1] one, const int64_t[::1] other):
    """Join the clusters of each pair in place: `parent` is for each member the first of its cluster."""
    cdef Py_ssize_t k, size = parent.shape[0]
    cdef int64_t a, b
    if one.shape[0] != other.shape[0]:
        raise ValueError("pairs of different length")
    for k in range(size):
        if not 0 <= parent[k] <= k:
            raise ValueError("the parent of a member is an earlier member or itself")
    for k in range(one.shape[0]):
        if not (0 <= one[k] < size and 0 <= other[k] < size):
            raise ValueError("no such member")
    if size == 0:
        return
    for k in range(one.shape[0]):
        a, b = root_of(&parent[0], one[k]), root_of(&parent[0], other[k])
        if a < b:
            parent[b] = a
        elif b < a:
            parent[a] = b
    for k in range(size):
        parent[k] = parent[parent[k]]


def agreeing_slots(const uint16_t[:, :] slots, const int64_t[::1] one, const int64_t[::1] other):
    """The number of slots in which the members of each pair agree; a row of `slots` is a member."""
    cdef Py_ssize_t k, s, width = slots.shape[1], size = slots.shape[0]
    cdef int32_t same
    cdef const uint16_t* a
    cdef const uint16_t* b
    if one.shape[0] != other.shape[0]:
        raise ValueError("pairs of different length")
    if width and slots.strides[1] != sizeof(uint16_t):
        raise ValueError("the slots of a member are not contiguous")
    cdef int32_t[::1] agree = np.zeros(one.shape[0], np.int32)
    for k in range(one.shape[0]):
        if not (0 <= one[k] < size and 0 <= other[k] < size):
            raise ValueError("no such member")
        a, b, same = &slots[one[k], 0], &slots[other[k], 0], 0
        for s in range(width):
            same += a[s] == b[s]
        agree[k] = same
    return agree.base
