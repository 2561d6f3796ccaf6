"""`SitePages`: a site as topic classifiers see it: the words of its blocks, its page tree, whom it links to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow._words import word_spans
from webwinnow.errors import InputError
from webwinnow.pagetree import PageTree
from webwinnow.records import PageRecord
from webwinnow.sitemining.sitetree import NOTHING, BlockTree, LinkTree, links_of
from webwinnow.urls import SiteKey
from webwinnow.words import stop_words, word_hash

__all__ = ["REPEATED_SHARE", "PageWords", "SitePages", "WordCounts"]

DEFAULT_LANGUAGE = "en"
REPEATED_SHARE = 0.5
"""A block whose text stands on at least this share of the site's pages is repeated, as method `repeated` has it."""
LEAST_PAGES = 3
"""Fewer pages show no repetition, as there."""
_WORD = re.compile(r"(?=\w*[^\W\d_])\w{2,}")

Indexes = NDArray[np.int32]
Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """Row `row[i]` holds the word `key[i]` `count[i]` times; ordered by row and key, each pair once."""

    rows: int
    row: NDArray[np.int64]
    key: Keys
    count: NDArray[np.int64]

    @classmethod
    def of(cls, rows: int, row: NDArray[np.int64], key: Keys, count: NDArray[np.int64]) -> Self:
        """Counts in any order; those of one word in one row are added up."""
        order = np.lexsort((key, row))
        row, key, count = row[order], key[order], count[order]
        new = np.ones(len(row), np.bool_)
        new[1:] = (row[1:] != row[:-1]) | (key[1:] != key[:-1])
        first = np.flatnonzero(new)
        return cls(rows, row[first], key[first], np.add.reduceat(count, first) if len(first) else count)

    def at(self, wanted: NDArray[np.bool_]) -> Self:
        """The same rows, with the words of the wanted ones alone."""
        inside = wanted[self.row]
        return type(self)(self.rows, self.row[inside], self.key[inside], self.count[inside])

    def by(self, group: NDArray[np.int64], groups: int) -> Self:
        """The counts of rows put together: row i goes into row `group[i]` of so many."""
        return type(self).of(groups, group[self.row], self.key, self.count)


@dataclass(frozen=True, slots=True, eq=False)
class PageWords:
    """One page: its tree of blocks, the words of each, what each says as a hash, the links.

    Node 0 is the page; the last node is its title, if it has one, right below. `element` is the element of a node in
    the page's tree, NOTHING at the title. `said` is 0 where a node says nothing of its own.
    """

    url: str
    parent: Indexes
    element: Indexes
    said: Keys
    words: WordCounts
    links: tuple[str, ...] = ()

    @classmethod
    def of(cls, tree: PageTree, kept_runs: NDArray[np.bool_] | None = None) -> Self:
        """The words of a page's blocks, without stop words, numbers and single letters; with `kept_runs`, of those."""
        blocks = BlockTree.of(tree, kept_runs)
        title = tree.head.title.strip()
        nodes = len(blocks) + bool(title)
        node_of_block = np.full(len(blocks.blocks) + 1, NOTHING, np.int64)
        node_of_block[blocks.block] = np.where(blocks.block == NOTHING, NOTHING, np.arange(len(blocks)))
        node_of_block[NOTHING] = NOTHING
        runs = tree.visible[tree.run_owner] if kept_runs is None else kept_runs
        stops = stop_words(tree.head.language or DEFAULT_LANGUAGE)
        key, run = _words_of(tree.text, tree.run_start, runs, stops)
        row = node_of_block[blocks.blocks.of_run()[run]]
        told, _ = _words_of(title, np.array([0, len(title)], np.int32), np.ones(1, np.bool_), stops)
        key, row = np.concatenate((key, told)), np.concatenate((row, np.full(len(told), nodes - 1, np.int64)))
        inside = row >= 0
        said = np.zeros(nodes, np.uint64)
        texts = blocks.blocks.texts()
        said[: len(blocks)] = [word_hash(texts[b]) if b >= 0 else 0 for b in blocks.block.tolist()]
        if title:
            said[-1] = word_hash(title)
        ends = np.zeros(int(bool(title)), np.int32)
        return cls(
            tree.url,
            _frozen(np.concatenate((blocks.parent, ends))),
            _frozen(np.concatenate((blocks.element, ends + NOTHING)).astype(np.int32)),
            _frozen(said),
            WordCounts.of(nodes, row[inside], key[inside], np.ones(int(inside.sum()), np.int64)),
            tuple(links_of(tree)),
        )

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(frozen=True, slots=True, eq=False)
class SitePages:
    """A site: its pages in the order given, their page tree, the blocks of all pages as one forest.

    The nodes of page p are `first[p]:first[p + 1]`, the page itself first. `kept` are the nodes whose words tell of
    the topic, at first those that the site does not repeat; `page_words` has theirs, page by page. `hosts` are the
    site's own, `linked` others that it links to.
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
    def of(cls, trees: Sequence[PageTree], site: str = "", start: str | None = None) -> Self:
        """A site from its stored pages; `start` is the address of its start page, as `LinkTree.of` has it."""
        return cls.of_pages([PageWords.of(tree) for tree in trees], site, start)

    @classmethod
    def of_pages(
        cls, pages: Sequence[PageWords], site: str = "", start: str | None = None, page_tree: LinkTree | None = None
    ) -> Self:
        """A site from pages whose words are counted; `page_tree` where it is known, of a crawl for example."""
        urls = tuple(page.url for page in pages)
        if page_tree is None:
            page_tree = LinkTree.of(urls, [page.links for page in pages], start)
        elif sorted(page_tree.page[page_tree.page != NOTHING].tolist()) != list(range(len(pages))):
            raise InputError(f"a page tree that is not one of these {len(pages)} pages")
        first = np.cumsum([0, *map(len, pages)])
        hosts = frozenset(filter(None, map(_host, urls)))
        said = np.concatenate([page.said for page in pages]) if pages else np.zeros(0, np.uint64)
        words = WordCounts(
            int(first[-1]),
            np.concatenate([p.words.row + at for p, at in zip(pages, first, strict=False)] or [first[:0]]),
            np.concatenate([page.words.key for page in pages] or [np.zeros(0, np.uint64)]),
            np.concatenate([page.words.count for page in pages] or [first[:0]]),
        )
        kept = ~_repeated(said, first)
        return cls(
            site,
            urls,
            page_tree,
            first,
            _joined([np.where(p.parent < 0, NOTHING, p.parent + at) for p, at in zip(pages, first, strict=False)]),
            _joined([page.element for page in pages]),
            words,
            _by_page(words, kept, first),
            _frozen(kept),
            hosts,
            frozenset(filter(None, (_host(link) for page in pages for link in page.links))) - hosts,
        )

    def __len__(self) -> int:
        return len(self.urls)

    @property
    def page_of_node(self) -> NDArray[np.int64]:
        """The page that each node is in."""
        return _page_of_node(self.first)

    @property
    def node_words(self) -> WordCounts:
        """The words of each node that is kept."""
        return self.words.at(self.kept)

    @property
    def all_words(self) -> WordCounts:
        """All words of the site in one row, repeated or not: the superpage."""
        return self.words.by(np.zeros(int(self.first[-1]), np.int64), 1)

    def keeping(self, nodes: NDArray[np.bool_]) -> Self:
        """The same site in which only the words of these nodes count, beside those that count already.

        What a denoiser removed stays in the trees, as nodes at which nothing is observed.
        """
        if nodes.shape != self.kept.shape:
            raise InputError(f"a mask of shape {nodes.shape} for {len(self.kept)} nodes")
        kept = self.kept & nodes
        return replace(self, kept=_frozen(kept), page_words=_by_page(self.words, kept, self.first))


def _words_of(
    text: str, starts: NDArray[np.int32], counted: NDArray[np.bool_], stops: frozenset[str]
) -> tuple[Keys, Indexes]:
    """The hashes of words that may tell of a topic, and the run of each."""
    key, run, begin, end = word_spans(text, starts, counted)
    distinct, first, number = np.unique(key, return_index=True, return_inverse=True)
    spelled = (text[a:b].lower() for a, b in zip(begin[first].tolist(), end[first].tolist(), strict=True))
    wanted = np.fromiter(
        (_WORD.fullmatch(word) is not None and word not in stops for word in spelled), np.bool_, len(distinct)
    )[number]
    return key[wanted], run[wanted]


def _repeated(said: Keys, first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The nodes that say what a large share of the pages say."""
    pages = len(first) - 1
    if pages < LEAST_PAGES:
        return np.zeros(len(said), np.bool_)
    times = Counter(
        key for a, b in zip(first[:-1].tolist(), first[1:].tolist(), strict=True) for key in set(said[a:b].tolist())
    )
    often = [key for key, pages_with in times.items() if key and pages_with >= REPEATED_SHARE * pages]
    return np.isin(said, np.array(often, np.uint64))  # of mixed sizes numpy would make floats, which match nothing


def _page_of_node(first: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def _by_page(words: WordCounts, kept: NDArray[np.bool_], first: NDArray[np.int64]) -> WordCounts:
    return words.at(kept).by(_page_of_node(first), len(first) - 1)


def _host(url: str) -> str:
    return SiteKey().of(PageRecord(url=url, body=b""))


def _joined(columns: list[NDArray[np.int32]]) -> Indexes:
    return _frozen(np.concatenate(columns).astype(np.int32) if columns else np.zeros(0, np.int32))


def _frozen(column: NDArray[Any]) -> NDArray[Any]:
    column.flags.writeable = False
    return column
