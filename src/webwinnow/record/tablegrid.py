"""`TableGrid`: the cells of a data table by row and column, where `structures.data_tables` places them.

A cell keeps its column when cells beside it are removed. The text of a cell that spans several columns or rows is in
the first of them; it is not repeated. Rows without kept text and columns without a kept cell of their own are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from webwinnow.page._structures import DataTables
from webwinnow.page.structures import COLUMN_HEADER
from webwinnow.record.passages import Piece


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
    """The cells of a row, which may be headers of columns."""

    is_header: bool = False
    cells: list[Cell] = field(default_factory=list)


class TableGrid:
    """The grid of a data table while its text is collected; `cell` is the open cell, None between cells."""

    def __init__(self, tables: DataTables, placed: list[list[int]], pictures: Callable[[int], bool]) -> None:
        self.tables = tables
        self.cell: Cell | None = None
        self.rows: list[Row] = []
        self.cells: dict[int, Cell] = {}
        """By node."""
        self.opened = 0
        """Rows that have been opened."""
        self.written = 0
        """Rows that have been written: a caption among the rows splits the table."""
        for node, row, column, _, columns, header in placed:
            while row >= len(self.rows):
                self.rows.append(Row())
            self.cells[node] = Cell(row, column, columns, pictures(node))
            self.rows[row].cells.append(self.cells[node])
            self.rows[row].is_header |= bool(header & COLUMN_HEADER)

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
        is_table = len(columns) > 1 and bool(shown) and self.tables.take(len(rows[titles:]) * len(columns) - kept)
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
