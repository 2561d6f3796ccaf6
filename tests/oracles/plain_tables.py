"""Where browsers place the cells of a table: slow and obvious; tests compare the compiled version with it."""

from __future__ import annotations

import re

from webwinnow.page.structures import MOST_SPAN
from webwinnow.page.tree import PageTree

Place = tuple[int, int, int, int, int]


def placed_cells(tree: PageTree, table: int, absent: frozenset[int] = frozenset()) -> list[Place]:
    """Node, first row, first column, rows and columns of each cell; `absent` rows and cells have no place."""
    places: list[Place] = []
    taken: set[tuple[int, int]] = set()
    row, column, k = -1, 0, table + 1
    while k < int(tree.end[table]):
        tag = tree.tag_name(k)
        if tag in ("tr", "td", "th") and k in absent:
            k = int(tree.end[k])
            continue
        if tag in ("thead", "tbody", "tfoot"):
            taken = {(r, c) for r, c in taken if r <= row}
        elif tag == "tr":
            row, column = row + 1, 0
        elif tag in ("td", "th"):
            row = max(row, 0)
            rows, columns = _span(tree.attribute(k, "rowspan")), _span(tree.attribute(k, "colspan")) or 1
            while (row, column) in taken:
                column += 1
            places.append((k, row, column, rows or MOST_SPAN, columns))
            taken |= {(row + r, column + c) for r in range(rows or MOST_SPAN) for c in range(columns)}
            column += columns
            k = int(tree.end[k])
            continue
        k += 1
    return places


def _span(written: str | None) -> int:
    return min(int(written), MOST_SPAN) if written and re.fullmatch("[0-9]{1,6}", written) else 1
