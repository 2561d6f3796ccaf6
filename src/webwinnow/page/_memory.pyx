# cython: language_level=3
"""Memory that is freed with the object that owns it."""

from libc.stdlib cimport calloc, free


cdef class Buffer:
    """A Column that frees its memory."""

    def __dealloc__(self):
        free(self.column.data)


cdef class Scratch:
    """Zeroed arrays for the time of one call."""

    cdef void* room(self, Py_ssize_t count, size_t width) except NULL:
        """Zeros for `count` items, and one more."""
        cdef void* room = calloc(count + 1, width) if self.count < MOST_TAKEN else NULL
        if room == NULL:
            raise MemoryError
        self.taken[self.count] = room
        self.count += 1
        return room

    def __dealloc__(self):
        cdef int k
        for k in range(self.count):
            free(self.taken[k])
