"""`render.to_text` passage by passage: slow and obvious; tests compare the compiled version with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.page.tree import PageTree
from webwinnow.record.flow import passages_of
from webwinnow.record.passages import LINE_BREAK, Passage, Piece

_TIGHT = frozenset(("line", "term", "definition"))


def text_of_passages(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None = None) -> str:
    """`to_text` passage by passage."""
    written: list[str] = []
    last: Passage | None = None
    for passage in passages_of(tree, keep, runs, rich=False):
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
