"""Kept parts as GitHub-flavoured Markdown: headings, links, lists, code with its language, and tables survive.

Text that would read as Markdown or HTML is escaped, so a page cannot write links or tags of its own; only http, https
and mailto links and http(s) images appear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from webwinnow.pagetree import PageTree
from webwinnow.render.flow import LINE_BREAK, Container, Marks, Passage, Piece, passages_of

__all__ = ["to_markdown"]

_SPECIAL = re.compile(r"[\\`*\[\]<>~|]|(?<!\w)_|_(?!\w)|&(?=[#A-Za-z])")
_LINE_START = re.compile(r"^(?:(\d+)([.)])|([#+=-]))(?=\s|\Z|[-=+#])", re.MULTILINE)
_BACKSLASHED = r"\\\g<0>"
_HARD_BREAK = "\\\n"
_IN_ADDRESS = re.compile(r"[\s()<>\\\"'\[\]`|*_\x00-\x1f\x7f]")
_BARE_PIPE = re.compile(r"(?<!\\)\|")
_TICKS = re.compile(r"`+")
_FENCES = re.compile(r"^\s*(`{3,})", re.MULTILINE)


def to_markdown(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None = None) -> str:
    """Markdown of the kept parts. Ends with a newline unless it is empty."""
    written: list[str] = []
    last: Passage | None = None
    for passage in passages_of(tree, keep, runs, rich=True):
        body = _body(passage)
        if not body:
            continue
        if last is not None:
            written.append(_gap(last, passage))
        first, rest = _margins(passage.within)
        if passage.kind == "definition":
            first, rest = first + ": ", rest + "  "
        written.append(first + body.replace("\n", "\n" + rest) if first or rest else body)
        last = passage
    return "".join([*written, "\n"]) if written else ""


def _gap(last: Passage, passage: Passage) -> str:
    """A blank line between passages, but none between list items; inside a quote the blank line is the quote's."""
    if passage.kind == "definition" and last.kind in ("term", "definition"):
        return "\n"
    if last.within and passage.within and passage.within[-1].marker is not None and not passage.within[-1].opened:
        return "\n"
    shared = [a for a, b in zip(last.within, passage.within, strict=False) if a is b]
    if any(container.marker is None for container in shared):
        return "\n" + "".join("> " if c.marker is None else " " * len(c.marker) for c in shared).rstrip() + "\n"
    return "\n\n"


def _margins(within: tuple[Container, ...]) -> tuple[str, str]:
    first = rest = ""
    for container in within:
        if container.marker is None:
            first, rest = first + "> ", rest + "> "
        else:
            first += " " * len(container.marker) if container.opened else container.marker
            rest += " " * len(container.marker)
            container.opened = True
    return first, rest


def _body(passage: Passage) -> str:
    if passage.kind == "rule":
        return "---"
    if passage.kind == "code":
        return _fenced("".join(piece.text for piece in passage.pieces).strip("\n").rstrip(), passage.language)
    if passage.kind == "table":
        return _table(passage.rows)
    body = _inline(passage.pieces)
    if passage.kind == "heading":
        return "#" * passage.level + " " + body.replace(_HARD_BREAK, " ") if body else ""
    return body


def _fenced(code: str, language: str) -> str:
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCES.findall(code))])
    return f"{fence}{language}\n{code}\n{fence}"


def _table(rows: list[list[list[Piece]]]) -> str:
    width = max(map(len, rows))
    lines = []
    for row in rows:
        cells = [_BARE_PIPE.sub(r"\\|", _inline(cell).replace(_HARD_BREAK, " ")) for cell in row]
        lines.append("| " + " | ".join(cells + [""] * (width - len(row))) + " |")
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _inline(pieces: list[Piece]) -> str:
    """Pieces marked up and escaped; white space folded and kept outside links and marks."""
    written = []
    for link, group in groupby(pieces, key=lambda piece: piece.marks.link):
        text = _joined(_span(*kind, list(same)) for kind, same in groupby(group, key=_kind))
        written.append(text if link is None else _around(text, "[", f"]({_address(link)})"))
    return _LINE_START.sub(_escaped_start, _joined(written).strip().removesuffix(_HARD_BREAK.strip()).rstrip())


def _kind(piece: Piece) -> tuple[bool, Marks, str | None]:
    return piece is LINE_BREAK, piece.marks, piece.image


def _span(is_break: bool, marks: Marks, image: str | None, pieces: list[Piece]) -> str:
    """Neighbouring pieces of one kind, with one blank at each end where there was white space."""
    if is_break:
        return _HARD_BREAK
    text = "".join(piece.text for piece in pieces)
    folded = " ".join(text.split())
    if image is not None:
        return f"![{_SPECIAL.sub(_BACKSLASHED, folded)}]({_address(image)})"
    if not folded:
        return " " if text else ""
    body = _code_span(folded) if marks.code else _SPECIAL.sub(_BACKSLASHED, folded)
    for mark, is_set in (("~~", marks.strike), ("*", marks.emphasis), ("**", marks.strong)):
        if is_set:
            body = f"{mark}{body}{mark}"
    return " " * text[0].isspace() + body + " " * text[-1].isspace()


def _code_span(text: str) -> str:
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _joined(spans: Iterable[str]) -> str:
    """Spans one after another, without two blanks in a row, blanks at breaks or breaks in a row."""
    written = ""
    for span in spans:
        if span == _HARD_BREAK:
            written = written.rstrip(" ")
            if written and not written.endswith("\n"):
                written += span
        else:
            written += span.lstrip(" ") if written.endswith((" ", "\n")) else span
    return written


def _around(text: str, before: str, after: str) -> str:
    """Put marks around text, its outer white space left outside; nothing around nothing."""
    core = text.strip(" ")
    if not core or core == _HARD_BREAK:
        return text
    start = text.index(core)
    return text[:start] + before + core.removesuffix(_HARD_BREAK) + after + text[start + len(core) :]


def _escaped_start(match: re.Match[str]) -> str:
    """What would start a list, a heading or a rule, escaped."""
    return f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}"


def _address(url: str) -> str:
    return _IN_ADDRESS.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8")), url)
