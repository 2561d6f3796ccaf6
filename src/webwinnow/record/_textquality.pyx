# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Tokens of a text and how often they repeat. tests/oracles/plain_textquality.py is the slow version."""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset, strchr, strstr

import numpy as np

from webwinnow.page._hashing cimport FNV_PRIME, FNV_START, GOLDEN, mixed
from webwinnow.page._memory cimport Buffer, Column, Scratch, lower_bound, push32, push64
from webwinnow.page._unicode cimport (
    PyUnicode_DATA,
    PyUnicode_GET_LENGTH,
    PyUnicode_KIND,
    PyUnicode_READ,
    Py_UNICODE_ISALNUM,
    Py_UNICODE_ISALPHA,
    Py_UNICODE_ISDECIMAL,
    Py_UNICODE_ISSPACE,
    Py_UNICODE_ISUPPER,
    Py_UNICODE_TOLOWER,
)

cdef enum:
    FIRST_TOP = 2
    LAST_TOP = 4
    LAST_SIZE = 10


cdef struct Text:
    int kind
    void* data
    Py_ssize_t length
    const uint8_t* marks
    Py_ssize_t marked


cdef inline uint32_t at(const Text* text, Py_ssize_t i) noexcept:
    return PyUnicode_READ(text.kind, text.data, i) if 0 <= i < text.length else 0


cdef inline bint in_word(const Text* text, uint32_t c) noexcept:
    """Whether a character is a letter, a digit or a combining mark."""
    if c < 128:
        return 48 <= c <= 57 or 65 <= (c & 0xDF) <= 90
    return Py_UNICODE_ISALNUM(c) or (<Py_ssize_t>c < text.marked and text.marks[c])


cdef inline bint is_alpha(uint32_t c) noexcept:
    return 65 <= (c & 0xDF) <= 90 if c < 128 else Py_UNICODE_ISALPHA(c)


cdef inline bint is_space(uint32_t c) noexcept:
    return c == 32 or 9 <= c <= 13 or 28 <= c <= 31 if c < 128 else Py_UNICODE_ISSPACE(c)


cdef inline bint is_apostrophe(uint32_t c) noexcept:
    return c == 39 or c == 0x2019


cdef inline bint is_digit(uint32_t c) noexcept:
    return 48 <= c <= 57


cdef inline bint splits(uint32_t c) noexcept:
    """Whether a sign is split off at both ends of what is between blanks: brackets, quotes, commas, not / or -."""
    if c < 128:
        return c != 0 and strchr(b",:;!?()[]{}<>_#*&'\"`", <int>c) != NULL
    return c != 0xD7 and c != 0x2032 and c != 0x2033 and c != 0xAD and c != 0x200B and c != 0x2022 and c != 0xB7


cdef inline bint opens(uint32_t c, uint32_t after) noexcept:
    """Whether a sign is split off at the beginning."""
    return splits(c) or c == c"%" or c == c"=" or c == c"$" or (c == c"+" and not is_digit(after))


cdef inline bint closes(uint32_t c, uint32_t before) noexcept:
    """Whether a sign is split off at the end."""
    return splits(c) or c == c"." or (is_digit(before) and (c == c"%" or c == c"$" or c == c"+"))


cdef Py_ssize_t clitic(const Text* text, Py_ssize_t i) noexcept:
    """The end of 's, 'm, 'd, 'll, 're or 've whose apostrophe is at i; 0 if there is none."""
    cdef uint32_t a = Py_UNICODE_TOLOWER(at(text, i + 1)), b = Py_UNICODE_TOLOWER(at(text, i + 2))
    if (a == c"s" or a == c"m" or a == c"d") and not in_word(text, b):
        return i + 2
    if ((a == c"l" and b == c"l") or ((a == c"r" or a == c"v") and b == c"e")) and not in_word(text, at(text, i + 3)):
        return i + 3
    return 0


cdef const char* ABBREVIATIONS = (
    b" vs Mr Mrs Ms Dr St Jr Inc Co co Corp Ltd Prof Rev Gen Gov Sen Rep Bros Mt Messrs "
    b"Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec "
)


cdef bint is_abbreviation(const Text* text, Py_ssize_t start, Py_ssize_t end) noexcept:
    """Whether a word is one that is written with a period, such as `vs.`"""
    cdef char word[16]
    cdef Py_ssize_t k
    if end - start > 6:
        return False
    word[0] = c" "
    for k in range(start, end):
        if at(text, k) > 127:
            return False
        word[1 + k - start] = <char>at(text, k)
    word[1 + end - start] = c" "
    word[2 + end - start] = 0
    return strstr(ABBREVIATIONS, word) != NULL


cdef bint ends_abbreviation(const Text* text, Py_ssize_t start, Py_ssize_t j) noexcept:
    """Whether a period at j belongs to the word before it: one capital (`J.`, `U.S.`), letters (`e.g.`), or `vs.`"""
    cdef uint32_t last = at(text, j - 1), before = at(text, j - 2)
    if at(text, j) != c"." or at(text, j + 1) == c"." or not is_alpha(last):
        return False
    if Py_UNICODE_ISUPPER(last):
        return j - 1 == start or not Py_UNICODE_ISUPPER(before)
    return (j - 3 == start and before == c"." and is_alpha(at(text, start))) or is_abbreviation(text, start, j)


cdef Py_ssize_t before_unit(const Text* text, Py_ssize_t start, Py_ssize_t end) noexcept:
    """The end of a number that a unit of one or two letters follows (`16GB`, `5pm`); `end` for other words."""
    cdef Py_ssize_t k = start
    cdef uint32_t a, b
    while k < end and not is_alpha(at(text, k)):
        k += 1
    if k == start or not 1 <= end - k <= 2 or at(text, k) > 127 or not 48 <= at(text, k - 1) <= 57:
        return end
    a, b = at(text, k), at(text, k + 1) if end - k == 2 else 0
    if b == 0:
        return k if a == c"m" or a == c"g" or a == c"t" or a == c"T" or a == c"G" or a == c"M" or a == c"K" else end
    if b == c"m":
        return k if a == c"k" or a == c"m" or a == c"c" or a == c"d" or a == c"n" or a == c"a" or a == c"p" else end
    if b == c"B" or b == c"b":
        return k if strchr(b"kKMGTgtml" if b == c"b" else b"kKMGT", <int>a) != NULL else end
    if b == c"g":
        return k if a == c"k" or a == c"m" else end
    return k if (a == c"o" and b == c"z") or (a == c"i" and b == c"n") or (a == c"f" and b == c"t") else end


cdef Py_ssize_t word_end(const Text* text, Py_ssize_t start) noexcept:
    """The end of the word that starts here: signs inside what is between blanks split it only where spaCy's do."""
    cdef Py_ssize_t j = start, q
    cdef uint32_t joint, before, after
    while True:
        while in_word(text, at(text, j)):
            j += 1
        joint, before, after = at(text, j), at(text, j - 1), at(text, j + 1)
        if joint == c":" and after == c"/" and at(text, j + 2) == c"/":
            return url_end(text, j)
        q = j
        while q < text.length and not in_word(text, at(text, q)) and not is_space(at(text, q)):
            q += 1
        if q == text.length or is_space(at(text, q)):
            if ends_abbreviation(text, start, j):
                return j + 1
            while q > j and closes(at(text, q - 1), at(text, q - 2)):
                q -= 1
            return q
        if q > j + 1:
            if splits_run(text, j, q):
                return j
            j = q
            continue
        if joint == c".":
            if Py_UNICODE_ISUPPER(after) and is_alpha(before) and not Py_UNICODE_ISUPPER(before):
                return j
        elif joint == c",":
            if is_alpha(before) and is_alpha(after):
                return j
        elif joint == c":" or joint == c"/" or joint == c"=" or joint == c"<" or joint == c">":
            if is_alpha(after):
                return j
        elif is_hyphen(joint):
            if (is_alpha(before) and is_alpha(after)) or (joint == c"-" and not is_alpha(before)):
                return j
        elif is_apostrophe(joint):
            if clitic(text, j):
                return j
            if (before | 32) == c"n" and (after | 32) == c"t" and j - 1 > start and not in_word(text, at(text, j + 2)):
                return j - 1
        elif joint == 0x2026 or ((joint == c"+" or joint == c"*" or joint == c"^") and is_digit(before)
                                 and is_digit(after)):
            return j
        j += 1


cdef inline bint is_hyphen(uint32_t c) noexcept:
    return c == c"-" or c == 0x2013 or c == 0x2014 or c == c"~"


cdef bint splits_run(const Text* text, Py_ssize_t j, Py_ssize_t q) noexcept:
    """Whether several signs split what is between blanks: dots, or hyphens between letters."""
    cdef Py_ssize_t k
    cdef bint hyphens = is_alpha(at(text, j - 1)) and is_alpha(at(text, q))
    for k in range(j, q):
        if at(text, k) == 0x2026 or (at(text, k) == c"." and k + 1 < q and at(text, k + 1) == c"."):
            return True
        hyphens = hyphens and (at(text, k) == c"-" or at(text, k) == 0x2014)
    return hyphens


cdef Py_ssize_t url_end(const Text* text, Py_ssize_t j) noexcept:
    """The end of the URL whose scheme ends at j: white space, without the punctuation before it."""
    cdef Py_ssize_t end = j
    while end < text.length and not is_space(at(text, end)):
        end += 1
    while end > j + 1 and not in_word(text, at(text, end - 1)) and at(text, end - 1) != c"/":
        end -= 1
    return end


cdef bint is_cannot(const Text* text, Py_ssize_t i, Py_ssize_t end) noexcept:
    return (end - i == 6 and (at(text, i) | 32) == c"c" and at(text, i + 1) == c"a" and at(text, i + 2) == c"n"
            and at(text, i + 3) == c"n" and at(text, i + 4) == c"o" and at(text, i + 5) == c"t")


cdef Py_ssize_t token_end(const Text* text, Py_ssize_t i, bint* is_word) noexcept:
    """The end of the token that starts at i, and whether it is a word."""
    cdef uint32_t c = at(text, i)
    cdef Py_ssize_t j
    is_word[0] = True
    if in_word(text, c):
        j = word_end(text, i)
        return i + 3 if is_cannot(text, i, j) else before_unit(text, i, j)
    if is_apostrophe(c) and i and in_word(text, at(text, i - 1)):
        j = clitic(text, i)
        if j:
            return j
    j = i + 1
    if c == c".":
        while at(text, j) == c:
            j += 1
        if j > i + 1:
            is_word[0] = False
            return j
    if not opens(c, at(text, j)) and (i == 0 or is_space(at(text, i - 1)) or (
            not in_word(text, at(text, i - 1)) and opens(at(text, i - 1), c))):
        while at(text, j) and not in_word(text, at(text, j)) and not is_space(at(text, j)) and not opens(
                at(text, j), at(text, j + 1)):
            j += 1
        if in_word(text, at(text, j)):
            return word_end(text, j)
        is_word[0] = False
        return j
    is_word[0] = False
    if c == c"-":
        while at(text, j) == c:
            j += 1
    return j


def token_hash(str token):
    """The hash by which a token is compared."""
    cdef uint64_t value = FNV_START
    cdef uint32_t c
    for c in token:
        value = (value ^ c) * FNV_PRIME
    return mixed(value)


def tokens(str given, const uint8_t[::1] marks):
    """The (start, end, is a word) of each token; `marks` says which characters are combining marks."""
    cdef Text text = Text(PyUnicode_KIND(given), PyUnicode_DATA(given), PyUnicode_GET_LENGTH(given), NULL, 0)
    cdef Py_ssize_t i = 0, end
    cdef bint is_word = False
    if marks.shape[0]:
        text.marks, text.marked = &marks[0], marks.shape[0]
    found = []
    while i < text.length:
        if is_space(at(&text, i)):
            i += 1
            continue
        end = token_end(&text, i, &is_word)
        found.append((i, end, is_word))
        i = end
    return found


def count_tokens(str given, const uint64_t[::1] stops, const uint8_t[::1] marks):
    """Counts over the tokens of a text.

    - tokens, words, characters of words, tokens with a letter, different tokens among `stops` (hashes, ascending);
    - for n = 2 to 4 the characters of the most frequent n-gram, times its frequency, as if joined by blanks;
    - for n = 5 to 10 the characters in n-grams that occurred before, where those that are counted do not overlap.
    """
    cdef Text text = Text(PyUnicode_KIND(given), PyUnicode_DATA(given), PyUnicode_GET_LENGTH(given), NULL, 0)
    cdef Py_ssize_t i = 0, k, end, count = 0, words = 0, characters = 0, alphabetic = 0, place
    cdef bint is_word = False, has_letter
    cdef uint64_t value
    cdef uint32_t c
    cdef Buffer hashes = Buffer(), ends = Buffer()
    cdef Column* hashed = &hashes.column
    cdef Column* until = &ends.column
    cdef Scratch scratch = Scratch()
    if marks.shape[0]:
        text.marks, text.marked = &marks[0], marks.shape[0]
    cdef uint8_t[::1] met = np.zeros(max(stops.shape[0], 1), np.uint8)
    push32(until, 0)
    while i < text.length:
        if is_space(at(&text, i)):
            i += 1
            continue
        end = token_end(&text, i, &is_word)
        value, has_letter = FNV_START, False
        for k in range(i, end):
            c = at(&text, k)
            value = (value ^ c) * FNV_PRIME
            has_letter = has_letter or is_alpha(c)
        value = mixed(value)
        push64(hashed, value)
        push32(until, (<int32_t*>until.data)[count] + <int32_t>(end - i))
        count += 1
        alphabetic += has_letter
        if is_word:
            words += 1
            characters += end - i
            if stops.shape[0]:
                place = lower_bound(&stops[0], 0, stops.shape[0], value)
                if place < stops.shape[0] and stops[place] == value:
                    met[place] = 1
        i = end
    tops, repeats = [], []
    cdef Py_ssize_t room = 2, size
    while room < 2 * count:
        room *= 2
    cdef uint64_t* grams = <uint64_t*>scratch.room(count + 1, sizeof(uint64_t))
    cdef uint64_t* known = <uint64_t*>scratch.room(room, sizeof(uint64_t))
    cdef int32_t* times = <int32_t*>scratch.room(room, sizeof(int32_t))
    cdef int32_t* first = <int32_t*>scratch.room(room, sizeof(int32_t))
    for k in range(count):
        grams[k] = (<uint64_t*>hashed.data)[k]
    for size in range(2, LAST_SIZE + 1):
        for k in range(count - size + 1):
            grams[k] = grams[k] * GOLDEN + (<uint64_t*>hashed.data)[k + size - 1]
        memset(known, 0, room * sizeof(uint64_t))
        if size <= LAST_TOP:
            tops.append(top_gram(grams, count - size + 1, <const int32_t*>until.data, size, known, times, first, room))
        else:
            repeats.append(repeated_grams(grams, count - size + 1, <const int32_t*>until.data, size, known, room))
    return count, words, characters, alphabetic, int(np.asarray(met).sum()), tuple(tops), tuple(repeats)


cdef Py_ssize_t top_gram(
    const uint64_t* grams,
    Py_ssize_t count,
    const int32_t* until,
    Py_ssize_t size,
    uint64_t* known,
    int32_t* times,
    int32_t* first,
    Py_ssize_t room,
) noexcept:
    """The characters of the most frequent n-gram, of those the first, times its frequency."""
    cdef Py_ssize_t k, place, best = -1
    cdef uint64_t value
    for k in range(count):
        value = mixed(grams[k]) | 1
        place = <Py_ssize_t>(value & <uint64_t>(room - 1))
        while known[place] != 0 and known[place] != value:
            place = (place + 1) & (room - 1)
        if known[place] == 0:
            known[place], times[place], first[place] = value, 0, <int32_t>k
        times[place] += 1
        if best < 0 or times[place] > times[best] or (times[place] == times[best] and first[place] < first[best]):
            best = place
    if best < 0:
        return 0
    return <Py_ssize_t>times[best] * (until[first[best] + size] - until[first[best]] + size - 1)


cdef Py_ssize_t repeated_grams(
    const uint64_t* grams, Py_ssize_t count, const int32_t* until, Py_ssize_t size, uint64_t* known, Py_ssize_t room
) noexcept:
    """The characters of n-grams that occurred before; after one, the next that is considered follows it."""
    cdef Py_ssize_t k = 0, place, characters = 0
    cdef uint64_t value
    while k < count:
        value = mixed(grams[k]) | 1
        place = <Py_ssize_t>(value & <uint64_t>(room - 1))
        while known[place] != 0 and known[place] != value:
            place = (place + 1) & (room - 1)
        if known[place] == value:
            characters += until[k + size] - until[k]
            k += size
        else:
            known[place] = value
            k += 1
    return characters
