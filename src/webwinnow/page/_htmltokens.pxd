"""The tokeniser of the HTML standard (WHATWG, 13.2.5), for the kernels."""

from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcmp, strlen


cdef enum:
    # kinds of tokens
    START_TAG, END_TAG, CHARACTERS, DOCTYPE, COMMENT, END_OF_FILE

cdef enum:
    # how `decoded` reads characters
    REFERENCES = 1
    IN_VALUE = 2
    DROPS_NULL = 4
    REPLACES_NULL = 8
    EMPTY_END_TAGS = 16  # `</>` is nothing

cdef struct Attribute:
    const char* name
    Py_ssize_t name_size
    const char* value
    Py_ssize_t value_size
    uint32_t info  # of the first attribute of a formatting element: the hash of all; then for `_layout`

cdef struct Tokeniser:
    # Names, values and texts are slices of the page or of the arena.
    const char* start
    const char* at
    const char* stop
    bint out_of_memory
    # the last token
    int kind
    const char* name
    int32_t name_size
    uint8_t tag  # T_NONE if it is no tag, or has no rules
    bint self_closing
    int32_t first_attribute
    bint used  # its attributes are kept
    const char* text  # of characters, and what follows `<!doctype`
    Py_ssize_t size
    bint plain  # the text has no references, NUL and carriage returns; the document type has its `>`
    bint in_cdata
    # attributes of all elements
    Attribute* attributes
    int32_t attribute_count
    int32_t attribute_room
    int32_t most_attributes  # of a tag
    int32_t* slots
    int32_t slot_room
    bint is_slotted  # the attributes of the last tag are in `slots`
    # the arena
    char** chunks
    int32_t chunk_count
    int32_t chunk_room
    char* free
    size_t left


cdef inline bint is_space(uint8_t c) noexcept nogil:
    """ASCII white space of the standard."""
    return c == 32 or c == 10 or c == 9 or c == 13 or c == 12


cdef inline bint same_name(const Attribute* left, const Attribute* right) noexcept nogil:
    return left.name_size == right.name_size and memcmp(left.name, right.name, left.name_size) == 0

cdef bint equals_folded(const char* text, Py_ssize_t size, const char* word) noexcept nogil

cdef inline bint is_word(const char* text, Py_ssize_t size, const char* word) noexcept nogil:
    """Whether a text is a lower-case word, in any case."""
    return <size_t>size == strlen(word) and equals_folded(text, size, word)

cdef int next_token(Tokeniser* t, bint in_foreign) noexcept nogil
cdef Py_ssize_t decoded(Tokeniser* t, const char** text, Py_ssize_t size, int how) noexcept nogil
cdef void read_raw_text(Tokeniser* t, bint references) noexcept nogil
cdef bint is_closed_as_in_xml(Tokeniser* t) noexcept nogil
cdef bint means_quirks(Tokeniser* t) noexcept nogil
cdef int push_attribute(Tokeniser* t, Attribute attribute) noexcept nogil
cdef char* arena(Tokeniser* t, size_t size) noexcept nogil
cdef void free_all(Tokeniser* t) noexcept nogil
