# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Plain text of the kept parts of a page in one pass. tests/oracles/plain_text.py states it with render/flow.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free

import numpy as np

from webwinnow import markup as vocabulary
from webwinnow._memory cimport Column, added, bytes_of, check_columns, check_runs, lower_bound
from webwinnow._unicode cimport (
    Py_UNICODE_ISSPACE, PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ,
)

cdef enum:
    # the role of an element in the flow of text (render/flow.py), and flags above it
    INLINE, LINE, PARAGRAPH, BREAK, ITEM, HEADING, PRE, QUOTE, LIST, TABLE, ROW, CELL, IMAGE, RULE
    ROLE = 15
    SILENT = 16
    HEARD = 32
    PARTS = 64
    NO_DATA = 128
    NUMBERED = 256
    # kinds of passages, by the gaps between them
    TIGHT = 0
    APART = 1       # a paragraph: separate, except from the list item that it begins
    LOOSE = 2
    CODE = 3
    # pieces that are not text of the page
    LINE_BREAK = -1
    BLANK = -2
    NEWLINE = -3
    BULLET = -1     # a list without numbers
    IS_QUOTE = -2

cdef int F_PREFORMATTED = vocabulary.PREFORMATTED


cdef struct Piece:
    int32_t start       # of a run of text, or one of the pieces above
    int32_t end


cdef struct Cell:
    int32_t next        # the cell's first piece in `cell_pieces`
    int32_t last


cdef struct CellPiece:
    Piece piece
    int32_t next


cdef struct Container:
    int32_t node
    int64_t number      # of a list item, BULLET or IS_QUOTE
    int32_t width
    bint opened


cdef struct Row:
    int32_t first
    int32_t cells


cdef inline bint is_space_or_control(Py_UCS4 c) noexcept:
    """White space, or a control character, which is written as a space (render.walk.printable)."""
    if c < 128:
        return c <= 32 or c == 127
    return c < 160 or Py_UNICODE_ISSPACE(c)


cdef inline Py_UCS4 printable(Py_UCS4 c) noexcept:
    if c < 32:
        return c if c == 9 or c == 10 else 32
    return 32 if 127 <= c < 160 or c == 0x2028 or c == 0x2029 else c


cdef class Writer:
    """The state of the flow during the walk (as render.flow._Walk), and the text written so far."""

    cdef int kind_of_text, kind_of_attributes
    cdef void* text
    cdef void* attr_text
    cdef const uint16_t[::1] tag
    cdef const int32_t[::1] end, text_start, text_end, attr_node, attr_start
    cdef const uint8_t[::1] keep, attr_name
    cdef const uint16_t[::1] does
    cdef int32_t[::1] no_data
    cdef Column out, pieces, within, lists, rows, cells, cell_pieces, hanging, scratch
    cdef int kind, last_kind, code
    cdef bint heading, in_table, last_within, has_written
    cdef int32_t cell
    cdef Py_ssize_t added_cells
    cdef Py_ssize_t longest_cell, most_span, most_added, most_containers
    cdef int start_code, colspan_code, rowspan_code

    def __dealloc__(self):
        free(self.out.data); free(self.pieces.data); free(self.within.data); free(self.lists.data)
        free(self.rows.data); free(self.cells.data); free(self.cell_pieces.data); free(self.hanging.data)
        free(self.scratch.data)

    # Called by the walk

    cdef int open(self, int32_t i) except -1:
        cdef int what = self.does_of(i), role = what & ROLE
        if self.code:
            if role == BREAK:
                self.add(NEWLINE, 0)
            else:
                self.code += role == PRE
                self.part_code(role)
        elif role == INLINE:
            pass
        elif self.in_table and (self.cell >= 0 or role == ROW or role == CELL):
            if role == ROW:
                self.open_row()
            elif role == CELL:
                self.flush()
                self.open_cell(i)
            elif self.cell >= 0 and (<Cell*>self.cells.data)[self.cell].next >= 0:
                self.add(BLANK, 0)
        elif role == BREAK:
            self.add(LINE_BREAK, 0)
        else:
            self.flush()
            self.open_passage(i, what)
        return 0

    cdef int open_passage(self, int32_t i, int what) except -1:
        cdef int role = what & ROLE
        cdef bint kept = self.keep[i]
        cdef int64_t number = BULLET
        if role == PRE:
            self.code = 1
            self.kind = CODE if kept else TIGHT
        elif role == LIST:
            if kept and what & NUMBERED:
                number = self.number_in(i, self.start_code, 8)
                if number < 0:
                    number = 1
            (<int64_t*>added(&self.lists, sizeof(int64_t)))[0] = number
        elif role == TABLE:
            if kept and self.is_data_table(i):
                self.new_table()
        elif not kept:
            pass
        elif role == PARAGRAPH:
            self.kind = APART
        elif role == HEADING:
            self.heading = True
            self.kind = LOOSE
        elif role == ITEM:
            if self.lists.used:
                number = self.list_number()[0]
                if number >= 0:
                    self.list_number()[0] = number + 1
            self.open_container(i, number)
        elif role == QUOTE:
            self.open_container(i, IS_QUOTE)
        return 0

    cdef int open_container(self, int32_t i, int64_t number) except -1:
        cdef Container* container
        cdef int64_t rest = number
        if self.within.used >= <size_t>self.most_containers * sizeof(Container):
            return 0
        container = <Container*>added(&self.within, sizeof(Container))
        container.node = i
        container.number = number
        container.opened = False
        container.width = 2
        if number >= 0:
            container.width = 3
            while rest > 9:
                rest //= 10
                container.width += 1
        return 0

    cdef int close(self, int32_t i) except -1:
        cdef int role = self.does_of(i) & ROLE
        if role == INLINE:
            return 0
        if self.code:
            self.code -= role == PRE
            if not self.code:
                self.flush()
            elif role != BREAK:
                self.part_code(role)
        elif self.in_table and role != TABLE and (self.cell >= 0 or role == ROW):
            if role == CELL:
                self.cell = -1
            elif self.cell >= 0 and (<Cell*>self.cells.data)[self.cell].next >= 0:
                self.add(BLANK, 0)
        elif role != BREAK and role != RULE:
            if role == HEADING:
                self.heading = False
            self.flush()
            if role == LIST:
                if self.lists.used:
                    self.lists.used -= sizeof(int64_t)
            elif self.within.used and (<Container*>(self.within.data + self.within.used - sizeof(Container))).node == i:
                self.within.used -= sizeof(Container)
            elif role == TABLE:
                self.end_table()
        return 0

    cdef int part(self, bint silently) except -1:
        if self.in_table and self.cell >= 0:
            self.add(BLANK, 0)
        elif self.code:
            self.part_code(LINE)
        elif silently:
            self.flush()
        elif self.pieces.used:
            self.add(LINE_BREAK, 0)
        return 0

    cdef int say(self, int32_t start, int32_t stop) except -1:
        cdef bint is_first
        if self.in_table and self.cell >= 0:
            is_first = (<Cell*>self.cells.data)[self.cell].next < 0
        else:
            is_first = not self.pieces.used
        if is_first and not self.code and self.is_space(start, stop):
            return 0
        return self.add(start, stop)

    cdef inline Row* row(self) noexcept:
        """The last row."""
        return <Row*>(self.rows.data + self.rows.used - sizeof(Row))

    cdef inline int64_t* list_number(self) noexcept:
        """The number of the innermost list."""
        return <int64_t*>(self.lists.data + self.lists.used - sizeof(int64_t))

    # Pieces

    cdef inline int does_of(self, int32_t i) noexcept:
        return self.does[self.tag[i]] if self.tag[i] < self.does.shape[0] else 0

    cdef bint is_space(self, int32_t start, int32_t stop) noexcept:
        cdef int32_t k
        for k in range(start, stop):
            if not is_space_or_control(PyUnicode_READ(self.kind_of_text, self.text, k)):
                return False
        return True

    cdef int add(self, int32_t start, int32_t stop) except -1:
        cdef Piece* piece
        cdef CellPiece* entry
        cdef Cell* cell
        cdef int32_t at
        if self.in_table and self.cell >= 0 and not self.code:
            at = <int32_t>(self.cell_pieces.used // sizeof(CellPiece))
            entry = <CellPiece*>added(&self.cell_pieces, sizeof(CellPiece))
            entry.piece.start = start
            entry.piece.end = stop
            entry.next = -1
            cell = (<Cell*>self.cells.data) + self.cell
            if cell.next < 0:
                cell.next = at
            else:
                (<CellPiece*>self.cell_pieces.data)[cell.last].next = at
            cell.last = at
            return 0
        piece = <Piece*>added(&self.pieces, sizeof(Piece))
        piece.start = start
        piece.end = stop
        return 0

    cdef int part_code(self, int role) except -1:
        """Inside code, start a new line at a block and put a space between cells, unless the text has done so."""
        cdef Piece* last
        cdef Py_UCS4 c = 0
        if role == INLINE or role == IMAGE or not self.pieces.used:
            return 0
        last = <Piece*>(self.pieces.data + self.pieces.used - sizeof(Piece))
        if last.start >= 0:
            if last.end > last.start:
                c = printable(PyUnicode_READ(self.kind_of_text, self.text, last.end - 1))
        else:
            c = 32 if last.start == BLANK else 10
        if role == CELL:
            if not (c and is_space_or_control(c)):
                self.add(BLANK, 0)
        elif c != 10:
            self.add(NEWLINE, 0)
        return 0

    # Tables

    cdef bint is_data_table(self, int32_t i) noexcept:
        cdef int32_t stop = self.end[i], k
        cdef Py_ssize_t cells = 0, rows = 0, longest = 0
        cdef int role
        if self.no_data[i + 1] < self.no_data[stop]:
            return False
        for k in range(i + 1, stop):
            role = self.does_of(k) & ROLE
            if role == CELL:
                cells += 1
                if self.text_end[k] - self.text_start[k] > longest:
                    longest = self.text_end[k] - self.text_start[k]
            elif role == ROW:
                rows += 1
        return cells > rows and longest <= self.longest_cell

    cdef int new_table(self) except -1:
        self.in_table = True
        self.cell = -1
        self.rows.used = self.cells.used = self.cell_pieces.used = self.hanging.used = 0
        return 0

    cdef int open_row(self) except -1:
        cdef Row* row = <Row*>added(&self.rows, sizeof(Row))
        row.first = <int32_t>(self.cells.used // sizeof(Cell))
        row.cells = 0
        return 0

    cdef int32_t add_cell(self) except -1:
        cdef Cell* cell = <Cell*>added(&self.cells, sizeof(Cell))
        cell.next = cell.last = -1
        self.row().cells += 1
        return <int32_t>(self.cells.used // sizeof(Cell)) - 1

    cdef int open_cell(self, int32_t i) except -1:
        cdef int64_t columns = self.span(i, self.colspan_code), rows = self.span(i, self.rowspan_code), k
        cdef int32_t at, cell
        if self.added_cells + columns * rows - 1 > self.most_added:
            columns = rows = 1
        else:
            self.added_cells += columns * rows - 1
        if not self.rows.used:
            self.open_row()
        while True:
            at = self.row().cells
            if <size_t>at * sizeof(int32_t) >= self.hanging.used or not (<int32_t*>self.hanging.data)[at]:
                break
            (<int32_t*>self.hanging.data)[at] -= 1
            self.add_cell()
        self.cell = -1
        for k in range(columns):
            at = self.row().cells
            if rows > 1:
                while self.hanging.used <= <size_t>at * sizeof(int32_t):
                    (<int32_t*>added(&self.hanging, sizeof(int32_t)))[0] = 0
                (<int32_t*>self.hanging.data)[at] = <int32_t>(rows - 1)
            cell = self.add_cell()
            if self.cell < 0:
                self.cell = cell
        return 0

    cdef int64_t span(self, int32_t i, int name) noexcept:
        cdef int64_t number = self.number_in(i, name, 6)
        return 1 if number < 1 else self.most_span if number > self.most_span else number

    cdef int64_t number_in(self, int32_t i, int name, int longest) noexcept:
        """The number in an attribute of node i, of at most `longest` digits; -1 for anything else."""
        cdef Py_ssize_t low = 0, high = self.attr_node.shape[0], k
        cdef int64_t number = 0
        cdef Py_UCS4 c
        if high:
            low = lower_bound(&self.attr_node[0], 0, high, i)
        high = -1
        while low < self.attr_node.shape[0] and self.attr_node[low] == i:
            if self.attr_name[low] == name:
                high = low
            low += 1
        if high < 0 or not 0 < self.attr_start[high + 1] - self.attr_start[high] <= longest:
            return -1
        for k in range(self.attr_start[high], self.attr_start[high + 1]):
            c = PyUnicode_READ(self.kind_of_attributes, self.attr_text, k)
            if not 48 <= c <= 57:
                return -1
            number = number * 10 + <int64_t>c - 48
        return number

    cdef int end_table(self) except -1:
        cdef Row* rows = <Row*>self.rows.data
        cdef Py_ssize_t count = self.rows.used // sizeof(Row), r, most = 0, written
        cdef int32_t k
        if not self.in_table:
            return 0
        self.in_table = False
        self.cell = -1
        for r in range(count):
            if self.row_says(&rows[r]):
                if rows[r].cells > most:
                    most = rows[r].cells
            else:
                rows[r].cells = 0
        if most > 1:
            self.begin_passage(LOOSE)
            written = 0
            for r in range(count):
                if not rows[r].cells:
                    continue
                if written:
                    self.put(10)
                written += 1
                for k in range(rows[r].cells):
                    if k:
                        self.put(32)
                        self.put(124)  # '|'
                        self.put(32)
                    self.write_cell(rows[r].first + k)
        else:
            for r in range(count):
                if rows[r].cells:
                    self.begin_passage(TIGHT)
                    self.write_cell(rows[r].first)
        return 0

    cdef bint row_says(self, Row* row) noexcept:
        cdef int32_t k, at
        cdef CellPiece* entry
        for k in range(row.cells):
            at = (<Cell*>self.cells.data)[row.first + k].next
            while at >= 0:
                entry = (<CellPiece*>self.cell_pieces.data) + at
                if entry.piece.start >= 0 and not self.is_space(entry.piece.start, entry.piece.end):
                    return True
                at = entry.next
        return False

    cdef int write_cell(self, int32_t cell) except -1:
        cdef int32_t at = (<Cell*>self.cells.data)[cell].next
        cdef CellPiece* entry
        cdef int gap = 0
        while at >= 0:
            entry = (<CellPiece*>self.cell_pieces.data) + at
            gap = self.fold(&entry.piece, gap)
            at = entry.next
        return 0

    # Writing

    cdef int flush(self) except -1:
        """Write the current passage, if it has text."""
        cdef Piece* piece = <Piece*>self.pieces.data
        cdef Py_ssize_t count = self.pieces.used // sizeof(Piece), k
        cdef int gap = 0
        for k in range(count):
            if piece[k].start >= 0 and not self.is_space(piece[k].start, piece[k].end):
                break
        else:
            count = 0
        if count:
            if self.in_table and self.rows.used:  # a caption behind rows
                self.end_table()
                self.new_table()
            self.begin_passage(self.kind)
            if self.kind == CODE:
                self.write_code(piece, count)
            else:
                for k in range(count):
                    gap = self.fold(&piece[k], gap)
        self.pieces.used = 0
        self.kind = LOOSE if self.heading else TIGHT
        return 0

    cdef int begin_passage(self, int kind) except -1:
        """Write the gap to the previous passage, and the markers of the first line."""
        cdef Container* container = <Container*>self.within.data
        cdef Container* last
        cdef Py_ssize_t count = self.within.used // sizeof(Container), k
        cdef bint tight
        if self.has_written:
            last = &container[count - 1]
            if self.last_within and count and last.number != IS_QUOTE and not last.opened:
                tight = kind == TIGHT or kind == APART
            else:
                tight = self.last_kind == TIGHT and kind == TIGHT and self.last_within == (count > 0)
            self.write(10)
            if not tight:
                self.write(10)
        for k in range(count):
            if container[k].number == IS_QUOTE:
                continue
            if container[k].opened:
                self.write_blanks(container[k].width)
            else:
                self.write_marker(container[k].number)
                container[k].opened = True
        self.has_written = True
        self.last_kind = kind
        self.last_within = count > 0
        return 0

    cdef int write_marker(self, int64_t number) except -1:
        cdef char marker[32]
        cdef int k, count = snprintf(marker, 32, b"%lld. " if number >= 0 else b"- ", <long long>number)
        for k in range(count):
            self.write(marker[k])
        return 0

    cdef inline int write(self, Py_UCS4 c) except -1:
        (<Py_UCS4*>added(&self.out, sizeof(Py_UCS4)))[0] = c
        return 0

    cdef int write_blanks(self, Py_ssize_t count) except -1:
        cdef Py_ssize_t k
        for k in range(count):
            self.write(32)
        return 0

    cdef int put(self, Py_UCS4 c) except -1:
        """Write a character of a passage; a line after the first is indented by the width of the markers."""
        cdef Container* container
        cdef Py_ssize_t k
        self.write(c)
        if c == 10 and self.within.used:
            container = <Container*>self.within.data
            for k in range(<Py_ssize_t>(self.within.used // sizeof(Container))):
                if container[k].number != IS_QUOTE:
                    self.write_blanks(container[k].width)
        return 0

    cdef int fold(self, Piece* piece, int gap) except -1:
        """Write a piece of inline text, white space folded. `gap` is carried along: 0 before the first word,
        1 a space is due, 2 a line break is due, 3 inside a word.
        """
        cdef int32_t k
        cdef Py_UCS4 c
        if piece.start < 0:
            if piece.start == LINE_BREAK:
                return 2 if gap else 0
            return gap if gap != 3 else 1
        for k in range(piece.start, piece.end):
            c = PyUnicode_READ(self.kind_of_text, self.text, k)
            if is_space_or_control(c):
                if gap == 3:
                    gap = 1
                continue
            if gap == 1:
                self.write(32)
            elif gap == 2:
                self.put(10)
            self.write(c)
            gap = 3
        return gap

    cdef int write_code(self, Piece* piece, Py_ssize_t count) except -1:
        """Write text unchanged, without empty lines around it and trailing white space."""
        cdef Py_ssize_t k, size, first = 0
        cdef int32_t at
        cdef Py_UCS4* found
        self.scratch.used = 0
        for k in range(count):
            if piece[k].start < 0:
                (<Py_UCS4*>added(&self.scratch, sizeof(Py_UCS4)))[0] = 32 if piece[k].start == BLANK else 10
            else:
                for at in range(piece[k].start, piece[k].end):
                    (<Py_UCS4*>added(&self.scratch, sizeof(Py_UCS4)))[0] = printable(
                        PyUnicode_READ(self.kind_of_text, self.text, at)
                    )
        found = <Py_UCS4*>self.scratch.data
        size = self.scratch.used // sizeof(Py_UCS4)
        while first < size and found[first] == 10:
            first += 1
        while size > first and Py_UNICODE_ISSPACE(found[size - 1]):
            size -= 1
        for k in range(first, size):
            self.put(found[k])
        return 0

    cdef object written(self):
        if not self.has_written:
            return ""
        self.write(10)
        return PyUnicode_FromKindAndData(4, self.out.data, self.out.used // sizeof(Py_UCS4))


cdef inline bint is_split(const int32_t[::1] nearest, const int32_t[::1] opened, const int32_t[::1] owner,
                          const int32_t[::1] before, Py_ssize_t one, Py_ssize_t other) noexcept:
    """Whether a boundary of one of the nodes is between two runs (blocks.are_parted)."""
    return nearest[owner[one]] != nearest[owner[other]] or opened[before[one]] != opened[before[other]]


def flowing_text(str text, const int32_t[::1] text_start, const int32_t[::1] text_end, const int32_t[::1] run_start,
                 const int32_t[::1] run_owner, const int32_t[::1] run_before, const uint16_t[::1] tag,
                 const int32_t[::1] parent, const int32_t[::1] end, const uint8_t[::1] flags, kept, kept_runs,
                 str attr_text, const int32_t[::1] attr_node, const uint8_t[::1] attr_name,
                 const int32_t[::1] attr_start, const uint16_t[::1] does, tuple limits, tuple names):
    """The kept nodes and runs of a page as plain text.

    `does` is TAG_DOES and `limits` LIMITS of render.flow; `names` are the codes of start, colspan and rowspan.
    """
    cdef const uint8_t[::1] keep = bytes_of(kept)
    cdef const uint8_t[::1] wanted = bytes_of(kept_runs)
    cdef Py_ssize_t size = tag.shape[0], runs = run_owner.shape[0], length = PyUnicode_GET_LENGTH(text), n, r, last
    cdef int32_t i, owner, before
    cdef int what, kind = PyUnicode_KIND(text)
    cdef Writer writer
    check_columns(parent.shape[0] == end.shape[0] == keep.shape[0] == flags.shape[0] == size)
    check_columns(text_start.shape[0] == text_end.shape[0] == size and attr_name.shape[0] == attr_node.shape[0])
    check_columns(run_before.shape[0] == wanted.shape[0] == runs)
    for i in range(<int32_t>size):
        if not (0 <= parent[i] < i or (i == 0 and parent[i] == -1)) or not i < end[i] <= size:
            raise ValueError(f"node {i} has the parent {parent[i]} and the end {end[i]}")
    for r in range(runs):
        if not 0 <= run_owner[r] < size or not 0 <= run_before[r] <= size:
            raise ValueError(f"run {r} is outside the tree")
    check_runs(run_start, runs, length)
    check_runs(attr_start, attr_node.shape[0], PyUnicode_GET_LENGTH(attr_text))
    # for each kind of node: the nearest one around each node, and how many start before it
    near = np.full((4, size), -1, np.int32)
    counts = np.zeros((4, size + 1), np.int32)
    cdef int32_t[::1] heard = near[0], parts = near[1], shown_parts = near[2], silent = near[3]
    cdef int32_t[::1] no_data = counts[0], parts_open = counts[1], shown_open = counts[2], silent_open = counts[3]
    cdef int32_t[::1] total = np.zeros(size + 1, np.int32)
    cdef uint8_t[::1] shown = np.zeros(size, np.uint8)
    for i in range(<int32_t>size):
        total[i + 1] = total[i] + keep[i]
    for i in range(<int32_t>size):
        what = does[tag[i]] if tag[i] < does.shape[0] else 0
        shown[i] = total[end[i]] > total[i]
        no_data[i + 1] = no_data[i] + ((what & NO_DATA) != 0)
        parts_open[i + 1] = parts_open[i] + ((what & PARTS) != 0)
        shown_open[i + 1] = shown_open[i] + ((what & PARTS) != 0 and shown[i])
        silent_open[i + 1] = silent_open[i] + ((what & SILENT) != 0)
        heard[i] = i if what & HEARD else heard[parent[i]] if i else -1
        parts[i] = i if what & PARTS else parts[parent[i]] if i else -1
        shown_parts[i] = i if what & PARTS and shown[i] else shown_parts[parent[i]] if i else -1
        silent[i] = i if what & SILENT else silent[parent[i]] if i else -1
    # the runs to write: without the white space between blocks
    cdef int32_t[::1] spoken = np.empty(runs + 1, np.int32)
    n = 0
    for r in range(runs):
        if wanted[r] and keep[run_owner[r]]:
            spoken[n] = <int32_t>r
            n += 1
    cdef Py_ssize_t said = 0, k
    cdef bint parted = True, parted_next, blank
    for k in range(n):
        r = spoken[k]
        parted_next = True
        if k + 1 < n:
            parted_next = is_split(parts, parts_open, run_owner, run_before, r, spoken[k + 1])
        blank = False
        if (parted or parted_next) and not flags[run_owner[r]] & F_PREFORMATTED:
            blank = True
            for last in range(run_start[r], run_start[r + 1]):
                if not Py_UNICODE_ISSPACE(PyUnicode_READ(kind, PyUnicode_DATA(text), last)):
                    blank = False
                    break
        parted = parted_next
        if not blank:
            spoken[said] = <int32_t>r
            said += 1
    # the walk
    writer = Writer()
    writer.kind_of_text, writer.text = kind, PyUnicode_DATA(text)
    writer.kind_of_attributes, writer.attr_text = PyUnicode_KIND(attr_text), PyUnicode_DATA(attr_text)
    writer.tag, writer.end, writer.text_start, writer.text_end = tag, end, text_start, text_end
    writer.attr_node, writer.attr_name, writer.attr_start = attr_node, attr_name, attr_start
    writer.keep, writer.does, writer.no_data = keep, does, no_data
    writer.longest_cell, writer.most_span, writer.most_added, writer.most_containers = limits
    writer.start_code, writer.colspan_code, writer.rowspan_code = names
    writer.cell = -1
    cdef int32_t[::1] opened = np.empty(size + 1, np.int32)
    cdef Py_ssize_t depth = 0
    cdef int32_t at = 0, up
    for k in range(said + 1):
        r = spoken[k] if k < said else 0
        before = run_before[r] if k < said else <int32_t>size
        while at < before:
            if shown[at] and heard[at] == at:
                up = heard[parent[at]] if at else -1
                while depth and opened[depth - 1] != up:
                    depth -= 1
                    writer.close(opened[depth])
                writer.open(at)
                opened[depth] = at
                depth += 1
            at += 1
        if k == said:
            break
        owner = heard[run_owner[r]]
        while depth and opened[depth - 1] != owner:
            depth -= 1
            writer.close(opened[depth])
        if k:
            last = spoken[k - 1]
            if is_split(silent, silent_open, run_owner, run_before, last, r):
                writer.part(True)
            elif is_split(parts, parts_open, run_owner, run_before, last, r) and not is_split(
                shown_parts, shown_open, run_owner, run_before, last, r
            ):
                writer.part(False)
        writer.say(run_start[r], run_start[r + 1])
    while depth:
        depth -= 1
        writer.close(opened[depth])
    writer.flush()
    return writer.written()
