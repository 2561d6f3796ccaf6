"""Kept parts as GitHub-flavoured Markdown: headings, links, lists, code with its language, and tables survive.

Text that would read as Markdown or HTML is escaped, so a page cannot write links or tags of its own; only http, https
and mailto links and http(s) images appear.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from string import punctuation
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from webwinnow.page.tree import PageTree
from webwinnow.record.flow import passages_of
from webwinnow.record.passages import LINE_BREAK, PLAIN, Container, Marks, Passage, Piece

_SPECIAL = re.compile(r"[\\`*\[\]<>~]|(?<![^\W_])_|_(?![^\W_])|&(?=[#A-Za-z]|\Z)")
_LINE_START = re.compile(r"^(?:([0-9]+)([.)])|([#+=:|-]))(?=\s|\Z|[-=+#:|])", re.MULTILINE)
_MAY_START = frozenset("0123456789#+=:|-")
_CLOSING_HASHES = re.compile(r"(?<=\s)#+\Z")
_BACKSLASHED = r"\\\g<0>"
_HARD_BREAK = "\\\n"
_IN_URL = re.compile(r"[\s()<>\\\"`|\x00-\x1f\x7f-\x9f]")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_TICKS = re.compile(r"`+")
_FENCES = re.compile(r"^[^\S\n]*(`{3,})", re.MULTILINE)


def to_markdown(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None = None) -> str:
    """Markdown of the kept parts. Ends with a newline unless it is empty."""
    written: list[str] = []
    last: Passage | None = None
    for passage, body in _separated(passages_of(tree, keep, runs)):
        if last is not None:
            written.append(_gap(last, passage))
        first, rest = _margins(passage.within)
        if passage.kind == "definition":
            first, rest = first + ": ", rest + "  "
        written.append(first + body.replace("\n", "\n" + rest) if first or rest else body)
        last = passage
    return "".join([*written, "\n"]) if written else ""


def _separated(passages: Iterable[Passage]) -> Iterator[tuple[Passage, str]]:
    """Passages that show something. Of rules, only those with text before and, in the same container, behind: what
    others separated is removed.
    """
    rules: list[Passage] = []
    is_first = True
    for passage in passages:
        body = _body(passage)
        if passage.kind == "rule":
            rules.append(passage)
        elif body:
            around = {id(one) for one in passage.within if one.opened or one.marker is None}
            rule = next((one for one in rules if around.issuperset(map(id, one.within))), None)
            if rule is not None and not is_first:
                yield rule, _body(rule)
            rules, is_first = [], False
            yield passage, body


def _gap(last: Passage, passage: Passage) -> str:
    """A blank line between passages, but none between list items; inside a quote the blank line is quoted."""
    if passage.kind == "definition" and last.kind in ("term", "definition"):
        return "\n"
    if last.within and _starts_item(last, passage):
        return "\n"
    shared = [a for a, b in zip(last.within, passage.within, strict=False) if a is b]
    if any(container.marker is None for container in shared):
        return "\n" + "".join("> " if c.marker is None else " " * len(c.marker) for c in shared).rstrip() + "\n"
    return "\n\n"


def _starts_item(last: Passage, passage: Passage) -> bool:
    """Whether a passage starts a list item that needs no blank line before it.

    A number other than 1 starts a list only after another number, where no paragraph can continue.
    """
    marker = passage.within[-1].marker if passage.within else None
    if marker is None or passage.within[-1].opened:
        return False
    depth = len(passage.within)
    neighbour = last.within[depth - 1].marker if len(last.within) >= depth else None
    return marker in ("- ", "1. ") or (neighbour or "- ") != "- "


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
        return "***"  # `---` would end a heading or, in a list item, be all there is of the list
    if passage.kind == "code":
        return _fenced("".join([piece.text for piece in passage.pieces]).strip("\n").rstrip(), passage.language)
    if passage.kind == "table":
        return _table(passage.rows)
    body = _inline(passage.pieces)
    is_heading = passage.kind == "heading" and any(p.image is None and p.text.strip() for p in passage.pieces)
    if is_heading:  # a picture alone is none
        return "#" * passage.level + " " + _CLOSING_HASHES.sub(_BACKSLASHED, body.replace(_HARD_BREAK, " "))
    return body


def _fenced(code: str, language: str) -> str:
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCES.findall(code))])
    return f"{fence}{language}\n{code}\n{fence}"


def _table(rows: list[list[list[Piece]]]) -> str:
    """A pipe table; all rows have the same number of cells, and the first is the header."""
    lines = []
    for row in rows:
        cells = [_inline(cell).replace(_HARD_BREAK, " ").replace("|", "\\|") for cell in row]
        lines.append("| " + " | ".join(cells) + " |")
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def _inline(pieces: list[Piece]) -> str:
    """Pieces with their marks, escaped; white space is folded and outside of links and marks."""
    if all(piece.marks is PLAIN and piece.image is None and piece is not LINE_BREAK for piece in pieces):
        text = _escaped(" ".join("".join([piece.text for piece in pieces]).split()))
    else:
        text = _marked_up(_spans(pieces))
    return _LINE_START.sub(_escaped_start, text) if text[:1] in _MAY_START or "\n" in text else text


_BLANK = Piece(" ")


def _spans(pieces: list[Piece]) -> list[Piece]:
    """Neighbouring pieces of one kind as one span without outer white space, with single blanks or line breaks between
    spans and none at the ends.
    """
    spans: list[Piece] = []

    def separate(by: Piece) -> None:
        if by is LINE_BREAK and spans and spans[-1].text == " ":
            spans.pop()
        if spans and spans[-1].text != " " and spans[-1] is not LINE_BREAK:
            spans.append(by)

    for (is_break, is_image, marks), group in groupby(pieces, key=_kind):
        if is_break:
            separate(LINE_BREAK)
        elif is_image:
            spans.extend(piece._replace(text=" ".join(piece.text.split())) for piece in group)
        else:
            text = "".join([piece.text for piece in group])
            blank = _BLANK if marks.link is None else Piece(" ", Marks(marks.link))
            folded = " ".join(text.split())
            if text[:1].isspace():
                separate(blank)
            if folded:
                spans.append(Piece(folded, marks))
                if text[-1].isspace():
                    separate(blank)
    while spans and (spans[-1].text == " " or spans[-1] is LINE_BREAK):
        spans.pop()
    return spans


def _kind(piece: Piece) -> tuple[bool, bool, Marks]:
    return piece is LINE_BREAK, piece.image is not None, piece.marks


def _marked_up(spans: list[Piece]) -> str:
    written: list[str] = []
    open_link: str | None = None
    for span, after in zip(spans, [*spans[1:], LINE_BREAK], strict=True):
        link = span.marks.link
        if span.text == " " and (link != open_link or link != after.marks.link):
            link = None  # a blank at the edge of a link is outside of it
        if link != open_link:
            if open_link is not None:
                written.append(f"]({_url(open_link)})")
            if link is not None:
                if written and written[-1].endswith("!"):
                    written[-1] = written[-1][:-1] + "\\!"  # or the link would be a picture
                written.append("[")
            open_link = link
        if span is LINE_BREAK:
            written.append(_HARD_BREAK)
        elif span.image is not None:
            written.append(f"![{_escaped(span.text)}]({_url(span.image)})")
        elif span.text == " ":
            written.append(" ")
        else:
            before = written[-1][-1] if written else " "
            is_touching = after.image is None and after.marks.link == link
            written.append(_marked(span, before, after.text[0] if is_touching else " "))
    if open_link is not None:
        written.append(f"]({_url(open_link)})")
    return "".join(written)


def _marked(span: Piece, before: str, after: str) -> str:
    """Text with its marks, between the characters `before` and `after` it.

    Markdown reads `**` as a mark only next to a word, or where only blanks and punctuation are on the other side. Where
    neither holds, outer punctuation moves out of the marks, and text without such punctuation loses them. So does text
    right after another mark: the two would be read as one.
    """
    text, marks = span.text, span.marks
    if not any(marks[1:]):
        return _escaped(text)
    as_code = marks.code and before != "`" and (marks.link is None or "]" not in text)  # or ]: might define a link
    delimiters = ["**"] * marks.strong + ["*"] * marks.emphasis + ["~~"] * marks.strike
    if before in ("*", "~"):
        delimiters = []
    lead = trail = ""
    if delimiters and not (_frees(before) and _frees(after)):
        if as_code:
            delimiters = []
        else:
            lead, text, trail = _without_outer_punctuation(text)
            if not text or marks.strike:
                delimiters = delimiters[-1:] if text else []  # `**~~` is punctuation itself
    body = _code_span(text) if as_code else _escaped(text)
    return "".join([_escaped(lead), *delimiters, body, *reversed(delimiters), _escaped(trail)])


def _without_outer_punctuation(text: str) -> tuple[str, str, str]:
    """The text before the first letter or digit, from there to the last, and after it."""
    first = next((k for k, character in enumerate(text) if character.isalnum()), len(text))
    last = next((k for k in range(len(text) - 1, first, -1) if text[k].isalnum()), first)
    return text[:first], text[first : last + 1], text[last + 1 :]


def _frees(character: str) -> bool:
    """Whether a mark is possible between this character and punctuation."""
    return character.isspace() or character in punctuation or category(character)[0] == "P"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(_BACKSLASHED, text)


def _code_span(text: str) -> str:
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _escaped_start(match: re.Match[str]) -> str:
    """Escape what would start a list, a heading, a table or a rule."""
    return f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}"


def _url(url: str) -> str:
    escaped = _IN_URL.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8")), url)
    return _ENTITY.sub("&amp;", escaped)
