# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Loops of the methods `page` and `combined`. tests/oracles/plain_judging.py is the slow version."""

from libc.math cimport exp, log, rint
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

import numpy as np

from webwinnow.page._memory cimport Scratch, bytes_of, check_columns, check_parent, check_runs, lower_bound
from webwinnow.page._unicode cimport (
    Py_UNICODE_ISSPACE, PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_GET_LENGTH, PyUnicode_IS_ASCII,
    PyUnicode_KIND, PyUnicode_READ, PyUnicode_Substring, PyUnicode_Tailmatch, lower,
)


cdef inline const uint8_t[::1] mask_of(mask, Py_ssize_t size):
    """A boolean array of this size as bytes; None for None."""
    if mask is None:
        return None
    check_columns(len(mask) == size)
    return bytes_of(mask)


def spread(const int64_t[::1] first_run, const int32_t[::1] said, const int32_t[::1] run_owner, visible,
           const double[::1] probability, keep, posts, const uint8_t[::1] whole, headed, stays, goes, below, teasers,
           further, repeated, tuple reasons):
    """The verdict on blocks with text (`said`) as one on runs and nodes: kept runs, runs of posts, the reason of each
    run, and the score of each node.

    `whole` is the reason of blocks that were decided by their whole, 0 for others. `headed`, `stays`, `goes`, `below`,
    `teasers`, `further` and `repeated` are masks of blocks, or None. `reasons` are the codes of hidden, removed, kept,
    headings, posts that are kept, posts that are removed, teasers, further articles, and repeated text.
    """
    cdef Py_ssize_t n = said.shape[0], blocks = first_run.shape[0] - 1, runs = run_owner.shape[0], size = len(visible)
    cdef const uint8_t[::1] seen = bytes_of(visible), kept = mask_of(keep, n), of_post = mask_of(posts, n)
    cdef const uint8_t[::1] heads = mask_of(headed, n), stay = mask_of(stays, n), go = mask_of(goes, n)
    cdef const uint8_t[::1] under = mask_of(below, n), teaser = mask_of(teasers, n), other = mask_of(further, n)
    cdef const uint8_t[::1] often = mask_of(repeated, n)
    cdef Py_ssize_t b, k = 0, r
    cdef uint8_t hidden, gone, content, heading, kept_posts, gone_posts, of_teaser, of_other, of_site
    cdef uint8_t shown_reason, hidden_reason
    cdef int32_t node
    cdef bint has_text, keeps
    cdef float score
    hidden, gone, content, heading, kept_posts, gone_posts, of_teaser, of_other, of_site = reasons
    check_columns(probability.shape[0] == n and (whole is None or whole.shape[0] == n))
    for b in range(blocks):
        if not 0 <= first_run[b] <= first_run[b + 1] <= runs:
            raise ValueError(f"block {b} is outside the runs")
    keep_runs, post_runs = np.zeros(runs, np.uint8), np.zeros(runs, np.uint8)
    run_reasons, scores = np.zeros(runs, np.uint8), np.zeros(size, np.float32)
    cdef uint8_t[::1] run_kept = keep_runs, run_posts = post_runs, run_reason = run_reasons
    cdef float[::1] node_score = scores
    for b in range(blocks):
        has_text = k < n and said[k] == b
        keeps = has_text and kept[k]
        score = 0.0
        shown_reason = content if keeps else gone
        hidden_reason = content if keeps else hidden
        if has_text:
            score = <float>probability[k]
            if whole is not None and whole[k]:
                shown_reason = whole[k]
                if keeps:
                    hidden_reason = whole[k]
            if heads is not None and heads[k]:
                shown_reason = hidden_reason = heading
            if stay is not None and stay[k]:
                shown_reason = hidden_reason = kept_posts
            if go is not None and go[k]:
                if under is not None and under[k]:
                    shown_reason = hidden_reason = gone_posts
                else:
                    if shown_reason == gone:
                        shown_reason = gone_posts
                    if hidden_reason == gone:
                        hidden_reason = gone_posts
            if teaser is not None and teaser[k] and not keeps:
                shown_reason = hidden_reason = of_teaser
            if other is not None and other[k] and not keeps:
                shown_reason = hidden_reason = of_other
            if often is not None and often[k]:
                if shown_reason == gone:
                    shown_reason = of_site
                if hidden_reason == gone:
                    hidden_reason = of_site
        for r in range(first_run[b], first_run[b + 1]):
            node = run_owner[r]
            if not 0 <= node < size:
                raise ValueError(f"run {r} is outside the tree")
            run_reason[r] = shown_reason if seen[node] else hidden_reason
            if has_text:
                run_kept[r] = keeps
                run_posts[r] = of_post[k]
                if score > node_score[node]:
                    node_score[node] = score
        k += has_text
    if k < n:
        raise ValueError("blocks are not in order")
    return keep_runs.view(np.bool_), post_runs.view(np.bool_), run_reasons, scores


def node_reasons(keep, visible, beside, decoration, tuple reasons):
    """The reason of each node; nodes of the masks `beside` and `decoration`, if there are any, leave `keep` in place.

    `reasons` are the codes of hidden, removed and kept nodes, and of those of the two masks, the second of which wins.
    """
    cdef Py_ssize_t i, size = len(keep)
    cdef uint8_t[::1] kept = keep.view(np.uint8)
    cdef const uint8_t[::1] seen = mask_of(visible, size), alone = mask_of(beside, size)
    cdef const uint8_t[::1] adorns = mask_of(decoration, size)
    cdef uint8_t hidden, gone, content, of_alone, of_decoration
    hidden, gone, content, of_alone, of_decoration = reasons
    found = np.empty(size, np.uint8)
    cdef uint8_t[::1] reason = found
    for i in range(size):
        reason[i] = content if kept[i] else gone if seen[i] else hidden
        if alone is not None and alone[i]:
            reason[i] = of_alone
            kept[i] = 0
        if adorns is not None and adorns[i]:
            reason[i] = of_decoration
            kept[i] = 0
    return found


def link_shares(const int32_t[::1] parent, const uint16_t[::1] tag, int link, const int32_t[::1] run_start,
                const int32_t[::1] run_owner, written, const int64_t[::1] first_run, const int32_t[::1] said):
    """The share of the characters of each block of `said` that are inside elements with the tag `link`.

    Runs that are not `written` are only white space, and do not count.
    """
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] says = bytes_of(written)
    cdef Py_ssize_t i, k, r, size = parent.shape[0], runs = run_owner.shape[0], n = said.shape[0]
    cdef int64_t total, inside
    check_columns(tag.shape[0] == size and run_start.shape[0] == runs + 1 and says.shape[0] == runs)
    cdef uint8_t* linked = <uint8_t*>scratch.room(size, 1)
    for i in range(size):
        linked[i] = tag[i] == link or (0 <= parent[i] < i and linked[parent[i]])
    cdef double[::1] share = np.empty(n)
    for k in range(n):
        if not (0 <= said[k] < first_run.shape[0] - 1 and 0 <= first_run[said[k]] <= first_run[said[k] + 1] <= runs):
            raise ValueError(f"block {k} is outside the runs")
        total = inside = 0
        for r in range(first_run[said[k]], first_run[said[k] + 1]):
            if not says[r]:
                continue
            if not 0 <= run_owner[r] < size:
                raise ValueError(f"run {r} is outside the tree")
            total += run_start[r + 1] - run_start[r]
            if linked[run_owner[r]]:
                inside += run_start[r + 1] - run_start[r]
        share[k] = <double>inside / (total if total > 1 else 1)
    return share.base


cdef enum:
    MOST_DAYS = 16
    LONGEST_WORD = 512


cdef inline bint is_digit(Py_UCS4 c) noexcept nogil:
    return 48 <= c <= 57


cdef inline bint begins_date(int kind, void* data, Py_ssize_t first, Py_ssize_t stop, Py_ssize_t at) noexcept:
    """Whether the digit at this place of a line may be that of a date, a time or an age: all that is not is excluded."""
    cdef Py_UCS4 before, after, next
    cdef Py_ssize_t k
    if at + 1 < stop:
        after = PyUnicode_READ(kind, data, at + 1)
    else:
        after = 32
    if at > first and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, at - 1)):
        if at + 4 <= stop and PyUnicode_READ(kind, data, at) == (u"1" if after == u"9" else u"2"):  # a year
            if (after in (u"9", u"0") and is_digit(PyUnicode_READ(kind, data, at + 2))
                    and is_digit(PyUnicode_READ(kind, data, at + 3))):
                return True
        if at > first + 2:  # vor, hace, il y a
            before = PyUnicode_READ(kind, data, at - 3)
            next = PyUnicode_READ(kind, data, at - 2)
            if next == u"r" and before == u"o" or next == u"e" and before == u"c" or next == u"a" and before == 32:
                return True
    if at + 1 >= stop:
        return False
    next = PyUnicode_READ(kind, data, at + 2) if at + 2 < stop else 32
    if after == u":":
        return is_digit(next)
    if after in (u".", u"/", u"-"):  # one or two digits, and the same sign again
        k = at + 3 if is_digit(next) else stop
        k += k < stop and is_digit(PyUnicode_READ(kind, data, k))
        return k + 1 < stop and PyUnicode_READ(kind, data, k) == after and is_digit(PyUnicode_READ(kind, data, k + 1))
    if Py_UNICODE_ISSPACE(after):
        after, at = next, at + 1
        next = PyUnicode_READ(kind, data, at + 2) if at + 2 < stop else 32
    return after in (u"s", u"m", u"h", u"d", u"w", u"y") and not (is_digit(next) or 97 <= (<uint32_t>next | 32) <= 122)


def may_be_stamps(str text, const int32_t[::1] start, const int32_t[::1] stop, wanted, tuple days):
    """Which of the `wanted` lines of text may contain a date, a time or an age, and which contain one of `days`, words
    of two characters or more.

    The first are all that `tails` finds a date in, and a few more: patterns take longer than this.
    """
    cdef const uint8_t[::1] want = bytes_of(wanted)
    cdef Py_ssize_t k, at, n = start.shape[0]
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef Py_UCS4 c
    cdef bint has_digit, has_ago, is_far
    cdef Py_UCS4 opening[MOST_DAYS][2]
    cdef uint64_t firsts = 0  # a bit for the first character of each day
    cdef Py_ssize_t d, count = len(days), length = PyUnicode_GET_LENGTH(text)
    if count > MOST_DAYS:
        raise ValueError(f"{count} days; at most {MOST_DAYS} are compared")
    for d in range(count):
        opening[d][0], opening[d][1] = days[d][0], days[d][1]
        firsts |= <uint64_t>1 << (<uint32_t>opening[d][0] & 63)
    check_columns(stop.shape[0] == want.shape[0] == n)
    dated, named = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    cdef uint8_t[::1] found = dated, of_day = named
    for k in range(n):
        if not want[k]:
            continue
        if not 0 <= start[k] <= stop[k] <= length:
            raise ValueError(f"span {k} is outside the text")
        has_digit = has_ago = is_far = False
        for at in range(start[k], stop[k]):
            c = PyUnicode_READ(kind, data, at)
            if is_digit(c):
                has_digit = True
                found[k] |= begins_date(kind, data, start[k], stop[k], at)
            elif c == u"a":
                has_ago |= at + 2 < stop[k] and PyUnicode_READ(kind, data, at + 1) == u"g"
            elif c >= 0x2E80:
                is_far = True
            for d in range(count if firsts >> (<uint32_t>c & 63) & 1 else 0):
                if c == opening[d][0] and at + 1 < length and PyUnicode_READ(kind, data, at + 1) == opening[d][1]:
                    of_day[k] |= PyUnicode_Tailmatch(text, days[d], at, length, -1)
        found[k] |= has_digit and (has_ago or is_far)
    return dated.view(np.bool_), named.view(np.bool_)


def whole_reasons(keep, alone, pooled_in, label, const uint8_t[::1] level, const int32_t[::1] owner,
                  const int32_t[::1] table_of, const int32_t[::1] record_of, const int32_t[::1] list_of, tuple reasons):
    """The reasons of blocks that are kept or removed other than they would be `alone`; 0 for other blocks.

    `owner` are the blocks' elements, `table_of`, `record_of` and `list_of` describe nodes (-1 for none). `reasons` are
    the codes of kept headings, labels, records, lists, tables and others, then those of removed records, lists, tables,
    labels and headings.
    """
    cdef const uint8_t[::1] kept = bytes_of(keep), own = bytes_of(alone), pool = bytes_of(pooled_in)
    cdef const uint8_t[::1] names = bytes_of(label)
    cdef Py_ssize_t k, n = owner.shape[0], size = table_of.shape[0]
    cdef int32_t node
    cdef uint8_t heading, labelled, of_record, of_list, of_table, other
    cdef uint8_t with_records, with_list, with_table, labels_nothing, heads_nothing
    heading, labelled, of_record, of_list, of_table, other = reasons[:6]
    with_records, with_list, with_table, labels_nothing, heads_nothing = reasons[6:]
    check_columns(kept.shape[0] == own.shape[0] == pool.shape[0] == names.shape[0] == level.shape[0] == n)
    check_columns(record_of.shape[0] == list_of.shape[0] == size)
    found = np.zeros(n, np.uint8)
    cdef uint8_t[::1] reason = found
    for k in range(n):
        if kept[k] == own[k]:
            continue
        node = owner[k]
        if not 0 <= node < size:
            raise ValueError(f"block {k} is outside the tree")
        if kept[k]:
            if table_of[node] >= 0:
                reason[k] = of_table
            elif pool[k]:
                reason[k] = of_record if record_of[node] >= 0 else of_list
            else:
                reason[k] = heading if level[k] else labelled if names[k] else other
        elif pool[k] and level[k]:
            reason[k] = heads_nothing
        elif pool[k] and names[k]:
            reason[k] = labels_nothing
        elif table_of[node] >= 0:
            reason[k] = with_table
        elif record_of[node] >= 0:
            reason[k] = with_records
        elif list_of[node] >= 0:
            reason[k] = with_list
    return found


def framed(const int32_t[::1] parent, const uint16_t[::1] tag, const int32_t[::1] text_start,
           const int32_t[::1] text_end, const int32_t[::1] attr_node, const uint8_t[::1] attr_name,
           const int32_t[::1] attr_start, str attr_text, tuple names, const int32_t[::1] nodes, int most):
    """The attributes of each of `nodes`, and the tags and attributes of up to `most` elements around it without text.

    `names` are the names of attributes by their codes. The root and the body are no such elements.
    """
    cdef Py_ssize_t j, size = parent.shape[0], attributes = attr_node.shape[0]
    cdef int32_t up
    cdef int left
    cdef list found = [], around
    check_columns(tag.shape[0] == text_start.shape[0] == text_end.shape[0] == size)
    check_columns(attr_name.shape[0] == attributes)
    check_runs(attr_start, attributes, PyUnicode_GET_LENGTH(attr_text))
    for j in range(nodes.shape[0]):
        if not 0 < nodes[j] < size:
            raise ValueError(f"node {nodes[j]} is outside the page")
        own = attributes_of(nodes[j], attr_node, attr_name, attr_start, attr_text, names)
        around = []
        check_parent(parent, nodes[j])
        up = parent[nodes[j]]
        left = most
        while left and up > 1 and text_start[up] == text_end[up]:
            around.append((tag[up], attributes_of(up, attr_node, attr_name, attr_start, attr_text, names)))
            check_parent(parent, up)
            up = parent[up]
            left -= 1
        found.append((own, around))
    return found


def ascii_words(str name, Py_ssize_t most):
    """The words of the first characters of a name in ASCII, in lower case: letters, cut before a capital after a small
    letter.
    """
    cdef char word[LONGEST_WORD]
    cdef Py_ssize_t k, size = min(PyUnicode_GET_LENGTH(name), most)
    cdef int length = 0
    cdef unsigned char c
    cdef bint was_small = False, is_capital
    cdef const unsigned char* data = <const unsigned char*>PyUnicode_DATA(name)
    cdef list found = []
    if not PyUnicode_IS_ASCII(name) or size > LONGEST_WORD:
        raise ValueError(f"a name of at most {LONGEST_WORD} ASCII characters is expected")
    for k in range(size):
        c = data[k]
        is_capital = 65 <= c <= 90
        if length and (is_capital and was_small or not (is_capital or 97 <= c <= 122)):
            found.append(PyUnicode_FromKindAndData(1, word, length))
            length = 0
        was_small = 97 <= c <= 122
        if is_capital or was_small:
            word[length] = lower(c)
            length += 1
    if length:
        found.append(PyUnicode_FromKindAndData(1, word, length))
    return found


cdef dict attributes_of(int32_t node, const int32_t[::1] attr_node, const uint8_t[::1] attr_name,
                        const int32_t[::1] attr_start, str attr_text, tuple names):
    cdef dict found = {}
    cdef Py_ssize_t k, attributes = attr_node.shape[0]
    if not attributes:
        return found
    k = lower_bound(&attr_node[0], 0, attributes, node)
    while k < attributes and attr_node[k] == node:
        if attr_name[k] >= len(names):
            raise ValueError(f"there is no attribute {attr_name[k]}")
        found[names[attr_name[k]]] = PyUnicode_Substring(attr_text, attr_start[k], attr_start[k + 1])
        k += 1
    return found


# Records

cdef inline double log_odds(double p) noexcept nogil:
    p = 1e-6 if p < 1e-6 else 1.0 - 1e-6 if p > 1.0 - 1e-6 else p
    return log(p / (1.0 - p))


cdef inline double sigmoid(double logit) noexcept nogil:
    logit = -30.0 if logit < -30.0 else 30.0 if logit > 30.0 else logit
    return rint(1.0 / (1.0 + exp(-logit)) * 1e6) / 1e6


cdef struct Part:
    # a record, a field or a group: sums over its blocks, and over those that count
    double words
    double likes
    double counted
    double counted_likes
    double odds


cdef inline void add(Part* part, double words, double counts, double probability) noexcept nogil:
    part.words += words
    part.likes += words * probability
    part.counted += counts
    part.counted_likes += counts * probability


cdef inline double odds_of(const Part* part) noexcept nogil:
    """The log odds of the mean of what counts, or of all where nothing counts."""
    if part.counted > 0.0:
        return log_odds(part.counted_likes / (part.counted if part.counted > 1.0 else 1.0))
    return log_odds(part.likes / (part.words if part.words > 1.0 else 1.0))


def pool_records(const int32_t[::1] record_of, const int32_t[::1] field_of, const int32_t[:, ::1] records,
                 const int32_t[:, ::1] groups, const double[::1] probability, const int32_t[::1] words,
                 const uint64_t[::1] text, const double[::1] share, double lower, double field_lower, double sure,
                 double said):
    """Give all fields of repeated records the probability of their group; see `wholes.in_records`.

    `record_of` and `field_of` are those of each block, -1 for blocks to leave. `share` is None without a site.
    """
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t n = record_of.shape[0], count = records.shape[1], grouped = groups.shape[1], b, g, r, f, fields = 0
    cdef double weight, own, whole
    check_columns(field_of.shape[0] == probability.shape[0] == words.shape[0] == text.shape[0] == n)
    check_columns(records.shape[0] == 3 and groups.shape[0] == 3 and (share is None or share.shape[0] == n))
    cdef int32_t* first_field = <int32_t*>scratch.room(grouped, sizeof(int32_t))
    for g in range(grouped):
        first_field[g] = <int32_t>fields
        if not 0 <= groups[2, g] <= n:
            raise ValueError(f"group {g} has {groups[2, g]} fields")
        fields += groups[2, g]
    cdef Part* of_record = <Part*>scratch.room(count, sizeof(Part))
    cdef Part* of_group = <Part*>scratch.room(grouped, sizeof(Part))
    cdef Part* of_field = <Part*>scratch.room(fields, sizeof(Part))
    cdef Part* of_rest = <Part*>scratch.room(grouped, sizeof(Part))
    cdef int32_t* first_block = <int32_t*>scratch.room(fields, sizeof(int32_t))  # from 1
    cdef int32_t* times = <int32_t*>scratch.room(fields, sizeof(int32_t))  # -1: texts differ
    cdef double* counts = <double*>scratch.room(n, sizeof(double))
    result = np.array(probability)
    cdef double[::1] found = result
    for b in range(n):
        r = record_of[b]
        if r < 0:
            continue
        if r >= count or not 0 <= records[1, r] < grouped or not 0 <= field_of[b] < groups[2, records[1, r]]:
            raise ValueError(f"block {b} does not fit")
        weight = words[b] if words[b] > 1 else 1.0
        of_record[r].words += weight
        if share is not None and share[b] < said:
            of_record[r].counted += weight
    for b in range(n):  # what the site repeats counts only in records that it repeats as a whole
        r = record_of[b]
        if r < 0:
            continue
        weight = words[b] if words[b] > 1 else 1.0
        counts[b] = weight
        if share is not None and 2 * of_record[r].counted >= of_record[r].words and not share[b] < said:
            counts[b] = 0.0
    for r in range(count):
        of_record[r].words = of_record[r].counted = 0.0
    for b in range(n):
        r = record_of[b]
        if r < 0:
            continue
        g = records[1, r]
        f = first_field[g] + field_of[b]
        weight = words[b] if words[b] > 1 else 1.0
        add(&of_record[r], weight, counts[b], probability[b])
        add(&of_group[g], weight, counts[b], probability[b])
        add(&of_field[f], weight, counts[b], probability[b])
        if not times[f]:
            first_block[f] = <int32_t>b
            times[f] = 1
        elif times[f] > 0:
            times[f] = times[f] + 1 if text[first_block[f]] == text[b] else -1
    for r in range(count):
        of_record[r].odds = odds_of(&of_record[r])
    for g in range(grouped):
        of_group[g].odds = odds_of(&of_group[g])
    for f in range(fields):
        of_field[f].odds = odds_of(&of_field[f])
    for b in range(n):
        r = record_of[b]
        if r < 0:
            continue
        g = records[1, r]
        f = first_field[g] + field_of[b]
        weight = counts[b]
        if (of_record[r].odds < of_group[g].odds - lower or of_field[f].odds < of_group[g].odds - field_lower
                or times[f] > 1):
            weight = 0.0
        add(&of_rest[g], words[b] if words[b] > 1 else 1.0, weight, probability[b])
    for g in range(grouped):
        of_rest[g].odds = odds_of(&of_rest[g])
    for b in range(n):
        r = record_of[b]
        if r < 0:
            continue
        g = records[1, r]
        f = first_field[g] + field_of[b]
        if times[f] > 1:  # a text that is the same in all records
            continue
        whole = of_rest[g].odds
        if of_record[r].odds < of_group[g].odds - lower and of_record[r].odds < whole:
            whole = of_record[r].odds
        if of_field[f].odds < of_group[g].odds - field_lower and of_field[f].odds < whole:
            whole = of_field[f].odds
        own, whole = probability[b], sigmoid(whole)
        found[b] = own if own >= sure and own > whole else whole
    return result
