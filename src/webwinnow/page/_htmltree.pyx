# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Tree construction of the HTML standard (WHATWG, 13.2), from UTF-8 in one pass without the GIL.

Comments are left out, and a template's contents are its children. A page with more than `MOST_OPEN` open elements is left
to turbohtml, so each token takes bounded time. Where turbohtml departs from the standard this does, too, since both build
trees of pages: tests/test_htmltree.py compares them.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove, memset

from webwinnow.page._unicode cimport lower
from webwinnow.page.markup import is_shadow_root

cdef enum:
    # element names; in the order of NAMES
    T_NONE, A, ADDRESS, APPLET, AREA, ARTICLE, ASIDE, B, BASE, BASEFONT, BGSOUND, BIG, BLOCKQUOTE, BODY, BR, BUTTON, \
        CAPTION, CENTER, CODE, COL, COLGROUP, DD, DETAILS, DIALOG, DIR, DIV, DL, DT, EM, EMBED, FIELDSET, FIGCAPTION, \
        FIGURE, FONT, FOOTER, FORM, FRAME, FRAMESET, H1, H2, H3, H4, H5, H6, HEAD, HEADER, HGROUP, HR, HTML_, I, IFRAME, \
        IMAGE, IMG, INPUT, KEYGEN, LI, LINK, LISTING, MAIN, MARQUEE, MATH, MENU, META, NAV, NOBR, NOEMBED, NOFRAMES, \
        NOSCRIPT, OBJECT, OL, OPTGROUP, OPTION, P, PARAM, PLAINTEXT, PRE, RB, RP, RT, RTC, RUBY, S, SCRIPT, SEARCH, \
        SECTION, SELECT, SMALL, SOURCE, SPAN, STRIKE, STRONG, STYLE, SUB, SUMMARY, SUP, SVG_, TABLE, TBODY, TD, TEMPLATE, \
        TEXTAREA, TFOOT, TH, THEAD, TITLE, TR, TRACK, TT, U, UL, VAR, WBR, XMP, MI, MO, MN, MS, MTEXT, MGLYPH, \
        MALIGNMARK, ANNOTATION_XML, FOREIGNOBJECT, DESC, AUDIO, CANVAS, VIDEO, NAMES_END

cdef enum:
    # properties of names
    SPECIAL = 1
    SCOPE = 2           # "has an element in scope" stops here
    IMPLIED_END = 4
    IMPLIED_THOROUGHLY = 8
    BREAKS_OUT = 16     # of SVG and MathML
    HEADING = 32
    TABLE_CONTEXT = 64  # text and elements in them are foster-parented
    FORMATS = 128
    SWALLOWS = 256

cdef enum:
    # what a start tag in the body does
    AS_OTHER, AS_HEAD, AS_BLOCK, AS_HEADING, AS_PRE, AS_FORM, AS_LI, AS_DD, AS_PLAINTEXT, AS_BUTTON, AS_A, AS_FORMAT, \
        AS_NOBR, AS_OBJECT, AS_TABLE, AS_VOID, AS_INPUT, AS_SOURCE, AS_HR, AS_IMAGE, AS_TEXTAREA, AS_XMP, AS_IFRAME, \
        AS_NOEMBED, AS_SELECT, AS_OPTION, AS_OPTGROUP, AS_RB, AS_RT, AS_MATH, AS_SVG, AS_NOTHING, AS_HTML, AS_BODY, \
        AS_FRAMESET

cdef enum:
    # insertion modes
    INITIAL, BEFORE_HTML, BEFORE_HEAD, IN_HEAD, IN_HEAD_NOSCRIPT, AFTER_HEAD, IN_BODY, IN_TABLE, IN_CAPTION, \
        IN_COLUMN_GROUP, IN_TABLE_BODY, IN_ROW, IN_CELL, IN_TEMPLATE, AFTER_BODY, IN_FRAMESET, AFTER_FRAMESET, \
        AFTER_AFTER_BODY, AFTER_AFTER_FRAMESET

cdef enum:
    # reasons to stop, in HtmlTree.__init__
    TOO_DEEP = 1
    TOO_MANY
    TOO_ODD
    XML_CLOSED
    NO_MEMORY

cdef enum:
    # integration points
    MATHML_TEXT = 1
    HTML_INSIDE = 2
    XML_ANNOTATION = 4

cdef enum:
    MARKER = -1
    GENERAL, LIST_ITEM, IN_BUTTON, IN_TABLES  # kinds of scope

NAMES = (
    "a address applet area article aside b base basefont bgsound big blockquote body br button caption center code col "
    "colgroup dd details dialog dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 "
    "h4 h5 h6 head header hgroup hr html i iframe image img input keygen li link listing main marquee math menu meta nav "
    "nobr noembed noframes noscript object ol optgroup option p param plaintext pre rb rp rt rtc ruby s script search "
    "section select small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th "
    "thead title tr track tt u ul var wbr xmp mi mo mn ms mtext mglyph malignmark annotation-xml foreignobject desc "
    "audio canvas video"
).split()

_PROPERTIES = {
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
    HEADING: "h1 h2 h3 h4 h5 h6",
    TABLE_CONTEXT: "table tbody tfoot thead tr",
    FORMATS: "a b big code em font i nobr s small strike strong tt u",
    SWALLOWS: "applet audio canvas iframe noembed noframes noscript script select style template textarea title video xmp",
}
_STARTS = {
    AS_HEAD: "base basefont bgsound link meta noframes script style template title",
    AS_BLOCK: "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer header "
    "hgroup main menu nav ol p search section summary ul",
    AS_HEADING: "h1 h2 h3 h4 h5 h6",
    AS_PRE: "pre listing",
    AS_FORM: "form",
    AS_LI: "li",
    AS_DD: "dd dt",
    AS_PLAINTEXT: "plaintext",
    AS_BUTTON: "button",
    AS_A: "a",
    AS_FORMAT: "b big code em font i s small strike strong tt u",
    AS_NOBR: "nobr",
    AS_OBJECT: "applet marquee object",
    AS_TABLE: "table",
    AS_VOID: "area br embed img keygen wbr",
    AS_INPUT: "input",
    AS_SOURCE: "param source track",
    AS_HR: "hr",
    AS_IMAGE: "image",
    AS_TEXTAREA: "textarea",
    AS_XMP: "xmp",
    AS_IFRAME: "iframe",
    AS_NOEMBED: "noembed",
    AS_SELECT: "select",
    AS_OPTION: "option",
    AS_OPTGROUP: "optgroup",
    AS_RB: "rb rtc",
    AS_RT: "rp rt",
    AS_MATH: "math",
    AS_SVG: "svg",
    AS_NOTHING: "caption col colgroup frame head tbody td tfoot th thead tr",
    AS_HTML: "html",
    AS_BODY: "body",
    AS_FRAMESET: "frameset",
}
_CLOSES_IN_SCOPE = (
    "address article aside blockquote button center details dialog dir div dl fieldset figcaption figure footer header "
    "hgroup listing main menu nav ol pre search section select summary ul"
)

cdef enum:
    SLOTS = 512
    LONGEST_NAME = 16

cdef struct Name:
    char text[LONGEST_NAME]
    uint8_t size
    uint8_t tag

cdef Name TABLE_OF_NAMES[SLOTS]
cdef int PROPERTIES[MOST_NAMES]
cdef uint8_t START[MOST_NAMES]
cdef bint CLOSES_IN_SCOPE[MOST_NAMES]
cdef uint8_t ENDS_TEXT[256]   # bytes of text that need a look
cdef uint8_t ENDS_NAME[256]   # of a tag
cdef uint8_t IS_SPACE[256]
cdef uint8_t IS_ALNUM[256]


cdef inline uint32_t slot_of(const char* text, Py_ssize_t size) noexcept nogil:
    cdef uint32_t value = 2166136261
    cdef Py_ssize_t k
    for k in range(size):
        value = (value ^ <uint8_t>text[k]) * 16777619
    return (value ^ value >> 15) & (SLOTS - 1)


cdef inline uint8_t tag_of(const char* text, Py_ssize_t size) noexcept nogil:
    cdef uint32_t slot
    if size > LONGEST_NAME:
        return T_NONE
    slot = slot_of(text, size)
    while TABLE_OF_NAMES[slot].size:
        if TABLE_OF_NAMES[slot].size == size and memcmp(TABLE_OF_NAMES[slot].text, text, size) == 0:
            return TABLE_OF_NAMES[slot].tag
        slot = (slot + 1) & (SLOTS - 1)
    return T_NONE


def _fill_tables():
    cdef bytes encoded
    cdef uint32_t slot
    code = {name: k for k, name in enumerate(NAMES, 1)}
    assert len(NAMES) + 1 == NAMES_END
    for name, k in code.items():
        encoded = name.encode()
        slot = slot_of(encoded, len(encoded))
        while TABLE_OF_NAMES[slot].size:
            slot = (slot + 1) & (SLOTS - 1)
        memcpy(TABLE_OF_NAMES[slot].text, <const char*>encoded, len(encoded))
        TABLE_OF_NAMES[slot].size = len(encoded)
        TABLE_OF_NAMES[slot].tag = k
    for flag, names in _PROPERTIES.items():
        for name in names.split():
            PROPERTIES[code[name]] |= flag
    for group, names in _STARTS.items():
        for name in names.split():
            START[code[name]] = group
    for name in _CLOSES_IN_SCOPE.split():
        CLOSES_IN_SCOPE[code[name]] = True
    for c in b"<&\r\0":
        ENDS_TEXT[c] = 1
    for c in b" \t\n\f\r/>":
        ENDS_NAME[c] = 1
    for c in b" \t\n\f\r":
        IS_SPACE[c] = 1
    for c in range(48, 123):
        IS_ALNUM[c] = chr(c).isalnum()


_fill_tables()


# Named character references, with open addressing; filled from the standard library at the first page

cdef enum:
    REFERENCE_SLOTS = 8192
    LONGEST_REFERENCE = 32

cdef struct Reference:
    const char* name
    const char* value
    uint8_t size
    uint8_t value_size

cdef Reference REFERENCES[REFERENCE_SLOTS]
cdef list _reference_texts = []


cdef int fill_references() except -1:
    cdef uint32_t value
    cdef Py_ssize_t k
    cdef bytes name, text
    if _reference_texts:
        return 0
    from html.entities import html5

    for key, characters in html5.items():
        name, text = key.encode(), characters.encode()
        _reference_texts.append((name, text))
        value = 2166136261
        for k in range(len(name)):
            value = (value ^ <uint8_t>name[k]) * 16777619
        value = (value ^ value >> 15) & (REFERENCE_SLOTS - 1)
        while REFERENCES[value].size:
            value = (value + 1) & (REFERENCE_SLOTS - 1)
        REFERENCES[value].name = name
        REFERENCES[value].size = len(name)
        REFERENCES[value].value = text
        REFERENCES[value].value_size = len(text)
    return 0


cdef Reference* reference_at(const char* text, Py_ssize_t left) noexcept nogil:
    """The longest named reference at the beginning of a text, after its ampersand; NULL if there is none."""
    cdef uint32_t hashes[LONGEST_REFERENCE + 2]
    cdef uint32_t value = 2166136261, slot
    cdef Py_ssize_t size = 0
    while size < left and size <= LONGEST_REFERENCE:
        if not IS_ALNUM[<uint8_t>text[size]] and text[size] != 59:
            break
        value = (value ^ <uint8_t>text[size]) * 16777619
        hashes[size] = value
        size += 1
        if text[size - 1] == 59:
            break
    while size > 1:
        value = hashes[size - 1]
        slot = (value ^ value >> 15) & (REFERENCE_SLOTS - 1)
        while REFERENCES[slot].size:
            if REFERENCES[slot].size == size and memcmp(REFERENCES[slot].name, text, size) == 0:
                return &REFERENCES[slot]
            slot = (slot + 1) & (REFERENCE_SLOTS - 1)
        size -= 1
    return NULL


cdef uint32_t WINDOWS_1252[32]
for _k, _code in enumerate(
    (0x20AC, 0, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0, 0x17D, 0, 0, 0x2018,
     0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0, 0x17E, 0x178)
):
    WINDOWS_1252[_k] = _code


cdef int write_code(uint32_t code, char* out) noexcept nogil:
    """Write a code point as UTF-8; return its size."""
    if code < 0x80:
        out[0] = <char>code
        return 1
    if code < 0x800:
        out[0] = <char>(0xC0 | code >> 6)
        out[1] = <char>(0x80 | code & 0x3F)
        return 2
    if code < 0x10000:
        out[0] = <char>(0xE0 | code >> 12)
        out[1] = <char>(0x80 | code >> 6 & 0x3F)
        out[2] = <char>(0x80 | code & 0x3F)
        return 3
    out[0] = <char>(0xF0 | code >> 18)
    out[1] = <char>(0x80 | code >> 12 & 0x3F)
    out[2] = <char>(0x80 | code >> 6 & 0x3F)
    out[3] = <char>(0x80 | code & 0x3F)
    return 4


cdef Py_ssize_t numeric_at(const char* text, Py_ssize_t left, uint32_t* code) noexcept nogil:
    """The code of a numeric reference and its length after `&#`; 0 if there is no digit."""
    cdef Py_ssize_t k = 0, start = 0
    cdef uint32_t value = 0
    cdef uint8_t c
    cdef bint hexadecimal = left > 0 and (text[0] | 32) == 120
    if hexadecimal:
        k = start = 1
    while k < left:
        c = <uint8_t>text[k]
        if 48 <= c <= 57:
            c -= 48
        elif hexadecimal and 97 <= (c | 32) <= 102:
            c = (c | 32) - 87
        else:
            break
        if value < 0x110000:
            value = value * (16 if hexadecimal else 10) + c
        k += 1
    if k == start:
        return 0
    if 0x80 <= value < 0xA0 and WINDOWS_1252[value - 0x80]:
        value = WINDOWS_1252[value - 0x80]
    if value == 0 or value > 0x10FFFF or 0xD800 <= value < 0xE000:
        value = 0xFFFD
    code[0] = value
    return k + 1 if k < left and text[k] == 59 else k


# Memory

cdef char* arena(Builder* b, size_t size) noexcept nogil:
    """Memory that stays where it is until the tree is freed; NULL if there is none."""
    cdef size_t room
    cdef char* chunk
    cdef char** grown
    if size > b.left:
        room = size if size > 65536 else 65536
        chunk = <char*>malloc(room)
        if b.chunk_count == b.chunk_room:
            grown = <char**>realloc(b.chunks, (b.chunk_room * 2 + 8) * sizeof(char*))
            if grown == NULL:
                free(chunk)
                chunk = NULL
            else:
                b.chunks = grown
                b.chunk_room = b.chunk_room * 2 + 8
        if chunk == NULL:
            b.failed = NO_MEMORY
            return NULL
        b.chunks[b.chunk_count] = chunk
        b.chunk_count += 1
        b.free = chunk
        b.left = room
    chunk = b.free
    b.free += size
    b.left -= size
    return chunk


cdef int32_t new_node(Builder* b) noexcept nogil:
    """The number of one more node; 0, the document, if there is no room."""
    cdef Dom* grown
    cdef Dom* node
    if b.count == b.room:
        grown = <Dom*>realloc(b.nodes, (<size_t>b.room * 2 + 512) * sizeof(Dom))
        if grown == NULL:
            b.failed = NO_MEMORY
            return 0
        b.nodes = grown
        b.room = b.room * 2 + 512
    node = b.nodes + b.count
    node.parent = node.first = node.last = node.previous = node.next = -1
    node.attributes = node.attribute_count = 0
    node.tag = node.is_point = 0
    node.is_open = False
    b.count += 1
    return b.count - 1


cdef void detach(Builder* b, int32_t i) noexcept nogil:
    cdef Dom* node = b.nodes + i
    if node.parent < 0:
        return
    if node.previous >= 0:
        b.nodes[node.previous].next = node.next
    else:
        b.nodes[node.parent].first = node.next
    if node.next >= 0:
        b.nodes[node.next].previous = node.previous
    else:
        b.nodes[node.parent].last = node.previous
    node.parent = node.previous = node.next = -1


cdef inline void attach(Builder* b, int32_t i, int32_t parent, int32_t before) noexcept nogil:
    """Make a node a child: the last one, or the one before `before`."""
    cdef Dom* node = b.nodes + i
    cdef int32_t previous = b.nodes[before].previous if before >= 0 else b.nodes[parent].last
    node.parent = parent
    node.previous = previous
    node.next = before
    if previous >= 0:
        b.nodes[previous].next = i
    else:
        b.nodes[parent].first = i
    if before >= 0:
        b.nodes[before].previous = i
    else:
        b.nodes[parent].last = i


# The stack of open elements, and scopes (13.2.4.2)

cdef inline int32_t current(Builder* b) noexcept nogil:
    return b.stack[b.depth - 1]


cdef inline bint is_html(Builder* b, int32_t i, int tag) noexcept nogil:
    return b.nodes[i].tag == tag and b.nodes[i].kind == HTML


cdef inline int properties(Builder* b, int32_t i) noexcept nogil:
    """Of an HTML element; of others they depend on the namespace."""
    cdef int point
    if b.nodes[i].kind == HTML:
        return PROPERTIES[b.nodes[i].tag]
    point = b.nodes[i].is_point
    if b.nodes[i].kind == MATHML:
        return SPECIAL | SCOPE if point & (MATHML_TEXT | XML_ANNOTATION) else 0
    return SPECIAL | SCOPE if point else 0


cdef inline void push_open(Builder* b, int32_t i) noexcept nogil:
    if b.depth >= MOST_OPEN:
        if not b.failed:
            b.failed = TOO_DEEP
        return
    b.stack[b.depth] = i
    b.depth += 1
    b.nodes[i].is_open = True
    if b.nodes[i].kind == HTML:
        b.opened[b.nodes[i].tag] += 1


cdef inline void forget_open(Builder* b, int32_t i) noexcept nogil:
    b.nodes[i].is_open = False
    if b.nodes[i].kind == HTML:
        b.opened[b.nodes[i].tag] -= 1


cdef inline void pop(Builder* b) noexcept nogil:
    if b.depth:
        b.depth -= 1
        forget_open(b, b.stack[b.depth])


cdef void remove_open(Builder* b, int32_t i) noexcept nogil:
    cdef int32_t k = b.depth - 1
    while k >= 0 and b.stack[k] != i:
        k -= 1
    if k >= 0:
        memmove(b.stack + k, b.stack + k + 1, (b.depth - k - 1) * sizeof(int32_t))
        b.depth -= 1
        forget_open(b, i)


cdef inline bint stops(Builder* b, int32_t i, int scope) noexcept nogil:
    cdef int tag = b.nodes[i].tag
    if scope == IN_TABLES:
        return b.nodes[i].kind == HTML and (tag == TABLE or tag == HTML_ or tag == TEMPLATE)
    if properties(b, i) & SCOPE:
        return True
    if b.nodes[i].kind != HTML:
        return False
    return (scope == LIST_ITEM and (tag == OL or tag == UL)) or (scope == IN_BUTTON and tag == BUTTON)


cdef bint in_scope(Builder* b, int tag, int scope) noexcept nogil:
    cdef int32_t k
    if not b.opened[tag]:
        return False
    for k in range(b.depth - 1, -1, -1):
        if is_html(b, b.stack[k], tag):
            return True
        if stops(b, b.stack[k], scope):
            return False
    return False


cdef bint node_in_scope(Builder* b, int32_t node) noexcept nogil:
    cdef int32_t k
    for k in range(b.depth - 1, -1, -1):
        if b.stack[k] == node:
            return True
        if stops(b, b.stack[k], GENERAL):
            return False
    return False


cdef bint heading_in_scope(Builder* b) noexcept nogil:
    cdef int32_t k
    for k in range(b.depth - 1, -1, -1):
        if b.nodes[b.stack[k]].kind == HTML and PROPERTIES[b.nodes[b.stack[k]].tag] & HEADING:
            return True
        if stops(b, b.stack[k], GENERAL):
            return False
    return False


cdef void pop_until(Builder* b, int tag) noexcept nogil:
    """Pop elements, the last with this name included."""
    cdef bint found = False
    while b.depth and not found:
        found = is_html(b, current(b), tag)
        pop(b)


cdef inline void imply_ends(Builder* b, int but) noexcept nogil:
    while b.depth and b.nodes[current(b)].tag != but and properties(b, current(b)) & IMPLIED_END:
        pop(b)


cdef void close_p(Builder* b) noexcept nogil:
    imply_ends(b, P)
    pop_until(b, P)


cdef inline void close_p_in_scope(Builder* b) noexcept nogil:
    if b.opened[P] and in_scope(b, P, IN_BUTTON):
        close_p(b)


# Insertion (13.2.6.1)

cdef void place(Builder* b, int32_t target, int32_t* parent, int32_t* before) noexcept nogil:
    """The appropriate place for inserting a node: under `target`, or foster-parented."""
    cdef int32_t k
    parent[0], before[0] = target, -1
    if not b.foster or b.nodes[target].kind != HTML or not PROPERTIES[b.nodes[target].tag] & TABLE_CONTEXT:
        return
    for k in range(b.depth - 1, -1, -1):
        if is_html(b, b.stack[k], TEMPLATE):
            parent[0] = b.stack[k]
            return
        if is_html(b, b.stack[k], TABLE):
            if b.nodes[b.stack[k]].parent >= 0:
                before[0] = b.stack[k]
                parent[0] = b.nodes[b.stack[k]].parent
            else:
                parent[0] = b.stack[k - 1]
            return
    parent[0] = b.stack[0]


cdef inline void put(Builder* b, int32_t i, int32_t target) noexcept nogil:
    cdef int32_t parent, before
    place(b, target, &parent, &before)
    attach(b, i, parent, before)


cdef inline void insert_text(Builder* b, const char* text, Py_ssize_t size) noexcept nogil:
    cdef int32_t i
    if not size:
        return
    i = new_node(b)
    if not i:
        return
    b.nodes[i].kind = TEXT_NODE
    b.nodes[i].data = text
    b.nodes[i].size = <int32_t>size
    put(b, i, current(b))


cdef inline void count_element(Builder* b) noexcept nogil:
    b.elements += 1
    if b.elements > b.most and not b.failed:
        b.failed = TOO_MANY


cdef int32_t insert_as(Builder* b, const char* name, int32_t size, int tag, int kind) noexcept nogil:
    """Insert an element without attributes and open it."""
    cdef int32_t i = new_node(b)
    if not i:
        return 0
    count_element(b)
    b.nodes[i].kind = kind
    b.nodes[i].tag = tag
    b.nodes[i].data = name
    b.nodes[i].size = size
    put(b, i, current(b) if b.depth else 0)
    push_open(b, i)
    return i


cdef inline int32_t insert(Builder* b) noexcept nogil:
    """Insert an HTML element for the tag that was read."""
    cdef int32_t i = insert_as(b, b.name, b.name_size, b.tag, HTML)
    b.nodes[i].attributes = b.first_attribute
    b.nodes[i].attribute_count = b.attribute_count - b.first_attribute
    b.used = True
    return i


cdef inline int32_t insert_implied(Builder* b, const char* name, int32_t size, int tag) noexcept nogil:
    return insert_as(b, name, size, tag, HTML)


cdef inline void insert_void(Builder* b) noexcept nogil:
    insert(b)
    pop(b)


cdef bint has_value(const Attribute* attribute, const char* name, int32_t size, const char* value, Py_ssize_t value_size) noexcept nogil:
    """Whether an attribute has this name and, in any case, this value."""
    cdef Py_ssize_t k
    if attribute.name_size != size or memcmp(attribute.name, name, size) or attribute.value_size != value_size:
        return False
    for k in range(value_size):
        if lower(attribute.value[k]) != <unsigned char>value[k]:
            return False
    return True


cdef bint token_has(Builder* b, const char* name, int32_t size) noexcept nogil:
    cdef int32_t k
    for k in range(b.first_attribute, b.attribute_count):
        if b.attributes[k].name_size == size and memcmp(b.attributes[k].name, name, size) == 0:
            return True
    return False


cdef bint is_hidden_input(Builder* b) noexcept nogil:
    """Whether the tag has `type=hidden`; as for turbohtml, in a wide page not in quotation marks."""
    cdef int32_t k
    for k in range(b.first_attribute, b.attribute_count):
        if has_value(&b.attributes[k], b"type", 4, b"hidden", 6):
            return not (b.is_wide and b.start < b.attributes[k].value < b.stop and b.attributes[k].value[-1] in b"'\"")
    return False


cdef int32_t insert_foreign(Builder* b, int kind) noexcept nogil:
    cdef int32_t k, i = insert(b)
    cdef int tag = b.tag
    if not i:
        return 0
    if b.nodes[i].is_open:
        b.opened[tag] -= 1
    b.nodes[i].kind = kind
    if kind == MATHML:
        if tag == MI or tag == MO or tag == MN or tag == MS or tag == MTEXT:
            b.nodes[i].is_point = MATHML_TEXT
        elif tag == ANNOTATION_XML:
            b.nodes[i].is_point = XML_ANNOTATION
            for k in range(b.first_attribute, b.attribute_count):
                if has_value(&b.attributes[k], b"encoding", 8, b"text/html", 9) or has_value(
                    &b.attributes[k], b"encoding", 8, b"application/xhtml+xml", 21
                ):
                    b.nodes[i].is_point = XML_ANNOTATION | HTML_INSIDE
    elif tag == FOREIGNOBJECT or tag == DESC or tag == TITLE:
        b.nodes[i].is_point = HTML_INSIDE
    if b.self_closing:
        pop(b)
    return i


# The list of active formatting elements (13.2.4.3)

cdef void hash_attributes(Builder* b, int32_t i) noexcept nogil:
    """Note a hash of an element's attributes in any order at the first of them, which its copies share."""
    cdef Attribute* attributes = b.attributes + b.nodes[i].attributes
    cdef int32_t k
    cdef uint32_t total = 0, value
    for k in range(b.nodes[i].attribute_count):
        value = hash_of(attributes[k].name, attributes[k].name_size) * 31
        value += hash_of(attributes[k].value, attributes[k].value_size)
        total += value * value ^ value >> 15
    if b.nodes[i].attribute_count:
        attributes[0].info = total


cdef inline bint same_name_at(const Attribute* left, const Attribute* right) noexcept nogil:
    return left.name_size == right.name_size and memcmp(left.name, right.name, left.name_size) == 0


cdef bint same_attributes(Builder* b, int32_t i, int32_t j) noexcept nogil:
    """Whether two formatting elements have the same attributes; of many, in the same order, in linear time."""
    cdef Attribute* left = b.attributes + b.nodes[i].attributes
    cdef Attribute* right = b.attributes + b.nodes[j].attributes
    cdef int32_t k, m, count = b.nodes[i].attribute_count
    if count != b.nodes[j].attribute_count:
        return False
    if count and left.info != right.info:
        return False
    for k in range(count):
        m = k
        if not same_name_at(left + k, right + m):
            if count > MOST_IN_ANY_ORDER:
                return False
            m = 0
            while m < count and not same_name_at(left + k, right + m):
                m += 1
            if m == count:
                return False
        if left[k].value_size != right[m].value_size or memcmp(left[k].value, right[m].value, left[k].value_size):
            return False
    return True


cdef void remove_formatting_at(Builder* b, int32_t k) noexcept nogil:
    memmove(b.formatting + k, b.formatting + k + 1, (b.formatting_count - k - 1) * sizeof(int32_t))
    b.formatting_count -= 1


cdef int32_t place_in_formatting(Builder* b, int32_t i) noexcept nogil:
    cdef int32_t k = b.formatting_count - 1
    while k >= 0 and b.formatting[k] != i:
        k -= 1
    return k


cdef void push_marker(Builder* b) noexcept nogil:
    if b.formatting_count >= MOST_OPEN:
        b.failed = TOO_DEEP
        return
    b.formatting[b.formatting_count] = MARKER
    b.formatting_count += 1


cdef void push_formatting(Builder* b, int32_t i) noexcept nogil:
    """Add an element; of more than three equal ones after the last marker the first goes (Noah's Ark clause)."""
    cdef int32_t k = b.formatting_count - 1, found = 0, earliest = -1
    hash_attributes(b, i)
    while k >= 0 and b.formatting[k] != MARKER:
        if b.nodes[b.formatting[k]].tag == b.nodes[i].tag and same_attributes(b, b.formatting[k], i):
            found += 1
            earliest = k
        k -= 1
    if found >= 3:
        remove_formatting_at(b, earliest)
    push_marker(b)
    if not b.failed:
        b.formatting[b.formatting_count - 1] = i


cdef void clear_to_marker(Builder* b) noexcept nogil:
    while b.formatting_count:
        b.formatting_count -= 1
        if b.formatting[b.formatting_count] == MARKER:
            break


cdef int32_t clone(Builder* b, int32_t i) noexcept nogil:
    """A copy of an element without its children, and without a parent."""
    cdef int32_t made = new_node(b)
    count_element(b)
    if made:
        b.nodes[made].kind = b.nodes[i].kind
        b.nodes[made].tag = b.nodes[i].tag
        b.nodes[made].data = b.nodes[i].data
        b.nodes[made].size = b.nodes[i].size
        b.nodes[made].attributes = b.nodes[i].attributes
        b.nodes[made].attribute_count = b.nodes[i].attribute_count
    return made


cdef void reconstruct(Builder* b) noexcept nogil:
    """Reopen the active formatting elements that are not open."""
    cdef int32_t k = b.formatting_count - 1, made
    if k < 0 or b.formatting[k] == MARKER or b.nodes[b.formatting[k]].is_open:
        return
    while k > 0 and b.formatting[k - 1] != MARKER and not b.nodes[b.formatting[k - 1]].is_open:
        k -= 1
    while k < b.formatting_count and not b.failed:
        made = clone(b, b.formatting[k])
        if not made:
            return
        put(b, made, current(b))
        push_open(b, made)
        b.formatting[k] = made
        k += 1


cdef int32_t last_formatting(Builder* b, int tag) noexcept nogil:
    """The last active formatting element with this name after the last marker; -1 if there is none."""
    cdef int32_t k = b.formatting_count - 1
    while k >= 0 and b.formatting[k] != MARKER:
        if b.nodes[b.formatting[k]].tag == tag:
            return b.formatting[k]
        k -= 1
    return -1


cdef void adopt(Builder* b, int tag) noexcept nogil:
    """The adoption agency algorithm (13.2.6.4.7) for an end tag of a formatting element."""
    cdef int32_t formatting, block, ancestor, node, last, made, k, at, above, mark, child
    cdef int outer, inner
    if is_html(b, current(b), tag) and place_in_formatting(b, current(b)) < 0:
        pop(b)
        return
    for outer in range(8):
        if b.failed:
            return
        formatting = last_formatting(b, tag)
        if formatting < 0:
            end_other(b)
            return
        if not b.nodes[formatting].is_open:
            remove_formatting_at(b, place_in_formatting(b, formatting))
            return
        if not node_in_scope(b, formatting):
            return
        at = b.depth - 1
        block = -1
        while b.stack[at] != formatting:
            if properties(b, b.stack[at]) & SPECIAL:
                block = at
            at -= 1
        if block < 0:
            while b.depth > at:
                pop(b)
            remove_formatting_at(b, place_in_formatting(b, formatting))
            return
        ancestor = b.stack[at - 1]
        mark = place_in_formatting(b, formatting)
        k = block
        block = b.stack[k]
        last = block
        inner = 0
        while True:
            inner += 1
            k -= 1
            node = b.stack[k]
            if node == formatting:
                break
            above = place_in_formatting(b, node)
            if inner > 3 and above >= 0:
                remove_formatting_at(b, above)
                if above < mark:
                    mark -= 1
                above = -1
            if above < 0:
                memmove(b.stack + k, b.stack + k + 1, (b.depth - k - 1) * sizeof(int32_t))
                b.depth -= 1
                forget_open(b, node)
                continue
            made = clone(b, node)
            if not made:
                return
            forget_open(b, node)
            b.formatting[above] = made
            b.stack[k] = made
            b.nodes[made].is_open = True
            b.opened[b.nodes[made].tag] += 1
            if last == block:
                mark = above + 1
            detach(b, last)
            attach(b, last, made, -1)
            last = made
        detach(b, last)
        put(b, last, ancestor)
        made = clone(b, formatting)
        if not made:
            return
        child = b.nodes[block].first
        while child >= 0:
            detach(b, child)
            attach(b, child, made, -1)
            child = b.nodes[block].first
        attach(b, made, block, -1)
        above = place_in_formatting(b, formatting)
        remove_formatting_at(b, above)
        if above < mark:
            mark -= 1
        memmove(b.formatting + mark + 1, b.formatting + mark, (b.formatting_count - mark) * sizeof(int32_t))
        b.formatting[mark] = made
        b.formatting_count += 1
        remove_open(b, formatting)
        k = b.depth - 1
        while b.stack[k] != block:
            k -= 1
        memmove(b.stack + k + 2, b.stack + k + 1, (b.depth - k - 1) * sizeof(int32_t))
        b.stack[k + 1] = made
        b.depth += 1
        b.nodes[made].is_open = True
        b.opened[b.nodes[made].tag] += 1


# Insertion modes (13.2.6.4)

cdef inline bint same_name(Builder* b, int32_t i) noexcept nogil:
    """Whether an element has the name of the tag."""
    if b.tag or b.nodes[i].tag:
        return b.tag == b.nodes[i].tag
    return b.name_size == b.nodes[i].size and memcmp(b.name, b.nodes[i].data, b.name_size) == 0


cdef void end_other(Builder* b) noexcept nogil:
    """Any other end tag in the body."""
    cdef int32_t k
    if not b.opened[b.tag]:
        return
    for k in range(b.depth - 1, -1, -1):
        if b.nodes[b.stack[k]].kind == HTML and same_name(b, b.stack[k]):
            while b.depth > k + 1 and properties(b, current(b)) & IMPLIED_END and not (
                b.nodes[current(b)].kind == HTML and same_name(b, current(b))
            ):
                pop(b)
            while b.depth > k:
                pop(b)
            return
        if properties(b, b.stack[k]) & SPECIAL:
            return


cdef void reset_mode(Builder* b) noexcept nogil:
    cdef int32_t k
    cdef int tag
    for k in range(b.depth - 1, -1, -1):
        if b.nodes[b.stack[k]].kind != HTML:
            continue
        tag = b.nodes[b.stack[k]].tag
        if tag == TD or tag == TH:
            b.mode = IN_CELL
        elif tag == TR:
            b.mode = IN_ROW
        elif tag == TBODY or tag == THEAD or tag == TFOOT:
            b.mode = IN_TABLE_BODY
        elif tag == CAPTION:
            b.mode = IN_CAPTION
        elif tag == COLGROUP:
            b.mode = IN_COLUMN_GROUP
        elif tag == TABLE:
            b.mode = IN_TABLE
        elif tag == TEMPLATE:
            b.mode = b.modes[b.mode_count - 1]
        elif tag == HEAD:
            b.mode = IN_HEAD
        elif tag == BODY:
            b.mode = IN_BODY
        elif tag == FRAMESET:
            b.mode = IN_FRAMESET
        elif tag == HTML_:
            b.mode = BEFORE_HEAD if b.head < 0 else AFTER_HEAD
        else:
            continue
        return
    b.mode = IN_BODY


cdef void push_mode(Builder* b, int mode) noexcept nogil:
    if b.mode_count >= MOST_OPEN:
        b.failed = TOO_DEEP
        return
    b.modes[b.mode_count] = mode
    b.mode_count += 1


cdef bint has_attribute(Builder* b, int32_t first, int32_t count, const Attribute* attribute) noexcept nogil:
    """Whether one of `count` attributes has the name of this one."""
    cdef int32_t k
    for k in range(first, first + count):
        if same_name_at(b.attributes + k, attribute):
            return True
    return False


cdef void merge_attributes(Builder* b, int32_t i) noexcept nogil:
    """Give an element the attributes of the tag that it lacks, unless they would be more than `MOST_OPEN`.

    A page may have any number of BODY tags, so those that add nothing must not cost memory.
    """
    cdef int32_t first = b.nodes[i].attributes, count = b.nodes[i].attribute_count, start = b.attribute_count, k
    cdef int32_t lacking = 0
    cdef Attribute attribute
    if count > MOST_OPEN or start - b.first_attribute > MOST_OPEN:
        return
    for k in range(b.first_attribute, start):
        lacking += not has_attribute(b, first, count, &b.attributes[k])
    if not lacking or count + lacking > MOST_OPEN:
        return
    for k in range(first, first + count):
        attribute = b.attributes[k]
        push_attribute(b, attribute)
    for k in range(b.first_attribute, start):
        attribute = b.attributes[k]
        if not has_attribute(b, first, count, &attribute):
            push_attribute(b, attribute)
    b.nodes[i].attributes = start
    b.nodes[i].attribute_count = b.attribute_count - start
    b.used = True


cdef void start_in_head(Builder* b) noexcept nogil:
    """base, basefont, bgsound, link, meta, noframes, script, style, template, title"""
    if b.tag == TITLE:
        insert(b)
        raw_text(b, True)
    elif b.tag == NOFRAMES or b.tag == STYLE or b.tag == SCRIPT:
        insert(b)
        raw_text(b, False)
    elif b.tag == TEMPLATE:
        insert(b)
        push_marker(b)
        b.mode = IN_TEMPLATE
        push_mode(b, IN_TEMPLATE)
    else:
        insert_void(b)


cdef void end_template(Builder* b) noexcept nogil:
    if not b.opened[TEMPLATE]:
        return
    while b.depth and b.nodes[current(b)].kind == HTML and PROPERTIES[b.nodes[current(b)].tag] & IMPLIED_THOROUGHLY:
        pop(b)
    pop_until(b, TEMPLATE)
    clear_to_marker(b)
    if b.mode_count:
        b.mode_count -= 1
    reset_mode(b)


cdef void start_item(Builder* b) noexcept nogil:
    """li, dd, dt: each closes the one before."""
    cdef int32_t k
    cdef int tag
    b.frameset_ok = False
    for k in range(b.depth - 1, -1, -1):
        tag = b.nodes[b.stack[k]].tag
        if b.nodes[b.stack[k]].kind == HTML and (tag == LI if b.tag == LI else tag == DD or tag == DT):
            imply_ends(b, tag)
            pop_until(b, tag)
            break
        if properties(b, b.stack[k]) & SPECIAL and not (
            b.nodes[b.stack[k]].kind == HTML and (tag == ADDRESS or tag == DIV or tag == P)
        ):
            break
    close_p_in_scope(b)
    insert(b)


cdef void start_in_body(Builder* b) noexcept nogil:
    cdef int what = START[b.tag]
    cdef int32_t found
    if what == AS_OTHER:
        reconstruct(b)
        insert(b)
    elif what == AS_BLOCK:
        close_p_in_scope(b)
        insert(b)
    elif what == AS_A:
        found = last_formatting(b, A)
        if found >= 0:
            adopt(b, A)
            if place_in_formatting(b, found) >= 0:
                remove_formatting_at(b, place_in_formatting(b, found))
            if b.nodes[found].is_open:
                remove_open(b, found)
        reconstruct(b)
        push_formatting(b, insert(b))
    elif what == AS_FORMAT:
        reconstruct(b)
        push_formatting(b, insert(b))
    elif what == AS_VOID:
        reconstruct(b)
        insert_void(b)
        b.frameset_ok = False
    elif what == AS_LI or what == AS_DD:
        start_item(b)
    elif what == AS_HEADING:
        close_p_in_scope(b)
        if properties(b, current(b)) & HEADING:
            pop(b)
        insert(b)
    elif what == AS_HEAD:
        start_in_head(b)
    elif what == AS_PRE:
        close_p_in_scope(b)
        insert(b)
        b.skip_newline = True
        b.frameset_ok = False
    elif what == AS_FORM:
        if b.form >= 0 and not b.opened[TEMPLATE]:
            return
        close_p_in_scope(b)
        found = insert(b)
        if not b.opened[TEMPLATE]:
            b.form = found
    elif what == AS_PLAINTEXT:
        close_p_in_scope(b)
        insert(b)
        b.plain_text = True
    elif what == AS_BUTTON:
        if in_scope(b, BUTTON, GENERAL):
            imply_ends(b, T_NONE)
            pop_until(b, BUTTON)
        reconstruct(b)
        insert(b)
        b.frameset_ok = False
    elif what == AS_NOBR:
        reconstruct(b)
        if in_scope(b, NOBR, GENERAL):
            adopt(b, NOBR)
            reconstruct(b)
        push_formatting(b, insert(b))
    elif what == AS_OBJECT:
        reconstruct(b)
        insert(b)
        push_marker(b)
        b.frameset_ok = False
    elif what == AS_TABLE:
        if not b.quirks:
            close_p_in_scope(b)
        insert(b)
        b.frameset_ok = False
        b.mode = IN_TABLE
    elif what == AS_INPUT:
        if in_scope(b, SELECT, GENERAL):
            pop_until(b, SELECT)
        reconstruct(b)
        insert_void(b)
        if not is_hidden_input(b):
            b.frameset_ok = False
    elif what == AS_SOURCE:
        reconstruct(b)  # not in the standard, but by the parser of `parsing`
        insert_void(b)
    elif what == AS_HR:
        close_p_in_scope(b)
        if in_scope(b, SELECT, GENERAL):
            imply_ends(b, T_NONE)
        insert_void(b)
        b.frameset_ok = False
    elif what == AS_IMAGE:
        b.name, b.name_size, b.tag = b"img", 3, IMG
        start_in_body(b)
    elif what == AS_TEXTAREA:
        insert(b)
        b.skip_newline = True
        b.frameset_ok = False
        raw_text(b, True)
    elif what == AS_XMP:
        close_p_in_scope(b)
        reconstruct(b)
        b.frameset_ok = False
        insert(b)
        raw_text(b, False)
    elif what == AS_IFRAME or what == AS_NOEMBED:
        if what == AS_IFRAME:
            b.frameset_ok = False
        insert(b)
        raw_text(b, False)
    elif what == AS_SELECT:
        if in_scope(b, SELECT, GENERAL):
            pop_until(b, SELECT)
            return
        reconstruct(b)
        insert(b)
        b.frameset_ok = False
    elif what == AS_OPTION:
        if in_scope(b, SELECT, GENERAL):
            imply_ends(b, OPTGROUP)
        elif is_html(b, current(b), OPTION):
            pop(b)
        reconstruct(b)
        insert(b)
    elif what == AS_OPTGROUP:
        if in_scope(b, SELECT, GENERAL):
            imply_ends(b, T_NONE)
        elif is_html(b, current(b), OPTION):
            pop(b)
        reconstruct(b)
        insert(b)
    elif what == AS_RB or what == AS_RT:
        if in_scope(b, RUBY, GENERAL):
            imply_ends(b, T_NONE if what == AS_RB else RTC)
        insert(b)
    elif what == AS_MATH or what == AS_SVG:
        reconstruct(b)
        insert_foreign(b, MATHML if what == AS_MATH else SVG)
    elif what == AS_HTML:
        if not b.opened[TEMPLATE]:
            merge_attributes(b, b.stack[0])
    elif what == AS_BODY:
        if b.depth > 1 and is_html(b, b.stack[1], BODY):
            b.frameset_ok = False
            if not b.opened[TEMPLATE]:
                merge_attributes(b, b.stack[1])
    elif what == AS_FRAMESET:
        if b.depth > 1 and is_html(b, b.stack[1], BODY) and b.frameset_ok:
            detach(b, b.stack[1])
            while b.depth > 1:
                pop(b)
            insert(b)
            b.mode = IN_FRAMESET


cdef void end_in_body(Builder* b) noexcept nogil:
    cdef int32_t node
    cdef int tag = b.tag
    if PROPERTIES[tag] & FORMATS:
        adopt(b, tag)
    elif CLOSES_IN_SCOPE[tag]:
        if in_scope(b, tag, GENERAL):
            imply_ends(b, T_NONE)
            pop_until(b, tag)
    elif tag == P:
        if not in_scope(b, P, IN_BUTTON):
            insert_implied(b, b"p", 1, P)
        close_p(b)
    elif tag == LI:
        if in_scope(b, LI, LIST_ITEM):
            imply_ends(b, LI)
            pop_until(b, LI)
    elif tag == DD or tag == DT:
        if in_scope(b, tag, GENERAL):
            imply_ends(b, tag)
            pop_until(b, tag)
    elif PROPERTIES[tag] & HEADING:
        if heading_in_scope(b):
            imply_ends(b, T_NONE)
            while b.depth:
                node = current(b)
                pop(b)
                if properties(b, node) & HEADING:
                    break
    elif tag == TEMPLATE:
        end_template(b)
    elif tag == BODY or tag == HTML_:
        if in_scope(b, BODY, GENERAL):
            b.mode = AFTER_BODY
            if tag == HTML_:
                process_tag(b)
    elif tag == FORM:
        if b.opened[TEMPLATE]:
            if in_scope(b, FORM, GENERAL):
                imply_ends(b, T_NONE)
                pop_until(b, FORM)
            return
        node = b.form
        b.form = -1
        if node >= 0 and b.nodes[node].is_open and node_in_scope(b, node):
            imply_ends(b, T_NONE)
            remove_open(b, node)
    elif tag == APPLET or tag == MARQUEE or tag == OBJECT:
        if in_scope(b, tag, GENERAL):
            imply_ends(b, T_NONE)
            pop_until(b, tag)
            clear_to_marker(b)
    elif tag == BR:
        b.attribute_count = b.first_attribute
        b.closes = False
        reconstruct(b)
        insert_void(b)
        b.frameset_ok = False
    else:
        end_other(b)


cdef void clear_to(Builder* b, int context) noexcept nogil:
    """Clear the stack back to a table, table body or table row."""
    cdef int tag
    while b.depth:
        if b.nodes[current(b)].kind == HTML:
            tag = b.nodes[current(b)].tag
            if tag == HTML_ or tag == TEMPLATE:
                return
            if tag == TR if context == IN_ROW else tag == TABLE if context == IN_TABLE else (
                tag == TBODY or tag == THEAD or tag == TFOOT
            ):
                return
        pop(b)


cdef void fostered(Builder* b) noexcept nogil:
    b.foster = True
    if b.closes:
        end_in_body(b)
    else:
        start_in_body(b)
    b.foster = False


cdef void in_table(Builder* b) noexcept nogil:
    cdef int tag = b.tag
    if not b.closes:
        if tag == CAPTION:
            clear_to(b, IN_TABLE)
            push_marker(b)
            insert(b)
            b.mode = IN_CAPTION
        elif tag == COLGROUP:
            clear_to(b, IN_TABLE)
            insert(b)
            b.mode = IN_COLUMN_GROUP
        elif tag == COL:
            clear_to(b, IN_TABLE)
            insert_implied(b, b"colgroup", 8, COLGROUP)
            b.mode = IN_COLUMN_GROUP
            process_tag(b)
        elif tag == TBODY or tag == TFOOT or tag == THEAD:
            clear_to(b, IN_TABLE)
            insert(b)
            b.mode = IN_TABLE_BODY
        elif tag == TD or tag == TH or tag == TR:
            clear_to(b, IN_TABLE)
            insert_implied(b, b"tbody", 5, TBODY)
            b.mode = IN_TABLE_BODY
            process_tag(b)
        elif tag == TABLE:
            if in_scope(b, TABLE, IN_TABLES):
                pop_until(b, TABLE)
                reset_mode(b)
                process_tag(b)
        elif tag == STYLE or tag == SCRIPT or tag == TEMPLATE:
            start_in_head(b)
        elif tag == INPUT and is_hidden_input(b):
            insert_void(b)
        elif tag == FORM:
            if b.form < 0 and not b.opened[TEMPLATE]:
                b.form = insert(b)
                pop(b)
        else:
            fostered(b)
    elif tag == TABLE:
        if in_scope(b, TABLE, IN_TABLES):
            pop_until(b, TABLE)
            reset_mode(b)
    elif tag == TEMPLATE:
        end_template(b)
    elif tag == BODY or tag == CAPTION or tag == COL or tag == COLGROUP or tag == HTML_ or tag == TBODY or tag == TD \
            or tag == TFOOT or tag == TH or tag == THEAD or tag == TR:
        pass
    else:
        fostered(b)


cdef inline bint starts_part(Builder* b) noexcept nogil:
    """Whether the tag opens a part of a table that is not a cell or a row."""
    cdef int tag = b.tag
    return not b.closes and (
        tag == CAPTION or tag == COL or tag == COLGROUP or tag == TBODY or tag == TFOOT or tag == THEAD
    )


cdef void in_body(Builder* b) noexcept nogil:
    if b.closes:
        end_in_body(b)
    else:
        start_in_body(b)


cdef void in_caption(Builder* b) noexcept nogil:
    cdef int tag = b.tag
    cdef bint ends = b.closes and tag == CAPTION
    if ends or starts_part(b) or (not b.closes and (tag == TD or tag == TH or tag == TR)) or (b.closes and tag == TABLE):
        if in_scope(b, CAPTION, IN_TABLES):
            imply_ends(b, T_NONE)
            pop_until(b, CAPTION)
            clear_to_marker(b)
            b.mode = IN_TABLE
            if not ends:
                process_tag(b)
    elif b.closes and (
        tag == BODY or tag == COL or tag == COLGROUP or tag == HTML_ or tag == TBODY or tag == TD or tag == TFOOT
        or tag == TH or tag == THEAD or tag == TR
    ):
        pass
    else:
        close_select(b)
        in_body(b)


cdef void close_select(Builder* b) noexcept nogil:
    """A table in a cell or caption closes a select around it."""
    if b.tag == TABLE and not b.closes and in_scope(b, SELECT, GENERAL):
        pop_until(b, SELECT)


cdef void in_column_group(Builder* b) noexcept nogil:
    cdef int tag = b.tag
    if not b.closes and tag == HTML_:
        start_in_body(b)
    elif not b.closes and tag == COL:
        insert_void(b)
    elif tag == TEMPLATE:
        if b.closes:
            end_template(b)
        else:
            start_in_head(b)
    elif is_html(b, current(b), COLGROUP):  # `</col>`, too, which the standard ignores
        pop(b)
        b.mode = IN_TABLE
        if not (b.closes and tag == COLGROUP):
            process_tag(b)


cdef bint body_in_scope(Builder* b) noexcept nogil:
    return in_scope(b, TBODY, IN_TABLES) or in_scope(b, THEAD, IN_TABLES) or in_scope(b, TFOOT, IN_TABLES)


cdef void in_table_body(Builder* b) noexcept nogil:
    cdef int tag = b.tag
    if not b.closes and tag == TR:
        clear_to(b, IN_TABLE_BODY)
        insert(b)
        b.mode = IN_ROW
    elif not b.closes and (tag == TH or tag == TD):
        clear_to(b, IN_TABLE_BODY)
        insert_implied(b, b"tr", 2, TR)
        b.mode = IN_ROW
        process_tag(b)
    elif b.closes and (tag == TBODY or tag == TFOOT or tag == THEAD):
        if in_scope(b, tag, IN_TABLES):
            clear_to(b, IN_TABLE_BODY)
            pop(b)
            b.mode = IN_TABLE
    elif starts_part(b) or (b.closes and tag == TABLE):
        if body_in_scope(b):
            clear_to(b, IN_TABLE_BODY)
            pop(b)
            b.mode = IN_TABLE
            process_tag(b)
    elif b.closes and (
        tag == BODY or tag == CAPTION or tag == COL or tag == COLGROUP or tag == HTML_ or tag == TD or tag == TH
        or tag == TR
    ):
        pass
    else:
        in_table(b)


cdef void in_row(Builder* b) noexcept nogil:
    cdef int tag = b.tag
    cdef bint ends = b.closes and tag == TR
    if not b.closes and (tag == TH or tag == TD):
        clear_to(b, IN_ROW)
        insert(b)
        b.mode = IN_CELL
        push_marker(b)
    elif ends or starts_part(b) or (not b.closes and tag == TR) or (
        b.closes and (tag == TABLE or tag == TBODY or tag == TFOOT or tag == THEAD)
    ):
        if b.closes and (tag == TBODY or tag == TFOOT or tag == THEAD) and not in_scope(b, tag, IN_TABLES):
            return
        if in_scope(b, TR, IN_TABLES):
            clear_to(b, IN_ROW)
            pop(b)
            b.mode = IN_TABLE_BODY
            if not ends:
                process_tag(b)
    elif b.closes and (
        tag == BODY or tag == CAPTION or tag == COL or tag == COLGROUP or tag == HTML_ or tag == TD or tag == TH
    ):
        pass
    else:
        in_table(b)


cdef void close_cell(Builder* b) noexcept nogil:
    cdef bint found = False
    imply_ends(b, T_NONE)
    while b.depth and not found:
        found = is_html(b, current(b), TD) or is_html(b, current(b), TH)
        pop(b)
    clear_to_marker(b)
    b.mode = IN_ROW


cdef void in_cell(Builder* b) noexcept nogil:
    cdef int tag = b.tag
    if b.closes and (tag == TD or tag == TH):
        if in_scope(b, tag, IN_TABLES):
            imply_ends(b, T_NONE)
            pop_until(b, tag)
            clear_to_marker(b)
            b.mode = IN_ROW
    elif starts_part(b) or (not b.closes and (tag == TD or tag == TH or tag == TR)):
        if in_scope(b, TD, IN_TABLES) or in_scope(b, TH, IN_TABLES):
            close_cell(b)
            process_tag(b)
    elif b.closes and (tag == BODY or tag == CAPTION or tag == COL or tag == COLGROUP or tag == HTML_):
        pass
    elif b.closes and (tag == TABLE or tag == TBODY or tag == TFOOT or tag == THEAD or tag == TR):
        if in_scope(b, tag, IN_TABLES):
            close_cell(b)
            process_tag(b)
    else:
        close_select(b)
        in_body(b)


cdef void in_template(Builder* b) noexcept nogil:
    cdef int tag = b.tag, mode
    if START[tag] == AS_HEAD and (not b.closes or tag == TEMPLATE):
        if b.closes:
            end_template(b)
        else:
            start_in_head(b)
        return
    if b.closes:
        return
    if tag == CAPTION or tag == COLGROUP or tag == TBODY or tag == TFOOT or tag == THEAD:
        mode = IN_TABLE
    elif tag == COL:
        mode = IN_COLUMN_GROUP
    elif tag == TR:
        mode = IN_TABLE_BODY
    elif tag == TD or tag == TH:
        mode = IN_ROW
    else:
        mode = IN_BODY
    b.modes[b.mode_count - 1] = mode
    b.mode = mode
    process_tag(b)


cdef bint is_head_body_html_br(int tag) noexcept nogil:
    return tag == HEAD or tag == BODY or tag == HTML_ or tag == BR


cdef void leave_initial(Builder* b) noexcept nogil:
    b.quirks = True
    b.mode = BEFORE_HTML


cdef void imply_html(Builder* b) noexcept nogil:
    insert_implied(b, b"html", 4, HTML_)
    b.mode = BEFORE_HEAD


cdef void imply_head(Builder* b) noexcept nogil:
    b.head = insert_implied(b, b"head", 4, HEAD)
    b.mode = IN_HEAD


cdef void imply_body(Builder* b) noexcept nogil:
    insert_implied(b, b"body", 4, BODY)
    b.mode = IN_BODY


cdef void before_head(Builder* b) noexcept nogil:
    if not b.closes and b.tag == HTML_:
        start_in_body(b)
    elif not b.closes and b.tag == HEAD:
        b.head = insert(b)
        b.mode = IN_HEAD
    elif not b.closes or is_head_body_html_br(b.tag):
        imply_head(b)
        process_tag(b)


cdef void in_head(Builder* b) noexcept nogil:
    cdef int tag = b.tag
    if b.closes:
        if tag == HEAD:
            pop(b)
            b.mode = AFTER_HEAD
        elif tag == TEMPLATE:
            end_template(b)
        elif is_head_body_html_br(tag):
            pop(b)
            b.mode = AFTER_HEAD
            process_tag(b)
    elif tag == HTML_:
        start_in_body(b)
    elif START[tag] == AS_HEAD:
        start_in_head(b)
    elif tag == NOSCRIPT:
        insert(b)
        b.mode = IN_HEAD_NOSCRIPT
    elif tag != HEAD:
        pop(b)
        b.mode = AFTER_HEAD
        process_tag(b)


cdef void in_head_noscript(Builder* b) noexcept nogil:
    cdef int tag = b.tag
    if b.closes:
        if tag == NOSCRIPT:
            pop(b)
            b.mode = IN_HEAD
            return
        if tag != BR:
            return
    elif tag == HTML_:
        start_in_body(b)
        return
    elif tag == BASEFONT or tag == BGSOUND or tag == LINK or tag == META or tag == NOFRAMES or tag == STYLE:
        start_in_head(b)
        return
    elif tag == HEAD or tag == NOSCRIPT:
        return
    pop(b)
    b.mode = IN_HEAD
    process_tag(b)


cdef void after_head(Builder* b) noexcept nogil:
    cdef int tag = b.tag
    if b.closes:
        if tag == TEMPLATE:
            end_template(b)
        elif is_head_body_html_br(tag) and tag != HEAD:
            imply_body(b)
            process_tag(b)
    elif tag == BODY:
        insert(b)
        b.frameset_ok = False
        b.mode = IN_BODY
    elif tag == FRAMESET:
        insert(b)
        b.mode = IN_FRAMESET
    elif START[tag] == AS_HEAD:
        push_open(b, b.head)
        start_in_head(b)
        remove_open(b, b.head)
    else:  # a second head or html, too: here the standard stays after the head
        imply_body(b)
        process_tag(b)


cdef void in_frameset(Builder* b) noexcept nogil:
    cdef int tag = b.tag
    if b.closes:
        if tag == FRAMESET and b.depth > 1:
            pop(b)
            if not is_html(b, current(b), FRAMESET):
                b.mode = AFTER_FRAMESET
    elif tag == FRAMESET:
        insert(b)
    elif tag == FRAME:
        insert_void(b)
    elif tag == NOFRAMES:
        start_in_head(b)


cdef void after_frameset(Builder* b) noexcept nogil:
    if b.closes:
        if b.tag == HTML_ and b.mode == AFTER_FRAMESET:
            b.mode = AFTER_AFTER_FRAMESET
    elif b.tag == HTML_ and b.mode == AFTER_AFTER_FRAMESET:
        start_in_body(b)
    elif b.tag == NOFRAMES:
        start_in_head(b)


cdef void process_tag(Builder* b) noexcept nogil:
    """Process the tag that was read by the rules of the insertion mode."""
    cdef int mode = b.mode
    if b.failed:
        return
    if mode == IN_BODY:
        in_body(b)
    elif mode == IN_CELL:
        in_cell(b)
    elif mode == IN_ROW:
        in_row(b)
    elif mode == IN_TABLE_BODY:
        in_table_body(b)
    elif mode == IN_TABLE:
        in_table(b)
    elif mode == IN_HEAD:
        in_head(b)
    elif mode == IN_CAPTION:
        in_caption(b)
    elif mode == IN_COLUMN_GROUP:
        in_column_group(b)
    elif mode == IN_TEMPLATE:
        in_template(b)
    elif mode == IN_HEAD_NOSCRIPT:
        in_head_noscript(b)
    elif mode == AFTER_HEAD:
        after_head(b)
    elif mode == BEFORE_HEAD:
        before_head(b)
    elif mode == INITIAL:
        leave_initial(b)
        process_tag(b)
    elif mode == BEFORE_HTML:
        if not b.closes and b.tag == HTML_:
            insert(b)
            b.mode = BEFORE_HEAD
        elif not b.closes or is_head_body_html_br(b.tag):
            imply_html(b)
            process_tag(b)
    elif mode == AFTER_BODY or mode == AFTER_AFTER_BODY:
        if not b.closes and b.tag == HTML_:
            start_in_body(b)
        elif mode == AFTER_BODY and b.closes and b.tag == HTML_:
            b.mode = AFTER_AFTER_BODY
        else:
            b.mode = IN_BODY
            process_tag(b)
    elif mode == IN_FRAMESET:
        in_frameset(b)
    else:
        after_frameset(b)


# Foreign content (13.2.6.5)

cdef bint is_foreign(Builder* b, bint is_text) noexcept nogil:
    """Whether the rules for foreign content apply to the tag that was read, or to text."""
    cdef Dom* node
    if not b.depth:
        return False
    node = b.nodes + current(b)
    if node.kind == HTML:
        return False
    if node.is_point & MATHML_TEXT and (is_text or (not b.closes and b.tag != MGLYPH and b.tag != MALIGNMARK)):
        return False
    if node.is_point & XML_ANNOTATION and not is_text and not b.closes and b.tag == SVG_:
        return False
    return not (node.is_point & HTML_INSIDE and (is_text or not b.closes))


cdef void process_foreign(Builder* b) noexcept nogil:
    cdef int32_t k
    cdef int tag = b.tag
    if not b.closes:
        if PROPERTIES[tag] & BREAKS_OUT or (
            tag == FONT and (token_has(b, b"color", 5) or token_has(b, b"face", 4) or token_has(b, b"size", 4))
        ):
            while b.nodes[current(b)].kind != HTML and not b.nodes[current(b)].is_point & (MATHML_TEXT | HTML_INSIDE):
                pop(b)
            process_tag(b)
        else:
            insert_foreign(b, b.nodes[current(b)].kind)
        return
    if tag == BR or tag == P:
        while b.nodes[current(b)].kind != HTML and not b.nodes[current(b)].is_point & (MATHML_TEXT | HTML_INSIDE):
            pop(b)
        process_tag(b)
        return
    for k in range(b.depth - 1, 0, -1):
        if b.nodes[b.stack[k]].kind == HTML:
            process_tag(b)
            return
        if same_name(b, b.stack[k]):
            while b.depth > k:
                pop(b)
            return


# Text

cdef Py_ssize_t decoded(Builder* b, const char** text, Py_ssize_t size, int nulls, bint references, bint in_value) noexcept nogil:
    """Resolve references and line ends. `nulls`: 0 keeps NUL, 1 removes it, 2 replaces it."""
    cdef const char* source = text[0]
    cdef char* out
    cdef char* start
    cdef Py_ssize_t k = 0, n
    cdef uint32_t code
    cdef Reference* found
    cdef uint8_t c
    start = out = arena(b, size * 3 + 8 if nulls == 2 else size + size // 2 + 8)
    if out == NULL:
        return 0
    while k < size:
        c = <uint8_t>source[k]
        if c == 13:
            out[0] = 10
            out += 1
            k += 2 if k + 1 < size and source[k + 1] == 10 else 1
        elif c == 0 and nulls:
            if nulls == 2:
                memcpy(out, b"\xef\xbf\xbd", 3)
                out += 3
            k += 1
        elif c == 38 and references:
            if k + 1 < size and source[k + 1] == 35:
                n = numeric_at(source + k + 2, size - k - 2, &code)
                if n:
                    out += write_code(code, out)
                    k += n + 2
                    continue
            else:
                found = reference_at(source + k + 1, size - k - 1)
                if found != NULL:
                    n = k + 1 + found.size
                    if not (
                        in_value and source[n - 1] != 59 and n < size and (source[n] == 61 or IS_ALNUM[<uint8_t>source[n]])
                    ):
                        memcpy(out, found.value, found.value_size)
                        out += found.value_size
                        k = n
                        continue
            out[0] = 38
            out += 1
            k += 1
        else:
            out[0] = c
            out += 1
            k += 1
    n = out - start
    b.left += b.free - out
    b.free = out
    text[0] = start
    return n


cdef inline bint is_all_space(const char* text, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(size):
        if not IS_SPACE[<uint8_t>text[k]]:
            return False
    return True


cdef void text_in_body(Builder* b, const char* text, Py_ssize_t size) noexcept nogil:
    reconstruct(b)
    insert_text(b, text, size)
    if b.frameset_ok and not is_all_space(text, size):
        b.frameset_ok = False


cdef void process_text(Builder* b, const char* text, Py_ssize_t size, bint null) noexcept nogil:
    """Process characters; `null`: there were NULs, which are removed."""
    cdef Py_ssize_t k = 0
    cdef int mode
    while not b.failed:
        mode = b.mode
        if mode == IN_BODY or mode == IN_CELL or mode == IN_CAPTION or mode == IN_TEMPLATE:
            text_in_body(b, text, size)
            return
        if mode == IN_TABLE or mode == IN_TABLE_BODY or mode == IN_ROW:
            if (properties(b, current(b)) & TABLE_CONTEXT or is_html(b, current(b), TEMPLATE)) and is_all_space(text, size):
                insert_text(b, text, size)
            else:
                b.foster = True
                text_in_body(b, text, size)
                b.foster = False
            return
        if mode == AFTER_BODY or mode == AFTER_AFTER_BODY:
            if not is_all_space(text, size) or null:
                b.mode = IN_BODY
            text_in_body(b, text, size)
            return
        if mode >= IN_FRAMESET:  # only white space counts
            return
        k = 0
        while k < size and IS_SPACE[<uint8_t>text[k]]:
            k += 1
        if k and mode >= IN_HEAD:
            insert_text(b, text, k)
        text += k
        size -= k
        if not size:
            return
        if mode == INITIAL:
            leave_initial(b)
        elif mode == BEFORE_HTML:
            imply_html(b)
        elif mode == BEFORE_HEAD:
            imply_head(b)
        elif mode == IN_HEAD:
            pop(b)
            b.mode = AFTER_HEAD
        elif mode == IN_HEAD_NOSCRIPT:
            pop(b)
            b.mode = IN_HEAD
        elif mode == AFTER_HEAD:
            imply_body(b)
        else:  # IN_COLUMN_GROUP
            if not is_html(b, current(b), COLGROUP):
                return
            pop(b)
            b.mode = IN_TABLE


cdef void emit_text(Builder* b, const char* text, Py_ssize_t size, bint plain, bint references) noexcept nogil:
    """Process text of the page; `plain`: without references, NUL and carriage returns."""
    cdef bint foreign = is_foreign(b, True), null = False
    if not plain:
        null = not foreign and not b.plain_text and memchr(text, 0, size) != NULL
        if null and (b.mode < IN_BODY or b.mode == IN_COLUMN_GROUP):
            b.failed = TOO_ODD
            return
        if null and text[0] == 0:  # it is dropped, but what follows it is not the first token after <pre>
            b.skip_newline = False
        size = decoded(b, &text, size, 2 if foreign or b.plain_text else 1, references, False)
    if b.skip_newline:
        b.skip_newline = False
        if size and text[0] == 10:
            text += 1
            size -= 1
    if foreign:
        insert_text(b, text, size)
        if b.frameset_ok and not is_all_space(text, size):
            b.frameset_ok = False
    else:
        process_text(b, text, size, null)


# Tokens (13.2.5)

cdef void push_attribute(Builder* b, Attribute attribute) noexcept nogil:
    cdef Attribute* grown
    if b.attribute_count == b.attribute_room:
        grown = <Attribute*>realloc(b.attributes, (<size_t>b.attribute_room * 2 + 512) * sizeof(Attribute))
        if grown == NULL:
            b.failed = NO_MEMORY
            return
        b.attributes = grown
        b.attribute_room = b.attribute_room * 2 + 512
    b.attributes[b.attribute_count] = attribute
    b.attribute_count += 1


cdef uint32_t hash_of(const char* text, Py_ssize_t size) noexcept nogil:
    cdef uint32_t value = 2166136261
    cdef Py_ssize_t k
    for k in range(size):
        value = (value ^ <uint8_t>text[k]) * 16777619
    return value ^ value >> 15


cdef bint enter_slot(Builder* b, int32_t k) noexcept nogil:
    """Enter an attribute of the tag into the hash table; False if there is one of its name."""
    cdef uint32_t slot = hash_of(b.attributes[k].name, b.attributes[k].name_size) & (b.slot_room - 1)
    cdef int32_t other
    while b.slots[slot] >= 0:
        other = b.slots[slot]
        if b.attributes[other].name_size == b.attributes[k].name_size and memcmp(
            b.attributes[other].name, b.attributes[k].name, b.attributes[k].name_size
        ) == 0:
            return False
        slot = (slot + 1) & (b.slot_room - 1)
    b.slots[slot] = k
    return True


cdef void drop_repeated(Builder* b) noexcept nogil:
    """Remove the last attribute if the tag has an earlier one of its name, or more than are laid out."""
    cdef int32_t k, last = b.attribute_count - 1, count = b.attribute_count - b.first_attribute
    cdef int32_t* grown
    if count <= 16:
        for k in range(b.first_attribute, last):
            if b.attributes[k].name_size == b.attributes[last].name_size and memcmp(
                b.attributes[k].name, b.attributes[last].name, b.attributes[last].name_size
            ) == 0:
                b.attribute_count -= 1
                return
        return
    if count > b.most_attributes + 1:  # one more says that the tag has more
        b.attribute_count -= 1
        return
    if not b.is_slotted or count * 2 > b.slot_room:  # first use for this tag, or too full
        b.is_slotted = True
        if count * 2 > b.slot_room:
            grown = <int32_t*>realloc(b.slots, <size_t>(b.slot_room * 4 + 256) * sizeof(int32_t))
            if grown == NULL:
                b.failed = NO_MEMORY
                return
            b.slots = grown
            b.slot_room = b.slot_room * 4 if b.slot_room else 256
        memset(b.slots, 0xFF, <size_t>b.slot_room * sizeof(int32_t))
        for k in range(b.first_attribute, last):
            enter_slot(b, k)
    if not enter_slot(b, last):
        b.attribute_count -= 1


cdef Py_ssize_t folded(Builder* b, const char** text, Py_ssize_t size) noexcept nogil:
    """A name in lower case, with U+FFFD for NUL."""
    cdef char* out
    cdef Py_ssize_t k, total = 0
    cdef const char* source = text[0]
    for k in range(size):
        if 65 <= <uint8_t>source[k] <= 90 or source[k] == 0:
            break
    else:
        return size
    out = arena(b, size * 3)
    if out == NULL:
        return 0
    for k in range(size):
        if source[k] == 0:
            memcpy(out + total, b"\xef\xbf\xbd", 3)
            total += 3
        else:
            out[total] = lower(source[k])
            total += 1
    b.left += size * 3 - total
    b.free -= size * 3 - total
    text[0] = out
    return total


cdef const char* read_attributes(Builder* b, const char* at, bint keep) noexcept nogil:
    """Read a tag from the end of its name on; return what follows it, or NULL if the page ends before."""
    cdef const char* stop = b.stop
    cdef const char* mark
    cdef Attribute attribute
    cdef uint8_t c
    b.self_closing = False
    while True:
        while at < stop and (IS_SPACE[<uint8_t>at[0]] or (at[0] == 47 and not (at + 1 < stop and at[1] == 62))):
            at += 1
        if at == stop:
            return NULL
        if at[0] == 62:
            return at + 1
        if at[0] == 47:  # '/>'
            b.self_closing = True
            return at + 2
        attribute.name = at
        at += 1
        while at < stop and not ENDS_NAME[<uint8_t>at[0]] and at[0] != 61:
            at += 1
        attribute.name_size = at - attribute.name
        while at < stop and IS_SPACE[<uint8_t>at[0]]:
            at += 1
        attribute.value, attribute.value_size = at, 0
        if at < stop and at[0] == 61:
            at += 1
            while at < stop and IS_SPACE[<uint8_t>at[0]]:
                at += 1
            if at == stop:
                return NULL
            c = <uint8_t>at[0]
            if c == 34 or c == 39:
                mark = <const char*>memchr(at + 1, c, stop - at - 1)
                if mark == NULL:
                    return NULL
                attribute.value, attribute.value_size = at + 1, mark - at - 1
                at = mark + 1
            else:
                attribute.value = at
                while at < stop and at[0] != 62 and not IS_SPACE[<uint8_t>at[0]]:
                    at += 1
                attribute.value_size = at - attribute.value
        if not keep:
            continue
        attribute.name_size = folded(b, &attribute.name, attribute.name_size)
        if attribute.value_size and (
            memchr(attribute.value, 38, attribute.value_size) != NULL
            or memchr(attribute.value, 13, attribute.value_size) != NULL
            or memchr(attribute.value, 0, attribute.value_size) != NULL
        ):
            attribute.value_size = decoded(b, &attribute.value, attribute.value_size, 2, True, True)
        push_attribute(b, attribute)
        if b.failed:
            return NULL
        drop_repeated(b)


cdef const char* read_tag(Builder* b, const char* at) noexcept nogil:
    """Read a tag from its name on and process it; return what follows it, or NULL if the page ends before."""
    b.name = at
    while at < b.stop and not ENDS_NAME[<uint8_t>at[0]]:
        at += 1
    b.name_size = <int32_t>folded(b, &b.name, at - b.name)
    b.tag = tag_of(b.name, b.name_size)
    b.first_attribute = b.attribute_count
    b.used = b.is_slotted = False
    at = read_attributes(b, at, not b.closes)
    if at == NULL:
        b.attribute_count = b.first_attribute
        return NULL
    if b.self_closing and not b.closes and not b.xml_checked and PROPERTIES[b.tag] & SWALLOWS:
        b.failed = XML_CLOSED
        return NULL
    b.at = at
    b.skip_newline = False
    if is_foreign(b, False):
        process_foreign(b)
    else:
        process_tag(b)
    if not b.used:
        b.attribute_count = b.first_attribute
    return b.at


cdef bint is_end_tag(Builder* b, const char* at, const char* name, int32_t size) noexcept nogil:
    """Whether at `at`, which is a '<', there is an end tag of this name."""
    cdef int32_t k
    if b.stop - at < size + 3 or at[1] != 47 or not ENDS_NAME[<uint8_t>at[size + 2]]:
        return False
    for k in range(size):
        if lower(at[k + 2]) != <unsigned char>name[k]:
            return False
    return True


cdef bint is_script_at(Builder* b, const char* at) noexcept nogil:
    """Whether `script` and the end of a name follow."""
    return b.stop - at >= 7 and ENDS_NAME[<uint8_t>at[6]] and equals_folded(at, 6, b"script")


cdef const char* script_end(Builder* b, const char* at) noexcept nogil:
    """The end tag of a script, which `<!-- <script>` may hide; the end of the page if there is none."""
    cdef int escaped = 0  # 1 after `<!--`, 2 after a `<script` in it
    cdef const char* start = at
    cdef const char* mark
    while at < b.stop:
        if not escaped:
            at = <const char*>memchr(at, 60, b.stop - at)
            if at == NULL:
                return b.stop
        if at[0] == 60:
            if escaped < 2 and is_end_tag(b, at, b"script", 6):
                return at
            if not escaped and b.stop - at >= 4 and memcmp(at, b"<!--", 4) == 0:
                escaped = 1
                at += 2  # its dashes may end it: <!-->
                continue
            if escaped == 1 and is_script_at(b, at + 1):
                escaped = 2
                at += 7
                continue
            if escaped == 2 and b.stop - at >= 2 and at[1] == 47 and is_script_at(b, at + 2):
                escaped = 1
                at += 8
                continue
        elif at[0] == 45 and b.stop - at >= 3 and at[1] == 45:
            mark = at + 2
            while mark < b.stop and mark[0] == 45:
                mark += 1
            if mark < b.stop and mark[0] == 62:
                escaped = 0
                at = mark + 1
            else:
                at = mark
            continue
        at += 1
    return b.stop


cdef void raw_text(Builder* b, bint references) noexcept nogil:
    """Read the text of the element that was just opened, up to its end tag, and close it."""
    cdef const char* text = b.at
    cdef const char* at = b.at
    cdef const char* name = b.name
    cdef int32_t size = b.name_size
    cdef Py_ssize_t length
    if b.failed:
        return
    if b.tag == SCRIPT:
        at = script_end(b, at)
    else:
        while True:
            at = <const char*>memchr(at, 60, b.stop - at)
            if at == NULL:
                at = b.stop
                break
            if is_end_tag(b, at, name, size):
                break
            at += 1
    length = at - text
    if length and (
        memchr(text, 13, length) != NULL
        or memchr(text, 0, length) != NULL
        or (references and memchr(text, 38, length) != NULL)
    ):
        length = decoded(b, &text, length, 2, references, False)
    if b.skip_newline and length and text[0] == 10:
        text += 1
        length -= 1
    b.skip_newline = False
    insert_raw(b, text, length)
    pop(b)
    if at < b.stop:
        at = read_attributes(b, at + size + 2, False)
    b.at = b.stop if at == NULL else at
    b.self_closing = False


cdef void insert_raw(Builder* b, const char* text, Py_ssize_t size) noexcept nogil:
    """Insert text into the current element, which is not foster-parented."""
    cdef bint foster = b.foster
    b.foster = False
    insert_text(b, text, size)
    b.foster = foster


cdef const char* comment_end(const char* at, const char* stop) noexcept nogil:
    """What follows a comment whose data starts at `at`, after `<!--`."""
    cdef const char* close = at
    if at < stop and at[0] == 62:
        return at + 1
    if stop - at >= 2 and at[0] == 45 and at[1] == 62:
        return at + 2
    while True:
        close = <const char*>memchr(close, 62, stop - close)
        if close == NULL:
            return stop
        if close - at >= 2 and close[-1] == 45 and close[-2] == 45:
            return close + 1
        if close - at >= 3 and close[-1] == 33 and close[-2] == 45 and close[-3] == 45:
            return close + 1
        close += 1


cdef bint equals_folded(const char* text, Py_ssize_t size, const char* word) noexcept nogil:
    """Whether a text begins with a lower-case word, in any case."""
    cdef Py_ssize_t k = 0
    while word[k]:
        if k == size or lower(text[k]) != <unsigned char>word[k]:
            return False
        k += 1
    return True


_QUIRKY = (
    "+//silmaril//dtd html pro v0r11 19970101//|-//as//dtd html 3.0 aswedit + extensions//|-//advasoft ltd//dtd html 3.0 "
    "aswedit + extensions//|-//ietf//dtd html 2.0 level 1//|-//ietf//dtd html 2.0 level 2//|-//ietf//dtd html 2.0 strict "
    "level 1//|-//ietf//dtd html 2.0 strict level 2//|-//ietf//dtd html 2.0 strict//|-//ietf//dtd html 2.0//|-//ietf//dtd "
    "html 2.1e//|-//ietf//dtd html 3.0//|-//ietf//dtd html 3.2 final//|-//ietf//dtd html 3.2//|-//ietf//dtd html 3//|"
    "-//ietf//dtd html level 0//|-//ietf//dtd html level 1//|-//ietf//dtd html level 2//|-//ietf//dtd html level 3//|"
    "-//ietf//dtd html strict level 0//|-//ietf//dtd html strict level 1//|-//ietf//dtd html strict level 2//|-//ietf//dtd "
    "html strict level 3//|-//ietf//dtd html strict//|-//ietf//dtd html//|-//metrius//dtd metrius presentational//|"
    "-//microsoft//dtd internet explorer 2.0 html strict//|-//microsoft//dtd internet explorer 2.0 html//|-//microsoft//dtd "
    "internet explorer 2.0 tables//|-//microsoft//dtd internet explorer 3.0 html strict//|-//microsoft//dtd internet "
    "explorer 3.0 html//|-//microsoft//dtd internet explorer 3.0 tables//|-//netscape comm. corp.//dtd html//|-//netscape "
    "comm. corp.//dtd strict html//|-//o'reilly and associates//dtd html 2.0//|-//o'reilly and associates//dtd html "
    "extended 1.0//|-//o'reilly and associates//dtd html extended relaxed 1.0//|-//sq//dtd html 2.0 hotmetal + "
    "extensions//|-//softquad software//dtd hotmetal pro 6.0::19990601::extensions to html 4.0//|-//softquad//dtd hotmetal "
    "pro 4.0::19971010::extensions to html 4.0//|-//spyglass//dtd html 2.0 extended//|-//sun microsystems corp.//dtd "
    "hotjava html//|-//sun microsystems corp.//dtd hotjava strict html//|-//w3c//dtd html 3 1995-03-24//|-//w3c//dtd html "
    "3.2 draft//|-//w3c//dtd html 3.2 final//|-//w3c//dtd html 3.2//|-//w3c//dtd html 3.2s draft//|-//w3c//dtd html 4.0 "
    "frameset//|-//w3c//dtd html 4.0 transitional//|-//w3c//dtd html experimental 19960712//|-//w3c//dtd html experimental "
    "970421//|-//w3c//dtd w3 html//|-//w3o//dtd w3 html 3.0//|-//webtechs//dtd mozilla html 2.0//|-//webtechs//dtd mozilla "
    "html//"
).split("|")
"""Beginnings of public identifiers that mean quirks mode (13.2.6.4.1)."""


def _is_quirky(declaration: bytes) -> bool:
    """Whether a document type, from `<!doctype` to its `>`, means quirks mode (13.2.6.4.1)."""
    import re

    cut = re.compile(rb"\s*([^\s>]*)\s*(.*)", re.DOTALL)
    name, rest = cut.match(declaration).groups()
    if name.lower() != b"html":
        return True
    quoted = rb"""\s*(?:"([^">]*)(["]?)|'([^'>]*)([']?))"""
    public = re.match(rb"public" + quoted, rest, re.IGNORECASE)
    if public is None:
        system = re.match(rb"system" + quoted, rest, re.IGNORECASE)
        if system is None:
            return bool(rest)  # neither keyword, or no quotation mark after it
        if not (system[2] or system[4]):
            return True
        return (system[1] or system[3] or b"").lower() == b"http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"
    if not (public[2] or public[4]):
        return True
    identifier = (public[1] or public[3] or b"").decode("utf-8", "replace").lower()
    rest = rest[public.end() :]
    system = re.match(quoted, rest)
    if system is None and rest.strip():
        return True
    if system is not None and not (system[2] or system[4]):
        return True
    if system is not None and (system[1] or system[3] or b"").lower() == (
        b"http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"
    ):
        return True
    if identifier in ("-//w3o//dtd w3 html strict 3.0//en//", "-/w3c/dtd html 4.0 transitional/en", "html"):
        return True
    without = ("-//w3c//dtd html 4.01 frameset//", "-//w3c//dtd html 4.01 transitional//")
    return identifier.startswith(tuple(_QUIRKY)) or (system is None and identifier.startswith(without))


cdef void read_doctype(Builder* b, const char* at, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t k = 0
    if b.mode != INITIAL:
        return
    b.mode = BEFORE_HTML
    while k < size and IS_SPACE[<uint8_t>at[k]]:
        k += 1
    if size - k >= 4 and equals_folded(at + k, size - k, b"html"):
        k += 4
        while k < size and IS_SPACE[<uint8_t>at[k]]:
            k += 1
        if k == size:
            return
    with gil:
        b.quirks = _is_quirky((at)[:size])


cdef const char* read_declaration(Builder* b, const char* at) noexcept nogil:
    """Read what begins with `<!`: a comment, a document type, CDATA, a bogus comment; return what follows."""
    cdef const char* mark
    cdef Py_ssize_t size = b.stop - at
    if size >= 4 and at[2] == 45 and at[3] == 45:
        return comment_end(at + 4, b.stop)
    if size >= 9 and memcmp(at, b"<![CDATA[", 9) == 0 and b.depth and b.nodes[current(b)].kind != HTML:
        mark = at + 9
        while True:
            mark = <const char*>memchr(mark, 93, b.stop - mark)
            if mark == NULL or b.stop - mark < 3:
                mark = NULL
                break
            if mark[1] == 93 and mark[2] == 62:
                break
            mark += 1
        size = (b.stop if mark == NULL else mark) - at - 9
        if size:
            emit_text(b, at + 9, size, False, False)
        return b.stop if mark == NULL else mark + 3
    mark = <const char*>memchr(at, 62, size)
    if size >= 9 and equals_folded(at + 2, size - 2, b"doctype"):
        read_doctype(b, at + 9, (b.stop if mark == NULL else mark) - at - 9)
        if mark == NULL and b.mode == BEFORE_HTML:
            b.quirks = True
    return b.stop if mark == NULL else mark + 1


cdef void finish(Builder* b) noexcept nogil:
    """The end of the page: what has to be there is added."""
    cdef int k
    if b.mode == INITIAL:
        leave_initial(b)
    if b.mode == BEFORE_HTML:
        imply_html(b)
    if b.mode == BEFORE_HEAD:
        imply_head(b)
    if b.mode == IN_HEAD_NOSCRIPT:
        pop(b)
        b.mode = IN_HEAD
    if b.mode == IN_HEAD:
        pop(b)
        b.mode = AFTER_HEAD
    while b.mode_count and b.opened[TEMPLATE]:
        pop_until(b, TEMPLATE)
        clear_to_marker(b)
        b.mode_count -= 1
        reset_mode(b)
        if b.mode == IN_HEAD:
            pop(b)
            b.mode = AFTER_HEAD
    if b.mode == AFTER_HEAD:
        imply_body(b)


cdef void build(Builder* b) noexcept nogil:
    cdef const char* at = b.at
    cdef const char* start
    cdef bint plain
    cdef uint8_t c
    while at < b.stop and not b.failed:
        start = at
        plain = True
        if b.plain_text:
            at = b.stop
            plain = False
        while at < b.stop:  # text
            while at < b.stop and not ENDS_TEXT[<uint8_t>at[0]]:
                at += 1
            if at == b.stop:
                break
            if at[0] != 60:
                plain = False
                at += 1
                continue
            if at + 1 == b.stop:
                at += 1
                break
            c = <uint8_t>at[1]
            if 97 <= (c | 32) <= 122 or c == 33 or c == 63:
                break
            if c == 47 and at + 2 < b.stop:
                break
            at += 1
        if at > start:
            emit_text(b, start, at - start, plain, not b.plain_text)
            b.skip_newline = False
        if at >= b.stop or b.failed:
            break
        c = <uint8_t>at[1]
        if c == 33:
            at = read_declaration(b, at)
            b.skip_newline = False
        elif c == 63:
            start = <const char*>memchr(at, 62, b.stop - at)
            at = b.stop if start == NULL else start + 1
            b.skip_newline = False
        elif c == 47:
            c = <uint8_t>at[2]
            if 97 <= (c | 32) <= 122:
                b.closes = True
                at = read_tag(b, at + 2)
            else:  # a bogus comment, or nothing
                if c != 62:
                    b.skip_newline = False
                elif IN_TABLE <= b.mode <= IN_ROW:
                    b.failed = TOO_ODD  # text before and after it is one
                    break
                start = <const char*>memchr(at, 62, b.stop - at)
                at = b.stop if start == NULL else start + 1
        else:
            b.closes = False
            at = read_tag(b, at + 1)
        if at == NULL:
            break
    if not b.failed:
        finish(b)


def utf8_kind(bytes page):
    """0 if the bytes are ASCII, 1 if they are other valid UTF-8, 2 if they are not."""
    cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(page)
    cdef const uint8_t* stop = at + PyBytes_GET_SIZE(page)
    cdef uint64_t eight, all_of
    cdef uint64_t many[8]
    cdef int more, kind = 0, k
    cdef uint8_t c
    with nogil:
        while at < stop:
            while stop - at >= 64:
                memcpy(many, at, 64)
                all_of = 0
                for k in range(8):
                    all_of |= many[k]
                if all_of & <uint64_t>0x8080808080808080:
                    break
                at += 64
            while stop - at >= 8:
                memcpy(&eight, at, 8)
                if eight & <uint64_t>0x8080808080808080:
                    break
                at += 8
            while at < stop and at[0] < 0x80:
                at += 1
            if at == stop:
                break
            kind = 1
            c = at[0]
            more = 1 if 0xC2 <= c <= 0xDF else 2 if 0xE0 <= c <= 0xEF else 3 if 0xF0 <= c <= 0xF4 else 0
            if not more or stop - at <= more or (at[1] & 0xC0) != 0x80 or (
                (c == 0xE0 and at[1] < 0xA0) or (c == 0xED and at[1] > 0x9F) or (c == 0xF0 and at[1] < 0x90)
                or (c == 0xF4 and at[1] > 0x8F) or (more > 1 and (at[2] & 0xC0) != 0x80)
                or (more > 2 and (at[3] & 0xC0) != 0x80)
            ):
                kind = 2
                break
            at += more + 1
    return kind


cdef enum:
    AT_ONCE = 256


cdef bint is_wide(const uint8_t* page, Py_ssize_t size) noexcept nogil:
    """Whether a page in UTF-8 has characters beyond U+00FF; many bytes are compared at once."""
    cdef Py_ssize_t at = 0, k
    cdef uint8_t highest = 0
    while at + AT_ONCE <= size and highest < 0xC4:
        for k in range(AT_ONCE):
            highest = max(highest, page[at + k])
        at += AT_ONCE
    for k in range(at, size if highest < 0xC4 else at):
        highest = max(highest, page[k])
    return highest >= 0xC4


cdef class HtmlTree:
    """The nodes of a page in UTF-8.

    Of a tag, `most_attributes` attributes and one more are read. `left` says why the page was left: `xml` for an
    `<iframe/>` or the like, unless `xml_checked`, `many` for one with more than `most` elements, `odd` for one that is
    for the other parser; otherwise it is None.
    """

    def __cinit__(self, bytes page, Py_ssize_t most, bint xml_checked=False, Py_ssize_t most_attributes=1_000):
        cdef Builder* b = &self.builder
        fill_references()
        self.page = page
        b.at = b.start = PyBytes_AS_STRING(page)
        b.stop = b.at + PyBytes_GET_SIZE(page)
        b.most = <int32_t>min(most, MOST_COUNTED)
        b.most_attributes = <int32_t>min(most_attributes, MOST_COUNTED)
        b.head = b.form = -1
        b.frameset_ok = True
        b.xml_checked = xml_checked
        with nogil:
            b.is_wide = is_wide(<const uint8_t*>b.start, b.stop - b.start)
            new_node(b)
            if not b.failed:
                b.nodes[0].kind = HTML
                b.nodes[0].data = b""
                b.nodes[0].size = 0
                build(b)
        if b.failed == NO_MEMORY:
            raise MemoryError()

    def __dealloc__(self):
        cdef int32_t k
        for k in range(self.builder.chunk_count):
            free(self.builder.chunks[k])
        free(self.builder.chunks)
        free(self.builder.nodes)
        free(self.builder.attributes)
        free(self.builder.slots)

    @property
    def left(self):
        if not self.builder.failed:
            return None
        if self.builder.failed == TOO_MANY:
            return "many"
        return "xml" if self.builder.failed == XML_CLOSED else "odd"

    def head_elements(self):
        """Yield what the head of a page consists of, in its order, wherever it is: name, attributes, text.

        html, title, base and meta elements, links that may be canonical and scripts that may be JSON-LD.
        """
        cdef Builder* b = &self.builder
        cdef int32_t i = b.nodes[0].first
        cdef Dom* node
        cdef bint descends
        cdef int tag
        while i > 0:
            node = b.nodes + i
            tag = node.tag
            descends = node.kind != TEXT_NODE
            if not descends:
                pass
            elif tag == TEMPLATE:
                descends = is_shadow_root("template", list(self.attributes_of(i).items()))
            elif tag == META or tag == BASE or (tag == HTML_ and node.parent == 0):
                yield NAMES[tag - 1], self.attributes_of(i), ""
            elif tag == LINK and has_word(b, i, b"rel", 3, b"canonical", 9):
                yield "link", self.attributes_of(i), ""
            elif tag == SCRIPT and has_word(b, i, b"type", 4, b"ld+json", 7):
                yield "script", {}, self.text_of(i)
            elif tag == TITLE and node.kind == HTML:
                yield "title", {}, self.text_of(i)
            if descends and node.first >= 0:
                i = node.first
                continue
            while i > 0 and b.nodes[i].next < 0:
                i = b.nodes[i].parent
            if i > 0:
                i = b.nodes[i].next

    cdef dict attributes_of(self, int32_t i):
        cdef Attribute* attribute = self.builder.attributes + self.builder.nodes[i].attributes
        cdef int32_t k
        return {
            text_at(attribute[k].name, attribute[k].name_size): text_at(attribute[k].value, attribute[k].value_size)
            for k in range(self.builder.nodes[i].attribute_count)
        }

    cdef str text_of(self, int32_t top):
        """The text of an element and its descendants."""
        cdef Builder* b = &self.builder
        cdef int32_t i = b.nodes[top].first
        pieces = []
        while i >= 0:
            if b.nodes[i].kind == TEXT_NODE:
                pieces.append(text_at(b.nodes[i].data, b.nodes[i].size))
            if b.nodes[i].first >= 0:
                i = b.nodes[i].first
                continue
            while i != top and b.nodes[i].next < 0:
                i = b.nodes[i].parent
            i = -1 if i == top else b.nodes[i].next
        return "".join(pieces)


cdef bint has_word(Builder* b, int32_t i, const char* name, int32_t size, const char* word, int32_t word_size) noexcept:
    """Whether an attribute of an element contains a word, in any case."""
    cdef Attribute* attribute
    cdef Py_ssize_t at
    cdef int32_t k
    for k in range(b.nodes[i].attributes, b.nodes[i].attributes + b.nodes[i].attribute_count):
        attribute = b.attributes + k
        if attribute.name_size == size and memcmp(attribute.name, name, size) == 0:
            for at in range(attribute.value_size - word_size + 1):
                if equals_folded(attribute.value + at, word_size, word):
                    return True
    return False


cdef str text_at(const char* text, Py_ssize_t size):
    return PyUnicode_DecodeUTF8(text, size, "replace") if size else ""
