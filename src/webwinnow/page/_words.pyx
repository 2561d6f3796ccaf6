# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Loops over the words and URLs of a text. tests/oracles/plain_words.py is the slow version.

Texts are cut into runs: run r is `text[starts[r]:starts[r + 1]]`. `counted` is a mask of runs.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

import numpy as np

from webwinnow.page._blanks cimport after_blanks
from webwinnow.page._hashing cimport FNV_PRIME, FNV_START, mixed
from webwinnow.page._memory cimport Buffer, Column, bytes_of, check_columns, check_runs, make_room, push
from webwinnow.page._nodes import nearest
from webwinnow.page._scripts cimport is_cjk
from webwinnow.page._unicode cimport (
    Character, Py_UNICODE_ISALNUM, Py_UNICODE_ISSPACE, Py_UNICODE_TOLOWER, PyUnicode_DATA, PyUnicode_GET_LENGTH,
    PyUnicode_KIND, is_blank, lower,
)


def run_words(str text, const int32_t[::1] starts, counted):
    """The number of words (`\\w+`; each character of Han, kana and Hangul) of each counted run; 0 for the others."""
    cdef const uint8_t[::1] wanted = bytes_of(counted)
    cdef Py_ssize_t r
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    check_runs(starts, wanted.shape[0], PyUnicode_GET_LENGTH(text))
    cdef int64_t[::1] words = np.zeros(wanted.shape[0], np.int64)
    for r in range(wanted.shape[0]):
        if not wanted[r]:
            continue
        if kind == 1:
            words[r] = words_in(<const uint8_t*>data, starts[r], starts[r + 1])
        elif kind == 2:
            words[r] = words_in(<const uint16_t*>data, starts[r], starts[r + 1])
        else:
            words[r] = words_in(<const uint32_t*>data, starts[r], starts[r + 1])
    return words.base


cdef uint8_t IN_WORD[128]
for _code in range(128):
    IN_WORD[_code] = chr(_code).isalnum() or _code == 95


cdef Py_ssize_t words_in(const Character* data, Py_ssize_t start, Py_ssize_t stop) noexcept:
    cdef Py_ssize_t k, words = 0
    cdef uint8_t inside = 0, was_inside = 0
    for k in range(start, stop):
        if data[k] < 128:
            inside = IN_WORD[data[k]]
        elif data[k] >= 0x3040 and is_cjk(data[k]):
            words += Py_UNICODE_ISALNUM(data[k])
            was_inside = 0
            continue
        else:
            inside = Py_UNICODE_ISALNUM(data[k])
        words += inside & (was_inside ^ 1)
        was_inside = inside
    return words


def blank_runs(str text, const int32_t[::1] starts):
    """Which runs are only white space."""
    cdef Py_ssize_t r, runs = starts.shape[0] - 1
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    check_runs(starts, runs, PyUnicode_GET_LENGTH(text))
    cdef uint8_t[::1] blank = np.empty(runs, np.uint8)
    for r in range(runs):
        blank[r] = after_blanks(kind, data, starts[r], starts[r + 1]) == starts[r + 1]
    return blank.base.view(np.bool_)


cdef inline bint is_unspaced(Py_UCS4 c) noexcept:
    """Whether a character belongs to a script without spaces between words."""
    return c >= 0x0E00 and (
        c <= 0x0EFF or 0x1000 <= c <= 0x109F or 0x1780 <= c <= 0x17FF or 0x2E80 <= c <= 0x9FFF
        or 0xF900 <= c <= 0xFAFF or 0x20000 <= c <= 0x3FFFF
    )


cdef inline uint64_t further(uint64_t value, Py_UCS4 c) noexcept:
    """One step of FNV-1a."""
    return (value ^ <uint64_t>c) * FNV_PRIME


cdef uint8_t LATIN[256]  # in lower case; 0 for characters that are not in words
for _code in range(256):
    LATIN[_code] = ord(chr(_code).lower()) if chr(_code).isalnum() else 0

cdef struct Span:
    uint64_t key
    int32_t run
    int32_t start
    int32_t end


cdef inline int push_span(Column* spans, uint64_t value, Py_ssize_t r, Py_ssize_t start, Py_ssize_t stop) except -1:
    cdef Span span
    span.key, span.run, span.start, span.end = mixed(value), <int32_t>r, <int32_t>start, <int32_t>stop
    return push(spans, &span, sizeof(Span))


cdef inline uint32_t spaced_letter(uint32_t c) noexcept:
    """A letter or digit of a script with spaces between words, in lower case; 0 for anything else."""
    if c < 256:
        return LATIN[c]
    return Py_UNICODE_TOLOWER(c) if Py_UNICODE_ISALNUM(c) and not is_unspaced(c) else 0


cdef inline bint is_unspaced_letter(Py_UCS4 c) noexcept:
    return c >= 256 and is_unspaced(c) and Py_UNICODE_ISALNUM(c)


cdef int spans_in(const Character* data, Py_ssize_t first, Py_ssize_t stop, Py_ssize_t r, Column* spans) except -1:
    """The words of one run."""
    cdef Py_ssize_t k = first, start
    cdef uint64_t value
    cdef uint32_t letter
    while k < stop:
        letter = spaced_letter(data[k])
        start = k
        k += 1
        if letter != 0:
            value = FNV_START
            while letter != 0:
                value = (value ^ letter) * FNV_PRIME
                letter = spaced_letter(data[k]) if k < stop else 0
                k += 1
            k -= 1
            push_span(spans, value, r, start, k)
        elif data[start] >= 256 and is_unspaced_letter(data[start]):
            value = further(FNV_START, data[start])
            if k < stop and is_unspaced_letter(data[k]):
                push_span(spans, further(value, data[k]), r, start, k + 1)
            elif start == first or not is_unspaced_letter(data[start - 1]):
                push_span(spans, value, r, start, k)  # a single one; the last of several has been in a pair
    return 0


def word_spans(str text, const int32_t[::1] starts, counted):
    """Words of the counted runs: hash, run, start and end of each.

    A word is a sequence of letters and digits; in scripts without spaces between words it is each pair of neighbouring
    letters, or a single one.
    """
    cdef const uint8_t[::1] wanted = bytes_of(counted)
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Buffer buffer = Buffer()
    cdef Py_ssize_t r, w, count
    check_runs(starts, wanted.shape[0], PyUnicode_GET_LENGTH(text))
    for r in range(wanted.shape[0]):
        if not wanted[r]:
            continue
        if kind == 1:
            spans_in(<const uint8_t*>data, starts[r], starts[r + 1], r, &buffer.column)
        elif kind == 2:
            spans_in(<const uint16_t*>data, starts[r], starts[r + 1], r, &buffer.column)
        else:
            spans_in(<const uint32_t*>data, starts[r], starts[r + 1], r, &buffer.column)
    cdef const Span* spans = <const Span*>buffer.column.data
    count = buffer.column.used // sizeof(Span)
    cdef uint64_t[::1] keys = np.empty(count, np.uint64)
    cdef int32_t[::1] runs = np.empty(count, np.int32), begins = np.empty(count, np.int32)
    cdef int32_t[::1] ends = np.empty(count, np.int32)
    for w in range(count):
        keys[w], runs[w], begins[w], ends[w] = spans[w].key, spans[w].run, spans[w].start, spans[w].end
    return keys.base, runs.base, begins.base, ends.base


def name_hash(str name):
    """A 64-bit hash of a name: FNV-1a over its code points, mixed."""
    return mixed(fnv(FNV_START, name))


cdef uint64_t fnv(uint64_t value, str name) noexcept:
    cdef Py_UCS4 c
    for c in name:
        value = further(value, c)
    return value


# URLs: the hashes of link_feature and image_feature of webwinnow.words, without making the strings. The functions are
# called only for URLs that are not ASCII or contain data.

cdef enum:
    MAX_URL = 4096  # PageTree keeps no longer ones

cdef struct Parts:
    # The ends of the components of RFC 3986 appendix B.
    Py_ssize_t scheme_end
    Py_ssize_t host
    Py_ssize_t path
    Py_ssize_t query
    Py_ssize_t end


cdef bint split_url(const Character* source, Py_ssize_t size, uint8_t* out, Parts* parts) noexcept:
    """Split an ASCII URL without white space, as words.link_feature does; False if that function must be called."""
    cdef Py_ssize_t k, n = 0
    cdef uint8_t c
    if size > MAX_URL:
        return False
    while size and source[size - 1] <= 32:
        size -= 1
    k = 0
    while k < size and source[k] <= 32:
        k += 1
    while k < size:
        if source[k] >= 128:
            return False
        c = <uint8_t>source[k]
        if c != 9 and c != 10 and c != 13:
            out[n] = c
            n += 1
        k += 1
    parts.end = n
    k = 0
    if n and 97 <= (out[0] | 32) <= 122:
        while k < n and IN_SCHEME[out[k]]:
            k += 1
    parts.scheme_end = 0
    parts.host = 0
    if k and k < n and out[k] == 58:  # ':'
        parts.scheme_end = k
        parts.host = k + 1
        while k:
            k -= 1
            out[k] = lower(<uint8_t>out[k])
    if parts.scheme_end == 4 and memcmp(out, b"data", 4) == 0:
        return False
    k = parts.host
    if n - k >= 2 and out[k] == 47 and out[k + 1] == 47:
        k += 2
        parts.host = k
        while k < n and out[k] != 47 and out[k] != 63 and out[k] != 35:  # '/' '?' '#'
            out[k] = lower(<uint8_t>out[k])
            k += 1
    parts.path = k
    while k < n and out[k] != 63 and out[k] != 35:
        k += 1
    parts.query = k
    if k < n and out[k] == 63:
        while k < n and out[k] != 35:
            k += 1
    parts.end = k
    return True


cdef uint8_t IN_SCHEME[128]
for _code in range(128):
    IN_SCHEME[_code] = chr(_code).isalnum() or chr(_code) in "+.-"


cdef inline uint64_t fnv_of(uint64_t value, const uint8_t* text, Py_ssize_t start, Py_ssize_t stop) noexcept:
    cdef Py_ssize_t k
    for k in range(start, stop):
        value = further(value, text[k])
    return value


cdef uint64_t link_hash(uint64_t value, const uint8_t* text, const Parts* parts) noexcept:
    cdef bint web = parts.scheme_end == 0 or (parts.scheme_end == 4 and memcmp(text, b"http", 4) == 0) or (
        parts.scheme_end == 5 and memcmp(text, b"https", 5) == 0)
    if not web:
        value = further(fnv_of(value, text, 0, parts.scheme_end), 58)
    value = fnv_of(value, text, parts.host, parts.query)
    if web and parts.path > parts.host and parts.path == parts.query:
        value = further(value, 47)
    return fnv_of(value, text, parts.query, parts.end)


cdef uint64_t image_hash(uint64_t value, const uint8_t* text, const Parts* parts) noexcept:
    cdef Py_ssize_t start, stop = parts.query
    while stop > parts.path and text[stop - 1] == 47:
        stop -= 1
    start = stop
    while start > parts.path and text[start - 1] != 47:
        start -= 1
    if start == stop:
        return fnv_of(value, text, parts.host, parts.path)
    return fnv_of(value, text, start, stop)


def link_hashes(str text, const int32_t[::1] starts, const int64_t[::1] which, link_feature):
    """The hashes of the link features of some URLs, which are runs of a text; `words.link_feature` names them."""
    return url_hashes(text, starts, which, link_feature, False)


def image_hashes(str text, const int32_t[::1] starts, const int64_t[::1] which, image_feature):
    """As `link_hashes`, for images; `words.image_feature` names them."""
    return url_hashes(text, starts, which, image_feature, True)


cdef object url_hashes(str text, const int32_t[::1] starts, const int64_t[::1] which, naming, bint of_images):
    cdef uint8_t url[MAX_URL]
    cdef Parts parts
    cdef Py_ssize_t n, k, start, stop
    cdef uint64_t prefixed = fnv(FNV_START, naming(""))
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef bint plain
    cdef uint64_t[::1] out = np.empty(which.shape[0], np.uint64)
    check_runs(starts, starts.shape[0] - 1, PyUnicode_GET_LENGTH(text))
    for n in range(which.shape[0]):
        k = which[n]
        if not 0 <= k < starts.shape[0] - 1:
            raise ValueError(f"no run {k} of {starts.shape[0] - 1}")
        start, stop = starts[k], starts[k + 1]
        if kind == 1:
            plain = split_url(<const uint8_t*>data + start, stop - start, url, &parts)
        elif kind == 2:
            plain = split_url(<const uint16_t*>data + start, stop - start, url, &parts)
        else:
            plain = split_url(<const uint32_t*>data + start, stop - start, url, &parts)
        if plain:
            out[n] = mixed((image_hash if of_images else link_hash)(prefixed, url, &parts))
        else:
            out[n] = mixed(fnv(FNV_START, naming(text[start:stop])))
    return out.base


# Folded text

cdef enum:
    SPELLINGS = 1024
    LONGEST_SPELLING = 16

cdef struct Spelling:
    uint32_t code
    uint8_t size
    char text[LONGEST_SPELLING]

cdef Spelling SPELLED[SPELLINGS]  # a cache of `str.casefold` for characters beyond ASCII


cdef const Spelling* spelling_of(uint32_t c) except NULL:
    cdef Spelling* known = &SPELLED[c & (SPELLINGS - 1)]
    cdef bytes folded
    if known.code != c:
        folded = chr(c).casefold().encode("utf-8", "replace")
        known.size = <uint8_t>len(folded)
        memcpy(known.text, <const char*>folded, known.size)
        known.code = c
    return known


cdef uint8_t FOLDED[128]  # ASCII in lower case, a space for all white space
for _code in range(128):
    FOLDED[_code] = 32 if is_blank(_code) else lower(_code)


cdef int fold_run(const Character* data, Py_ssize_t start, Py_ssize_t stop, Column* out, bint* gap) except -1:
    cdef Py_ssize_t k = start
    cdef const Spelling* spelling
    cdef Py_UCS4 c
    cdef char* at
    while k < stop:
        make_room(out, stop - k + LONGEST_SPELLING + 1)  # for ASCII up to the end, or one other character before it
        at = out.data + out.used
        c = data[k]
        while c < 128 or Py_UNICODE_ISSPACE(c):
            if c >= 128 or FOLDED[c] == 32:
                gap[0] = True
            else:
                if gap[0]:
                    if at > out.data:
                        at[0] = 32
                        at += 1
                    gap[0] = False
                at[0] = FOLDED[c]
                at += 1
            k += 1
            if k == stop:
                break
            c = data[k]
        else:
            if gap[0] and at > out.data:
                at[0] = 32
                at += 1
            gap[0] = False
            spelling = spelling_of(<uint32_t>c)
            memcpy(at, spelling.text, spelling.size)
            at += spelling.size
            k += 1
        out.used = at - out.data
    return 0


def folded_text(str text, const int32_t[::1] starts, const int32_t[::1] owner, const int32_t[::1] before, wanted,
                const int32_t[::1] parent, splits):
    """The wanted runs as UTF-8, case-folded, white space folded; a space where a node of `splits` starts or ends."""
    cdef const uint8_t[::1] wants = bytes_of(wanted), split = bytes_of(splits)
    cdef const int32_t[::1] around = nearest(parent, splits)
    cdef Py_ssize_t i, r, size = parent.shape[0], runs = wants.shape[0], last = -1
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Buffer buffer = Buffer()
    cdef Column* out = &buffer.column
    cdef bint gap = False
    cdef int32_t[::1] opened = np.zeros(size + 1, np.int32)
    check_runs(starts, runs, PyUnicode_GET_LENGTH(text))
    check_columns(owner.shape[0] == before.shape[0] == runs)
    for r in range(runs):
        if not 0 <= owner[r] < size or not 0 <= before[r] <= size:
            raise ValueError(f"run {r} is outside the tree")
    for i in range(size):
        opened[i + 1] = opened[i] + split[i]
    for r in range(runs):
        if not wants[r]:
            continue
        if last >= 0 and (around[owner[r]] != around[owner[last]] or opened[before[r]] != opened[before[last]]):
            gap = True
        last = r
        if kind == 1:
            fold_run(<const uint8_t*>data, starts[r], starts[r + 1], out, &gap)
        elif kind == 2:
            fold_run(<const uint16_t*>data, starts[r], starts[r + 1], out, &gap)
        else:
            fold_run(<const uint32_t*>data, starts[r], starts[r + 1], out, &gap)
    return PyBytes_FromStringAndSize(out.data, out.used) if out.used else b""
