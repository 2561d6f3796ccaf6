"""`Passage`: a unit of reading, with its text and the lists and quotes around it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Marks(NamedTuple):
    """The marks of a piece of inline text."""

    link: str | None = None
    strong: bool = False
    emphasis: bool = False
    code: bool = False
    strike: bool = False


PLAIN = Marks()


class Piece(NamedTuple):
    """Inline text of one kind. Pieces with an `image` have the picture's description as text and its URL."""

    text: str
    marks: Marks = PLAIN
    image: str | None = None


LINE_BREAK = Piece("\n")


@dataclass(slots=True)
class Container:
    """A quote or a list item around passages; an item's marker is before its first passage only."""

    marker: str | None
    """None for a quote."""
    opened: bool = False


@dataclass(slots=True)
class Passage:
    """One unit of reading with the containers around it, outermost first."""

    kind: str
    """`paragraph`, `line`, `heading`, `code`, `table`, `rule`, `term` or `definition`."""
    pieces: list[Piece] = field(default_factory=list)
    within: tuple[Container, ...] = ()
    level: int = 0
    language: str = ""
    rows: list[list[list[Piece]]] = field(default_factory=list)
