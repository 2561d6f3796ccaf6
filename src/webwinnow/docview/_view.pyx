# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Compiled: the loops of a DocView. Each has a twin in plain_view.py that says what it means."""

from libc.math cimport INFINITY, rint, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, qsort
from libc.string cimport memmove, memset

import numpy as np

from webwinnow._memory cimport bytes_of

cdef extern from "Python.h":
    int PyUnicode_KIND(object)
    void* PyUnicode_DATA(object)
    Py_ssize_t PyUnicode_GET_LENGTH(object)
    Py_UCS4 PyUnicode_READ(int kind, void* data, Py_ssize_t index)
    Py_UCS4 PyUnicode_READ_CHAR(object, Py_ssize_t)
    bint Py_UNICODE_ISDECIMAL(Py_UCS4)
    bint Py_UNICODE_ISSPACE(Py_UCS4)
    bint Py_UNICODE_ISUPPER(Py_UCS4)
    object PyUnicode_FromKindAndData(int, const void*, Py_ssize_t)
    str PyUnicode_Substring(object, Py_ssize_t, Py_ssize_t)

cdef enum:
    FEW = 256  # so many are kept in order as they come; more are sorted
    BLANK = 32
    NUMBER_SIGN = 35
    SIEVE = 256  # words of 64 bits
    FULL_STOP = 46
    SMALL_P = 112
    SMALL_X = 120
    SHORT_SIZE = 2  # digits of a size that makes an icon


cdef void* room_for(Py_ssize_t count, size_t width) except NULL:
    cdef void* room = calloc(count + 1, width)
    if room == NULL:
        raise MemoryError
    return room


cdef inline Py_ssize_t lower_bound(const int32_t* values, Py_ssize_t count, int32_t wanted) noexcept:
    """How many of the ascending values are less."""
    cdef Py_ssize_t low = 0, high = count, middle
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline Py_ssize_t place_of(const uint64_t* keys, Py_ssize_t count, uint64_t wanted) noexcept:
    """Where one of the ascending keys stands; -1 if it is none of them."""
    cdef Py_ssize_t low = 0, high = count, middle
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < count and keys[low] == wanted else -1


cdef struct Sieve:
    # One bit for each key it holds, by the key's last bits: most others are told at a glance.
    uint64_t bits[SIEVE]


cdef inline void fill_sieve(Sieve* sieve, const uint64_t[::1] keys) noexcept:
    cdef Py_ssize_t k
    memset(sieve, 0, sizeof(Sieve))
    for k in range(keys.shape[0]):
        sieve.bits[keys[k] >> 6 & (SIEVE - 1)] |= <uint64_t>1 << (keys[k] & 63)


cdef inline bint may_hold(const Sieve* sieve, uint64_t key) noexcept:
    return sieve.bits[key >> 6 & (SIEVE - 1)] >> (key & 63) & 1


cdef int check_places(const int32_t[::1] places, Py_ssize_t size) except -1:
    """Places come from files too: none may lie outside."""
    cdef Py_ssize_t k
    cdef int32_t lowest = 0, highest = -1
    for k in range(places.shape[0]):
        lowest = min(lowest, places[k])
        highest = max(highest, places[k])
    if lowest < 0 or highest >= size:
        raise ValueError(f"place {lowest if lowest < 0 else highest} of {size}")
    return 0


cdef int same_length(Py_ssize_t one, Py_ssize_t other) except -1:
    if one != other:
        raise ValueError(f"{one} values for {other}")
    return 0


def containers(
    const uint16_t[::1] tag, const int32_t[::1] parent, const int32_t[::1] end, const int32_t[::1] run_owner, holds,
    int link,
):
    """The blocks of a page (see plain_view.containers)."""
    cdef const uint8_t[::1] holding = bytes_of(holds)
    cdef Py_ssize_t i, size = tag.shape[0], known = holding.shape[0], blocks = 0, b
    same_length(parent.shape[0], size)
    same_length(end.shape[0], size)
    check_places(run_owner, size)
    of_node, in_link = np.empty(size, np.int32), np.empty(size, np.int32)
    cdef int32_t[::1] block = of_node, around = in_link
    cdef int32_t* before = <int32_t*>room_for(size + 1, sizeof(int32_t))
    try:
        for i in range(size):
            before[i] = <int32_t>blocks
            if i and not 0 <= parent[i] < i or not 0 <= end[i] <= size:
                raise ValueError(f"node {i} stands nowhere")
            if i == 0 or holding[tag[i] if tag[i] < known else known - 1]:
                block[i] = <int32_t>blocks
                blocks += 1
            else:
                block[i] = block[parent[i]]
            around[i] = <int32_t>i if tag[i] == link else around[parent[i]] if i else -1
        before[size] = <int32_t>blocks
        node, block_parent, block_end = np.empty(blocks, np.int32), np.empty(blocks, np.int32), np.empty(blocks, np.int64)
        of_run = np.empty(run_owner.shape[0], np.int32)
        fill_blocks(parent, end, block, before, node, block_parent, block_end)
        fill_runs(run_owner, block, of_run)
    finally:
        free(before)
    return node, block_parent, of_node, of_run, block_end, in_link


cdef int fill_blocks(
    const int32_t[::1] parent, const int32_t[::1] end, int32_t[::1] block, const int32_t* before, int32_t[::1] node,
    int32_t[::1] above, int64_t[::1] last,
) except -1:
    cdef Py_ssize_t i, b
    for i in range(parent.shape[0]):
        if before[i + 1] > before[i]:
            b = before[i]
            node[b] = <int32_t>i
            above[b] = block[parent[i]] if i else -1
            last[b] = before[end[i]]
    return 0


cdef int fill_runs(const int32_t[::1] run_owner, int32_t[::1] block, int32_t[::1] of_run) except -1:
    cdef Py_ssize_t r
    for r in range(run_owner.shape[0]):
        of_run[r] = block[run_owner[r]]
    return 0


def attached(
    const int32_t[::1] word_run, const int32_t[::1] of_run, const int32_t[::1] in_link, const int32_t[::1] run_owner,
    Py_ssize_t blocks,
):
    """The block of each word, the terms of each block and those in links (see plain_view.attached)."""
    cdef Py_ssize_t w, r
    same_length(run_owner.shape[0], of_run.shape[0])
    check_places(word_run, of_run.shape[0])
    check_places(of_run, blocks)
    check_places(run_owner, in_link.shape[0])
    of_word = np.empty(word_run.shape[0], np.int32)
    terms, link_terms = np.zeros(blocks, np.int64), np.zeros(blocks, np.int64)
    cdef int32_t[::1] block = of_word
    cdef int64_t[::1] counted = terms, linked = link_terms
    for w in range(word_run.shape[0]):
        r = word_run[w]
        block[w] = of_run[r]
        counted[of_run[r]] += 1
        linked[of_run[r]] += in_link[run_owner[r]] >= 0
    return of_word, terms, link_terms


def shown_images(
    const uint16_t[::1] tag, const uint8_t[::1] flags, int hidden, int image, const int32_t[::1] attr_node,
    const uint8_t[::1] attr_name, const int32_t[::1] attr_start, str attr_text, int width, int height, int smallest,
):
    """The visible images that are no icons (see plain_view.shown_images)."""
    cdef Py_ssize_t i, k, n, start, stop, count = 0, length = PyUnicode_GET_LENGTH(attr_text)
    cdef int kind = PyUnicode_KIND(attr_text), size
    cdef void* data = PyUnicode_DATA(attr_text)
    cdef uint32_t c
    same_length(flags.shape[0], tag.shape[0])
    same_length(attr_name.shape[0], attr_node.shape[0])
    same_length(attr_start.shape[0], attr_node.shape[0] + 1)
    check_places(attr_node, tag.shape[0])
    images = []
    for i in range(tag.shape[0]):
        if tag[i] == image and not flags[i] & hidden:
            images.append(i)
    if not images:
        return np.zeros(0, np.int64)
    icons = set()
    for k in range(attr_node.shape[0]):
        if attr_name[k] != width and attr_name[k] != height or tag[attr_node[k]] != image:
            continue
        start, stop = attr_start[k], attr_start[k + 1]
        if not 0 <= start <= stop <= length:
            raise ValueError(f"attribute {k} stands nowhere")
        if stop - start > SHORT_SIZE and stop - start != SHORT_SIZE + 2:
            continue
        while start < stop and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, start)):
            start += 1
        while start < stop and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, stop - 1)):
            stop -= 1
        if stop - start >= 2 and PyUnicode_READ(kind, data, stop - 2) == SMALL_P and \
                PyUnicode_READ(kind, data, stop - 1) == SMALL_X:
            stop -= 2
        if start == stop:
            continue
        size = 0
        for n in range(start, stop):
            c = <uint32_t>PyUnicode_READ(kind, data, n)
            if not 48 <= c <= 57:
                size = smallest
                break
            size = 10 * size + <int>(c - 48)
        if size < smallest:
            icons.add(attr_node[k])
    return np.array([i for i in images if i not in icons], np.int64)


def block_types(
    const int64_t[::1] terms, const int64_t[::1] link_terms, const int64_t[::1] images, double hub_share,
    double image_share, int topic, int hub, int image,
):
    """The type of each block (see plain_view.block_types)."""
    cdef Py_ssize_t b, size = terms.shape[0]
    same_length(link_terms.shape[0], size)
    same_length(images.shape[0], size)
    found = np.empty(size, np.uint8)
    cdef uint8_t[::1] kind = found
    for b in range(size):
        if <double>link_terms[b] > hub_share * terms[b]:
            kind[b] = hub
        elif <double>images[b] > image_share * terms[b]:
            kind[b] = image
        else:
            kind[b] = topic
    return found


def tag_forces(
    const uint16_t[::1] tag, const int32_t[::1] text_start, const int32_t[::1] text_end, const int32_t[::1] of_node,
    const double[::1] force_of_tag, const int32_t[::1] word_start, const int32_t[::1] block_of_word, wanted,
    const uint8_t[::1] kind, int topic, double most, int64_t short, double heading,
):
    """The sum of the forces of the weighty tags of each block (see plain_view.tag_forces)."""
    cdef const uint8_t[::1] want = bytes_of(wanted)
    cdef Py_ssize_t i, w, b, size = tag.shape[0], words = word_start.shape[0], blocks = kind.shape[0], count = 0, k
    cdef Py_ssize_t known = force_of_tag.shape[0]
    cdef double force
    total = np.zeros(blocks)
    cdef double[::1] sums = total
    same_length(text_start.shape[0], size)
    same_length(text_end.shape[0], size)
    same_length(of_node.shape[0], size)
    same_length(block_of_word.shape[0], words)
    same_length(want.shape[0], words)
    check_places(of_node, blocks)
    check_places(block_of_word, blocks)
    cdef int32_t* before = NULL
    cdef int64_t* terms = NULL
    cdef int64_t* emphasised = NULL
    cdef int32_t* weighty = NULL
    cdef int32_t* held = NULL
    try:
        before = <int32_t*>room_for(words, sizeof(int32_t))
        terms = <int64_t*>room_for(blocks, sizeof(int64_t))
        emphasised = <int64_t*>room_for(blocks, sizeof(int64_t))
        weighty = <int32_t*>room_for(size, sizeof(int32_t))
        held = <int32_t*>room_for(size, sizeof(int32_t))
        for w in range(words):
            before[w + 1] = before[w] + want[w]
            terms[block_of_word[w]] += want[w]
        for i in range(size):
            if force_of_tag[tag[i] if tag[i] < known else known - 1] != 0:
                weighty[count] = <int32_t>i
                if words:
                    held[count] = before[lower_bound(&word_start[0], words, text_end[i])] - \
                        before[lower_bound(&word_start[0], words, text_start[i])]
                emphasised[of_node[i]] += held[count]
                count += 1
        for k in range(count):
            i = weighty[k]
            b = of_node[i]
            force = force_of_tag[tag[i] if tag[i] < known else known - 1]
            if held[k] > 0 and kind[b] == topic and (
                force >= heading or not (<double>emphasised[b] > most * terms[b] and terms[b] > short)
            ):
                sums[b] += force
        for b in range(blocks):
            if not sums[b] > 0:
                sums[b] = 1.0
    finally:
        free(before); free(terms); free(emphasised); free(weighty); free(held)
    return total


def shared_force(const int32_t[::1] parent, const double[::1] force, inside, double passed_on, double most):
    """What Algorithm 1 makes of the logarithms of forces (see plain_view.shared_force)."""
    cdef const uint8_t[::1] held = bytes_of(inside)
    cdef Py_ssize_t b, size = parent.shape[0]
    cdef double own, given
    found = np.empty(size)
    cdef double[::1] weight = found
    same_length(force.shape[0], size)
    same_length(held.shape[0], size)
    cdef double* passed = NULL
    cdef uint8_t* has_child = NULL
    for b in range(size):
        if not -1 <= parent[b] < size:
            raise ValueError(f"block {b} stands nowhere")
    try:
        passed = <double*>room_for(size, sizeof(double))
        has_child = <uint8_t*>room_for(size, 1)
        for b in range(size):
            if held[b] and parent[b] >= 0:
                has_child[parent[b]] = True
        for b in range(size):
            if held[b] and parent[b] >= 0 and not has_child[b]:
                passed[parent[b]] += passed_on * force[b]
        for b in range(size):
            if not held[b]:
                weight[b] = -INFINITY
                continue
            own = 0.0 if has_child[b] else force[b]
            given = (passed[parent[b]] if parent[b] >= 0 else 0.0) - passed_on * own
            given = passed[b] + given
            weight[b] = own + (given if given < most else most)
    finally:
        free(passed); free(has_child)
    return found


def blocks_around(const int32_t[::1] block_of_word, wanted, const int64_t[::1] end):
    """The blocks with a wanted word in them or in a block inside (see plain_view.blocks_around)."""
    cdef const uint8_t[::1] want = bytes_of(wanted)
    cdef Py_ssize_t w, b, size = end.shape[0]
    found = np.empty(size, np.bool_)
    cdef uint8_t[::1] out = found.view(np.uint8)
    same_length(want.shape[0], block_of_word.shape[0])
    check_places(block_of_word, size)
    cdef int32_t* before = <int32_t*>room_for(size + 1, sizeof(int32_t))
    try:
        for w in range(block_of_word.shape[0]):
            before[block_of_word[w] + 1] += want[w]
        for b in range(size):
            before[b + 1] += before[b]
        for b in range(size):
            if not 0 <= end[b] <= size:
                raise ValueError(f"block {b} ends nowhere")
            out[b] = before[end[b]] > before[b]
    finally:
        free(before)
    return found


def feature_sums(
    const uint64_t[::1] word_key, const int32_t[::1] block_of_word, wanted, const double[::1] weight,
    const uint64_t[::1] stops,
):
    """The features among the wanted words, their weights and first places (see plain_view.feature_sums)."""
    cdef const uint8_t[::1] want = bytes_of(wanted)
    cdef Py_ssize_t w, words = word_key.shape[0], count = 0, room = 2, at, stop_count = stops.shape[0]
    cdef Sieve sieve
    same_length(block_of_word.shape[0], words)
    same_length(want.shape[0], words)
    check_places(block_of_word, weight.shape[0])
    keys, totals, firsts = np.empty(words, np.uint64), np.empty(words), np.empty(words, np.int64)
    cdef uint64_t[::1] key = keys
    cdef double[::1] total = totals
    cdef int64_t[::1] first = firsts
    while room < 2 * words:
        room *= 2
    cdef int32_t* known = <int32_t*>room_for(room, sizeof(int32_t))
    try:
        for w in range(words):
            if not want[w]:
                continue
            at = <Py_ssize_t>(word_key[w] & <uint64_t>(room - 1))
            while known[at] > 0 and key[known[at] - 1] != word_key[w]:
                at = (at + 1) & (room - 1)
            if known[at] == 0:
                key[count] = word_key[w]
                total[count] = 0.0
                first[count] = w
                count += 1
                known[at] = <int32_t>count
            total[known[at] - 1] += weight[block_of_word[w]]
        at = 0
        fill_sieve(&sieve, stops)
        for w in range(count):
            if not may_hold(&sieve, key[w]) or place_of(&stops[0], stop_count, key[w]) < 0:
                key[at], total[at], first[at] = key[w], total[w], first[w]
                at += 1
    finally:
        free(known)
    order = keys[:at].argsort()
    return keys[order], totals[order], firsts[order]


cdef struct Ranked:
    double weight
    int64_t first
    Py_ssize_t place


def heaviest(
    str text, const double[::1] weight, const int64_t[::1] first, const int32_t[::1] word_start,
    const int32_t[::1] word_end, Py_ssize_t shortest, Py_ssize_t looked_at, Py_ssize_t most,
):
    """The features of the most weight that are no numbers (see plain_view.heaviest)."""
    cdef Py_ssize_t k, n, size = weight.shape[0], count = 0, low, high, middle, length = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Ranked one
    cdef Ranked few[FEW + 1]
    cdef Ranked* best = few
    looked_at = min(looked_at, size)
    same_length(first.shape[0], size)
    same_length(word_end.shape[0], word_start.shape[0])
    if looked_at > FEW:
        best = <Ranked*>room_for(looked_at + 1, sizeof(Ranked))
    try:
        for k in range(size):
            if not 0 <= first[k] < word_start.shape[0]:
                raise ValueError(f"feature {k} stands nowhere")
            if word_end[first[k]] - word_start[first[k]] < shortest:
                continue
            one.weight, one.first, one.place = rint(weight[k] * 1e9), first[k], k
            if count == looked_at and (count == 0 or not is_before(&one, &best[count - 1])):
                continue
            low, high = 0, count
            while low < high:
                middle = (low + high) >> 1
                if is_before(&best[middle], &one):
                    low = middle + 1
                else:
                    high = middle
            memmove(&best[low + 1], &best[low], (count - low) * sizeof(Ranked))
            best[low] = one
            count = min(count + 1, looked_at)
        found = []
        for k in range(count):
            low, high = word_start[best[k].first], word_end[best[k].first]
            if not 0 <= low <= high <= length:
                raise ValueError("a word lies outside the text")
            for n in range(low, high):
                if not Py_UNICODE_ISDECIMAL(PyUnicode_READ(kind, data, n)):
                    if len(found) < most:
                        found.append(best[k].place)
                    break
        return np.array(found, np.intp)
    finally:
        if best != few:
            free(best)


cdef inline bint is_before(const Ranked* one, const Ranked* other) noexcept:
    return one.weight > other.weight or (one.weight == other.weight and one.first < other.first)


cdef int descending(const void* one, const void* other) noexcept nogil:
    cdef int32_t a = (<const int32_t*>one)[0], b = (<const int32_t*>other)[0]
    return (a < b) - (a > b)


def likely_runs(
    kept, const float[::1] likely, const int32_t[::1] run_owner, const int32_t[::1] word_run, float least, double share
):
    """The kept runs that are likely, if they hold enough of the words (see plain_view.likely_runs)."""
    cdef const uint8_t[::1] keep = bytes_of(kept)
    cdef Py_ssize_t r, w, all_words = 0, sure_words = 0
    found = np.empty(keep.shape[0], np.bool_)
    cdef uint8_t[::1] sure = found.view(np.uint8)
    same_length(run_owner.shape[0], keep.shape[0])
    check_places(run_owner, likely.shape[0])
    check_places(word_run, keep.shape[0])
    for r in range(keep.shape[0]):
        sure[r] = keep[r] and likely[run_owner[r]] >= least
    for w in range(word_run.shape[0]):
        all_words += keep[word_run[w]]
        sure_words += sure[word_run[w]]
    return found if sure_words >= share * all_words else kept


def text_units(
    const uint16_t[::1] tag, int line_break, const int32_t[::1] node, const int32_t[::1] run_before,
    const int32_t[::1] of_run,
):
    """The unit of text of each run (see plain_view.text_units)."""
    cdef Py_ssize_t i, r, size = tag.shape[0], runs = run_before.shape[0], unit = 0
    cdef int32_t opened, last = 0
    found = np.empty(runs, np.int64)
    cdef int64_t[::1] out = found
    same_length(of_run.shape[0], runs)
    check_places(node, size)
    cdef int32_t* parts = <int32_t*>room_for(size, sizeof(int32_t))
    try:
        for i in range(node.shape[0]):
            parts[node[i]] = 1
        for i in range(size):
            if tag[i] == line_break:
                parts[i] = 1
            if i:
                parts[i] += parts[i - 1]
        for r in range(runs):
            if not 0 <= run_before[r] <= size:
                raise ValueError(f"run {r} stands nowhere")
            opened = parts[max(run_before[r], 1) - 1]
            if r and (opened != last or of_run[r] != of_run[r - 1]):
                unit += 1
            last = opened
            out[r] = unit
    finally:
        free(parts)
    return found


def telling_units(
    const int64_t[::1] unit, kept, const int32_t[::1] word_run, const uint64_t[::1] word_key,
    const uint64_t[::1] keyword, Py_ssize_t most,
):
    """The kept runs of the units that hold most keywords (see plain_view.telling_units)."""
    cdef const uint8_t[::1] keep = bytes_of(kept)
    cdef Py_ssize_t w, r, u, runs = unit.shape[0], units, keywords = keyword.shape[0], telling = 0, count = 0, spare
    cdef int32_t bound = 0
    cdef Sieve some
    same_length(keep.shape[0], runs)
    same_length(word_key.shape[0], word_run.shape[0])
    check_places(word_run, runs)
    if keywords == 0 or runs == 0:
        return np.zeros(0, np.intp)
    units = unit[runs - 1] + 1
    for r in range(runs):
        if not 0 <= unit[r] < units:
            raise ValueError(f"run {r} is of no unit")
    found = np.empty(runs, np.intp)
    cdef Py_ssize_t[::1] out = found
    cdef int32_t* hits = NULL
    cdef int32_t* ranked = NULL
    fill_sieve(&some, keyword)
    try:
        hits = <int32_t*>room_for(units, sizeof(int32_t))
        for w in range(word_run.shape[0]):
            if keep[word_run[w]] and may_hold(&some, word_key[w]):
                hits[unit[word_run[w]]] += place_of(&keyword[0], keywords, word_key[w]) >= 0
        for u in range(units):
            telling += hits[u] > 0
        if telling > most:
            ranked = <int32_t*>room_for(telling, sizeof(int32_t))
            w = 0
            for u in range(units):
                if hits[u] > 0:
                    ranked[w] = hits[u]
                    w += 1
            qsort(ranked, telling, sizeof(int32_t), descending)
            bound = ranked[most]  # the units above it stay, and as many with as many as there is room for
            spare = most
            for u in range(units):
                spare -= hits[u] > bound
            for u in range(units):
                if hits[u] == bound and bound:
                    if spare > 0:
                        spare -= 1
                    else:
                        hits[u] = 0
                elif hits[u] < bound:
                    hits[u] = 0
        for r in range(runs):
            if keep[r] and hits[unit[r]] > 0:
                out[count] = r
                count += 1
    finally:
        free(hits); free(ranked)
    return found[:count]


def paragraph_sizes(
    const int32_t[::1] block_of_word, const int32_t[::1] word_run, kept, const int32_t[::1] parent,
    const int32_t[::1] block,
):
    """The paragraph of each of some blocks and the terms of each paragraph (see plain_view.paragraph_sizes)."""
    cdef const uint8_t[::1] keep = bytes_of(kept)
    cdef Py_ssize_t w, b, blocks = parent.shape[0], first = -1, last = -1, root, son = -1, held = -1, count = -1
    same_length(word_run.shape[0], block_of_word.shape[0])
    check_places(block_of_word, blocks)
    check_places(word_run, keep.shape[0])
    check_places(block, blocks)
    if block.shape[0] == 0:
        raise ValueError("expected one block or more")
    names, sizes = np.empty(block.shape[0], np.int64), np.zeros(blocks + 1, np.int64)
    cdef int64_t[::1] name = names, size = sizes
    cdef int64_t* terms = NULL
    cdef int32_t* paragraph = NULL
    cdef uint8_t* above = NULL
    for b in range(blocks):
        if not -1 <= parent[b] < b:
            raise ValueError(f"block {b} stands nowhere")
    try:
        terms = <int64_t*>room_for(blocks, sizeof(int64_t))
        paragraph = <int32_t*>room_for(blocks, sizeof(int32_t))
        above = <uint8_t*>room_for(blocks, 1)
        for w in range(block_of_word.shape[0]):
            terms[block_of_word[w]] += keep[word_run[w]]
        for w in range(block.shape[0]):
            terms[block[w]] = max(terms[block[w]], 1)
        for b in range(blocks):
            if terms[b]:
                first = b if first < 0 else first
                last = b
        b = first
        while b >= 0:
            above[b] = True
            b = parent[b]
        root = last
        while not above[root]:
            root = parent[root]
        for b in range(blocks):
            if parent[b] == root:
                son = b
            if terms[b]:
                w = son if son >= 0 else root
                if w != held:
                    held = w
                    count += 1
                paragraph[b] = <int32_t>count
                size[count] += terms[b]
        for w in range(block.shape[0]):
            name[w] = paragraph[block[w]]
    finally:
        free(terms); free(paragraph); free(above)
    return names, sizes[: count + 1]


def keyword_sums(
    const uint64_t[::1] key, const int32_t[::1] sentence, Py_ssize_t sentences, const uint64_t[::1] keyword,
    const double[::1] weight,
):
    """The weight of the different keywords of each sentence (see plain_view.keyword_sums)."""
    cdef Py_ssize_t w, k, at, keywords = keyword.shape[0], words = key.shape[0]
    cdef Sieve some
    found = np.zeros(sentences)
    cdef double[::1] out = found
    same_length(sentence.shape[0], words)
    same_length(weight.shape[0], keywords)
    check_places(sentence, sentences)
    if keywords == 0:
        return found
    fill_sieve(&some, keyword)
    cdef int32_t* seen_in = <int32_t*>room_for(keywords, sizeof(int32_t))
    try:
        w = 0
        while w < words:
            k = sentence[w]
            at = -1
            while w < words and sentence[w] == k:
                if may_hold(&some, key[w]):
                    at = place_of(&keyword[0], keywords, key[w])
                    if at >= 0:
                        seen_in[at] = <int32_t>(k + 1)
                w += 1
            for at in range(keywords):
                if seen_in[at] == k + 1:
                    out[k] += weight[at]
    finally:
        free(seen_in)
    return found


def by_quota(const double[::1] weight, const int64_t[::1] paragraph, const int64_t[::1] size, Py_ssize_t most):
    """The heaviest sentences of each paragraph by its quota (see plain_view.by_quota)."""
    cdef Py_ssize_t k, p, turn, best, count = weight.shape[0], paragraphs = size.shape[0]
    cdef double claim, highest
    same_length(paragraph.shape[0], count)
    for k in range(count):
        if not 0 <= paragraph[k] < paragraphs:
            raise ValueError(f"sentence {k} is of no paragraph")
    if count <= most:
        return list(range(count))
    cdef int32_t* left = NULL
    cdef int32_t* given = NULL
    cdef uint8_t* taken = NULL
    try:
        left = <int32_t*>room_for(paragraphs, sizeof(int32_t))
        given = <int32_t*>room_for(paragraphs, sizeof(int32_t))
        taken = <uint8_t*>room_for(count, 1)
        for k in range(count):
            left[paragraph[k]] += 1
        for turn in range(most):
            best, highest = -1, -1.0
            for p in range(paragraphs):
                if left[p] > 0:
                    claim = <double>size[p] / <double>(given[p] + 1)
                    if claim > highest:
                        best, highest = p, claim
            given[best] += 1
            left[best] -= 1
            p = best
            best = -1
            for k in range(count):  # its heaviest sentence of those that are left
                if paragraph[k] == p and not taken[k] and (best < 0 or weight[k] > weight[best]):
                    best = k
            taken[best] = True
        return [k for k in range(count) if taken[k]]
    finally:
        free(left); free(given); free(taken)


cdef Py_ssize_t first_link(
    const uint16_t[::1] tag, Py_ssize_t node, Py_ssize_t end, const int32_t[::1] in_link, int link
) noexcept:
    """The first link in an element, or else the one around it."""
    cdef Py_ssize_t i
    for i in range(node, min(end, tag.shape[0])):
        if tag[i] == link:
            return i
    return in_link[node]


def linked_headings(
    const uint16_t[::1] tag, const uint8_t[::1] level_of_tag, const int32_t[::1] node, const int32_t[::1] text_start,
    const int64_t[::1] terms, const int64_t[::1] link_terms, const int32_t[::1] word_start, central, double linked,
    Py_ssize_t longest, const int32_t[::1] node_end, const int32_t[::1] in_link, int link,
):
    """The headings that are links, and the words under each (see plain_view.linked_headings)."""
    cdef const uint8_t[::1] inner = bytes_of(central)
    cdef Py_ssize_t b, h, w, count = 0, words = word_start.shape[0], blocks = node.shape[0], opened = 0, stop
    cdef Py_ssize_t known = level_of_tag.shape[0]
    cdef uint8_t level
    cdef bint any_linked = False
    same_length(inner.shape[0], words)
    same_length(terms.shape[0], blocks)
    same_length(link_terms.shape[0], blocks)
    same_length(text_start.shape[0], tag.shape[0])
    same_length(node_end.shape[0], tag.shape[0])
    same_length(in_link.shape[0], tag.shape[0])
    check_places(node, tag.shape[0])
    cdef int32_t* heading = NULL
    cdef int32_t* start = NULL
    cdef int32_t* end = NULL
    cdef int32_t* unclosed = NULL
    cdef uint8_t* rank = NULL
    found = []
    try:
        heading = <int32_t*>room_for(blocks, sizeof(int32_t))
        rank = <uint8_t*>room_for(blocks, 1)
        for b in range(blocks):
            level = level_of_tag[tag[node[b]] if tag[node[b]] < known else known - 1]
            if level and terms[b] > 0:
                heading[count], rank[count] = <int32_t>b, level
                count += 1
                any_linked = any_linked or <double>link_terms[b] > linked * terms[b]
        if not any_linked or not words:
            return found
        start = <int32_t*>room_for(count, sizeof(int32_t))
        end = <int32_t*>room_for(count, sizeof(int32_t))
        unclosed = <int32_t*>room_for(count, sizeof(int32_t))
        for h in range(count):
            start[h] = <int32_t>lower_bound(&word_start[0], words, text_start[node[heading[h]]])
            end[h] = <int32_t>words
            while opened and rank[unclosed[opened - 1]] >= rank[h]:
                opened -= 1
                end[unclosed[opened]] = start[h]
            unclosed[opened] = <int32_t>h
            opened += 1
        for h in range(count):
            b = heading[h]
            if <double>link_terms[b] > linked * terms[b]:
                stop = min(<Py_ssize_t>end[h], start[h] + longest)
                for w in range(start[h], stop):
                    if inner[w]:
                        opened = first_link(tag, node[b], node_end[node[b]], in_link, link)
                        found.append((opened, <Py_ssize_t>start[h], stop))
                        break
    finally:
        free(heading); free(start); free(end); free(unclosed); free(rank)
    return found


cdef struct Said:
    uint64_t key
    int32_t unit
    int32_t count


def like_blocks(
    const int32_t[::1] parent, const uint8_t[::1] kind, int hub, offered, const int32_t[::1] block_of_word,
    const uint64_t[::1] word_key, const uint64_t[::1] key, const double[::1] weight, const uint64_t[::1] stops,
    double least,
):
    """The offered hub leaves that are like the topic (see plain_view.like_blocks)."""
    cdef const uint8_t[::1] offer = bytes_of(offered)
    cdef Py_ssize_t b, w, u, at, blocks = parent.shape[0], features = key.shape[0], words = block_of_word.shape[0]
    cdef Py_ssize_t said = 0, room = 2, stop_count = stops.shape[0], place
    cdef bint any_like = False
    cdef Sieve some
    same_length(kind.shape[0], blocks)
    same_length(offer.shape[0], blocks)
    same_length(word_key.shape[0], words)
    same_length(weight.shape[0], features)
    check_places(block_of_word, blocks)
    found = np.zeros(blocks, np.bool_)
    cdef uint8_t[::1] like = found.view(np.uint8)
    if features == 0:
        return found
    fill_sieve(&some, key)
    cdef int32_t* unit = NULL
    cdef double* dot = NULL
    cdef double* square = NULL
    cdef Said* known = NULL
    try:
        unit = <int32_t*>room_for(blocks, sizeof(int32_t))
        dot = <double*>room_for(blocks, sizeof(double))
        for b in range(blocks):
            if not -1 <= parent[b] < blocks:
                raise ValueError(f"block {b} stands nowhere")
            unit[b] = parent[b] if kind[b] == hub and offer[b] else -1
        for b in range(1, blocks):
            if parent[b] >= 0:
                unit[parent[b]] = -1  # no leaf
        for w in range(words):
            u = unit[block_of_word[w]]
            if u >= 0 and may_hold(&some, word_key[w]):
                at = place_of(&key[0], features, word_key[w])
                if at >= 0:
                    dot[u] += weight[at]
        for w in range(words):
            u = unit[block_of_word[w]]
            said += u >= 0 and dot[u] > least  # no length is below 1
        if said == 0:
            return found
        while room < 2 * said:
            room *= 2
        square = <double*>room_for(blocks, sizeof(double))
        known = <Said*>room_for(room, sizeof(Said))
        for w in range(words):
            u = unit[block_of_word[w]]
            if not (u >= 0 and dot[u] > least):
                continue
            if stop_count and place_of(&stops[0], stop_count, word_key[w]) >= 0:
                continue
            at = <Py_ssize_t>((word_key[w] + <uint64_t>u * <uint64_t>0x9E3779B97F4A7C15) & <uint64_t>(room - 1))
            while known[at].count and not (known[at].key == word_key[w] and known[at].unit == u):
                at = (at + 1) & (room - 1)
            known[at].key, known[at].unit = word_key[w], <int32_t>u
            square[u] += 2 * known[at].count + 1  # (n + 1)^2 - n^2
            known[at].count += 1
            any_like = True
        if any_like:
            for b in range(blocks):
                u = unit[b]
                if u >= 0:
                    like[b] = rint(dot[u] * 1e6) / 1e6 > least * max(sqrt(square[u]), 1e-9)
    finally:
        free(unit); free(dot); free(square); free(known)
    return found


def inside_marked(
    const uint16_t[::1] tag, const int32_t[::1] parent, tags, const int32_t[::1] attr_node,
    const uint8_t[::1] attr_name, int role, const int32_t[::1] attr_start, str attr_text, names,
):
    """The nodes in elements that have one of some tags or roles (see plain_view.inside_marked)."""
    cdef const uint8_t[::1] marking = bytes_of(tags)
    cdef Py_ssize_t i, k, size = tag.shape[0], known = marking.shape[0], length = PyUnicode_GET_LENGTH(attr_text)
    same_length(parent.shape[0], size)
    same_length(attr_name.shape[0], attr_node.shape[0])
    same_length(attr_start.shape[0], attr_node.shape[0] + 1)
    check_places(attr_node, size)
    found = np.zeros(size, np.bool_)
    cdef uint8_t[::1] inside = found.view(np.uint8)
    for k in range(attr_node.shape[0]):
        if attr_name[k] == role:
            if not 0 <= attr_start[k] <= attr_start[k + 1] <= length:
                raise ValueError(f"attribute {k} stands nowhere")
            if PyUnicode_Substring(attr_text, attr_start[k], attr_start[k + 1]).strip().lower() in names:
                inside[attr_node[k]] = True
    for i in range(size):
        if marking[tag[i] if tag[i] < known else known - 1] or 0 <= parent[i] < i and inside[parent[i]]:
            inside[i] = True
    return found


def kept_and_shown(
    keep_runs, keep, const int32_t[::1] run_owner, const uint8_t[::1] flags, int hidden
):
    """The runs that are kept with their owner, and those and the visible ones (see plain_view.kept_and_shown)."""
    cdef const uint8_t[::1] runs = bytes_of(keep_runs), nodes = bytes_of(keep)
    cdef Py_ssize_t r, count = run_owner.shape[0]
    same_length(runs.shape[0], count)
    same_length(nodes.shape[0], flags.shape[0])
    check_places(run_owner, flags.shape[0])
    kept, shown = np.empty(count, np.bool_), np.empty(count, np.bool_)
    cdef uint8_t[::1] stays = kept.view(np.uint8), seen = shown.view(np.uint8)
    for r in range(count):
        stays[r] = runs[r] and nodes[run_owner[r]]
        seen[r] = stays[r] or not flags[run_owner[r]] & hidden
    return kept, shown


def of_words(runs, const int32_t[::1] word_run):
    """Which words stand in some runs (see plain_view.of_words)."""
    cdef const uint8_t[::1] marked = bytes_of(runs)
    cdef Py_ssize_t w
    check_places(word_run, marked.shape[0])
    found = np.empty(word_run.shape[0], np.bool_)
    cdef uint8_t[::1] out = found.view(np.uint8)
    for w in range(word_run.shape[0]):
        out[w] = marked[word_run[w]]
    return found


def leading_words(const uint8_t[::1] kind, int hub, const int32_t[::1] block_of_word, central, list teasers):
    """How many central words there are, and how many of them lead elsewhere (see plain_view.leading_words)."""
    cdef const uint8_t[::1] inner = bytes_of(central)
    cdef Py_ssize_t w, words = block_of_word.shape[0], terms = 0, leading = 0, start, stop, upto = 0
    same_length(inner.shape[0], words)
    check_places(block_of_word, kind.shape[0])
    for w in range(words):
        terms += inner[w]
        leading += inner[w] & (kind[block_of_word[w]] == hub)
    for start, stop in sorted(teasers):
        if not 0 <= start <= stop <= words:
            raise ValueError("no such words")
        for w in range(max(start, upto), stop):
            leading += inner[w] & (kind[block_of_word[w]] != hub)
        upto = max(upto, stop)
    return terms, leading


def folded_units(str text, const int32_t[::1] run_start, const int64_t[::1] unit, const Py_ssize_t[::1] runs):
    """The text of each unit, white space folded, and where its runs begin (see plain_view.folded_units)."""
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t k, r, count = runs.shape[0], length = PyUnicode_GET_LENGTH(text), used = 0, total = 0
    cdef bint gap = False
    said, first = [], []
    same_length(unit.shape[0] + 1, run_start.shape[0])
    for k in range(count):
        r = runs[k]
        if not 0 <= r < unit.shape[0] or not 0 <= run_start[r] <= run_start[r + 1] <= length:
            raise ValueError(f"run {r} lies outside the text")
        total += run_start[r + 1] - run_start[r]
    cdef void* out = malloc((total + count + 1) * kind)
    if out == NULL:
        raise MemoryError
    try:
        for k in range(count):
            if k == 0 or unit[runs[k]] != unit[runs[k - 1]]:
                if k:
                    said.append(PyUnicode_FromKindAndData(kind, out, used))
                first.append(k)
                used, gap = 0, False
            r = runs[k]
            if kind == 1:
                used = fold(<const uint8_t*>data, run_start[r], run_start[r + 1], <uint8_t*>out, used, &gap)
            elif kind == 2:
                used = fold(<const uint16_t*>data, run_start[r], run_start[r + 1], <uint16_t*>out, used, &gap)
            else:
                used = fold(<const uint32_t*>data, run_start[r], run_start[r + 1], <uint32_t*>out, used, &gap)
        if count:
            said.append(PyUnicode_FromKindAndData(kind, out, used))
    finally:
        free(out)
    return said, first


ctypedef fused Character:
    uint8_t
    uint16_t
    uint32_t


cdef Py_ssize_t fold(
    const Character* data, Py_ssize_t start, Py_ssize_t stop, Character* out, Py_ssize_t used, bint* gap
) noexcept:
    cdef Py_ssize_t k
    for k in range(start, stop):
        if data[k] > 32 and data[k] < 128 or not Py_UNICODE_ISSPACE(data[k]):
            if gap[0]:
                gap[0] = False
                out[used] = BLANK
                used += 1
            out[used] = data[k]
            used += 1
        else:
            gap[0] = used > 0
    return used


def ended_sentences(segments, list number, str parted):
    """Sentences with the numbers of their paragraphs (see plain_view.ended_sentences)."""
    cdef Py_ssize_t at = 0, size
    cdef str found, sentence, held = ""
    cdef list ended = []
    for found in segments:
        if found == parted:
            if held:
                ended.append((number[at], held))
                held = ""
            at += 1
            continue
        sentence = f"{held} {found}".strip() if held else found.strip()
        size = PyUnicode_GET_LENGTH(sentence)
        if size == 0:
            continue
        if (
            PyUnicode_READ_CHAR(sentence, size - 1) == FULL_STOP
            and size > 1
            and Py_UNICODE_ISUPPER(PyUnicode_READ_CHAR(sentence, size - 2))
            and (size == 2 or PyUnicode_READ_CHAR(sentence, size - 3) == BLANK)
        ):
            held = sentence
        else:
            ended.append((number[at], sentence))
            held = ""
    if held:
        ended.append((number[at], held))
    return ended


def offered_blocks(
    guiding, const int32_t[::1] node, kept, const uint8_t[::1] run_reason, int repeated, const int32_t[::1] of_run
):
    """The blocks that are not guiding and hold no kept or repeated run (see plain_view.offered_blocks)."""
    cdef const uint8_t[::1] guides = bytes_of(guiding), keep = bytes_of(kept)
    cdef Py_ssize_t b, r
    same_length(keep.shape[0], of_run.shape[0])
    same_length(run_reason.shape[0], of_run.shape[0])
    check_places(node, guides.shape[0])
    check_places(of_run, node.shape[0])
    found = np.empty(node.shape[0], np.bool_)
    cdef uint8_t[::1] offered = found.view(np.uint8)
    for b in range(node.shape[0]):
        offered[b] = not guides[node[b]]
    for r in range(of_run.shape[0]):
        if keep[r] or run_reason[r] == repeated:
            offered[of_run[r]] = False
    return found


def distinct_sentences(list ended, is_sentence, Py_ssize_t least_words, bint lines):
    """The sentences, each once, and the paragraph of each (see plain_view.distinct_sentences)."""
    cdef dict found = {}
    cdef str sentence
    cdef Py_ssize_t k, size, words
    cdef int kind
    cdef void* data
    cdef uint32_t last
    for paragraph, sentence in ended:
        size = PyUnicode_GET_LENGTH(sentence)
        kind, data = PyUnicode_KIND(sentence), PyUnicode_DATA(sentence)
        words = 1
        for k in range(size):
            words += PyUnicode_READ(kind, data, k) == BLANK
        last = <uint32_t>PyUnicode_READ(kind, data, size - 1) if size else 0
        if words >= least_words and (lines or last == FULL_STOP or last == 33 or last == 63) or is_sentence(sentence):
            found.setdefault(sentence, paragraph)
    return found


def hrefs(
    const uint16_t[::1] tag, int link, wanted, const int32_t[::1] attr_node, const uint8_t[::1] attr_name, int href,
    const int32_t[::1] attr_start, str attr_text,
):
    """The addresses of the wanted links, those inside the page left out (see plain_view.hrefs)."""
    cdef const uint8_t[::1] want = bytes_of(wanted)
    cdef Py_ssize_t k, i, start, stop, length = PyUnicode_GET_LENGTH(attr_text)
    cdef int kind = PyUnicode_KIND(attr_text)
    cdef void* data = PyUnicode_DATA(attr_text)
    same_length(want.shape[0], tag.shape[0])
    same_length(attr_name.shape[0], attr_node.shape[0])
    same_length(attr_start.shape[0], attr_node.shape[0] + 1)
    found = []
    for k in range(attr_node.shape[0]):
        if attr_name[k] != href:
            continue
        i = attr_node[k]
        start, stop = attr_start[k], attr_start[k + 1]
        if not (0 <= i < tag.shape[0] and 0 <= start <= stop <= length):
            raise ValueError(f"attribute {k} stands nowhere")
        if tag[i] == link and want[i] and not (start < stop and PyUnicode_READ(kind, data, start) == NUMBER_SIGN):
            found.append(PyUnicode_Substring(attr_text, start, stop))
    return found
