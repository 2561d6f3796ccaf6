# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Loops of the page model: counts, tokens, features, forests. tests/oracles/plain_scoring.py is the slow version."""

from libc.math cimport log1p, rint, sqrt
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

import numpy as np

from webwinnow.page._hashing cimport FNV_PRIME, FNV_START, GOLDEN, mixed
from webwinnow.page._memory cimport (
    Buffer, Column, Scratch, bytes_of, check_columns, check_parent, check_runs, filled, lower_bound, push32, push64,
)
from webwinnow.page._scripts cimport is_cjk, is_mark
from webwinnow.page._unicode cimport (
    Character, Py_UNICODE_ISALNUM, Py_UNICODE_ISALPHA, Py_UNICODE_ISSPACE, Py_UNICODE_ISUPPER, Py_UNICODE_TOLOWER,
    PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ,
)
from webwinnow.judge import featureschema as schema

cdef enum:
    # columns of block_words
    CHARS, WORDS, LINK_WORDS, STRONG_WORDS, DIGITS, LETTERS, CAPITALS, NUMBERS, ENDS, COMMAS, SIGNS, MONEY, SHORT, \
        LONG, IN_TITLE, IN_SUMMARY, IN_DATA, LAST, COUNTS
    # classes of characters
    C_LETTER = 1
    C_UPPER, C_DIGIT, C_SPACE, C_END, C_COMMA, C_COLON, C_MONEY, C_QUIET, C_SIGN, C_UNDERSCORE
    MOST_TOKENS = 64
    CJK_WIDTH = 3  # letters that a Han, kana or Hangul character counts as
    CJK_LENGTH = 5  # neither short nor long
    FILTER = 64


cdef int WORD_BITS = schema.WORD_BITS
cdef int TOKEN_BITS = schema.TOKEN_BITS
cdef int HEARD_WORDS = schema.HEARD_WORDS
cdef int SHINGLE_BITS = schema.SHINGLE_BITS
cdef uint32_t MARK_OF[2048]
for _code in range(2048):
    MARK_OF[_code] = schema.TAG_MARKS[_code] if _code < len(schema.TAG_MARKS) else 0
cdef uint32_t M_LINK = schema.MARK["link"]
cdef uint32_t M_STRONG = schema.MARK["strong"]
cdef uint32_t M_HEADING = schema.MARK["heading"]
cdef uint32_t M_PICTURE = schema.MARK["picture"]
cdef uint32_t M_FIELD = schema.MARK["field"]
cdef uint32_t M_OWN = schema.OWN_MARKS
cdef int MARKS_SHOWN = len(schema.SHOWN_MARKS)
cdef uint32_t SHOWN_MARK[32]
for _code, _name in enumerate(schema.SHOWN_MARKS):
    SHOWN_MARK[_code] = schema.MARK[_name]
cdef int FEATURES = len(schema.FEATURES)
cdef int CONTEXTS = len(schema.CONTEXTS)

cdef enum:
    LOGS = 4096

cdef double LOG_OF[LOGS]
for _code in range(LOGS):
    LOG_OF[_code] = log1p(<double>_code)


cdef inline double log_of(double x) noexcept nogil:
    """log1p, from a table for small counts, which are most arguments."""
    if 0.0 <= x < LOGS and x == <double><int>x:
        return LOG_OF[<int>x]
    return log1p(x)


cdef int character_class(Py_UCS4 c) noexcept nogil:
    """The class of a character of any script."""
    if c == 95:  # '_'
        return C_UNDERSCORE
    if Py_UNICODE_ISALPHA(c):
        return C_UPPER if Py_UNICODE_ISUPPER(c) else C_LETTER
    if Py_UNICODE_ISALNUM(c):
        return C_DIGIT
    if Py_UNICODE_ISSPACE(c):
        return C_SPACE
    if c in u".!?\u3002\uff01\uff1f\u2026\u0964\u061f":
        return C_END
    if c in u",;\u3001\uff0c\u060c":
        return C_COMMA
    if c in u":\uff1a":
        return C_COLON
    if c in u"$\xa3\xa5" or 0x20A0 <= c <= 0x20BF:
        return C_MONEY
    if c in u"'\"()-\xab" or 0x2010 <= c <= 0x201F or is_mark(c):
        return C_QUIET
    return C_SIGN


cdef uint8_t CLASS_OF[128]
for _code in range(128):
    CLASS_OF[_code] = character_class(_code)


cdef inline int class_of(Py_UCS4 c) noexcept nogil:
    return CLASS_OF[c] if c < 128 else character_class(c)


cdef inline bint contains(const uint64_t* table, Py_ssize_t size, uint64_t value) noexcept nogil:
    """Whether a sorted table contains a value."""
    cdef Py_ssize_t at = lower_bound(table, 0, size, value)
    return at < size and table[at] == value


cdef inline object ids_of(const Column* ids):
    return filled(np.empty(ids.used // 4, np.int32), ids)


cdef inline uint64_t cjk_word(Py_UCS4 before, Py_UCS4 c) noexcept nogil:
    """The unmixed key of a character that counts as a word: its pair with the one before (0 for none) says more."""
    cdef uint64_t word = FNV_START
    if before:
        word = (word ^ <uint64_t>before) * FNV_PRIME
    return (word ^ <uint64_t>c) * FNV_PRIME


cdef Py_ssize_t words_of(str text, Column* found) except -1:
    """Append the unmixed key of each word of a text; return the number of words."""
    cdef Py_ssize_t k, size = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text), what
    cdef void* data = PyUnicode_DATA(text)
    cdef Py_UCS4 c
    cdef uint64_t word = FNV_START
    cdef bint inside = False
    cdef Py_UCS4 before = 0
    for k in range(size + 1):
        c = PyUnicode_READ(kind, data, k) if k < size else 32
        what = class_of(c)
        if what <= C_DIGIT and is_cjk(c):
            if inside:
                push64(found, word)
                word = FNV_START
                inside = False
            push64(found, cjk_word(before, c))
            before = c
            continue
        before = 0
        if what <= C_DIGIT or what == C_UNDERSCORE:
            word = (word ^ <uint64_t>Py_UNICODE_TOLOWER(c)) * FNV_PRIME
            inside = True
        elif inside:
            push64(found, word)
            word = FNV_START
            inside = False
    return found.used // 8


def word_keys(str text):
    """The distinct words of a text as sorted 64-bit keys."""
    cdef Buffer buffer = Buffer()
    cdef Py_ssize_t k, count = words_of(text, &buffer.column)
    return np.array(sorted({mixed((<uint64_t*>buffer.column.data)[k]) for k in range(count)}), np.uint64)


def shingle_map(str text):
    """A map with one bit for each sequence of three words of a text."""
    cdef Buffer buffer = Buffer()
    cdef Py_ssize_t k, count = words_of(text, &buffer.column)
    cdef uint64_t* word = <uint64_t*>buffer.column.data
    cdef uint64_t place
    cdef uint8_t[::1] bits = np.zeros(1 << (SHINGLE_BITS - 3), np.uint8)
    for k in range(2, count):
        place = shingle(word[k - 2], word[k - 1], word[k])
        bits[place >> 3] |= 1 << (place & 7)
    return bits.base


cdef inline uint64_t shingle(uint64_t first, uint64_t second, uint64_t third) noexcept nogil:
    return mixed((first * GOLDEN + second) * GOLDEN + third) >> (64 - SHINGLE_BITS)


def node_marks(const uint16_t[::1] tag, const int32_t[::1] parent):
    """For each node the marks (`featureschema.MARK`) of itself and its ancestors."""
    cdef Py_ssize_t i, size = tag.shape[0]
    cdef uint32_t own
    cdef uint32_t[::1] mark = np.zeros(size, np.uint32)
    check_columns(parent.shape[0] == size)
    for i in range(size):
        own = MARK_OF[tag[i]] if tag[i] < 2048 else 0
        if i:
            check_parent(parent, i)
            own |= mark[parent[i]] & ~M_OWN
        mark[i] = own
    return mark.base


def heading_rows(const uint16_t[::1] tag, const int32_t[::1] parent, const uint8_t[::1] levels,
                 const int32_t[::1] owner):
    """For each block the level of the heading that it is in, 0 for none, and the last block before that is in one, or
    -1. `levels` is a table over tags; tags beyond it have none.
    """
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t i, b, size = tag.shape[0], n = owner.shape[0]
    cdef int64_t last = -1
    check_columns(parent.shape[0] == size)
    cdef uint8_t* around = <uint8_t*>scratch.room(size, 1)
    for i in range(size):
        around[i] = levels[tag[i]] if tag[i] < levels.shape[0] else 0
        if i:
            check_parent(parent, i)
            if not around[i]:
                around[i] = around[parent[i]]
    found, before = np.empty(n, np.uint8), np.empty(n, np.int64)
    cdef uint8_t[::1] level = found
    cdef int64_t[::1] heading = before
    for b in range(n):
        if not 0 <= owner[b] < size:
            raise ValueError(f"block {b} does not fit")
        level[b], heading[b] = around[owner[b]], last
        if level[b]:
            last = b
    return found, before


cdef struct Words:
    # the counts of one block
    int32_t row[COUNTS]
    uint64_t before[2]
    uint64_t key
    Py_ssize_t heard
    uint64_t named[FILTER]  # a bit for each word of the title or summary: most words have none
    # the words of title and summary, ascending, and the map of shingles; NULL if there are none
    const uint64_t* title
    const uint64_t* summary
    const uint8_t* data_map
    Py_ssize_t titles
    Py_ssize_t summaries
    Column* ids


cdef struct Runs:
    # the runs of a page: where they start, the nodes that own them, and the marks of all nodes
    const int32_t* start
    const int32_t* owner
    const uint32_t* marks


cdef inline int end_word(Words* words, uint64_t word, Py_ssize_t length) except -1 nogil:
    cdef uint64_t value = mixed(word), place
    if words.data_map != NULL:
        if words.heard >= 2:
            place = shingle(words.before[0], words.before[1], word)
            words.row[IN_DATA] += (words.data_map[place >> 3] >> (place & 7)) & 1
        words.before[0] = words.before[1]
        words.before[1] = word
    if length <= 3:
        words.row[SHORT] += 1
    elif length >= 8:
        words.row[LONG] += 1
    if words.named[value & (FILTER - 1)] >> (value >> 58) & 1:
        words.row[IN_TITLE] += contains(words.title, words.titles, value)
        words.row[IN_SUMMARY] += contains(words.summary, words.summaries, value)
    if words.heard < HEARD_WORDS:
        push32(words.ids, <int32_t>(value >> (64 - WORD_BITS)))
    words.key = words.key * GOLDEN + word
    words.heard += 1
    return 0


cdef int scan_block(const Character* data, const Runs* runs, Py_ssize_t first, Py_ssize_t last,
                    Words* words) except -1 nogil:
    """Count the words and characters of one block."""
    cdef Py_ssize_t r, k, stop, length = 0
    cdef uint64_t word = 0
    cdef Py_UCS4 c, before = 0
    cdef int what, ending = 0
    cdef int32_t chars = 0, letters = 0, digits = 0
    cdef int32_t* row = words.row
    cdef bint inside = False, linked, strong
    for r in range(first, last):
        linked = (runs.marks[runs.owner[r]] & M_LINK) != 0
        strong = (runs.marks[runs.owner[r]] & M_STRONG) != 0
        k, stop = runs.start[r], runs.start[r + 1]
        while k < stop:
            c = <Py_UCS4>data[k]
            k += 1
            what = class_of(c)
            if what == C_SPACE:
                before = 0
                if inside:
                    inside = False
                    end_word(words, word, length)
                continue
            chars += 1
            ending = what
            if c >= 0x3040 and what <= C_DIGIT and is_cjk(c):
                if inside:
                    inside = False
                    end_word(words, word, length)
                chars += CJK_WIDTH - 1
                row[WORDS] += 1
                row[LINK_WORDS] += linked
                row[STRONG_WORDS] += strong
                letters += CJK_WIDTH
                end_word(words, cjk_word(before, c), CJK_LENGTH)
                before = c
                continue
            before = 0
            if what <= C_DIGIT or what == C_UNDERSCORE:
                if not inside:
                    inside = True
                    word = FNV_START
                    length = 0
                    row[WORDS] += 1
                    row[LINK_WORDS] += linked
                    row[STRONG_WORDS] += strong
                    row[CAPITALS] += what == C_UPPER
                    row[NUMBERS] += what == C_DIGIT
                if what == C_DIGIT:
                    digits += 1
                else:
                    letters += 1
                if what == C_UPPER or c >= 128:
                    c = Py_UNICODE_TOLOWER(c)
                word = (word ^ <uint64_t>c) * FNV_PRIME
                length += 1
                while k < stop and 97 <= <Py_UCS4>data[k] <= 122:  # most characters are small letters inside a word
                    word = (word ^ <uint64_t>data[k]) * FNV_PRIME
                    ending = C_LETTER
                    chars += 1
                    letters += 1
                    length += 1
                    k += 1
                continue
            if inside:
                inside = False
                end_word(words, word, length)
            if what == C_END:
                row[ENDS] += 1
            elif what == C_COMMA:
                row[COMMAS] += 1
            elif what == C_MONEY:
                row[MONEY] += 1
            elif what == C_SIGN:
                row[SIGNS] += 1
    if inside:
        end_word(words, word, length)
    row[CHARS], row[LETTERS], row[DIGITS], row[LAST] = chars, letters, digits, ending
    return 0


def block_words(str text, const int32_t[::1] run_start, const int64_t[::1] first_run, const int32_t[::1] run_owner,
                const uint32_t[::1] marks, const uint64_t[::1] title, const uint64_t[::1] summary,
                const uint8_t[::1] data_map):
    r"""The blocks with text: number, counts (`featureschema.COUNTS`; a word is `\w+`, or one Han, kana
    or Hangul character), key of the text, and hashed words.

    The words of row k are `ids[offsets[k]:offsets[k + 1]]`. `marks` are those of nodes (`node_marks`); `title` and
    `summary` are `word_keys`; `data_map` is the `shingle_map` of the text in the page's head, or empty.
    """
    cdef Py_ssize_t blocks = first_run.shape[0] - 1, runs = run_start.shape[0] - 1, size = PyUnicode_GET_LENGTH(text)
    cdef Py_ssize_t b, r, k, n = 0
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Words words
    cdef Buffer buffer = Buffer()
    cdef Column* ids = &buffer.column
    if data_map.shape[0] != 0 and data_map.shape[0] != 1 << (SHINGLE_BITS - 3):
        raise ValueError("a map of shingles of another size")
    check_columns(run_owner.shape[0] == runs)
    check_runs(run_start, runs, size)
    for r in range(runs):
        if not 0 <= run_owner[r] < marks.shape[0]:
            raise ValueError(f"run {r} is outside the tree")
    for b in range(blocks):
        if not 0 <= first_run[b] <= first_run[b + 1] <= runs:
            raise ValueError(f"block {b} is outside the runs")
    spoken, counted = np.empty(blocks, np.int32), np.empty((blocks, COUNTS), np.int32)
    keys, offsets = np.empty(blocks, np.uint64), np.zeros(blocks + 1, np.int32)
    cdef int32_t[::1] block = spoken, offset = offsets
    cdef int32_t[:, ::1] count = counted
    cdef uint64_t[::1] text_key = keys
    cdef Runs places
    places.start = &run_start[0]
    places.owner = &run_owner[0] if runs else NULL
    places.marks = &marks[0] if runs else NULL
    words.title, words.titles = &title[0] if title.shape[0] else NULL, title.shape[0]
    words.summary, words.summaries = &summary[0] if summary.shape[0] else NULL, summary.shape[0]
    words.data_map = &data_map[0] if data_map.shape[0] else NULL
    words.ids = ids
    with nogil:  # the text is held by the caller
        for k in range(FILTER):
            words.named[k] = 0
        for k in range(title.shape[0]):
            words.named[title[k] & (FILTER - 1)] |= <uint64_t>1 << (title[k] >> 58)
        for k in range(summary.shape[0]):
            words.named[summary[k] & (FILTER - 1)] |= <uint64_t>1 << (summary[k] >> 58)
        for b in range(blocks):
            words.key = FNV_START
            words.before[0] = words.before[1] = 0
            words.heard = 0
            for k in range(COUNTS):
                words.row[k] = 0
            if kind == 1:
                scan_block(<const uint8_t*>data, &places, first_run[b], first_run[b + 1], &words)
            elif kind == 2:
                scan_block(<const uint16_t*>data, &places, first_run[b], first_run[b + 1], &words)
            else:
                scan_block(<const uint32_t*>data, &places, first_run[b], first_run[b + 1], &words)
            if words.row[CHARS]:
                for k in range(COUNTS):
                    count[n, k] = words.row[k]
                block[n] = <int32_t>b
                text_key[n] = mixed(words.key)
                n += 1
                offset[n] = <int32_t>(ids.used // 4)
    return spoken[:n], counted[:n], keys[:n], ids_of(ids), offsets[: n + 1]


def node_tokens(const uint16_t[::1] tag, const int32_t[::1] attr_node, const uint8_t[::1] attr_name, naming,
                const int32_t[::1] attr_start, str attr_text):
    """Tokens of each node: its tag, and the pieces of its attributes with the `naming` codes (class, id, role).

    A name is cut at characters other than ASCII letters and between a lower-case letter and a capital. A piece of two
    letters or more is a token, and so is each pair of neighbours within one name.
    """
    cdef const uint8_t[::1] wanted = bytes_of(naming)
    cdef Py_ssize_t size = tag.shape[0], attributes = attr_node.shape[0]
    cdef int kind = PyUnicode_KIND(attr_text)
    cdef void* data = PyUnicode_DATA(attr_text)
    cdef Buffer buffer = Buffer()
    check_columns(attr_start.shape[0] == attributes + 1 and attr_name.shape[0] == attributes and wanted.shape[0] == 256)
    check_runs(attr_start, attributes, PyUnicode_GET_LENGTH(attr_text))
    cdef int32_t[::1] offset = np.zeros(size + 1, np.int32)
    with nogil:
        if kind == 1:
            scan_names(<const uint8_t*>data, tag, attr_node, attr_name, wanted, attr_start, offset,
                       &buffer.column)
        elif kind == 2:
            scan_names(<const uint16_t*>data, tag, attr_node, attr_name, wanted, attr_start, offset,
                       &buffer.column)
        else:
            scan_names(<const uint32_t*>data, tag, attr_node, attr_name, wanted, attr_start, offset,
                       &buffer.column)
    return ids_of(&buffer.column), offset.base


cdef int scan_names(const Character* data, const uint16_t[::1] tag, const int32_t[::1] attr_node,
                    const uint8_t[::1] attr_name, const uint8_t[::1] wanted, const int32_t[::1] attr_start,
                    int32_t[::1] offset, Column* ids) except -1 nogil:
    """Append the tokens of each node, and fill `offset`."""
    cdef Py_ssize_t i, a = 0, k, stop, length, emitted, attributes = attr_node.shape[0]
    cdef Py_UCS4 c
    cdef uint64_t piece, before
    cdef bint upper, was_lower
    for i in range(tag.shape[0]):
        push32(ids, <int32_t>(mixed(<uint64_t>tag[i] + 1) >> (64 - TOKEN_BITS)))
        emitted = 0
        while a < attributes and attr_node[a] <= i:
            if wanted[attr_name[a]] and attr_node[a] == i:
                piece = before = FNV_START
                length = 0
                was_lower = False
                k, stop = attr_start[a], attr_start[a + 1]
                while k < stop:
                    c = <Py_UCS4>data[k]
                    if 97 <= c <= 122:
                        was_lower = True
                        while k < stop and 97 <= <Py_UCS4>data[k] <= 122:  # most characters are small letters
                            piece = (piece ^ <uint64_t>data[k]) * FNV_PRIME
                            length += 1
                            k += 1
                        continue
                    upper = 65 <= c <= 90
                    if length and (was_lower or not upper):
                        emitted += end_piece(ids, piece, length, &before, emitted)
                        piece = FNV_START
                        length = 0
                    was_lower = False
                    if upper:
                        piece = (piece ^ (<uint64_t>c + 32)) * FNV_PRIME
                        length += 1
                    elif c == 32 or 9 <= c <= 13:
                        before = FNV_START
                    k += 1
                if length:
                    emitted += end_piece(ids, piece, length, &before, emitted)
            a += 1
        offset[i + 1] = <int32_t>(ids.used // 4)
    return 0


cdef inline int end_piece(Column* ids, uint64_t piece, Py_ssize_t length, uint64_t* before,
                          Py_ssize_t emitted) except -1 nogil:
    """Emit a piece of a name, and its pair with the piece before; return how many tokens were emitted."""
    cdef int count = 1
    if length < 2 or emitted >= MOST_TOKENS:
        return 0
    push32(ids, <int32_t>(mixed(piece) >> (64 - TOKEN_BITS)))
    if before[0] != FNV_START:
        push32(ids, <int32_t>(mixed(before[0] * GOLDEN + piece) >> (64 - TOKEN_BITS)))
        count = 2
    before[0] = piece
    return count


def name_scores(const int32_t[::1] parent, const int32_t[::1] owner, const int32_t[::1] nearest,
                const int32_t[::1] ids, const int32_t[::1] offsets, const int16_t[::1] near, const int16_t[::1] mid,
                const int16_t[::1] far):
    """Three rows of scores of the names around each block, whose tokens weigh 1 / sqrt(their number): of its own
    elements (from `nearest` up to `owner`), of the two around them, of those further out.
    """
    cdef Py_ssize_t i, b, k, size = parent.shape[0], n = owner.shape[0]
    cdef int32_t room = <int32_t>near.shape[0], count, up, higher, beyond, o
    cdef Scratch scratch = Scratch()
    check_columns(offsets.shape[0] == size + 1 and size > 0 and nearest.shape[0] == n)
    check_columns(mid.shape[0] == room and far.shape[0] == room)
    check_runs(offsets, size, ids.shape[0])
    cdef int32_t* counts = <int32_t*>scratch.room(5 * size, sizeof(int32_t))  # counts, then those of all above
    cdef int32_t* above = counts + size
    cdef int32_t* near_above = above + size  # sums of all above
    cdef int32_t* far_above = near_above + size
    cdef int32_t* mid_sum = far_above + size
    found = np.empty((3, n))
    cdef double[:, ::1] scores = found
    for i in range(size):
        counts[i] = above[i] = offsets[i + 1] - offsets[i]
        near_above[i] = far_above[i] = mid_sum[i] = 0
        for k in range(offsets[i], offsets[i + 1]):
            if not 0 <= ids[k] < room:
                raise ValueError(f"there is no weight of token {ids[k]}")
            near_above[i] += near[ids[k]]
            mid_sum[i] += mid[ids[k]]
            far_above[i] += far[ids[k]]
        if i:
            check_parent(parent, i)
            above[i] += above[parent[i]]
            near_above[i] += near_above[parent[i]]
            far_above[i] += far_above[parent[i]]
    for b in range(n):
        o = owner[b]
        if not (0 <= o < size and 0 <= nearest[b] < size):
            raise ValueError(f"block {b} does not fit")
        up = parent[o] if o else 0
        higher = parent[up] if up else 0
        beyond = parent[higher] if higher else 0
        count = above[nearest[b]] - (above[up] if o else 0)
        scores[0, b] = (near_above[nearest[b]] - (near_above[up] if o else 0)) / sqrt(<double>count)
        scores[1, b] = (mid_sum[up] + mid_sum[higher]) / sqrt(<double>(counts[up] + counts[higher]))
        scores[2, b] = far_above[beyond] / sqrt(<double>above[beyond])
    return found


def linear_scores(const double[:, ::1] names, const int32_t[::1] ids, const int32_t[::1] offsets,
                  const int16_t[::1] words, const int16_t[::1] headings, int shift, const int64_t[::1] before,
                  double scale, double bias):
    """Five rows of scores (all, words, the three of `name_scores`) of each block, and its score as a heading.

    `before[b]` is the heading before block b, or -1; the weight of a word in a heading is `headings[id >> shift]`.
    """
    cdef Py_ssize_t n = offsets.shape[0] - 1, b, k, part
    cdef int32_t total, as_heading, room = <int32_t>words.shape[0]
    cdef double root
    check_columns(names.shape[0] == 3 and names.shape[1] == n and before.shape[0] == n)
    check_columns(headings.shape[0] == room >> shift)
    check_runs(offsets, n, ids.shape[0])
    found, heads = np.empty((5, n)), np.empty(n)
    cdef double[:, ::1] scores = found
    cdef double[::1] head = heads
    for b in range(n):
        total = as_heading = 0
        for k in range(offsets[b], offsets[b + 1]):
            if not 0 <= ids[k] < room:
                raise ValueError(f"there is no weight of token {ids[k]}")
            total += words[ids[k]]
            as_heading += headings[ids[k] >> shift]
        root = sqrt(<double>(offsets[b + 1] - offsets[b]) if offsets[b + 1] > offsets[b] else 1.0)
        head[b] = as_heading / root
        if before[b] >= b:
            raise ValueError(f"block {b} does not fit")
        scores[1, b] = total / root
        scores[0, b] = scores[1, b] + names[0, b] + names[1, b] + names[2, b]
        if before[b] >= 0:
            scores[0, b] += head[before[b]]
        scores[0, b] = scores[0, b] / scale + bias
        scores[1, b] /= scale
        for part in range(3):
            scores[2 + part, b] = names[part, b] / scale
    for b in range(n):
        head[b] /= scale
    return found, heads


cdef inline double share(double part, double whole) noexcept nogil:
    return part / whole if whole > 0.0 else 0.0


cdef inline double between(const double[::1] total, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    return total[last] - total[first]


cdef inline Py_ssize_t slot_of(const uint64_t[::1] keys, uint64_t key) noexcept nogil:
    """The slot of a key in a hash table with a power of two of slots, or the empty slot to put it into."""
    cdef uint64_t last = <uint64_t>keys.shape[0] - 1, slot = key & last
    while keys[slot] and keys[slot] != key:
        slot = (slot + 1) & last
    return <Py_ssize_t>slot


cdef int check_places(const int32_t[::1] parent, const int32_t[:, ::1] tree, const int32_t[::1] owner,
                      const int32_t[::1] group) except -1:
    """Raise if a node or block refers to one that does not exist."""
    cdef Py_ssize_t i, b, size = parent.shape[0], n = owner.shape[0]
    for i in range(1, size):
        if not (0 <= parent[i] < i and 0 <= tree[0, i] <= tree[1, i] <= n and -1 <= min(tree[3, i], tree[4, i])
                and max(tree[3, i], tree[4, i]) <= i):
            raise ValueError(f"node {i} does not fit")
    for b in range(n):
        if not 0 <= owner[b] < size or not 0 <= group[b] < n:
            raise ValueError(f"block {b} does not fit")
    return 0


cdef int32_t[::1] next_headings(const uint8_t[::1] level):
    """For each block the first heading from it on; the number of blocks if there is none."""
    cdef Py_ssize_t b, n = level.shape[0]
    cdef int32_t[::1] after = np.zeros(n + 1, np.int32)
    after[n] = <int32_t>n
    for b in range(n - 1, -1, -1):
        after[b] = <int32_t>b if level[b] else after[b + 1]
    return after


cdef inline double signed_log(double x) noexcept nogil:
    return log_of(x) if x >= 0.0 else -log_of(-x)


cdef inline double blocks_from(Py_ssize_t b, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """The distance of block b to a range of blocks: negative before it, 0 inside."""
    return b - first if b < first else b - last + 1 if b >= last else 0


cdef Py_ssize_t fill_best(const int32_t[::1] parent, const int32_t[::1] depth, const double[::1] value,
                          int32_t[::1] meet) noexcept nogil:
    """The node of the highest value. Fills `meet`: the lowest common ancestor of each node with that node."""
    cdef Py_ssize_t i, best = 0, size = parent.shape[0]
    for i in range(1, size):
        if value[i] > value[best]:
            best = i
    for i in range(size):
        meet[i] = -1
    i = best
    while i >= 0:
        meet[i] = <int32_t>i
        i = parent[i]
    for i in range(1, size):
        if meet[i] < 0:
            meet[i] = meet[parent[i]]
    return best


def outline(const int32_t[::1] parent, const uint64_t[::1] style, const int32_t[::1] text_start,
            const int32_t[::1] text_end, const int32_t[::1] owner, const int32_t[::1] block_start):
    """The position of blocks in the tree, one row each: first block, last block + 1, depth, repeated item around,
    outermost such item, siblings of the same style, place among them; and the group of each block by its path.
    """
    cdef Py_ssize_t i, k, n = owner.shape[0], size = parent.shape[0], slots = 64, slot, low, high
    cdef const int32_t* starts = &block_start[0] if block_start.shape[0] else NULL
    cdef uint64_t key
    cdef int32_t groups = 0, p
    check_columns(style.shape[0] == text_start.shape[0] == text_end.shape[0] == size > 0 and block_start.shape[0] == n)
    for k in range(n):
        if not 0 <= owner[k] < size:
            raise ValueError(f"block {k} has the owner {owner[k]}")
    arrays = np.zeros((7, size), np.int32)
    found = np.zeros(n, np.int32)
    cdef int32_t[:, ::1] out = arrays
    cdef int32_t[::1] first = out[0], last = out[1], depth = out[2], item = out[3], outer = out[4], same = out[5]
    cdef int32_t[::1] place = out[6], group = found
    while slots < 2 * (size if size > n else n):
        slots *= 2
    cdef uint64_t[::1] held = np.zeros(slots, np.uint64), path = np.zeros(size, np.uint64)
    cdef int32_t[::1] count = np.zeros(slots, np.int32), at = np.zeros(size, np.int32)
    for i in range(size):
        if not i or text_start[i] < text_start[i - 1]:
            low = lower_bound(starts, 0, n, text_start[i])
        else:  # in page order: search from the first block of the node before
            low = first[i - 1]
            while low < n and block_start[low] < text_start[i]:
                low += 1
        first[i] = <int32_t>low
        high = low + 2 if low + 2 < n and block_start[low + 2] >= text_end[i] else n
        last[i] = <int32_t>lower_bound(starts, low, high, text_end[i])
        if not i:
            continue
        p = parent[i]
        if not 0 <= p < i:
            raise ValueError(f"node {i} has the parent {p}")
        depth[i] = depth[p] + 1
        path[i] = mixed(path[p] * GOLDEN + style[i])
        key = mixed(style[i] + <uint64_t>(p + 1) * GOLDEN) | 1
        slot = slot_of(held, key)
        held[slot] = key
        place[i] = count[slot]
        count[slot] += 1
        at[i] = <int32_t>slot
    item[0] = outer[0] = -1
    same[0] = 1
    for i in range(1, size):
        p = parent[i]
        same[i] = count[at[i]]
        item[i] = item[p]
        outer[i] = outer[p]
        if same[i] >= 3 and last[i] > first[i]:
            item[i] = <int32_t>i
            if outer[i] < 0:
                outer[i] = <int32_t>i
    held[:] = 0
    for k in range(n):
        key = path[owner[k]] | 1
        slot = slot_of(held, key)
        if not held[slot]:
            held[slot] = key
            count[slot] = groups
            groups += 1
        group[k] = count[slot]
    return arrays, found


cdef void run(const double[:, ::1] values, double[:, ::1] total) noexcept nogil:
    """Fill each row with the sum of the values before each place."""
    cdef Py_ssize_t k, row
    for row in range(values.shape[0]):
        total[row, 0] = 0.0
        for k in range(values.shape[1]):
            total[row, k + 1] = total[row, k] + values[row, k]


cdef inline double mean_of(const double[::1] part, const double[::1] whole, Py_ssize_t first,
                           Py_ssize_t last) noexcept nogil:
    """The ratio of two running sums between two places, which are clipped to the page."""
    if first < 0:
        first = 0
    if last > whole.shape[0] - 1:
        last = whole.shape[0] - 1
    return share(part[last] - part[first], whole[last] - whole[first])


cdef double NOTHING = schema.NOTHING


cdef inline void keep_two(double* most, double* second, double value) noexcept nogil:
    """Update the two highest values."""
    if value > most[0]:
        second[0] = most[0]
        most[0] = value
    elif value > second[0]:
        second[0] = value


def block_features(const int32_t[::1] parent, const uint32_t[::1] marks, const uint8_t[::1] flags,
                   const int32_t[:, ::1] tree, const int32_t[::1] owner, const int32_t[::1] group,
                   const int32_t[:, ::1] counts, const uint64_t[::1] text_key, const uint8_t[::1] level,
                   const double[:, ::1] linear, const double[::1] heading_score, float[:, ::1] out):
    """Fill `out` with the features of each block, one row per name of `featureschema.FEATURES`."""
    cdef Py_ssize_t n = owner.shape[0], size = parent.shape[0]
    check_columns(marks.shape[0] == flags.shape[0] == tree.shape[1] == size > 0 and tree.shape[0] == 7)
    check_columns(group.shape[0] == counts.shape[0] == text_key.shape[0] == level.shape[0] == n)
    check_columns(heading_score.shape[0] == linear.shape[1] == n and linear.shape[0] == 5 and counts.shape[1] == COUNTS)
    cdef const int32_t[::1] first = tree[0], last = tree[1], depth = tree[2], item = tree[3], outer = tree[4]
    cdef const int32_t[::1] same = tree[5], place = tree[6]
    cdef Py_ssize_t b, i, k, f, slot, slots = 64, best, other, title = -1, heading, following, from_, to, up
    cdef int32_t o, p
    cdef double value, page, best_title = 0.0, words_at, top = 0.0
    cdef uint64_t key
    check_places(parent, tree, owner, group)
    check_columns(out.shape[0] == FEATURES and out.shape[1] == n)
    out[:] = 0.0
    cdef double[:, ::1] column = np.empty((9, n))
    for b in range(n):
        value = counts[b, WORDS]
        column[0, b] = value
        column[1, b] = counts[b, LINK_WORDS]
        column[2, b] = counts[b, ENDS]
        column[3, b] = value * linear[0, b]
        column[4, b] = value if marks[owner[b]] & M_HEADING else 0.0
        column[5, b] = value if flags[owner[b]] & 1 else 0.0
        column[6, b] = value if linear[0, b] > 0.0 else 0.0
        column[7, b] = value if counts[b, ENDS] > 0 else 0.0
        column[8, b] = counts[b, IN_DATA]
    cdef double[:, ::1] total = np.empty((9, n + 1))
    run(column, total)
    cdef double[::1] words = total[0], links = total[1], ends = total[2], lines = total[3], heads = total[4]
    cdef double[::1] hidden = total[5], liked = total[6], prose = total[7], told = total[8]
    page = words[n]
    cdef double[:, ::1] of_nodes = np.zeros((4, size + 1))
    cdef int32_t[:, ::1] nodes = np.zeros((4, size), np.int32)
    # pictures and fields before each node
    cdef double[::1] pictures = of_nodes[0], fields = of_nodes[1]
    cdef int32_t[::1] end = nodes[0]
    for i in range(size):
        pictures[i + 1] = pictures[i] + (1.0 if marks[i] & M_PICTURE else 0.0)
        fields[i + 1] = fields[i] + (1.0 if marks[i] & M_FIELD else 0.0)
        end[i] = <int32_t>i + 1
    for i in range(size - 1, 0, -1):
        if end[i] > end[parent[i]]:
            end[parent[i]] = end[i]
    # scores of containers: prose counts for the parent, and half for the grandparent (as in readability)
    cdef double[::1] prose_score = of_nodes[2], liking = of_nodes[3]
    for b in range(n):
        if counts[b, CHARS] >= 25:
            value = counts[b, CHARS] / 100.0
            value = 1.0 + counts[b, COMMAS] + (value if value < 3.0 else 3.0)
            value *= 1.0 - share(counts[b, LINK_WORDS], counts[b, WORDS])
            o = owner[b]
            p = parent[o] if o else 0
            prose_score[p] += value
            prose_score[parent[p] if p else 0] += value / 2.0
    for i in range(size):
        prose_score[i] *= 1.0 - mean_of(links, words, first[i], last[i])
        if prose_score[i] > top:
            top = prose_score[i]
        liking[i] = lines[last[i]] - lines[first[i]] + depth[i] * 1e-6
    cdef int32_t[::1] meet = nodes[1], meet_other = nodes[2], meet_title = nodes[3]
    best = fill_best(parent, depth, prose_score, meet)
    other = fill_best(parent, depth, liking, meet_other)
    # the block with the title
    for b in range(n):
        value = share(counts[b, IN_TITLE], counts[b, WORDS]) * counts[b, IN_TITLE]
        value *= 2.0 if level[b] == 1 else 1.5 if level[b] else 1.0
        if value > best_title:
            best_title = value
            title = b
    for i in range(size):
        liking[i] = 0.0
    if title >= 0:
        liking[owner[title]] = 1.0
    up = fill_best(parent, depth, liking, meet_title)
    # copies and groups
    while slots < 2 * n:
        slots *= 2
    cdef uint64_t[::1] held = np.zeros(slots, np.uint64)
    cdef int32_t[::1] times = np.zeros(slots, np.int32)
    cdef int32_t[:, ::1] of_blocks = np.empty((2, n), np.int32)
    cdef int32_t[::1] at = of_blocks[0], earlier = of_blocks[1]
    cdef double[:, ::1] highest = np.full((2, slots), NOTHING), grouped = np.zeros((4, n + 1))
    cdef double[::1] most = highest[0], second = highest[1]
    for b in range(n):
        key = text_key[b] | 1
        slot = slot_of(held, key)
        held[slot] = key
        earlier[b] = times[slot]
        times[slot] += 1
        at[b] = <int32_t>slot
        keep_two(&most[slot], &second[slot], linear[0, b])
        grouped[0, group[b]] += 1.0
        for k in range(3):
            grouped[k + 1, group[b]] += column[0 if k == 0 else 1 if k == 1 else 3, b]
    # headings before and after
    cdef int32_t[::1] after = next_headings(level)
    cdef double of_page[12]
    of_page[0] = log_of(n)
    of_page[1] = log_of(page)
    of_page[2] = share(links[n], page)
    of_page[3] = share(ends[n], page)
    of_page[4] = share(lines[n], page)
    of_page[5] = share(heads[n], page)
    of_page[6] = share(hidden[n], page)
    of_page[7] = share(liked[n], page)
    of_page[8] = share(prose[n], page)
    of_page[9] = log_of(pictures[size])
    of_page[10] = log_of(fields[size])
    of_page[11] = share(told[n], page)
    heading = -1
    f = FEATURES
    with nogil:
        for b in range(n):
            o = owner[b]
            words_at = counts[b, WORDS]
            f = 0
            out[f, b] = log_of(words_at); f += 1
            out[f, b] = log_of(counts[b, CHARS]); f += 1
            out[f, b] = share(counts[b, LETTERS], words_at); f += 1
            out[f, b] = share(counts[b, LINK_WORDS], words_at); f += 1
            out[f, b] = share(counts[b, STRONG_WORDS], words_at); f += 1
            out[f, b] = share(counts[b, DIGITS], counts[b, CHARS]); f += 1
            out[f, b] = share(counts[b, CAPITALS], words_at); f += 1
            out[f, b] = share(counts[b, NUMBERS], words_at); f += 1
            out[f, b] = share(counts[b, ENDS], words_at); f += 1
            out[f, b] = share(counts[b, COMMAS], words_at); f += 1
            out[f, b] = share(counts[b, SIGNS], counts[b, CHARS]); f += 1
            out[f, b] = counts[b, MONEY]; f += 1
            out[f, b] = share(counts[b, SHORT], words_at); f += 1
            out[f, b] = share(counts[b, LONG], words_at); f += 1
            out[f, b] = share(counts[b, IN_TITLE], words_at); f += 1
            out[f, b] = counts[b, IN_TITLE]; f += 1
            out[f, b] = share(counts[b, IN_SUMMARY], words_at); f += 1
            out[f, b] = log_of(counts[b, IN_SUMMARY]); f += 1
            out[f, b] = share(counts[b, IN_DATA], words_at); f += 1
            out[f, b] = counts[b, LAST]; f += 1
            out[f, b] = level[b]; f += 1
            for k in range(3):
                out[f, b] = 1.0 if flags[o] & (1 << k) else 0.0; f += 1
            for k in range(MARKS_SHOWN):
                out[f, b] = 1.0 if marks[o] & SHOWN_MARK[k] else 0.0; f += 1
            for k in range(5):
                out[f, b] = linear[k, b]; f += 1
            out[f, b] = times[at[b]]; f += 1
            out[f, b] = earlier[b]; f += 1
            value = second[at[b]] if linear[0, b] >= most[at[b]] else most[at[b]]
            out[f, b] = linear[0, b] - value if times[at[b]] > 1 else 0.0; f += 1
            k = group[b]
            out[f, b] = log_of(grouped[0, k]); f += 1
            out[f, b] = share(grouped[1, k], page); f += 1
            out[f, b] = log_of(share(grouped[1, k], grouped[0, k])); f += 1
            out[f, b] = share(grouped[2, k], grouped[1, k]); f += 1
            out[f, b] = share(grouped[3, k], grouped[1, k]); f += 1
            # repeated items around
            for k in range(2):
                i = item[o] if k == 0 else outer[o]
                if i < 0:
                    f += 9
                    continue
                p = parent[i]
                out[f, b] = log_of(same[i]); f += 1
                out[f, b] = share(place[i], same[i]); f += 1
                out[f, b] = log_of(words[last[i]] - words[first[i]]); f += 1
                out[f, b] = log_of(last[i] - first[i]); f += 1
                out[f, b] = mean_of(links, words, first[i], last[i]); f += 1
                out[f, b] = pictures[end[i]] - pictures[i]; f += 1
                out[f, b] = share(words[last[p]] - words[first[p]], page); f += 1
                out[f, b] = mean_of(links, words, first[p], last[p]); f += 1
                out[f, b] = mean_of(lines, words, first[p], last[p]); f += 1
            # the containers around
            i = o
            for k in range(5):
                out[f, b] = log_of(words[last[i]] - words[first[i]]); f += 1
                out[f, b] = mean_of(links, words, first[i], last[i]); f += 1
                out[f, b] = share(words[last[i]] - words[first[i]], page); f += 1
                out[f, b] = log_of(last[i] - first[i]); f += 1
                out[f, b] = mean_of(lines, words, first[i], last[i]); f += 1
                out[f, b] = share(prose_score[i], top); f += 1
                out[f, b] = mean_of(ends, words, first[i], last[i]); f += 1
                out[f, b] = log_of(same[i]); f += 1
                i = parent[i] if i else 0
            out[f, b] = pictures[end[i]] - pictures[i]; f += 1
            out[f, b] = fields[end[i]] - fields[i]; f += 1
            # the best containers
            for k in range(3):
                i = best if k == 0 else other if k == 1 else up
                p = meet[o] if k == 0 else meet_other[o] if k == 1 else meet_title[o]
                out[f, b] = depth[i] - depth[p]; f += 1
                out[f, b] = depth[o] - depth[p]; f += 1
                out[f, b] = signed_log(blocks_from(b, first[i], last[i])); f += 1
                out[f, b] = share(words[last[i]] - words[first[i]], page); f += 1
            # headings
            out[f, b] = log_of(b - heading) if heading >= 0 else -1.0; f += 1
            out[f, b] = level[heading] if heading >= 0 else 0.0; f += 1
            out[f, b] = heading_score[heading] if heading >= 0 else 0.0; f += 1
            out[f, b] = linear[0, heading] if heading >= 0 else 0.0; f += 1
            out[f, b] = share(counts[heading, LINK_WORDS], counts[heading, WORDS]) if heading >= 0 else 0.0; f += 1
            if heading >= 0:
                i = parent[owner[heading]] if owner[heading] else 0
                out[f, b] = 2.0 if b < last[i] else 1.0 if b < last[parent[i] if i else 0] else 0.0
            f += 1
            out[f, b] = log_of(words[b] - words[heading + 1]) if heading >= 0 else log_of(words[b]); f += 1
            following = after[b + 1]
            out[f, b] = log_of(following - b); f += 1
            out[f, b] = log_of(words[following] - words[b + 1]); f += 1
            # position
            out[f, b] = share(b, n); f += 1
            out[f, b] = share(words[b], page); f += 1
            out[f, b] = depth[o]; f += 1
            out[f, b] = signed_log(b - title if title >= 0 else 0); f += 1
            # neighbouring blocks
            for k in range(3):
                i = 2 if k == 0 else 7 if k == 1 else 20
                out[f, b] = mean_of(links, words, b - i, b + i + 1); f += 1
                out[f, b] = mean_of(lines, words, b - i, b + i + 1); f += 1
                out[f, b] = mean_of(ends, words, b - i, b + i + 1); f += 1
                from_ = b - i if b > i else 0
                to = b + i + 1 if b + i + 1 < n else n
                out[f, b] = log_of(share(words[to] - words[from_], to - from_)); f += 1
            out[f, b] = mean_of(told, words, b - 7, b + 8); f += 1
            i = parent[o] if o else 0
            out[f, b] = mean_of(told, words, first[i], last[i]); f += 1
            for k in range(2):
                i = b - 1 if k == 0 else b + 1
                if not 0 <= i < n:
                    f += 4
                    continue
                out[f, b] = log_of(counts[i, WORDS]); f += 1
                out[f, b] = share(counts[i, LINK_WORDS], counts[i, WORDS]); f += 1
                out[f, b] = linear[0, i]; f += 1
                out[f, b] = 1.0 if group[i] == group[b] else 0.0; f += 1
            # the page
            for k in range(12):
                out[f, b] = of_page[k]; f += 1
            if level[b]:
                heading = b
    if f != FEATURES:
        raise ValueError(f"{f} features, {FEATURES} have names")


cdef struct Likely:
    double probability
    int32_t words
    int32_t place


cdef Likely* by_probability(Likely* ranked, Likely* room, Py_ssize_t size) noexcept nogil:
    """Sort by descending probability, equal ones in their order, by merging; the result is in one of the two places."""
    cdef Py_ssize_t width = 1, start, middle, stop, left, right, k
    cdef Likely* other
    while width < size:
        start = 0
        while start < size:
            middle = min(start + width, size)
            stop = min(start + 2 * width, size)
            left, right = start, middle
            for k in range(start, stop):
                if left < middle and (right >= stop or ranked[left].probability >= ranked[right].probability):
                    room[k] = ranked[left]
                    left += 1
                else:
                    room[k] = ranked[right]
                    right += 1
            start = stop
        other = ranked
        ranked = room
        room = other
        width *= 2
    return ranked


cdef double[::1] ranks(const int32_t[:] words, const double[::1] probability):
    """The share of the page's words up to each block, by descending probability; blocks of equal ones in page order."""
    cdef Py_ssize_t k, n = probability.shape[0]
    cdef Scratch scratch = Scratch()
    cdef double[::1] rank = np.empty(n)
    cdef int64_t heard = 0, total = 0
    cdef Likely* ranked = <Likely*>scratch.room(2 * n, sizeof(Likely))
    for k in range(n):
        ranked[k].probability, ranked[k].words, ranked[k].place = probability[k], words[k], <int32_t>k
        total += words[k]
    ranked = by_probability(ranked, ranked + n, n)
    for k in range(n):
        heard += ranked[k].words
        rank[ranked[k].place] = <double>heard / <double>(total if total > 1 else 1)
    return rank


def context_features(const int32_t[::1] parent, const int32_t[:, ::1] tree, const int32_t[::1] owner,
                     const int32_t[::1] group, const uint64_t[::1] text_key, const uint8_t[::1] level,
                     const int32_t[:] weight, const double[::1] probability, float[:, ::1] out):
    """Fill `out` with features from the probabilities of the blocks around, one row per name of
    `featureschema.CONTEXTS`. `weight` is the words of each block."""
    cdef Py_ssize_t n = owner.shape[0], size = parent.shape[0]
    check_columns(tree.shape[0] == 7 and tree.shape[1] == size > 0 and text_key.shape[0] == n)
    check_columns(group.shape[0] == level.shape[0] == weight.shape[0] == probability.shape[0] == n)
    cdef const int32_t[::1] first = tree[0], last = tree[1], depth = tree[2], item = tree[3], outer = tree[4]
    cdef double[::1] rank = ranks(weight, probability)
    cdef Py_ssize_t b, i, k, f, best, heading = -1, following, slot, slots = 64
    cdef int32_t o, p
    cdef double rival, page, likely
    cdef uint64_t key
    check_places(parent, tree, owner, group)
    check_columns(out.shape[0] == CONTEXTS and out.shape[1] == n)
    cdef double[:, ::1] column = np.empty((3, n)), total = np.empty((3, n + 1))
    for b in range(n):
        column[0, b] = weight[b]
        column[1, b] = weight[b] * probability[b]
        column[2, b] = weight[b] if probability[b] > 0.5 else 0.0
    run(column, total)
    cdef double[::1] words = total[0], likes = total[1], sure = total[2]
    page, likely = words[n], likes[n]
    cdef double[::1] value_of = np.empty(size)
    for i in range(size):
        value_of[i] = (likes[last[i]] - likes[first[i]]) - 0.5 * (words[last[i]] - words[first[i]]) + depth[i] * 1e-6
    cdef int32_t[::1] meet = np.empty(size, np.int32)
    best = fill_best(parent, depth, value_of, meet)
    while slots < 2 * n:
        slots *= 2
    cdef uint64_t[::1] held = np.zeros(slots, np.uint64)
    cdef int32_t[::1] at = np.empty(n, np.int32)
    cdef double[:, ::1] highest = np.full((2, slots), NOTHING), grouped = np.zeros((3, n + 1))
    cdef double[::1] most = highest[0], second = highest[1], earlier = np.empty(n)
    for b in range(n):
        key = text_key[b] | 1
        slot = slot_of(held, key)
        held[slot] = key
        at[b] = <int32_t>slot
        earlier[b] = most[slot] if most[slot] > NOTHING else -1.0
        keep_two(&most[slot], &second[slot], probability[b])
        grouped[0, group[b]] += column[0, b]
        grouped[1, group[b]] += column[1, b]
        if probability[b] > grouped[2, group[b]]:
            grouped[2, group[b]] = probability[b]
    cdef int32_t[::1] after = next_headings(level)
    f = CONTEXTS
    with nogil:
        for b in range(n):
            o = owner[b]
            f = 0
            out[f, b] = probability[b]; f += 1
            for k in range(4):
                i = b - 2 if k == 0 else b - 1 if k == 1 else b + 1 if k == 2 else b + 2
                out[f, b] = probability[i] if 0 <= i < n else 0.0; f += 1
            for k in range(4):
                i = 2 if k == 0 else 5 if k == 1 else 12 if k == 2 else 30
                out[f, b] = mean_of(likes, words, b - i, b + i + 1); f += 1
            out[f, b] = mean_of(likes, words, b - 8, b); f += 1
            out[f, b] = mean_of(likes, words, b + 1, b + 9); f += 1
            i = o
            for k in range(5):
                out[f, b] = mean_of(likes, words, first[i], last[i]); f += 1
                i = parent[i] if i else 0
            for k in range(2):
                i = item[o] if k == 0 else outer[o]
                if i < 0:
                    out[f, b] = -1.0; f += 1
                    out[f, b] = -1.0; f += 1
                    continue
                p = parent[i]
                out[f, b] = mean_of(likes, words, first[i], last[i]); f += 1
                out[f, b] = mean_of(likes, words, first[p], last[p]); f += 1
            k = group[b]
            out[f, b] = share(grouped[1, k], grouped[0, k]); f += 1
            out[f, b] = grouped[2, k]; f += 1
            out[f, b] = depth[best] - depth[meet[o]]; f += 1
            out[f, b] = depth[o] - depth[meet[o]]; f += 1
            out[f, b] = signed_log(blocks_from(b, first[best], last[best])); f += 1
            out[f, b] = share(likes[last[best]] - likes[first[best]], likely); f += 1
            out[f, b] = mean_of(likes, words, first[best], last[best]); f += 1
            out[f, b] = probability[heading] if heading >= 0 else -1.0; f += 1
            out[f, b] = mean_of(likes, words, heading + 1, after[b + 1]); f += 1
            following = after[b + 1]
            out[f, b] = probability[following] if following < n else -1.0; f += 1
            out[f, b] = share(likes[b], likely); f += 1
            out[f, b] = rank[b]; f += 1
            out[f, b] = share(likely, page); f += 1
            out[f, b] = log_of(likely); f += 1
            out[f, b] = share(sure[n], page); f += 1
            out[f, b] = log_of(sure[n]); f += 1
            out[f, b] = earlier[b]; f += 1
            rival = second[at[b]] if probability[b] >= most[at[b]] else most[at[b]]
            out[f, b] = probability[b] - rival if rival > NOTHING else 1.0; f += 1
            if level[b]:
                heading = b
    if f != CONTEXTS:
        raise ValueError(f"{f} features, {CONTEXTS} have names")


cdef extern from *:
    """
    #if defined(__GNUC__) && defined(__x86_64__) && defined(__GLIBC__)
    __attribute__((target_clones("avx2", "default")))
    #endif
    void webwinnow_forest_sums(const float* columns, Py_ssize_t n, const short* feature, const float* border,
                               const short* leaves, Py_ssize_t trees, Py_ssize_t levels, unsigned char* leaf,
                               int* sums) {
        for (Py_ssize_t t = 0; t < trees; t++) {
            const short* value = leaves + (t << levels);
            for (Py_ssize_t d = 0; d < levels; d++) {
                const float* column = columns + feature[t * levels + d] * n;
                const float limit = border[t * levels + d];
                const unsigned char bit = (unsigned char)(1 << d);
                if (d == 0)
                    for (Py_ssize_t b = 0; b < n; b++) leaf[b] = column[b] > limit;
                else
                    for (Py_ssize_t b = 0; b < n; b++) leaf[b] |= column[b] > limit ? bit : 0;
            }
            for (Py_ssize_t b = 0; b < n; b++) sums[b] += value[leaf[b]];
        }
    }
    """
    void webwinnow_forest_sums(const float*, Py_ssize_t, const int16_t*, const float*, const int16_t*, Py_ssize_t,
                               Py_ssize_t, uint8_t*, int32_t*) noexcept nogil


def forest_sums(const float[:, ::1] columns, const int16_t[:, ::1] feature, const float[:, ::1] border,
                const int16_t[:, ::1] leaves):
    """The sum over all trees of the leaf values of each block, in fixed point."""
    cdef Py_ssize_t trees = feature.shape[0], levels = feature.shape[1], n = columns.shape[1], t, d
    if (border.shape[0], border.shape[1], leaves.shape[0], leaves.shape[1]) != (trees, levels, trees, 1 << levels):
        raise ValueError("the arrays of a forest do not fit together")
    for t in range(trees):
        for d in range(levels):
            if not 0 <= feature[t, d] < columns.shape[0]:
                raise ValueError(f"there is no feature {feature[t, d]}")
    if levels > 8:
        raise ValueError("trees of more than eight levels")
    cdef int32_t[::1] sums = np.zeros(n, np.int32)
    cdef uint8_t[::1] leaf = np.zeros(n, np.uint8)
    if n and trees:
        with nogil:
            webwinnow_forest_sums(&columns[0, 0], n, &feature[0, 0], &border[0, 0], &leaves[0, 0], trees, levels,
                                  &leaf[0], &sums[0])
    return sums.base


def distinct_sums(const int32_t[::1] ids, const int16_t[:, ::1] table):
    """The number of distinct ids, and the sum of their rows."""
    cdef Py_ssize_t k, c, distinct = 0, rows = table.shape[0], columns = table.shape[1]
    cdef uint8_t[::1] seen = np.zeros(rows, np.uint8)
    cdef int64_t[::1] total = np.zeros(columns, np.int64)
    for k in range(ids.shape[0]):
        if not 0 <= ids[k] < rows:
            raise ValueError(f"there is no row {ids[k]}")
        if not seen[ids[k]]:
            seen[ids[k]] = 1
            distinct += 1
            for c in range(columns):
                total[c] += table[ids[k], c]
    return distinct, total.base


# The cut of a page

def best_cut(const double[::1] probability, const int32_t[::1] words, double square):
    """The probability from which on blocks are kept to maximise the expected F, and that F."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t k, size = probability.shape[0], best = -1
    cdef double hoped = 0.0, all_hoped = 0.0, found, highest = 0.0, below
    cdef int64_t kept = 0, total = 0
    if words.shape[0] != size:
        raise ValueError(f"{words.shape[0]} counts for {size} blocks")
    for k in range(size):
        total |= words[k]
    if total == 0:
        return float("inf"), 0.0
    cdef Likely* ranked = <Likely*>scratch.room(2 * size, sizeof(Likely))
    for k in range(size):
        ranked[k].probability, ranked[k].words, ranked[k].place = probability[k], words[k], <int32_t>k
    ranked = by_probability(ranked, ranked + size, size)
    for k in range(size):
        all_hoped += ranked[k].probability * ranked[k].words
    for k in range(size):
        hoped += ranked[k].probability * ranked[k].words
        kept += ranked[k].words
        if k + 1 < size and ranked[k + 1].probability == ranked[k].probability:
            continue
        below = kept + square * all_hoped
        found = rint((1.0 + square) * hoped / (below if below > 1e-9 else 1e-9) * 1e6) / 1e6
        if best < 0 or found > highest:
            best, highest = k, found
    return ranked[best].probability, highest
