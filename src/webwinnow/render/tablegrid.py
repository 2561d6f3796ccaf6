"""`TableGrid`: the cells of a data table by row and column, as browsers place them.

A cell keeps its column when cells beside it are removed. The text of a cell that spans several columns or rows is in
the first of them; it is not repeated. Rows without kept text and columns without a kept cell of their own are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from webwinnow.render.passages import Piece
from webwinnow.structures import MOST_ADDED_CELLS


@dataclass(slots=True)
class Cell:
    """A cell: its first row and column, and how many columns it covers."""

    row: int
    column: int
    columns: int
    has_picture: bool
    pieces: list[Piece] = field(default_factory=list)

    @property
    def has_text(self) -> bool:
        """Whether it has text, or a picture that is shown."""
        return has_text(self.pieces)

    @property
    def is_kept(self) -> bool:
        """Whether it has kept text or a kept picture, shown or not."""
        return self.has_picture or has_text(self.pieces)


@dataclass(slots=True)
class Row:
    """The cells of a row; a header is in `<thead>`, or all its cells are `<th>`."""

    is_header: bool
    cells: list[Cell] = field(default_factory=list)


class AddedCells:
    """How many empty cells the tables of a page may still add. After that, spans are ignored, and a table that needs
    more is written as lines. Real pages stay far below.
    """

    def __init__(self) -> None:
        self.left = MOST_ADDED_CELLS

    def take(self, count: int) -> bool:
        """Whether `count` more cells may be added; they are counted if so."""
        if count > self.left:
            return False
        self.left -= count
        return True


class TableGrid:
    """The grid of a data table while its text is collected; `cell` is the open cell, None between cells."""

    def __init__(self, added: AddedCells) -> None:
        self.cell: Cell | None = None
        self.rows: list[Row] = []
        self.cells: dict[int, Cell] = {}
        """By node."""
        self.added = added
        self.in_head = False
        self.opened = 0
        """Rows that have been opened."""
        self.written = 0
        """Rows that have been written: a caption among the rows splits the table."""
        self.covered: dict[int, int] = {}
        """The first row that is free again, by column, where a cell covers several rows."""

    # Placing the cells, before the text

    def begin_group(self, *, is_head: bool) -> None:
        """Start `<thead>`, `<tbody>` or `<tfoot>`, at which the spans of rows end."""
        self.in_head = is_head
        self.covered.clear()

    def begin_row(self) -> None:
        """Start a row."""
        self.rows.append(Row(self.in_head))

    def place(self, node: int, columns: int, rows: int, *, is_header: bool, has_picture: bool) -> None:
        """Put a cell into the first free columns of the last row."""
        if not self.added.take(columns * rows - 1):
            columns = rows = 1
        if not self.rows:
            self.begin_row()
        at, row = len(self.rows) - 1, self.rows[-1]
        column = row.cells[-1].column + row.cells[-1].columns if row.cells else 0
        while self.covered.get(column, 0) > at:
            column += 1
        if rows > 1:
            for k in range(column, column + columns):
                self.covered[k] = max(self.covered.get(k, 0), at + rows)
        if not self.in_head:
            row.is_header = is_header and (row.is_header or not row.cells)
        self.cells[node] = Cell(at, column, columns, has_picture)
        row.cells.append(self.cells[node])

    # Collecting the text

    def open_cell(self, node: int) -> bool:
        """Open a cell of the grid; False where a node is none, or its row has been written."""
        cell = self.cells.get(node)
        if cell is None or cell.row < self.written:
            return False
        self.cell, self.opened = cell, cell.row + 1
        return True

    def write(
        self, until: int, on_table: Callable[[list[list[list[Piece]]]], None], on_line: Callable[[list[Piece]], None]
    ) -> None:
        """Pass the rows from the last written one to row `until`: tables to `on_table`, what is none to `on_line`."""
        rows = [row for row in self.rows[self.written : until] if any(cell.is_kept for cell in row.cells)]
        self.written = max(until, self.written)
        titles = title_rows(rows)
        shown = [row for row in rows[titles:] if any(cell.has_text for cell in row.cells)]
        columns = kept_columns(rows[titles:])
        kept = sum(cell.is_kept for row in rows[titles:] for cell in row.cells)
        is_table = len(columns) > 1 and bool(shown) and self.added.take(len(rows[titles:]) * len(columns) - kept)
        for row in rows[:titles] if is_table else rows:
            for cell in row.cells:
                if cell.has_text:
                    on_line(cell.pieces)
        if is_table:
            on_table([_expanded(row, columns) for row in shown])


def title_rows(rows: list[Row]) -> int:
    """How many rows of one cell are above the header row: titles of the table, which are lines before it."""
    for at, row in enumerate(rows):
        if row.is_header and sum(cell.is_kept for cell in row.cells) > 1:
            return at
        if len(row.cells) > 1:
            break
    return 0


def kept_columns(rows: list[Row]) -> dict[int, int]:
    """The columns to write, each with its place: those that kept cells of one column are in, and the first column of
    a kept cell that covers several if none of them is written.
    """
    kept = [cell for row in rows for cell in row.cells if cell.is_kept]
    own = {cell.column for cell in kept if cell.columns == 1}
    for cell in kept:
        if own.isdisjoint(range(cell.column, cell.column + cell.columns)):
            own.add(cell.column)
    return {column: place for place, column in enumerate(sorted(own))}


def _expanded(row: Row, columns: dict[int, int]) -> list[list[Piece]]:
    """A row with a cell for each column."""
    cells: list[list[Piece]] = [[] for _ in columns]
    for cell in row.cells:
        place = next((columns[k] for k in range(cell.column, cell.column + cell.columns) if k in columns), None)
        if place is not None and cell.has_text:
            cells[place] = cell.pieces
    return cells


def has_text(pieces: list[Piece]) -> bool:
    """Whether pieces show anything: text other than white space, or a picture."""
    for piece in pieces:  # noqa: SIM110 (a plain loop takes half the time of any(), and this runs for every passage)
        if piece.image is not None or not (piece.text.isspace() or not piece.text):
            return True
    return False
