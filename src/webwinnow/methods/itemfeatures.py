"""Features of links and images (thesis 3.1): AdEater (Kushmerick, Agents 1999) for images, nepotistic links
(Davison, AAAI workshop 2000) for links.

An item has numbers, and words: of its own text, of the page's URL (`base`), of its target (`dest`) and, for an image,
of its file's URL (`src`), its alternative text (`alt`) and the text beside it (`caption`). As in AdEater a phrase is
one word or two neighbours joined by `+`, and a trait is whether the item has the phrase: `dest:click`,
`alt:click+here`. The numbers of a link are those same-server tests and path comparisons of Davison that need no copy of
the target.

Ours: a word of `alt`, `dest`, `src` or `caption` is also a word of `any`; two numbers show whether a link is in
running text, `words beside` (in its block and in no link) and `position` (0 at the start of the page, 1 at its end).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from webwinnow.page._nodes import nearest
from webwinnow.page.blocks import Blocks, cut, runs_of_nodes
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey, resolve_web

ITEM_KINDS = ("link", "image")
IMAGE_NUMBERS = ("height", "width", "aspect ratio", "file on this site", "in a link", "link to this site")
LINK_NUMBERS = (
    "words",
    "has a picture",
    "to this host",
    "to this domain",
    "to this page",
    "shared folders",
    "folders",
    "has a query",
    "links on the page",
    "words beside",
    "position",
)
NUMBERS = {"link": LINK_NUMBERS, "image": IMAGE_NUMBERS}
OWN_NUMBERS, OWN_PLACE = ("words beside", "position"), "any"
"""Features that are in no paper."""
UNKNOWN = -1.0
"""The value of a number that the page does not state."""
LONGEST_SIZE = 100_000.0
LONGEST_TEXT = 300
"""Characters of a text or URL that are read for words."""
CAPTION_WORDS = 4
"""Words before an image, and as many after it, that are its caption."""
MOST_BESIDE = 100.0

_URL_WORD = re.compile(r"[a-z]{2,}")
_WORD = re.compile(r"[^\W\d_]{2,}")
_SIZE = re.compile(r"\s*(\d{1,6})")
_REPLAYED = re.compile(r"^(?:https?:)?(?://[^/]+)?/web/\d{4,14}(?:[a-z]{2}_)?/(?=https?:)", re.IGNORECASE)
"""What a web archive puts before the URLs of the pages that it replays."""
_HOST, _DOMAIN = SiteKey(by="host"), SiteKey(by="domain")


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The items of one kind on a page: the node of each, its URL as written, its numbers and its phrases."""

    node: NDArray[np.int32]
    urls: list[str]
    numbers: NDArray[np.float32]
    phrases: list[frozenset[str]]

    def at(self, places: list[int]) -> Items:
        """Some of the items."""
        own = [self.urls[k] for k in places]
        return Items(self.node[places], own, self.numbers[places], [self.phrases[k] for k in places])

    def columns(self, names: tuple[str, ...], kind: str) -> NDArray[np.float32]:
        """One row per item, one column per trait: numbers by name, phrases as 0 or 1."""
        known = NUMBERS[kind]
        found = np.zeros((len(self.node), len(names)), np.float32)
        place = {}
        for at, name in enumerate(names):
            if name in known:
                found[:, at] = self.numbers[:, known.index(name)]
            else:
                place[name] = at
        for row, phrases in enumerate(self.phrases):
            for phrase in phrases & place.keys():
                found[row, place[phrase]] = 1.0
        return found


def items_of(tree: PageTree, kind: str, among: Iterable[str] | None = None, blocks: Blocks | None = None) -> Items:
    """The visible links with a URL, or the visible images, of a page, in page order; `among` limits the phrases.

    `blocks` are the page's, if they are known.
    """
    base = _Url.of(original_url(tree.url))
    wanted = None if among is None else frozenset(among)
    of_page = frozenset(_phrases(base=_url_words(base.url)))
    of_page = of_page if wanted is None else of_page & wanted
    rows, phrases, nodes, urls = [], [], [], []
    found = _links(cut(tree) if blocks is None else blocks, base) if kind == "link" else _images(tree, base)
    for node, url, numbers, words in found:
        nodes.append(node)
        urls.append(url)
        rows.append(numbers)
        own = frozenset(words) if wanted is None else wanted.intersection(words)
        phrases.append(of_page | own if own else of_page)
    stated = np.array(rows, np.float32).reshape(-1, len(NUMBERS[kind]))
    return Items(np.array(nodes, np.int32), urls, stated, phrases)


@dataclass(frozen=True, slots=True)
class _Url:
    """The parts of a URL that are compared."""

    url: str
    host: str
    domain: str
    folders: list[str]

    @classmethod
    def of(cls, url: str) -> _Url:
        path = url.partition("?")[0].partition("#")[0].split("/")
        return cls(url, _HOST.of(url), _DOMAIN.of(url), [folder for folder in path[3:-1] if folder])


Row = tuple[int, str, list[float], Iterator[str]]


def _links(blocks: Blocks, base: _Url) -> Iterator[Row]:
    tree = blocks.tree
    links = tree.links(tree.visible)
    pictures = np.concatenate(([0], np.cumsum(tree.tagged("img"))))
    read = _known(tree)
    beside = _words_beside(blocks, links.node)
    for node, written in zip(links.node.tolist(), links.href, strict=True):
        href = original_url(written)
        end = int(tree.end[node])
        target = read(href)
        words = _WORD.findall(tree[node].text[:LONGEST_TEXT].lower())
        numbers = [
            float(len(words)),
            float(pictures[end] > pictures[node]),
            UNKNOWN if target is None else float(target.host == base.host),
            UNKNOWN if target is None else float(target.domain == base.domain),
            float(href.startswith("#") or (target is not None and _page(target.url) == _page(base.url))),
            UNKNOWN if target is None else float(_shared(target.folders, base.folders)),
            UNKNOWN if target is None else float(len(target.folders)),
            float("?" in href),
            float(len(links.href)),
            beside[node],
            int(tree.text_start[node]) / max(len(tree.text), 1),
        ]
        yield node, written, numbers, _phrases(text=words, dest=_url_words(href))


def _images(tree: PageTree, base: _Url) -> Iterator[Row]:
    values = {
        name: dict(zip(*_plain(tree, name), strict=True)) for name in ("src", "data-src", "alt", "height", "width")
    }
    links = tree.links()
    hrefs = dict(zip(links.node.tolist(), links.href, strict=True))
    linked = np.zeros(len(tree), np.bool_)
    linked[links.node] = True
    link = nearest(tree.parent, linked)
    read = _known(tree)
    for node in np.flatnonzero(tree.tagged("img") & tree.visible).tolist():
        written, lazy = values["src"].get(node, ""), values["data-src"].get(node)
        if lazy and (not written or written.startswith("data:")):  # a place holder until a script loads the file
            written = lazy
        source = original_url(written)
        href = original_url(hrefs[int(link[node])]) if link[node] >= 0 else None
        file, target = read(source), None if href is None else read(href)
        width, height = _size(values["width"].get(node)), _size(values["height"].get(node))
        numbers = [
            height,
            width,
            width / height if height > 0 and width > 0 else UNKNOWN,
            UNKNOWN if file is None else float(file.domain == base.domain),
            float(href is not None),
            UNKNOWN if target is None else float(target.domain == base.domain),
        ]
        said = {
            "alt": _WORD.findall(values["alt"].get(node, "")[:LONGEST_TEXT].lower()),
            "dest": _url_words(href or ""),
            "src": _url_words(source),
            "caption": _caption(tree, node),
        }
        anywhere = (f"{OWN_PLACE}:{word}" for words in said.values() for word in words)
        yield node, written, numbers, chain(_phrases(**said), anywhere)


def original_url(url: str) -> str:
    """A URL without what a web archive put before it."""
    return _REPLAYED.sub("", url)


def _words_beside(blocks: Blocks, links: NDArray[np.int32]) -> dict[int, float]:
    """For each link the number of words outside links in the block around it; 0 for links without text."""
    tree = blocks.tree
    words = np.array([len(tree.text[a:b].split()) for a, b in pairwise(tree.run_start.tolist())], np.float64)
    linked = np.zeros(len(tree), np.bool_)
    linked[links] = True
    of_run = blocks.of_run()
    free = np.bincount(of_run, words * (nearest(tree.parent, linked)[tree.run_owner] < 0), len(blocks))
    first, last = runs_of_nodes(tree)
    return {
        node: min(float(free[of_run[first[node]]]), MOST_BESIDE) if first[node] < last[node] else 0.0
        for node in links.tolist()
    }


def _caption(tree: PageTree, node: int) -> list[str]:
    """The words just before and after an image."""
    start, end = int(tree.text_start[node]), int(tree.text_end[node])
    before = _WORD.findall(tree.text[max(start - LONGEST_TEXT, 0) : start].lower())[-CAPTION_WORDS:]
    return before + _WORD.findall(tree.text[end : end + LONGEST_TEXT].lower())[:CAPTION_WORDS]


def _plain(tree: PageTree, name: str) -> tuple[list[int], list[str]]:
    nodes, values = tree.values(name)
    return nodes.tolist(), values


def _known(tree: PageTree) -> Callable[[str], _Url | None]:
    """Parsed URLs by how they are written; each is resolved once."""
    seen: dict[str, _Url | None] = {}

    def read(written: str) -> _Url | None:
        if written not in seen:
            target = resolve_web(tree.base, written)
            seen[written] = None if target is None else _Url.of(target)
        return seen[written]

    return read


def _page(url: str) -> str:
    return url.partition("#")[0]


def _shared(one: list[str], other: list[str]) -> int:
    """The number of leading folders that two paths share."""
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    return shared


def _size(written: str | None) -> float:
    found = _SIZE.match(written or "")
    return UNKNOWN if found is None or "%" in (written or "") else min(float(found[1]), LONGEST_SIZE)


def _url_words(url: str) -> list[str]:
    return [] if url.startswith("data:") else _URL_WORD.findall(url[:LONGEST_TEXT].lower())


def _phrases(**said: list[str]) -> Iterator[str]:
    for place, words in said.items():
        yield from (f"{place}:{word}" for word in words)
        yield from (f"{place}:{one}+{other}" for one, other in pairwise(words))
