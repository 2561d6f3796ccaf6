# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Loops that find the structures above blocks, and pool probabilities over them."""

from libc.math cimport exp, log
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

import numpy as np

from webwinnow._hashing cimport GOLDEN, mixed
from webwinnow._memory cimport Buffer, Scratch, added, bytes_of, check_columns, check_parent, check_runs
from webwinnow._unicode cimport (
    Py_UNICODE_ISDECIMAL, Py_UNICODE_ISSPACE, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ,
)

cdef enum:
    # the role of a tag (structures.py), and a flag above it
    TABLE = 1
    ROW, CELL, HEAD_CELL, HEAD, LIST, PAIRS, TERM, VALUE, LINK
    ROLE = 31
    NO_DATA = 32
    # header bits of a cell
    COLUMN_HEADER = 1
    ROW_HEADER = 2
    GROUP_HEADER = 4
    # bits of a table element while its cells are counted
    FOREIGN = 1
    HAS_HEADS = 2


cdef struct Counts:
    int32_t rows
    int32_t cells
    int32_t bits


cdef inline int role_of(const uint8_t[::1] roles, uint16_t tag) noexcept:
    return roles[tag if tag < roles.shape[0] else 0]


cdef int64_t number_in(int kind, void* data, int32_t start, int32_t stop) noexcept:
    """A number of one to six digits; -1 for anything else."""
    cdef int64_t number = 0
    cdef int32_t k
    cdef Py_UCS4 c
    if not 0 < stop - start <= 6:
        return -1
    for k in range(start, stop):
        c = PyUnicode_READ(kind, data, k)
        if not 48 <= c <= 57:
            return -1
        number = number * 10 + <int64_t>c - 48
    return number


def find_structures(const uint16_t[::1] tag, const int32_t[::1] parent, const int32_t[::1] end,
                    const uint64_t[::1] style, str text, const int32_t[::1] text_start, const int32_t[::1] text_end,
                    const int32_t[::1] run_start, const int32_t[::1] run_owner, str attr_text,
                    const int32_t[::1] attr_node, const uint8_t[::1] attr_name, const int32_t[::1] attr_start,
                    const uint8_t[::1] roles, tuple limits, tuple names):
    """Arrays of `Structures`: of nodes (table, cell, list, item), of tables, of cells and of lists.

    `roles` has the role of each tag code, `limits` are LONGEST_CELL, MOST_SPAN and MOST_ADDED_CELLS, and `names` the
    codes of colspan, rowspan and role.
    """
    cdef Scratch scratch = Scratch()
    cdef Py_ssize_t size = tag.shape[0], runs = run_owner.shape[0], i, k, r
    cdef Py_ssize_t all_cells = 0, all_rows = 0, all_tables = 0, all_lists = 0
    cdef int32_t up, at, longest, most_span
    cdef int64_t most_added, number
    cdef int colspan_code, rowspan_code, role_code, role, kind = PyUnicode_KIND(text)
    cdef int attr_kind = PyUnicode_KIND(attr_text)
    cdef void* data = PyUnicode_DATA(text)
    cdef void* attr_data = PyUnicode_DATA(attr_text)
    check_columns(parent.shape[0] == end.shape[0] == style.shape[0] == text_start.shape[0] == text_end.shape[0] == size)
    check_columns(attr_name.shape[0] == attr_node.shape[0])
    check_runs(run_start, runs, PyUnicode_GET_LENGTH(text))
    check_runs(attr_start, attr_node.shape[0], PyUnicode_GET_LENGTH(attr_text))
    longest, most_span, most_added = limits
    colspan_code, rowspan_code, role_code = names
    node_arrays = np.full((4, size), -1, np.int32)
    cdef int32_t[::1] table_of = node_arrays[0], cell_of = node_arrays[1], list_of = node_arrays[2]
    cdef int32_t[::1] item_of = node_arrays[3]
    cdef int32_t* around = <int32_t*>scratch.room(size, sizeof(int32_t))
    cdef Counts* counts = <Counts*>scratch.room(size, sizeof(Counts))
    # which elements are data tables
    for i in range(size):
        if i:
            check_parent(parent, i)
        up = around[parent[i]] if i else -1
        role = role_of(roles, tag[i])
        around[i] = up
        if role & NO_DATA and up >= 0:
            counts[up].bits |= FOREIGN
        role &= ROLE
        if role == TABLE or role == PAIRS:
            around[i] = <int32_t>i
            all_tables += 1
        elif role == LIST:
            all_lists += 1
        elif up >= 0 and role:
            if role == ROW:
                counts[up].rows += 1
                all_rows += 1
            elif role == TERM:
                counts[up].rows += 1
                all_rows += 1
                all_cells += 1
            elif role == CELL or role == HEAD_CELL or role == VALUE:
                counts[up].cells += 1
                all_cells += 1
                if role == HEAD_CELL:
                    counts[up].bits |= HAS_HEADS
                if text_end[i] - text_start[i] > longest:
                    counts[up].bits |= FOREIGN
    for k in range(attr_node.shape[0]):
        if attr_name[k] == role_code and 0 <= attr_node[k] < size and around[attr_node[k]] == attr_node[k]:
            if attr_text[attr_start[k] : attr_start[k + 1]] in ("presentation", "none"):
                counts[attr_node[k]].bits |= FOREIGN
    table_arrays = np.zeros((4, all_tables), np.int32)
    cell_arrays = np.zeros((6, all_cells), np.int32)
    cdef int32_t[::1] table_node = table_arrays[0], table_rows = table_arrays[1], table_columns = table_arrays[2]
    cdef int32_t[::1] table_cell = table_arrays[3]
    cdef int32_t[::1] cell_node = cell_arrays[0], cell_row = cell_arrays[1], cell_column = cell_arrays[2]
    cdef int32_t[::1] cell_rows = cell_arrays[3], cell_columns = cell_arrays[4], cell_header = cell_arrays[5]
    cdef Py_ssize_t tables = 0, cells = 0, attributes = attr_node.shape[0], attribute = 0
    # the grid of each
    cdef Buffer covered = Buffer()  # for each column of the open table the row from which on it is free again
    cdef int32_t row = -1, column = 0, rows, columns
    cdef bint after_value = False
    for i in range(1, size):
        at = around[i]
        if at < 0:
            continue
        role = role_of(roles, tag[i]) & ROLE
        if at == i:
            if counts[i].bits & FOREIGN or not (
                counts[i].rows and counts[i].cells if role == PAIRS
                else counts[i].cells > counts[i].rows and (counts[i].rows > 1 or counts[i].bits & HAS_HEADS)
            ):
                around[i] = -2  # no data table
                continue
            table_node[tables], table_cell[tables] = <int32_t>i, <int32_t>cells
            table_of[i] = <int32_t>tables
            tables += 1
            row = -1
            column = 0
            after_value = True
            covered.column.used = 0
            continue
        if around[at] != at:
            continue
        table_of[i] = <int32_t>(tables - 1)
        cell_of[i] = cell_of[parent[i]]
        if role == ROW:
            row += 1
            column = 0
        elif role == TERM or role == VALUE:
            if role_of(roles, tag[at]) & ROLE != PAIRS:
                continue
            if role == TERM and after_value or row < 0:
                row += 1
            after_value = role == VALUE
            cell_of[i] = <int32_t>cells
            cell_node[cells], cell_row[cells], cell_column[cells] = <int32_t>i, row, role == VALUE
            cell_rows[cells] = cell_columns[cells] = 1
            cells += 1
            table_columns[tables - 1] = 2
            table_rows[tables - 1] = row + 1
        elif role == CELL or role == HEAD_CELL:
            if role_of(roles, tag[at]) & ROLE != TABLE:
                continue
            rows = columns = 1
            while attribute < attributes and attr_node[attribute] < i:
                attribute += 1
            while attribute < attributes and attr_node[attribute] == i:
                if attr_name[attribute] == colspan_code or attr_name[attribute] == rowspan_code:
                    number = number_in(attr_kind, attr_data, attr_start[attribute], attr_start[attribute + 1])
                    number = 1 if number < 1 else most_span if number > most_span else number
                    if attr_name[attribute] == colspan_code:
                        columns = <int32_t>number
                    else:
                        rows = <int32_t>number
                attribute += 1
            if <int64_t>rows * columns - 1 > most_added:
                rows = columns = 1
            most_added -= <int64_t>rows * columns - 1
            if row < 0:
                row = 0
            while <size_t>column * sizeof(int32_t) < covered.column.used and (
                (<int32_t*>covered.column.data)[column] > row
            ):
                column += 1
            cell_of[i] = <int32_t>cells
            cell_node[cells], cell_row[cells], cell_column[cells] = <int32_t>i, row, column
            cell_rows[cells], cell_columns[cells] = rows, columns
            cells += 1
            for k in range(columns):
                while <size_t>column * sizeof(int32_t) >= covered.column.used:
                    (<int32_t*>added(&covered.column, sizeof(int32_t)))[0] = 0
                (<int32_t*>covered.column.data)[column] = row + rows
                column += 1
            if column > table_columns[tables - 1]:
                table_columns[tables - 1] = column
            table_rows[tables - 1] = row + 1
    for k in range(tables):
        at = table_cell[k + 1] if k + 1 < tables else <int32_t>cells
        _mark_headers(k, table_cell[k], at, table_rows[k], table_columns[k], tag, parent, style, kind, data, text_start,
                      text_end, roles, cell_node, cell_row, cell_column, cell_rows, cell_columns, cell_header)
    # lists
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
            if number_of[up]:
                list_of[i] = number_of[up] - 1
                item_of[i] = <int32_t>i
                list_items[number_of[up] - 1] += 1
            else:
                list_of[i], item_of[i] = list_of[up], item_of[up]
            if role == LIST:
                list_node[lists] = <int32_t>i
                lists += 1
                number_of[i] = <int32_t>lists
        for r in range(runs):
            if not 0 <= run_owner[r] < size:
                raise ValueError(f"run {r} is outside the tree")
            at = list_of[run_owner[r]]
            if at < 0:
                continue
            marks = 0
            for k in range(run_start[r], run_start[r + 1]):
                marks += not Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, k))
            list_marks[at] += marks
            if linked[run_owner[r]]:
                list_links[at] += marks
    return node_arrays, table_arrays[:, :tables], cell_arrays[:, :cells], list_arrays


cdef bint _ends_with_colon(int kind, void* data, int32_t start, int32_t stop) noexcept:
    while stop > start and Py_UNICODE_ISSPACE(PyUnicode_READ(kind, data, stop - 1)):
        stop -= 1
    return stop > start and (
        PyUnicode_READ(kind, data, stop - 1) == 58 or PyUnicode_READ(kind, data, stop - 1) == 0xFF1A
    )


cdef struct RowFacts:
    uint64_t key        # of the styles of its row and of its first and last cell
    int32_t said        # cells with text
    int32_t heads       # of those, header cells
    int32_t digits      # of those, cells with a digit
    int32_t widest      # columns of its widest cell


cdef int _mark_headers(Py_ssize_t table, int32_t first, int32_t last, int32_t rows, int32_t columns,
                       const uint16_t[::1] tag, const int32_t[::1] parent, const uint64_t[::1] style, int kind,
                       void* data, const int32_t[::1] text_start, const int32_t[::1] text_end,
                       const uint8_t[::1] roles, int32_t[::1] cell_node, int32_t[::1] cell_row,
                       int32_t[::1] cell_column, int32_t[::1] cell_rows, int32_t[::1] cell_columns,
                       int32_t[::1] cell_header) except -1:
    """Mark the cells of a table that are headers of columns, of rows, or of the rows that follow."""
    cdef Scratch scratch = Scratch()
    cdef RowFacts* facts = <RowFacts*>scratch.room(rows + 1, sizeof(RowFacts))
    cdef int32_t* colons = <int32_t*>scratch.room(columns, sizeof(int32_t))  # twice the cells with one, less all cells
    cdef int32_t c, k, node, row, header_rows = 0, labelled = 0, spoken = 0, with_digits = 0, seen = 0, same = 0
    cdef bint says, digit, is_pairs = False
    cdef Py_UCS4 letter
    cdef int role
    if columns < 2:
        return 0
    for c in range(first, last):
        node, row = cell_node[c], cell_row[c]
        role = role_of(roles, tag[node]) & ROLE
        is_pairs = is_pairs or role == TERM
        says = digit = False
        for k in range(text_start[node], text_end[node]):
            letter = PyUnicode_READ(kind, data, k)
            if 48 <= letter <= 57 or letter > 127 and Py_UNICODE_ISDECIMAL(letter):
                says = digit = True
                break
            says = says or not Py_UNICODE_ISSPACE(letter)
        if cell_columns[c] == 1 and says:
            colons[cell_column[c]] += 1 if _ends_with_colon(kind, data, text_start[node], text_end[node]) else -1
        if c == first or cell_row[c - 1] != row:
            facts[row].key = style[parent[node]] * GOLDEN + style[node]
        if c + 1 == last or cell_row[c + 1] != row:
            facts[row].key = mixed(facts[row].key * GOLDEN + style[node])
        if cell_columns[c] > facts[row].widest:
            facts[row].widest = cell_columns[c]
        if not says:
            continue
        facts[row].said += 1
        facts[row].digits += digit
        facts[row].heads += role == HEAD_CELL or role_of(roles, tag[parent[parent[node]]]) & ROLE == HEAD
        labelled += cell_column[c] == 0
        if row:
            spoken += 1
            with_digits += digit
    if not is_pairs and rows > 1:
        while header_rows < rows - 1 and facts[header_rows].said == facts[header_rows].heads:
            header_rows += 1
        if header_rows == rows - 1 and facts[rows - 1].said == facts[rows - 1].heads:
            header_rows = 1  # header cells only: a table of headers has one header row
        if not header_rows and rows > 2 and facts[0].said > 1:
            if not facts[0].digits and 2 * with_digits >= spoken:
                header_rows = 1
            else:  # a first row in a style of its own
                for row in range(1, rows):
                    same += facts[row].key == facts[0].key
                    seen += row > 1 and facts[row].key == facts[row - 1].key or row > 2 and facts[row].key == facts[
                        row - 2
                    ].key
                header_rows = not same and 2 * seen >= rows - 2
    for c in range(first, last):
        row = cell_row[c]
        if row < header_rows:
            cell_header[c] = COLUMN_HEADER
        elif cell_columns[c] >= columns and facts[row].said == 1:
            cell_header[c] = GROUP_HEADER
        elif cell_column[c] == 0 and 2 * labelled >= rows or colons[cell_column[c]] > 0 and cell_columns[c] == 1:
            cell_header[c] = ROW_HEADER
    return 0


cdef inline double logit(double p) noexcept:
    return log(max(p, 1e-9) / max(1 - p, 1e-9))


def pool_tables(const int32_t[::1] cell, const int32_t[::1] table, const int32_t[:, ::1] tables,
                const int32_t[:, ::1] cells, const double[::1] probability, counted, double lower,
                double few):
    """Give each block of a table the probability of its table, or of its row or column if that is `lower` in log odds.

    `cell` and `table` are those of each block, or -1. Blocks that are not `counted`, because the site repeats them, count
    only in rows and columns that have no other. If the counted ones have less than `few` of all, the site repeats
    the table, and each row and column has its own probability. What the site repeats in a cell of several blocks may go.
    """
    cdef Scratch scratch = Scratch()
    cdef const uint8_t[::1] counts = bytes_of(counted)
    cdef Py_ssize_t size = probability.shape[0], tables_count = tables.shape[1], i, t, k, lines = 0
    cdef int32_t c, r
    cdef int64_t* base = <int64_t*>scratch.room(tables_count + 1, sizeof(int64_t))
    cdef double[::1] found = np.array(probability)
    cdef double whole, high, group
    cdef bint alone
    check_columns(cell.shape[0] == table.shape[0] == counts.shape[0] == size)
    for t in range(tables_count):
        base[t] = lines
        lines += tables[1, t] + tables[2, t]
    base[tables_count] = lines
    # sums of the lines (rows, then columns of each table): counted blocks, all blocks
    cdef double* sums = <double*>scratch.room(4 * lines + 4, sizeof(double))
    cdef double* totals = <double*>scratch.room(4 * tables_count + 4, sizeof(double))
    cdef double* line = <double*>scratch.room(lines + 1, sizeof(double))
    cdef uint8_t* heads = <uint8_t*>scratch.room(lines + 1, 1)
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
            if sums[4 * k + 3]:
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
        high = group = 0
        for k in range(base[t] + tables[1, t] - 1, base[t] - 1, -1):
            if heads[k] & COLUMN_HEADER:
                line[k] = high if high else whole
                continue
            if heads[k] & GROUP_HEADER:
                if group:
                    line[k] = group
                group = 0
            elif line[k] > group:
                group = line[k]
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
    the list: if the `counted` ones have less than `few` of the words. `list_of` and `item` are those of each block, -1
    for blocks to leave.
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
        while i < last:
            found[i] = own
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
