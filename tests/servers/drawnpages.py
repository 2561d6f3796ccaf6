"""Pages with a layout that a test writes itself, without a browser."""

from __future__ import annotations

import re

import numpy as np

from webwinnow.page.layout import DISPLAYS, OWN_TEXT, POSITIONS, VISIBLE, PageLayout
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree

PAGE_SIZE = (1000, 2000)
VIEWPORT = (1000, 800)
BLACK, TRANSPARENT = 0x000000FF, 0
_TAG = re.compile(r"<([a-z]\w*)((?:\s[^<>]*)?)>")
_DRAWN = re.compile(r'\sdrawn="([^"]*)"')


def drawn_page(body: str, url: str = "http://a.example/") -> PageTree:
    """The tree of a page whose elements say where they are drawn: `<p drawn="left top width height name=value ...">`.

    Names are the columns of `PageLayout`. An element without `drawn` has the box of the one before it. `unseen` stands
    for flags without VISIBLE.
    """
    html, layout = drawn_html(body)
    return parse(html, url, layout=layout)


def drawn_html(body: str) -> tuple[str, bytes]:
    """The HTML of such a page, and its packed layout."""
    rows: list[dict[str, int]] = []

    def numbered(found: re.Match[str]) -> str:
        tag, attributes = found.groups()
        rows.append(_row(tag, _DRAWN.search(attributes), rows))
        return f'<{tag}{_DRAWN.sub("", attributes)} ww-box="{len(rows) - 1}">'

    html = _TAG.sub(numbered, f'<body drawn="0 0 {PAGE_SIZE[0]} {PAGE_SIZE[1]}">{body}</body>')
    columns = {name: [row[name] for row in rows] for name in PageLayout.dtypes()}
    return html, PageLayout.of_columns(columns, list(VIEWPORT), list(PAGE_SIZE)).to_bytes()


def _row(tag: str, written: re.Match[str] | None, before: list[dict[str, int]]) -> dict[str, int]:
    row = {
        "flags": VISIBLE | OWN_TEXT,
        "font_size": 64,
        "font_weight": 400,
        "colour": BLACK,
        "background": TRANSPARENT,
        "position": 0,
        "display": DISPLAYS.index("inline" if tag in ("a", "b", "span", "img") else "block"),
        "covered": 0,
    }
    places = dict.fromkeys(("left", "top", "width", "height"), 0)
    if before:
        places = {name: before[-1][name] for name in places}
    words = written.group(1).split() if written else []
    numbers = [int(word) for word in words if word.lstrip("-").isdigit()]
    places |= dict(zip(places, numbers, strict=False))
    for word in words:
        name, equals, value = word.partition("=")
        if name == "unseen":
            row["flags"] &= ~VISIBLE
        elif name == "position":
            row["position"] = POSITIONS.index(value)
        elif equals:
            row[name] = int(value, 0)
    if tag in ("div", "body", "section"):
        row["flags"] &= ~OWN_TEXT
    return row | places


def column(tree: PageTree, tag: str) -> np.intp:
    """The first node with a tag."""
    return np.flatnonzero(tree.tagged(tag))[0]
