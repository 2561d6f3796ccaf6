"""Memory and validation that the kernels share."""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy

ctypedef fused Number:
    int32_t
    uint64_t


cdef inline const uint8_t[::1] bytes_of(mask):
    """A boolean numpy array as bytes, without a copy if it is contiguous."""
    return mask.astype("?", order="C", copy=False).view("u1")


cdef inline int check_columns(bint fit) except -1:
    if not fit:
        raise ValueError("columns of different lengths")
    return 0


cdef inline int check_parent(const int32_t[::1] parent, Py_ssize_t i) except -1:
    """Raise unless the parent of node i is a node before it."""
    if not 0 <= parent[i] < i:
        raise ValueError(f"node {i} has the parent {parent[i]}")
    return 0


cdef inline int check_runs(const int32_t[::1] starts, Py_ssize_t runs, Py_ssize_t length) except -1:
    """Raise unless `starts` splits a text of this length into runs: columns may come from files."""
    cdef Py_ssize_t r
    if starts.shape[0] != runs + 1:
        raise ValueError(f"{starts.shape[0]} offsets for {runs} runs")
    for r in range(runs):
        if not 0 <= starts[r] <= starts[r + 1] <= length:
            raise ValueError(f"run {r} is outside the text")
    return 0


cdef inline Py_ssize_t lower_bound(const Number* values, Py_ssize_t low, Py_ssize_t high, Number wanted) noexcept nogil:
    """The first place from `low` on, in ascending values, that is not less than `wanted`; `high` if there is none."""
    cdef Py_ssize_t middle
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


cdef struct Column:
    # A growing buffer. Zero it before use and free `data` afterwards, or use a Buffer.
    char* data
    size_t used
    size_t room


cdef inline int make_room(Column* column, size_t more) except -1 nogil:
    """Ensure that `more` bytes fit."""
    cdef size_t room
    cdef char* grown
    if column.used + more > column.room:
        room = (column.used + more) * 2 + 4096
        grown = <char*>realloc(column.data, room)
        if grown == NULL:
            with gil:
                raise MemoryError()
        column.data = grown
        column.room = room
    return 0


cdef inline int push(Column* column, const void* value, size_t width) except -1 nogil:
    make_room(column, width)
    memcpy(column.data + column.used, value, width)
    column.used += width
    return 0


cdef inline int push32(Column* column, int32_t value) except -1 nogil:
    return push(column, &value, 4)


cdef inline int push64(Column* column, uint64_t value) except -1 nogil:
    return push(column, &value, 8)


cdef inline void* added(Column* column, size_t width) except NULL:
    """The address of one more item, to be filled."""
    make_room(column, width)
    column.used += width
    return column.data + column.used - width


cdef inline object filled(array, const Column* column):
    """Copy the contents into a numpy array of the same size, and return it."""
    cdef char[::1] view
    if column.used:
        view = array.view("i1")
        memcpy(&view[0], column.data, column.used)
    return array


cdef class Buffer:
    cdef Column column


cdef enum:
    MOST_TAKEN = 8


cdef class Scratch:
    cdef void* taken[MOST_TAKEN]
    cdef int count
    cdef void* room(self, Py_ssize_t count, size_t width) except NULL
