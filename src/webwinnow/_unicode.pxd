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
    bint Py_UNICODE_ISALNUM(Py_UCS4)
    bint Py_UNICODE_ISALPHA(Py_UCS4)
    bint Py_UNICODE_ISDECIMAL(Py_UCS4)
    bint Py_UNICODE_ISSPACE(Py_UCS4)
    bint Py_UNICODE_ISUPPER(Py_UCS4)
    Py_UCS4 Py_UNICODE_TOLOWER(Py_UCS4)

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


cdef inline bint is_cjk(Py_UCS4 c) noexcept nogil:
    """Whether a character counts as a word of its own: Han, kana and Hangul, as in the scorers."""
    return c >= 0x3040 and (c <= 0x30FF or 0x3400 <= c <= 0x9FFF or 0xAC00 <= c <= 0xD7AF)


cdef inline bint is_mark(Py_UCS4 c) noexcept nogil:
    """Whether a character that is no letter is part of a word: a vowel sign or tone mark of an Indic or Thai script."""
    return c >= 0x0300 and (
        c <= 0x036F or 0x0900 <= c <= 0x0DFF and c != 0x0964 and c != 0x0965 or 0x0E30 <= c <= 0x0E4E
        or 0x0EB0 <= c <= 0x0ECD or 0x102B <= c <= 0x103E or 0x17B4 <= c <= 0x17D3
    )
