"""`Structures`: the data tables, rows, lists and items of a page, as arrays beside its tree (thesis 6.1b).

A data table is a `<table>` of at least two columns with short cells that contain text only; a table around other
structures (tables, lists, headings, forms) is there for the layout. A `<dl>` of terms and values is one, too: terms are
its first column, values its second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow._structures import find_structures, neighbours
from webwinnow.blocks import Blocks
from webwinnow.markup import ATTRIBUTE_CODE, CUSTOM_TAG, TAG_CODE
from webwinnow.pagetree import PageTree

LONGEST_CELL = 1_000
"""Characters, white space included: a table with a longer cell is a layout table (ours)."""
MOST_SPAN = 50
"""Columns or rows that one cell may cover: a page can write `colspan=1000` in every cell."""
MOST_ADDED_CELLS = 100_000
"""Cells that the spans of one page may cover beyond their own; after that, spans are ignored."""
COLUMN_HEADER, ROW_HEADER, GROUP_HEADER = 1, 2, 4
"""What a cell heads: its columns, its row, or the rows that follow a row of its own."""
LABEL_WORDS, LABEL_CHARS = 6, 60
"""The length of a label, at most."""
CLOSE, COLON, NO_LINK = 1, 2, 8
"""What `pair_bits` says of a short block: it is close to the next one, ends with a colon, is no link."""
FOREIGN_TO_DATA = tuple("table ul ol dl h1 h2 h3 h4 h5 h6 article section form pre blockquote hr select".split())
"""Elements that no data table contains."""
_ROLES = {
    1: "table",
    2: "tr",
    3: "td",
    4: "th",
    5: "thead",
    6: "ul ol menu dir",
    7: "dl",
    8: "dt",
    9: "dd",
    10: "a",
}
_NO_DATA = 32
ROLES = np.zeros(CUSTOM_TAG + 1, np.uint8)
for _role, _names in _ROLES.items():
    ROLES[[TAG_CODE[_name] for _name in _names.split()]] = _role
ROLES[[TAG_CODE[_name] for _name in FOREIGN_TO_DATA]] |= _NO_DATA


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Structures:
    """For each node the data table, the cell, the list and the list item around it (-1 for none); and those themselves.

    Each column of `tables`, `cells` and `lists` is one of these. A cell is an element with its first row and column,
    the rows and columns it covers, and what it heads. The characters of a list are without white space.
    """

    table_of: NDArray[np.int32]
    cell_of: NDArray[np.int32]
    list_of: NDArray[np.int32]
    item_of: NDArray[np.int32]
    tables: NDArray[np.int32]
    """Rows: node, rows, columns, first cell."""
    cells: NDArray[np.int32]
    """Rows: node, row, column, rows, columns, header bits."""
    lists: NDArray[np.int32]
    """Rows: node, items, characters, characters in links."""

    @classmethod
    def of(cls, tree: PageTree) -> Structures:
        """Find the structures of a page."""
        nodes, tables, cells, lists = find_structures(
            tree.tag,
            tree.parent,
            tree.end,
            tree.style,
            tree.text,
            tree.text_start,
            tree.text_end,
            tree.run_start,
            tree.run_owner,
            tree.attr_text,
            tree.attr_node,
            tree.attr_name,
            tree.attr_start,
            ROLES,
            (LONGEST_CELL, MOST_SPAN, MOST_ADDED_CELLS),
            (ATTRIBUTE_CODE["colspan"], ATTRIBUTE_CODE["rowspan"], ATTRIBUTE_CODE["role"]),
        )
        return cls(
            table_of=nodes[0],
            cell_of=nodes[1],
            list_of=nodes[2],
            item_of=nodes[3],
            tables=np.ascontiguousarray(tables),
            cells=np.ascontiguousarray(cells),
            lists=lists,
        )

    def says(self, node: int) -> str:
        """Where in a table or list a node is, in words; empty for other nodes."""
        table, cell, listed = int(self.table_of[node]), int(self.cell_of[node]), int(self.list_of[node])
        if cell >= 0:
            _, row, column, rows, columns, header = self.cells[:, cell].tolist()
            heads = " and ".join(name for bit, name in _HEADS.items() if header & bit)
            place = f"table {table + 1}, row {_span(row, rows)}, column {_span(column, columns)}"
            return place + (f", header of {heads}" if heads else "")
        if table >= 0:
            return f"caption of table {table + 1}"
        if listed >= 0:
            return f"list {listed + 1}, of {int(self.lists[1, listed])} items"
        return ""


_HEADS = {COLUMN_HEADER: "its columns", ROW_HEADER: "its row", GROUP_HEADER: "the rows that follow"}


def _span(first: int, count: int) -> str:
    return f"{first + 1}" if count == 1 else f"{first + 1} to {first + count}"


def pair_bits(blocks: Blocks, said: NDArray[np.int32]) -> NDArray[np.uint8]:
    """CLOSE, COLON and NO_LINK of each block of `said` that is short enough to be the label of the next."""
    tree = blocks.tree
    text = tree.text, tree.run_start, tree.run_owner, blocks.first_run
    return neighbours(*text, said, blocks.owner, tree.tag, tree.parent, ROLES, LABEL_CHARS, LABEL_WORDS)
