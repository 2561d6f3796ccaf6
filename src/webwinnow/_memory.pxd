"""Growing buffers and array access that the kernels share."""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy


cdef inline const uint8_t[::1] bytes_of(mask):
    """A boolean numpy array as bytes, without a copy if it is contiguous."""
    return mask.astype("?", order="C", copy=False).view("u1")


cdef struct Column:
    # A growing buffer. Zero it before use and free `data` after.
    char* data
    size_t used
    size_t room


cdef inline int make_room(Column* column, size_t more) except -1:
    """Ensure that `more` bytes fit."""
    cdef size_t room
    cdef char* grown
    if column.used + more > column.room:
        room = (column.used + more) * 2 + 4096
        grown = <char*>realloc(column.data, room)
        if grown == NULL:
            raise MemoryError()
        column.data = grown
        column.room = room
    return 0


cdef inline int push(Column* column, const void* value, size_t width) except -1:
    make_room(column, width)
    memcpy(column.data + column.used, value, width)
    column.used += width
    return 0


cdef inline int push32(Column* column, int32_t value) except -1:
    return push(column, &value, 4)


cdef inline int push64(Column* column, uint64_t value) except -1:
    return push(column, &value, 8)


cdef inline object filled(array, const Column* column):
    """Copy the contents into a numpy array of the same size, and return it."""
    cdef char[::1] view
    if column.used:
        view = array.view("i1")
        memcpy(&view[0], column.data, column.used)
    return array
