# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Loops that find the structures above blocks, and pool probabilities over them."""

from libc.math cimport exp, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

import numpy as np

from webwinnow.page._blanks cimport after_blanks
from webwinnow.page._hashing cimport GOLDEN, mixed
from webwinnow.page._memory cimport (
    Buffer, Column, Scratch, added, bytes_of, check_columns, check_parent, check_runs, filled, lower_bound, push,
)
from webwinnow.page._unicode cimport (
    Py_UNICODE_ISALPHA, Py_UNICODE_ISDECIMAL, Py_UNICODE_ISSPACE, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND,
    PyUnicode_READ,
)

cdef enum:
    # the role of a tag (structures.py), and a flag above it
    TABLE = 1
    ROW, CELL, HEAD_CELL, HEAD, LIST, PAIRS, TERM, VALUE, LINK, BODY
    ROLE = 31
    NO_DATA = 32
    MOST_HEADER_ROWS = 3
    # bits of a tag (structures.py): it splits text into blocks; it is no record
    SPLITS = 1
    NO_RECORD = 2
    # what siblings of one style are
    RECORDS = 1
    ITEMS = 2


cdef struct Siblings:
    int32_t node        # the element around them
    int32_t count
    int32_t blocks
    int32_t several     # of them, those of several blocks
    int64_t marks       # characters, without white space at the start of a run
    int32_t number      # among the groups of records, or among the lists
    int32_t what        # RECORDS, ITEMS or 0


cdef inline int role_of(const uint8_t[::1] roles, uint16_t tag) noexcept:
    return roles[tag if tag < roles.shape[0] else 0]


cdef class DataTables:
    """Which tables of a page have data, and where browsers place the cells of each: for structures and renderers.

    `roles` has the role of each tag code, `limits` are LONGEST_CELL, MOST_SPAN and MOST_ADDED_CELLS, and `names` the
    codes of colspan, rowspan and role.
    """

    def __init__(self, const uint16_t[::1] tag, const int32_t[::1] parent, const int32_t[::1] end,
                 const uint64_t[::1] style, str text, const int32_t[::1] text_start, const int32_t[::1] text_end,
                 str attr_text, const int32_t[::1] attr_node, const uint8_t[::1] attr_name,
                 const int32_t[::1] attr_start, const uint8_t[::1] roles, tuple limits, tuple names):
        cdef Py_ssize_t size = tag.shape[0]
        check_columns(parent.shape[0] == end.shape[0] == style.shape[0] == text_start.shape[0] == text_end.shape[0] == size)
        check_columns(attr_name.shape[0] == attr_node.shape[0])
        check_runs(attr_start, attr_node.shape[0], PyUnicode_GET_LENGTH(attr_text))
        self.tag, self.parent, self.end, self.style = tag, parent, end, style
        self.text, self.text_start, self.text_end = text, text_start, text_end
        self.attr_text, self.attr_node, self.attr_name, self.attr_start = attr_text, attr_node, attr_name, attr_start
        self.roles = roles
        self.longest, self.most_span, self.left = limits
        self.colspan, self.rowspan, self.role = names
        self.placed, self.covered = Buffer(), Buffer()

    cpdef bint take(self, int64_t count) noexcept:
        """Whether the tables of the page may add so many empty cells; they are counted if so."""
        if count > self.left:
            return False
        self.left -= count
        return True

    cpdef bint has_data(self, int32_t table) except -1:
        """Whether a `<table>` or `<dl>` has data: rows and columns of short cells that contain text only."""
        cdef int32_t rows = 0, cells = 0, k, stop = self.end_of(table)
        cdef bint has_heads = False
        cdef int role
        cdef Py_ssize_t found
        for k in range(table + 1, stop):
            role = role_of(self.roles, self.tag[k])
            if not role:
                continue
            if role & NO_DATA:
                return False
            if role == ROW or role == TERM:
                rows += 1
            elif role == CELL or role == HEAD_CELL or role == VALUE:
                cells += 1
                has_heads |= role == HEAD_CELL
                if self.text_end[k] - self.text_start[k] > self.longest:
                    return False
        if role_of(self.roles, self.tag[table]) & ROLE == PAIRS:
            if not rows or not cells:
                return False
        elif cells <= rows:
            return False
        self.is_line = rows < 2 and not has_heads
        found = self.attribute(table, self.role)
        return found < 0 or has_heads or (  # some sites call every table a layout table
            self.attr_text[self.attr_start[found] : self.attr_start[found + 1]] not in ("presentation", "none")
        )

    def cells(self, int32_t table, absent):
        """The cells of a table: node, first row, first column, rows, columns and header bits of each.

        Rows and cells that are `absent` have no place.
        """
        cdef Py_ssize_t count = self.place(table, bytes_of(absent))
        found = np.empty((count, 6), np.int32)
        if count:
            filled(found.reshape(-1), &self.placed.column)
        return found

    cdef Py_ssize_t place(self, int32_t table, const uint8_t[::1] absent) except -1:
        """Place the cells of a table in rows and columns, mark headers, and return how many there are."""
        cdef int32_t k = table + 1, stop = self.end_of(table), row = -1, column = 0
        cdef bint is_pairs = role_of(self.roles, self.tag[table]) & ROLE == PAIRS, after_value = True
        cdef bint may_be_absent = absent is not None
        cdef int role
        if may_be_absent:
            check_columns(absent.shape[0] == self.tag.shape[0])
        self.placed.column.used = self.covered.column.used = 0
        self.rows = self.columns = 0
        while k < stop:
            role = role_of(self.roles, self.tag[k]) & ROLE
            if not role:
                k += 1
            elif is_pairs and (role == TERM or role == VALUE):
                row += role == TERM and after_value or row < 0
                after_value = role == VALUE
                self.put(k, row, role == VALUE, 1, 1)
                k = self.end_of(k)
            elif not is_pairs and (role == ROW or role == CELL or role == HEAD_CELL):
                if may_be_absent and absent[k]:
                    k = self.end_of(k)
                elif role == ROW:
                    row += 1
                    column = 0
                    k += 1
                else:
                    row = max(row, 0)
                    column = self.place_cell(k, row, column)
                    k = self.end_of(k)
            else:
                if role == HEAD or role == BODY:
                    self.covered.column.used = 0  # spans end with their group of rows
                k += 1
        mark_headers(self, is_pairs)
        return self.placed.column.used // sizeof(TableCell)

    cdef int32_t place_cell(self, int32_t node, int32_t row, int32_t column) except -1:
        """Put a cell into the first free columns of a row, from `column` on; the column behind it."""
        cdef int64_t columns = self.number_in(node, self.colspan), rows = self.number_in(node, self.rowspan)
        cdef int32_t k
        columns = 1 if columns < 1 else min(columns, self.most_span)
        rows = 1 if rows < 0 else self.most_span if rows == 0 else min(rows, self.most_span)  # 0: to the group's end
        if not self.take(columns * rows - 1):
            columns = rows = 1
        while <size_t>column * sizeof(int32_t) < self.covered.column.used and (
            (<int32_t*>self.covered.column.data)[column] > row
        ):
            column += 1
        if rows > 1:
            while self.covered.column.used < <size_t>(column + columns) * sizeof(int32_t):
                (<int32_t*>added(&self.covered.column, sizeof(int32_t)))[0] = 0
            for k in range(column, column + <int32_t>columns):
                (<int32_t*>self.covered.column.data)[k] = max(
                    (<int32_t*>self.covered.column.data)[k], row + <int32_t>rows
                )
        self.put(node, row, column, <int32_t>rows, <int32_t>columns)
        return column + <int32_t>columns

    cdef int put(self, int32_t node, int32_t row, int32_t column, int32_t rows, int32_t columns) except -1:
        cdef TableCell* cell = <TableCell*>added(&self.placed.column, sizeof(TableCell))
        if not 0 <= self.text_start[node] <= self.text_end[node] <= PyUnicode_GET_LENGTH(self.text):
            raise ValueError(f"node {node} is outside the text")
        check_parent(self.parent, node)
        cell.node, cell.row, cell.column, cell.rows, cell.columns, cell.header = node, row, column, rows, columns, 0
        self.rows, self.columns = row + 1, max(self.columns, column + columns)
        return 0

    cdef int32_t end_of(self, int32_t node) except -1:
        if not 0 <= node < self.end.shape[0] or not node < self.end[node] <= self.end.shape[0]:
            raise ValueError(f"node {node} is outside the tree")
        return self.end[node]

    cdef Py_ssize_t attribute(self, int32_t node, int name) noexcept:
        """The place of an attribute of a node; -1 if it has none."""
        cdef Py_ssize_t low = 0, found = -1, count = self.attr_node.shape[0]
        if count:
            low = lower_bound(&self.attr_node[0], 0, count, node)
        while low < count and self.attr_node[low] == node:
            if self.attr_name[low] == name:
                found = low
            low += 1
        return found

    cdef int64_t number_in(self, int32_t node, int name) noexcept:
        """The number of one to six digits in an attribute of a node; -1 for anything else."""
        cdef Py_ssize_t found = self.attribute(node, name), k
        cdef int64_t number = 0
        cdef Py_UCS4 c
        if found < 0 or not 0 < self.attr_start[found + 1] - self.attr_start[found] <= 6:
            return -1
        for k in range(self.attr_start[found], self.attr_start[found + 1]):
            c = PyUnicode_READ(PyUnicode_KIND(self.attr_text), PyUnicode_DATA(self.attr_text), k)
            if not 48 <= c <= 57:
                return -1
            number = number * 10 + <int64_t>c - 48
        return number


def find_structures(DataTables found, const int32_t[::1] run_start, const int32_t[::1] run_owner,
                    const int32_t[::1] run_before, const uint8_t[::1] bits, tuple limits):
    """Arrays of `Structures`: of nodes (table, cell, list, item, record, field), tables, cells, lists, records, groups.

    `bits` are SPLITS and NO_RECORD of each tag code, the last for all codes beyond; `limits` are LEAST_RECORDS,
    MOST_FIELDS, LONGEST_RECORD and LONGEST_ITEM.
    """
    cdef Scratch scratch = Scratch()
    cdef const uint16_t[::1] tag = found.tag
    cdef const int32_t[::1] parent = found.parent
    cdef const uint8_t[::1] roles = found.roles
    cdef Py_ssize_t size = tag.shape[0], runs = run_owner.shape[0], i, k, r, all_lists = 0, placed
    cdef int32_t at, up, stop
    cdef int role, kind = PyUnicode_KIND(found.text)
    cdef void* data = PyUnicode_DATA(found.text)
    check_runs(run_start, runs, PyUnicode_GET_LENGTH(found.text))
    node_arrays = np.full((6, size), -1, np.int32)
    cdef int32_t[::1] table_of = node_arrays[0], cell_of = node_arrays[1], list_of = node_arrays[2]
    cdef int32_t[::1] item_of = node_arrays[3]
    cdef Buffer tables = Buffer(), cells = Buffer()
    cdef int32_t tables_count = 0, cells_count = 0
    cdef TableCell* cell
    cdef int32_t* table
    stop = 0
    for i in range(1, size):
        check_parent(parent, i)
        role = role_of(roles, tag[i]) & ROLE
        all_lists += role == LIST
        if i < stop or role != TABLE and role != PAIRS or not found.has_data(<int32_t>i):
            continue
        stop = found.end[i]
        if role == TABLE and found.is_line:
            continue  # one row without headers has nothing to align
        placed = found.place(<int32_t>i, None)
        for k in range(i, stop):
            table_of[k] = tables_count
        for k in range(placed):
            cell = (<TableCell*>found.placed.column.data) + k
            push(&cells.column, cell, sizeof(TableCell))
            for at in range(cell.node, found.end[cell.node]):
                cell_of[at] = cells_count + <int32_t>k
        table = <int32_t*>added(&tables.column, 4 * sizeof(int32_t))
        table[0], table[1], table[2], table[3] = <int32_t>i, found.rows, found.columns, cells_count
        tables_count += 1
        cells_count += <int32_t>placed
    # lists, and siblings of one style
    cdef Buffer siblings = Buffer()
    cdef int32_t* kin = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef uint8_t* owns = <uint8_t*>scratch.room(size, 1)
    _group_siblings(found, run_start, run_owner, run_before, bits, table_of, limits, kin, owns, &siblings.column)
    cdef Siblings* group = <Siblings*>siblings.column.data
    cdef Py_ssize_t groups = siblings.column.used // sizeof(Siblings), record_groups = 0, records = 0, g
    for g in range(groups):
        if group[g].what == RECORDS:
            group[g].number = <int32_t>record_groups
            record_groups += 1
            records += group[g].count
        elif group[g].what == ITEMS:
            group[g].number = <int32_t>all_lists
            all_lists += 1
    list_arrays = np.zeros((4, all_lists), np.int32)
    cdef int32_t[::1] list_node = list_arrays[0], list_items = list_arrays[1], list_marks = list_arrays[2]
    cdef int32_t[::1] list_links = list_arrays[3]
    cdef Py_ssize_t lists = 0, marks
    cdef int32_t* number_of = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef uint8_t* linked = <uint8_t*>scratch.room(size, 1)
    if all_lists:
        for i in range(1, size):
            role = role_of(roles, tag[i]) & ROLE
            up = parent[i]
            linked[i] = linked[up] or role == LINK
            g = kin[i]
            if number_of[up]:
                list_of[i] = number_of[up] - 1
            elif g >= 0 and group[g].what == ITEMS:
                list_of[i] = group[g].number
                list_node[list_of[i]] = up
            else:
                list_of[i], item_of[i] = list_of[up], item_of[up]
            if number_of[up] or g >= 0 and group[g].what == ITEMS:
                item_of[i] = <int32_t>i
                list_items[list_of[i]] += 1
            if role == LIST:
                list_node[lists] = <int32_t>i
                lists += 1
                number_of[i] = <int32_t>lists
        for r in range(runs):
            at = list_of[run_owner[r]]
            if at < 0:
                continue
            marks = 0
            for k in range(after_blanks(kind, data, run_start[r], run_start[r + 1]), run_start[r + 1]):
                marks += not Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, k))
            list_marks[at] += marks
            if linked[run_owner[r]]:
                list_links[at] += marks
    record_arrays = np.zeros((3, records), np.int32)
    group_arrays = np.zeros((3, record_groups), np.int32)
    if records:
        _align_fields(parent, found.style, kin, owns, group, node_arrays[4], node_arrays[5], record_arrays[0],
                      record_arrays[1], record_arrays[2], group_arrays[0], group_arrays[1], group_arrays[2])
    return (
        node_arrays,
        filled(np.empty(4 * tables_count, np.int32), &tables.column).reshape(-1, 4).T,
        filled(np.empty(6 * cells_count, np.int32), &cells.column).reshape(-1, 6).T,
        list_arrays,
        record_arrays,
        group_arrays,
    )


cdef int _group_siblings(DataTables page, const int32_t[::1] run_start, const int32_t[::1] run_owner,
                         const int32_t[::1] run_before, const uint8_t[::1] bits, const int32_t[::1] table_of,
                         tuple limits, int32_t* kin, uint8_t* owns, Column* found) except -1:
    """Group the children of each element that have blocks and follow each other in the same style.

    `kin` gets the group of each node, -1 for none; `owns` which nodes are the nearest around a block with text. Items
    of a list and rows of a table have the same style if they have the same tag.
    """
    cdef Scratch scratch = Scratch()
    cdef const uint16_t[::1] tag = page.tag
    cdef const int32_t[::1] parent = page.parent
    cdef Py_ssize_t size = tag.shape[0], runs = run_owner.shape[0], i, r, k
    cdef int kind = PyUnicode_KIND(page.text)
    cdef void* data = PyUnicode_DATA(page.text)
    cdef int32_t* around = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int32_t* opened = <int32_t*>scratch.room(size + 1, sizeof(int32_t))
    cdef int32_t* blocks = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int64_t* marks = <int64_t*>scratch.room(size, sizeof(int64_t))
    cdef int32_t* last = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef int32_t holder = -1, open_now = -1, before, up
    cdef int64_t least, most_fields, longest_record, longest_item
    cdef uint8_t own
    cdef bint is_new = True
    cdef Siblings* group
    least, most_fields, longest_record, longest_item = limits
    check_columns(run_before.shape[0] == runs)
    for i in range(size):
        own = bits[min(tag[i], bits.shape[0] - 1)]
        around[i] = <int32_t>i if own & SPLITS else around[parent[i]] if i else 0
        opened[i + 1] = opened[i] + (own & SPLITS != 0)
        kin[i] = -1
    for r in range(runs):
        if not (0 <= run_owner[r] < size and 0 <= run_before[r] <= size):
            raise ValueError(f"run {r} is outside the tree")
        if holder != around[run_owner[r]] or opened[run_before[r]] != open_now:
            is_new = True
        holder, open_now = around[run_owner[r]], opened[run_before[r]]
        k = after_blanks(kind, data, run_start[r], run_start[r + 1])
        if k < run_start[r + 1]:
            blocks[holder] += is_new
            marks[holder] += run_start[r + 1] - k
            owns[holder] = 1
            is_new = False
    for i in range(size - 1, 0, -1):
        blocks[parent[i]] += blocks[i]
        marks[parent[i]] += marks[i]
    for i in range(1, size):
        if not blocks[i]:
            continue
        up = parent[i]
        before = last[up] - 1
        last[up] = <int32_t>(i + 1)
        if table_of[i] >= 0 or bits[min(tag[i], bits.shape[0] - 1)] & NO_RECORD:
            continue
        if before >= 0 and kin[before] >= 0 and tag[i] == tag[before] and (
            page.style[i] == page.style[before] or role_of(page.roles, tag[i]) & ROLE == ROW
            or role_of(page.roles, tag[up]) & ROLE == LIST
        ):
            kin[i] = kin[before]
        else:
            kin[i] = <int32_t>(found.used // sizeof(Siblings))
            group = <Siblings*>added(found, sizeof(Siblings))
            group[0] = Siblings(up, 0, 0, 0, 0, -1, 0)
        group = <Siblings*>found.data + kin[i]
        group.count += 1
        group.blocks += blocks[i]
        group.several += blocks[i] > 1
        group.marks += marks[i]
    group = <Siblings*>found.data
    for k in range(<Py_ssize_t>(found.used // sizeof(Siblings))):
        if group[k].count < least:
            continue
        if 2 * group[k].several >= group[k].count:
            if group[k].blocks <= most_fields * group[k].count and group[k].marks <= longest_record * group[k].count:
                group[k].what = RECORDS
        elif group[k].marks <= longest_item * group[k].count and role_of(page.roles, tag[group[k].node]) & ROLE != LIST:
            group[k].what = ITEMS
    return 0


cdef int _align_fields(const int32_t[::1] parent, const uint64_t[::1] style, const int32_t* kin, const uint8_t* owns,
                       const Siblings* group, int32_t[::1] record_of, int32_t[::1] field_of,
                       int32_t[::1] record_node, int32_t[::1] record_group, int32_t[::1] record_number,
                       int32_t[::1] group_node, int32_t[::1] group_records, int32_t[::1] group_fields) except -1:
    """Number the records, the innermost around each node, and in each group the fields, which have the same styles
    from the record down to the element of the block."""
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t size = parent.shape[0], i, room = 16, records = 0, owners = 0, at
    cdef int32_t g, up
    cdef uint64_t* path = <uint64_t*>scratch.room(size, sizeof(uint64_t))
    cdef uint64_t wanted
    for i in range(size):
        owners += owns[i]
    while room < 2 * owners:
        room *= 2
    cdef uint64_t* keys = <uint64_t*>scratch.room(room, sizeof(uint64_t))
    cdef int32_t* fields = <int32_t*>scratch.room(room, sizeof(int32_t))
    for i in range(1, size):
        up, g = parent[i], kin[i]
        if g >= 0 and group[g].what == RECORDS:
            record_of[i] = <int32_t>records
            record_node[records], record_group[records] = <int32_t>i, group[g].number
            g = group[g].number
            record_number[records] = group_records[g]
            group_node[g] = up
            group_records[g] += 1
            records += 1
            path[i] = mixed(<uint64_t>g + 1)
        elif record_of[up] >= 0:
            record_of[i] = record_of[up]
            path[i] = mixed(path[up] * GOLDEN + style[i])
        if not owns[i] or record_of[i] < 0:
            continue
        wanted = path[i] | 1
        at = <Py_ssize_t>((wanted >> 1) & <uint64_t>(room - 1))
        while keys[at] and keys[at] != wanted:
            at = (at + 1) & (room - 1)
        if not keys[at]:
            keys[at] = wanted
            g = record_group[record_of[i]]
            fields[at] = group_fields[g]
            group_fields[g] += 1
        field_of[i] = fields[at]
    return 0


cdef bint _ends_with_colon(int kind, void* data, int32_t start, int32_t stop) noexcept:
    while stop > start and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, stop - 1)):
        stop -= 1
    return stop > start and (
        PyUnicode_READ(kind, data, stop - 1) == 58 or PyUnicode_READ(kind, data, stop - 1) == 0xFF1A
    )


cdef struct RowFacts:
    uint64_t key        # of the styles of its row and of its first and last cell
    int32_t cells
    int32_t said        # cells with text
    int32_t heads       # of those, header cells
    int32_t numbers     # of those, cells with more digits than letters
    int32_t values      # cells with text that are not in the first column; in tables of two columns, all
    int32_t measures    # of those, numbers
    int32_t widest      # columns of its widest cell


cdef inline bint _is_title(const RowFacts* row, int32_t columns) noexcept:
    return row.said <= 1 and (row.cells <= 1 or row.widest >= columns)


cdef int mark_headers(DataTables found, bint is_pairs) except -1:
    """Mark the cells of a table that are headers of columns, of rows, or of the rows that follow.

    Column headers are the rows of header cells; or else the rows without numbers above a table of numbers, or a first
    row in a style of its own. Rows that are one cell may be above them, and a later row like them is one, too.
    """
    cdef Scratch scratch = Scratch()
    cdef int32_t rows = found.rows, columns = found.columns
    cdef RowFacts* facts = <RowFacts*>scratch.room(rows + 1, sizeof(RowFacts))
    cdef int32_t* colons = <int32_t*>scratch.room(columns + 1, sizeof(int32_t))  # twice cells with one, less all cells
    cdef TableCell* cell = <TableCell*>found.placed.column.data
    cdef Py_ssize_t count = found.placed.column.used // sizeof(TableCell), c
    cdef int32_t k, row, digits, letters, labelled = 0, first = 0, stop = 0
    cdef int kind = PyUnicode_KIND(found.text), role
    cdef void* data = PyUnicode_DATA(found.text)
    cdef bint says, has_spans = False, has_style = True, is_like
    cdef Py_UCS4 letter
    if columns < 2:
        return 0
    for c in range(count):
        row = cell[c].row
        digits = letters = 0
        says = False
        for k in range(found.text_start[cell[c].node], found.text_end[cell[c].node]):
            letter = PyUnicode_READ(kind, data, k)
            if 48 <= letter <= 57 or letter > 127 and Py_UNICODE_ISDECIMAL(letter):
                digits += 1
            elif Py_UNICODE_ISALPHA(letter):
                letters += 1
            says = says or not Py_UNICODE_ISSPACE(letter)
        if cell[c].columns == 1 and says:
            colons[cell[c].column] += 1 if _ends_with_colon(
                kind, data, found.text_start[cell[c].node], found.text_end[cell[c].node]
            ) else -1
        if not facts[row].cells:
            facts[row].key = found.style[found.parent[cell[c].node]] * GOLDEN + found.style[cell[c].node]
        if c + 1 == count or cell[c + 1].row != row:
            facts[row].key = mixed(facts[row].key * GOLDEN + found.style[cell[c].node])
        has_spans |= cell[c].rows > 1
        facts[row].cells += 1
        facts[row].widest = max(facts[row].widest, cell[c].columns)
        if says:
            role = role_of(found.roles, found.tag[cell[c].node]) & ROLE
            facts[row].said += 1
            facts[row].numbers += digits > letters
            if cell[c].column or columns == 2:
                facts[row].values += 1
                facts[row].measures += digits > letters
            facts[row].heads += role == HEAD_CELL or (
                role_of(found.roles, found.tag[found.parent[found.parent[cell[c].node]]]) & ROLE == HEAD
            )
            labelled += cell[c].column == 0
    if not is_pairs and rows > 1:
        while first < rows - 1 and not facts[first].heads and _is_title(&facts[first], columns):
            first += 1
        stop = first
        while stop < rows - 1 and facts[stop].said == facts[stop].heads:
            stop += 1
        if stop == rows - 1 and facts[stop].said == facts[stop].heads:
            stop = rows = first + 1  # header cells only: a table of headers has one header row
        elif stop == first:
            stop = _plain_headers(facts, first, rows, columns)
    for row in range(stop, rows):
        has_style = has_style and not (stop and facts[row].numbers and facts[row].key == facts[stop - 1].key)
    for c in range(count):
        row = cell[c].row
        is_like = rows > row >= stop > first and facts[row].said > 1 and not facts[row].numbers and (
            facts[row].said == facts[row].heads or has_style and facts[row].key == facts[stop - 1].key
        )
        if first <= row < stop or is_like:
            cell[c].header = COLUMN_HEADER
        elif facts[row].said == 1 and (cell[c].columns >= columns or facts[row].cells == 1 and not has_spans):
            cell[c].header = GROUP_HEADER
        elif cell[c].column == 0 and 2 * labelled >= found.rows or colons[cell[c].column] > 0 and cell[c].columns == 1:
            cell[c].header = ROW_HEADER
    return 0


cdef int32_t _plain_headers(RowFacts* facts, int32_t first, int32_t rows, int32_t columns) noexcept:
    """The row after the column headers of a table without header cells, of which the first row is `first`."""
    cdef int32_t stop = first, row, values = 0, measures = 0, seen = 0
    if facts[first].said < 2 or rows - first < 3 and columns < 3:
        return first
    while stop < rows - 1 and stop < first + (MOST_HEADER_ROWS if columns > 2 else 1) and (
        facts[stop].said > 1 and not facts[stop].numbers
    ):
        stop += 1
    for row in range(stop, rows):
        if not _is_title(&facts[row], columns):
            values += facts[row].values
            measures += facts[row].measures
    if stop > first and 2 * measures >= values:
        return stop
    for row in range(first + 1, rows):  # a first row in a style of its own, above rows that resemble each other
        if facts[row].key == facts[first].key:
            return first
        seen += row > first + 1 and facts[row].key == facts[row - 1].key or (
            row > first + 2 and facts[row].key == facts[row - 2].key
        )
    return first + (rows - first > 2 and 2 * seen >= rows - first - 2)


cdef inline double logit(double p) noexcept:
    return log(max(p, 1e-9) / max(1 - p, 1e-9))


def pool_tables(const int32_t[::1] cell, const int32_t[::1] table, const int32_t[:, ::1] tables,
                const int32_t[:, ::1] cells, const double[::1] probability, const uint64_t[::1] text, counted,
                double lower, double few):
    """Give each block of a table the probability of its table, or of its row or column if that is `lower` in log odds.

    `cell` and `table` are those of each block, or -1. Blocks that are not `counted`, because the site repeats them, count
    only in rows that have no other, and in columns that have no other and one `text` (its key) only: figures such as 0, 1
    and 2 are on every page, but their column is not the site's. If the counted ones have less than `few` of all, the site repeats
    the table, and each row and column has its own probability. What the site repeats in a cell of several blocks may go.
    """
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] counts = bytes_of(counted)
    cdef Py_ssize_t size = probability.shape[0], tables_count = tables.shape[1], i, t, k, rows, lines = 0
    cdef int32_t c, r
    cdef int64_t* base = <int64_t*>scratch.room(tables_count + 1, sizeof(int64_t))
    cdef double[::1] found = np.array(probability)
    cdef double whole, high, group, section
    cdef bint alone
    check_columns(cell.shape[0] == table.shape[0] == counts.shape[0] == text.shape[0] == size)
    for t in range(tables_count):
        base[t] = lines
        lines += tables[1, t] + tables[2, t]
    base[tables_count] = lines
    # sums of the lines (rows, then columns of each table): counted blocks, all blocks
    cdef double* sums = <double*>scratch.room(4 * lines + 4, sizeof(double))
    cdef double* totals = <double*>scratch.room(4 * tables_count + 4, sizeof(double))
    cdef double* line = <double*>scratch.room(lines + 1, sizeof(double))
    cdef uint8_t* heads = <uint8_t*>scratch.room(lines + 1, 1)
    cdef Scratch texts = Scratch()
    cdef uint8_t* differs = <uint8_t*>texts.room(lines + 1, 1)
    cdef uint64_t* said = <uint64_t*>texts.room(lines + 1, sizeof(uint64_t))
    cdef uint8_t* only_heads = <uint8_t*>scratch.room(tables_count, 1)
    cdef double* top = <double*>scratch.room(tables_count, sizeof(double))
    cdef double* rest = <double*>scratch.room(4 * tables_count, sizeof(double))
    for i in range(size):
        c, t = cell[i], table[i]
        if c < 0 or t < 0:
            continue
        r = <int32_t>(base[t] + cells[1, c])
        k = base[t] + tables[1, t] + cells[2, c]
        if cells[5, c] & COLUMN_HEADER:
            heads[r] |= COLUMN_HEADER
            continue
        if cells[5, c] & GROUP_HEADER:
            heads[r] |= GROUP_HEADER
        elif cells[5, c] & ROW_HEADER:
            heads[k] |= ROW_HEADER
            if not counts[i]:
                continue
        _add(sums + 4 * r, probability[i], 1.0, counts[i])
        if cells[5, c] & GROUP_HEADER:
            continue
        differs[k] |= sums[4 * k + 3] > 0 and said[k] != text[i]
        said[k] = text[i]
        _add(sums + 4 * k, probability[i], 1.0, counts[i])
        _add(totals + 4 * t, probability[i], 1.0, counts[i])
    for t in range(tables_count):
        only_heads[t] = not totals[4 * t + 3]
    for i in range(size):
        if cell[i] >= 0 and table[i] >= 0 and only_heads[table[i]]:
            _add(totals + 4 * table[i], probability[i], 1.0, counts[i])
    # rows and columns that are foreign, and then the rest without them
    for t in range(tables_count):
        if not totals[4 * t + 3]:
            continue
        top[t] = _mean(totals + 4 * t)
        alone = totals[4 * t + 1] < few * totals[4 * t + 3]
        for k in range(base[t], base[t + 1]):
            line[k] = -1
            if sums[4 * k + 3] and (alone or sums[4 * k + 1] or not differs[k]):
                high = _mean(sums + 4 * k)
                if alone or logit(high) < logit(top[t]) - lower:
                    line[k] = high
    for i in range(size):
        c, t = cell[i], table[i]
        if c >= 0 and t >= 0 and line[base[t] + cells[1, c]] < 0 and line[base[t] + tables[1, t] + cells[2, c]] < 0:
            if not cells[5, c] & (COLUMN_HEADER | GROUP_HEADER) and (counts[i] or not cells[5, c] & ROW_HEADER):
                _add(rest + 4 * t, probability[i], 1.0, counts[i])
    for t in range(tables_count):
        if not totals[4 * t + 3]:
            continue
        whole = _mean(rest + 4 * t) if rest[4 * t + 3] else top[t]
        for k in range(base[t], base[t + 1]):
            if line[k] < 0:
                line[k] = whole
        # headers have the highest probability of what they head
        high = group = section = 0
        rows = base[t]
        while rows < base[t] + tables[1, t] - 1 and heads[rows]:
            rows += 1  # the headers of the whole table
        for k in range(base[t] + tables[1, t] - 1, base[t] - 1, -1):
            if heads[k] & COLUMN_HEADER:
                group = section if k > rows else high
                line[k] = group if group else whole
                continue
            if heads[k] & GROUP_HEADER:
                if group:
                    line[k] = group
                group = section = 0
            else:
                if heads[k + 1] & COLUMN_HEADER:
                    group = section = 0
                group = max(group, line[k])
                section = max(section, line[k])
            if line[k] > high:
                high = line[k]
        top[t] = high if high else whole
        high = 0
        for k in range(base[t + 1] - 1, base[t] + tables[1, t] - 1, -1):
            if not heads[k]:
                high = line[k]
            elif high:  # labels of the column to the right
                line[k] = max(line[k], high) if k == base[t] + tables[1, t] else high
    for i in range(size):
        t, c = table[i], cell[i]
        if t < 0 or not totals[4 * t + 3]:
            continue
        whole = high = 0
        if c < 0:  # the caption
            found[i] = top[t]
            continue
        for k in range(base[t] + cells[1, c], base[t] + min(cells[1, c] + cells[3, c], tables[1, t])):
            whole = max(whole, line[k])
        for k in range(cells[2, c], min(cells[2, c] + cells[4, c], tables[2, t])):
            high = max(high, line[base[t] + tables[1, t] + k])
        found[i] = min(whole, high)
        if not counts[i] and (i and cell[i - 1] == c or i + 1 < size and cell[i + 1] == c):
            found[i] = min(found[i], probability[i])
    return found.base


cdef inline void _add(double* sums, double probability, double weight, bint counts) noexcept:
    if counts:
        sums[0] += weight * probability
        sums[1] += weight
    sums[2] += weight * probability
    sums[3] += weight


cdef inline double _mean(const double* sums) noexcept:
    """The mean of the counted blocks, or of all where none is counted."""
    return sums[0] / sums[1] if sums[1] else sums[2] / sums[3]


def pool_lists(const int32_t[::1] list_of, const int32_t[::1] item, const int32_t[:, ::1] lists,
               const double[::1] probability, const double[::1] weight, counted, heading, double lower, double few,
               double plain, double most_words, double no_links):
    """Give each item of a list the probability of its list, or of the item if that is `lower` in log odds.

    Lists without links whose items have at most `most_words` words on average gain `plain` log odds. A list that is not
    mostly links is as probable as the text both before and after it. Items keep their probabilities if the site repeats
    the list: if the `counted` ones have less than `few` of the words. What the site repeats in an item of several blocks
    may go. `list_of` and `item` are those of each block, -1 for blocks to leave.
    """
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] counts = bytes_of(counted), is_heading = bytes_of(heading)
    cdef Py_ssize_t size = probability.shape[0], count = lists.shape[1], i, l, last
    cdef double[::1] found = np.array(probability)
    cdef double* sums = <double*>scratch.room(4 * count, sizeof(double))
    cdef double* mean = <double*>scratch.room(count, sizeof(double))
    cdef double* before = <double*>scratch.room(count, sizeof(double))
    cdef double* after = <double*>scratch.room(count, sizeof(double))
    cdef int32_t* blocks = <int32_t*>scratch.room(count, sizeof(int32_t))
    cdef double item_sums[4]
    cdef double own
    cdef bint several
    check_columns(list_of.shape[0] == item.shape[0] == weight.shape[0] == counts.shape[0] == is_heading.shape[0] == size)
    for i in range(size):
        if list_of[i] >= 0:
            _add(sums + 4 * list_of[i], probability[i], weight[i], counts[i])
            blocks[list_of[i]] += 1
    for l in range(count):
        if sums[4 * l + 3] and blocks[l] <= 2 * lists[1, l]:
            mean[l] = _mean(sums + 4 * l)
        else:
            blocks[l] = 0  # items of many blocks are no plain list
    _lead(list_of, lists, probability, is_heading, mean, blocks, before, 0, size, 1)
    _lead(list_of, lists, probability, is_heading, mean, blocks, after, size - 1, -1, -1)
    i = 0
    while i < size:
        l = list_of[i]
        if l < 0 or not blocks[l]:
            i += 1
            continue
        last = i
        item_sums[0] = item_sums[1] = item_sums[2] = item_sums[3] = 0
        while last < size and list_of[last] == l and item[last] == item[i]:
            _add(item_sums, probability[last], weight[last], counts[last])
            last += 1
        own = _mean(item_sums)
        if sums[4 * l + 1] >= few * sums[4 * l + 3] and logit(own) >= logit(mean[l]) - lower:
            own = mean[l]
            if lists[3, l] <= no_links * lists[2, l] and sums[4 * l + 3] <= most_words * lists[1, l]:
                own = 1 / (1 + exp(-logit(own) - plain))
            own = max(own, min(before[l], after[l]))
        several = last > i + 1
        while i < last:
            found[i] = min(own, probability[i]) if several and not counts[i] else own
            i += 1
    return found.base


cdef int _lead(const int32_t[::1] list_of, const int32_t[:, ::1] lists, const double[::1] probability,
               const uint8_t[::1] is_heading, const double* mean, const int32_t* blocks, double* lead,
               Py_ssize_t start, Py_ssize_t stop, Py_ssize_t step) except -1:
    """For each plain list the probability of the last block before it, in the direction of `step`, that is no heading.

    Of several lists in a row each one has that of the block before the first, or of a more probable list between.
    """
    cdef Py_ssize_t i = start, l
    cdef double last = 0
    while i != stop:
        l = list_of[i]
        if l >= 0 and blocks[l] and 2 * lists[3, l] <= lists[2, l]:
            if not lead[l]:
                lead[l] = last
                last = max(mean[l], last)
        elif not is_heading[i]:
            last = probability[i]
        i += step
    return 0


def neighbours(str text, const int32_t[::1] run_start, const int32_t[::1] run_owner, const int64_t[::1] first_run,
               const int32_t[::1] said, const int32_t[::1] owner, const uint16_t[::1] tag, const int32_t[::1] parent,
               const uint8_t[::1] roles, int32_t most_chars, int32_t most_words):
    """Bits of each block with text: it is close to the next (1), ends with a colon (2), is short (4), is no link (8).

    Two blocks are close if the element of the second, or the one around it, or the row of a table that it is in,
    contains the first at most three levels down.
    """
    cdef Py_ssize_t size = said.shape[0], i, b, r, nodes = parent.shape[0], runs = run_start.shape[0] - 1
    cdef int kind = PyUnicode_KIND(text)
    cdef void* data = PyUnicode_DATA(text)
    cdef int32_t start, stop, k, words, holder, x
    cdef int steps
    cdef bint space
    cdef uint8_t[::1] found = np.zeros(size, np.uint8)
    check_runs(run_start, runs, PyUnicode_GET_LENGTH(text))
    check_columns(run_owner.shape[0] == runs and tag.shape[0] == nodes and first_run.shape[0] == owner.shape[0] + 1)
    for i in range(size):
        b = said[i]
        if not (0 <= b < owner.shape[0] and 0 <= first_run[b] <= first_run[b + 1] <= runs and 0 <= owner[b] < nodes):
            raise ValueError(f"block {b} is outside the page")
        start, stop = run_start[first_run[b]], run_start[first_run[b + 1]]
        while stop > start and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, stop - 1)):
            stop -= 1
        while start < stop and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, start)):
            start += 1
        if not 0 < stop - start <= most_chars:
            continue
        words, space = 1, False
        for k in range(start, stop):
            if Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, k)):
                space = True
            else:
                words += space
                space = False
        if words > most_words:
            continue
        found[i] |= 4
        if _ends_with_colon(kind, data, start, stop):
            found[i] |= 2
        for r in range(first_run[b], first_run[b + 1]):
            if run_start[r] >= stop or run_start[r + 1] <= start:
                continue
            x = run_owner[r]
            for steps in range(4):
                if not 0 < x < nodes or x == owner[b] or role_of(roles, tag[x]) & ROLE == LINK:
                    break
                x = parent[x]
            if not 0 < x < nodes or role_of(roles, tag[x]) & ROLE != LINK:
                found[i] |= 8
                break
        if i + 1 < size and 0 <= said[i + 1] < owner.shape[0] and 0 < owner[said[i + 1]] < nodes:
            holder = owner[said[i + 1]]
            x = holder
            for steps in range(4):
                if x <= 0 or role_of(roles, tag[x]) & ROLE == ROW:
                    break
                x = parent[x]
            if x > 0 and role_of(roles, tag[x]) & ROLE == ROW:
                holder = x
            elif parent[holder] > 0 and owner[b] != holder:
                holder = parent[holder]
            x = owner[b]
            for steps in range(5):
                if x == holder:
                    found[i] |= 1
                    break
                if x <= 0:
                    break
                x = parent[x]
    return found.base
