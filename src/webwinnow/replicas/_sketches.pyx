# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Compiled: MinHashes and clusters. Each has a twin in plain_replicas.py that says what it means."""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free

import numpy as np

from webwinnow._hashing cimport GOLDEN, mixed

cdef uint64_t EMPTY = 0xFFFFFFFFFFFFFFFF


def lowest_shingles(const uint64_t[::1] words, Py_ssize_t size, Py_ssize_t slot_bits):
    """The lowest shingle of each slot and the number of different shingles (see plain_replicas.lowest_shingles)."""
    cdef Py_ssize_t count, k, w, room = 2
    cdef uint64_t value, at, different = 0
    cdef uint64_t* known
    cdef bint zero = False
    if size < 1 or not 1 <= slot_bits <= 16:
        raise ValueError("expected shingles of one word or more, and 1 to 16 bits for the slots")
    found = np.full(1 << slot_bits, 0xFFFFFFFFFFFFFFFF, np.uint64)
    cdef uint64_t[::1] lowest = found
    size = min(size, words.shape[0])
    if size == 0:
        return found, 0
    count = words.shape[0] - size + 1
    while room < 2 * count:
        room *= 2
    known = <uint64_t*>calloc(room, sizeof(uint64_t))
    if known == NULL:
        raise MemoryError
    try:
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
    finally:
        free(known)
    return found, different


def lent_slots(const uint64_t[::1] lowest, const int64_t[:, ::1] lenders):
    """16 bits of each slot, an empty one having those of its first lender (see plain_replicas.lent_slots)."""
    cdef Py_ssize_t s, k, size = lowest.shape[0]
    cdef int64_t lender
    if lenders.shape[0] != size:
        raise ValueError("expected the lenders of each slot")
    found = np.zeros(size, np.uint16)
    cdef uint16_t[::1] slots = found
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
    return found


cdef inline int64_t root_of(int64_t* parent, int64_t k) noexcept nogil:
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k


def unite(int64_t[::1] parent, const int64_t[::1] one, const int64_t[::1] other):
    """Join the clusters of each pair, in place (see plain_replicas.unite)."""
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
    """In how many slots the members of each pair agree (see plain_replicas.agreeing_slots)."""
    cdef Py_ssize_t k, s, width = slots.shape[1], size = slots.shape[0]
    cdef int32_t same
    cdef const uint16_t* a
    cdef const uint16_t* b
    if one.shape[0] != other.shape[0]:
        raise ValueError("pairs of different length")
    if width and slots.strides[1] != sizeof(uint16_t):
        raise ValueError("the slots of a member lie apart")
    found = np.zeros(one.shape[0], np.int32)
    cdef int32_t[::1] agree = found
    for k in range(one.shape[0]):
        if not (0 <= one[k] < size and 0 <= other[k] < size):
            raise ValueError("no such member")
        a, b, same = &slots[one[k], 0], &slots[other[k], 0], 0
        for s in range(width):
            same += a[s] == b[s]
        agree[k] = same
    return found
