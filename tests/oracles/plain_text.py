"""`render.to_text` passage by passage: slow and obvious; tests compare the compiled version with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.page.markup import CUSTOM_TAG, TAG_CODE
from webwinnow.page.tree import PageTree
from webwinnow.record.flow import HEARD, SILENT, PassageWalk, check_masks
from webwinnow.record.listnumbers import BULLET, MOST_ROMAN
from webwinnow.record.passages import LINE_BREAK, Passage, Piece

_TIGHT = frozenset(("line", "term", "definition"))


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


class _PlainWalk(PassageWalk):
    """The walk of rich text without links, emphasis, images and rules, with letters and Roman numerals."""

    def __init__(self, tree: PageTree, keep: NDArray[np.bool_]) -> None:
        super().__init__(tree, keep)
        known = np.where(tree.tag < CUSTOM_TAG, tree.tag, TAG_CODE["span"])
        self.relevant, self.silent = HEARD[known], SILENT[known]

    def _marker(self, i: int) -> str:
        return _marker_of(*self._numbers.get(i, (BULLET, "")))

    def _show_image(self, i: int) -> None:
        """Plain text has no images."""

    def _open_passage(self, i: int, role: int, kept: bool) -> None:
        super()._open_passage(i, role, kept)
        self.language = ""
        self.out = [passage for passage in self.out if passage.kind != "rule"]


def text_of_passages(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None = None) -> str:
    """`to_text` passage by passage."""
    check_masks(tree, keep, runs)
    written: list[str] = []
    last: Passage | None = None
    for passage in _PlainWalk(*tree.without_permalinks(keep)).passages(runs):
        if last is not None:
            written.append("\n" if _is_tight(last, passage) else "\n\n")
        body = _body(passage)
        if passage.within:
            first, rest = _margins(passage)
            body = first + (body.replace("\n", "\n" + rest) if "\n" in body else body)
        written.append(body)
        last = passage
    return "".join([*written, "\n"]) if written else ""


def _is_tight(last: Passage, passage: Passage) -> bool:
    """Whether two neighbours are on adjacent lines."""
    if last.within and passage.within and passage.within[-1].marker is not None and not passage.within[-1].opened:
        return passage.kind in _TIGHT or passage.kind == "paragraph"
    return last.kind in _TIGHT and passage.kind in _TIGHT and bool(last.within) == bool(passage.within)


def _margins(passage: Passage) -> tuple[str, str]:
    """The prefixes of the first line and of the others: markers of list items, or blanks in their place."""
    first = rest = ""
    for container in passage.within:
        if container.marker is not None:
            first += " " * len(container.marker) if container.opened else container.marker
            rest += " " * len(container.marker)
            container.opened = True
    return first, rest


def _body(passage: Passage) -> str:
    if passage.kind == "code":
        return "".join(piece.text for piece in passage.pieces).strip("\n").rstrip()
    if passage.kind == "table":
        return "\n".join(" | ".join(map(_inline, row)) for row in passage.rows)
    return _inline(passage.pieces)


def _inline(pieces: list[Piece]) -> str:
    """Inline text with white space folded; forced line breaks are kept."""
    if len(pieces) == 1:
        return " ".join(pieces[0].text.split())
    if LINE_BREAK not in pieces:
        return " ".join("".join([piece.text for piece in pieces]).split())
    lines: list[list[str]] = [[]]
    for piece in pieces:
        if piece is LINE_BREAK:
            lines.append([])
        else:
            lines[-1].append(piece.text)
    folded = (" ".join("".join(line).split()) for line in lines)
    return "\n".join(line for line in folded if line)


def _marker_of(number: int, style: str) -> str:
    """What is before an item: a bullet, a number, a letter or a Roman numeral as its list has it."""
    if number == BULLET:
        return "- "
    if not style or number < 1 or (style in "iI" and number > MOST_ROMAN):
        return f"{number}. "
    name = _roman(number) if style in "iI" else _letters(number)
    return f"{name.upper() if style.isupper() else name}. "


def _letters(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    name = ""
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("a") + letter) + name
    return name


def _roman(number: int) -> str:
    name = ""
    for value, sign in _ROMAN:
        name += sign * (number // value)
        number %= value
    return name
