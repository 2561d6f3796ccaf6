# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Sections, introductions, code and figures of a page. tests/oracles/plain_sections.py is the slow version."""

from libc.stdint cimport int32_t, uint8_t, uint16_t

import numpy as np

from webwinnow.page._memory cimport Scratch, bytes_of, check_columns, check_parent, check_runs, lower_bound
from webwinnow.page._unicode cimport (
    PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ, Py_UNICODE_ISSPACE, lower
)

cdef enum:
    LEVEL = 7  # of a heading, 1 to 6
    LISTS = 8  # lists, tables and code, which a sentence introduces
    CODE = 16
    FIGURE = 32
    PICTURE = 64
    BOUND = 128  # what a heading inside of it does not reach beyond: lists, items, tables, asides


cdef inline bint is_colon(Py_UCS4 c) noexcept nogil:
    """A colon of any script."""
    return c == 0x3A or c == 0xFF1A or c == 0xFE55 or c == 0xFE13 or c == 0x1366 or c == 0x55D


def outline_roles(const uint16_t[::1] tag, const uint8_t[::1] roles, const int32_t[::1] attr_node,
                  const uint8_t[::1] attr_name, const int32_t[::1] attr_start, str attr_text, int code, int level):
    """The roles of nodes for `outline`: those of their tags, the last of `roles` for all further ones, and the given
    level of a heading if the attribute with this code is "heading".
    """
    cdef Py_ssize_t i, k, size = tag.shape[0], attributes = attr_node.shape[0], last = roles.shape[0] - 1
    cdef int kind = PyUnicode_KIND(attr_text), at
    cdef void* data = PyUnicode_DATA(attr_text)
    cdef const char* heading = b"heading"
    check_columns(last >= 0 and attr_name.shape[0] == attributes)
    check_runs(attr_start, attributes, PyUnicode_GET_LENGTH(attr_text))
    found = np.empty(size, np.uint8)
    cdef uint8_t[::1] role = found
    for i in range(size):
        role[i] = roles[min(<Py_ssize_t>tag[i], last)]
    for k in range(attributes):
        if attr_name[k] != code or attr_start[k + 1] - attr_start[k] != 7:
            continue
        at = 0
        while at < 7 and PyUnicode_READ(kind, data, attr_start[k] + at) == <Py_UCS4>heading[at]:
            at += 1
        if at < 7:
            continue
        if not 0 <= attr_node[k] < size:
            raise ValueError(f"attribute {k} is outside the tree")
        if not role[attr_node[k]] & LEVEL:
            role[attr_node[k]] |= level
    return found


def outline(const int32_t[::1] parent, const int32_t[::1] text_start, const int32_t[::1] text_end,
            const uint8_t[::1] role, str text, const int32_t[::1] owner, const int32_t[::1] start,
            const int32_t[::1] stop, const int32_t[::1] words, int beside):
    """Five columns over blocks: heading level, heading above, end of what a block heads or introduces, code, figure.

    `role` describes nodes; block k has the text `start[k]:stop[k]` and is in node `owner[k]`. See `Sections`.
    """
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t size = parent.shape[0], n = owner.shape[0], i, k, depth = 0, last, after
    cdef int32_t node, up
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    check_columns(text_start.shape[0] == text_end.shape[0] == role.shape[0] == size)
    check_columns(start.shape[0] == stop.shape[0] == words.shape[0] == n)
    for k in range(n):
        if not (0 <= owner[k] < size and (k == 0 or start[k - 1] <= start[k])
                and 0 <= start[k] <= stop[k] <= PyUnicode_GET_LENGTH(text)):
            raise ValueError(f"block {k} is outside the page")
    cdef int32_t* head_of = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int32_t* code_of = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int32_t* figure_of = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int32_t* pictures = <int32_t*>scratch.room(size + 1, sizeof(int32_t))
    cdef int32_t* total = <int32_t*>scratch.room(n + 1, sizeof(int32_t))
    cdef int32_t* opened = <int32_t*>scratch.room(n + 1, sizeof(int32_t))
    for i in range(size):
        if i:
            check_parent(parent, i)
            up = parent[i]
            head_of[i], code_of[i], figure_of[i] = head_of[up], code_of[up], figure_of[up]
        else:
            head_of[i] = code_of[i] = figure_of[i] = -1
        if role[i] & LEVEL and head_of[i] < 0:
            head_of[i] = <int32_t>i
        if role[i] & CODE and code_of[i] < 0:
            code_of[i] = <int32_t>i
        if role[i] & FIGURE:
            figure_of[i] = <int32_t>i
        if role[i] & PICTURE and figure_of[i] >= 0:
            pictures[figure_of[i]] = 1
    levels = np.zeros(n, np.uint8)
    headings, ends, codes, figures = (np.full(n, -1, np.int32) for _ in range(4))
    cdef uint8_t[::1] level = levels
    cdef int32_t[::1] heading = headings, end = ends, code = codes, figure = figures
    for k in range(n):
        total[k + 1] = total[k] + words[k]
    for k in range(n):
        while depth and end[opened[depth - 1]] <= k:
            depth -= 1
        node = owner[k]
        code[k] = code_of[node]
        if figure_of[node] >= 0 and pictures[figure_of[node]]:
            figure[k] = figure_of[node]
        node = head_of[node]
        if node < 0:
            heading[k] = opened[depth - 1] if depth else -1
            end[k] = 0
            continue
        level[k] = role[node] & LEVEL
        if k and head_of[owner[k - 1]] == node:  # another line of the heading before
            heading[k] = heading[k - 1] if end[k - 1] == 0 else <int32_t>(k - 1)
            end[k] = 0
            continue
        while depth and level[opened[depth - 1]] >= level[k]:
            depth -= 1
            end[opened[depth]] = <int32_t>k
        heading[k] = opened[depth - 1] if depth else -1
        # The container: above elements that have hardly any text but the heading
        after = lower_bound(&start[0], k, n, text_end[node])
        up = node
        last = after
        while up > 0 and other_words(total, start, text_start[up], k, after, last) <= beside:
            if role[up] & BOUND:
                break
            up = parent[up]
            last = lower_bound(&start[0], after, n, text_end[up])
        if depth and end[opened[depth - 1]] < last:
            last = end[opened[depth - 1]]
        end[k] = <int32_t>last
        opened[depth] = <int32_t>k
        depth += 1
    # Introductions: a colon at the end of a block, directly before a list, a table or code, of which one may be wrapped
    for k in range(n - 1):
        if level[k] or not ends_in_colon(kind, data, start[k], stop[k]):
            continue
        node = owner[k + 1]
        up = -1
        while node > 0 and text_start[node] >= stop[k]:
            if role[node] & LISTS:
                up = node
            node = parent[node]
        if up > 0 and (node == owner[k] or node == parent[owner[k]]) and (parent[up] == node or parent[parent[up]] == node):
            end[k] = <int32_t>lower_bound(&start[0], k + 1, n, text_end[up])
    return levels, headings, ends, codes, figures


cdef inline int32_t other_words(int32_t* total, const int32_t[::1] start, int32_t begin, Py_ssize_t k, Py_ssize_t after,
                                Py_ssize_t last) noexcept:
    """Words of an element, whose text is from `begin` to block `last`, before and after blocks `k:after`."""
    return total[last] - total[after] + total[k] - total[lower_bound(&start[0], 0, k, begin)]


cdef inline bint ends_in_colon(int kind, void* data, Py_ssize_t start, Py_ssize_t stop) noexcept:
    while stop > start and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, stop - 1)):
        stop -= 1
    return stop > start and is_colon(PyUnicode_READ(kind, data, stop - 1))


def raised(const uint8_t[::1] level, const int32_t[::1] heading, const int32_t[::1] end, const int32_t[::1] code,
           const int32_t[::1] figure, shown, const int32_t[::1] words, const double[::1] probability,
           double hidden_above):
    """The probabilities, those of parts that depend on others as high as the highest of these.

    The blocks of code share their highest, a list is at least as probable as the sentence that introduces it, and that
    sentence as its list, a caption as the text around. A heading is exactly as probable as what it heads, or at least
    so if it has more words than that: then it is a text with a line below. What has probability 0 keeps it. Text that
    is not `shown` counts above `hidden_above` only. A block has 0 `words` if the site repeats it: no heading keeps it.
    """
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t n = level.shape[0], k, first, after, depth = 0
    cdef const uint8_t[::1] seen = bytes_of(shown)
    check_columns(heading.shape[0] == end.shape[0] == code.shape[0] == figure.shape[0] == n)
    check_columns(seen.shape[0] == words.shape[0] == probability.shape[0] == n)
    cdef int32_t* opened = <int32_t*>scratch.room(n + 1, sizeof(int32_t))
    cdef double* best = <double*>scratch.room(n + 1, sizeof(double))
    cdef int32_t* below = <int32_t*>scratch.room(n, sizeof(int32_t))
    cdef int32_t* own = <int32_t*>scratch.room(n, sizeof(int32_t))
    cdef double highest
    cdef double[::1] found = np.array(probability)
    for k in range(n):
        if not (-1 <= heading[k] < k and 0 <= end[k] <= n):
            raise ValueError(f"block {k} is under block {heading[k]}")
    k = 0
    while k < n:
        after = same_from(code, k)
        if code[k] >= 0 and after > k + 1:
            highest = 0.0
            for first in range(k, after):
                highest = max(highest, found[first])
            lift(found, k, after, highest)
        k = after
    for k in range(n):  # lists
        while depth and end[opened[depth - 1]] <= k:
            depth -= 1
        if depth:
            lift(found, k, k + 1, best[depth - 1])
        if level[k] == 0 and end[k] > k:
            opened[depth], best[depth] = <int32_t>k, found[k]
            depth += 1
    k = 0
    while k < n:
        after = same_from(figure, k)
        if figure[k] >= 0:
            lift(found, k, after, min(found[k - 1] if k else 0.0, found[after] if after < n else 0.0))
        k = after
    depth = 0
    for k in range(n + 1):  # sentences
        while depth and (k == n or end[opened[depth - 1]] <= k):
            depth -= 1
            lift(found, opened[depth], opened[depth] + 1, best[depth])
            if depth:
                best[depth - 1] = max(best[depth - 1], best[depth])
        if k < n and depth and level[k] == 0 and (seen[k] or found[k] >= hidden_above):
            best[depth - 1] = max(best[depth - 1], found[k])
        if k < n and level[k] == 0 and end[k] > k:
            opened[depth], best[depth] = <int32_t>k, 0.0
            depth += 1
    for k in range(n):
        best[k] = -1.0
        first = heading[k] if level[k] and end[k] == 0 else k  # further lines of a heading
        own[first] += words[k]
        found[first] = max(found[first], found[k])
    for k in range(n - 1, -1, -1):
        if level[k] and end[k] == 0:
            continue
        if level[k] and best[k] >= 0.0:
            found[k] = max(found[k], best[k]) if own[k] > below[k] else best[k]
        if heading[k] >= 0:
            highest = found[k] if level[k] or seen[k] or found[k] >= hidden_above else 0.0
            best[heading[k]] = max(best[heading[k]], highest)
            below[heading[k]] += own[k] + below[k]
    for k in range(n):
        if level[k] and end[k] == 0:
            found[k] = found[heading[k]]
        elif level[k] == 0 and heading[k] >= 0 and words[k] and own[heading[k]] > below[heading[k]]:
            lift(found, k, k + 1, found[heading[k]])
    return found.base


cdef inline Py_ssize_t same_from(const int32_t[::1] values, Py_ssize_t k) noexcept:
    """The first place after k with another value."""
    cdef Py_ssize_t after = k + 1
    while after < values.shape[0] and values[after] == values[k]:
        after += 1
    return after


cdef inline void lift(double[::1] found, Py_ssize_t first, Py_ssize_t after, double least) noexcept:
    """Raise probabilities other than 0 to `least`."""
    cdef Py_ssize_t k
    for k in range(first, after):
        if found[k] > 0.0:
            found[k] = max(found[k], least)


def pictures_beside(const int32_t[::1] parent, const uint16_t[::1] tag, const int32_t[::1] text_start,
                    const int32_t[::1] text_end, keep, is_picture, const int32_t[::1] start, const int32_t[::1] words,
                    kept_blocks, int32_t few, tuple codes):
    """Of the nodes to keep the images with a kept block beside them, and two masks: the pictures without, and those
    with such a block that are no images, except an `svg` in a `figure`; `codes` are these three tags.

    Pictures have no text. `is_picture` is a table over tags, its last entry that of all further ones; blocks begin in the text at `start`.
    Of the blocks that are kept, or have more than a `few` words, those beside a picture are the nearest before and
    after it: the one that shares the smaller element with it, or both if they share the same.
    """
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] wanted = bytes_of(keep), shows = bytes_of(is_picture), kept = bytes_of(kept_blocks)
    cdef Py_ssize_t size = parent.shape[0], blocks = start.shape[0], n = 0, found = 0, i, last = shows.shape[0] - 1
    cdef int32_t node, before, after
    cdef bint is_found
    check_columns(tag.shape[0] == text_start.shape[0] == text_end.shape[0] == wanted.shape[0] == size)
    check_columns(words.shape[0] == kept.shape[0] == blocks and last >= 0)
    cdef int32_t* place = <int32_t*>scratch.room(blocks, sizeof(int32_t))
    cdef uint8_t* stays = <uint8_t*>scratch.room(blocks, 1)
    cdef int32_t* nodes = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef uint8_t* follows = <uint8_t*>scratch.room(size, 1)
    for i in range(size):
        if wanted[i] and shows[min(<Py_ssize_t>tag[i], last)] and text_start[i] == text_end[i]:
            nodes[found] = <int32_t>i
            found += 1
    if found:
        for i in range(blocks):
            if kept[i] or words[i] > few:
                place[n], stays[n] = start[i], kept[i]
                n += 1
    for i in range(found if n else 0):
        node = parent[nodes[i]]
        after = <int32_t>lower_bound(<const int32_t*>place, 0, n, text_start[nodes[i]])
        before = after - 1
        is_found = False
        while node >= 0 and not is_found:
            if before >= 0 and text_start[node] <= place[before]:
                is_found = True
                follows[i] |= stays[before]
            if after < n and place[after] < text_end[node]:
                is_found = True
                follows[i] |= stays[after]
            if parent[node] >= node:
                raise ValueError(f"node {node} has the parent {parent[node]}")
            node = parent[node]
    cdef int img, svg, figure, code
    img, svg, figure = codes
    pictures, outside, others = np.empty(found, np.int32), np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    cdef int32_t[::1] image = pictures
    cdef uint8_t[::1] alone = outside, other = others
    cdef Py_ssize_t images = 0
    for i in range(found):
        node = nodes[i]
        code = tag[node]
        if not follows[i]:
            alone[node] = 1
        elif code == img:
            image[images] = node
            images += 1
        else:
            other[node] = not (code == svg and parent[node] >= 0 and tag[parent[node]] == figure)
    return pictures[:images], outside.view(np.bool_), others.view(np.bool_)


def add_wrappers(const int32_t[::1] parent, const int32_t[::1] end, const uint16_t[::1] tag,
                 const int32_t[::1] text_start, const int32_t[::1] text_end, keep, is_picture, wraps, removed, others):
    """Add to two masks of pictures that are removed the elements around these with neither text nor another picture.

    `is_picture` and `wraps` are tables over tags, their last entry that of all further ones.
    """
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] wanted = bytes_of(keep), shows = bytes_of(is_picture), around = bytes_of(wraps)
    cdef uint8_t[::1] gone = removed.view(np.uint8), gone_too = others.view(np.uint8), of
    cdef Py_ssize_t size = parent.shape[0], i, last = shows.shape[0] - 1
    cdef int32_t up
    cdef int which
    check_columns(end.shape[0] == tag.shape[0] == text_start.shape[0] == text_end.shape[0] == wanted.shape[0] == size)
    check_columns(gone.shape[0] == gone_too.shape[0] == size and around.shape[0] - 1 == last and last >= 0)
    cdef int32_t* left = <int32_t*>scratch.room(size + 1, sizeof(int32_t))
    for i in range(size):
        if not i < end[i] <= size:
            raise ValueError(f"node {i} ends at {end[i]}")
        if i:
            check_parent(parent, i)
        left[i + 1] = left[i] + (wanted[i] and shows[min(<Py_ssize_t>tag[i], last)] and not (gone[i] or gone_too[i]))
    for which in range(2):
        of = gone_too if which else gone
        for i in range(1, size):
            if not of[i]:
                continue
            up = parent[i]
            while up > 1 and not of[up] and around[min(<Py_ssize_t>tag[up], last)] and text_start[up] == text_end[up]:
                if left[end[up]] > left[up]:
                    break
                of[up] = 1
                up = parent[up]


def headings_like(const uint8_t[::1] level, const int32_t[::1] heading, const int32_t[::1] end, shown,
                  const int32_t[::1] start, const int32_t[::1] stop, str text, bytes openings, Py_ssize_t most):
    """Of the first headings that are `shown`, at most so many, those of the first level and those that may be a title:
    a list of their block, where their text begins, and where it ends with the last of their lines.

    `openings` are the first two letters or digits, in lower case, of each title (0 if it has no second). A heading
    whose first two are not ASCII may be any title.
    """
    cdef const uint8_t[::1] seen = bytes_of(shown)
    cdef Py_ssize_t n = level.shape[0], k, after, at, o, heads = 0, pairs = len(openings) // 2
    cdef const unsigned char* pair = openings
    cdef unsigned char first[2]
    cdef int kind = PyUnicode_KIND(text), count
    cdef void* data = PyUnicode_DATA(text)
    cdef Py_UCS4 c
    cdef bint is_like
    cdef list found = []
    check_columns(heading.shape[0] == end.shape[0] == seen.shape[0] == start.shape[0] == stop.shape[0] == n)
    for k in range(n):
        if not (level[k] and end[k] > 0 and seen[k]):
            continue
        heads += 1
        if heads > most:
            break
        after = k + 1
        while after < n and level[after] and end[after] == 0 and heading[after] == k:
            after += 1
        if not 0 <= start[k] <= stop[after - 1] <= PyUnicode_GET_LENGTH(text):
            raise ValueError(f"block {k} is outside the text")
        is_like = level[k] == 1
        count = first[0] = first[1] = 0
        for at in range(start[k], stop[after - 1] if not is_like else start[k]):
            c = PyUnicode_READ(kind, data, at)
            if c >= 128:
                is_like = True
                break
            if 48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122:
                first[count] = lower(<unsigned char>c)
                count += 1
                if count == 2:
                    break
        for o in range(pairs if not is_like and count else 0):
            is_like |= pair[2 * o] == first[0] and pair[2 * o + 1] == first[1]
        if is_like:
            found.append((k, start[k], stop[after - 1]))
    return found
