"""The tree of a page as the HTML standard builds it, for the kernels."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from webwinnow.page._htmlnames cimport MOST_NAMES
from webwinnow.page._htmltokens cimport Attribute, Tokeniser


cdef enum:
    # what a node is
    HTML, MATHML, SVG, TEXT_NODE


cdef struct Dom:
    # A node. Its name or text is a slice of the page or of the tokeniser's arena.
    const char* data
    int32_t size
    int32_t parent
    int32_t first
    int32_t last
    int32_t previous
    int32_t next
    int32_t attributes
    int32_t attribute_count
    uint8_t tag
    uint8_t kind
    uint8_t is_point  # integration point
    bint is_open


cdef struct Numbers:
    # A growing array.
    int32_t* at
    int32_t count
    int32_t room


cdef struct Builder:
    Tokeniser tokens
    Dom* nodes
    int32_t count
    int32_t room
    int32_t elements
    int32_t most_elements
    int64_t effort
    int64_t most_effort
    Numbers open  # the stack of open elements
    int32_t opened[MOST_NAMES]  # how many of a name are open
    Numbers formatting  # the list of active formatting elements
    Numbers template_modes
    int mode
    bint again  # the token is to be processed by the rules of the mode that was switched to
    int32_t head
    int32_t form
    bint frameset_ok
    bint foster
    bint quirks
    bint had_null  # the characters contained NUL, which were removed
    bint skip_newline
    bint plain_text
    bint empty  # the start tag was closed as in XML
    int failed


cdef class HtmlTree:
    cdef Builder builder
    cdef bytes page
    cdef dict attributes_of(self, int32_t i)
    cdef str text_of(self, int32_t top)
