# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Words in the text and the attributes of a page. tests/oracles/plain_finding.py states each function in plain Python.

`str.find` compares at nearly every character; here the first letter of a word is looked for.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memchr, memcmp

from webwinnow.page._memory cimport check_columns
from webwinnow.page._unicode cimport Character, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND


cdef Py_ssize_t place_in(const Character* text, Py_ssize_t at, Py_ssize_t end, const uint8_t* word,
                         Py_ssize_t size) noexcept:
    cdef Py_ssize_t k
    cdef const void* found
    while at + size <= end:
        if Character is uint8_t:
            found = memchr(text + at, word[0], end - size + 1 - at)
            if found == NULL:
                return -1
            at = <const uint8_t*>found - text
            if memcmp(found, word, size) == 0:
                return at
        elif text[at] == word[0]:
            k = 1
            while k < size and text[at + k] == word[k]:
                k += 1
            if k == size:
                return at
        at += 1
    return -1


cdef Py_ssize_t place_of(str text, Py_ssize_t at, Py_ssize_t end, bytes word) noexcept:
    """Where an ASCII word is from `at` on and before `end`; -1 if it is not there."""
    cdef int kind = PyUnicode_KIND(text)
    cdef const void* data = PyUnicode_DATA(text)
    cdef const uint8_t* wanted = word
    if kind == 1:
        return place_in(<const uint8_t*>data, at, end, wanted, len(word))
    if kind == 2:
        return place_in(<const uint16_t*>data, at, end, wanted, len(word))
    return place_in(<const uint32_t*>data, at, end, wanted, len(word))


def first_found(str text, words):
    """Where the first of some ASCII words that the text has begins; -1 if it has none."""
    cdef Py_ssize_t at
    for word in words:
        at = place_of(text, 0, PyUnicode_GET_LENGTH(text), word)
        if at >= 0:
            return at
    return -1


def marked_attributes(str text, bytes word, Py_ssize_t end, Py_ssize_t most, const int32_t[::1] starts,
                      const uint8_t[::1] name, marking):
    """The attributes of some names in whose value one of the `most` first places of an ASCII word begins."""
    cdef Py_ssize_t at = 0, k, last = -1, low, high, middle, count = name.shape[0]
    check_columns(starts.shape[0] == count + 1)
    found = []
    end = min(end, PyUnicode_GET_LENGTH(text))
    for _ in range(most):
        at = place_of(text, at, end, word)
        if at < 0:
            break
        low, high = 0, count + 1  # the last attribute that starts at or before `at`
        while low < high:
            middle = (low + high) >> 1
            if starts[middle] <= at:
                low = middle + 1
            else:
                high = middle
        k = low - 1
        if not 0 <= k < count:
            raise ValueError(f"character {at} is in no attribute")
        if k != last and name[k] in marking:
            last = k
            found.append(k)
        at += len(word)
    return found
