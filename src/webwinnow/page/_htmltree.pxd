"""The tree of a page as the HTML standard builds it, for the kernels."""

from libc.stdint cimport int32_t, uint8_t, uint32_t


cdef struct Attribute:
    const char* name
    Py_ssize_t name_size
    const char* value
    Py_ssize_t value_size
    uint32_t info  # of the first attribute of a formatting element: the hash of all; then for `_layout`


cdef enum:
    # what a node is
    HTML, MATHML, SVG, TEXT_NODE


cdef struct Dom:
    # A node. Names, values and texts are slices of the page or of the builder's arena.
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
    uint8_t is_point
    bint is_open


cdef enum:
    MOST_OPEN = 500
    MOST_IN_ANY_ORDER = 8  # attributes that are compared in any order
    MOST_COUNTED = 1 << 30  # limits beyond are this one
    MOST_NAMES = 256


cdef struct Builder:
    const char* start
    const char* at
    const char* stop
    Dom* nodes
    int32_t count
    int32_t room
    int32_t elements
    int32_t most  # elements
    Attribute* attributes
    int32_t attribute_count
    int32_t attribute_room
    int32_t most_attributes
    int32_t* slots
    int32_t slot_room
    bint is_slotted  # the attributes of the tag that is read are in `slots`
    char** chunks
    int32_t chunk_count
    int32_t chunk_room
    char* free
    size_t left
    int32_t stack[MOST_OPEN + 2]
    int32_t depth
    int32_t formatting[MOST_OPEN + 2]
    int32_t formatting_count
    int modes[MOST_OPEN + 2]
    int mode_count
    int32_t opened[MOST_NAMES]
    int mode
    int32_t head
    int32_t form
    bint frameset_ok
    bint foster
    bint quirks
    bint is_wide  # the page has characters beyond U+00FF
    bint skip_newline
    bint xml_checked
    bint plain_text
    int failed
    # the tag that is read
    const char* name
    int32_t name_size
    uint8_t tag
    bint closes
    bint self_closing
    bint used
    int32_t first_attribute


cdef class HtmlTree:
    cdef Builder builder
    cdef bytes page
    cdef dict attributes_of(self, int32_t i)
    cdef str text_of(self, int32_t top)
