"""Pictures: each follows the text beside it; logos, icons, spacers, avatars and buttons go even inside content."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from webwinnow._sections import beside
from webwinnow.markup import ATTRIBUTES, CUSTOM_TAG, TAG_CODE
from webwinnow.pagemodel import PageContext
from webwinnow.pagetree import PageTree

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
_ACTION_LINK = re.compile(
    r"javascript:|mailto:|#|(?:(?:https?:)?//[^/?#]+)?/?$|.*\b(?:sharer?|intent|newreply|reply|quote|login|signin|register|subscribe|addtocart|cart|basket|"
    r"print|sendmail|report|profile|member|user)\b",
    re.IGNORECASE,
)
"""Targets of a link around a picture that is a button, an avatar or, if it is a home page, a logo."""
_MOST_ACTION_WORDS = 4
_PIXELS = re.compile(r"\s*([0-9]{1,5})\s*(?:px)?\s*$")


def judged_pictures(
    page: PageContext, keep: NDArray[np.bool_], kept_rows: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of the nodes to `keep` the pictures that the text beside shows to be removed, and those that are decoration.

    `kept_rows` are the blocks with text that are kept. Elements that contain nothing but such pictures are included.
    """
    tree = page.tree
    tags = np.minimum(tree.tag, CUSTOM_TAG)
    nodes = np.flatnonzero(_IS_PICTURE[tags] & keep & (tree.text_start == tree.text_end)).astype(np.int32)
    outside, decoration = np.zeros(len(tree), np.bool_), np.zeros(len(tree), np.bool_)
    if not len(nodes):
        return outside, decoration
    counted = kept_rows | (page.evidence.words > FEW_WORDS)
    start = tree.run_start[page.blocks.first_run[page.evidence.said[counted]]]
    near = beside(tree.parent, tree.text_start, tree.text_end, start, nodes)
    follows = ((near >= 0) & np.append(kept_rows[counted], False)[near]).any(axis=0)
    outside[nodes[~follows]] = True
    decoration[nodes[follows & (tree.tag[nodes] != _IMG)]] = True
    decoration[nodes[follows & (tree.tag[nodes] == _SVG) & (tree.tag[tree.parent[nodes]] == _FIGURE)]] = False
    inside = nodes[follows & (tree.tag[nodes] == _IMG)]
    found = [_attributes(tree, *span) for span in tree.attr_node.searchsorted((inside, inside + 1)).T.tolist()]
    sources = [_source(own) for own in found]
    times, shown = Counter(sources), set()
    for i, own, source in zip(inside.tolist(), found, sources, strict=True):
        if times[source] >= OFTEN or source in shown or is_decoration(tree, i, own, source):
            decoration[i] = True
        shown.add(source)
    gone = outside | decoration
    for removed in (outside, decoration):
        _add_wrappers(tree, tags, keep, gone, removed)
    return outside, decoration


def is_decoration(tree: PageTree, node: int, own: dict[str, str], source: str) -> bool:
    """Whether a picture is a logo, an icon, a spacer, an avatar or a button, by its size, its names and its link."""
    known = [size for name in ("width", "height") if (size := _pixels(own.get(name))) is not None]
    if not source or (known and min(known) < SMALLEST):
        return True
    names = [own.get("class", ""), own.get("id", "")]
    up = int(tree.parent[node])
    for _ in range(UP):
        if up <= 1 or tree.text_start[up] != tree.text_end[up]:
            break
        around = tree.attributes(up)
        if tree.tag[up] == _BUTTON or (tree.tag[up] == _A and _ACTION_LINK.match(around.get("href", ""))):
            return True
        names += [around.get("class", ""), around.get("id", "")]
        up = int(tree.parent[up])
    if len(known) == 2 and min(known) >= LARGE:
        return False
    alt = _words(own.get("alt", ""))
    if alt and len(alt) <= _MOST_ACTION_WORDS and (alt[0] in _ACTIONS or not _DECORATION.isdisjoint(alt)):
        return True
    return not (_FILES.isdisjoint(_words(_file(source))) and _DECORATION.isdisjoint(_words(" ".join(names))))


def _add_wrappers(
    tree: PageTree,
    tags: NDArray[np.uint16],
    keep: NDArray[np.bool_],
    gone: NDArray[np.bool_],
    removed: NDArray[np.bool_],
) -> None:
    """Add to `removed` the links and frames around its pictures that have neither text nor another picture."""
    left = np.concatenate(([0], np.cumsum(_IS_PICTURE[tags] & keep & ~gone)))
    for i in np.flatnonzero(removed).tolist():
        up = int(tree.parent[i])
        while up > 1 and not removed[up] and _WRAPS[tags[up]] and tree.text_start[up] == tree.text_end[up]:
            if left[tree.end[up]] > left[up]:
                break
            removed[up] = True
            up = int(tree.parent[up])


def _attributes(tree: PageTree, first: int, last: int) -> dict[str, str]:
    starts, names = tree.attr_start[first : last + 1].tolist(), tree.attr_name[first:last].tolist()
    return {ATTRIBUTES[name]: tree.attr_text[a:b] for name, (a, b) in zip(names, pairwise(starts), strict=True)}


def _source(own: dict[str, str]) -> str:
    """The URL of a picture; scripts replace a placeholder by `data-src`."""
    source = own.get("src", "")
    return own.get("data-src", "") if not source or source.lstrip()[:5].lower() == "data:" else source


def _file(source: str) -> str:
    """The name of a file and of its folder, without the query."""
    return "/".join(source.partition("?")[0].rstrip("/").rsplit("/", 2)[-2:])


def _words(name: str) -> list[str]:
    return _WORD.findall(_BOUNDARY.sub(" ", name[:LONGEST_NAMES]).lower())


def _pixels(written: str | None) -> int | None:
    found = _PIXELS.match(written) if written else None
    return int(found[1]) if found else None
