# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""The columns of a PageTree from an HTML tree. tests/oracles/plain_layout.py is the slow version."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memchr, memcmp, memcpy, memset

import numpy as np
from xxhash import xxh3_64_intdigest

from webwinnow.page import markup as vocabulary
from webwinnow.page._hashing cimport GOLDEN, mixed
from webwinnow.page._htmltokens cimport Attribute
from webwinnow.page._htmltree cimport TEXT_NODE, Builder, Dom, HtmlTree
from webwinnow.page._memory cimport Column, make_room, push, push32, push64
from webwinnow.page._unicode cimport is_blank, lower
from webwinnow.errors import PageRefused

cdef object read_only = np.frombuffer

cdef enum:
    # properties of a tag, above its 16-bit code
    DROP = 1 << 16
    OPAQUE = 1 << 17
    PRE = 1 << 18
    IS_NOSCRIPT = 1 << 19
    MAY_HIDE = 1 << 20      # an attribute decides whether it is hidden: dialog, input
    UNCLOSED = 1 << 21
    KNOWN = 1 << 22
    TEMPLATE = 1 << 23
    # properties of an attribute, above its 8-bit code
    STORED = 1 << 8
    DISPLAY = 1 << 9
    MAY_BE_HIDING = 1 << 10  # hidden, and style with `none`
    IS_URL = 1 << 11
    ROLE = 1 << 12
    CLASS = 1 << 13
    INLINE_STYLE = 1 << 14

cdef int F_HIDDEN = vocabulary.HIDDEN
cdef int F_NOSCRIPT = vocabulary.NOSCRIPT
cdef int F_PREFORMATTED = vocabulary.PREFORMATTED
cdef int F_INHERITED = vocabulary.INHERITED_FLAGS
cdef int FIRST_CUSTOM = vocabulary.CUSTOM_TAG
cdef Py_ssize_t LONGEST = vocabulary.MAX_VALUE
cdef Py_ssize_t LONGEST_TAG = vocabulary.MAX_TAG
cdef Py_ssize_t MAX_VALUES = vocabulary.MAX_VALUES

# Hash tables from names to properties, with open addressing; filled below.
cdef enum:
    SLOTS = 1024
    LONGEST_NAME = 16

cdef struct Name:
    char text[LONGEST_NAME]
    uint8_t size
    uint32_t info

cdef Name TAG_TABLE[SLOTS]
cdef Name ATTRIBUTE_TABLE[SLOTS]
cdef uint64_t SHAPE_OF_TAG[512]
cdef uint64_t STYLE_OF_TAG[512]


cdef inline uint32_t slot_of(const char* text, Py_ssize_t size) noexcept:
    cdef uint32_t value = 2166136261
    cdef Py_ssize_t k
    for k in range(size):
        value = (value ^ <uint8_t>text[k]) * 16777619
    return value & (SLOTS - 1)


cdef inline uint32_t look_up(const Name* table, const char* text, Py_ssize_t size) noexcept:
    """The properties of a name; 0 for an unknown one."""
    cdef uint32_t slot
    if size > LONGEST_NAME:
        return 0
    slot = slot_of(text, size)
    while table[slot].size:
        if table[slot].size == size and memcmp(table[slot].text, text, size) == 0:
            return table[slot].info
        slot = (slot + 1) & (SLOTS - 1)
    return 0


cdef void enter(Name* table, bytes name, uint32_t info):
    cdef Py_ssize_t size = len(name)
    cdef uint32_t slot = slot_of(name, size)
    while table[slot].size:
        slot = (slot + 1) & (SLOTS - 1)
    memcpy(table[slot].text, <const char*>name, size)
    table[slot].size = size
    table[slot].info = info


def _fill_tables():
    named = {*vocabulary.TAG_CODE, *vocabulary.DROPPED_TAGS, *vocabulary.UNCLOSED_TAGS}
    for tag in sorted(named):
        info = KNOWN | vocabulary.TAG_CODE[tag] if tag in vocabulary.TAG_CODE else 0
        info |= DROP * (tag in vocabulary.DROPPED_TAGS) | OPAQUE * (tag in vocabulary.OPAQUE_TAGS)
        info |= PRE * (tag in vocabulary.PREFORMATTED_TAGS) | IS_NOSCRIPT * (tag == "noscript")
        info |= MAY_HIDE * (tag in ("dialog", "input")) | UNCLOSED * (tag in vocabulary.UNCLOSED_TAGS)
        info |= TEMPLATE * (tag == "template")
        enter(TAG_TABLE, tag.encode(), info)
    for name in sorted({*vocabulary.ATTRIBUTE_CODE, *vocabulary.DISPLAY_ATTRIBUTES, "hidden"}):
        info = STORED | vocabulary.ATTRIBUTE_CODE[name] if name in vocabulary.ATTRIBUTE_CODE else 0
        info |= DISPLAY * (name in vocabulary.DISPLAY_ATTRIBUTES) | MAY_BE_HIDING * (name in ("hidden", "style"))
        info |= IS_URL * (name in vocabulary.ADDRESS_ATTRIBUTES) | ROLE * (name == "role")
        info |= CLASS * (name == "class") | INLINE_STYLE * (name == "style")
        enter(ATTRIBUTE_TABLE, name.encode(), info)
    for tag, code in vocabulary.TAG_CODE.items():
        SHAPE_OF_TAG[code] = vocabulary.shape_hash(tag, "")
        STYLE_OF_TAG[code] = vocabulary.style_hash(tag, ())


_fill_tables()


cdef enum:
    # the columns of a Layout: those of ARRAYS in order, and others
    TAG, PARENT, END, STYLE, SHAPE, FLAGS, TEXT_START, TEXT_END, RUN_START, RUN_OWNER, RUN_BEFORE, ATTR_NODE, \
        ATTR_NAME, ATTR_START, TEXT, ATTR_TEXT, OPEN, KEY, SLOT, KNOWN_KEY, COLUMNS

cdef tuple ARRAYS = tuple(
    (name, np.dtype(dtype))
    for name, dtype in {
        "tag": np.uint16, "parent": np.int32, "end": np.int32, "style": np.uint64, "shape": np.uint64,
        "flags": np.uint8, "text_start": np.int32, "text_end": np.int32, "run_start": np.int32, "run_owner": np.int32,
        "run_before": np.int32, "attr_node": np.int32, "attr_name": np.uint8, "attr_start": np.int32,
    }.items()
)


cdef enum:
    MAX_TOKENS = 64
    MAX_CLASS = 1024
    MAX_PARTS = 8


cdef inline int kind_of(unsigned char c) noexcept:
    """1 lower, 2 upper, 3 digit, 0 other."""
    if 97 <= c <= 122:
        return 1
    if 65 <= c <= 90:
        return 2
    if 48 <= c <= 57:
        return 3
    return 0


cdef Py_ssize_t write_part(const unsigned char* part, Py_ssize_t size, char* out) noexcept:
    """Write markup._canonical_part into `out`; return how many characters were written."""
    cdef Py_ssize_t k, boundaries = 0, written = 0
    cdef bint digit = False
    cdef int kind, last = 0
    for k in range(size):
        kind = kind_of(part[k])
        if kind == 3:
            digit = True
        if k and kind and last and kind != last:
            boundaries += 1
        last = kind
    if size >= 5 and ((digit and boundaries >= 2) or boundaries * 2 >= size):
        out[0] = 35  # '#'
        return 1
    last = 0
    for k in range(size):
        kind = kind_of(part[k])
        if kind != 3:
            out[written] = part[k]
            written += 1
        elif last != 3:
            out[written] = 35
            written += 1
        last = kind
    return written


cdef Py_ssize_t write_token(const unsigned char* token, Py_ssize_t size, char* out) noexcept:
    """Write markup._canonical_token: a token without digit or capital unchanged."""
    cdef Py_ssize_t k, start = 0, written = 0
    cdef bint varied = False
    for k in range(size):
        if kind_of(token[k]) >= 2:
            varied = True
            break
    if not varied:
        memcpy(out, token, size)
        return size
    k = 0
    while k < size:
        if token[k] == 45 or token[k] == 95:  # '-' '_'
            written += write_part(token + start, k - start, out + written)
            out[written] = 45
            written += 1
            while k < size and (token[k] == 45 or token[k] == 95):
                k += 1
            start = k
        else:
            k += 1
    return written + write_part(token + start, size - start, out + written)


cdef inline int compare_tokens(const char* a, Py_ssize_t a_size, const char* b, Py_ssize_t b_size) noexcept:
    cdef int order = memcmp(a, b, a_size if a_size < b_size else b_size)
    if order == 0:
        order = -1 if a_size < b_size else (1 if a_size > b_size else 0)
    return order


cdef struct Tokens:
    # Parts of a buffer, distinct and in order.
    Py_ssize_t offset[MAX_TOKENS]
    Py_ssize_t length[MAX_TOKENS]
    Py_ssize_t count


cdef bint insert(Tokens* tokens, const char* text, Py_ssize_t start, Py_ssize_t size) noexcept:
    """Add a part of a text unless it is there already; False if there is no room."""
    cdef Py_ssize_t at = tokens.count, k
    cdef int order = 1
    while at > 0:
        order = compare_tokens(text + start, size, text + tokens.offset[at - 1], tokens.length[at - 1])
        if order >= 0:
            break
        at -= 1
    if at > 0 and order == 0:
        return True
    if tokens.count == MAX_TOKENS:
        return False
    for k in range(tokens.count, at, -1):
        tokens.offset[k] = tokens.offset[k - 1]
        tokens.length[k] = tokens.length[k - 1]
    tokens.offset[at], tokens.length[at] = start, size
    tokens.count += 1
    return True


cdef Py_ssize_t write_tokens(const Tokens* tokens, const char* text, char separator, char* out) noexcept:
    """Write the tokens with a separator between them; return how many characters were written."""
    cdef Py_ssize_t k, total = 0
    for k in range(tokens.count):
        if k:
            out[total] = separator
            total += 1
        memcpy(out + total, text + tokens.offset[k], tokens.length[k])
        total += tokens.length[k]
    return total


cdef Py_ssize_t write_class(const unsigned char* source, Py_ssize_t size, char* out) noexcept:
    """markup.canonical_class of ASCII into `out`, which has room for MAX_CLASS; -1 if it may not suffice."""
    cdef char written[MAX_CLASS + MAX_TOKENS]
    cdef Tokens tokens
    cdef Py_ssize_t used = 0, k = 0, start, n
    if size > MAX_CLASS:
        return -1
    tokens.count = 0
    while True:
        while k < size and is_blank(source[k]):
            k += 1
        if k == size:
            return write_tokens(&tokens, written, 32, out)
        start = k
        while k < size and not is_blank(source[k]):
            k += 1
        n = write_token(source + start, k - start, written + used)
        if not insert(&tokens, written, used, n):
            return -1
        used += n


cdef inline bint is_numeric(unsigned char c) noexcept:
    return 48 <= c <= 57 or c == 46


cdef Py_ssize_t write_inline_style(const unsigned char* source, Py_ssize_t size, char* out) noexcept:
    """markup._canonical_inline_style of ASCII into `out`, which has room for MAX_CLASS; -1 if it may not suffice."""
    cdef char written[MAX_CLASS]
    cdef Tokens tokens
    cdef Py_ssize_t used = 0, k = 0, start, n
    cdef const unsigned char* close
    cdef unsigned char c
    if size > MAX_CLASS:
        return -1
    while k < size:  # without URLs, numbers and white space, in lower case: never longer than the source
        c = source[k]
        if c == 117 and size - k >= 5 and memcmp(source + k, b"url(", 4) == 0:
            close = <const unsigned char*>memchr(source + k, 41, size - k)
            if close != NULL:
                memcpy(written + used, b"url()", 5)
                used += 5
                k = close - source + 1
                continue
        if is_numeric(c) or (c == 45 and k + 1 < size and is_numeric(source[k + 1])):
            k += 1
            while k < size and is_numeric(source[k]):
                k += 1
            written[used] = 35  # '#'
            used += 1
            continue
        if not is_blank(c):
            written[used] = lower(c)
            used += 1
        k += 1
    start = tokens.count = 0
    while start <= used:
        close = <const unsigned char*>memchr(written + start, 59, used - start)  # ';'
        n = (used if close == NULL else close - <const unsigned char*>written) - start
        if memchr(written + start, 58, n) != NULL and not (n >= 2 and memcmp(written + start, b"--", 2) == 0):
            if not insert(&tokens, written, start, n):
                return -1
        start += n + 1
    return write_tokens(&tokens, written, 59, out)


cdef bint displays_none(const char* value, Py_ssize_t size) noexcept:
    """markup._displays_none of ASCII: whether the last `display` of an inline style is `none`."""
    cdef Py_ssize_t start = 0, end, first, last, k
    cdef bint none = False
    while start <= size:
        end = start
        while end < size and value[end] != 59:
            end += 1
        k = start
        while k < end and value[k] != 58:
            k += 1
        first, last = start, k
        trim(value, &first, &last)
        if equals(value + first, last - first, b"display", 7):
            first, last = k + 1, k + 1
            while last < end and value[last] != 33:  # '!'
                last += 1
            if first > end:
                first = last = end
            trim(value, &first, &last)
            none = equals(value + first, last - first, b"none", 4)
        start = end + 1
    return none


cdef inline void trim(const char* value, Py_ssize_t* first, Py_ssize_t* last) noexcept:
    while first[0] < last[0] and is_blank(<unsigned char>value[first[0]]):
        first[0] += 1
    while last[0] > first[0] and is_blank(<unsigned char>value[last[0] - 1]):
        last[0] -= 1


cdef inline bint equals(const char* value, Py_ssize_t size, const char* word, Py_ssize_t word_size) noexcept:
    """Whether ASCII equals a lower-case word, in any case."""
    cdef Py_ssize_t k
    if size != word_size:
        return False
    for k in range(size):
        if lower(value[k]) != <unsigned char>word[k]:
            return False
    return True


cdef Py_ssize_t write_folded(const unsigned char* source, Py_ssize_t size, char* out) noexcept:
    """Write the canonical form of a presentational attribute: lower case, white space folded."""
    cdef Py_ssize_t k, total = 0
    cdef bint gap = False
    for k in range(size):
        if is_blank(source[k]):
            gap = total > 0
            continue
        if gap:
            out[total] = 32
            total += 1
            gap = False
        out[total] = lower(source[k])
        total += 1
    return total


cdef bint is_plain(const char* value, Py_ssize_t size) noexcept:
    """Whether a value is ASCII."""
    cdef Py_ssize_t k
    for k in range(size):
        if <uint8_t>value[k] >= 128:
            return False
    return True


cdef bytes canonical_style(const char* tag, Py_ssize_t tag_size, const Attribute* attributes, Py_ssize_t count):
    """markup.canonical_style, encoded; None for other scripts and long values, which are left to Python."""
    cdef const unsigned char* value
    cdef Py_ssize_t size
    cdef char parts[MAX_PARTS][MAX_CLASS + MAX_TOKENS + LONGEST_NAME + 1]
    cdef Py_ssize_t length[MAX_PARTS]
    cdef int order[MAX_PARTS]
    cdef char joined[(MAX_CLASS + MAX_TOKENS + LONGEST_NAME + 2) * MAX_PARTS + 64]
    cdef Py_ssize_t k, n, at, total
    cdef int used = 0, part
    if tag_size > 64:
        return None
    for k in range(count):
        if not attributes[k].info & DISPLAY:
            continue
        if used == MAX_PARTS or attributes[k].value_size > MAX_CLASS:
            return None
        value, size = <const unsigned char*>attributes[k].value, attributes[k].value_size
        if not is_plain(attributes[k].value, size):
            return None
        n = attributes[k].name_size
        memcpy(parts[used], attributes[k].name, n)
        parts[used][n] = 61  # '='
        if attributes[k].info & CLASS:
            total = write_class(value, size, parts[used] + n + 1)
        elif attributes[k].info & INLINE_STYLE:
            total = write_inline_style(value, size, parts[used] + n + 1)
        else:
            total = write_folded(value, size, parts[used] + n + 1)
        if total < 0:
            return None
        if total == 0 and attributes[k].info & (CLASS | INLINE_STYLE | ROLE):
            continue
        length[used] = n + 1 + total
        at = used
        while at > 0 and compare_tokens(parts[used], length[used], parts[order[at - 1]], length[order[at - 1]]) < 0:
            order[at] = order[at - 1]
            at -= 1
        order[at] = used
        used += 1
    memcpy(joined, tag, tag_size)
    total = tag_size
    for part in range(used):
        joined[total] = 31  # U+001F
        memcpy(joined + total + 1, parts[order[part]], length[order[part]])
        total += 1 + length[order[part]]
    return PyBytes_FromStringAndSize(joined, total)


cdef enum:
    FIRST_SLOTS = 256
    MOST_PROBES = 16  # a page can be written so that its keys collide: then some are not remembered

cdef struct KnownHash:
    # a key that was hashed before: its place in KNOWN_KEY, and the hash of the style or shape
    uint64_t place
    uint64_t value
    Py_ssize_t start
    Py_ssize_t size


cdef inline uint64_t place_of(const char* key, Py_ssize_t size) noexcept:
    """Where in the table of known hashes a key belongs."""
    cdef uint64_t found = <uint64_t>size, part = 0
    while size >= 8:
        memcpy(&part, key, 8)
        found = (found ^ part) * GOLDEN
        found ^= found >> 29
        key += 8
        size -= 8
    part = 0
    memcpy(&part, key, size)
    return mixed(found ^ part)


cdef enum:
    # what `Layout.open` does with an element
    PASSED    # it is not closed: what is inside it is laid out as inside its parent
    LEFT_OUT  # with all that is inside it
    OPENED


cdef inline Py_ssize_t code_points(const char* data, Py_ssize_t size) noexcept:
    cdef Py_ssize_t k, points = 0
    for k in range(size):
        points += (<uint8_t>data[k] & 0xC0) != 0x80
    return points


cdef bint says_none(const char* value, Py_ssize_t size) noexcept:
    """Whether an inline style contains the word `none`, in any case: only then can it hide something."""
    cdef Py_ssize_t k
    for k in range(size - 3):
        if (value[k] | 32) == 110 and (value[k + 1] | 32) == 111 and (value[k + 2] | 32) == 110:
            if (value[k + 3] | 32) == 101:
                return True
    return False


cdef class Layout:
    """The growing columns of one page."""

    cdef Py_ssize_t max_nodes, max_depth, max_attributes, max_values, values
    cdef Column column[COLUMNS]
    cdef dict custom
    cdef Py_ssize_t known
    cdef bint is_known
    cdef int32_t count, current, length, attr_length, last_owner, last_before
    cdef Py_ssize_t depth
    cdef bint in_body, frameset, clipped_depth, clipped_attributes

    def __cinit__(self, Py_ssize_t size, Py_ssize_t max_nodes, Py_ssize_t max_depth, Py_ssize_t max_attributes):
        self.max_values = max(2 * size, MAX_VALUES)
        self.max_nodes = max_nodes
        self.max_depth = max_depth
        self.max_attributes = max_attributes
        self.custom = {}
        self.known = 0
        self.widen(FIRST_SLOTS)
        self.current = -1
        self.last_owner = -1
        push32(&self.column[ATTR_START], 0)
        self.add_node(0, 0, STYLE_OF_TAG[0], SHAPE_OF_TAG[0])
        self.current = 0

    def __dealloc__(self):
        cdef int k
        for k in range(COLUMNS):
            free(self.column[k].data)

    cdef int add_node(self, int code, uint8_t flags, uint64_t style, uint64_t shape) except -1:
        cdef uint16_t short_code = code
        push(&self.column[TAG], &short_code, 2)
        push32(&self.column[PARENT], self.current)
        push32(&self.column[END], 0)
        push(&self.column[FLAGS], &flags, 1)
        push32(&self.column[TEXT_START], self.length)
        push32(&self.column[TEXT_END], 0)
        push64(&self.column[STYLE], style)
        push64(&self.column[SHAPE], shape)
        self.count += 1
        return 0

    cdef int open(self, const char* name, Py_ssize_t size, Attribute* attributes, Py_ssize_t count) except -1:
        """Lay an element out; one of PASSED, LEFT_OUT and OPENED."""
        cdef uint32_t info = look_up(TAG_TABLE, name, size)
        cdef int32_t node = -1
        cdef Py_ssize_t k
        if not self.in_body:
            if size == 8 and memcmp(name, b"frameset", 8) == 0:
                self.frameset = True
            if not (size == 4 and memcmp(name, b"body", 4) == 0):
                return PASSED
            self.in_body = True
        for k in range(count):
            self.values += attributes[k].name_size + attributes[k].value_size
            attributes[k].info = look_up(ATTRIBUTE_TABLE, attributes[k].name, attributes[k].name_size)
        if self.values > self.max_values:
            raise PageRefused(
                f"the page's attributes, those of reopened elements counted again, are longer than {self.max_values:,} bytes"
            )
        if info & DROP and not (
            info & TEMPLATE and vocabulary.is_shadow_root("template", self.pairs(attributes, count, False))
        ):
            return PASSED if info & UNCLOSED else LEFT_OUT
        if self.depth < self.max_depth:
            node = self.add(name, size, info, attributes, count)
        else:
            self.clipped_depth = True
            if not info & UNCLOSED and not (<uint8_t*>self.column[FLAGS].data)[self.current] & F_HIDDEN:
                if self.is_hidden(name, size, info, attributes, count):
                    return LEFT_OUT  # no node to flag
        if info & (UNCLOSED | OPAQUE):
            self.end(node)
            return PASSED if info & UNCLOSED else LEFT_OUT
        push32(&self.column[OPEN], node)
        self.depth += 1
        if node >= 0:
            self.current = node
        return OPENED

    cdef inline void end(self, int32_t node) noexcept:
        if node >= 0:
            (<int32_t*>self.column[END].data)[node] = self.count
            (<int32_t*>self.column[TEXT_END].data)[node] = self.length

    cdef void close(self) noexcept:
        """Close the element that was opened last."""
        cdef int32_t node
        self.column[OPEN].used -= sizeof(int32_t)
        node = (<int32_t*>(self.column[OPEN].data + self.column[OPEN].used))[0]
        self.depth -= 1
        self.end(node)
        if node >= 0:
            self.current = (<int32_t*>self.column[PARENT].data)[node]
            self.in_body = node != 1

    cdef int characters(self, const char* data, Py_ssize_t size) except -1:
        if not self.in_body:
            return 0
        if self.last_owner != self.current or self.last_before != self.count:
            push32(&self.column[RUN_START], self.length)
            push32(&self.column[RUN_OWNER], self.current)
            push32(&self.column[RUN_BEFORE], self.count)
            self.last_owner = self.current
            self.last_before = self.count
        push(&self.column[TEXT], data, size)
        self.length += <int32_t>code_points(data, size)
        return 0

    cdef int32_t add(self, const char* name, Py_ssize_t size, uint32_t info, Attribute* attributes,
                     Py_ssize_t count) except -2:
        cdef int32_t node = self.count
        cdef int flags = (<uint8_t*>self.column[FLAGS].data)[self.current] & F_INHERITED
        cdef int code
        cdef uint64_t style
        cdef Py_ssize_t k, role = -1
        if node >= self.max_nodes:
            raise PageRefused(f"the page has more than {self.max_nodes:,} elements; raise the limit to read it")
        if count > self.max_attributes:
            self.clipped_attributes = True
            count = self.max_attributes
        if info & KNOWN:
            code = info & 0xFFFF
            if info & IS_NOSCRIPT:
                flags |= F_NOSCRIPT
            elif info & PRE:
                flags |= F_PREFORMATTED
        else:
            code = FIRST_CUSTOM + self.custom.setdefault(
                PyUnicode_DecodeUTF8(name, size, NULL)[:LONGEST_TAG], len(self.custom)
            )
            if code > 0xFFFF:
                raise PageRefused(f"the page has more than {0xFFFF - FIRST_CUSTOM:,} tag names of its own")
        self.column[KEY].used = 0
        push(&self.column[KEY], name, size)
        for k in range(count):
            if attributes[k].info & DISPLAY:
                push(&self.column[KEY], b" ", 1)
                push(&self.column[KEY], attributes[k].name, attributes[k].name_size)
                push(&self.column[KEY], b'="', 2)
                push(&self.column[KEY], attributes[k].value, attributes[k].value_size)
                if attributes[k].info & ROLE and role < 0:
                    role = k
            if attributes[k].info & STORED:
                self.store(node, &attributes[k])
        if node > 1 and self.is_hidden(name, size, info, attributes, count):
            flags |= F_HIDDEN
        style = STYLE_OF_TAG[code] if info & KNOWN and self.column[KEY].used == <size_t>size else self.style_of(
            name, size, attributes, count
        )
        self.add_node(code, flags, style, self.shape_of(name, size, code, attributes, role))
        return node

    cdef bint is_hidden(self, const char* name, Py_ssize_t size, uint32_t info, Attribute* attributes,
                        Py_ssize_t count) except -1:
        """markup.is_hidden, which is called only if the raw attributes do not decide."""
        cdef bint is_input = (info & MAY_HIDE) != 0 and name[0] == 105  # the other one is dialog
        cdef Py_ssize_t k, first, last
        if info & MAY_HIDE and not is_input:
            return self.is_hidden_by_rule(name, size, attributes, count)
        for k in range(count):
            if attributes[k].info & MAY_BE_HIDING and attributes[k].name[0] == 104:
                return self.is_hidden_by_rule(name, size, attributes, count)
        for k in range(count):
            if attributes[k].info & MAY_BE_HIDING:
                if says_none(attributes[k].value, attributes[k].value_size):
                    if not is_plain(attributes[k].value, attributes[k].value_size) or displays_none(
                        attributes[k].value, attributes[k].value_size
                    ):
                        return self.is_hidden_by_rule(name, size, attributes, count)
            elif is_input and attributes[k].name_size == 4 and memcmp(attributes[k].name, b"type", 4) == 0:
                if not is_plain(attributes[k].value, attributes[k].value_size):
                    return self.is_hidden_by_rule(name, size, attributes, count)
                first, last = 0, attributes[k].value_size
                trim(attributes[k].value, &first, &last)
                if equals(attributes[k].value + first, last - first, b"hidden", 6):
                    return True
        return False

    cdef bint is_hidden_by_rule(self, const char* name, Py_ssize_t size, Attribute* attributes,
                                Py_ssize_t count) except -1:
        return vocabulary.is_hidden(PyUnicode_DecodeUTF8(name, size, NULL), self.pairs(attributes, count, False))

    cdef int store(self, int32_t node, Attribute* attribute) except -1:
        cdef uint8_t code = attribute.info & 0xFF
        cdef object value
        push32(&self.column[ATTR_NODE], node)
        push(&self.column[ATTR_NAME], &code, 1)
        if attribute.value_size <= LONGEST:
            push(&self.column[ATTR_TEXT], attribute.value, attribute.value_size)
            self.attr_length += <int32_t>code_points(attribute.value, attribute.value_size)
        else:  # long in bytes, maybe not in characters
            value = PyUnicode_DecodeUTF8(attribute.value, attribute.value_size, NULL)
            if len(value) > LONGEST:
                value = "" if attribute.info & IS_URL else value[:LONGEST]
            self.attr_length += <int32_t>len(value)
            value = value.encode("utf-8", "replace")
            push(&self.column[ATTR_TEXT], PyBytes_AS_STRING(value), PyBytes_GET_SIZE(value))
        push32(&self.column[ATTR_START], self.attr_length)
        return 0

    cdef list pairs(self, Attribute* attributes, Py_ssize_t count, bint display_only):
        return [
            (
                PyUnicode_DecodeUTF8(attributes[k].name, attributes[k].name_size, NULL),
                PyUnicode_DecodeUTF8(attributes[k].value, attributes[k].value_size, NULL),
            )
            for k in range(count)
            if not display_only or attributes[k].info & DISPLAY
        ]

    cdef int widen(self, Py_ssize_t slots) except -1:
        """Make the table of known hashes this large."""
        cdef Column old = self.column[SLOT]
        cdef KnownHash* before = <KnownHash*>old.data
        cdef KnownHash* after
        cdef Py_ssize_t k, probe
        cdef KnownHash* slot
        memset(&self.column[SLOT], 0, sizeof(Column))
        try:
            make_room(&self.column[SLOT], slots * sizeof(KnownHash))
        except MemoryError:
            self.column[SLOT] = old
            raise
        self.column[SLOT].used = slots * sizeof(KnownHash)
        after = <KnownHash*>self.column[SLOT].data
        memset(after, 0, self.column[SLOT].used)
        for k in range(<Py_ssize_t>(old.used // sizeof(KnownHash))):
            for probe in range(MOST_PROBES if before[k].size else 0):
                slot = after + ((before[k].place + <uint64_t>probe) & <uint64_t>(slots - 1))
                if not slot.size:
                    slot[0] = before[k]
                    break
        free(old.data)
        return 0

    cdef KnownHash* hash_of_key(self) except? NULL:
        """The slot of what KEY contains; `is_known` says whether its hash is there. NULL if there is no slot for it."""
        cdef Column* key = &self.column[KEY]
        cdef Py_ssize_t slots = self.column[SLOT].used // sizeof(KnownHash), probe, size = key.used
        cdef uint64_t place = place_of(key.data, size)
        cdef KnownHash* slot
        self.is_known = False
        if 2 * self.known >= slots:
            slots *= 2
            self.widen(slots)
        for probe in range(MOST_PROBES):
            slot = (<KnownHash*>self.column[SLOT].data) + ((place + <uint64_t>probe) & <uint64_t>(slots - 1))
            if not slot.size:
                slot.place = place
                return slot
            if slot.place == place and slot.size == size:
                if memcmp(self.column[KNOWN_KEY].data + slot.start, key.data, size) == 0:
                    self.is_known = True
                    return slot
        return NULL

    cdef int remember(self, KnownHash* slot, uint64_t value) except -1:
        """Keep the hash of what KEY contains in its slot."""
        if slot != NULL:
            slot.value = value
            slot.start = self.column[KNOWN_KEY].used
            push(&self.column[KNOWN_KEY], self.column[KEY].data, self.column[KEY].used)
            slot.size = self.column[KEY].used
            self.known += 1
        return 0

    cdef uint64_t style_of(self, const char* name, Py_ssize_t size, Attribute* attributes, Py_ssize_t count) except? 1:
        cdef KnownHash* slot = self.hash_of_key()
        cdef bytes canonical
        cdef uint64_t style
        if self.is_known:
            return slot.value
        canonical = canonical_style(name, size, attributes, count)
        if canonical is not None:
            style = xxh3_64_intdigest(canonical)
        else:
            style = vocabulary.style_hash(PyUnicode_DecodeUTF8(name, size, NULL), self.pairs(attributes, count, True))
        self.remember(slot, style)
        return style

    cdef uint64_t shape_of(self, const char* name, Py_ssize_t size, int code, Attribute* attributes,
                           Py_ssize_t role) except? 1:
        cdef KnownHash* slot
        cdef uint64_t shape
        if role < 0 and code < FIRST_CUSTOM:
            return SHAPE_OF_TAG[code]
        self.column[KEY].used = 0
        push(&self.column[KEY], b"\0", 1)  # no style begins so
        push(&self.column[KEY], name, size)
        push(&self.column[KEY], b" ", 1)
        if role >= 0:
            push(&self.column[KEY], attributes[role].value, attributes[role].value_size)
        slot = self.hash_of_key()
        if self.is_known:
            return slot.value
        shape = vocabulary.shape_hash(
            PyUnicode_DecodeUTF8(name, size, NULL),
            PyUnicode_DecodeUTF8(attributes[role].value, attributes[role].value_size, NULL) if role >= 0 else "",
        )
        self.remember(slot, shape)
        return shape

    cdef dict columns(self):
        (<int32_t*>self.column[END].data)[0] = self.count
        (<int32_t*>self.column[TEXT_END].data)[0] = self.length
        push32(&self.column[RUN_START], self.length)
        cdef dict found = {}
        cdef int k = 0
        for name, dtype in ARRAYS:
            found[name] = read_only(PyBytes_FromStringAndSize(self.column[k].data, self.column[k].used), dtype)
            k += 1
        found["text"] = decoded(&self.column[TEXT])
        found["attr_text"] = decoded(&self.column[ATTR_TEXT])
        found["custom_tags"] = tuple(self.custom)
        found["frameset"] = self.frameset
        found["clipped_depth"] = self.clipped_depth
        found["clipped_attributes"] = self.clipped_attributes
        return found


cdef str decoded(const Column* text):
    return PyUnicode_DecodeUTF8(text.data, text.used, NULL) if text.used else ""


def lay_out(HtmlTree tree, Py_ssize_t max_nodes, Py_ssize_t max_depth, Py_ssize_t max_attributes):
    """The columns of a PageTree, and `frameset`, `clipped_depth`, `clipped_attributes`, from the tree of a page."""
    cdef Builder* b = &tree.builder
    cdef Layout layout = Layout(b.tokens.stop - b.tokens.start, max_nodes, max_depth, max_attributes)
    cdef int32_t i = b.nodes[0].first
    cdef int found
    cdef Dom* node
    while i > 0:
        node = b.nodes + i
        if node.kind == TEXT_NODE:
            layout.characters(node.data, node.size)
        else:
            found = layout.open(node.data, node.size, b.tokens.attributes + node.attributes, node.attribute_count)
            node.is_open = found == OPENED
            if node.first >= 0 and found != LEFT_OUT:
                i = node.first
                continue
        while i > 0:
            node = b.nodes + i
            if node.is_open:
                layout.close()
            if node.next >= 0:
                i = node.next
                break
            i = node.parent
    return layout.columns()
