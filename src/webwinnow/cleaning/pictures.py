"""Pictures: each follows the text beside it; logos, icons, spacers, avatars and buttons go even inside content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from webwinnow._sections import beside
from webwinnow.markup import ATTRIBUTE_CODE, ATTRIBUTES, CUSTOM_TAG, TAG_CODE
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
UP = 3
"""Elements around a picture, without text, whose names count as its own."""
_IS_PICTURE = np.zeros(CUSTOM_TAG + 1, np.bool_)
_IS_PICTURE[[TAG_CODE[name] for name in "img image svg canvas object embed input".split()]] = True
_WRAPS = np.zeros(CUSTOM_TAG + 1, np.bool_)
_WRAPS[[TAG_CODE[name] for name in "a picture source figure button span center".split()]] = True
_IMG, _SVG, _A, _BUTTON, _FIGURE = (TAG_CODE[name] for name in ("img", "svg", "a", "button", "figure"))
_READ = frozenset(ATTRIBUTE_CODE[name] for name in "src data-src alt class id width height href role".split())
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
_ACTIONS = frozenset(
    (
        "close open toggle menu search print email mail share reply quote login logout register subscribe cart basket "
        "checkout buy facebook twitter instagram linkedin pinterest youtube whatsapp next previous zoom enlarge"
    ).split()
)
"""Words that an alternative text of few words begins with if the picture is a button."""
_ACTION_LINK = re.compile(
    r"javascript:|mailto:|#|.*\b(?:sharer?|intent|newreply|reply|quote|login|signin|register|subscribe|addtocart|cart|basket|"
    r"print|sendmail|report|profile|member|user)\b",
    re.IGNORECASE,
)
"""Targets of a link around a picture that is a button or an avatar."""
_MOST_ACTION_WORDS = 4


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
    inside = nodes[follows].tolist()
    read = _reader(tree)
    sources = [read(i).get("src") or read(i).get("data-src") or "" for i in inside]
    times = Counter(sources)
    shown: set[str] = set()
    for i, source in zip(inside, sources, strict=True):
        if is_decoration(tree, i, read) or (source and (times[source] >= OFTEN or source in shown)):
            decoration[i] = True
        else:
            shown.add(source)
    for removed in (outside, decoration):
        _add_wrappers(tree, tags, keep, outside | decoration, removed)
    return outside, decoration


def is_decoration(tree: PageTree, node: int, read: Callable[[int], dict[str, str]]) -> bool:
    """Whether a picture is a logo, an icon, a spacer, an avatar or a button, by its size, its names and its link."""
    own = read(node)
    if tree.tag[node] != _IMG:  # drawings are content in figures only; form inputs never
        return tree.tag[node] != _SVG or tree.tag[tree.parent[node]] != _FIGURE
    source = own.get("src") or ""
    if not source or source.lstrip().lower().startswith("data:"):
        source = own.get("data-src") or ""
    if not source:
        return True
    sizes = [_pixels(own.get(name)) for name in ("width", "height")]
    known = [size for size in sizes if size is not None]
    if known and min(known) < SMALLEST:
        return True
    alt = _words(own.get("alt", ""))
    names = [_file(source), own.get("class", ""), own.get("id", "")]
    up, link = int(tree.parent[node]), None
    for _ in range(UP):
        if up <= 1 or tree.text_start[up] != tree.text_end[up]:
            break
        if tree.tag[up] == _BUTTON:
            return True
        around = read(up)
        names += [around.get("class", ""), around.get("id", "")]
        if tree.tag[up] == _A:
            link = around.get("href", "")
        up = int(tree.parent[up])
    if link is not None and _ACTION_LINK.match(link):
        return True
    if len(known) == 2 and min(known) >= LARGE:
        return False
    if alt and len(alt) <= _MOST_ACTION_WORDS and (alt[0] in _ACTIONS or not _DECORATION.isdisjoint(alt)):
        return True
    return any(not _DECORATION.isdisjoint(_words(name)) for name in names)


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


def _reader(tree: PageTree) -> Callable[[int], dict[str, str]]:
    starts, text, names = tree.attr_start, tree.attr_text, tree.attr_name

    def read(i: int) -> dict[str, str]:
        first, last = tree.attr_node.searchsorted((i, i + 1)).tolist()
        return {ATTRIBUTES[names[k]]: text[starts[k] : starts[k + 1]] for k in range(first, last) if names[k] in _READ}

    return read


def _file(source: str) -> str:
    """The name of a file and of its folder, without the query."""
    return "/".join(source.partition("?")[0].rstrip("/").rsplit("/", 2)[-2:])


def _words(name: str) -> list[str]:
    return _WORD.findall(_BOUNDARY.sub(" ", name[:300]).lower())


def _pixels(written: str | None) -> int | None:
    found = re.match(r"\s*(\d{1,5})\s*(?:px)?\s*$", written) if written else None
    return int(found[1]) if found else None
