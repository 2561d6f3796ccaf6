# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Plain text of the kept parts of a page in one pass. tests/oracles/plain_text.py states it with render/flow.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.stdio cimport snprintf
from libc.stdlib cimport free

import numpy as np

from webwinnow.page import markup as vocabulary
from webwinnow.page._blanks cimport after_blanks
from webwinnow.page._memory cimport Column, added, bytes_of, check_columns, check_runs, lower_bound, make_room
from webwinnow.page._signs cimport has_sign, is_space_or_control
from webwinnow.page._structures cimport COLUMN_HEADER, DataTables, TableCell
from webwinnow.page._unicode cimport (
    Py_UNICODE_ISSPACE, PyUnicode_DATA, PyUnicode_FromKindAndData, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ,
)

cdef enum:
    # the role of an element in the flow of text (render/flow.py), and flags above it
    INLINE, LINE, PARAGRAPH, BREAK, ITEM, HEADING, PRE, QUOTE, LIST, TABLE, ROW, CELL, IMAGE, RULE
    ROLE = 15
    SILENT = 16
    HEARD = 32
    PARTS = 64
    NUMBERED = 128
    LINKED = 256    # a heading, term or caption, which may have a permalink
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
cdef int F_HIDDEN = vocabulary.HIDDEN


cdef struct Piece:
    int32_t start       # of a run of text, or one of the pieces above
    int32_t end


cdef struct Cell:
    int32_t node
    int32_t next        # the cell's first piece in `cell_pieces`
    int32_t last
    int32_t row
    int32_t column
    int32_t columns     # that it covers
    bint has_picture
    bint has_text


cdef struct CellPiece:
    Piece piece
    int32_t next


cdef struct Container:
    int32_t node
    int32_t width       # of the marker; IS_QUOTE for a quote
    char marker[32]
    bint opened


cdef struct Row:
    int32_t first
    int32_t cells
    int32_t kept        # cells with kept text or a kept picture
    bint is_header
    bint has_text


cdef inline Py_UCS4 printable(Py_UCS4 c) noexcept:
    if c < 32:
        return c if c == 9 or c == 10 else 32
    return 32 if 127 <= c < 160 or c == 0x2028 or c == 0x2029 else c


cdef int letters(int64_t number, char base, char* out) noexcept:
    """a, b, ..., z, aa, ab, ...; the length."""
    cdef char backwards[32]
    cdef int size = 0, k
    while number and size < 20:
        number -= 1
        backwards[size] = <char>(base + number % 26)
        number //= 26
        size += 1
    for k in range(size):
        out[k] = backwards[size - 1 - k]
    return size


cdef int roman(int64_t number, char shift, char* out) noexcept:
    """A Roman numeral below 4000, in lower case plus `shift`; the length."""
    cdef int size = 0, k
    cdef int* values = [1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1]
    cdef const char* signs = b"m cmd cdc xcl xlx ixv ivi "  # two characters each
    for k in range(13):
        while number >= values[k]:
            number -= values[k]
            out[size] = signs[2 * k] + shift
            size += 1
            if signs[2 * k + 1] != 32:
                out[size] = signs[2 * k + 1] + shift
                size += 1
    return size


cdef class Writer:
    """The state of the flow during the walk (as render.flow._Walk), and the text written so far."""

    cdef int kind_of_text, kind_of_attributes
    cdef void* text
    cdef void* attr_text
    cdef const uint16_t[::1] tag
    cdef const int32_t[::1] parent, end, attr_node, attr_start
    cdef const uint8_t[::1] keep, attr_name, flags
    cdef uint8_t[::1] absent            # hidden, without anything kept
    cdef DataTables tables
    cdef int64_t[::1] item_number       # of list items; empty before the first ordered list
    cdef uint8_t[::1] item_type
    cdef const uint16_t[::1] does
    cdef Column out, pieces, within, rows, cells, cell_pieces, columns, scratch
    cdef int kind, last_kind, code
    cdef bint heading, in_table, last_within, has_written
    cdef int32_t cell, next_cell, opened_rows, written_rows
    cdef Py_ssize_t most_containers, digits, most_roman
    cdef int start_code, value_code, reversed_code, type_code

    def __dealloc__(self):
        free(self.out.data); free(self.pieces.data); free(self.within.data); free(self.rows.data)
        free(self.cells.data); free(self.cell_pieces.data); free(self.columns.data)
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
            if self.cell >= 0:
                if (<Cell*>self.cells.data)[self.cell].next >= 0:
                    self.add(BLANK, 0)
            elif role == CELL:
                self.flush()
                self.open_cell(i)
        elif role == BREAK:
            self.add(LINE_BREAK, 0)
        else:
            self.flush()
            self.open_passage(i, what)
        return 0

    cdef int open_passage(self, int32_t i, int what) except -1:
        cdef int role = what & ROLE
        cdef bint kept = self.keep[i]
        if role == PRE:
            self.code = 1
            self.kind = CODE if kept else TIGHT
        elif role == LIST:
            if kept and what & NUMBERED and not self.item_number.shape[0]:
                self.number_items()
        elif role == TABLE:
            if kept and self.tables.has_data(i):
                self.place_cells(i)
        elif not kept:
            pass
        elif role == PARAGRAPH:
            self.kind = APART
        elif role == HEADING:
            self.heading = True
            self.kind = LOOSE
        elif role == ITEM:
            self.open_container(i, False)
        elif role == QUOTE:
            self.open_container(i, True)
        return 0

    cdef int open_container(self, int32_t i, bint is_quote) except -1:
        cdef Container* container
        cdef int64_t number = self.item_number[i] if self.item_number.shape[0] else BULLET
        cdef int kind
        if self.within.used >= <size_t>self.most_containers * sizeof(Container):
            return 0
        container = <Container*>added(&self.within, sizeof(Container))
        container.node = i
        container.opened = False
        if is_quote:
            container.width = IS_QUOTE
        elif number < 0:
            container.width = snprintf(container.marker, 32, b"- ")
        else:
            kind = self.item_type[i]
            if number and (kind == 97 or kind == 65):  # a, A
                container.width = letters(number, <char>kind, container.marker)
            elif number and number <= self.most_roman and (kind == 105 or kind == 73):  # i, I
                container.width = roman(number, <char>(kind - 105), container.marker)
            else:
                container.width = snprintf(container.marker, 24, b"%lld", <long long>number)
            container.width += snprintf(container.marker + container.width, 4, b". ")
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
            if self.cell >= 0 and (<Cell*>self.cells.data)[self.cell].node == i:
                self.cell = -1
            elif self.cell >= 0 and (<Cell*>self.cells.data)[self.cell].next >= 0:
                self.add(BLANK, 0)
        elif role != BREAK and role != RULE:
            if role == HEADING:
                self.heading = False
            self.flush()
            if self.within.used and (<Container*>(self.within.data + self.within.used - sizeof(Container))).node == i:
                self.within.used -= sizeof(Container)
            elif role == TABLE and self.in_table:
                self.write_rows(<int32_t>(self.rows.used // sizeof(Row)))
                self.in_table = False
                self.cell = -1
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

    cdef int place_cells(self, int32_t i) except -1:
        """The rows and cells of table i."""
        cdef Py_ssize_t count = self.tables.place(i, None if self.flags[i] & F_HIDDEN else self.absent), c
        cdef TableCell* placed = <TableCell*>self.tables.placed.column.data
        cdef Row* row
        cdef Cell* cell
        cdef int32_t k
        self.in_table = True
        self.cell = -1
        self.next_cell = self.opened_rows = self.written_rows = 0
        self.rows.used = self.cells.used = self.cell_pieces.used = 0
        for k in range(self.tables.rows):
            row = <Row*>added(&self.rows, sizeof(Row))
            row.first = row.cells = row.kept = 0
            row.is_header = row.has_text = False
        for c in range(count):
            row = (<Row*>self.rows.data) + placed[c].row
            if not row.cells:
                row.first = <int32_t>c
            row.cells += 1
            row.is_header |= placed[c].header & COLUMN_HEADER
            cell = <Cell*>added(&self.cells, sizeof(Cell))
            cell.node, cell.row, cell.column, cell.columns = (
                placed[c].node, placed[c].row, placed[c].column, placed[c].columns
            )
            cell.next = cell.last = -1
            cell.has_picture = cell.has_text = False
            for k in range(cell.node + 1, self.end[cell.node]):
                if self.keep[k] and self.does_of(k) & ROLE == IMAGE:
                    cell.has_picture = True
                    break
        return 0

    cdef int open_cell(self, int32_t i) except -1:
        """Open cell i, unless it is none of the grid, or its row has been written."""
        cdef Cell* cells = <Cell*>self.cells.data
        cdef int32_t count = <int32_t>(self.cells.used // sizeof(Cell))
        while self.next_cell < count and cells[self.next_cell].node < i:
            self.next_cell += 1
        if self.next_cell < count and cells[self.next_cell].node == i:
            if cells[self.next_cell].row >= self.written_rows:
                self.cell = self.next_cell
                self.opened_rows = cells[self.next_cell].row + 1
        return 0

    cdef Py_ssize_t attribute(self, int32_t i, int name) noexcept:
        """The place of an attribute of node i; -1 if it has none."""
        cdef Py_ssize_t low = 0, found = -1
        if self.attr_node.shape[0]:
            low = lower_bound(&self.attr_node[0], 0, self.attr_node.shape[0], i)
        while low < self.attr_node.shape[0] and self.attr_node[low] == i:
            if self.attr_name[low] == name:
                found = low
            low += 1
        return found

    cdef int64_t number_in(self, int32_t i, int name, Py_ssize_t longest) noexcept:
        """The number in an attribute of node i, of at most `longest` digits; -1 for anything else."""
        cdef Py_ssize_t high = self.attribute(i, name), k
        cdef int64_t number = 0
        cdef Py_UCS4 c
        if high < 0 or not 0 < self.attr_start[high + 1] - self.attr_start[high] <= longest:
            return -1
        for k in range(self.attr_start[high], self.attr_start[high + 1]):
            c = PyUnicode_READ(self.kind_of_attributes, self.attr_text, k)
            if not 48 <= c <= 57:
                return -1
            number = number * 10 + <int64_t>c - 48
        return number

    cdef int number_items(self) except -1:
        """The numbers of the items of ordered lists (as render.listnumbers has them)."""
        cdef int32_t size = <int32_t>self.tag.shape[0], i, own
        cdef int32_t[::1] around = np.empty(size, np.int32)
        numbers, small = np.zeros((2, size), np.int64), np.zeros((3, size), np.uint8)
        cdef int64_t[::1] upcoming = numbers[0]
        cdef uint8_t[::1] style = small[0], falls = small[1]
        cdef Py_ssize_t found
        cdef int64_t number
        cdef int what
        self.item_number, self.item_type = numbers[1], small[2]
        for i in range(size):  # count the items
            what = self.does_of(i)
            around[i] = i if what & ROLE == LIST else around[self.parent[i]] if i else -1
            self.item_number[i] = BULLET
            if what & ROLE == ITEM and self.is_numbered(i, around[i]):
                upcoming[around[i]] += 1
        for i in range(size):
            what = self.does_of(i)
            if what & NUMBERED:
                falls[i] = self.attribute(i, self.reversed_code) >= 0
                number = self.number_in(i, self.start_code, self.digits)
                upcoming[i] = number if number >= 0 else upcoming[i] if falls[i] else 1
                found = self.attribute(i, self.type_code)
                if found >= 0 and self.attr_start[found + 1] - self.attr_start[found] == 1:
                    what = PyUnicode_READ(self.kind_of_attributes, self.attr_text, self.attr_start[found])
                    style[i] = what if what == 97 or what == 65 or what == 105 or what == 73 else 0
            elif what & ROLE == ITEM and self.is_numbered(i, around[i]):
                own = around[i]
                number = self.number_in(i, self.value_code, self.digits)
                if number < 0:
                    number = upcoming[own]
                upcoming[own] = number - 1 if falls[own] else number + 1
                self.item_number[i] = number if number >= 0 else BULLET
                self.item_type[i] = style[own]
        return 0

    cdef inline bint is_numbered(self, int32_t i, int32_t own) noexcept:
        """Whether item i counts in its list `own`: it is a kept ordered list, and browsers do not hide the item."""
        return own >= 0 and self.does_of(own) & NUMBERED and self.keep[own] and (
            self.keep[i] or not self.flags[i] & ~self.flags[own] & F_HIDDEN
        )

    cdef int write_rows(self, int32_t until) except -1:
        """Write the rows from the last written one to row `until`: lines for titles, then the table."""
        cdef Row* rows = <Row*>self.rows.data
        cdef Cell* cells = <Cell*>self.cells.data
        cdef int32_t first = self.written_rows, r, k, c, titles, most = 0
        cdef Py_ssize_t kept = 0, counted = 0, shown = 0, width = 0
        cdef bint is_table
        cdef int32_t* place
        if until <= first:
            return 0
        self.written_rows = until
        for r in range(first, until):
            for k in range(rows[r].first, rows[r].first + rows[r].cells):
                cells[k].has_text = self.cell_says(k)
                rows[r].has_text |= cells[k].has_text
                rows[r].kept += cells[k].has_text or cells[k].has_picture
                if cells[k].column + cells[k].columns > most:
                    most = cells[k].column + cells[k].columns
        titles = self.first_after_titles(first, until)
        # the columns to write
        self.columns.used = 0
        for c in range(most):
            (<int32_t*>added(&self.columns, sizeof(int32_t)))[0] = -1
        place = <int32_t*>self.columns.data
        for r in range(titles, until):
            counted += rows[r].kept > 0
            shown += rows[r].has_text
            kept += rows[r].kept
            for k in range(rows[r].first, rows[r].first + rows[r].cells):
                if cells[k].columns == 1 and (cells[k].has_text or cells[k].has_picture):
                    place[cells[k].column] = 0
        for r in range(titles, until):
            for k in range(rows[r].first, rows[r].first + rows[r].cells):
                if (cells[k].has_text or cells[k].has_picture) and self.column_of(&cells[k]) < 0:
                    place[cells[k].column] = 0
        for c in range(most):
            if place[c] >= 0:
                place[c] = <int32_t>width
                width += 1
        is_table = width > 1 and shown and self.tables.take(counted * width - kept)
        for r in range(first, titles if is_table else until):
            for k in range(rows[r].first, rows[r].first + rows[r].cells):
                if cells[k].has_text:
                    self.begin_passage(TIGHT)
                    self.write_cell(k)
        if not is_table:
            return 0
        self.begin_passage(LOOSE)
        shown = 0
        for r in range(titles, until):
            if not rows[r].has_text:
                continue
            if shown:
                self.put(10)
            shown += 1
            c = 0
            for k in range(rows[r].first, rows[r].first + rows[r].cells):
                if cells[k].has_text:
                    c = self.write_bars(c, place[self.column_of(&cells[k])])
                    self.write_cell(k)
            self.write_bars(c, <int32_t>width - 1)
        return 0

    cdef int32_t first_after_titles(self, int32_t first, int32_t until) noexcept:
        """The header row, where only rows of one cell are above it; else the first row."""
        cdef Row* rows = <Row*>self.rows.data
        cdef int32_t r
        for r in range(first, until):
            if rows[r].kept:
                if rows[r].is_header and rows[r].kept > 1:
                    return r
                if rows[r].cells > 1:
                    break
        return first

    cdef int32_t column_of(self, Cell* cell) noexcept:
        """The first column of a cell that is written; -1 if none is."""
        cdef int32_t c
        for c in range(cell.column, cell.column + cell.columns):
            if (<int32_t*>self.columns.data)[c] >= 0:
                return c
        return -1

    cdef int32_t write_bars(self, int32_t column, int32_t wanted) except -1:
        """Go from a column to another one to the right of it; returns that."""
        cdef int32_t c
        for c in range(column, wanted):
            self.put(32)
            self.put(124)  # '|'
            self.put(32)
        return wanted

    cdef bint cell_says(self, int32_t cell) noexcept:
        cdef int32_t at = (<Cell*>self.cells.data)[cell].next
        cdef CellPiece* entry
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
            if self.in_table:  # a caption behind rows
                self.write_rows(self.opened_rows)
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
        cdef Py_ssize_t count = self.within.used // sizeof(Container), k
        cdef bint tight
        if self.has_written:
            if (
                self.last_within
                and count
                and container[count - 1].width != IS_QUOTE
                and not container[count - 1].opened
            ):
                tight = kind == TIGHT or kind == APART
            else:
                tight = self.last_kind == TIGHT and kind == TIGHT and self.last_within == (count > 0)
            self.write(10)
            if not tight:
                self.write(10)
        for k in range(count):
            if container[k].width == IS_QUOTE:
                continue
            if container[k].opened:
                self.write_blanks(container[k].width)
            else:
                self.write_marker(&container[k])
                container[k].opened = True
        self.has_written = True
        self.last_kind = kind
        self.last_within = count > 0
        return 0

    cdef int write_marker(self, Container* container) except -1:
        cdef int k
        for k in range(container.width):
            self.write(container.marker[k])
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
                if container[k].width != IS_QUOTE:
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
        make_room(&self.out, <size_t>(piece.end - piece.start + 1) * sizeof(Py_UCS4))
        for k in range(piece.start, piece.end):
            c = PyUnicode_READ(self.kind_of_text, self.text, k)
            if is_space_or_control(c):
                if gap == 3:
                    gap = 1
                continue
            if gap == 1:
                (<Py_UCS4*>(self.out.data + self.out.used))[0] = 32
                self.out.used += sizeof(Py_UCS4)
            elif gap == 2:
                self.put(10)
                make_room(&self.out, <size_t>(piece.end - k) * sizeof(Py_UCS4))
            (<Py_UCS4*>(self.out.data + self.out.used))[0] = c
            self.out.used += sizeof(Py_UCS4)
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
                 const int32_t[::1] attr_start, DataTables tables not None, const uint16_t[::1] does, tuple limits,
                 tuple names, bint may_have_signs):
    """The kept nodes and runs of a page as plain text; None where a heading has a sign of permalinks and may not.

    `does` is TAG_DOES and `limits` LIMITS of render.flow; `names` are codes of attributes.
    """
    cdef const uint8_t[::1] keep = bytes_of(kept)
    cdef const uint8_t[::1] wanted = bytes_of(kept_runs)
    cdef Py_ssize_t size = tag.shape[0], runs = run_owner.shape[0], length = PyUnicode_GET_LENGTH(text), n, r
    cdef int32_t i, owner, before
    cdef int what, kind = PyUnicode_KIND(text)
    cdef int32_t checked = 0
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
    near = np.empty((4, size), np.int32)
    counts = np.empty((3, size + 1), np.int32)
    counts[:, 0] = 0
    cdef int32_t[::1] heard = near[0], parts = near[1], shown_parts = near[2], silent = near[3]
    cdef int32_t[::1] parts_open = counts[0], shown_open = counts[1], silent_open = counts[2]
    cdef int32_t[::1] total = np.zeros(size + 1, np.int32)
    cdef uint8_t[::1] shown = np.zeros(size, np.uint8), absent = np.zeros(size, np.uint8)
    for i in range(<int32_t>size):
        total[i + 1] = total[i] + keep[i]
    for i in range(<int32_t>size):
        what = does[tag[i]] if tag[i] < does.shape[0] else 0
        if what & LINKED and i >= checked and not may_have_signs:
            checked = end[i]
            if has_sign(text, text_start[i], text_end[i]):
                return None
        shown[i] = total[end[i]] > total[i]
        absent[i] = not shown[i] and flags[i] & F_HIDDEN
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
            blank = after_blanks(kind, PyUnicode_DATA(text), run_start[r], run_start[r + 1]) == run_start[r + 1]
        parted = parted_next
        if not blank:
            spoken[said] = <int32_t>r
            said += 1
    # the walk
    writer = Writer()
    writer.kind_of_text, writer.text = kind, PyUnicode_DATA(text)
    writer.kind_of_attributes, writer.attr_text = PyUnicode_KIND(attr_text), PyUnicode_DATA(attr_text)
    writer.tag, writer.end = tag, end
    writer.attr_node, writer.attr_name, writer.attr_start = attr_node, attr_name, attr_start
    writer.keep, writer.does, writer.tables = keep, does, tables
    writer.absent, writer.flags, writer.parent = absent, flags, parent
    writer.most_containers, writer.digits, writer.most_roman = limits
    writer.start_code, writer.value_code, writer.reversed_code, writer.type_code = names
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
