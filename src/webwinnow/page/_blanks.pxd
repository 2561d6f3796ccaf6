"""White space at the beginning of a text: half of a page's characters are white space between blocks."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

from webwinnow.page._unicode cimport Character, Py_UNICODE_ISSPACE


cdef inline Py_ssize_t blanks_end(const Character* data, Py_ssize_t at, Py_ssize_t stop) noexcept nogil:
    cdef Py_ssize_t step = 8 // sizeof(Character)
    cdef uint64_t several, spaces
    if Character is uint8_t:
        spaces = 0x2020202020202020
    elif Character is uint16_t:
        spaces = 0x0020002000200020
    else:
        spaces = 0x0000002000000020
    while at < stop:
        if stop - at >= step:
            memcpy(&several, data + at, 8)
            if several == spaces:
                at += step
                continue
        if data[at] != 32 and data[at] != 10 and not Py_UNICODE_ISSPACE(data[at]):
            break
        at += 1
    return at


cdef inline Py_ssize_t after_blanks(int kind, const void* data, Py_ssize_t at, Py_ssize_t stop) noexcept nogil:
    """The first place from `at` on that is not white space; `stop` if there is none before."""
    if kind == 1:
        return blanks_end(<const uint8_t*>data, at, stop)
    if kind == 2:
        return blanks_end(<const uint16_t*>data, at, stop)
    return blanks_end(<const uint32_t*>data, at, stop)
