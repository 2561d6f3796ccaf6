"""The kept parts of a page as passages: paragraphs, headings, list items, code, tables.

Markdown is written passage by passage. Plain text, which has the same passages, is written by a compiled kernel.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.lazy import lazy_property
from webwinnow.page.blocks import SPLITTING_TAGS, are_split, splitting_nodes
from webwinnow.page.markup import ATTRIBUTE_CODE, CUSTOM_TAG, HIDDEN, PREFORMATTED, TAG_CODE, TAGS
from webwinnow.page.structures import data_tables
from webwinnow.page.tree import HAS_PERMALINK, PageTree
from webwinnow.record._text import flowing_text
from webwinnow.record.listnumbers import BULLET, DIGITS, MOST_ROMAN, list_numbers
from webwinnow.record.passages import LINE_BREAK, PLAIN, Container, Marks, Passage, Piece
from webwinnow.record.tablegrid import TableGrid, has_text
from webwinnow.record.walk import attribute_reader, link_target, picture_source, printable, walk

MOST_CONTAINERS = 20
"""Nested lists and quotes that are shown as such: each makes every line inside longer."""
LIMITS = (MOST_CONTAINERS, DIGITS, MOST_ROMAN)

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
SILENT = _ROLE == _LINE
"""Tags that only split plain text."""
SILENT[TAG_CODE["#root"]] = True
SILENT[[TAG_CODE["dt"], TAG_CODE["dd"], TAG_CODE["caption"]]] = False
HEARD = (_ROLE != _INLINE) & ~SILENT
"""Other tags that matter to plain text."""
HEARD[[TAG_CODE["#root"], TAG_CODE["img"], TAG_CODE["image"]]] = True, False, False
_SEEN = (_ROLE != _INLINE) | np.isin(np.arange(CUSTOM_TAG), list(_MARK_OF))
"""Tags that matter to rich text."""
_SEEN[TAG_CODE["#root"]] = True
_SILENTLY_BIT, _HEARD_BIT, _PARTS_BIT, _NUMBERED_BIT, _LINKED_BIT = (1 << k for k in range(4, 9))
TAG_DOES = (
    _ROLE
    | np.where(SILENT, _SILENTLY_BIT, 0)
    | np.where(HEARD, _HEARD_BIT, 0)
    | np.where(SPLITTING_TAGS, _PARTS_BIT, 0)
).astype(np.uint16)
"""The effect of each tag on plain text, in one number for the compiled kernel (`_text.pyx`)."""
TAG_DOES[TAG_CODE["ol"]] |= _NUMBERED_BIT
TAG_DOES[HAS_PERMALINK] |= _LINKED_BIT
_NAMES = tuple(ATTRIBUTE_CODE[name] for name in "start value reversed type".split())
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
    shown = _flowing(tree, keep, runs, may_have_signs=False)
    return shown if shown is not None else _flowing(*tree.without_permalinks(keep), runs, may_have_signs=True) or ""


def _flowing(
    tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None, *, may_have_signs: bool
) -> str | None:
    text = tree.text, tree.text_start, tree.text_end, tree.run_start, tree.run_owner, tree.run_before
    nodes = tree.tag, tree.parent, tree.end, tree.flags
    attributes = tree.attr_text, tree.attr_node, tree.attr_name, tree.attr_start
    kept_runs = np.ones(tree.run_count, np.bool_) if runs is None else runs
    tables = data_tables(tree)
    return flowing_text(*text, *nodes, keep, kept_runs, *attributes, tables, TAG_DOES, LIMITS, _NAMES, may_have_signs)


def passages_of(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None) -> list[Passage]:
    """The kept parts of a page as passages, in page order, with links, emphasis and images."""
    check_masks(tree, keep, runs)
    return PassageWalk(*tree.without_permalinks(keep)).passages(runs)


def code_language(tree: PageTree, i: int) -> str:
    """The language named by a class of a code element, its child or its parents (`language-python`), or nothing."""
    around = [i, *((i + 1,) if i + 1 < int(tree.end[i]) else ()), int(tree.parent[i]), int(tree.parent[tree.parent[i]])]
    for node in around:
        match = _CODE_LANGUAGE.search(tree.attribute(node, "class") or "") if node > 0 else None
        if match is not None and match[1] not in ("none", "text", "plain", "default", "source"):
            return match[1].lower()
    return ""


class PassageWalk:
    """One pass over the kept nodes and runs in page order."""

    def __init__(self, tree: PageTree, keep: NDArray[np.bool_]) -> None:
        self.tree = tree
        self.mask = keep
        self.keep: list[bool] = keep.tolist()
        known = np.where(tree.tag < CUSTOM_TAG, tree.tag, TAG_CODE["span"])
        self.relevant: NDArray[np.bool_] = _SEEN[known]
        self.silent: NDArray[np.bool_] | None = None
        """Other nodes, which only split text."""
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
        self.marking: list[tuple[int, Marks]] = []
        """Open elements that mark text, each with the marks before it."""
        self.marks = PLAIN
        self.table: TableGrid | None = None
        """The open data table. There is at most one: a table in a cell makes the outer one a layout table."""
        self.cell_node = -1
        """The open cell of it."""
        self.tables = data_tables(tree)
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
        wanted = self.mask[tree.run_owner] if runs is None else self.mask[tree.run_owner] & runs
        kept = np.flatnonzero(wanted)
        parted = np.ones(len(kept) + 1, np.bool_)
        if len(kept):
            parted[1:-1] = are_split(tree, splitting_nodes(tree), kept)
        blank = ~tree.written_runs[kept]
        folded = (tree.flags[tree.run_owner[kept]] & PREFORMATTED) == 0
        wanted[kept[blank & folded & (parted[1:] | parted[:-1])]] = False
        return wanted

    def _say(self, text: str) -> None:
        pieces = self.pieces if self.table is None or self.table.cell is None else self.table.cell.pieces
        if not pieces and not self.code and text.isspace():
            return
        pieces.append(_new_piece(Piece, (text, self.marks, None)))

    def _split(self, silently: bool) -> None:
        if self.table is not None and self.table.cell is not None:
            self.table.cell.pieces.append(Piece(" "))
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
            if kept:
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
            self.language = code_language(self.tree, i) if kept else ""
        elif role == _TABLE:
            if kept and self.tables.has_data(i):
                self.table = self._grid(i)
        elif not kept:
            return
        elif role == _PARAGRAPH:
            self.kind = "paragraph"
        elif role == _HEADING:
            self.heading = self.level = int(TAGS[self.tags[i]][1])
            self.kind = "heading"
        elif role == _ITEM:
            self._open_container(i, Container(self._marker(i)))
        elif role == _QUOTE:
            self._open_container(i, Container(None))
        elif role == _RULE:
            self.out.append(Passage("rule", within=tuple(self.within)))
        elif TAGS[self.tags[i]] in ("dt", "dd"):
            self.kind = "term" if TAGS[self.tags[i]] == "dt" else "definition"

    def _marker(self, i: int) -> str:
        """What is before a list item: a bullet or a number."""
        number = self._numbers.get(i, (BULLET, ""))[0]
        return "- " if number == BULLET else f"{number}. "

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
            self._close_in_table(i)
        elif role not in (_BREAK, _IMAGE, _RULE):
            if role == _HEADING:
                self.heading = 0
            self._flush()
            if self.holders and self.holders[-1] == i:
                self.holders.pop()
                self.within.pop()
            elif role == _TABLE and self.table is not None:
                self._write_table(self.table, len(self.table.rows))
                self.table = None

    def _open_in_table(self, i: int, role: int) -> None:
        table = self.table
        assert table is not None
        if table.cell is not None:
            if table.cell.pieces:
                table.cell.pieces.append(Piece(" "))
        elif role == _CELL:
            self._flush()
            if table.open_cell(i):
                self.cell_node = i

    def _close_in_table(self, i: int) -> None:
        assert self.table is not None
        if self.cell_node == i:
            self.table.cell = None
            self.cell_node = -1
        elif self.table.cell is not None and self.table.cell.pieces and self.roles[i] != _IMAGE:
            self.table.cell.pieces.append(Piece(" "))

    def _grid(self, i: int) -> TableGrid:
        """The places of the cells of table i. Hidden cells without anything kept have none, as in browsers."""
        tree = self.tree

        def has_picture(cell: int) -> bool:
            return any(self.roles[k] == _IMAGE and self.keep[k] for k in range(cell + 1, int(tree.end[cell])))

        absent = np.zeros_like(self.absent) if self.tree.flags[i] & HIDDEN else self.absent
        return TableGrid(self.tables, self.tables.cells(i, absent).tolist(), has_picture)

    @lazy_property
    def absent(self) -> NDArray[np.bool_]:
        """Hidden nodes without anything kept."""
        kept = np.concatenate(([0], np.cumsum(self.mask)))
        absent: NDArray[np.bool_] = ((self.tree.flags & HIDDEN) != 0) & (kept[self.tree.end] == kept[:-1])
        return absent

    def _write_table(self, table: TableGrid, until: int) -> None:
        within = tuple(self.within)
        table.write(
            until,
            on_table=lambda rows: self.out.append(Passage("table", rows=rows, within=within)),
            on_line=lambda pieces: self.out.append(Passage("line", pieces, within)),
        )

    def _flush(self) -> None:
        """End the current passage, if it has text."""
        pieces = self.pieces
        if pieces:
            self.pieces = []
            if has_text(pieces):
                if self.table is not None:  # a caption behind rows
                    self._write_table(self.table, self.table.opened)
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

    @lazy_property
    def _attributes(self) -> Callable[[int], dict[str, str]]:
        return attribute_reader(self.tree)

    def _show_image(self, i: int) -> None:
        found = self._attributes(i)
        address = picture_source(self.tree, found.get("src"), found.get("data-src"))
        if address is not None:
            pieces = self.pieces if self.table is None or self.table.cell is None else self.table.cell.pieces
            pieces.append(Piece(printable(found.get("alt", "")), self.marks, address))

    @lazy_property
    def _numbers(self) -> dict[int, tuple[int, str]]:
        return list_numbers(self.tree, self.mask)
