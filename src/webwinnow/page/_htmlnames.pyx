# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Tables of element names and of named character references."""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcmp, memcpy

NAMES = (
    "a address applet area article aside b base basefont bgsound big blockquote body br button caption center code col "
    "colgroup dd details dialog dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 "
    "h4 h5 h6 head header hgroup hr html i iframe image img input keygen li link listing main marquee math menu meta nav "
    "nobr noembed noframes noscript object ol optgroup option p param plaintext pre rb rp rt rtc ruby s script search "
    "section select small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th "
    "thead title tr track tt u ul var wbr xmp mi mo mn ms mtext mglyph malignmark annotation-xml foreignobject desc "
    "audio canvas video"
).split()

_GROUPS = {
    SPECIAL: "address applet area article aside base basefont bgsound blockquote body br button caption center col "
    "colgroup dd details dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head "
    "header hgroup hr html iframe img input keygen li link listing main marquee menu meta nav noembed noframes noscript "
    "object ol p param plaintext pre script search section select source style summary table tbody td template textarea "
    "tfoot th thead title tr track ul wbr xmp",
    SCOPE: "applet caption html table td th marquee object select template",
    IMPLIED_END: "dd dt li optgroup option p rb rp rt rtc",
    IMPLIED_THOROUGHLY: "dd dt li optgroup option p rb rp rt rtc caption colgroup tbody td tfoot th thead tr",
    BREAKS_OUT: "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu "
    "meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var",
    FORMATTING: "a b big code em font i nobr s small strike strong tt u",
    IN_HEADS: "base basefont bgsound link meta noframes script style template title",
    BLOCK: "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer header "
    "hgroup main menu nav ol p search section summary ul",
    HEADING: "h1 h2 h3 h4 h5 h6",
    VOID: "area br embed img keygen wbr",
    IGNORED: "caption col colgroup frame head tbody td tfoot th thead tr",
    CLOSES_IN_SCOPE: "address article aside blockquote button center details dialog dir div dl fieldset figcaption figure "
    "footer header hgroup listing main menu nav ol pre search section select summary ul",
    FOSTERS: "table tbody tfoot thead tr",
    TABLE_PART: "caption col colgroup tbody tfoot thead",
    TABLE_BODY: "tbody tfoot thead",
    CELL: "td th",
    AROUND_TABLE: "body caption col colgroup html",
    SWALLOWS: "applet audio canvas iframe noembed noframes noscript script select style template textarea title video xmp",
}

cdef enum:
    SLOTS = 512
    LONGEST_NAME = 16
    REFERENCE_SLOTS = 8192
    LONGEST_REFERENCE = 32

cdef struct Name:
    char text[LONGEST_NAME]
    uint8_t size
    uint8_t tag

# with open addressing
cdef Name TABLE_OF_NAMES[SLOTS]
cdef Reference REFERENCES[REFERENCE_SLOTS]
cdef list _reference_texts = []


cdef inline uint32_t slot_of(uint32_t hashed, uint32_t slots) noexcept nogil:
    return (hashed ^ hashed >> 15) & (slots - 1)


cdef uint8_t tag_of(const char* text, Py_ssize_t size) noexcept nogil:
    cdef uint32_t slot
    if size > LONGEST_NAME:
        return T_NONE
    slot = slot_of(hash_of(text, size), SLOTS)
    while TABLE_OF_NAMES[slot].size:
        if TABLE_OF_NAMES[slot].size == size and memcmp(TABLE_OF_NAMES[slot].text, text, size) == 0:
            return TABLE_OF_NAMES[slot].tag
        slot = (slot + 1) & (SLOTS - 1)
    return T_NONE


cdef const Reference* reference_at(const char* text, Py_ssize_t left) noexcept nogil:
    """The longest named reference at the beginning of a text, after its ampersand; NULL if there is none."""
    cdef uint32_t hashes[LONGEST_REFERENCE + 2]
    cdef uint32_t value = <uint32_t>2166136261, slot
    cdef Py_ssize_t size = 0
    cdef uint8_t c = 0
    while size < left and size <= LONGEST_REFERENCE and c != 59:
        c = <uint8_t>text[size]
        if not (97 <= (c | 32) <= 122 or 48 <= c <= 57 or c == 59):
            break
        value = hash_step(value, c)
        hashes[size] = value
        size += 1
    while size > 1:
        slot = slot_of(hashes[size - 1], REFERENCE_SLOTS)
        while REFERENCES[slot].size:
            if REFERENCES[slot].size == size and memcmp(REFERENCES[slot].name, text, size) == 0:
                return &REFERENCES[slot]
            slot = (slot + 1) & (REFERENCE_SLOTS - 1)
        size -= 1
    return NULL


cdef int fill_references() except -1:
    """Fill the table of references from the standard library, at the first page."""
    cdef bytes name, text
    cdef uint32_t slot
    if _reference_texts:
        return 0
    from html.entities import html5

    for key, characters in html5.items():
        name, text = key.encode(), characters.encode()
        _reference_texts.append((name, text))
        slot = slot_of(hash_of(name, len(name)), REFERENCE_SLOTS)
        while REFERENCES[slot].size:
            slot = (slot + 1) & (REFERENCE_SLOTS - 1)
        REFERENCES[slot] = Reference(name, text, len(name), len(text))
    return 0


def _fill_names():
    cdef bytes encoded
    cdef uint32_t slot
    code = {name: k for k, name in enumerate(NAMES, 1)}
    assert len(NAMES) + 1 == NAMES_END
    for name, k in code.items():
        encoded = name.encode()
        slot = slot_of(hash_of(encoded, len(encoded)), SLOTS)
        while TABLE_OF_NAMES[slot].size:
            slot = (slot + 1) & (SLOTS - 1)
        memcpy(TABLE_OF_NAMES[slot].text, <const char*>encoded, len(encoded))
        TABLE_OF_NAMES[slot].size, TABLE_OF_NAMES[slot].tag = len(encoded), k
    for group, names in _GROUPS.items():
        for name in names.split():
            GROUPS[code[name]] |= group


_fill_names()
