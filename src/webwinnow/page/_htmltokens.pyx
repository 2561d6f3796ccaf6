# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The tokeniser of the HTML standard (WHATWG, 13.2.5), over a page in UTF-8.

Tags in raw text are no tokens: the tree builder calls `read_raw_text` when it opens such an element.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

from webwinnow.page._htmlnames cimport SCRIPT, STYLE, T_NONE, Reference, hash_of, reference_at, tag_of
from webwinnow.page._unicode cimport lower

import re

cdef uint8_t ENDS_TEXT[256]   # bytes of text that need a look
cdef uint8_t ENDS_NAME[256]   # of a tag
cdef uint32_t WINDOWS_1252[32]


def _fill_tables():
    for c in bytearray(b"<&\r\0"):
        ENDS_TEXT[c] = 1
    for c in bytearray(b" \t\n\f\r/>"):
        ENDS_NAME[c] = 1
    for k, code in enumerate(
        (0x20AC, 0, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0, 0x17D, 0, 0,
         0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0, 0x17E, 0x178)
    ):
        WINDOWS_1252[k] = code


_fill_tables()


cdef inline bint is_letter(uint8_t c) noexcept nogil:
    return 97 <= (c | 32) <= 122


# Memory

cdef char* arena(Tokeniser* t, size_t size) noexcept nogil:
    """Memory that stays where it is until `free_all`; NULL if there is none."""
    cdef size_t room
    cdef char* chunk
    cdef char** grown
    if size > t.left:
        room = size if size > 65536 else 65536
        chunk = <char*>malloc(room)
        if t.chunk_count == t.chunk_room:
            grown = <char**>realloc(t.chunks, (t.chunk_room * 2 + 8) * sizeof(char*))
            if grown == NULL:
                free(chunk)
                chunk = NULL
            else:
                t.chunks = grown
                t.chunk_room = t.chunk_room * 2 + 8
        if chunk == NULL:
            t.out_of_memory = True
            return NULL
        t.chunks[t.chunk_count] = chunk
        t.chunk_count += 1
        t.free = chunk
        t.left = room
    chunk = t.free
    t.free += size
    t.left -= size
    return chunk


cdef void free_all(Tokeniser* t) noexcept nogil:
    cdef int32_t k
    for k in range(t.chunk_count):
        free(t.chunks[k])
    free(t.chunks)
    free(t.attributes)
    free(t.slots)


# Characters

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


cdef Py_ssize_t decoded(Tokeniser* t, const char** text, Py_ssize_t size, int how) noexcept nogil:
    """Normalise line ends in a slice of the page, and resolve references and NUL as `how` says; the new size."""
    cdef const char* source = text[0]
    cdef char* out
    cdef char* start
    cdef Py_ssize_t k = 0, n
    cdef uint32_t code
    cdef const Reference* found
    cdef uint8_t c
    start = out = arena(t, size * 3 + 8 if how & REPLACES_NULL else size + size // 2 + 8)
    if out == NULL:
        return 0
    while k < size:
        c = <uint8_t>source[k]
        if c == 13:
            c = 10
            k += k + 1 < size and source[k + 1] == 10
        elif c == 0 and how & REPLACES_NULL:
            memcpy(out, b"\xef\xbf\xbd", 3)
            out += 3
            k += 1
            continue
        elif c == 0 and how & DROPS_NULL:
            k += 1
            continue
        elif c == 60 and how & EMPTY_END_TAGS and k + 2 < size and source[k + 1] == 47 and source[k + 2] == 62:
            k += 3
            continue
        elif c == 38 and how & REFERENCES:
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
                    if not how & IN_VALUE or source[n - 1] == 59 or n == size or not (
                        source[n] == 61 or is_letter(<uint8_t>source[n]) or 48 <= source[n] <= 57
                    ):
                        memcpy(out, found.value, found.value_size)
                        out += found.value_size
                        k = n
                        continue
        out[0] = c
        out += 1
        k += 1
    n = out - start
    t.left += t.free - out
    t.free = out
    text[0] = start
    return n


cdef bint equals_folded(const char* text, Py_ssize_t size, const char* word) noexcept nogil:
    """Whether a text begins with a lower-case word, in any case."""
    cdef Py_ssize_t k = 0
    while word[k]:
        if k == size or lower(text[k]) != <unsigned char>word[k]:
            return False
        k += 1
    return True


cdef void read_characters(Tokeniser* t) noexcept nogil:
    """Read up to the next markup. `</>` is not markup but nothing, so the text before and after it is one."""
    cdef const char* at = t.at
    cdef const char* stop = t.stop
    cdef uint8_t c
    t.plain, t.in_cdata = True, False
    while True:
        while at < stop and not ENDS_TEXT[<uint8_t>at[0]]:
            at += 1
        if at == stop:
            break
        if at[0] != 60:
            t.plain = False
        elif at + 1 < stop:
            c = <uint8_t>at[1]
            if is_letter(c) or c == 33 or c == 63:
                break
            if c == 47 and at + 2 < stop:
                if at[2] != 62:
                    break
                t.plain = False
        at += 1
    t.text, t.size = t.at, at - t.at
    t.at = at


# Attributes

cdef int push_attribute(Tokeniser* t, Attribute attribute) noexcept nogil:
    cdef Attribute* grown
    if t.attribute_count == t.attribute_room:
        grown = <Attribute*>realloc(t.attributes, (<size_t>t.attribute_room * 2 + 512) * sizeof(Attribute))
        if grown == NULL:
            t.out_of_memory = True
            return -1
        t.attributes = grown
        t.attribute_room = t.attribute_room * 2 + 512
    t.attributes[t.attribute_count] = attribute
    t.attribute_count += 1
    return 0


cdef bint enter_slot(Tokeniser* t, int32_t k) noexcept nogil:
    """Enter an attribute of the tag into the hash table; False if there is one of its name."""
    cdef uint32_t slot = hash_of(t.attributes[k].name, t.attributes[k].name_size)
    slot = (slot ^ slot >> 15) & (t.slot_room - 1)
    while t.slots[slot] >= 0:
        if same_name(t.attributes + t.slots[slot], t.attributes + k):
            return False
        slot = (slot + 1) & (t.slot_room - 1)
    t.slots[slot] = k
    return True


cdef void drop_repeated(Tokeniser* t) noexcept nogil:
    """Remove the last attribute if the tag has an earlier one of its name, or more than are laid out."""
    cdef int32_t k, last = t.attribute_count - 1, count = t.attribute_count - t.first_attribute
    cdef int32_t* grown
    if count <= 16:
        for k in range(t.first_attribute, last):
            if same_name(t.attributes + k, t.attributes + last):
                t.attribute_count -= 1
                return
        return
    if count > t.most_attributes + 1:  # one more says that the tag has more
        t.attribute_count -= 1
        return
    if not t.is_slotted or count * 2 > t.slot_room:  # first use for this tag, or too full
        t.is_slotted = True
        if count * 2 > t.slot_room:
            grown = <int32_t*>realloc(t.slots, <size_t>(t.slot_room * 4 + 256) * sizeof(int32_t))
            if grown == NULL:
                t.out_of_memory = True
                return
            t.slots = grown
            t.slot_room = t.slot_room * 4 if t.slot_room else 256
        memset(t.slots, 0xFF, <size_t>t.slot_room * sizeof(int32_t))
        for k in range(t.first_attribute, last):
            enter_slot(t, k)
    if not enter_slot(t, last):
        t.attribute_count -= 1


cdef Py_ssize_t folded(Tokeniser* t, const char** text, Py_ssize_t size) noexcept nogil:
    """A name in lower case, with U+FFFD for NUL."""
    cdef char* out
    cdef Py_ssize_t k, total = 0
    cdef const char* source = text[0]
    for k in range(size):
        if 65 <= <uint8_t>source[k] <= 90 or source[k] == 0:
            break
    else:
        return size
    out = arena(t, size * 3)
    if out == NULL:
        return 0
    for k in range(size):
        if source[k] == 0:
            memcpy(out + total, b"\xef\xbf\xbd", 3)
            total += 3
        else:
            out[total] = lower(source[k])
            total += 1
    t.left += size * 3 - total
    t.free -= size * 3 - total
    text[0] = out
    return total


cdef const char* read_attributes(Tokeniser* t, const char* at, bint keep) noexcept nogil:
    """Read a tag from the end of its name on; return what follows it, or NULL if the page ends before."""
    cdef const char* stop = t.stop
    cdef const char* mark
    cdef Attribute attribute
    cdef uint8_t c
    t.self_closing = False
    while True:
        while at < stop and (is_space(<uint8_t>at[0]) or (at[0] == 47 and not (at + 1 < stop and at[1] == 62))):
            at += 1
        if at == stop:
            return NULL
        if at[0] == 62:
            return at + 1
        if at[0] == 47:  # '/>'
            t.self_closing = True
            return at + 2
        attribute.name = at
        at += 1
        while at < stop and not ENDS_NAME[<uint8_t>at[0]] and at[0] != 61:
            at += 1
        attribute.name_size = at - attribute.name
        while at < stop and is_space(<uint8_t>at[0]):
            at += 1
        attribute.value, attribute.value_size = at, 0
        if at < stop and at[0] == 61:
            at += 1
            while at < stop and is_space(<uint8_t>at[0]):
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
                while at < stop and at[0] != 62 and not is_space(<uint8_t>at[0]):
                    at += 1
                attribute.value_size = at - attribute.value
        if not keep:
            continue
        attribute.name_size = folded(t, &attribute.name, attribute.name_size)
        if attribute.value_size and (
            memchr(attribute.value, 38, attribute.value_size) != NULL
            or memchr(attribute.value, 13, attribute.value_size) != NULL
            or memchr(attribute.value, 0, attribute.value_size) != NULL
        ):
            attribute.value_size = decoded(
                t, &attribute.value, attribute.value_size, REFERENCES | IN_VALUE | REPLACES_NULL
            )
        if push_attribute(t, attribute) < 0:
            return NULL
        drop_repeated(t)


# Tags, declarations and raw text

cdef int read_tag(Tokeniser* t, const char* at, int kind) noexcept nogil:
    """Read a tag from its name on; the kind of the token."""
    t.name = at
    while at < t.stop and not ENDS_NAME[<uint8_t>at[0]]:
        at += 1
    t.name_size = <int32_t>folded(t, &t.name, at - t.name)
    t.tag = tag_of(t.name, t.name_size)
    t.first_attribute = t.attribute_count
    t.used = t.is_slotted = False
    at = read_attributes(t, at, kind == START_TAG)
    if at == NULL:
        t.at = t.stop
        t.attribute_count = t.first_attribute
        t.tag = T_NONE
        return END_OF_FILE
    t.at = at
    return kind


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
        if close - at >= 2 and (close - 1)[0] == 45 and (close - 2)[0] == 45:
            return close + 1
        if close - at >= 3 and (close - 1)[0] == 33 and (close - 2)[0] == 45 and (close - 3)[0] == 45:
            return close + 1
        close += 1


cdef int read_declaration(Tokeniser* t, bint in_foreign) noexcept nogil:
    """Read what begins with `<!`: a comment, a document type, CDATA, a bogus comment."""
    cdef const char* at = t.at
    cdef const char* mark
    cdef Py_ssize_t size = t.stop - at
    if size >= 4 and at[2] == 45 and at[3] == 45:
        t.at = comment_end(at + 4, t.stop)
        return COMMENT
    if in_foreign and size >= 9 and memcmp(at, b"<![CDATA[", 9) == 0:
        t.text = mark = at + 9
        while True:
            mark = <const char*>memchr(mark, 93, t.stop - mark)
            if mark == NULL or t.stop - mark < 3:
                t.size, t.at = t.stop - t.text, t.stop
                break
            if mark[1] == 93 and mark[2] == 62:
                t.size, t.at = mark - t.text, mark + 3
                break
            mark += 1
        t.plain, t.in_cdata = False, True
        return CHARACTERS
    mark = <const char*>memchr(at, 62, size)
    t.plain = mark != NULL
    t.at = mark + 1 if t.plain else t.stop
    if size >= 9 and equals_folded(at + 2, size - 2, b"doctype"):
        t.text = at + 9
        t.size = (mark if t.plain else t.stop) - t.text
        return DOCTYPE
    return COMMENT


cdef int next_token(Tokeniser* t, bint in_foreign) noexcept nogil:
    """Read the next token. `in_foreign`: the current node is of SVG or MathML, where CDATA is text."""
    cdef const char* mark
    cdef uint8_t c
    t.tag = T_NONE
    read_characters(t)
    if t.size:
        t.kind = CHARACTERS
    elif t.at == t.stop:
        t.kind = END_OF_FILE
    else:
        c = <uint8_t>t.at[1]
        if c == 33:
            t.kind = read_declaration(t, in_foreign)
        elif c == 47 and is_letter(<uint8_t>t.at[2]):
            t.kind = read_tag(t, t.at + 2, END_TAG)
        elif is_letter(c):
            t.kind = read_tag(t, t.at + 1, START_TAG)
        else:  # `<?` and `</ `
            mark = <const char*>memchr(t.at, 62, t.stop - t.at)
            t.at = t.stop if mark == NULL else mark + 1
            t.kind = COMMENT
    return t.kind


cdef inline bint is_name_at(Tokeniser* t, const char* at, const char* name, Py_ssize_t size) noexcept nogil:
    """Whether a name in lower case, and what ends a name, are at `at`, in any case."""
    cdef Py_ssize_t k
    if t.stop - at < size + 1 or not ENDS_NAME[<uint8_t>at[size]]:
        return False
    for k in range(size):
        if lower(at[k]) != <unsigned char>name[k]:
            return False
    return True


cdef const char* script_end(Tokeniser* t, const char* at) noexcept nogil:
    """The end tag of a script, which `<!-- <script>` may hide; the end of the page if there is none."""
    cdef int escaped = 0  # 1 after `<!--`, 2 after a `<script` in it
    cdef const char* start = at
    cdef const char* mark
    while at < t.stop:
        if not escaped:
            at = <const char*>memchr(at, 60, t.stop - at)
            if at == NULL:
                return t.stop
        if at[0] == 60:
            if escaped < 2 and at + 1 < t.stop and at[1] == 47 and is_name_at(t, at + 2, b"script", 6):
                return at
            if not escaped and t.stop - at >= 4 and memcmp(at, b"<!--", 4) == 0:
                escaped = 1
                at += 2  # its dashes may end it: <!-->
                continue
            if escaped == 1 and is_name_at(t, at + 1, b"script", 6):
                escaped = 2
                at += 7
                continue
            if escaped == 2 and t.stop - at >= 2 and at[1] == 47 and is_name_at(t, at + 2, b"script", 6):
                escaped = 1
                at += 8
                continue
        elif at[0] == 45 and t.stop - at >= 3 and at[1] == 45:
            mark = at + 2
            while mark < t.stop and mark[0] == 45:
                mark += 1
            if mark < t.stop and mark[0] == 62:
                escaped = 0
                at = mark + 1
            else:
                at = mark
            continue
        at += 1
    return t.stop


cdef void read_raw_text(Tokeniser* t, bint references) noexcept nogil:
    """Read the text of the element whose start tag is the last token, and its end tag."""
    cdef const char* at = t.at
    cdef int how = REPLACES_NULL | REFERENCES if references else REPLACES_NULL
    if t.tag == SCRIPT:
        at = script_end(t, at)
    else:
        while True:
            at = <const char*>memchr(at, 60, t.stop - at)
            if at == NULL:
                at = t.stop
                break
            if at + 1 < t.stop and at[1] == 47 and is_name_at(t, at + 2, t.name, t.name_size):
                break
            at += 1
    t.text, t.size = t.at, at - t.at
    if t.size and (
        memchr(t.text, 13, t.size) != NULL
        or memchr(t.text, 0, t.size) != NULL
        or (references and memchr(t.text, 38, t.size) != NULL)
    ):
        t.size = decoded(t, &t.text, t.size, how)
    if at < t.stop:
        at = read_attributes(t, at + t.name_size + 2, False)
    t.at = t.stop if at == NULL else at


cdef bint is_closed_as_in_xml(Tokeniser* t) noexcept nogil:
    """Whether the author of the last tag, `<iframe/>` or the like, meant an empty element.

    In HTML the slash means nothing: such an element contains all up to its end tag. It is taken for empty where the
    page has no other tag of its name, or where the next one opens another such element. A script or style sheet also
    needs a tag right after it: what else follows is code.
    """
    cdef const char* at = t.at
    cdef bint ends
    while True:
        at = <const char*>memchr(at, 60, t.stop - at)
        if at == NULL:
            return True
        ends = at + 1 < t.stop and at[1] == 47
        if is_name_at(t, at + 1 + ends, t.name, t.name_size):
            break
        at += 1
    if ends or (t.tag != SCRIPT and t.tag != STYLE):
        return not ends
    at = t.at
    while True:
        while at < t.stop and is_space(<uint8_t>at[0]):
            at += 1
        if t.stop - at < 4 or memcmp(at, b"<!--", 4):
            break
        at = comment_end(at + 4, t.stop)
    return t.stop - at >= 3 and at[0] == 60 and is_letter(<uint8_t>at[1 + (at[1] == 47)])


# Document types


_QUIRKY = tuple((
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
).encode().split(b"|"))
"""Beginnings of public identifiers that mean quirks mode (13.2.6.4.1)."""

_IDENTIFIER = rb"""(?:"([^">]*)"|'([^'>]*)')"""
_DECLARATION = re.compile(
    rb"[ \t\n\f\r]*html(?:[ \t\n\f\r]+(?:public\s*%s(?:\s*%s.*|\s*)|system\s*%s.*))?[ \t\n\f\r]*"
    % (_IDENTIFIER, _IDENTIFIER, _IDENTIFIER),
    re.IGNORECASE | re.DOTALL,
)
_QUIRKY_SYSTEM = b"http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"
_QUIRKY_IDENTIFIERS = (b"-//w3o//dtd w3 html strict 3.0//en//", b"-/w3c/dtd html 4.0 transitional/en", b"html")
_QUIRKY_ALONE = (b"-//w3c//dtd html 4.01 frameset//", b"-//w3c//dtd html 4.01 transitional//")


def _is_quirky(declaration: bytes) -> bool:
    """Whether a document type means quirks mode, from what is between `<!doctype` and `>` (13.2.6.4.1)."""
    found = _DECLARATION.fullmatch(declaration)
    if found is None:
        return True
    public, system = (
        next((group.lower() for group in found.groups()[first:last] if group is not None), None)
        for first, last in ((0, 2), (2, 6))
    )
    return system == _QUIRKY_SYSTEM or public is not None and (
        public in _QUIRKY_IDENTIFIERS
        or public.startswith(_QUIRKY)
        or (system is None and public.startswith(_QUIRKY_ALONE))
    )


cdef bint means_quirks(Tokeniser* t) noexcept nogil:
    """Whether the document type that is the last token means quirks mode."""
    cdef Py_ssize_t k = 0, end = t.size
    if not t.plain:
        return True
    while k < end and is_space(<uint8_t>t.text[k]):
        k += 1
    while end > k and is_space(<uint8_t>t.text[end - 1]):
        end -= 1
    if end - k == 4 and equals_folded(t.text + k, 4, b"html"):
        return False
    with gil:
        return _is_quirky(t.text[:t.size])


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
