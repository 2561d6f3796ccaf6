"""Characters of Python strings, for the kernels."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object)
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    Py_UCS4 PyUnicode_READ(int kind, void* data, Py_ssize_t index)
    Py_UCS4 PyUnicode_READ_CHAR(object, Py_ssize_t)
    object PyUnicode_FromKindAndData(int kind, const void* buffer, Py_ssize_t size)
    str PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)
    Py_ssize_t PyUnicode_Tailmatch(object, object, Py_ssize_t, Py_ssize_t, int) except -1
    bint Py_UNICODE_ISALNUM(Py_UCS4) nogil
    bint Py_UNICODE_ISALPHA(Py_UCS4) nogil
    bint Py_UNICODE_ISDECIMAL(Py_UCS4) nogil
    bint Py_UNICODE_ISSPACE(Py_UCS4) nogil
    bint Py_UNICODE_ISUPPER(Py_UCS4) nogil
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4) nogil

ctypedef fused Character:
    uint8_t
    uint16_t
    uint32_t


cdef inline bint is_blank(unsigned char c) noexcept nogil:
    """ASCII white space as `str.split` sees it."""
    return c == 32 or 9 <= c <= 13 or 28 <= c <= 31


cdef inline unsigned char lower(unsigned char c) noexcept nogil:
    """ASCII in lower case."""
    return c | 32 if 65 <= c <= 90 else c
