"""Characters that links of headings to themselves consist of."""

from libc.stdint cimport int32_t

from webwinnow.page._unicode cimport (
    Py_UNICODE_ISSPACE, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ
)


cdef inline bint is_space_or_control(Py_UCS4 c) noexcept:
    """White space, or a control character, which is written as a space (render.walk.printable)."""
    if c < 128:
        return c <= 32 or c == 127
    return c < 160 or Py_UNICODE_ISSPACE(c)


cdef inline bint is_icon(Py_UCS4 c) noexcept:
    """A character for private use: the glyphs of icon fonts."""
    return 0xE000 <= c <= 0xF8FF or c >= 0xF0000


cdef inline bint is_sign(Py_UCS4 c) noexcept:
    """A character that links to headings consist of: ¶ # § U+200B, link, chain, anchor, and glyphs of icon fonts."""
    if c < 128:
        return c == 35
    return (
        c == 0xB6 or c == 0xA7 or c == 0x200B or c == 0x1F517 or c == 0x26D3 or c == 0x2693 or is_icon(c)
    )


cdef inline bint has_sign(str text, int32_t start, int32_t stop) except -1:
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef int32_t at
    if not 0 <= start <= stop <= PyUnicode_GET_LENGTH(text):
        raise ValueError("a node is outside the text")
    for at in range(start, stop):
        if is_sign(PyUnicode_READ(kind, data, at)):
            return True
    return False
