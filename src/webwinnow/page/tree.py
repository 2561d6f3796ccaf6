"""`PageTree`: one page as parallel arrays, and `Node`, a view of one of its elements.

Elements are in preorder from BODY (node 1) down, under a virtual root (node 0). A tree is immutable; scores, kinds and
weights are arrays parallel to it. It contains all that text, Markdown and HTML output need, so a page is parsed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.lazy import lazy_property
from webwinnow.page import urls
from webwinnow.page._nodes import permalinks
from webwinnow.page._words import blank_runs, run_words, word_spans
from webwinnow.page.markup import ATTRIBUTE_CODE, ATTRIBUTES, CUSTOM_TAG, HIDDEN, NOSCRIPT, PREFORMATTED, TAG_CODE, TAGS
from webwinnow.storage.encoding import from_json

if TYPE_CHECKING:
    from webwinnow.page.layout import PageLayout

Mask = NDArray[np.bool_]
LONGEST_XPATH = 1_000
"""Characters: 100 KB with nested elements of long names had 416 MB of XPaths. Those of ordinary pages have 300."""
HAS_PERMALINK = np.zeros(CUSTOM_TAG, np.bool_)
"""For the code of each tag whether such elements may have a link to themselves: headings, terms and captions."""
HAS_PERMALINK[[TAG_CODE[name] for name in "h1 h2 h3 h4 h5 h6 dt caption figcaption".split()]] = True


def without_surrogates(text: str) -> str:
    """Return text that can be encoded: lone surrogates become U+FFFD, pairs the character they encode."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


@dataclass(frozen=True, kw_only=True)
class Head:
    """A page's head as found; `metadata` extracts title, author, date and so on."""

    title: str = ""
    language: str = ""
    base: str = ""
    canonical: str | None = None
    metas: tuple[tuple[str, str], ...] = ()
    """(lower-case name, property, itemprop or http-equiv; content), in page order."""
    json_ld: tuple[str, ...] = ()
    """JSON-LD scripts, unparsed."""

    def meta(self, *names: str) -> str | None:
        """Return the content of the first meta with one of `names`, in the order of `names`."""
        return next((content for name in names for key, content in self.metas if key == name and content), None)

    @property
    def open_graph(self) -> dict[str, str]:
        """Open Graph properties without their prefix, first value each."""
        found: dict[str, str] = {}
        for key, content in self.metas:
            if key.startswith("og:"):
                found.setdefault(key[3:], content)
        return found

    @property
    def robots(self) -> frozenset[str]:
        """Directives of the robots meta (`noindex`, `nofollow`), lower-case."""
        return frozenset(word.strip().lower() for word in (self.meta("robots") or "").split(",") if word.strip())

    @property
    def json_ld_types(self) -> tuple[str, ...]:
        """The distinct `@type` values of the page's JSON-LD, in page order."""
        types: dict[str, None] = {}
        for thing in self.json_ld_things:
            kinds = thing.get("@type")
            for kind in kinds if isinstance(kinds, list) else [kinds]:
                if isinstance(kind, str):
                    types.setdefault(without_surrogates(kind))
        return tuple(types)

    @lazy_property
    def json_ld_things(self) -> tuple[dict[str, Any], ...]:
        """JSON-LD objects at the top of each script or in its `@graph`; scripts that are not JSON are skipped."""
        things: list[dict[str, Any]] = []
        for script in self.json_ld:
            try:
                found = from_json(script)
            except (ValueError, RecursionError):
                continue
            for thing in found if isinstance(found, list) else [found]:
                if isinstance(thing, dict):
                    graph = thing.get("@graph")
                    inner = graph if isinstance(graph, list) else [thing]
                    things.extend(one for one in inner if isinstance(one, dict))
        return tuple(things)


class Words(NamedTuple):
    """Words of a page in page order: their hashes, their runs, and where in the text they start and end."""

    key: NDArray[np.uint64]
    run: NDArray[np.int32]
    start: NDArray[np.int32]
    end: NDArray[np.int32]


@dataclass(frozen=True, kw_only=True, eq=False)
class PageTree:
    """A page's elements, text and attributes as read-only arrays.

    One entry per node, in page order; the subtree of node i is `i:end[i]`:
    - `tag`: code in `markup.TAGS`, or `CUSTOM_TAG` and the index in `custom_tags`
    - `parent`: the parent's number; -1 for the root
    - `style`, `shape`: hashes, see `markup.canonical_style` and `shape_hash`
    - `flags`: `HIDDEN`, `NOSCRIPT`, `PREFORMATTED`
    - `text_start`, `text_end`: the node's text is `text[text_start[i]:text_end[i]]`

    One entry per run of text, in page order; run r is `text[run_start[r]:run_start[r + 1]]`:
    - `run_owner`: the node that the run is directly inside
    - `run_before`: the node that it precedes

    One entry per attribute, by node; its value is `attr_text[attr_start[k]:attr_start[k + 1]]`:
    - `attr_node`: the node
    - `attr_name`: index in `markup.ATTRIBUTES`
    """

    url: str
    tag: NDArray[np.uint16]
    parent: NDArray[np.int32]
    end: NDArray[np.int32]
    style: NDArray[np.uint64]
    shape: NDArray[np.uint64]
    flags: NDArray[np.uint8]
    text: str
    text_start: NDArray[np.int32]
    text_end: NDArray[np.int32]
    run_start: NDArray[np.int32]
    run_owner: NDArray[np.int32]
    run_before: NDArray[np.int32]
    attr_node: NDArray[np.int32]
    attr_name: NDArray[np.uint8]
    attr_start: NDArray[np.int32]
    attr_text: str
    custom_tags: tuple[str, ...] = ()
    head: Head = field(default_factory=Head)
    encoding: str = "utf-8"
    reason: str | None = None
    """Why the tree of a page that was read is empty: `frameset` or `empty`."""
    clipped: tuple[str, ...] = ()
    """Limits that were exceeded: `depth` (deeper elements became part of their ancestor), `attributes`."""
    layout: PageLayout | None = None
    """Where a browser drew each node, if the page was rendered; row i belongs to node i."""

    def without_text(self, spans: list[tuple[int, int]]) -> PageTree:
        """The page without some spans of text, each within one run, ascending; a space remains between two words."""
        pieces, shift, at = [], np.zeros(len(self.text) + 1, np.int32), 0
        for start, end in spans:
            around = self.text[start - 1 : start] + self.text[end : end + 1]
            space = " " if len(around) == 2 and not any(map(str.isspace, around)) else ""
            pieces += [self.text[at:start], space]
            shift[end] += end - start - len(space)
            at = end
        moved = np.arange(len(shift), dtype=np.int32) - np.cumsum(shift, dtype=np.int32)
        columns = {name: moved[getattr(self, name)] for name in ("run_start", "text_start", "text_end")}
        for column in columns.values():
            column.setflags(write=False)
        return replace(self, text="".join([*pieces, self.text[at:]]), **columns)

    def without_permalinks(self, keep: Mask) -> tuple[PageTree, Mask]:
        """The page with blanks for links of headings to themselves (¶, #, §, icons), and `keep` without these links.

        `C#` stays: only a link whose whole text is such signs is one.
        """
        nodes, places = permalinks(
            self.text, self.text_start, self.text_end, self.tag, self.end, HAS_PERMALINK, TAG_CODE["a"]
        )
        if not places:
            return self, keep
        if nodes:
            keep = keep.copy()
            for node in nodes:
                keep[node : int(self.end[node])] = False
        text, after = self.text, [0, *(at + 1 for at in places)]
        kept = [text[start:end] for start, end in zip(after, [*places, len(text)], strict=True)]
        return replace(self, text=" ".join(kept)), keep

    def __len__(self) -> int:
        return len(self.tag)

    def __iter__(self) -> Iterator[Node]:
        return (Node(self, i) for i in range(len(self)))

    def __getitem__(self, i: int) -> Node:
        if not 0 <= i < len(self):
            raise IndexError(f"node {i} of a tree of {len(self)}")
        return Node(self, i)

    @lazy_property
    def visible(self) -> Mask:
        """Nodes that are not inside a hidden element; read-only."""
        seen: Mask = (self.flags & HIDDEN) == 0
        seen.setflags(write=False)
        return seen

    @lazy_property
    def visible_runs(self) -> Mask:
        """Runs of visible nodes; read-only."""
        seen = self.visible[self.run_owner]
        seen.setflags(write=False)
        return seen

    @property
    def run_count(self) -> int:
        """The number of text runs."""
        return len(self.run_owner)

    def run(self, r: int) -> str:
        """Return the text of run r with its source white space."""
        return self.text[self.run_start[r] : self.run_start[r + 1]]

    def tag_name(self, i: int) -> str:
        """Return the lower-case tag name of node i."""
        code = int(self.tag[i])
        return TAGS[code] if code < CUSTOM_TAG else self.custom_tags[code - CUSTOM_TAG]

    def tagged(self, *names: str) -> Mask:
        """Return the mask of nodes whose tag is one of `names` (known tags)."""
        found: Mask = np.isin(self.tag, [TAG_CODE[name] for name in names])
        return found

    def attribute(self, i: int, name: str) -> str | None:
        """Return attribute `name` of node i as written, or None."""
        code = ATTRIBUTE_CODE[name]
        for k in self.attributes_of(i):
            if self.attr_name[k] == code:
                return self.attr_text[self.attr_start[k] : self.attr_start[k + 1]]
        return None

    def attributes(self, i: int) -> dict[str, str]:
        """Return all kept attributes of node i as written."""
        return {
            ATTRIBUTES[self.attr_name[k]]: self.attr_text[self.attr_start[k] : self.attr_start[k + 1]]
            for k in self.attributes_of(i)
        }

    def attributes_of(self, i: int) -> range:
        """The attributes of node i."""
        return range(int(self._attr_first[i]), int(self._attr_first[i + 1]))

    @lazy_property
    def _attr_first(self) -> NDArray[np.int64]:
        """For each node the first attribute that belongs to it or a later one."""
        return np.concatenate(([0], np.cumsum(np.bincount(self.attr_node, minlength=len(self)))))

    @lazy_property
    def written_runs(self) -> Mask:
        """Runs that are not only white space; read-only."""
        written: Mask = ~blank_runs(self.text, self.run_start)
        written.setflags(write=False)
        return written

    @lazy_property
    def run_words(self) -> NDArray[np.int64]:
        """The number of words of each run, hidden ones too; read-only."""
        words = run_words(self.text, self.run_start, self.written_runs)
        words.setflags(write=False)
        return words

    @lazy_property
    def words(self) -> Words:
        """The words of the visible runs."""
        return Words(*word_spans(self.text, self.run_start, self.visible_runs & self.written_runs))

    @property
    def known_words(self) -> Words | None:
        """`words`, if they have been found."""
        return self.__dict__.get("words")

    @property
    def all_words(self) -> int:
        """The number of visible words."""
        return int(self.run_words[self.visible_runs].sum())

    def values(self, name: str) -> tuple[NDArray[np.int32], list[str]]:
        """Return the nodes with attribute `name`, and its values as written."""
        at = np.flatnonzero(self.attr_name == ATTRIBUTE_CODE[name])
        starts, ends = self.attr_start[at].tolist(), self.attr_start[at + 1].tolist()
        return self.attr_node[at], [self.attr_text[a:b] for a, b in zip(starts, ends, strict=True)]

    @property
    def base(self) -> str:
        """The URL that relative links are resolved against: the page's `<base>`, or its own."""
        return self.head.base or self.url

    def resolve(self, href: str) -> str | None:
        """Return `href` as an absolute URL."""
        return urls.resolve(self.base, href)

    def links(self, among: Mask | None = None, *, areas: bool = False) -> Links:
        """Return the `<a href>` elements among some nodes, also hidden ones; with `areas` those of image maps too."""
        at = np.flatnonzero(self.attr_name == ATTRIBUTE_CODE["href"])
        node = self.attr_node[at]
        is_link = self.tag[node] == TAG_CODE["a"]
        if areas:
            is_link |= self.tag[node] == TAG_CODE["area"]
        if among is not None:
            is_link &= among[node]
        at = at[is_link]
        starts, ends = self.attr_start[at].tolist(), self.attr_start[at + 1].tolist()
        return Links(self, node[is_link], [self.attr_text[a:b] for a, b in zip(starts, ends, strict=True)])

    @lazy_property
    def _place(self) -> NDArray[np.int64]:
        """The place of each node among its siblings of the same tag, from 1."""
        order = np.lexsort((self.tag, self.parent))  # stable: siblings stay in page order
        rank = np.arange(len(self))
        is_first = np.ones(len(self), np.bool_)
        parent, tag = self.parent[order], self.tag[order]
        is_first[1:] = (parent[1:] != parent[:-1]) | (tag[1:] != tag[:-1])
        place = np.empty(len(self), np.int64)
        place[order] = rank - np.maximum.accumulate(np.where(is_first, rank, 0)) + 1
        return place

    def xpath(self, i: int) -> str:
        """Return the XPath of node i over the elements of the tree.

        A path of more than `LONGEST_XPATH` characters is the number of the element in the body instead.
        """
        steps: list[str] = []
        node, size = i, 0
        while i > 0:
            steps.append(f"{self.tag_name(i)}[{self._place[i]}]" if i > 1 else self.tag_name(i))
            size += len(steps[-1]) + 1
            if size > LONGEST_XPATH:
                return f"(/html/body//*)[{node - 1}]"
            i = int(self.parent[i])
        return "/".join(["/html", *reversed(steps)]) if steps else "/html"


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Links of a page in page order: their nodes, and their `href` as written."""

    tree: PageTree
    node: NDArray[np.int32]
    href: list[str]

    def among(self, nodes: Mask) -> Links:
        """The links among some nodes."""
        chosen = nodes[self.node]
        return Links(self.tree, self.node[chosen], list(compress(self.href, chosen.tolist())))

    def targets(self, *, fragments: bool = False) -> list[str | None]:
        """The absolute http(s) URL of each link; None for other schemes and invalid URLs.

        A link within the page (`#top`) has the page's URL with `fragments`, otherwise None.
        """
        base = self.tree.base
        return [urls.resolve_web(base, href) if fragments or not href.startswith("#") else None for href in self.href]

    def urls(self) -> list[str]:
        """The distinct targets, without links within the page."""
        hrefs = dict.fromkeys(href for href in self.href if href[:1] != "#")
        return list(dict.fromkeys(urls.resolve_all_web(self.tree.base, hrefs)))


@dataclass(frozen=True, slots=True)
class Node:
    """One element of a tree: a cheap view."""

    tree: PageTree
    index: int

    @property
    def tag(self) -> str:
        """The lower-case tag name."""
        return self.tree.tag_name(self.index)

    @property
    def parent(self) -> Node | None:
        """The parent element; None for the virtual root."""
        return Node(self.tree, int(self.tree.parent[self.index])) if self.index else None

    @property
    def children(self) -> Iterator[Node]:
        """The child elements, in order."""
        child, end = self.index + 1, int(self.tree.end[self.index])
        while child < end:
            yield Node(self.tree, child)
            child = int(self.tree.end[child])

    @property
    def text(self) -> str:
        """All text inside, in page order, with its source white space."""
        return self.tree.text[self.tree.text_start[self.index] : self.tree.text_end[self.index]]

    @property
    def own_text(self) -> str:
        """Text directly inside, without that of child elements."""
        runs = np.flatnonzero(self.tree.run_owner == self.index)
        return "".join(self.tree.run(int(r)) for r in runs)

    @property
    def attributes(self) -> dict[str, str]:
        """The kept attributes as written."""
        return self.tree.attributes(self.index)

    @property
    def href(self) -> str | None:
        """The absolute target of a link."""
        written = self.tree.attribute(self.index, "href")
        return None if written is None else self.tree.resolve(written)

    @property
    def hidden(self) -> bool:
        """Whether browsers do not show it."""
        return bool(self.tree.flags[self.index] & HIDDEN)

    @property
    def noscript(self) -> bool:
        """Whether it is inside `<noscript>`."""
        return bool(self.tree.flags[self.index] & NOSCRIPT)

    @property
    def preformatted(self) -> bool:
        """Whether its white space is significant."""
        return bool(self.tree.flags[self.index] & PREFORMATTED)

    @property
    def xpath(self) -> str:
        """The XPath of the element."""
        return self.tree.xpath(self.index)
