"""The names of elements that the HTML standard has rules for, and the groups that its rules speak of."""

from libc.stdint cimport uint8_t, uint32_t

cdef enum:
    # in the order of NAMES
    T_NONE, A, ADDRESS, APPLET, AREA, ARTICLE, ASIDE, B, BASE, BASEFONT, BGSOUND, BIG, BLOCKQUOTE, BODY, BR, BUTTON, \
        CAPTION, CENTER, CODE, COL, COLGROUP, DD, DETAILS, DIALOG, DIR, DIV, DL, DT, EM, EMBED, FIELDSET, FIGCAPTION, \
        FIGURE, FONT, FOOTER, FORM, FRAME, FRAMESET, H1, H2, H3, H4, H5, H6, HEAD, HEADER, HGROUP, HR, HTML_, I, IFRAME, \
        IMAGE, IMG, INPUT, KEYGEN, LI, LINK, LISTING, MAIN, MARQUEE, MATH, MENU, META, NAV, NOBR, NOEMBED, NOFRAMES, \
        NOSCRIPT, OBJECT, OL, OPTGROUP, OPTION, P, PARAM, PLAINTEXT, PRE, RB, RP, RT, RTC, RUBY, S, SCRIPT, SEARCH, \
        SECTION, SELECT, SMALL, SOURCE, SPAN, STRIKE, STRONG, STYLE, SUB, SUMMARY, SUP, SVG_, TABLE, TBODY, TD, TEMPLATE, \
        TEXTAREA, TFOOT, TH, THEAD, TITLE, TR, TRACK, TT, U, UL, VAR, WBR, XMP, MI, MO, MN, MS, MTEXT, MGLYPH, \
        MALIGNMARK, ANNOTATION_XML, FOREIGNOBJECT, DESC, AUDIO, CANVAS, VIDEO, NAMES_END

cdef enum:
    # groups, as bits of GROUPS
    SPECIAL = 1
    SCOPE = 1 << 1               # "has an element in scope" stops here
    IMPLIED_END = 1 << 2
    IMPLIED_THOROUGHLY = 1 << 3
    BREAKS_OUT = 1 << 4          # of SVG and MathML
    FORMATTING = 1 << 5
    IN_HEADS = 1 << 6            # start tags that are processed by the rules of "in head" wherever they are
    BLOCK = 1 << 7               # start tags that close a P
    HEADING = 1 << 8
    VOID = 1 << 9                # start tags of void elements without rules of their own
    IGNORED = 1 << 10            # start tags that the body ignores
    CLOSES_IN_SCOPE = 1 << 11    # end tags that close an element in scope, and nothing else
    FOSTERS = 1 << 12            # text and elements directly in it go before the table
    TABLE_PART = 1 << 13         # what a table consists of but rows and cells
    TABLE_BODY = 1 << 14
    CELL = 1 << 15
    AROUND_TABLE = 1 << 16       # end tags that are ignored in any part of a table
    SWALLOWS = 1 << 17           # what follows `<iframe/>` is not read as the page's

cdef enum:
    MOST_NAMES = 256

cdef int GROUPS[MOST_NAMES]

cdef struct Reference:
    const char* name
    const char* value
    uint8_t size
    uint8_t value_size

cdef uint8_t tag_of(const char* text, Py_ssize_t size) noexcept nogil
cdef const Reference* reference_at(const char* text, Py_ssize_t left) noexcept nogil
cdef int fill_references() except -1


cdef inline uint32_t hash_step(uint32_t value, uint8_t c) noexcept nogil:
    """FNV-1a."""
    return (value ^ c) * 16777619


cdef inline uint32_t hash_of(const char* text, Py_ssize_t size) noexcept nogil:
    cdef uint32_t value = <uint32_t>2166136261
    cdef Py_ssize_t k
    for k in range(size):
        value = hash_step(value, <uint8_t>text[k])
    return value
