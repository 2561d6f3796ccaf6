"""The grid of a data table, for the kernels of structures and of plain text."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from webwinnow.page._memory cimport Buffer


cdef enum:
    # header bits of a cell
    COLUMN_HEADER = 1
    ROW_HEADER = 2
    GROUP_HEADER = 4


cdef struct TableCell:
    int32_t node
    int32_t row
    int32_t column
    int32_t rows        # that it covers
    int32_t columns
    int32_t header      # bits


cdef class DataTables:
    cdef const uint16_t[::1] tag
    cdef const int32_t[::1] parent, end, text_start, text_end, attr_node, attr_start
    cdef const uint64_t[::1] style
    cdef const uint8_t[::1] attr_name, roles
    cdef str text, attr_text
    cdef int32_t longest, most_span
    cdef int64_t left               # cells that tables may add
    cdef int colspan, rowspan, role
    cdef Buffer placed, covered     # cells of the table that was placed last; rows from which its columns are free
    cdef int32_t rows, columns      # of that table
    cdef bint is_line               # the table that was asked for last is one row, and has no header cells
    cpdef bint take(self, int64_t count) noexcept
    cpdef bint has_data(self, int32_t table) except -1
    cdef Py_ssize_t place(self, int32_t table, const uint8_t[::1] absent) except -1
    cdef int32_t place_cell(self, int32_t node, int32_t row, int32_t column) except -1
    cdef int put(self, int32_t node, int32_t row, int32_t column, int32_t rows, int32_t columns) except -1
    cdef int32_t end_of(self, int32_t node) except -1
    cdef Py_ssize_t attribute(self, int32_t node, int name) noexcept
    cdef int64_t number_in(self, int32_t node, int name) noexcept
