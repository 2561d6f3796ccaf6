# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The columns of a tree as few bytes and back, and whether they fit together (`webwinnow.treebytes`)."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

import numpy as np

from webwinnow.page._memory cimport Buffer, make_room

cdef enum:
    FROM_BEFORE, FROM_PLACE, FROM_COLUMN  # what is subtracted: the number before, its own place, the column before
    LONGEST = 5  # bytes of a difference of two numbers of 32 bits


cdef inline int64_t base_of(int how, Py_ssize_t i, int64_t before, const int32_t* column) noexcept nogil:
    return before if how == FROM_BEFORE else i if how == FROM_PLACE else column[i]


def pack_numbers(list columns, list bases):
    """Columns of numbers as their differences (`FROM_BEFORE` and so on), seven bits to a byte, low bits first."""
    cdef Buffer buffer = Buffer()
    cdef const int32_t[::1] column, earlier = None
    cdef const int32_t* other
    cdef int64_t before, step
    cdef uint64_t bits
    cdef Py_ssize_t i, size
    cdef int how
    cdef uint8_t* at
    for column, how in zip(columns, bases, strict=True):
        size = column.shape[0]
        if how == FROM_COLUMN and (earlier is None or earlier.shape[0] != size):
            raise ValueError("columns of different lengths")
        other = &earlier[0] if how == FROM_COLUMN and size else NULL
        make_room(&buffer.column, LONGEST * size + 1)
        at = <uint8_t*>buffer.column.data + buffer.column.used
        before = 0
        for i in range(size):
            step = column[i] - base_of(how, i, before, other)
            before = column[i]
            bits = (<uint64_t>step << 1) ^ <uint64_t>(step >> 63)  # small for small negative numbers too
            while bits >= 128:
                at[0] = <uint8_t>(bits | 128)
                at += 1
                bits >>= 7
            at[0] = <uint8_t>bits
            at += 1
        buffer.column.used = at - <uint8_t*>buffer.column.data
        earlier = column
    return PyBytes_FromStringAndSize(buffer.column.data, buffer.column.used)


def unpack_numbers(const uint8_t[::1] data, Py_ssize_t at, list counts, list bases):
    """The columns of `pack_numbers` that begin at a place of `data`, read-only, and the place after them."""
    cdef Py_ssize_t i, size, length = data.shape[0]
    cdef int32_t[::1] column, earlier = None
    cdef const int32_t* other
    cdef int64_t before, value
    cdef uint64_t bits
    cdef int how, shift
    found = []
    for size, how in zip(counts, bases, strict=True):
        if size < 0 or size > length - at or (how == FROM_COLUMN and (earlier is None or earlier.shape[0] != size)):
            raise ValueError("columns that do not fit")
        array = np.empty(size, np.int32)
        column = array
        other = &earlier[0] if how == FROM_COLUMN and size else NULL
        before = 0
        for i in range(size):
            bits = data[at] if at < length else 128  # most numbers are one byte
            at += 1
            shift = 7
            while bits >> shift:  # the highest bit says that another byte follows, which takes its place
                if at >= length or shift > 7 * (LONGEST - 1):
                    raise ValueError("a number that does not end")
                bits ^= (<uint64_t>data[at] ^ 1) << shift
                shift += 7
                at += 1
            value = base_of(how, i, before, other) + (<int64_t>(bits >> 1) ^ -<int64_t>(bits & 1))
            if value != <int32_t>value:
                raise ValueError("a number of more than 32 bits")
            column[i] = <int32_t>value
            before = value
        earlier = column
        array.setflags(write=False)
        found.append(array)
    return found, at


cdef bint is_rising(const int32_t[::1] offsets, Py_ssize_t end) noexcept:
    cdef Py_ssize_t k, last = offsets.shape[0] - 1
    if last < 0 or offsets[0] != 0 or offsets[last] != end:
        return False
    for k in range(last):
        if offsets[k] > offsets[k + 1]:
            return False
    return True


cdef bint is_within(const int32_t[::1] values, Py_ssize_t end) noexcept:
    cdef Py_ssize_t k
    for k in range(values.shape[0]):
        if not 0 <= values[k] < end:
            return False
    return True


def is_sound(tree, Py_ssize_t tags, Py_ssize_t custom_tag, Py_ssize_t attributes):
    """Whether the columns of a tree refer to nodes, text and names that exist; their lengths fit together already."""
    cdef const int32_t[::1] parent = tree.parent, end = tree.end, start = tree.text_start, stop = tree.text_end
    cdef const uint16_t[::1] tag = tree.tag
    cdef const uint8_t[::1] name = tree.attr_name
    cdef Py_ssize_t i, nodes = tag.shape[0], characters = len(tree.text), most = custom_tag + len(tree.custom_tags)
    if nodes < 1 or parent[0] != -1:
        return False
    for i in range(nodes):
        if i and not 0 <= parent[i] < i:
            return False
        if not i < end[i] <= nodes or not (tag[i] < tags or custom_tag <= tag[i] < most):
            return False
        if not 0 <= start[i] <= stop[i] <= characters:
            return False
    for i in range(name.shape[0]):
        if name[i] >= attributes:
            return False
    return (
        is_rising(tree.run_start, characters)
        and is_within(tree.run_owner, nodes)
        and is_within(tree.run_before, nodes + 1)
        and is_within(tree.attr_node, nodes)
        and is_rising(tree.attr_start, len(tree.attr_text))
    )
