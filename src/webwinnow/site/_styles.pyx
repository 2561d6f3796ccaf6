# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Loops over style trees. tests/oracles/plain_styles.py is the slow version."""

from libc.math cimport log2, rint
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memset

import numpy as np

from webwinnow.page._hashing cimport GOLDEN, mixed, unmixed
from webwinnow.page._memory cimport bytes_of, check_columns, check_parent

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define fetch_ahead(place) __builtin_prefetch((place), 1)
    #else
    #define fetch_ahead(place) ((void)(place))
    #endif
    #if defined(__linux__)
    #include <stdint.h>
    #include <sys/mman.h>
    /* As numpy does for large arrays: fewer, larger memory pages. */
    static void want_large_pages(void *start, size_t size) {
        if (size >= (size_t)1 << 22) {
            size_t skipped = 4096 - (uintptr_t)start % 4096;
            madvise((char *)start + skipped, size - skipped, 14 /* MADV_HUGEPAGE */);
        }
    }
    #else
    #define want_large_pages(start, size) ((void)(start))
    #endif
    """
    void fetch_ahead(const void*) noexcept
    void want_large_pages(void*, size_t) noexcept

cdef enum:
    OUTSIDE, INTERNAL, LEAF  # as in site/styletree.py

cdef enum:
    SMALLEST = 10     # bits of the smallest table
    TAIL = 64         # slots after the last home, at first
    WAITING = 256     # rows whose slots are fetched before they are added
    KNOWN_TERMS = 64

cdef uint64_t TEXT_LEAF = 0x5DEECE66D1CE4E5B


def element_keys(const int32_t[::1] parent, const uint64_t[::1] style, alive, int leaf_height, int least_height):
    """The place of each node in a style tree: key, child sequence, position, kind.

    The key is a hash of the path to a node: the presentation style (`sequence`, a hash of the children's styles) and
    the position at each level. Nodes of different pages with one key are one element of the style tree. A node whose
    subtree has at most `leaf_height` levels is a virtual leaf; one with less than `least_height` is no element, though
    part of the sequence. Nodes that are not `alive` are ignored.
    """
    cdef const uint8_t[::1] living = bytes_of(alive)
    cdef Py_ssize_t i, size = parent.shape[0]
    cdef uint64_t[::1] key = np.zeros(size, np.uint64), sequence = np.zeros(size, np.uint64)
    cdef int32_t[::1] position = np.zeros(size, np.int32), height = np.zeros(size, np.int32)
    cdef int32_t[::1] count = np.zeros(size, np.int32)
    cdef uint8_t[::1] kind = np.zeros(size, np.uint8)
    cdef int32_t p
    check_columns(style.shape[0] == living.shape[0] == size > 0)
    for i in range(size - 1, 0, -1):
        check_parent(parent, i)
        p = parent[i]
        if living[i] and height[i] >= height[p]:
            height[p] = height[i] + 1
    for i in range(1, size):
        p = parent[i]
        if living[i]:
            position[i] = count[p]
            count[p] += 1
            sequence[p] = mixed(sequence[p] * GOLDEN + style[i])
    key[0] = 1
    kind[0] = INTERNAL
    for i in range(1, size):
        p = parent[i]
        if living[i] and kind[p] == INTERNAL and height[i] >= least_height:
            kind[i] = LEAF if height[i] <= leaf_height else INTERNAL
            key[i] = mixed(mixed(key[p] ^ sequence[p]) + <uint64_t>position[i] * 4 + kind[i])
    return key.base, sequence.base, position.base, kind.base


def leaves_around(const int32_t[::1] parent, const uint64_t[::1] key, const uint8_t[::1] kind,
                  const int32_t[::1] owner):
    """The leaf around each feature occurrence: its node, or the internal element of its `#text` leaf, and its key."""
    cdef Py_ssize_t i, k, size = parent.shape[0], count = owner.shape[0]
    cdef int32_t[::1] leaf_node = np.empty(count, np.int32), around = np.empty(size, np.int32)
    cdef uint64_t[::1] leaf_key = np.empty(count, np.uint64)
    cdef int32_t node
    check_columns(key.shape[0] == kind.shape[0] == size)
    for i in range(size):
        around[i] = <int32_t>i
        if kind[i] == OUTSIDE:
            check_parent(parent, i)
            around[i] = around[parent[i]]
    for k in range(count):
        if not 0 <= owner[k] < size:
            raise ValueError(f"no node {owner[k]} of a tree of {size}")
        node = around[owner[k]]
        leaf_node[k] = node
        leaf_key[k] = mixed(key[node] ^ TEXT_LEAF) if kind[node] == INTERNAL else key[node]
    return leaf_node.base, leaf_key.base


# A table is an array sorted by key, with gaps: a key is at its home, which its highest bits name, or after it without a
# gap between. So a key is found near its home, and the rows are sorted without a sort.

cdef struct Slot:
    uint64_t key
    uint32_t number   # of the row
    uint32_t count    # 0 in a gap


cdef struct Table:
    Slot* slots
    size_t room
    size_t used
    int bits


cdef int open_table(Table* table, int bits) except -1:
    table.bits = bits
    table.used = 0
    table.room = (<size_t>1 << bits) + TAIL
    table.slots = <Slot*>calloc(table.room, sizeof(Slot))
    if table.slots == NULL:
        raise MemoryError()
    want_large_pages(table.slots, table.room * sizeof(Slot))
    return 0


cdef inline Slot* home(const Table* table, uint64_t key) noexcept:
    return table.slots + (key >> (64 - table.bits))


cdef int lengthen(Table* table) except -1:
    """Add slots after the last home."""
    cdef size_t room = table.room + table.room // 4
    cdef Slot* slots = <Slot*>realloc(table.slots, room * sizeof(Slot))
    if slots == NULL:
        raise MemoryError()
    memset(slots + table.room, 0, (room - table.room) * sizeof(Slot))
    table.slots = slots
    table.room = room
    return 0


cdef int widen(Table* table) except -1:
    """Double the number of homes. The rows keep their order, so they are copied from left to right."""
    cdef Table wider
    cdef size_t k, at, free_from = 0
    open_table(&wider, table.bits + 1)
    try:
        for k in range(table.room):
            if not table.slots[k].count:
                continue
            at = home(&wider, table.slots[k].key) - wider.slots
            at = at if at > free_from else free_from
            if at + 1 >= wider.room:
                lengthen(&wider)
            wider.slots[at] = table.slots[k]
            free_from = at + 1
    except:
        free(wider.slots)
        raise
    wider.used = table.used
    free(table.slots)
    table[0] = wider
    return 0


cdef inline Slot* found_in(const Table* table, uint64_t key) noexcept:
    """The slot of a key, or the place for it: a gap or a slot with a higher key."""
    cdef Slot* slot = home(table, key)
    while slot.count and slot.key < key:
        slot += 1
    return slot


cdef inline Slot* slot_of(Table* table, uint64_t key) except NULL:
    """The slot of a key. The count of a new key is 0, and the caller must increase it at once."""
    cdef Slot* slot = found_in(table, key)
    return slot if slot.count and slot.key == key else new_slot(table, key)


cdef Slot* new_slot(Table* table, uint64_t key) except NULL:
    cdef Slot* slot
    cdef Slot* gap
    cdef size_t at
    if 3 * table.used >= <size_t>2 << table.bits:
        widen(table)
    gap = slot = found_in(table, key)
    while gap.count:
        gap += 1
    if gap + 1 == table.slots + table.room:  # the last slot is always a gap, so that every search ends
        at = slot - table.slots
        lengthen(table)
        gap = table.slots + (gap - slot) + at
        slot = table.slots + at
    while gap > slot:
        gap[0] = (gap - 1)[0]
        gap -= 1
    slot.key = key
    slot.number = 0
    slot.count = 0
    table.used += 1
    return slot


cdef struct Element:
    uint64_t key
    uint64_t parent
    uint64_t path
    uint64_t style
    uint64_t shape
    int32_t position
    uint8_t kind


cdef struct LeafSum:
    uint32_t element
    int64_t total
    int64_t entropy


cdef struct Row:
    uint64_t key
    uint32_t element
    int32_t f


cdef inline int64_t entropy_term(int64_t f) noexcept:
    return <int64_t>rint(<double>(f << 32) * log2(<double>f))


cdef void* grown(void* rows, size_t* room, size_t width) except NULL:
    cdef size_t wanted = room[0] * 2 if room[0] else 256
    cdef void* found = realloc(rows, wanted * width)
    if found == NULL:
        raise MemoryError()
    room[0] = wanted
    return found


cdef struct Groups:
    # The occurrences of each feature as a linked list: the last one, and for each one the one before.
    Py_ssize_t count
    uint64_t* feature
    int32_t* last
    int32_t* before
    int32_t* slots
    int bits


cdef int group(const uint64_t[::1] feature, Groups* groups) except -1:
    """Group the occurrences by feature, reusing the memory of earlier groups."""
    cdef Py_ssize_t k, size = feature.shape[0]
    cdef int bits = 10
    cdef uint64_t slot, mask
    while (<Py_ssize_t>1 << bits) < 2 * size:
        bits += 1
    if bits > groups.bits:
        free_groups(groups)
        groups.feature = <uint64_t*>malloc(sizeof(uint64_t) << (bits - 1))
        groups.last = <int32_t*>malloc(sizeof(int32_t) << (bits - 1))
        groups.before = <int32_t*>malloc(sizeof(int32_t) << (bits - 1))
        groups.slots = <int32_t*>malloc(sizeof(int32_t) << bits)
        if groups.feature == NULL or groups.last == NULL or groups.before == NULL or groups.slots == NULL:
            free_groups(groups)
            raise MemoryError()
        groups.bits = bits
    memset(groups.slots, 0, sizeof(int32_t) << bits)
    mask = (<uint64_t>1 << bits) - 1
    groups.count = 0
    for k in range(size):
        slot = (feature[k] * GOLDEN) >> (64 - bits)
        while groups.slots[slot] and groups.feature[groups.slots[slot] - 1] != feature[k]:
            slot = (slot + 1) & mask
        if not groups.slots[slot]:
            groups.feature[groups.count] = feature[k]
            groups.last[groups.count] = -1
            groups.count += 1
            groups.slots[slot] = <int32_t>groups.count
        groups.before[k] = groups.last[groups.slots[slot] - 1]
        groups.last[groups.slots[slot] - 1] = <int32_t>k
    return 0


cdef void free_groups(Groups* groups) noexcept:
    free(groups.feature); free(groups.last); free(groups.before); free(groups.slots)
    memset(groups, 0, sizeof(Groups))


cdef class StyleSums:
    """The sums of a style tree over pages: elements, their styles, their features."""

    cdef Table elements, styles, inner, leaves
    cdef Element* element
    cdef uint64_t* mixed_key  # of each element; a separate array because it is used most
    cdef size_t element_count, element_room
    cdef LeafSum* leaf_sum
    cdef size_t leaf_count, leaf_room
    cdef Row inner_waiting[WAITING]
    cdef int inner_count
    cdef Row leaves_waiting[WAITING]
    cdef int leaves_count
    cdef Groups groups
    cdef int32_t* scratch
    cdef Py_ssize_t scratch_room
    cdef int64_t terms[KNOWN_TERMS]

    def __cinit__(self):
        cdef int f
        for table in range(4):
            open_table(self.table(table), SMALLEST)
        for f in range(1, KNOWN_TERMS):
            self.terms[f] = entropy_term(f)

    def __dealloc__(self):
        for table in range(4):
            free(self.table(table).slots)
        free(self.element)
        free(self.mixed_key)
        free(self.leaf_sum)
        free(self.scratch)
        free_groups(&self.groups)

    cdef Table* table(self, int number) noexcept:
        return &self.elements if number == 0 else &self.styles if number == 1 else (
            &self.inner if number == 2 else &self.leaves)

    cdef int32_t add_element(self, uint64_t key, uint64_t parent, uint64_t path, uint64_t style, uint64_t shape,
                             int32_t position, uint8_t kind) except -1:
        """Count a tag node of an element; return the number of the element."""
        cdef Slot* slot
        cdef size_t room
        if self.element_count == self.element_room:
            room = self.element_room
            self.mixed_key = <uint64_t*>grown(self.mixed_key, &room, sizeof(uint64_t))
            self.element = <Element*>grown(self.element, &self.element_room, sizeof(Element))
        slot = slot_of(&self.elements, key)
        if not slot.count:
            slot.number = <uint32_t>self.element_count
            self.element[self.element_count] = Element(key, parent, path, style, shape, position, kind)
            self.mixed_key[self.element_count] = mixed(key)
            self.element_count += 1
        slot.count += 1
        return <int32_t>slot.number

    cdef inline int add_leaf_feature(self, uint32_t element, uint64_t feature, int32_t f) except -1:
        """Queue a row while its slot is fetched; `add_leaves_waiting` adds it."""
        cdef uint64_t key = mixed(self.mixed_key[element] ^ feature)
        fetch_ahead(home(&self.leaves, key))
        self.leaves_waiting[self.leaves_count] = Row(key, element, f)
        self.leaves_count += 1
        return self.add_leaves_waiting() if self.leaves_count == WAITING else 0

    cdef int add_leaves_waiting(self) except -1:
        cdef int k, f
        cdef Slot* slot
        cdef Row* row
        while self.leaf_count + self.leaves_count > self.leaf_room:
            self.leaf_sum = <LeafSum*>grown(self.leaf_sum, &self.leaf_room, sizeof(LeafSum))
        for k in range(self.leaves_count):
            row = &self.leaves_waiting[k]
            slot = slot_of(&self.leaves, row.key)
            if not slot.count:
                slot.number = <uint32_t>self.leaf_count
                self.leaf_sum[self.leaf_count] = LeafSum(row.element, 0, 0)
                self.leaf_count += 1
            slot.count += 1
            row.element = slot.number
            fetch_ahead(&self.leaf_sum[slot.number])
        for k in range(self.leaves_count):
            row = &self.leaves_waiting[k]
            f = row.f
            self.leaf_sum[row.element].total += f
            self.leaf_sum[row.element].entropy += self.terms[f] if f < KNOWN_TERMS else entropy_term(f)
        self.leaves_count = 0
        return 0

    cdef inline int add_inner_feature(self, uint32_t element, uint64_t feature) except -1:
        """Queue a row while its slot is fetched; `add_inner_waiting` adds it."""
        cdef uint64_t key = mixed(self.mixed_key[element] ^ feature)
        fetch_ahead(home(&self.inner, key))
        self.inner_waiting[self.inner_count] = Row(key, element, 0)
        self.inner_count += 1
        return self.add_inner_waiting() if self.inner_count == WAITING else 0

    cdef int add_inner_waiting(self) except -1:
        cdef int k
        cdef Slot* slot
        for k in range(self.inner_count):
            slot = slot_of(&self.inner, self.inner_waiting[k].key)
            slot.number = self.inner_waiting[k].element
            slot.count += 1
        self.inner_count = 0
        return 0

    def add(self, const int32_t[::1] parent, const uint64_t[::1] style, const uint64_t[::1] shape,
            const uint64_t[::1] key, const uint64_t[::1] sequence, const int32_t[::1] position,
            const uint8_t[::1] kind, const int32_t[::1] owner, const uint64_t[::1] feature):
        """Add a page, cut by `element_keys`, with its feature occurrences and their nodes (`owner`).

        A leaf has the features of its subtree, the `#text` leaf of an internal element those directly inside. Each
        element above counts a feature once.
        """
        cdef Py_ssize_t i, k, size = parent.shape[0]
        cdef int32_t* number
        check_columns(style.shape[0] == shape.shape[0] == key.shape[0] == sequence.shape[0] == size > 0)
        check_columns(position.shape[0] == kind.shape[0] == size and owner.shape[0] == feature.shape[0])
        if kind[0] != INTERNAL:
            raise ValueError("the root is no element")
        for i in range(1, size):
            if not 0 <= parent[i] < i or (kind[i] != OUTSIDE and kind[parent[i]] != INTERNAL):
                raise ValueError(f"node {i} has the parent {parent[i]}")
        for k in range(owner.shape[0]):
            if not 0 <= owner[k] < size:
                raise ValueError(f"no node {owner[k]} of a tree of {size}")
        number = self.numbers(6 * size)
        for i in range(size):
            number[i] = -1
            if kind[i] == OUTSIDE:
                continue
            k = parent[i]
            number[i] = self.add_element(key[i], key[k] if i else 0, sequence[k] if i else 0, style[i], shape[i],
                                         position[i], kind[i])
            if kind[i] == INTERNAL:
                self.add_style(number[i], sequence[i])
        group(feature, &self.groups)
        self.add_features(parent, key, kind, owner, number)

    cdef int32_t* numbers(self, Py_ssize_t size) except NULL:
        """Memory for `size` numbers, reused from page to page."""
        if size > self.scratch_room:
            free(self.scratch)
            self.scratch_room = 0
            self.scratch = <int32_t*>malloc(2 * size * sizeof(int32_t))
            if self.scratch == NULL:
                raise MemoryError()
            self.scratch_room = 2 * size
        return self.scratch

    cdef int add_style(self, uint32_t element, uint64_t sequence) except -1:
        cdef Slot* slot = slot_of(&self.styles, mixed(self.mixed_key[element] ^ sequence))
        slot.number = element
        slot.count += 1
        return 0

    cdef int add_features(self, const int32_t[::1] parent, const uint64_t[::1] key, const uint8_t[::1] kind,
                          const int32_t[::1] owner, int32_t* number) except -1:
        """Add the features of a page one by one: f at each leaf, then once at each element above."""
        cdef Py_ssize_t i, size = parent.shape[0], g, met
        cdef int32_t k, node
        cdef const Groups* groups = &self.groups
        cdef int32_t* leaf_node = number + size
        cdef int32_t* text_leaf = number + 2 * size
        cdef int32_t* seen = number + 3 * size   # the last feature found in the node
        cdef int32_t* f = number + 4 * size      # the feature's occurrences in the node's leaf, 0 between features
        cdef int32_t* leaves = number + 5 * size
        for i in range(size):
            leaf_node[i] = <int32_t>i if kind[i] != OUTSIDE else leaf_node[parent[i]]
            text_leaf[i] = seen[i] = -1
            f[i] = 0
        for g in range(groups.count):
            met = 0
            k = groups.last[g]
            while k >= 0:
                node = leaf_node[owner[k]]
                if not f[node]:
                    leaves[met] = node
                    met += 1
                f[node] += 1
                k = groups.before[k]
            for i in range(met):
                node = leaves[i]
                if kind[node] == LEAF:
                    self.add_leaf_feature(number[node], groups.feature[g], f[node])
                    f[node] = 0
                    node = parent[node]
                else:
                    if text_leaf[node] < 0:
                        text_leaf[node] = self.add_element(mixed(key[node] ^ TEXT_LEAF), key[node], 0, 0, 0, -1, LEAF)
                    self.add_leaf_feature(text_leaf[node], groups.feature[g], f[node])
                    f[node] = 0
                while node >= 0 and seen[node] != g:
                    seen[node] = <int32_t>g
                    self.add_inner_feature(number[node], groups.feature[g])
                    node = parent[node]
        self.add_inner_waiting()
        self.add_leaves_waiting()
        return 0

    def element_columns(self):
        """Key, parent, path, style, shape, position, kind and m of each element, by key."""
        cdef size_t k, size = self.elements.used, at = 0
        cdef const Element* element
        columns = (*(np.empty(size, np.uint64) for _ in range(5)), np.empty(size, np.int32), np.empty(size, np.uint8),
                   np.empty(size, np.int64))
        cdef uint64_t[::1] keys = columns[0], parents = columns[1], paths = columns[2], styles = columns[3]
        cdef uint64_t[::1] shapes = columns[4]
        cdef int32_t[::1] positions = columns[5]
        cdef uint8_t[::1] kinds = columns[6]
        cdef int64_t[::1] m = columns[7]
        for k in range(self.elements.room):
            if not self.elements.slots[k].count:
                continue
            element = &self.element[self.elements.slots[k].number]
            keys[at] = element.key
            parents[at] = element.parent
            paths[at] = element.path
            styles[at] = element.style
            shapes[at] = element.shape
            positions[at] = element.position
            kinds[at] = element.kind
            m[at] = self.elements.slots[k].count
            at += 1
        return columns

    def style_columns(self):
        """Element, sequence and m of each style, by their pair key."""
        cdef size_t k, size = self.styles.used, at = 0
        cdef const Slot* slot
        columns = np.empty(size, np.uint64), np.empty(size, np.uint64), np.empty(size, np.int64)
        cdef uint64_t[::1] elements = columns[0], sequences = columns[1]
        cdef int64_t[::1] m = columns[2]
        for k in range(self.styles.room):
            slot = &self.styles.slots[k]
            if slot.count:
                elements[at] = unmixed(self.mixed_key[slot.number])
                sequences[at] = unmixed(slot.key) ^ self.mixed_key[slot.number]
                m[at] = slot.count
                at += 1
        return columns

    def feature_columns(self):
        """Element, feature, df, F and L of each pair of element and feature, by their pair key."""
        cdef size_t size = self.inner.used + self.leaves.used, at = 0
        cdef const Slot* inner = self.inner.slots
        cdef const Slot* inner_end = inner + self.inner.room
        cdef const Slot* leaf = self.leaves.slots
        cdef const Slot* leaf_end = leaf + self.leaves.room
        cdef uint64_t mixed_key
        columns = (np.empty(size, np.uint64), np.empty(size, np.uint64),
                   *(np.empty(size, np.int64) for _ in range(3)))
        cdef uint64_t[::1] elements = columns[0], features = columns[1]
        cdef int64_t[::1] df = columns[2], total = columns[3], entropy = columns[4]
        while at < size:
            while inner < inner_end and not inner.count:
                inner += 1
            while leaf < leaf_end and not leaf.count:
                leaf += 1
            if leaf == leaf_end or (inner < inner_end and inner.key < leaf.key):
                mixed_key = self.mixed_key[inner.number]
                features[at] = unmixed(inner.key) ^ mixed_key
                df[at] = inner.count
                total[at] = 0
                entropy[at] = 0
                inner += 1
            else:
                mixed_key = self.mixed_key[self.leaf_sum[leaf.number].element]
                features[at] = unmixed(leaf.key) ^ mixed_key
                df[at] = leaf.count
                total[at] = self.leaf_sum[leaf.number].total
                entropy[at] = self.leaf_sum[leaf.number].entropy
                leaf += 1
            elements[at] = unmixed(mixed_key)
            at += 1
        return columns


cdef int bits_for(Py_ssize_t rows) noexcept:
    cdef int bits = SMALLEST
    while <Py_ssize_t>2 << bits <= 3 * rows:
        bits += 1
    return bits


cdef class Pairs:
    """An index of the rows of pairs of keys."""

    cdef Table table

    def __cinit__(self, const uint64_t[::1] one, const uint64_t[::1] other):
        cdef Py_ssize_t k
        cdef Slot* slot
        check_columns(one.shape[0] == other.shape[0])
        open_table(&self.table, bits_for(one.shape[0]))
        for k in range(one.shape[0]):
            slot = slot_of(&self.table, mixed(mixed(one[k]) ^ other[k]))
            if not slot.count:
                slot.number = <uint32_t>k
                slot.count = 1

    def __dealloc__(self):
        free(self.table.slots)

    def rows(self, const uint64_t[::1] one, const uint64_t[::1] other):
        """The row of each pair, -1 if it has none."""
        cdef Py_ssize_t k, size = one.shape[0]
        cdef uint64_t key
        cdef const Slot* slot
        check_columns(other.shape[0] == size)
        cdef int64_t[::1] out = np.empty(size, np.int64)
        for k in range(size):
            key = mixed(mixed(one[k]) ^ other[k])
            slot = found_in(&self.table, key)
            out[k] = slot.number if slot.count and slot.key == key else -1
        return out.base


def sums_by_key(const uint64_t[::1] key, const double[::1] value):
    """The distinct keys, ascending, and the sum of the values of each, added in the order given."""
    cdef Groups groups
    check_columns(key.shape[0] == value.shape[0])
    memset(&groups, 0, sizeof(Groups))
    try:
        group(key, &groups)
        keys, sums = np.empty(groups.count, np.uint64), np.empty(groups.count, np.float64)
        fill_sums(&groups, value, keys, sums)
    finally:
        free_groups(&groups)
    order = np.argsort(keys)
    return keys[order], sums[order]


cdef void fill_sums(Groups* groups, const double[::1] value, uint64_t[::1] keys, double[::1] sums) noexcept:
    """Reverse each list first, because a sum of floats depends on the order."""
    cdef Py_ssize_t g
    cdef int32_t k, before, after
    for g in range(groups.count):
        keys[g] = groups.feature[g]
        sums[g] = 0
        k = groups.last[g]
        after = -1
        while k >= 0:
            before = groups.before[k]
            groups.before[k] = after
            after = k
            k = before
        while after >= 0:
            sums[g] += value[after]
            after = groups.before[after]


cdef class Paths:
    """The paths down a finished tree: (element, sequence, position, kind) to the child."""

    cdef const int64_t[::1] element
    cdef const uint64_t[::1] sequence
    cdef const int32_t[::1] position
    cdef const uint8_t[::1] kind
    cdef const int64_t[::1] child
    cdef int32_t* slots  # row + 1, 0 for none
    cdef uint64_t mask

    def __cinit__(self, const int64_t[::1] element, const uint64_t[::1] sequence, const int32_t[::1] position,
                  const uint8_t[::1] kind, const int64_t[::1] child):
        cdef Py_ssize_t k, size = element.shape[0]
        check_columns(sequence.shape[0] == position.shape[0] == kind.shape[0] == child.shape[0] == size)
        self.element, self.sequence, self.position, self.kind, self.child = element, sequence, position, kind, child
        self.mask = (<uint64_t>1 << bits_for(size)) - 1
        self.slots = <int32_t*>calloc(self.mask + 1, sizeof(int32_t))
        if self.slots == NULL:
            raise MemoryError()
        for k in range(size):
            self.slots[self.slot(element[k], sequence[k], position[k], kind[k])] = <int32_t>k + 1

    def __dealloc__(self):
        free(self.slots)

    cdef uint64_t slot(self, int64_t element, uint64_t sequence, int32_t position, uint8_t kind) noexcept:
        """The slot of a path in the table, or the empty slot for it."""
        cdef uint64_t at = mixed(mixed(sequence ^ <uint64_t>position * 4 + kind) ^ <uint64_t>element) & self.mask
        cdef int32_t row
        while True:
            row = self.slots[at] - 1
            if row < 0 or (self.element[row] == element and self.sequence[row] == sequence
                           and self.position[row] == position and self.kind[row] == kind):
                return at
            at = (at + 1) & self.mask

    def walk(self, const int32_t[::1] parent, const uint64_t[::1] sequence, const int32_t[::1] position,
             const uint8_t[::1] kind, const int32_t[::1] held):
        """The element of each node of a page; -1 where the page leaves the tree, and below its leaves.

        A node takes the element `held` for it if that is -1 or more and its parent is in the tree; others follow paths.
        """
        cdef Py_ssize_t i, size = parent.shape[0]
        cdef int32_t p, row
        check_columns(sequence.shape[0] == position.shape[0] == kind.shape[0] == held.shape[0] == size > 0)
        cdef int32_t[::1] at = np.full(size, -1, np.int32)
        at[0] = 0
        for i in range(1, size):
            check_parent(parent, i)
            p = parent[i]
            if kind[i] == OUTSIDE or at[p] < 0:
                continue
            if held[i] >= -1:
                at[i] = held[i]
            else:
                row = self.slots[self.slot(at[p], sequence[p], position[i], kind[i])] - 1
                if row >= 0:
                    at[i] = <int32_t>self.child[row]
        return at.base
