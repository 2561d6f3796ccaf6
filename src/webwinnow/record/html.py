"""Kept parts as sanitised HTML in the page's layout: inert tags, no scripts, nothing that loads but images."""

from __future__ import annotations

from html import escape
from unicodedata import bidirectional

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.pictures import LEFT_OUT, empty_boxes
from webwinnow.page.markup import BLOCK_TAGS, CUSTOM_TAG, TAG_CODE, UNCLOSED_TAGS
from webwinnow.page.tree import PageTree
from webwinnow.record.flow import check_masks
from webwinnow.record.walk import attribute_reader, link_target, picture_source, printable, walk

_AS_DIV = frozenset("body form fieldset legend dialog template noscript search select optgroup option marquee".split())
_AS_SPAN = frozenset("button label output slot font blink nobr object".split())
_AS_PRE = frozenset(["listing", "textarea", "plaintext", "xmp"])
_LAYOUT = ("class", "align", "valign", "bgcolor", "width", "height", "border", "cellpadding", "cellspacing", "dir")
_PLAIN = ("colspan", "rowspan", "start", "reversed", "datetime", "lang", "title", "alt")
_LIST = ("type", "value")
"""Attributes of lists and their items, which mean something else elsewhere."""
_CELLS = (TAG_CODE["td"], TAG_CODE["th"])
_DIRECTION = {"L": -1, "R": 1, "AL": 1}
"""Letters of left-to-right and right-to-left scripts (Unicode UAX #9, strong types)."""
_JUDGED_LETTERS = 500
"""Letters of the kept text that its direction is judged by."""


def to_html(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None = None) -> str:
    """An HTML document with the kept parts and only the layout elements around them.

    It has the page's title, unless nothing at all is kept.
    """
    check_masks(tree, keep, runs)
    tree, keep = tree.without_permalinks(keep)
    body = _body(tree, *_with_empty_cells(tree, keep & ~empty_boxes(tree, keep, runs), runs))
    root = f' lang="{escape(tree.head.language)}"' if tree.head.language else ""
    root += ' dir="rtl"' if _is_right_to_left(tree, keep, runs) else ""
    title = f"<title>{escape(tree.head.title) if keep.any() else ''}</title>"
    head = f'<!DOCTYPE html>\n<html{root}>\n<head><meta charset="utf-8">{title}</head>'
    return printable(f"{head}\n<body>{body}</body>\n</html>\n")


def _is_right_to_left(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None) -> bool:
    """Whether most of the first letters of the kept text are of a script that is written from right to left.

    Many pages say so on `<html>`, which is no part of the tree. The text itself is in reading order in either case.
    """
    kept = keep[tree.run_owner] if runs is None else keep[tree.run_owner] & runs
    letters = balance = 0
    for k in np.flatnonzero(kept).tolist():
        for character in tree.text[tree.run_start[k] : tree.run_start[k + 1]]:
            direction = _DIRECTION.get(bidirectional(character))
            if direction is not None:
                letters, balance = letters + 1, balance + direction
                if letters == _JUDGED_LETTERS:
                    return balance > 0
    return balance > 0


def _with_empty_cells(
    tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_] | None]:
    """The masks with the removed cells of kept rows, without their text, so that the others stay in their columns."""
    total = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    shown = total[tree.end] > total[:-1]
    empty = np.isin(tree.tag, _CELLS) & ~shown & tree.visible
    empty &= keep[tree.parent] & (tree.tag[tree.parent] == TAG_CODE["tr"])
    if not empty.any():
        return keep, runs
    return keep | empty, ~empty[tree.run_owner] if runs is None else runs & ~empty[tree.run_owner]


def _body(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None) -> str:
    written: list[str] = []
    end_tags: list[str] = []
    attributes = attribute_reader(tree)

    def on_open(i: int) -> None:
        start, end = _tags(tree, i, attributes(i), bool(keep[i]))
        written.append(start)
        end_tags.append(end)

    walk(
        tree,
        keep,
        runs,
        on_open=on_open,
        on_close=lambda _: written.append(end_tags.pop()),
        on_text=lambda text: written.append(escape(text, quote=False)),
        on_split=lambda _: written.append("\n"),
    )
    return "".join(written)


def _tags(tree: PageTree, i: int, found: dict[str, str], kept: bool) -> tuple[str, str]:
    """Start and end tag of node i; an element that is only around something kept shows its layout alone."""
    tag = tree.tag_name(i)
    if i == 0:
        return "", ""
    if tag in LEFT_OUT:
        return "", "\n" if tag in BLOCK_TAGS else ""
    if tag in _AS_DIV:
        tag = "div"
    elif tag in _AS_PRE:
        tag = "pre"
    elif tag in _AS_SPAN or int(tree.tag[i]) >= CUSTOM_TAG or tag == "math" or TAG_CODE[tag] > TAG_CODE["template"]:
        tag = "span"
    shown = [(name, found[name]) for name in _LAYOUT if name in found]
    if kept:
        shown.extend((name, found[name]) for name in _PLAIN if name in found)
        shown.extend((name, found[name]) for name in _LIST if tag in ("ol", "li") and name in found)
        shown.extend(_urls(tree, tag, found))
    if tag == "img" and not any(name == "src" for name, _ in shown):
        return "", ""
    start = "<" + tag + "".join([f' {name}="{escape(value)}"' for name, value in shown]) + ">"
    if tag == "pre":
        start += "\n"  # parsers drop the first newline: this one, not the page's
    return start, "" if tag in UNCLOSED_TAGS else f"</{tag}>"


def _urls(tree: PageTree, tag: str, found: dict[str, str]) -> list[tuple[str, str]]:
    if tag == "a":
        name, url = "href", link_target(tree, found.get("href"))
    elif tag == "img":
        name, url = "src", picture_source(tree, found.get("src"), found.get("data-src"))
    else:
        return []
    return [] if url is None else [(name, url)]
