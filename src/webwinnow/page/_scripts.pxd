"""Characters of scripts that are written without spaces between words, for the kernels that count words."""


cdef inline bint is_cjk(Py_UCS4 c) noexcept nogil:
    """Whether a character counts as a word of its own: Han, kana and Hangul, as in the scorers."""
    return c >= 0x3040 and (c <= 0x30FF or 0x3400 <= c <= 0x9FFF or 0xAC00 <= c <= 0xD7AF)


cdef inline bint is_mark(Py_UCS4 c) noexcept nogil:
    """Whether a character that is no letter is part of a word: a vowel sign or tone mark of an Indic or Thai script."""
    return c >= 0x0300 and (
        c <= 0x036F or 0x0900 <= c <= 0x0DFF and c != 0x0964 and c != 0x0965 or 0x0E30 <= c <= 0x0E4E
        or 0x0EB0 <= c <= 0x0ECD or 0x102B <= c <= 0x103E or 0x17B4 <= c <= 0x17D3
    )
