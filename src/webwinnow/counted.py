"""Parts of messages: numbers with their nouns (`1 page`, `2 pages`), text without control characters."""

from __future__ import annotations


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with thousands separators and its noun: `counted(1, "page")` is `1 page`, of 1,200 `1,200 pages`.

    `many` is the plural of a noun that does not only add an s, or of a noun with a verb: `counted(n, "copy",
    "copies")`, `counted(n, "page has", "pages have")`.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def printable(text: str) -> str:
    """Text with control characters replaced by spaces: a page's text must not control the terminal."""
    return "".join(character if character.isprintable() else " " for character in text)
