"""The logical segmentation of a page (thesis 6.1b), computed once per page as arrays.

`Structures`, over its nodes: data tables, lists, repeated records. `Sections`, over its blocks with text: headings and
what they head, sentences that introduce a list, code, figures; and the headline.

A data table is a `<table>` of at least two columns with short cells that contain text only; a table around other
structures (tables, lists, headings, forms) is there for the layout. A `<dl>` of terms and values is one, too: terms are
its first column, values its second.

Records are at least three elements of the same style that follow each other in one element, with several short blocks
in at least half of them (products, search results, rows of a layout table). The blocks of records with the same styles
between them and the record are one field. Siblings of one short block each are the items of a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from webwinnow.page._sections import headings_like, outline, outline_roles
from webwinnow.page._structures import DataTables, find_structures, neighbours
from webwinnow.page.blocks import SPLITTING_TAGS, Blocks
from webwinnow.page.hints import Hints, shared_words, squeezed, title_parts
from webwinnow.page.markup import ATTRIBUTE_CODE, CUSTOM_TAG, TAG_CODE
from webwinnow.page.tree import Head, PageTree

LONGEST_CELL = 1_000
"""Characters, white space included: a table with a longer cell is a layout table (ours)."""
MOST_SPAN = 50
"""Columns or rows that one cell may cover: a page can write `colspan=1000` in every cell."""
MOST_ADDED_CELLS = 100_000
"""Cells that the spans of one page may cover beyond their own; after that, spans are ignored."""
LEAST_RECORDS = 3
"""Siblings of the same style that are records or the items of a list, at least (ours)."""
MOST_FIELDS, LONGEST_RECORD, LONGEST_ITEM = 12, 400, 100
"""Blocks and characters of a record, and characters of an item, on average: longer ones are sections or paragraphs."""
COLUMN_HEADER, ROW_HEADER, GROUP_HEADER = 1, 2, 4
"""What a cell heads: its columns, its row, or the rows that follow a row of its own."""
LABEL_WORDS, LABEL_CHARS = 6, 60
"""The length of a label, at most."""
CLOSE, COLON, NO_LINK = 1, 2, 8
"""What `pair_bits` says of a short block: it is close to the next one, ends with a colon, is no link."""
FOREIGN_TO_DATA = tuple("table ul ol dl h1 h2 h3 h4 h5 h6 article section form pre blockquote hr select".split())
"""Elements that no data table contains."""
NO_RECORDS = tuple(
    "body p h1 h2 h3 h4 h5 h6 td th dt dd caption thead tfoot pre listing xmp plaintext blockquote option optgroup "
    "select textarea legend summary nav footer aside form fieldset".split()
)
"""Elements that are no record: paragraphs, headings, columns of a layout, parts of a form."""
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
    11: "tbody tfoot",
}
_NO_DATA = 32
ROLES = np.zeros(CUSTOM_TAG + 1, np.uint8)
for _role, _names in _ROLES.items():
    ROLES[[TAG_CODE[_name] for _name in _names.split()]] = _role
ROLES[[TAG_CODE[_name] for _name in FOREIGN_TO_DATA]] |= _NO_DATA
_SPLITS, _NO_RECORD = 1, 2
_BITS = np.zeros(CUSTOM_TAG + 1, np.uint8)
_BITS[:CUSTOM_TAG][SPLITTING_TAGS] = _SPLITS
_BITS[[TAG_CODE[_name] for _name in NO_RECORDS]] |= _NO_RECORD


def data_tables(tree: PageTree) -> DataTables:
    """Which tables of a page have data, and the grid of each; structures and renderers have the same."""
    return DataTables(
        tree.tag,
        tree.parent,
        tree.end,
        tree.style,
        tree.text,
        tree.text_start,
        tree.text_end,
        tree.attr_text,
        tree.attr_node,
        tree.attr_name,
        tree.attr_start,
        ROLES,
        (LONGEST_CELL, MOST_SPAN, MOST_ADDED_CELLS),
        (ATTRIBUTE_CODE["colspan"], ATTRIBUTE_CODE["rowspan"], ATTRIBUTE_CODE["role"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Structures:
    """For each node the data table, cell, list, item, record and field around it (-1 for none); and those themselves.

    Each column of `tables`, `cells`, `lists`, `records` and `groups` is one of these. A cell is an element with its
    first row and column, the rows and columns it covers, and what it heads. The characters of a list are without white
    space. The record of a node is the innermost; elements of blocks have a field, numbered in the group.
    """

    table_of: NDArray[np.int32]
    cell_of: NDArray[np.int32]
    list_of: NDArray[np.int32]
    item_of: NDArray[np.int32]
    record_of: NDArray[np.int32]
    field_of: NDArray[np.int32]
    tables: NDArray[np.int32]
    """Rows: node, rows, columns, first cell."""
    cells: NDArray[np.int32]
    """Rows: node, row, column, rows, columns, header bits."""
    lists: NDArray[np.int32]
    """Rows: node (the one around the siblings if they are no `ul` or `ol`), items, characters, characters in links."""
    records: NDArray[np.int32]
    """Rows: node, group, number in the group."""
    groups: NDArray[np.int32]
    """Rows: node around the records, records, fields."""

    @classmethod
    def of(cls, tree: PageTree) -> Structures:
        """Find the structures of a page."""
        runs = tree.run_start, tree.run_owner, tree.run_before
        limits = LEAST_RECORDS, MOST_FIELDS, LONGEST_RECORD, LONGEST_ITEM
        nodes, tables, cells, lists, records, groups = find_structures(data_tables(tree), *runs, _BITS, limits)
        return cls(
            table_of=nodes[0],
            cell_of=nodes[1],
            list_of=nodes[2],
            item_of=nodes[3],
            record_of=nodes[4],
            field_of=nodes[5],
            tables=np.ascontiguousarray(tables),
            cells=np.ascontiguousarray(cells),
            lists=lists,
            records=records,
            groups=groups,
        )

    def says(self, node: int) -> str:
        """Where in a table, record or list the element of a block is, in words; empty for other nodes."""
        table, cell, listed = int(self.table_of[node]), int(self.cell_of[node]), int(self.list_of[node])
        record = int(self.record_of[node])
        if cell >= 0:
            _, row, column, rows, columns, header = self.cells[:, cell].tolist()
            heads = " and ".join(name for bit, name in _HEADS.items() if header & bit)
            place = f"table {table + 1}, row {_span(row, rows)}, column {_span(column, columns)}"
            return place + (f", header of {heads}" if heads else "")
        if table >= 0:
            return f"caption of table {table + 1}"
        if record >= 0 and self.records[0, record] >= self.item_of[node]:
            _, group, number = self.records[:, record].tolist()
            return f"record {number + 1} of {int(self.groups[1, group])}, field {int(self.field_of[node]) + 1}"
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


# Sections

BESIDE = 1
"""Words beside a heading, such as "edit", with which an element is only the heading's own."""
ROLE_LEVEL = 2
"""The level of an element with the role of a heading (its default in ARIA)."""
MAX_HEADINGS = 64
"""Headings that are compared with the page's titles."""
MAX_FOUND = 4
"""Places in the text at which a part of a title is looked up."""
SIMILAR = 0.5
"""Share of a first-level heading's words that occur in a title of the head, to count as another wording of it."""
WHOLE_TITLE, TITLE_PART, SIMILAR_TITLE, WRITTEN_TITLE, FIRST_LEVEL = range(5)
"""How good candidates for the headline are; up to `WRITTEN_TITLE` the title confirms them."""
LONGEST = 1_000
"""Characters of a longest headline."""
_BESIDE = frozenset(TAG_CODE[name] for name in "li option select form nav footer".split())
_LISTS, _CODE, _FIGURE, _PICTURE, _BOUND = 8, 16, 32, 64, 128
_OUTLINE_ROLES = {
    _LISTS: "ul ol dl menu dir table pre listing xmp plaintext",
    _CODE: "pre listing xmp plaintext",
    _FIGURE: "figure",
    _PICTURE: "img image picture svg video canvas object embed",
    _BOUND: "ul ol dl menu dir table li article aside nav section footer form details dialog",
}
_OUTLINE_ROLE = np.zeros(CUSTOM_TAG + 1, np.uint8)
for _level in range(1, 7):
    _OUTLINE_ROLE[TAG_CODE[f"h{_level}"]] = _level
for _role, _names in _OUTLINE_ROLES.items():
    _OUTLINE_ROLE[[TAG_CODE[name] for name in _names.split()]] |= _role


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sections:
    """Arrays over the blocks with text of a page.

    `level[k]` is the level of the heading that block k is, 0 for other text. `heading[k]` is the first block of the
    heading that k is under, -1 for none; further lines of a heading are under its first. `end[k]` is the block after
    the last that k heads, or introduces if it is no heading; 0 for none. `code[k]` and `figure[k]` are the nodes of the
    code and of the figure with a picture that k is in, -1 for none.
    """

    level: NDArray[np.uint8]
    heading: NDArray[np.int32]
    end: NDArray[np.int32]
    code: NDArray[np.int32]
    figure: NDArray[np.int32]

    def lines(self, k: int) -> slice:
        """The blocks of the heading that begins with block k, or k alone."""
        after, count = k + 1, len(self.level)
        while after < count and self.level[after] and self.end[after] == 0 and self.heading[after] == k:
            after += 1
        return slice(k, after)


def find_sections(
    tree: PageTree,
    owner: NDArray[np.int32],
    words: NDArray[np.int32],
    spans: tuple[NDArray[np.int32], NDArray[np.int32]],
) -> Sections:
    """Find the sections of a page, whose blocks with text are in the elements `owner` and have these words and spans.

    A section ends at the next heading of the same or a higher level, or with the element that contains it: the nearest
    around the heading with more than a few words of other text.
    """
    attributes = tree.attr_node, tree.attr_name, tree.attr_start, tree.attr_text
    role = outline_roles(tree.tag, _OUTLINE_ROLE, *attributes, ATTRIBUTE_CODE["role"], ROLE_LEVEL)
    level, heading, end, code, figure = outline(
        tree.parent, tree.text_start, tree.text_end, role, tree.text, owner, *spans, words, BESIDE
    )
    return Sections(level=level, heading=heading, end=end, code=code, figure=figure)


def headlines(
    tree: PageTree,
    spans: tuple[NDArray[np.int32], NDArray[np.int32]],
    shown: NDArray[np.bool_],
    sections: Sections,
    hints: Hints,
) -> list[list[int]]:
    """Blocks that may be the headline: five lists in page order, the best first.

    First headings that are a title of the head, then those that are a part of one, then first-level headings that share
    most words with a title, then other text that is a title or a part of one, then all first-level headings. Names of
    the site and hidden text do not count; `shown` are the blocks that browsers show, `spans` their text.
    """
    declared = hints.declared
    parts = {part: squeezed(part) for title in declared for part in _parts(title)}
    known = {plain for plain in parts.values() if plain and not hints.is_plain_site(plain)}
    whole = known & {parts[title] for title in declared}
    graded: list[list[int]] = [[], [], [], [], []]
    confirmed: dict[int, str] = {}
    outlined = sections.level, sections.heading, sections.end, shown, *spans, tree.text
    openings = "".join([plain[:2].ljust(2, "\0") for plain in known if plain[:2].isascii()]).encode()
    for k, first, last in headings_like(*outlined, openings, MAX_HEADINGS):
        text = tree.text[first:last]
        plain = squeezed(text[:LONGEST])
        if plain in whole:
            graded[WHOLE_TITLE].append(k)
        elif plain in known:
            confirmed[k] = plain
        elif plain and sections.level[k] == 1 and not hints.is_site(text):
            is_similar = any(shared_words(text, title) >= SIMILAR for title in declared)
            graded[SIMILAR_TITLE if is_similar else FIRST_LEVEL].append(k)
    graded[TITLE_PART] = _longest(confirmed)
    if not graded[WHOLE_TITLE] and not graded[TITLE_PART]:
        named = (part for part, plain in parts.items() if plain in known)
        written = {k: parts[part] for part in named for k in _written(tree, part, *spans) if shown[k]}
        graded[WRITTEN_TITLE] = sorted(_longest(written))
    return graded


def _longest(plain: dict[int, str]) -> list[int]:
    """The blocks whose text is not a part of that of another one."""
    texts = set(plain.values())
    return [k for k, text in plain.items() if not any(text in other != text for other in texts)]


def _parts(title: str) -> Iterator[str]:
    """Yield a title, its parts, and theirs: the middle of three parts too."""
    yield title
    for part in title_parts(title):
        yield part
        yield from title_parts(part)


def _written(tree: PageTree, part: str, start: NDArray[np.int32], stop: NDArray[np.int32]) -> list[int]:
    """Blocks whose text is a part of a title, of two words or more, in no list."""
    text, found, at = tree.text, [], -1
    for _ in range(MAX_FOUND if " " in part else 0):
        at = text.find(part, at + 1)
        if at < 0:
            break
        k = int(start.searchsorted(at, side="right")) - 1
        is_short = k >= 0 and stop[k] - start[k] <= LONGEST
        if is_short and squeezed(text[start[k] : stop[k]]) == squeezed(part) and not _is_beside(tree, at):
            found.append(k)
    return found


def _is_beside(tree: PageTree, at: int) -> bool:
    """Whether a character of the text is in a list, form, `nav` or `footer`: a path, a menu."""
    node = int(tree.run_owner[int(tree.run_start.searchsorted(at, side="right")) - 1])
    while node > 0:
        if tree.tag[node] in _BESIDE:
            return True
        node = int(tree.parent[node])
    return False


# The product that a page is about

MOST_BELOW = 60
"""Blocks below the headline among which its price and availability are."""
OFFER_WORDS = 8
"""Words of a price with what belongs to it, such as "was" and "per month"; of an availability, too."""
_PRICE_METAS = ("product:price:amount", "og:price:amount", "price", "lowprice")
_PRICE_NAMES = frozenset(_PRICE_METAS)
_AMOUNT = re.compile(r"([0-9]{1,9})(?:[.,][0-9]{1,2})?$")
_STOCK = re.compile(r"(?:^|[-_\s])(?:in)?stock|availab", re.IGNORECASE)


def offered(blocks: Blocks, said: NDArray[np.int32], words: NDArray[np.int32], first: int) -> list[int]:
    """Blocks with the price and the availability of the product that the page says it is about, at most one each.

    They are among the blocks from `first` on, which follow the headline.
    """
    tree = blocks.tree
    amounts = {match[1] for text in _prices(tree.head) if (match := _AMOUNT.match(text.strip()))} - {"0"}
    if not amounts:
        return []
    bounds = tree.run_start[blocks.first_run]
    rows = [k for k in range(first, min(first + MOST_BELOW, len(said))) if words[k] <= OFFER_WORDS]
    written = amount_pattern(amounts)
    price = (k for k in rows if written.search(tree.text, bounds[said[k]], bounds[said[k] + 1]))
    named = (tree.attribute(int(blocks.owner[said[k]]), "class") or "" for k in rows)
    stock = (k for k, name in zip(rows, named, strict=True) if _STOCK.search(name))
    return [k for found in (price, stock) for k in islice(found, 1)]


def _prices(head: Head) -> Iterator[str]:
    """Yield the prices that the head declares for the one product of the page."""
    found: dict[str, str] = {}
    for name, content in head.metas:
        if name in _PRICE_NAMES:
            found.setdefault(name, content)
    yield from (found[name] for name in _PRICE_METAS if name in found)
    if sum(script.count('"Product"') for script in head.json_ld) != 1:
        return
    for thing in head.json_ld_things:
        if thing.get("@type") == "Product":
            offers = thing.get("offers")
            for offer in (offers if isinstance(offers, list) else [offers])[:1]:
                if isinstance(offer, dict):
                    yield from (str(offer[name]) for name in ("price", "lowPrice") if name in offer)


def amount_pattern(amounts: Iterable[str]) -> re.Pattern[str]:
    """A pattern of some whole numbers as people write them."""
    return re.compile("|".join(rf"(?<![0-9.,]){_grouped(amount)}(?![0-9])" for amount in sorted(amounts)))


def _grouped(amount: str) -> str:
    """A pattern of a whole number with or without separators of thousands."""
    head, tail = amount[: len(amount) % 3], amount[len(amount) % 3 :]
    groups = [head] * bool(head) + [tail[k : k + 3] for k in range(0, len(tail), 3)]
    return r"[.,'\s]?".join(groups)
