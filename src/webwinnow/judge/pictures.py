"""Pictures: each follows the text beside it; logos, icons, spacers, avatars and buttons go even inside content."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge._judging import ascii_words, framed
from webwinnow.judge.evidence import evidence_of, spans_of
from webwinnow.page._nodes import topmost
from webwinnow.page._sections import add_wrappers, pictures_beside
from webwinnow.page.blocks import runs_of_nodes
from webwinnow.page.markup import ATTRIBUTES, CUSTOM_TAG, TAG_CODE
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree

SMALLEST = 50
"""Pixels of the smaller side of a picture, if declared: smaller ones are icons, buttons and ratings."""
LARGE = 200
"""Pixels: the names of a picture that is declared larger on both sides do not count against it."""
FEW_WORDS = 3
"""Removed text of so few words beside a picture, such as "Click to enlarge", does not count."""
OFTEN = 3
"""A picture that is so often on one page is an ornament."""
LONGEST_NAMES = 500
"""Characters of the names of a picture that are read."""
UP = 3
"""Elements around a picture, without text, whose names count as its own."""
_IS_PICTURE = np.zeros(CUSTOM_TAG + 1, np.bool_)
_IS_PICTURE[[TAG_CODE[name] for name in "img image svg canvas object embed input".split()]] = True
_WRAPS = np.zeros(CUSTOM_TAG + 1, np.bool_)
_WRAPS[[TAG_CODE[name] for name in "a picture source figure button span center".split()]] = True
_IMG, _SVG, _A, _BUTTON, _FIGURE = (TAG_CODE[name] for name in ("img", "svg", "a", "button", "figure"))
_WORD = re.compile(r"[a-z]+")
_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DECORATION = frozenset(
    (
        "logo logos icon icons ico favicon sprite sprites spacer spacers pixel blank clear clr transparent button "
        "buttons btn btns avatar avatars gravatar userpic arrow arrows bullet bullets badge badges emoji emojis "
        "emoticon emoticons smiley smilies smileys rss share sharing social stars rating ratings tracking beacon "
        "flag flags ads advert captcha divider separator"
    ).split()
)
"""Words in the name of a file, of a class or of an alternative text that show a picture without content."""
_FILES = _DECORATION | {"placeholder", "loading", "loader", "spinner"}
"""Words in the name of a file; such classes are common on pictures that scripts load."""
_ACTIONS = frozenset(
    (
        "close open toggle menu search print email mail share reply quote login logout register subscribe cart basket "
        "checkout buy facebook twitter instagram linkedin pinterest youtube whatsapp next previous zoom enlarge"
    ).split()
)
"""Words that an alternative text of few words begins with if the picture is a button."""
_PAGE_LINK = re.compile(r"javascript:|mailto:|#|(?:(?:https?:)?//[^/?#]+)?/?$", re.IGNORECASE)
_ACTION_NAMES = tuple(
    "share sharer intent newreply reply quote login signin register subscribe addtocart cart basket print sendmail "
    "report profile member user".split()
)
_ACTION_LINK = re.compile(rf".*\b(?:{'|'.join(_ACTION_NAMES)})\b", re.IGNORECASE)
"""Targets of a link around a picture that is a button, an avatar or, if it is a home page, a logo."""
_MOST_ACTION_WORDS = 4
_LONGEST_PIXELS = 5
_PIXELS = re.compile(rf"\s*([0-9]{{1,{_LONGEST_PIXELS}}})\s*+(?:px)?\s*$")
LEFT_OUT = frozenset(
    "iframe embed applet video audio canvas svg frame frameset input source track area map spacer meter "
    "progress".split()
)
"""Elements that load, run or request something, and those without meaning outside of them. Their text is kept."""
_UNSEEN = tuple(
    TAG_CODE[tag]
    for tag in sorted(
        LEFT_OUT | set("div aside section center ins header footer nav noscript button form figure p article".split())
    )
)
"""Elements that show nothing if they have neither text nor a picture: a box for a script to fill, a frame."""


def judged_pictures(
    page: Page, keep: NDArray[np.bool_], kept_rows: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of the nodes to `keep` the pictures that the text beside shows to be removed, and those that are decoration.

    `kept_rows` are the blocks with text that are kept. Elements that contain nothing but such pictures are included.
    """
    tree = page.tree
    places = tree.tag, tree.text_start, tree.text_end
    blocks = spans_of(page)[0], evidence_of(page).words, kept_rows
    given = tree.parent, *places, keep, _IS_PICTURE, *blocks, FEW_WORDS, (_IMG, _SVG, _FIGURE)
    images, outside, decoration = pictures_beside(*given)
    if len(images):
        decoration[images] = _are_decoration(tree, images)
    if outside.any() or decoration.any():
        add_wrappers(tree.parent, tree.end, *places, keep, _IS_PICTURE, _WRAPS, outside, decoration)
    return outside, decoration


def _are_decoration(tree: PageTree, images: NDArray[np.int32]) -> list[bool]:
    """Which images are decoration: by their own attributes and those around, or because the page repeats them."""
    attributes = tree.attr_node, tree.attr_name, tree.attr_start, tree.attr_text, ATTRIBUTES
    found = framed(tree.parent, tree.tag, tree.text_start, tree.text_end, *attributes, images, UP)
    sources = [_source(own) for own, _ in found]
    times: dict[str, int] = {}
    for source in sources:
        times[source] = times.get(source, 0) + 1
    shown: set[str] = set()
    decoration = []
    for (own, around), source in zip(found, sources, strict=True):
        decoration.append(times[source] >= OFTEN or source in shown or is_decoration(own, around, source))
        shown.add(source)
    return decoration


def is_decoration(own: dict[str, str], around: list[tuple[int, dict[str, str]]], source: str) -> bool:
    """Whether a picture is a logo, an icon, a spacer, an avatar or a button, by its size, its names and its link.

    It has its `own` attributes; `around` are the tags and attributes of the elements around it.
    """
    known = [size for name in ("width", "height") if (size := _pixels(own.get(name))) is not None]
    if not source or (known and min(known) < SMALLEST):
        return True
    names = [own.get("class", ""), own.get("id", "")]
    for tag, frame in around:
        if tag == _BUTTON or (tag == _A and _is_action(frame.get("href", ""))):
            return True
        names += [frame.get("class", ""), frame.get("id", "")]
    if len(known) == 2 and min(known) >= LARGE:
        return False
    alt = _words(own.get("alt", ""))
    if alt and len(alt) <= _MOST_ACTION_WORDS and (alt[0] in _ACTIONS or not _DECORATION.isdisjoint(alt)):
        return True
    return not (_FILES.isdisjoint(_words(_file(source))) and _DECORATION.isdisjoint(_words(" ".join(names))))


def _is_action(href: str) -> bool:
    """Whether the target of a link is an action or a home page."""
    if _PAGE_LINK.match(href):
        return True
    folded = href.lower()
    if href.isascii() and not any(name in folded for name in _ACTION_NAMES):
        return False  # twenty searches for a word take less time than one for a pattern
    return _ACTION_LINK.match(href) is not None


def _source(own: dict[str, str]) -> str:
    """The URL of a picture; scripts replace a placeholder by `data-src`."""
    source = own.get("src", "")
    return own.get("data-src", "") if not source or source.lstrip()[:5].lower() == "data:" else source


def _file(source: str) -> str:
    """The name of a file and of its folder, without the query."""
    return "/".join(source.partition("?")[0].rstrip("/").rsplit("/", 2)[-2:])


@lru_cache(maxsize=1024)  # names of classes repeat
def _words(name: str) -> list[str]:
    if name.isascii():
        return ascii_words(name, LONGEST_NAMES)
    return _WORD.findall(_BOUNDARY.sub(" ", name[:LONGEST_NAMES]).lower())


def _pixels(written: str | None) -> int | None:
    if written and len(written) <= _LONGEST_PIXELS and written.isascii() and written.isdigit():
        return int(written)  # most are written so
    found = _PIXELS.match(written) if written else None
    return int(found[1]) if found else None


def empty_boxes(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """The kept boxes and frames, with what is inside, that have neither kept text nor a kept picture."""
    kept = keep[tree.run_owner] if runs is None else keep[tree.run_owner] & runs
    first, last = runs_of_nodes(tree)
    says = np.concatenate(([0], np.cumsum(kept & tree.written_runs)))
    shows = np.concatenate(([0], np.cumsum(keep & tree.tagged("img", "hr"))))
    boxes = keep & np.isin(tree.tag, _UNSEEN) & (says[first] == says[last]) & (shows[tree.end] == shows[:-1])
    found: NDArray[np.bool_] = keep & (topmost(tree.parent, boxes) >= 0)
    return found
