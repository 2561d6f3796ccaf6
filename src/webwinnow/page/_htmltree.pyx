# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Tree construction of the HTML standard (WHATWG, 13.2.6), in one pass without the GIL.

There is a function for each insertion mode, named as in the standard; none recurses. The tree has no comments,
and a template's contents are its children. One rule is not the standard's: `<iframe/>` may be an empty element
(`is_closed_as_in_xml`). tests/test_html5lib.py runs the standard's tests.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memchr, memcmp, memcpy, memmove

from webwinnow.page._htmlnames cimport *
from webwinnow.page._htmltokens cimport *
from webwinnow.page._unicode cimport lower

from webwinnow.page._htmlnames import NAMES
from webwinnow.errors import PageRefused
from webwinnow.page.markup import is_shadow_root

cdef enum:
    # insertion modes
    INITIAL, BEFORE_HTML, BEFORE_HEAD, IN_HEAD, IN_HEAD_NOSCRIPT, AFTER_HEAD, IN_BODY, IN_TABLE, IN_CAPTION, \
        IN_COLUMN_GROUP, IN_TABLE_BODY, IN_ROW, IN_CELL, IN_TEMPLATE, AFTER_BODY, IN_FRAMESET, AFTER_FRAMESET, \
        AFTER_AFTER_BODY, AFTER_AFTER_FRAMESET

cdef enum:
    # reasons to stop
    TOO_MANY = 1
    TOO_TANGLED
    NO_MEMORY

cdef enum:
    # integration points
    MATHML_TEXT = 1
    HTML_INSIDE = 2
    XML_ANNOTATION = 4

cdef enum:
    # kinds of scope
    GENERAL, LIST_ITEM, IN_BUTTON, IN_TABLES

cdef enum:
    MARKER = -1  # in the list of active formatting elements
    GROWTH = 2  # elements of the head and templates, which a PageTree has not, count too: so many times its limit
    MOST_COUNTED = 1 << 30  # limits beyond are this one
    MOST_IN_ANY_ORDER = 8  # attributes that are compared in any order
    MOST_MERGED = 500  # attributes of an HTML or BODY element to which more tags may add some
    EFFORT = 100_000_000
    EFFORT_OF_BYTE = 20


# Limits and memory

cdef inline void spend(Builder* b, int64_t steps) noexcept nogil:
    """Count steps over open or formatting elements; hostile pages have many at every tag, and are refused."""
    b.effort += steps
    if b.effort > b.most_effort and not b.failed:
        b.failed = TOO_TANGLED


cdef inline void append(Builder* b, Numbers* numbers, int32_t value) noexcept nogil:
    cdef int32_t* grown
    if numbers.count == numbers.room:
        grown = <int32_t*>realloc(numbers.at, (<size_t>numbers.room * 2 + 64) * sizeof(int32_t))
        if grown == NULL:
            b.failed = NO_MEMORY
            return
        numbers.at = grown
        numbers.room = numbers.room * 2 + 64
    numbers.at[numbers.count] = value
    numbers.count += 1


cdef void insert_number(Builder* b, Numbers* numbers, int32_t k, int32_t value) noexcept nogil:
    """Make a number the one at k; those from there on move up."""
    append(b, numbers, value)
    if not b.failed:
        memmove(numbers.at + k + 1, numbers.at + k, (numbers.count - 1 - k) * sizeof(int32_t))
        numbers.at[k] = value
        spend(b, (numbers.count - k) >> 3)


cdef void remove_number(Builder* b, Numbers* numbers, int32_t k) noexcept nogil:
    numbers.count -= 1
    memmove(numbers.at + k, numbers.at + k + 1, (numbers.count - k) * sizeof(int32_t))
    spend(b, (numbers.count - k) >> 3)


cdef int32_t place_in(Builder* b, const Numbers* numbers, int32_t i) noexcept nogil:
    """The last place of a number; -1 if it is not there."""
    cdef int32_t k = numbers.count - 1
    while k >= 0 and numbers.at[k] != i:
        k -= 1
    spend(b, numbers.count - k)
    return k


cdef int32_t new_node(Builder* b) noexcept nogil:
    """The number of one more node; 0, the document, if there is no room."""
    cdef Dom* grown
    cdef Dom* node
    if b.count == b.room:
        grown = <Dom*>realloc(b.nodes, (<size_t>b.room * 2 + 512) * sizeof(Dom))
        if grown == NULL:
            b.failed = NO_MEMORY
            return 0
        b.nodes = grown
        b.room = b.room * 2 + 512
    node = b.nodes + b.count
    node.parent = node.first = node.last = node.previous = node.next = -1
    node.attributes = node.attribute_count = 0
    node.tag = node.is_point = 0
    node.is_open = False
    b.count += 1
    return b.count - 1


cdef int32_t new_element(Builder* b, const char* name, int32_t size, int tag, int kind) noexcept nogil:
    """The number of an element without attributes and parent; 0 if there is no room."""
    cdef int32_t i = new_node(b)
    if i:
        b.nodes[i].data, b.nodes[i].size = name, size
        b.nodes[i].tag, b.nodes[i].kind = tag, kind
        b.elements += 1
        if b.elements > b.most_elements and not b.failed:
            b.failed = TOO_MANY
    return i


cdef void detach(Builder* b, int32_t i) noexcept nogil:
    cdef Dom* node = b.nodes + i
    if node.parent < 0:
        return
    if node.previous >= 0:
        b.nodes[node.previous].next = node.next
    else:
        b.nodes[node.parent].first = node.next
    if node.next >= 0:
        b.nodes[node.next].previous = node.previous
    else:
        b.nodes[node.parent].last = node.previous
    node.parent = node.previous = node.next = -1


cdef inline void attach(Builder* b, int32_t i, int32_t parent, int32_t before) noexcept nogil:
    """Make a node a child: the last one, or the one before `before`."""
    cdef Dom* node = b.nodes + i
    cdef int32_t previous = b.nodes[before].previous if before >= 0 else b.nodes[parent].last
    node.parent, node.previous, node.next = parent, previous, before
    if previous >= 0:
        b.nodes[previous].next = i
    else:
        b.nodes[parent].first = i
    if before >= 0:
        b.nodes[before].previous = i
    else:
        b.nodes[parent].last = i


# The stack of open elements (13.2.4.2)

cdef inline int32_t current(Builder* b) noexcept nogil:
    return b.open.at[b.open.count - 1]


cdef inline bint is_html(Builder* b, int32_t i, int tag) noexcept nogil:
    return b.nodes[i].tag == tag and b.nodes[i].kind == HTML


cdef inline int groups(Builder* b, int32_t i) noexcept nogil:
    """The groups that an element belongs to; some of SVG and MathML are special, and end a scope."""
    if b.nodes[i].kind == HTML:
        return GROUPS[b.nodes[i].tag]
    return SPECIAL | SCOPE if b.nodes[i].is_point else 0


cdef inline bint starts(Builder* b, int tag) noexcept nogil:
    return b.tokens.tag == tag and b.tokens.kind == START_TAG


cdef inline bint ends(Builder* b, int tag) noexcept nogil:
    return b.tokens.tag == tag and b.tokens.kind == END_TAG


cdef inline void push_open(Builder* b, int32_t i) noexcept nogil:
    append(b, &b.open, i)
    b.nodes[i].is_open = True
    if b.nodes[i].kind == HTML:
        b.opened[b.nodes[i].tag] += 1


cdef inline void forget_open(Builder* b, int32_t i) noexcept nogil:
    b.nodes[i].is_open = False
    if b.nodes[i].kind == HTML:
        b.opened[b.nodes[i].tag] -= 1


cdef inline void pop(Builder* b) noexcept nogil:
    if b.open.count:
        b.open.count -= 1
        forget_open(b, b.open.at[b.open.count])


cdef void remove_open(Builder* b, int32_t i) noexcept nogil:
    cdef int32_t k = place_in(b, &b.open, i)
    if k >= 0:
        remove_number(b, &b.open, k)
        forget_open(b, i)


cdef inline bint ends_scope(Builder* b, int32_t i, int scope) noexcept nogil:
    cdef int tag = b.nodes[i].tag
    if scope == IN_TABLES:
        return b.nodes[i].kind == HTML and (tag == TABLE or tag == HTML_ or tag == TEMPLATE)
    if groups(b, i) & SCOPE:
        return True
    if b.nodes[i].kind != HTML:
        return False
    return (scope == LIST_ITEM and (tag == OL or tag == UL)) or (scope == IN_BUTTON and tag == BUTTON)


cdef bint in_scope(Builder* b, int tag, int scope) noexcept nogil:
    cdef int32_t k = b.open.count - 1
    cdef bint found = False
    if not b.opened[tag]:
        return False
    while k >= 0:
        found = is_html(b, b.open.at[k], tag)
        if found or ends_scope(b, b.open.at[k], scope):
            break
        k -= 1
    spend(b, b.open.count - k)
    return found


cdef bint group_in_scope(Builder* b, int group, int scope) noexcept nogil:
    """Whether an HTML element of a group is in scope."""
    cdef int32_t k = b.open.count - 1
    cdef bint found = False
    while k >= 0:
        found = b.nodes[b.open.at[k]].kind == HTML and groups(b, b.open.at[k]) & group
        if found or ends_scope(b, b.open.at[k], scope):
            break
        k -= 1
    spend(b, b.open.count - k)
    return found


cdef bint node_in_scope(Builder* b, int32_t node) noexcept nogil:
    cdef int32_t k = b.open.count - 1
    while k >= 0 and b.open.at[k] != node and not ends_scope(b, b.open.at[k], GENERAL):
        k -= 1
    spend(b, b.open.count - k)
    return k >= 0 and b.open.at[k] == node


cdef void pop_until(Builder* b, int tag) noexcept nogil:
    """Pop elements, the last with this name included."""
    cdef bint found = False
    while b.open.count and not found:
        found = is_html(b, current(b), tag)
        pop(b)


cdef void pop_until_group(Builder* b, int group) noexcept nogil:
    """Pop elements, the last HTML element of this group included."""
    cdef bint found = False
    while b.open.count and not found:
        found = b.nodes[current(b)].kind == HTML and groups(b, current(b)) & group
        pop(b)


cdef inline void generate_implied_end_tags(Builder* b, int but) noexcept nogil:
    while b.open.count and b.nodes[current(b)].tag != but and groups(b, current(b)) & IMPLIED_END:
        pop(b)


cdef void close_p(Builder* b) noexcept nogil:
    generate_implied_end_tags(b, P)
    pop_until(b, P)


cdef inline void close_p_in_scope(Builder* b) noexcept nogil:
    if b.opened[P] and in_scope(b, P, IN_BUTTON):
        close_p(b)


# Inserting nodes (13.2.6.1)

cdef void find_place(Builder* b, int32_t target, int32_t* parent, int32_t* before) noexcept nogil:
    """The appropriate place for inserting a node: under `target`, or foster-parented."""
    cdef int32_t k, i
    parent[0], before[0] = target, -1
    if not b.foster or not (b.nodes[target].kind == HTML and GROUPS[b.nodes[target].tag] & FOSTERS):
        return
    k = b.open.count - 1
    while k > 0 and not is_html(b, b.open.at[k], TEMPLATE) and not is_html(b, b.open.at[k], TABLE):
        k -= 1
    spend(b, b.open.count - k)
    i = parent[0] = b.open.at[k]
    if k and b.nodes[i].tag == TABLE:
        if b.nodes[i].parent >= 0:
            parent[0], before[0] = b.nodes[i].parent, i
        else:
            parent[0] = b.open.at[k - 1]


cdef inline void put(Builder* b, int32_t i, int32_t target) noexcept nogil:
    cdef int32_t parent, before
    find_place(b, target, &parent, &before)
    attach(b, i, parent, before)


cdef void insert_text(Builder* b, const char* text, Py_ssize_t size) noexcept nogil:
    cdef int32_t i
    if not size:
        return
    i = new_node(b)
    if i:
        b.nodes[i].kind = TEXT_NODE
        b.nodes[i].data, b.nodes[i].size = text, <int32_t>size
        put(b, i, current(b))


cdef int32_t insert_named(Builder* b, const char* name, int32_t size, int tag) noexcept nogil:
    """Insert an HTML element without attributes and open it."""
    cdef int32_t i = new_element(b, name, size, tag, HTML)
    if i:
        put(b, i, current(b) if b.open.count else 0)
        push_open(b, i)
    return i


cdef inline int32_t insert(Builder* b) noexcept nogil:
    """Insert an HTML element for the tag that was read."""
    cdef Tokeniser* t = &b.tokens
    cdef int32_t i = insert_named(b, t.name, t.name_size, t.tag)
    b.nodes[i].attributes = t.first_attribute
    b.nodes[i].attribute_count = t.attribute_count - t.first_attribute
    t.used = True
    return i


cdef inline void insert_void(Builder* b) noexcept nogil:
    insert(b)
    pop(b)


cdef bint token_has(Builder* b, const char* name, const char* value) noexcept nogil:
    """Whether the tag has this attribute, with this value in any case unless it is NULL."""
    cdef Attribute* attribute
    cdef int32_t k
    for k in range(b.tokens.first_attribute, b.tokens.attribute_count):
        attribute = b.tokens.attributes + k
        if is_word(attribute.name, attribute.name_size, name):
            return value == NULL or is_word(attribute.value, attribute.value_size, value)
    return False


cdef void insert_foreign(Builder* b, int kind) noexcept nogil:
    cdef int32_t i = insert(b)
    cdef int tag = b.tokens.tag
    if not i:
        return
    b.opened[tag] -= 1
    b.nodes[i].kind = kind
    if kind == MATHML:
        if tag == MI or tag == MO or tag == MN or tag == MS or tag == MTEXT:
            b.nodes[i].is_point = MATHML_TEXT
        elif tag == ANNOTATION_XML:
            b.nodes[i].is_point = XML_ANNOTATION
            if token_has(b, b"encoding", b"text/html") or token_has(b, b"encoding", b"application/xhtml+xml"):
                b.nodes[i].is_point |= HTML_INSIDE
    elif tag == FOREIGNOBJECT or tag == DESC or tag == TITLE:
        b.nodes[i].is_point = HTML_INSIDE
    if b.tokens.self_closing:
        pop(b)


cdef bint has_attribute(Tokeniser* t, int32_t first, int32_t count, const Attribute* attribute) noexcept nogil:
    """Whether one of `count` attributes has the name of this one."""
    cdef int32_t k
    for k in range(first, first + count):
        if same_name(t.attributes + k, attribute):
            return True
    return False


cdef void merge_attributes(Builder* b, int32_t i) noexcept nogil:
    """Give an element the attributes of the tag that it lacks, unless they would be more than `MOST_MERGED`.

    A page may have any number of BODY tags, so those that add nothing must not cost memory.
    """
    cdef Tokeniser* t = &b.tokens
    cdef int32_t first = b.nodes[i].attributes, count = b.nodes[i].attribute_count, start = t.attribute_count, k
    cdef int32_t lacking = 0
    if count > MOST_MERGED or start - t.first_attribute > MOST_MERGED:
        return
    for k in range(t.first_attribute, start):
        lacking += not has_attribute(t, first, count, &t.attributes[k])
    if not lacking or count + lacking > MOST_MERGED:
        return
    for k in range(first, first + count):
        push_attribute(t, t.attributes[k])
    for k in range(t.first_attribute, start):
        if not has_attribute(t, first, count, &t.attributes[k]):
            push_attribute(t, t.attributes[k])
    b.nodes[i].attributes = start
    b.nodes[i].attribute_count = t.attribute_count - start
    t.used = True


# The list of active formatting elements (13.2.4.3)

cdef void hash_attributes(Builder* b, int32_t i) noexcept nogil:
    """Note a hash of an element's attributes in any order at the first of them, which its copies share."""
    cdef Attribute* attributes = b.tokens.attributes + b.nodes[i].attributes
    cdef int32_t k
    cdef uint32_t total = 0, value
    for k in range(b.nodes[i].attribute_count):
        value = hash_of(attributes[k].name, attributes[k].name_size) * 31
        value += hash_of(attributes[k].value, attributes[k].value_size)
        total += value * value ^ value >> 15
    if b.nodes[i].attribute_count:
        attributes[0].info = total


cdef bint same_attributes(Builder* b, int32_t i, int32_t j) noexcept nogil:
    """Whether two formatting elements have the same attributes; of many, in the same order, in linear time."""
    cdef Attribute* left = b.tokens.attributes + b.nodes[i].attributes
    cdef Attribute* right = b.tokens.attributes + b.nodes[j].attributes
    cdef int32_t k, m, count = b.nodes[i].attribute_count
    if count != b.nodes[j].attribute_count or (count and left.info != right.info):
        return False
    for k in range(count):
        m = k
        if not same_name(left + k, right + m):
            if count > MOST_IN_ANY_ORDER:
                return False
            m = 0
            while m < count and not same_name(left + k, right + m):
                m += 1
            if m == count:
                return False
        if left[k].value_size != right[m].value_size or memcmp(left[k].value, right[m].value, left[k].value_size):
            return False
    return True


cdef void remove_formatting(Builder* b, int32_t i) noexcept nogil:
    cdef int32_t k = place_in(b, &b.formatting, i)
    if k >= 0:
        remove_number(b, &b.formatting, k)


cdef void push_formatting(Builder* b, int32_t i) noexcept nogil:
    """Add an element; of more than three equal ones after the last marker the first goes (Noah's Ark clause)."""
    cdef int32_t k = b.formatting.count - 1, found = 0, earliest = -1
    hash_attributes(b, i)
    while k >= 0 and b.formatting.at[k] != MARKER:
        if b.nodes[b.formatting.at[k]].tag == b.nodes[i].tag and same_attributes(b, b.formatting.at[k], i):
            found += 1
            earliest = k
        k -= 1
    spend(b, b.formatting.count - k)
    if found >= 3:
        remove_number(b, &b.formatting, earliest)
    append(b, &b.formatting, i)


cdef inline void push_marker(Builder* b) noexcept nogil:
    append(b, &b.formatting, MARKER)


cdef void clear_to_marker(Builder* b) noexcept nogil:
    while b.formatting.count:
        b.formatting.count -= 1
        if b.formatting.at[b.formatting.count] == MARKER:
            break


cdef int32_t clone(Builder* b, int32_t i) noexcept nogil:
    """A copy of an element without its children, and without a parent."""
    cdef int32_t made = new_element(b, b.nodes[i].data, b.nodes[i].size, b.nodes[i].tag, b.nodes[i].kind)
    if made:
        b.nodes[made].attributes = b.nodes[i].attributes
        b.nodes[made].attribute_count = b.nodes[i].attribute_count
    return made


cdef void reconstruct(Builder* b) noexcept nogil:
    """Reopen the active formatting elements that are not open."""
    cdef int32_t k = b.formatting.count - 1, made
    if k < 0 or b.formatting.at[k] == MARKER or b.nodes[b.formatting.at[k]].is_open:
        return
    while k > 0 and b.formatting.at[k - 1] != MARKER and not b.nodes[b.formatting.at[k - 1]].is_open:
        k -= 1
    while k < b.formatting.count and not b.failed:
        made = clone(b, b.formatting.at[k])
        if not made:
            return
        put(b, made, current(b))
        push_open(b, made)
        b.formatting.at[k] = made
        k += 1


cdef int32_t last_formatting(Builder* b, int tag) noexcept nogil:
    """The last active formatting element with this name after the last marker; -1 if there is none."""
    cdef int32_t k = b.formatting.count - 1
    while k >= 0 and b.formatting.at[k] != MARKER and b.nodes[b.formatting.at[k]].tag != tag:
        k -= 1
    spend(b, b.formatting.count - k)
    return b.formatting.at[k] if k >= 0 else -1


cdef void run_adoption_agency(Builder* b, int tag) noexcept nogil:
    """The adoption agency algorithm (13.2.6.4.7) for an end tag of a formatting element."""
    cdef int32_t formatting, block, ancestor, node, last, made, k, at, above, mark, child
    cdef int outer, inner
    if is_html(b, current(b), tag) and place_in(b, &b.formatting, current(b)) < 0:
        pop(b)
        return
    for outer in range(8):
        if b.failed:
            return
        formatting = last_formatting(b, tag)
        if formatting < 0:
            any_other_end_tag(b)
            return
        if not b.nodes[formatting].is_open:
            remove_formatting(b, formatting)
            return
        if not node_in_scope(b, formatting):
            return
        at = b.open.count - 1
        block = -1  # the furthest block
        while b.open.at[at] != formatting:
            if groups(b, b.open.at[at]) & SPECIAL:
                block = at
            at -= 1
        spend(b, b.open.count - at)
        if block < 0:
            while b.open.count > at:
                pop(b)
            remove_formatting(b, formatting)
            return
        ancestor = b.open.at[at - 1]
        mark = place_in(b, &b.formatting, formatting)  # the bookmark
        k = block
        block = last = b.open.at[k]
        inner = 0
        while not b.failed:
            inner += 1
            k -= 1
            node = b.open.at[k]
            if node == formatting:
                break
            above = place_in(b, &b.formatting, node)
            if inner > 3 and above >= 0:
                remove_number(b, &b.formatting, above)
                mark -= above < mark
                above = -1
            if above < 0:
                remove_number(b, &b.open, k)
                forget_open(b, node)
                continue
            made = clone(b, node)
            if not made:
                return
            forget_open(b, node)
            b.formatting.at[above] = b.open.at[k] = made
            b.nodes[made].is_open = True
            b.opened[b.nodes[made].tag] += 1
            if last == block:
                mark = above + 1
            detach(b, last)
            attach(b, last, made, -1)
            last = made
        detach(b, last)
        put(b, last, ancestor)
        made = clone(b, formatting)
        if not made:
            return
        child = b.nodes[block].first
        while child >= 0:
            detach(b, child)
            attach(b, child, made, -1)
            child = b.nodes[block].first
            spend(b, 1)
        attach(b, made, block, -1)
        above = place_in(b, &b.formatting, formatting)
        remove_number(b, &b.formatting, above)
        insert_number(b, &b.formatting, mark - (above < mark), made)
        remove_open(b, formatting)
        insert_number(b, &b.open, place_in(b, &b.open, block) + 1, made)
        b.nodes[made].is_open = True
        b.opened[b.nodes[made].tag] += 1


# What several insertion modes share

cdef inline void switch(Builder* b, int mode) noexcept nogil:
    """Switch to a mode and process the token again by its rules."""
    b.mode = mode
    b.again = True


cdef bint are_spaces(Builder* b) noexcept nogil:
    """Whether the characters, NUL excepted, are white space."""
    cdef Py_ssize_t k
    for k in range(b.tokens.size):
        if not is_space(<uint8_t>b.tokens.text[k]):
            return False
    return True


cdef bint take_space(Builder* b, bint inserts) noexcept nogil:
    """Take the white space that characters begin with, and insert it or not; whether nothing is left."""
    cdef Tokeniser* t = &b.tokens
    cdef Py_ssize_t k = 0
    while k < t.size and is_space(<uint8_t>t.text[k]):
        k += 1
    if inserts:
        insert_text(b, t.text, k)
    t.text += k
    t.size -= k
    return not t.size and not b.had_null


cdef void insert_spaces(Builder* b) noexcept nogil:
    """Insert the white space among characters, and ignore the others."""
    cdef Tokeniser* t = &b.tokens
    cdef Py_ssize_t start = 0, k = 0
    while k <= t.size:
        if k == t.size or not is_space(<uint8_t>t.text[k]):
            insert_text(b, t.text + start, k - start)
            start = k + 1
        k += 1


cdef void insert_with_text(Builder* b, bint references) noexcept nogil:
    """Insert an element whose contents are text only: the insertion mode "text"."""
    cdef Tokeniser* t = &b.tokens
    cdef bint foster = b.foster
    insert(b)
    if b.empty:
        b.empty = False
    else:
        read_raw_text(t, references)
        if b.skip_newline and t.size and t.text[0] == 10:
            t.text += 1
            t.size -= 1
        b.foster = False
        insert_text(b, t.text, t.size)
        b.foster = foster
    b.skip_newline = False
    pop(b)


cdef inline bint means_head_body_html_br(Builder* b) noexcept nogil:
    cdef int tag = b.tokens.tag
    return tag == HEAD or tag == BODY or tag == HTML_ or tag == BR


cdef void reset_insertion_mode(Builder* b) noexcept nogil:
    """Reset the insertion mode appropriately (13.2.4.1)."""
    cdef int32_t k = b.open.count - 1
    cdef int tag, mode = -1
    while k >= 0 and mode < 0:
        tag = b.nodes[b.open.at[k]].tag if b.nodes[b.open.at[k]].kind == HTML else T_NONE
        if GROUPS[tag] & CELL:
            mode = IN_CELL
        elif tag == TR:
            mode = IN_ROW
        elif GROUPS[tag] & TABLE_BODY:
            mode = IN_TABLE_BODY
        elif tag == CAPTION:
            mode = IN_CAPTION
        elif tag == COLGROUP:
            mode = IN_COLUMN_GROUP
        elif tag == TABLE:
            mode = IN_TABLE
        elif tag == TEMPLATE:
            mode = b.template_modes.at[b.template_modes.count - 1]
        elif tag == HEAD:
            mode = IN_HEAD
        elif tag == BODY:
            mode = IN_BODY
        elif tag == FRAMESET:
            mode = IN_FRAMESET
        elif tag == HTML_:
            mode = BEFORE_HEAD if b.head < 0 else AFTER_HEAD
        k -= 1
    spend(b, b.open.count - k)
    b.mode = IN_BODY if mode < 0 else mode


cdef inline bint has_name_of_token(Builder* b, int32_t i) noexcept nogil:
    cdef Tokeniser* t = &b.tokens
    if t.tag or b.nodes[i].tag:
        return t.tag == b.nodes[i].tag
    return t.name_size == b.nodes[i].size and memcmp(t.name, b.nodes[i].data, t.name_size) == 0


# Insertion modes (13.2.6.4)

cdef void initial(Builder* b) noexcept nogil:
    if b.tokens.kind == CHARACTERS and take_space(b, False):
        return
    b.quirks = b.tokens.kind != DOCTYPE or means_quirks(&b.tokens)
    b.mode = BEFORE_HTML
    b.again = b.tokens.kind != DOCTYPE


cdef void before_html(Builder* b) noexcept nogil:
    if b.tokens.kind == CHARACTERS and take_space(b, False):
        return
    if starts(b, HTML_):
        insert(b)
        b.mode = BEFORE_HEAD
    elif b.tokens.kind != END_TAG or means_head_body_html_br(b):
        insert_named(b, b"html", 4, HTML_)
        switch(b, BEFORE_HEAD)


cdef void before_head(Builder* b) noexcept nogil:
    if b.tokens.kind == CHARACTERS and take_space(b, False):
        return
    if starts(b, HTML_):
        in_body(b)
    elif starts(b, HEAD):
        b.head = insert(b)
        b.mode = IN_HEAD
    elif b.tokens.kind != END_TAG or means_head_body_html_br(b):
        b.head = insert_named(b, b"head", 4, HEAD)
        switch(b, IN_HEAD)


cdef void in_head(Builder* b) noexcept nogil:
    cdef int tag = b.tokens.tag
    if b.tokens.kind == CHARACTERS and take_space(b, True):
        return
    if b.tokens.kind == START_TAG:
        if tag == HTML_:
            in_body(b)
            return
        if tag == TITLE:
            insert_with_text(b, True)
            return
        if tag == NOFRAMES or tag == STYLE or tag == SCRIPT:
            insert_with_text(b, False)
            return
        if tag == NOSCRIPT:
            insert(b)
            b.mode = IN_HEAD_NOSCRIPT
            return
        if tag == TEMPLATE:
            insert(b)
            push_marker(b)
            b.frameset_ok = False
            b.mode = IN_TEMPLATE
            append(b, &b.template_modes, IN_TEMPLATE)
            return
        if GROUPS[tag] & IN_HEADS:
            insert_void(b)
            return
        if tag == HEAD:
            return
    elif b.tokens.kind == END_TAG:
        if tag == TEMPLATE:
            if b.opened[TEMPLATE]:
                close_template(b)
            return
        if not means_head_body_html_br(b):
            return
    pop(b)
    b.mode = AFTER_HEAD
    b.again = not ends(b, HEAD)


cdef void close_template(Builder* b) noexcept nogil:
    while b.open.count and groups(b, current(b)) & IMPLIED_THOROUGHLY:
        pop(b)
    pop_until(b, TEMPLATE)
    clear_to_marker(b)
    b.template_modes.count -= b.template_modes.count > 0
    reset_insertion_mode(b)


cdef void in_head_noscript(Builder* b) noexcept nogil:
    cdef int tag = b.tokens.tag
    if b.tokens.kind == CHARACTERS and take_space(b, True):
        return
    if b.tokens.kind == START_TAG:
        if tag == HTML_:
            in_body(b)
            return
        if tag == BASEFONT or tag == BGSOUND or tag == LINK or tag == META or tag == NOFRAMES or tag == STYLE:
            in_head(b)
            return
        if tag == HEAD or tag == NOSCRIPT:
            return
    elif b.tokens.kind == END_TAG and tag != NOSCRIPT and tag != BR:
        return
    pop(b)
    b.mode = IN_HEAD
    b.again = not ends(b, NOSCRIPT)


cdef void after_head(Builder* b) noexcept nogil:
    cdef int tag = b.tokens.tag
    if b.tokens.kind == CHARACTERS and take_space(b, True):
        return
    if b.tokens.kind == START_TAG:
        if tag == HTML_:
            in_body(b)
            return
        if tag == BODY:
            insert(b)
            b.frameset_ok = False
            b.mode = IN_BODY
            return
        if tag == FRAMESET:
            insert(b)
            b.mode = IN_FRAMESET
            return
        if GROUPS[tag] & IN_HEADS:
            push_open(b, b.head)
            in_head(b)
            remove_open(b, b.head)
            return
        if tag == HEAD:
            return
    elif b.tokens.kind == END_TAG:
        if tag == TEMPLATE:
            in_head(b)
            return
        if tag != BODY and tag != HTML_ and tag != BR:
            return
    insert_named(b, b"body", 4, BODY)
    switch(b, IN_BODY)


cdef void in_body(Builder* b) noexcept nogil:
    if b.tokens.kind == START_TAG:
        start_tag_in_body(b)
    elif b.tokens.kind == END_TAG:
        end_tag_in_body(b)
    elif b.tokens.kind == CHARACTERS:
        if b.tokens.size:
            reconstruct(b)
            insert_text(b, b.tokens.text, b.tokens.size)
            b.frameset_ok = b.frameset_ok and are_spaces(b)
    elif b.template_modes.count:
        in_template(b)


cdef void start_tag_in_body(Builder* b) noexcept nogil:
    cdef Tokeniser* t = &b.tokens
    cdef int tag = t.tag, group = GROUPS[tag]
    cdef int32_t found
    if tag == T_NONE or tag == SPAN:
        reconstruct(b)
        insert(b)
    elif group & BLOCK:
        close_p_in_scope(b)
        insert(b)
    elif tag == A:
        found = last_formatting(b, A)
        if found >= 0:
            run_adoption_agency(b, A)
            remove_formatting(b, found)
            if b.nodes[found].is_open:
                remove_open(b, found)
        reconstruct(b)
        push_formatting(b, insert(b))
    elif tag == NOBR:
        reconstruct(b)
        if in_scope(b, NOBR, GENERAL):
            run_adoption_agency(b, NOBR)
            reconstruct(b)
        push_formatting(b, insert(b))
    elif group & FORMATTING:
        reconstruct(b)
        push_formatting(b, insert(b))
    elif group & VOID:
        reconstruct(b)
        insert_void(b)
        b.frameset_ok = False
    elif group & IN_HEADS:
        in_head(b)
    elif group & IGNORED:
        pass
    elif group & HEADING:
        close_p_in_scope(b)
        if groups(b, current(b)) & HEADING:
            pop(b)
        insert(b)
    elif tag == LI or tag == DD or tag == DT:
        start_item(b)
    elif tag == PRE or tag == LISTING:
        close_p_in_scope(b)
        insert(b)
        b.skip_newline = True
        b.frameset_ok = False
    elif tag == FORM:
        if b.form >= 0 and not b.opened[TEMPLATE]:
            return
        close_p_in_scope(b)
        found = insert(b)
        if not b.opened[TEMPLATE]:
            b.form = found
    elif tag == PLAINTEXT:
        close_p_in_scope(b)
        insert(b)
        b.plain_text = True
    elif tag == BUTTON:
        if in_scope(b, BUTTON, GENERAL):
            generate_implied_end_tags(b, T_NONE)
            pop_until(b, BUTTON)
        reconstruct(b)
        insert(b)
        b.frameset_ok = False
    elif tag == APPLET or tag == MARQUEE or tag == OBJECT:
        reconstruct(b)
        insert(b)
        push_marker(b)
        b.frameset_ok = False
    elif tag == TABLE:
        if not b.quirks:
            close_p_in_scope(b)
        insert(b)
        b.frameset_ok = False
        b.mode = IN_TABLE
    elif tag == INPUT:
        if in_scope(b, SELECT, GENERAL):
            pop_until(b, SELECT)
        reconstruct(b)
        insert_void(b)
        if not token_has(b, b"type", b"hidden"):
            b.frameset_ok = False
    elif tag == PARAM or tag == SOURCE or tag == TRACK:
        insert_void(b)
    elif tag == HR:
        close_p_in_scope(b)
        if in_scope(b, SELECT, GENERAL):
            generate_implied_end_tags(b, T_NONE)
        insert_void(b)
        b.frameset_ok = False
    elif tag == IMAGE:
        t.name, t.name_size, t.tag = b"img", 3, IMG
        start_tag_in_body(b)
    elif tag == TEXTAREA:
        b.skip_newline = True
        b.frameset_ok = False
        insert_with_text(b, True)
    elif tag == XMP:
        close_p_in_scope(b)
        reconstruct(b)
        b.frameset_ok = False
        insert_with_text(b, False)
    elif tag == IFRAME:
        b.frameset_ok = False
        insert_with_text(b, False)
    elif tag == NOEMBED:
        insert_with_text(b, False)
    elif tag == SELECT:
        if in_scope(b, SELECT, GENERAL):
            pop_until(b, SELECT)
            return
        reconstruct(b)
        insert(b)
        b.frameset_ok = False
    elif tag == OPTION or tag == OPTGROUP:
        if in_scope(b, SELECT, GENERAL):
            generate_implied_end_tags(b, OPTGROUP if tag == OPTION else T_NONE)
        elif is_html(b, current(b), OPTION):
            pop(b)
        reconstruct(b)
        insert(b)
    elif tag == RB or tag == RTC or tag == RP or tag == RT:
        if in_scope(b, RUBY, GENERAL):
            generate_implied_end_tags(b, RTC if tag == RP or tag == RT else T_NONE)
        insert(b)
    elif tag == MATH or tag == SVG_:
        reconstruct(b)
        insert_foreign(b, MATHML if tag == MATH else SVG)
    elif tag == HTML_:
        if not b.opened[TEMPLATE]:
            merge_attributes(b, b.open.at[0])
    elif tag == BODY:
        if b.open.count > 1 and is_html(b, b.open.at[1], BODY) and not b.opened[TEMPLATE]:
            b.frameset_ok = False
            merge_attributes(b, b.open.at[1])
    elif tag == FRAMESET:
        if b.open.count > 1 and is_html(b, b.open.at[1], BODY) and b.frameset_ok:
            detach(b, b.open.at[1])
            while b.open.count > 1:
                pop(b)
            insert(b)
            b.mode = IN_FRAMESET
    else:
        reconstruct(b)
        insert(b)


cdef void start_item(Builder* b) noexcept nogil:
    """li, dd, dt: each closes the one before."""
    cdef int32_t k = b.open.count
    cdef int tag, closed = T_NONE
    cdef bint is_barrier = False
    b.frameset_ok = False
    while k > 0 and not closed and not is_barrier:
        k -= 1
        tag = b.nodes[b.open.at[k]].tag if b.nodes[b.open.at[k]].kind == HTML else T_NONE
        if tag == LI if b.tokens.tag == LI else tag == DD or tag == DT:
            closed = tag
        is_barrier = groups(b, b.open.at[k]) & SPECIAL and tag != ADDRESS and tag != DIV and tag != P
    spend(b, b.open.count - k)
    if closed:
        generate_implied_end_tags(b, closed)
        pop_until(b, closed)
    close_p_in_scope(b)
    insert(b)


cdef void end_tag_in_body(Builder* b) noexcept nogil:
    cdef Tokeniser* t = &b.tokens
    cdef int tag = t.tag, group = GROUPS[tag]
    cdef int32_t node
    if group & FORMATTING:
        run_adoption_agency(b, tag)
    elif group & CLOSES_IN_SCOPE:
        if in_scope(b, tag, GENERAL):
            generate_implied_end_tags(b, T_NONE)
            pop_until(b, tag)
    elif tag == P:
        if not in_scope(b, P, IN_BUTTON):
            insert_named(b, b"p", 1, P)
        close_p(b)
    elif tag == LI or tag == DD or tag == DT:
        if in_scope(b, tag, LIST_ITEM if tag == LI else GENERAL):
            generate_implied_end_tags(b, tag)
            pop_until(b, tag)
    elif group & HEADING:
        if group_in_scope(b, HEADING, GENERAL):
            generate_implied_end_tags(b, T_NONE)
            pop_until_group(b, HEADING)
    elif tag == TEMPLATE:
        in_head(b)
    elif tag == BODY or tag == HTML_:
        if in_scope(b, BODY, GENERAL):
            b.mode = AFTER_BODY
            b.again = tag == HTML_
    elif tag == FORM:
        if b.opened[TEMPLATE]:
            if in_scope(b, FORM, GENERAL):
                generate_implied_end_tags(b, T_NONE)
                pop_until(b, FORM)
            return
        node = b.form
        b.form = -1
        if node >= 0 and b.nodes[node].is_open and node_in_scope(b, node):
            generate_implied_end_tags(b, T_NONE)
            remove_open(b, node)
    elif tag == APPLET or tag == MARQUEE or tag == OBJECT:
        if in_scope(b, tag, GENERAL):
            generate_implied_end_tags(b, T_NONE)
            pop_until(b, tag)
            clear_to_marker(b)
    elif tag == BR:
        t.attribute_count = t.first_attribute
        reconstruct(b)
        insert_void(b)
        b.frameset_ok = False
    else:
        any_other_end_tag(b)


cdef void any_other_end_tag(Builder* b) noexcept nogil:
    cdef int32_t k = b.open.count - 1
    if not b.opened[b.tokens.tag]:
        return
    while k >= 0 and not (b.nodes[b.open.at[k]].kind == HTML and has_name_of_token(b, b.open.at[k])):
        if groups(b, b.open.at[k]) & SPECIAL:
            spend(b, b.open.count - k)
            return
        k -= 1
    while b.open.count > k and k >= 0:
        pop(b)


cdef void fostered(Builder* b) noexcept nogil:
    """Process the token by the rules of the body, and foster-parent what it inserts into a table."""
    b.foster = True
    in_body(b)
    b.foster = False


cdef void clear_stack_to(Builder* b, int context) noexcept nogil:
    """Clear the stack back to a table, table body or table row context: that of the mode."""
    cdef int tag = T_NONE
    cdef bint found = False
    while b.open.count and not found:
        tag = b.nodes[current(b)].tag if b.nodes[current(b)].kind == HTML else T_NONE
        found = tag == HTML_ or tag == TEMPLATE
        if context == IN_TABLE:
            found = found or tag == TABLE
        elif context == IN_TABLE_BODY:
            found = found or GROUPS[tag] & TABLE_BODY
        else:
            found = found or tag == TR
        if not found:
            pop(b)


cdef inline bint starts_group(Builder* b, int group) noexcept nogil:
    return b.tokens.kind == START_TAG and GROUPS[b.tokens.tag] & group


cdef inline bint ends_group(Builder* b, int group) noexcept nogil:
    return b.tokens.kind == END_TAG and GROUPS[b.tokens.tag] & group


cdef void in_table(Builder* b) noexcept nogil:
    cdef int tag = b.tokens.tag, group = GROUPS[tag]
    if b.tokens.kind == CHARACTERS:
        in_table_text(b)
    elif b.tokens.kind == END_OF_FILE:
        in_body(b)
    elif ends(b, TABLE):
        if in_scope(b, TABLE, IN_TABLES):
            pop_until(b, TABLE)
            reset_insertion_mode(b)
    elif ends_group(b, AROUND_TABLE | TABLE_BODY | CELL) or ends(b, TR):
        pass
    elif tag == TEMPLATE:
        in_head(b)
    elif b.tokens.kind == END_TAG:
        fostered(b)
    elif tag == CAPTION:
        clear_stack_to(b, IN_TABLE)
        push_marker(b)
        insert(b)
        b.mode = IN_CAPTION
    elif tag == COLGROUP:
        clear_stack_to(b, IN_TABLE)
        insert(b)
        b.mode = IN_COLUMN_GROUP
    elif tag == COL:
        clear_stack_to(b, IN_TABLE)
        insert_named(b, b"colgroup", 8, COLGROUP)
        switch(b, IN_COLUMN_GROUP)
    elif group & TABLE_BODY:
        clear_stack_to(b, IN_TABLE)
        insert(b)
        b.mode = IN_TABLE_BODY
    elif tag == TR or group & CELL:
        clear_stack_to(b, IN_TABLE)
        insert_named(b, b"tbody", 5, TBODY)
        switch(b, IN_TABLE_BODY)
    elif tag == TABLE:
        if in_scope(b, TABLE, IN_TABLES):
            pop_until(b, TABLE)
            reset_insertion_mode(b)
            b.again = True
    elif tag == STYLE or tag == SCRIPT:
        in_head(b)
    elif tag == INPUT and token_has(b, b"type", b"hidden"):
        insert_void(b)
    elif tag == FORM:
        if b.form < 0 and not b.opened[TEMPLATE]:
            b.form = insert(b)
            pop(b)
    else:
        fostered(b)


cdef void in_table_text(Builder* b) noexcept nogil:
    if (groups(b, current(b)) & FOSTERS or is_html(b, current(b), TEMPLATE)) and are_spaces(b):
        insert_text(b, b.tokens.text, b.tokens.size)
    else:
        fostered(b)


cdef void in_caption(Builder* b) noexcept nogil:
    if ends(b, CAPTION) or ends(b, TABLE) or starts(b, TR) or starts_group(b, TABLE_PART | CELL):
        if in_scope(b, CAPTION, IN_TABLES):
            generate_implied_end_tags(b, T_NONE)
            pop_until(b, CAPTION)
            clear_to_marker(b)
            b.mode = IN_TABLE
            b.again = not ends(b, CAPTION)
    elif not (ends_group(b, AROUND_TABLE | TABLE_BODY | CELL) or ends(b, TR)):
        close_select_before_table(b)
        in_body(b)


cdef void close_select_before_table(Builder* b) noexcept nogil:
    """A table in a cell or caption closes a select around it."""
    if starts(b, TABLE) and in_scope(b, SELECT, GENERAL):
        pop_until(b, SELECT)


cdef void in_column_group(Builder* b) noexcept nogil:
    if b.tokens.kind == CHARACTERS and take_space(b, True):
        return
    if starts(b, HTML_) or b.tokens.kind == END_OF_FILE:
        in_body(b)
    elif starts(b, COL):
        insert_void(b)
    elif b.tokens.tag == TEMPLATE:
        in_head(b)
    elif is_html(b, current(b), COLGROUP) and not ends(b, COL):
        pop(b)
        b.mode = IN_TABLE
        b.again = not ends(b, COLGROUP)


cdef void in_table_body(Builder* b) noexcept nogil:
    if starts(b, TR):
        clear_stack_to(b, IN_TABLE_BODY)
        insert(b)
        b.mode = IN_ROW
    elif starts_group(b, CELL):
        clear_stack_to(b, IN_TABLE_BODY)
        insert_named(b, b"tr", 2, TR)
        switch(b, IN_ROW)
    elif ends_group(b, TABLE_BODY):
        if in_scope(b, b.tokens.tag, IN_TABLES):
            clear_stack_to(b, IN_TABLE_BODY)
            pop(b)
            b.mode = IN_TABLE
    elif starts_group(b, TABLE_PART) or ends(b, TABLE):
        if group_in_scope(b, TABLE_BODY, IN_TABLES):
            clear_stack_to(b, IN_TABLE_BODY)
            pop(b)
            switch(b, IN_TABLE)
    elif not (ends_group(b, AROUND_TABLE | CELL) or ends(b, TR)):
        in_table(b)


cdef void in_row(Builder* b) noexcept nogil:
    if starts_group(b, CELL):
        clear_stack_to(b, IN_ROW)
        insert(b)
        b.mode = IN_CELL
        push_marker(b)
    elif ends(b, TR) or ends(b, TABLE) or starts(b, TR) or starts_group(b, TABLE_PART) or ends_group(b, TABLE_BODY):
        if ends_group(b, TABLE_BODY) and not in_scope(b, b.tokens.tag, IN_TABLES):
            return
        if in_scope(b, TR, IN_TABLES):
            clear_stack_to(b, IN_ROW)
            pop(b)
            b.mode = IN_TABLE_BODY
            b.again = not ends(b, TR)
    elif not ends_group(b, AROUND_TABLE | CELL):
        in_table(b)


cdef void in_cell(Builder* b) noexcept nogil:
    if ends_group(b, CELL):
        if in_scope(b, b.tokens.tag, IN_TABLES):
            generate_implied_end_tags(b, T_NONE)
            pop_until(b, b.tokens.tag)
            clear_to_marker(b)
            b.mode = IN_ROW
    elif starts(b, TR) or starts_group(b, TABLE_PART | CELL):
        if group_in_scope(b, CELL, IN_TABLES):
            close_cell(b)
    elif ends_group(b, AROUND_TABLE):
        pass
    elif ends(b, TABLE) or ends(b, TR) or ends_group(b, TABLE_BODY):
        if in_scope(b, b.tokens.tag, IN_TABLES):
            close_cell(b)
    else:
        close_select_before_table(b)
        in_body(b)


cdef void close_cell(Builder* b) noexcept nogil:
    """Close the cell, and process the token again."""
    generate_implied_end_tags(b, T_NONE)
    pop_until_group(b, CELL)
    clear_to_marker(b)
    switch(b, IN_ROW)


cdef void in_template(Builder* b) noexcept nogil:
    cdef int tag = b.tokens.tag, group = GROUPS[tag]
    cdef int mode = IN_BODY
    if b.tokens.kind == CHARACTERS:
        in_body(b)
    elif starts_group(b, IN_HEADS) or ends(b, TEMPLATE):
        in_head(b)
    elif b.tokens.kind == START_TAG:
        if tag == COL:
            mode = IN_COLUMN_GROUP
        elif group & TABLE_PART:
            mode = IN_TABLE
        elif tag == TR:
            mode = IN_TABLE_BODY
        elif group & CELL:
            mode = IN_ROW
        b.template_modes.at[b.template_modes.count - 1] = mode
        switch(b, mode)
    elif b.tokens.kind == END_OF_FILE and b.opened[TEMPLATE]:
        pop_until(b, TEMPLATE)
        clear_to_marker(b)
        b.template_modes.count -= 1
        reset_insertion_mode(b)
        b.again = True


cdef void after_body(Builder* b) noexcept nogil:
    if starts(b, HTML_) or (b.tokens.kind == CHARACTERS and not b.had_null and are_spaces(b)):
        in_body(b)
    elif ends(b, HTML_):
        b.mode = AFTER_AFTER_BODY
    elif b.tokens.kind != END_OF_FILE:
        switch(b, IN_BODY)


cdef void in_frameset(Builder* b) noexcept nogil:
    if b.tokens.kind == CHARACTERS:
        insert_spaces(b)
    elif starts(b, HTML_):
        in_body(b)
    elif starts(b, FRAMESET):
        insert(b)
    elif ends(b, FRAMESET) and b.open.count > 1:
        pop(b)
        if not is_html(b, current(b), FRAMESET):
            b.mode = AFTER_FRAMESET
    elif starts(b, FRAME):
        insert_void(b)
    elif starts(b, NOFRAMES):
        in_head(b)


cdef void after_frameset(Builder* b) noexcept nogil:
    if b.tokens.kind == CHARACTERS:
        insert_spaces(b)
    elif starts(b, HTML_):
        in_body(b)
    elif ends(b, HTML_):
        b.mode = AFTER_AFTER_FRAMESET
    elif starts(b, NOFRAMES):
        in_head(b)


cdef void after_after_body(Builder* b) noexcept nogil:
    if starts(b, HTML_) or (b.tokens.kind == CHARACTERS and not b.had_null and are_spaces(b)):
        in_body(b)
    elif b.tokens.kind != END_OF_FILE:
        switch(b, IN_BODY)


cdef void after_after_frameset(Builder* b) noexcept nogil:
    if b.tokens.kind == CHARACTERS:
        insert_spaces(b)
    elif starts(b, HTML_):
        in_body(b)
    elif starts(b, NOFRAMES):
        in_head(b)


cdef void process_in_html_content(Builder* b) noexcept nogil:
    """Process the token by the rules of the insertion mode."""
    cdef int mode
    b.again = True
    while b.again and not b.failed:
        b.again = False
        mode = b.mode
        if mode == IN_BODY:
            in_body(b)
        elif mode == IN_CELL:
            in_cell(b)
        elif mode == IN_ROW:
            in_row(b)
        elif mode == IN_TABLE_BODY:
            in_table_body(b)
        elif mode == IN_TABLE:
            in_table(b)
        elif mode == IN_HEAD:
            in_head(b)
        elif mode == IN_CAPTION:
            in_caption(b)
        elif mode == IN_COLUMN_GROUP:
            in_column_group(b)
        elif mode == IN_TEMPLATE:
            in_template(b)
        elif mode == IN_HEAD_NOSCRIPT:
            in_head_noscript(b)
        elif mode == AFTER_HEAD:
            after_head(b)
        elif mode == BEFORE_HEAD:
            before_head(b)
        elif mode == INITIAL:
            initial(b)
        elif mode == BEFORE_HTML:
            before_html(b)
        elif mode == AFTER_BODY:
            after_body(b)
        elif mode == AFTER_AFTER_BODY:
            after_after_body(b)
        elif mode == IN_FRAMESET:
            in_frameset(b)
        elif mode == AFTER_FRAMESET:
            after_frameset(b)
        else:
            after_after_frameset(b)


# Foreign content (13.2.6.5)

cdef inline bint is_foreign(Builder* b) noexcept nogil:
    """Whether the token is processed by the rules for foreign content."""
    cdef Dom* node
    cdef int kind = b.tokens.kind, tag = b.tokens.tag
    if not b.open.count or b.nodes[current(b)].kind == HTML or kind == END_OF_FILE:
        return False
    node = b.nodes + current(b)
    if node.is_point & MATHML_TEXT and (
        kind == CHARACTERS or (kind == START_TAG and tag != MGLYPH and tag != MALIGNMARK)
    ):
        return False
    if node.is_point & XML_ANNOTATION and kind == START_TAG and tag == SVG_:
        return False
    return not (node.is_point & HTML_INSIDE and (kind == CHARACTERS or kind == START_TAG))


cdef void in_foreign_content(Builder* b) noexcept nogil:
    cdef int32_t k = b.open.count - 1
    if b.tokens.kind == CHARACTERS:
        insert_text(b, b.tokens.text, b.tokens.size)
        while b.frameset_ok and not take_space(b, False):  # U+FFFD stands for NUL, which does not matter
            b.frameset_ok = b.tokens.size >= 3 and memcmp(b.tokens.text, b"\xef\xbf\xbd", 3) == 0
            b.tokens.text += 3
            b.tokens.size -= 3
    elif ends(b, BR) or ends(b, P) or starts_group(b, BREAKS_OUT) or (
        starts(b, FONT) and (token_has(b, b"color", NULL) or token_has(b, b"face", NULL) or token_has(b, b"size", NULL))
    ):
        while b.nodes[current(b)].kind != HTML and not b.nodes[current(b)].is_point & (MATHML_TEXT | HTML_INSIDE):
            pop(b)
        process_in_html_content(b)
    elif b.tokens.kind == START_TAG:
        insert_foreign(b, b.nodes[current(b)].kind)
    else:
        while k > 0 and b.nodes[b.open.at[k]].kind != HTML and not has_name_of_token(b, b.open.at[k]):
            k -= 1
        spend(b, b.open.count - k)
        if b.nodes[b.open.at[k]].kind == HTML:
            process_in_html_content(b)
        else:
            while b.open.count > k:
                pop(b)


# From tokens to a tree

cdef inline void process(Builder* b) noexcept nogil:
    if is_foreign(b):
        in_foreign_content(b)
    else:
        process_in_html_content(b)


cdef void process_tag(Builder* b) noexcept nogil:
    cdef Tokeniser* t = &b.tokens
    if t.self_closing and t.kind == START_TAG and GROUPS[t.tag] & SWALLOWS and not is_foreign(b):
        b.empty = is_closed_as_in_xml(t)
    process(b)
    if not t.used:
        t.attribute_count = t.first_attribute
    if b.empty:  # no text was expected in it
        b.empty = False
        t.kind = END_TAG
        process(b)


cdef void process_characters(Builder* b) noexcept nogil:
    cdef Tokeniser* t = &b.tokens
    cdef const char* text = t.text
    cdef const char* null = NULL
    cdef Py_ssize_t size = t.size
    cdef bint foreign = is_foreign(b), skips = b.skip_newline
    cdef int how = 0 if t.in_cdata else REFERENCES | EMPTY_END_TAGS
    b.skip_newline = False
    if not t.plain:
        if not foreign:
            null = <const char*>memchr(text, 0, size)
        if null != NULL and (b.mode < IN_BODY or b.mode == IN_COLUMN_GROUP):
            # white space before NUL is processed by the rules of this mode, and what follows by those that NUL leads to
            t.size = decoded(t, &t.text, null - text, how)
            process(b)
            b.had_null = True
            t.size = 0
            process(b)
            size -= null - text
            t.text = text = null
        b.had_null = null != NULL
        skips = skips and null != text
        t.size = decoded(t, &t.text, size, how | (REPLACES_NULL if foreign else DROPS_NULL))
    if skips and t.size and t.text[0] == 10:
        t.text += 1
        t.size -= 1
    process(b)
    b.had_null = False


cdef void build(Builder* b) noexcept nogil:
    cdef Tokeniser* t = &b.tokens
    cdef int kind = COMMENT
    while kind != END_OF_FILE and not b.failed and not t.out_of_memory:
        if b.plain_text and t.at < t.stop:
            t.text, t.size = t.at, t.stop - t.at
            t.at = t.stop
            t.size = decoded(t, &t.text, t.size, REPLACES_NULL)
            t.kind, t.tag = CHARACTERS, T_NONE
            process(b)
            continue
        kind = next_token(t, b.open.count and b.nodes[current(b)].kind != HTML)
        if kind == CHARACTERS:
            process_characters(b)
            continue
        b.skip_newline = False
        if kind == START_TAG or kind == END_TAG:
            process_tag(b)
        elif kind == END_OF_FILE or b.mode == INITIAL and kind == DOCTYPE:
            process(b)
    if t.out_of_memory:
        b.failed = NO_MEMORY


cdef class HtmlTree:
    """The nodes of a page in UTF-8; `PageRefused` if they are too many, or too tangled to be built in linear time.

    `max_nodes` is the limit of a PageTree. Of a tag, `most_attributes` attributes and one more are read.
    """

    def __cinit__(self, bytes page, Py_ssize_t max_nodes, Py_ssize_t most_attributes):
        cdef Builder* b = &self.builder
        cdef Tokeniser* t = &b.tokens
        fill_references()
        self.page = page
        t.at = t.start = PyBytes_AS_STRING(page)
        t.stop = t.at + PyBytes_GET_SIZE(page)
        t.most_attributes = <int32_t>min(most_attributes, MOST_COUNTED)
        b.most_elements = <int32_t>min(GROWTH * max_nodes, MOST_COUNTED)
        b.most_effort = EFFORT + EFFORT_OF_BYTE * <int64_t>(t.stop - t.start)
        b.head = b.form = -1
        b.frameset_ok = True
        with nogil:
            new_node(b)
            if not b.failed:
                b.nodes[0].kind = HTML
                b.nodes[0].data, b.nodes[0].size = b"", 0
                build(b)
        if b.failed == NO_MEMORY:
            raise MemoryError()
        if b.failed == TOO_MANY:
            raise PageRefused(f"the page has more than {max_nodes:,} elements; raise the limit to read it")
        if b.failed:
            raise PageRefused(f"the page nests its elements so deeply that its tree takes more than {b.most_effort:,} steps")

    def __dealloc__(self):
        free_all(&self.builder.tokens)
        free(self.builder.nodes)
        free(self.builder.open.at)
        free(self.builder.formatting.at)
        free(self.builder.template_modes.at)

    def nodes(self):
        """Yield all nodes in page order: number, number of the parent, namespace, name, attributes and text.

        The document has the number 0. The name of a text is empty, and so is the text of an element.
        """
        cdef Builder* b = &self.builder
        cdef int32_t i = b.nodes[0].first
        while i > 0:
            if b.nodes[i].kind == TEXT_NODE:
                yield i, b.nodes[i].parent, "", "", {}, text_at(b.nodes[i].data, b.nodes[i].size)
            else:
                yield (
                    i, b.nodes[i].parent, ("html", "math", "svg")[b.nodes[i].kind],
                    text_at(b.nodes[i].data, b.nodes[i].size), self.attributes_of(i), "",
                )
            i = following(b, i, 0)

    def add_attribute(self, int32_t i, str name, str value):
        """Give an element one attribute more."""
        cdef Builder* b = &self.builder
        cdef Tokeniser* t = &b.tokens
        cdef bytes written = name.encode() + value.encode()
        cdef Py_ssize_t size = len(name.encode())
        cdef int32_t first = t.attribute_count, k
        cdef Attribute attribute
        cdef char* text = arena(t, len(written))
        if text == NULL:
            raise MemoryError()
        memcpy(text, PyBytes_AS_STRING(written), len(written))
        attribute.name, attribute.name_size = text, size
        attribute.value, attribute.value_size = text + size, len(written) - size
        for k in range(b.nodes[i].attributes, b.nodes[i].attributes + b.nodes[i].attribute_count):
            push_attribute(t, t.attributes[k])
        if push_attribute(t, attribute) < 0:
            raise MemoryError()
        b.nodes[i].attributes, b.nodes[i].attribute_count = first, t.attribute_count - first

    def head_elements(self):
        """Yield what the head of a page consists of, in its order, wherever it is: name, attributes, text.

        html, title, base and meta elements, links that may be canonical and scripts that may be JSON-LD.
        """
        cdef Builder* b = &self.builder
        cdef int32_t i = b.nodes[0].first
        cdef Dom* node
        cdef bint descends
        cdef int tag
        while i > 0:
            node = b.nodes + i
            tag = node.tag
            descends = node.kind != TEXT_NODE
            if not descends:
                pass
            elif tag == TEMPLATE:
                descends = is_shadow_root("template", list(self.attributes_of(i).items()))
            elif tag == META or tag == BASE or (tag == HTML_ and node.parent == 0):
                yield NAMES[tag - 1], self.attributes_of(i), ""
            elif tag == LINK and has_word(b, i, b"rel", b"canonical"):
                yield "link", self.attributes_of(i), ""
            elif tag == SCRIPT and has_word(b, i, b"type", b"ld+json"):
                yield "script", {}, self.text_of(i)
            elif tag == TITLE and node.kind == HTML:
                yield "title", {}, self.text_of(i)
            i = following(b, i, 0) if descends else after(b, i, 0)

    cdef dict attributes_of(self, int32_t i):
        cdef Attribute* attribute = self.builder.tokens.attributes + self.builder.nodes[i].attributes
        cdef int32_t k
        return {
            text_at(attribute[k].name, attribute[k].name_size): text_at(attribute[k].value, attribute[k].value_size)
            for k in range(self.builder.nodes[i].attribute_count)
        }

    cdef str text_of(self, int32_t top):
        """The text of an element and its descendants."""
        cdef Builder* b = &self.builder
        cdef int32_t i = following(b, top, top)
        pieces = []
        while i >= 0:
            if b.nodes[i].kind == TEXT_NODE:
                pieces.append(text_at(b.nodes[i].data, b.nodes[i].size))
            i = following(b, i, top)
        return "".join(pieces)


cdef bint has_word(Builder* b, int32_t i, const char* name, const char* word) noexcept:
    """Whether an attribute of an element contains a word, in any case."""
    cdef Attribute* attribute
    cdef Py_ssize_t at
    cdef int32_t k
    for k in range(b.nodes[i].attributes, b.nodes[i].attributes + b.nodes[i].attribute_count):
        attribute = b.tokens.attributes + k
        if is_word(attribute.name, attribute.name_size, name):
            for at in range(attribute.value_size):
                if equals_folded(attribute.value + at, attribute.value_size - at, word):
                    return True
    return False


cdef int32_t after(Builder* b, int32_t i, int32_t top) noexcept nogil:
    """The node after a node and its descendants; -1 if it is not below `top`."""
    while i != top and b.nodes[i].next < 0:
        i = b.nodes[i].parent
    return -1 if i == top else b.nodes[i].next


cdef inline int32_t following(Builder* b, int32_t i, int32_t top) noexcept nogil:
    """The node after a node, in page order; -1 if it is not below `top`."""
    return b.nodes[i].first if b.nodes[i].first >= 0 else after(b, i, top)


cdef str text_at(const char* text, Py_ssize_t size):
    return PyUnicode_DecodeUTF8(text, size, "replace") if size else ""
