# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The loops of a DocView. tests/oracles/plain_view.py states each function in plain Python."""

from libc.math cimport INFINITY, rint, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memmove, memset

import numpy as np

from webwinnow.page._hashing cimport GOLDEN
from webwinnow.page._memory cimport Scratch, bytes_of, check_columns, lower_bound
from webwinnow.page._unicode cimport (
    Character, Py_UNICODE_ISDECIMAL, Py_UNICODE_ISSPACE, Py_UNICODE_ISUPPER, PyUnicode_DATA, PyUnicode_FromKindAndData,
    PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ, PyUnicode_READ_CHAR, PyUnicode_Substring,
)

cdef enum:
    FEW = 256  # so many fit on the stack
    BLANK = 32
    SIEVE = 256  # words of 64 bits
    FULL_STOP = 46
    SMALL_P = 112
    SMALL_X = 120
    SHORT_SIZE = 2  # digits of a size that makes an icon


cdef inline Py_ssize_t place_of(const uint64_t* keys, Py_ssize_t count, uint64_t wanted) noexcept:
    """The place of one of the ascending keys; -1 if it is not there."""
    cdef Py_ssize_t at = lower_bound(keys, 0, count, wanted)
    return at if at < count and keys[at] == wanted else -1


cdef struct Sieve:
    # A filter with one bit for each of the keys, by their last bits. It rejects most other keys.
    uint64_t bits[SIEVE]


cdef inline void fill_sieve(Sieve* sieve, const uint64_t[::1] keys) noexcept:
    cdef Py_ssize_t k
    memset(sieve, 0, sizeof(Sieve))
    for k in range(keys.shape[0]):
        sieve.bits[keys[k] >> 6 & (SIEVE - 1)] |= <uint64_t>1 << (keys[k] & 63)


cdef inline bint may_hold(const Sieve* sieve, uint64_t key) noexcept:
    return sieve.bits[key >> 6 & (SIEVE - 1)] >> (key & 63) & 1


cdef int check_places(const int32_t[::1] places, Py_ssize_t size) except -1:
    """Raise if a place is not below `size`: columns may come from files."""
    cdef Py_ssize_t k
    cdef int32_t lowest = 0, highest = -1
    for k in range(places.shape[0]):
        lowest = min(lowest, places[k])
        highest = max(highest, places[k])
    if lowest < 0 or highest >= size:
        raise ValueError(f"place {lowest if lowest < 0 else highest} of {size}")
    return 0


def containers(const uint16_t[::1] tag, const int32_t[::1] parent, const int32_t[::1] end, const int32_t[::1] run_owner,
               holds, int link):
    """The blocks of a page."""
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] holding = bytes_of(holds)
    cdef Py_ssize_t i, size = tag.shape[0], known = holding.shape[0], blocks = 0, b
    check_columns(parent.shape[0] == end.shape[0] == size)
    check_places(run_owner, size)
    of_node, in_link = np.empty(size, np.int32), np.empty(size, np.int32)
    cdef int32_t[::1] block = of_node, around = in_link
    cdef int32_t* before = <int32_t*>scratch.room(size + 1, sizeof(int32_t))
    for i in range(size):
        before[i] = <int32_t>blocks
        if i and not 0 <= parent[i] < i or not 0 <= end[i] <= size:
            raise ValueError(f"node {i} has no valid place")
        if i == 0 or holding[tag[i] if tag[i] < known else known - 1]:
            block[i] = <int32_t>blocks
            blocks += 1
        else:
            block[i] = block[parent[i]]
        around[i] = <int32_t>i if tag[i] == link else around[parent[i]] if i else -1
    before[size] = <int32_t>blocks
    node, block_parent, block_end = np.empty(blocks, np.int32), np.empty(blocks, np.int32), np.empty(blocks, np.int64)
    of_run = np.empty(run_owner.shape[0], np.int32)
    cdef int32_t[::1] nodes = node, above = block_parent, blocks_of_runs = of_run
    cdef int64_t[::1] last = block_end
    for i in range(size):
        if before[i + 1] > before[i]:
            b = before[i]
            nodes[b] = <int32_t>i
            above[b] = block[parent[i]] if i else -1
            last[b] = before[end[i]]
    for i in range(run_owner.shape[0]):
        blocks_of_runs[i] = block[run_owner[i]]
    return node, block_parent, of_node, of_run, block_end, in_link


def attached(const int32_t[::1] word_run, const int32_t[::1] of_run, const int32_t[::1] in_link,
             const int32_t[::1] run_owner, Py_ssize_t blocks):
    """The block of each word, the terms of each block and those in links."""
    cdef Py_ssize_t w, r
    check_columns(run_owner.shape[0] == of_run.shape[0])
    check_places(word_run, of_run.shape[0])
    check_places(of_run, blocks)
    check_places(run_owner, in_link.shape[0])
    terms, link_terms = np.zeros(blocks, np.int64), np.zeros(blocks, np.int64)
    cdef int32_t[::1] block = np.empty(word_run.shape[0], np.int32)
    cdef int64_t[::1] counted = terms, linked = link_terms
    for w in range(word_run.shape[0]):
        r = word_run[w]
        block[w] = of_run[r]
        counted[of_run[r]] += 1
        linked[of_run[r]] += in_link[run_owner[r]] >= 0
    return block.base, terms, link_terms


def shown_images(const uint16_t[::1] tag, const uint8_t[::1] flags, int hidden, int image, const int32_t[::1] attr_node,
                 const uint8_t[::1] attr_name, const int32_t[::1] attr_start, str attr_text, int width, int height,
                 int smallest):
    """The nodes of visible images that are not icons."""
    cdef Py_ssize_t i, k, n, start, stop, count = 0, length = PyUnicode_GET_LENGTH(attr_text)
    cdef int kind = PyUnicode_KIND(attr_text), size
    cdef void* data = PyUnicode_DATA(attr_text)
    cdef uint32_t c
    check_columns(flags.shape[0] == tag.shape[0] and attr_name.shape[0] == attr_node.shape[0]
                  and attr_start.shape[0] == attr_node.shape[0] + 1)
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
            raise ValueError(f"attribute {k} has no valid place")
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


def block_types(const int64_t[::1] terms, const int64_t[::1] link_terms, const int64_t[::1] images, double hub_share,
                double image_share, int topic, int hub, int image):
    """The type of each block."""
    cdef Py_ssize_t b, size = terms.shape[0]
    check_columns(link_terms.shape[0] == images.shape[0] == size)
    cdef uint8_t[::1] kind = np.empty(size, np.uint8)
    for b in range(size):
        if <double>link_terms[b] > hub_share * terms[b]:
            kind[b] = hub
        elif <double>images[b] > image_share * terms[b]:
            kind[b] = image
        else:
            kind[b] = topic
    return kind.base


def tag_forces(const uint16_t[::1] tag, const int32_t[::1] text_start, const int32_t[::1] text_end,
               const int32_t[::1] of_node, const double[::1] force_of_tag, const int32_t[::1] word_start,
               const int32_t[::1] block_of_word, wanted, const uint8_t[::1] kind, int topic, double most, int64_t short,
               double heading):
    """The sum of the forces of the emphasising tags of each block (DocView 3.2)."""
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] want = bytes_of(wanted)
    cdef Py_ssize_t i, w, b, size = tag.shape[0], words = word_start.shape[0], blocks = kind.shape[0], count = 0, k
    cdef Py_ssize_t known = force_of_tag.shape[0]
    cdef double force
    cdef double[::1] sums = np.zeros(blocks)
    check_columns(text_start.shape[0] == text_end.shape[0] == of_node.shape[0] == size
                  and block_of_word.shape[0] == want.shape[0] == words)
    check_places(of_node, blocks)
    check_places(block_of_word, blocks)
    cdef int32_t* before = <int32_t*>scratch.room(words, sizeof(int32_t))
    cdef int64_t* terms = <int64_t*>scratch.room(blocks, sizeof(int64_t))
    cdef int64_t* emphasised = <int64_t*>scratch.room(blocks, sizeof(int64_t))
    cdef int32_t* weighty = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int32_t* held = <int32_t*>scratch.room(size, sizeof(int32_t))
    for w in range(words):
        before[w + 1] = before[w] + want[w]
        terms[block_of_word[w]] += want[w]
    for i in range(size):
        if force_of_tag[tag[i] if tag[i] < known else known - 1] != 0:
            weighty[count] = <int32_t>i
            if words:
                held[count] = before[lower_bound(&word_start[0], 0, words, text_end[i])] - \
                    before[lower_bound(&word_start[0], 0, words, text_start[i])]
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
    return sums.base


def shared_force(const int32_t[::1] parent, const double[::1] force, inside, double passed_on, double most):
    """The weight of each block after Algorithm 1 of DocView, from the logarithms of the forces."""
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] held = bytes_of(inside)
    cdef Py_ssize_t b, size = parent.shape[0]
    cdef double own, given
    cdef double[::1] weight = np.empty(size)
    check_columns(force.shape[0] == held.shape[0] == size)
    for b in range(size):
        if not -1 <= parent[b] < size:
            raise ValueError(f"block {b} has no valid place")
    cdef double* passed = <double*>scratch.room(size, sizeof(double))
    cdef uint8_t* has_child = <uint8_t*>scratch.room(size, 1)
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
    return weight.base


def blocks_around(const int32_t[::1] block_of_word, wanted, const int64_t[::1] end):
    """The blocks with a wanted word in them or in a block inside."""
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] want = bytes_of(wanted)
    cdef Py_ssize_t w, b, size = end.shape[0]
    cdef uint8_t[::1] out = np.empty(size, np.uint8)
    check_columns(want.shape[0] == block_of_word.shape[0])
    check_places(block_of_word, size)
    cdef int32_t* before = <int32_t*>scratch.room(size + 1, sizeof(int32_t))
    for w in range(block_of_word.shape[0]):
        before[block_of_word[w] + 1] += want[w]
    for b in range(size):
        before[b + 1] += before[b]
    for b in range(size):
        if not 0 <= end[b] <= size:
            raise ValueError(f"block {b} has no valid end")
        out[b] = before[end[b]] > before[b]
    return out.base.view(np.bool_)


def feature_sums(const uint64_t[::1] word_key, const int32_t[::1] block_of_word, wanted, const double[::1] weight,
                 const uint64_t[::1] stops):
    """The distinct wanted words that are not stop words: key, weight and first place of each."""
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] want = bytes_of(wanted)
    cdef Py_ssize_t w, words = word_key.shape[0], count = 0, room = 2, at, stop_count = stops.shape[0]
    cdef Sieve sieve
    check_columns(block_of_word.shape[0] == want.shape[0] == words)
    check_places(block_of_word, weight.shape[0])
    keys, totals, firsts = np.empty(words, np.uint64), np.empty(words), np.empty(words, np.int64)
    cdef uint64_t[::1] key = keys
    cdef double[::1] total = totals
    cdef int64_t[::1] first = firsts
    while room < 2 * words:
        room *= 2
    cdef int32_t* known = <int32_t*>scratch.room(room, sizeof(int32_t))
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
    order = keys[:at].argsort()
    return keys[order], totals[order], firsts[order]


cdef struct Ranked:
    double weight
    int64_t first
    Py_ssize_t place


def heaviest(str text, const double[::1] weight, const int64_t[::1] first, const int32_t[::1] word_start,
             const int32_t[::1] word_end, Py_ssize_t shortest, Py_ssize_t looked_at, Py_ssize_t most):
    """The heaviest features that are not numbers, heaviest first, at most `most`."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t k, n, size = weight.shape[0], count = 0, low, high, middle, length = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Ranked one
    cdef Ranked few[FEW + 1]
    cdef Ranked* best = few
    looked_at = min(looked_at, size)
    check_columns(first.shape[0] == size and word_end.shape[0] == word_start.shape[0])
    if looked_at > FEW:
        best = <Ranked*>scratch.room(looked_at + 1, sizeof(Ranked))
    for k in range(size):
        if not 0 <= first[k] < word_start.shape[0]:
            raise ValueError(f"feature {k} has no valid place")
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
            raise ValueError("a word is outside the text")
        for n in range(low, high):
            if not Py_UNICODE_ISDECIMAL(PyUnicode_READ(kind, data, n)):
                if len(found) < most:
                    found.append(best[k].place)
                break
    return np.array(found, np.intp)


cdef inline bint is_before(const Ranked* one, const Ranked* other) noexcept:
    return one.weight > other.weight or (one.weight == other.weight and one.first < other.first)


cdef int descending(const void* one, const void* other) noexcept nogil:
    cdef int32_t a = (<const int32_t*>one)[0], b = (<const int32_t*>other)[0]
    return (a < b) - (a > b)


def likely_runs(kept, const float[::1] likely, const int32_t[::1] run_owner, const int32_t[::1] word_run, float least,
                double share):
    """The kept runs of probable content if they have a `share` of the kept words, else all kept runs."""
    cdef const uint8_t[::1] keep = bytes_of(kept)
    cdef Py_ssize_t r, w, all_words = 0, sure_words = 0
    cdef uint8_t[::1] sure = np.empty(keep.shape[0], np.uint8)
    check_columns(run_owner.shape[0] == keep.shape[0])
    check_places(run_owner, likely.shape[0])
    check_places(word_run, keep.shape[0])
    for r in range(keep.shape[0]):
        sure[r] = keep[r] and likely[run_owner[r]] >= least
    for w in range(word_run.shape[0]):
        all_words += keep[word_run[w]]
        sure_words += sure[word_run[w]]
    return sure.base.view(np.bool_) if sure_words >= share * all_words else kept


def text_units(const uint16_t[::1] tag, int line_break, const int32_t[::1] node, const int32_t[::1] run_before,
               const int32_t[::1] of_run):
    """The unit of text of each run: runs without a block boundary or a line break between them."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t i, r, size = tag.shape[0], runs = run_before.shape[0], unit = 0
    cdef int32_t opened, last = 0
    cdef int64_t[::1] out = np.empty(runs, np.int64)
    check_columns(of_run.shape[0] == runs)
    check_places(node, size)
    cdef int32_t* parts = <int32_t*>scratch.room(size, sizeof(int32_t))
    for i in range(node.shape[0]):
        parts[node[i]] = 1
    for i in range(size):
        if tag[i] == line_break:
            parts[i] = 1
        if i:
            parts[i] += parts[i - 1]
    for r in range(runs):
        if not 0 <= run_before[r] <= size:
            raise ValueError(f"run {r} has no valid place")
        opened = parts[max(run_before[r], 1) - 1]
        if r and (opened != last or of_run[r] != of_run[r - 1]):
            unit += 1
        last = opened
        out[r] = unit
    return out.base


def keyword_units(const int64_t[::1] unit, kept, const int32_t[::1] word_run, const uint64_t[::1] word_key,
                  const uint64_t[::1] keyword, Py_ssize_t most):
    """The kept runs of the `most` units with the most keywords."""
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] keep = bytes_of(kept)
    cdef Py_ssize_t w, r, u, runs = unit.shape[0], units, keywords = keyword.shape[0], matching = 0, count = 0, spare
    cdef int32_t bound = 0
    cdef Sieve some
    check_columns(keep.shape[0] == runs and word_key.shape[0] == word_run.shape[0])
    check_places(word_run, runs)
    if keywords == 0 or runs == 0:
        return np.zeros(0, np.intp)
    units = unit[runs - 1] + 1
    for r in range(runs):
        if not 0 <= unit[r] < units:
            raise ValueError(f"run {r} is of no unit")
    cdef Py_ssize_t[::1] out = np.empty(runs, np.intp)
    cdef int32_t* ranked = NULL
    fill_sieve(&some, keyword)
    cdef int32_t* hits = <int32_t*>scratch.room(units, sizeof(int32_t))
    for w in range(word_run.shape[0]):
        if keep[word_run[w]] and may_hold(&some, word_key[w]):
            hits[unit[word_run[w]]] += place_of(&keyword[0], keywords, word_key[w]) >= 0
    for u in range(units):
        matching += hits[u] > 0
    if matching > most:
        ranked = <int32_t*>scratch.room(matching, sizeof(int32_t))
        w = 0
        for u in range(units):
            if hits[u] > 0:
                ranked[w] = hits[u]
                w += 1
        qsort(ranked, matching, sizeof(int32_t), descending)
        bound = ranked[most]  # units above the bound are kept, and the first ones at the bound while there is room
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
    return out.base[:count]


def paragraph_sizes(const int32_t[::1] block_of_word, const int32_t[::1] word_run, kept, const int32_t[::1] parent,
                    const int32_t[::1] block):
    """The paragraph of each of some blocks and the terms of each paragraph."""
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] keep = bytes_of(kept)
    cdef Py_ssize_t w, b, blocks = parent.shape[0], first = -1, last = -1, root, son = -1, held = -1, count = -1
    check_columns(word_run.shape[0] == block_of_word.shape[0])
    check_places(block_of_word, blocks)
    check_places(word_run, keep.shape[0])
    check_places(block, blocks)
    if block.shape[0] == 0:
        raise ValueError("expected one block or more")
    names, sizes = np.empty(block.shape[0], np.int64), np.zeros(blocks + 1, np.int64)
    cdef int64_t[::1] name = names, size = sizes
    for b in range(blocks):
        if not -1 <= parent[b] < b:
            raise ValueError(f"block {b} has no valid place")
    cdef int64_t* terms = <int64_t*>scratch.room(blocks, sizeof(int64_t))
    cdef int32_t* paragraph = <int32_t*>scratch.room(blocks, sizeof(int32_t))
    cdef uint8_t* above = <uint8_t*>scratch.room(blocks, 1)
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
    return names, sizes[: count + 1]


def keyword_sums(const uint64_t[::1] key, const int32_t[::1] sentence, Py_ssize_t sentences,
                 const uint64_t[::1] keyword, const double[::1] weight):
    """The weight of the distinct keywords of each sentence."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t w, k, at, keywords = keyword.shape[0], words = key.shape[0]
    cdef Sieve some
    cdef double[::1] out = np.zeros(sentences)
    check_columns(sentence.shape[0] == words and weight.shape[0] == keywords)
    check_places(sentence, sentences)
    if keywords == 0:
        return out.base
    fill_sieve(&some, keyword)
    cdef int32_t* seen_in = <int32_t*>scratch.room(keywords, sizeof(int32_t))
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
    return out.base


def by_quota(const double[::1] weight, const int64_t[::1] paragraph, const int64_t[::1] size, Py_ssize_t most):
    """The heaviest sentences of each paragraph by its quota."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t k, p, turn, best, count = weight.shape[0], paragraphs = size.shape[0]
    cdef double claim, highest
    check_columns(paragraph.shape[0] == count)
    for k in range(count):
        if not 0 <= paragraph[k] < paragraphs:
            raise ValueError(f"sentence {k} is of no paragraph")
    if count <= most:
        return list(range(count))
    cdef int32_t* left = <int32_t*>scratch.room(paragraphs, sizeof(int32_t))
    cdef int32_t* given = <int32_t*>scratch.room(paragraphs, sizeof(int32_t))
    cdef uint8_t* taken = <uint8_t*>scratch.room(count, 1)
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
        for k in range(count):  # its heaviest sentence that is left
            if paragraph[k] == p and not taken[k] and (best < 0 or weight[k] > weight[best]):
                best = k
        taken[best] = True
    return [k for k in range(count) if taken[k]]


cdef Py_ssize_t first_link(const uint16_t[::1] tag, Py_ssize_t node, Py_ssize_t end, const int32_t[::1] in_link,
                           int link) noexcept:
    """The first link in an element, or else the one around it."""
    cdef Py_ssize_t i
    for i in range(node, min(end, tag.shape[0])):
        if tag[i] == link:
            return i
    return in_link[node]


def linked_headings(const uint16_t[::1] tag, const uint8_t[::1] level_of_tag, const int32_t[::1] node,
                    const int32_t[::1] text_start, const int64_t[::1] terms, const int64_t[::1] link_terms,
                    const int32_t[::1] word_start, central, double linked, Py_ssize_t longest,
                    const int32_t[::1] node_end, const int32_t[::1] in_link, int link):
    """The headings that are links: link node, first word and end of the words under each."""
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] inner = bytes_of(central)
    cdef Py_ssize_t b, h, w, count = 0, words = word_start.shape[0], blocks = node.shape[0], opened = 0, stop
    cdef Py_ssize_t known = level_of_tag.shape[0]
    cdef uint8_t level
    cdef bint any_linked = False
    check_columns(inner.shape[0] == words and terms.shape[0] == link_terms.shape[0] == blocks
                  and text_start.shape[0] == node_end.shape[0] == in_link.shape[0] == tag.shape[0])
    check_places(node, tag.shape[0])
    found = []
    cdef int32_t* heading = <int32_t*>scratch.room(blocks, sizeof(int32_t))
    cdef uint8_t* rank = <uint8_t*>scratch.room(blocks, 1)
    for b in range(blocks):
        level = level_of_tag[tag[node[b]] if tag[node[b]] < known else known - 1]
        if level and terms[b] > 0:
            heading[count], rank[count] = <int32_t>b, level
            count += 1
            any_linked = any_linked or <double>link_terms[b] > linked * terms[b]
    if not any_linked or not words:
        return found
    cdef int32_t* start = <int32_t*>scratch.room(count, sizeof(int32_t))
    cdef int32_t* end = <int32_t*>scratch.room(count, sizeof(int32_t))
    cdef int32_t* unclosed = <int32_t*>scratch.room(count, sizeof(int32_t))
    for h in range(count):
        start[h] = <int32_t>lower_bound(&word_start[0], 0, words, text_start[node[heading[h]]])
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
    return found


cdef struct Said:
    uint64_t key
    int32_t unit
    int32_t count


def similar_blocks(const int32_t[::1] parent, const uint8_t[::1] kind, int hub, offered,
                   const int32_t[::1] block_of_word, const uint64_t[::1] word_key, const uint64_t[::1] key,
                   const double[::1] weight, const uint64_t[::1] stops, double least, bint grouped):
    """The offered hub leaves whose cosine similarity with the topic exceeds `least`, `grouped` by parent or alone."""
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] offer = bytes_of(offered)
    cdef Py_ssize_t b, w, u, at, blocks = parent.shape[0], features = key.shape[0], words = block_of_word.shape[0]
    cdef Py_ssize_t said = 0, room = 2, stop_count = stops.shape[0], place
    cdef bint any_counted = False
    cdef Sieve some
    check_columns(kind.shape[0] == offer.shape[0] == blocks and word_key.shape[0] == words
                  and weight.shape[0] == features)
    check_places(block_of_word, blocks)
    cdef uint8_t[::1] similar = np.zeros(blocks, np.uint8)
    if features == 0:
        return similar.base.view(np.bool_)
    fill_sieve(&some, key)
    cdef int32_t* unit = <int32_t*>scratch.room(blocks, sizeof(int32_t))
    cdef double* dot = <double*>scratch.room(blocks, sizeof(double))
    for b in range(blocks):
        if not -1 <= parent[b] < blocks:
            raise ValueError(f"block {b} has no valid place")
        unit[b] = -1 if kind[b] != hub or not offer[b] else parent[b] if grouped else <int32_t>b
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
        return similar.base.view(np.bool_)
    while room < 2 * said:
        room *= 2
    cdef double* square = <double*>scratch.room(blocks, sizeof(double))
    cdef Said* known = <Said*>scratch.room(room, sizeof(Said))
    for w in range(words):
        u = unit[block_of_word[w]]
        if not (u >= 0 and dot[u] > least):
            continue
        if stop_count and place_of(&stops[0], stop_count, word_key[w]) >= 0:
            continue
        at = <Py_ssize_t>((word_key[w] + <uint64_t>u * GOLDEN) & <uint64_t>(room - 1))
        while known[at].count and not (known[at].key == word_key[w] and known[at].unit == u):
            at = (at + 1) & (room - 1)
        known[at].key, known[at].unit = word_key[w], <int32_t>u
        square[u] += 2 * known[at].count + 1  # (n + 1)^2 - n^2
        known[at].count += 1
        any_counted = True
    if any_counted:
        for b in range(blocks):
            u = unit[b]
            if u >= 0 and square[u] > 0:
                similar[b] = rint(dot[u] / sqrt(square[u]) * 1e6) / 1e6 > least
    return similar.base.view(np.bool_)


def inside_marked(const uint16_t[::1] tag, const int32_t[::1] parent, tags, const int32_t[::1] attr_node,
                  const uint8_t[::1] attr_name, int role, const int32_t[::1] attr_start, str attr_text, names):
    """The nodes inside elements with one of the tags or roles."""
    cdef const uint8_t[::1] marking = bytes_of(tags)
    cdef Py_ssize_t i, k, size = tag.shape[0], known = marking.shape[0], length = PyUnicode_GET_LENGTH(attr_text)
    check_columns(parent.shape[0] == size and attr_name.shape[0] == attr_node.shape[0]
                  and attr_start.shape[0] == attr_node.shape[0] + 1)
    check_places(attr_node, size)
    cdef uint8_t[::1] inside = np.zeros(size, np.uint8)
    for k in range(attr_node.shape[0]):
        if attr_name[k] == role:
            if not 0 <= attr_start[k] <= attr_start[k + 1] <= length:
                raise ValueError(f"attribute {k} has no valid place")
            if PyUnicode_Substring(attr_text, attr_start[k], attr_start[k + 1]).strip().lower() in names:
                inside[attr_node[k]] = True
    for i in range(size):
        if marking[tag[i] if tag[i] < known else known - 1] or 0 <= parent[i] < i and inside[parent[i]]:
            inside[i] = True
    return inside.base.view(np.bool_)


def kept_and_shown(keep_runs, keep, const int32_t[::1] run_owner, const uint8_t[::1] flags, int hidden):
    """The runs that are kept and whose owner is kept; and these together with the visible runs."""
    cdef const uint8_t[::1] runs = bytes_of(keep_runs), nodes = bytes_of(keep)
    cdef Py_ssize_t r, count = run_owner.shape[0]
    check_columns(runs.shape[0] == count and nodes.shape[0] == flags.shape[0])
    check_places(run_owner, flags.shape[0])
    kept, shown = np.empty(count, np.bool_), np.empty(count, np.bool_)
    cdef uint8_t[::1] stays = kept.view(np.uint8), seen = shown.view(np.uint8)
    for r in range(count):
        stays[r] = runs[r] and nodes[run_owner[r]]
        seen[r] = stays[r] or not flags[run_owner[r]] & hidden
    return kept, shown


def leading_words(const uint8_t[::1] kind, int hub, const int32_t[::1] block_of_word, central, list teasers):
    """The number of central words, and of those in hubs or teasers."""
    cdef const uint8_t[::1] inner = bytes_of(central)
    cdef Py_ssize_t w, words = block_of_word.shape[0], terms = 0, leading = 0, start, stop, upto = 0
    check_columns(inner.shape[0] == words)
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
    """The text of each unit, white space folded; and the index of its first run."""
    cdef Scratch scratch = Scratch()
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Py_ssize_t k, r, count = runs.shape[0], length = PyUnicode_GET_LENGTH(text), used = 0, total = 0
    cdef bint gap = False
    said, first = [], []
    check_columns(unit.shape[0] + 1 == run_start.shape[0])
    for k in range(count):
        r = runs[k]
        if not 0 <= r < unit.shape[0] or not 0 <= run_start[r] <= run_start[r + 1] <= length:
            raise ValueError(f"run {r} is outside the text")
        total += run_start[r + 1] - run_start[r]
    cdef void* out = scratch.room(total + count, kind)
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
    return said, first


cdef Py_ssize_t fold(const Character* data, Py_ssize_t start, Py_ssize_t stop, Character* out, Py_ssize_t used,
                     bint* gap) noexcept:
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
    """Sentences with the numbers of their paragraphs. A capital and a full stop (`M. Dupont`) end no sentence."""
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


def offered_blocks(guiding, const int32_t[::1] node, kept, const uint8_t[::1] run_reason, int repeated,
                   const int32_t[::1] of_run):
    """The blocks that are not navigation and contain no kept or repeated run."""
    cdef const uint8_t[::1] guides = bytes_of(guiding), keep = bytes_of(kept)
    cdef Py_ssize_t b, r
    check_columns(keep.shape[0] == run_reason.shape[0] == of_run.shape[0])
    check_places(node, guides.shape[0])
    check_places(of_run, node.shape[0])
    cdef uint8_t[::1] offered = np.empty(node.shape[0], np.uint8)
    for b in range(node.shape[0]):
        offered[b] = not guides[node[b]]
    for r in range(of_run.shape[0]):
        if keep[r] or run_reason[r] == repeated:
            offered[of_run[r]] = False
    return offered.base.view(np.bool_)


def distinct_sentences(list ended, is_sentence, Py_ssize_t least_words, bint lines):
    """The sentences, each once, and the paragraph of each."""
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
