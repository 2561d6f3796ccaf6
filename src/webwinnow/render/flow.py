"""The kept parts of a page as passages: paragraphs, headings, list items, code, tables.

Markdown is written passage by passage. Plain text, which has the same passages, is written by a compiled kernel.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow._words import blank_runs
from webwinnow.blocks import SPLITTING_TAGS, are_split, splitting_nodes
from webwinnow.markup import ATTRIBUTE_CODE, CUSTOM_TAG, PREFORMATTED, TAG_CODE, TAGS
from webwinnow.pagetree import PageTree
from webwinnow.render._text import flowing_text
from webwinnow.render.passages import LINE_BREAK, PLAIN, Container, Marks, Passage, Piece
from webwinnow.render.walk import attribute_reader, link_target, picture_source, printable, walk

LONGEST_CELL = 1_000
"""Characters, white space included: a table with a longer cell is a layout table (ours)."""
MOST_SPAN = 50
"""Columns or rows that one cell may cover: a page can write `colspan=1000` in every cell."""
MOST_ADDED_CELLS = 100_000
"""Empty cells that the spans of one page may add; after that, spans are ignored. Real pages stay far below."""
MOST_CONTAINERS = 20
"""Nested lists and quotes that are shown as such: each makes every line inside longer."""
LIMITS = (LONGEST_CELL, MOST_SPAN, MOST_ADDED_CELLS, MOST_CONTAINERS)

# What an element does to the flow of text, by tag code.
_INLINE, _LINE, _PARAGRAPH, _BREAK, _ITEM, _HEADING, _PRE, _QUOTE, _LIST, _TABLE, _ROW, _CELL, _IMAGE, _RULE = range(14)
_ROLES = {
    _LINE: "body address center dd dt details dialog dir div fieldset figcaption footer form header hgroup legend main "
    "marquee nav noscript optgroup option search select summary template tbody thead tfoot caption section article "
    "aside iframe video audio canvas",
    _PARAGRAPH: "p figure dl",
    _BREAK: "br",
    _ITEM: "li",
    _HEADING: "h1 h2 h3 h4 h5 h6",
    _PRE: "pre textarea listing plaintext xmp",
    _QUOTE: "blockquote",
    _LIST: "ul ol menu",
    _TABLE: "table",
    _ROW: "tr",
    _CELL: "td th",
    _IMAGE: "img image",
    _RULE: "hr",
}
_ROLE = np.zeros(CUSTOM_TAG, np.uint8)
for _role, _names in _ROLES.items():
    _ROLE[[TAG_CODE[name] for name in _names.split()]] = _role

_MARKS = {"link": "a", "strong": "b strong", "emphasis": "i em cite dfn var", "code": "code kbd samp tt"}
_MARK_OF = {TAG_CODE[tag]: mark for mark, tags in (_MARKS | {"strike": "s strike del"}).items() for tag in tags.split()}
"""The field of `Marks` that each tag sets."""
_NOT_IN_DATA_CELLS = np.zeros(CUSTOM_TAG + 1, np.bool_)
_NO_DATA = "table ul ol dl h1 h2 h3 h4 h5 h6 article section form pre blockquote hr select".split()
_NOT_IN_DATA_CELLS[[TAG_CODE[name] for name in _NO_DATA]] = True
_SILENT = _ROLE == _LINE
"""Tags that only split plain text."""
_SILENT[TAG_CODE["#root"]] = True
_SILENT[[TAG_CODE["dt"], TAG_CODE["dd"], TAG_CODE["caption"]]] = False
_HEARD = (_ROLE != _INLINE) & ~_SILENT
"""Other tags that matter to plain text."""
_HEARD[[TAG_CODE["#root"], TAG_CODE["img"], TAG_CODE["image"]]] = True, False, False
_SEEN = (_ROLE != _INLINE) | np.isin(np.arange(CUSTOM_TAG), list(_MARK_OF))
"""Tags that matter to rich text."""
_SEEN[TAG_CODE["#root"]] = True
_SILENTLY_BIT, _HEARD_BIT, _PARTS_BIT, _NO_DATA_BIT, _NUMBERED_BIT = 16, 32, 64, 128, 256
TAG_DOES = (
    _ROLE
    | np.where(_SILENT, _SILENTLY_BIT, 0)
    | np.where(_HEARD, _HEARD_BIT, 0)
    | np.where(SPLITTING_TAGS, _PARTS_BIT, 0)
    | np.where(_NOT_IN_DATA_CELLS[:CUSTOM_TAG], _NO_DATA_BIT, 0)
).astype(np.uint16)
"""The effect of each tag on plain text, in one number for the compiled kernel (`_text.pyx`)."""
TAG_DOES[TAG_CODE["ol"]] |= _NUMBERED_BIT
_NUMBERS = (ATTRIBUTE_CODE["start"], ATTRIBUTE_CODE["colspan"], ATTRIBUTE_CODE["rowspan"])
_new_piece = tuple.__new__  # half the time of calling Piece, and a page has a thousand
_CODE_LANGUAGE = re.compile(r"(?:^|[\s-])(?:language|lang|highlight-source|highlight|brush)[-:]\s*([\w+#]+)")


def check_masks(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None) -> None:
    """Raise `ValueError` for a mask of another tree."""
    if len(keep) != len(tree):
        raise ValueError(f"a mask of {len(keep)} nodes for a tree of {len(tree)}")
    if runs is not None and len(runs) != tree.run_count:
        raise ValueError(f"a mask of {len(runs)} runs for a tree with {tree.run_count}")


def to_text(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None = None) -> str:
    """Plain text of the kept parts. Ends with a newline unless it is empty."""
    check_masks(tree, keep, runs)
    text = tree.text, tree.text_start, tree.text_end, tree.run_start, tree.run_owner, tree.run_before
    nodes = tree.tag, tree.parent, tree.end, tree.flags
    attributes = tree.attr_text, tree.attr_node, tree.attr_name, tree.attr_start
    kept_runs = np.ones(tree.run_count, np.bool_) if runs is None else runs
    return flowing_text(*text, *nodes, keep, kept_runs, *attributes, TAG_DOES, LIMITS, _NUMBERS)


def passages_of(
    tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None, *, rich: bool
) -> list[Passage]:
    """The kept parts of a page as passages, in page order. `rich` adds links, emphasis and images."""
    return _Walk(tree, keep, rich).passages(runs)


def code_language(tree: PageTree, i: int) -> str:
    """The language named by a class of a code element, its child or its parents (`language-python`), or nothing."""
    around = [i, *((i + 1,) if i + 1 < int(tree.end[i]) else ()), int(tree.parent[i]), int(tree.parent[tree.parent[i]])]
    for node in around:
        match = _CODE_LANGUAGE.search(tree.attribute(node, "class") or "") if node > 0 else None
        if match is not None and match[1] not in ("none", "text", "plain", "default", "source"):
            return match[1].lower()
    return ""


class _Table:
    """A data table while its rows are collected; `cell` is None between cells."""

    def __init__(self) -> None:
        self.rows: list[list[list[Piece]]] = []
        self.cell: list[Piece] | None = None
        self.hanging: dict[int, int] = {}
        """Columns that a cell above still covers, and the number of rows left."""

    def open_row(self) -> None:
        self.rows.append([])

    def open_cell(self, colspan: int, rowspan: int) -> None:
        if not self.rows:
            self.open_row()
        row = self.rows[-1]
        while self.hanging.get(len(row), 0):
            self.hanging[len(row)] -= 1
            row.append([])
        self.cell = []
        for _ in range(colspan):
            if rowspan > 1:
                self.hanging[len(row)] = rowspan - 1
            row.append([])
        row[-colspan] = self.cell


class _Walk:
    """One pass over the kept nodes and runs in page order."""

    def __init__(self, tree: PageTree, keep: NDArray[np.bool_], rich: bool) -> None:
        self.tree = tree
        self.mask = keep
        self.keep: list[bool] = keep.tolist()
        self.rich = rich
        known = np.where(tree.tag < CUSTOM_TAG, tree.tag, TAG_CODE["span"])
        self.relevant: NDArray[np.bool_] = (_SEEN if rich else _HEARD)[known]
        self.silent: NDArray[np.bool_] | None = None if rich else _SILENT[known]
        self.tags: list[int] = tree.tag.tolist()
        self.roles: list[int] = _ROLE[known].tolist()
        self.out: list[Passage] = []
        self.kind, self.level, self.language = "line", 0, ""
        self.heading = 0
        """Rank of the open heading, 0 for none."""
        self.pieces: list[Piece] = []
        self.within: list[Container] = []
        self.holders: list[int] = []
        """The nodes of the list items and quotes in `within`."""
        self.lists: list[int | None] = []
        """Next number of each open list, None for a bulleted one."""
        self.marking: list[tuple[int, Marks]] = []
        """Open elements that mark text, each with the marks before it."""
        self.marks = PLAIN
        self.table: _Table | None = None
        """The open data table. There is at most one: a table in a cell makes the outer one a layout table."""
        self.added_cells = 0
        no_data = _NOT_IN_DATA_CELLS[np.minimum(tree.tag, CUSTOM_TAG)]
        self.no_data_before: list[int] = np.concatenate(([0], np.cumsum(no_data))).tolist()
        """How many elements before each node cannot be in a data table."""
        self.code = 0
        """Number of open elements that preserve white space."""

    def passages(self, runs: NDArray[np.bool_] | None) -> list[Passage]:
        walk(
            self.tree,
            self.mask,
            self._with_text(runs),
            self.relevant,
            self.silent,
            on_open=self._open,
            on_close=self._close,
            on_text=self._say,
            on_split=self._split,
        )
        self._flush()
        return self.out

    def _with_text(self, runs: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Kept runs without the white space between blocks, which is half of a page's runs."""
        tree = self.tree
        check_masks(tree, self.mask, runs)
        wanted = self.mask[tree.run_owner] if runs is None else self.mask[tree.run_owner] & runs
        kept = np.flatnonzero(wanted)
        parted = np.ones(len(kept) + 1, np.bool_)
        if len(kept):
            parted[1:-1] = are_split(tree, splitting_nodes(tree), kept)
        blank = blank_runs(tree.text, tree.run_start)[kept]
        folded = (tree.flags[tree.run_owner[kept]] & PREFORMATTED) == 0
        wanted[kept[blank & folded & (parted[1:] | parted[:-1])]] = False
        return wanted

    def _say(self, text: str) -> None:
        pieces = self.pieces if self.table is None or self.table.cell is None else self.table.cell
        if not pieces and not self.code and text.isspace():
            return
        pieces.append(_new_piece(Piece, (text, self.marks, None)))

    def _split(self, silently: bool) -> None:
        if self.table is not None and self.table.cell is not None:
            self.table.cell.append(Piece(" "))
        elif self.code:
            self._split_code(_LINE)
        elif silently:
            self._flush()
        elif self.pieces:
            self.pieces.append(LINE_BREAK)

    def _open(self, i: int) -> None:
        role = self.roles[i]
        kept = self.keep[i]
        if self.code:
            if role == _BREAK:
                self.pieces.append(Piece("\n"))
            else:
                self.code += role == _PRE
                self._split_code(role)
        elif role == _INLINE:
            if kept and self.tags[i] in _MARK_OF:
                self.marking.append((i, self.marks))
                self.marks = self._marks_in(i)
        elif role == _IMAGE:
            if kept and self.rich:
                self._show_image(i)
        elif self.table is not None and (self.table.cell is not None or role in (_ROW, _CELL)):
            self._open_in_table(i, role)
        elif role == _BREAK:
            self.pieces.append(LINE_BREAK)
        else:
            self._flush()
            self._open_passage(i, role, kept)

    def _open_passage(self, i: int, role: int, kept: bool) -> None:
        if role == _PRE:
            self.code = 1
            self.kind = "code" if kept else "line"
            self.language = code_language(self.tree, i) if self.rich and kept else ""
        elif role == _LIST:
            self.lists.append(self._list_start(i) if kept and TAGS[self.tags[i]] == "ol" else None)
        elif role == _TABLE:
            if kept and self._is_data_table(i):
                self.table = _Table()
        elif not kept:
            return
        elif role == _PARAGRAPH:
            self.kind = "paragraph"
        elif role == _HEADING:
            self.heading = self.level = int(TAGS[self.tags[i]][1])
            self.kind = "heading"
        elif role == _ITEM:
            self._open_container(i, Container(self._next_marker()))
        elif role == _QUOTE:
            self._open_container(i, Container(None))
        elif role == _RULE and self.rich:
            self.out.append(Passage("rule", within=tuple(self.within)))
        elif TAGS[self.tags[i]] in ("dt", "dd"):
            self.kind = "term" if TAGS[self.tags[i]] == "dt" else "definition"

    def _open_container(self, i: int, container: Container) -> None:
        if len(self.within) < MOST_CONTAINERS:
            self.within.append(container)
            self.holders.append(i)

    def _close(self, i: int) -> None:
        role = self.roles[i]
        if role == _INLINE:
            if self.marking and self.marking[-1][0] == i:
                self.marks = self.marking.pop()[1]
        elif self.code:
            self.code -= role == _PRE
            if not self.code:
                self._flush()
            elif role != _BREAK:
                self._split_code(role)
        elif self.table is not None and role != _TABLE and (self.table.cell is not None or role == _ROW):
            self._close_in_table(role)
        elif role not in (_BREAK, _IMAGE, _RULE):
            if role == _HEADING:
                self.heading = 0
            self._flush()
            if role == _LIST:
                if self.lists:  # none where a foreign cell has closed the table's
                    self.lists.pop()
            elif self.holders and self.holders[-1] == i:
                self.holders.pop()
                self.within.pop()
            elif role == _TABLE:
                self._end_table()

    def _open_in_table(self, i: int, role: int) -> None:
        table = self.table
        assert table is not None
        if role == _ROW:
            table.open_row()
        elif role == _CELL:
            self._flush()
            table.open_cell(*self._spans(i))
        elif table.cell:
            table.cell.append(Piece(" "))

    def _close_in_table(self, role: int) -> None:
        assert self.table is not None
        if role == _CELL:
            self.table.cell = None
        elif self.table.cell and role != _IMAGE:
            self.table.cell.append(Piece(" "))

    def _end_table(self) -> None:
        table, self.table = self.table, None
        if table is None:
            return
        rows = [row for row in table.rows if any(map(_has_text, row))]
        if rows and max(map(len, rows)) > 1:
            self.out.append(Passage("table", rows=rows, within=tuple(self.within)))
        else:
            for row in rows:
                self.out.append(Passage("line", row[0], tuple(self.within)))

    def _flush(self) -> None:
        """End the current passage, if it has text."""
        pieces = self.pieces
        if pieces:
            self.pieces = []
            if _has_text(pieces):
                if self.table is not None and self.table.rows:  # a caption behind rows
                    self._end_table()
                    self.table = _Table()
                self.out.append(Passage(self.kind, pieces, tuple(self.within), self.level, self.language))
        self.kind, self.level, self.language = "heading" if self.heading else "line", self.heading, ""

    def _split_code(self, role: int) -> None:
        """Inside code, start a new line at a block and leave a blank between cells, unless there is one."""
        if role in (_INLINE, _IMAGE) or not self.pieces:
            return
        last = self.pieces[-1].text
        if role == _CELL:
            if not last[-1:].isspace():
                self.pieces.append(Piece(" "))
        elif not last.endswith("\n"):
            self.pieces.append(Piece("\n"))

    def _marks_in(self, i: int) -> Marks:
        """The marks of text inside node i."""
        mark = _MARK_OF[self.tags[i]]
        if mark != "link":
            added: dict[str, Any] = {mark: True}
            return self.marks._replace(**added)
        href = self._attributes(i).get("href", "#")
        marks = self.marks._replace(link=None if href.strip().startswith("#") else link_target(self.tree, href))
        return PLAIN if marks == PLAIN else marks

    @cached_property
    def _attributes(self) -> Callable[[int], dict[str, str]]:
        return attribute_reader(self.tree)

    def _show_image(self, i: int) -> None:
        found = self._attributes(i)
        address = picture_source(self.tree, found.get("src"), found.get("data-src"))
        if address is not None:
            pieces = self.pieces if self.table is None or self.table.cell is None else self.table.cell
            pieces.append(Piece(printable(found.get("alt", "")), self.marks, address))

    def _list_start(self, i: int) -> int:
        start = self._attributes(i).get("start", "")
        return int(start) if re.fullmatch(r"[0-9]{1,8}", start) else 1

    def _next_marker(self) -> str:
        if not self.lists or self.lists[-1] is None:
            return "- "
        number = self.lists[-1]
        self.lists[-1] = number + 1
        return f"{number}. "

    def _spans(self, i: int) -> tuple[int, int]:
        """The number of columns and rows that cell i covers."""
        found = self._attributes(i)
        columns, rows = (_span(found[name]) if name in found else 1 for name in ("colspan", "rowspan"))
        added = columns * rows - 1
        if self.added_cells + added > MOST_ADDED_CELLS:
            return 1, 1
        self.added_cells += added
        return columns, rows

    def _is_data_table(self, i: int) -> bool:
        end = int(self.tree.end[i])
        if self.no_data_before[i + 1] < self.no_data_before[end]:
            return False
        inside = self.tree.tag[i + 1 : end]
        cells = i + 1 + np.flatnonzero((inside == TAG_CODE["td"]) | (inside == TAG_CODE["th"]))
        if len(cells) <= np.count_nonzero(inside == TAG_CODE["tr"]):
            return False
        longest = int((self.tree.text_end[cells] - self.tree.text_start[cells]).max())
        return longest <= LONGEST_CELL


def _span(written: str) -> int:
    return min(max(int(written), 1), MOST_SPAN) if re.fullmatch(r"[0-9]{1,6}", written) else 1


def _has_text(pieces: list[Piece]) -> bool:
    for piece in pieces:  # noqa: SIM110 (a plain loop takes half the time of any(), and this runs for every passage)
        if piece.image is not None or not (piece.text.isspace() or not piece.text):
            return True
    return False
