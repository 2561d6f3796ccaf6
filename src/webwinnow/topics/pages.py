"""`SitePages`: a site as input of the topic classifiers: the words of its blocks, its page tree, the linked sites."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.page._words import word_spans
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey
from webwinnow.page.words import StopList, word_hash
from webwinnow.storage.arrays import frozen
from webwinnow.topics.trees import NOTHING, BlockTree, LinkTree, joined_parents, links_of

REPEATED_SHARE = 0.5
"""A block whose text is on at least this share of the site's pages is repeated, as in method `repeated`."""
LEAST_PAGES = 3
"""Fewer pages show no repetition, as in that method."""
_WORD = re.compile(r"(?=\w*[^\W\d_])\w{2,}")

Indexes = NDArray[np.int32]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """Row `row[i]` has the word `key[i]` `count[i]` times; ordered by row and key, each pair once."""

    rows: int
    row: NDArray[np.int64]
    key: Keys
    count: NDArray[np.int64]

    @classmethod
    def of(cls, rows: int, row: NDArray[np.int64], key: Keys, count: NDArray[np.int64]) -> Self:
        """From counts in any order; those of the same row and word are added."""
        order = np.lexsort((key, row))
        row, key, count = row[order], key[order], count[order]
        new = np.ones(len(row), np.bool_)
        new[1:] = (row[1:] != row[:-1]) | (key[1:] != key[:-1])
        first = np.flatnonzero(new)
        return cls(rows, row[first], key[first], np.add.reduceat(count, first) if len(first) else count)

    def at(self, wanted: NDArray[np.bool_]) -> Self:
        """The same rows, with the words of the wanted ones only."""
        inside = wanted[self.row]
        return type(self)(self.rows, self.row[inside], self.key[inside], self.count[inside])

    def by(self, group: NDArray[np.int64], groups: int) -> Self:
        """Sums of rows: row i is added to row `group[i]` of `groups`."""
        return type(self).of(groups, group[self.row], self.key, self.count)


@dataclass(frozen=True, slots=True, eq=False)
class PageWords:
    """One page: its tree of blocks, the words of each block, the hash of its text, and the links.

    Node 0 is the page; the last node is its title, if it has one, a child of node 0.

    - `element`: the element of a node in the page's tree, NOTHING for the title.
    - `text_key`: the hash of the text, 0 for a node without text.
    - `counted`: the nodes that denoising left, none of a page that it removed; None for all.
    """

    url: str
    parent: Indexes
    element: Indexes
    text_key: Keys
    words: WordCounts
    links: tuple[str, ...] = ()
    counted: NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, tree: PageTree, stop_list: StopList | None = None, *, spelled: dict[int, str] | None = None) -> Self:
        """The words of a page's blocks, without stop words, numbers and single letters; `spelled` gets them as text."""
        blocks = BlockTree.of(tree)
        title = tree.head.title.strip()
        nodes = len(blocks) + bool(title)
        node_of_block = np.full(len(blocks.blocks) + 1, NOTHING, np.int64)
        node_of_block[blocks.block] = np.where(blocks.block == NOTHING, NOTHING, np.arange(len(blocks)))
        node_of_block[NOTHING] = NOTHING
        stops = (stop_list or StopList()).of(tree.head.language)
        key, run = _words_of(tree.text, tree.run_start, tree.visible_runs, stops, spelled)
        row = node_of_block[blocks.blocks.of_run()[run]]
        in_title, _ = _words_of(title, np.array([0, len(title)], np.int32), np.ones(1, np.bool_), stops, spelled)
        key, row = np.concatenate((key, in_title)), np.concatenate((row, np.full(len(in_title), nodes - 1, np.int64)))
        inside = row >= 0
        text_key = np.zeros(nodes, np.uint64)
        texts = blocks.blocks.texts()
        text_key[: len(blocks)] = [word_hash(texts[b]) if b >= 0 else 0 for b in blocks.block.tolist()]
        if title:
            text_key[-1] = word_hash(title)
        ends = np.zeros(int(bool(title)), np.int32)
        return cls(
            tree.url,
            frozen(np.concatenate((blocks.parent, ends))),
            frozen(np.concatenate((blocks.element, ends + NOTHING)).astype(np.int32)),
            frozen(text_key),
            WordCounts.of(nodes, row[inside], key[inside], np.ones(int(inside.sum()), np.int64)),
            tuple(links_of(tree)),
        )

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True, slots=True, eq=False)
class SitePages:
    """A site: its pages in the order given, their page tree, the blocks of all pages as one forest.

    The nodes of page p are `first[p]:first[p + 1]`, the page itself first. `kept` are the nodes whose words count:
    those that the site does not repeat and that denoising left; `page_words` are their words by page. `hosts` are the
    site's own, `linked` are other hosts that it links to.
    """

    site: str
    urls: tuple[str, ...]
    page_tree: LinkTree
    first: NDArray[np.int64]
    parent: Indexes
    element: Indexes
    words: WordCounts
    page_words: WordCounts
    kept: NDArray[np.bool_]
    hosts: frozenset[str]
    linked: frozenset[str]

    @classmethod
    def of(
        cls,
        trees: Sequence[PageTree],
        site: str = "",
        start: str | None = None,
        stop_list: StopList | None = None,
    ) -> Self:
        """A site from its stored pages; `start` is the URL of its start page, as in `LinkTree.of`."""
        return cls.of_pages([PageWords.of(tree, stop_list) for tree in trees], site, start)

    @classmethod
    def of_pages(
        cls, pages: Sequence[PageWords], site: str = "", start: str | None = None, page_tree: LinkTree | None = None
    ) -> Self:
        """A site from pages whose words are counted; `page_tree` if it is known, for example from a crawl."""
        urls = tuple(page.url for page in pages)
        if page_tree is None:
            page_tree = LinkTree.of(urls, [page.links for page in pages], start)
        first = np.cumsum([0, *map(len, pages)])
        hosts = frozenset(filter(None, map(_host, urls)))
        text_key = np.concatenate([page.text_key for page in pages]) if pages else np.zeros(0, np.uint64)
        words = WordCounts(
            int(first[-1]),
            np.concatenate([p.words.row + at for p, at in zip(pages, first, strict=False)] or [first[:0]]),
            np.concatenate([page.words.key for page in pages] or [np.zeros(0, np.uint64)]),
            np.concatenate([page.words.count for page in pages] or [first[:0]]),
        )
        kept = ~_repeated(text_key, first) & _counted(pages)
        return cls(
            site,
            urls,
            page_tree,
            first,
            joined_parents([page.parent for page in pages]),
            frozen(np.concatenate([page.element for page in pages] or [np.zeros(0, np.int32)])),
            words,
            _by_page(words, kept, first),
            frozen(kept),
            hosts,
            frozenset(filter(None, (_host(link) for page in pages for link in page.links))) - hosts,
        )

    def __len__(self) -> int:
        return len(self.urls)

    @property
    def page_of_node(self) -> NDArray[np.int64]:
        return _page_of_node(self.first)

    @property
    def node_words(self) -> WordCounts:
        """The words of the kept nodes."""
        return self.words.at(self.kept)

    @property
    def all_words(self) -> WordCounts:
        """All words of the site in one row, with repeated blocks: the superpage."""
        return self.words.by(np.zeros(int(self.first[-1]), np.int64), 1)

    def keeping(self, nodes: NDArray[np.bool_]) -> Self:
        """The same site with `kept` restricted to these nodes. The others stay in the trees, without observation."""
        kept = self.kept & nodes
        return replace(self, kept=frozen(kept), page_words=_by_page(self.words, kept, self.first))


def _words_of(
    text: str,
    starts: NDArray[np.int32],
    counted: NDArray[np.bool_],
    stops: frozenset[str],
    spelled: dict[int, str] | None,
) -> tuple[Keys, Indexes]:
    """The hashes of the words that are counted, and the run of each."""
    key, run, begin, end = word_spans(text, starts, counted)
    distinct, first, number = np.unique(key, return_index=True, return_inverse=True)
    words = [text[a:b].lower() for a, b in zip(begin[first].tolist(), end[first].tolist(), strict=True)]
    counts = [_WORD.fullmatch(word) is not None and word not in stops for word in words]
    if spelled is not None:
        spelled.update(compress(zip(distinct.tolist(), words, strict=True), counts))
    wanted = np.array(counts, np.bool_)[number]
    return key[wanted], run[wanted]


def _repeated(text_key: Keys, first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The nodes whose text is on a large share of the pages."""
    pages = len(first) - 1
    if pages < LEAST_PAGES:
        return np.zeros(len(text_key), np.bool_)
    times = Counter(
        key for a, b in zip(first[:-1].tolist(), first[1:].tolist(), strict=True) for key in set(text_key[a:b].tolist())
    )
    often = [key for key, pages_with in times.items() if key and pages_with >= REPEATED_SHARE * pages]
    return np.isin(
        text_key, np.array(often, np.uint64)
    )  # a list of mixed sizes would become floats, which match nothing


def _counted(pages: Sequence[PageWords]) -> NDArray[np.bool_]:
    """The nodes that denoising left; all of a site of which it would leave no page (ours: it still has a topic)."""
    masks = [np.ones(len(page), np.bool_) if page.counted is None else page.counted for page in pages]
    found = np.concatenate([np.zeros(0, np.bool_), *masks])
    return found if found.any() else np.ones(len(found), np.bool_)


def _page_of_node(first: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def _by_page(words: WordCounts, kept: NDArray[np.bool_], first: NDArray[np.int64]) -> WordCounts:
    return words.at(kept).by(_page_of_node(first), len(first) - 1)


def _host(url: str) -> str:
    return SiteKey().of(url)
