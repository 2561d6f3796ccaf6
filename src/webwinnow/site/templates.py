"""Templates of a whole collection (Bar-Yossef and Rajagopalan, WWW 2002; thesis 3.3): pagelets that linked pages share.

The local algorithm takes every pagelet of several pages as a template. The global one also requires that links connect
these pages: a template is a connected component, of at least two pages, of the pages with a pagelet. Replicas of a page
count once in both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, SettingsError
from webwinnow.page.fingerprints import page_fingerprint
from webwinnow.page.tree import PageTree
from webwinnow.site.pagelets import PUBLISHED, TEMPLATE_PAGES, PageletSettings, pagelets_of
from webwinnow.site.styletree import pair_key
from webwinnow.site.sums import page_key

SHOWN_CHARACTERS = 200

Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Template:
    """The fingerprint of a pagelet, and the pages with it by their number in the collection, ascending."""

    fingerprint: int
    pages: tuple[int, ...]


class Collection:
    """Pagelets and links of many pages. `known`: the `page_key`s of all pages; links to others are not stored."""

    def __init__(self, known: Iterable[int] | None = None, settings: PageletSettings = PUBLISHED) -> None:
        self.settings = settings
        self.known = None if known is None else np.unique(np.fromiter(known, np.uint64))
        self.pages: list[int] = []
        """The `page_key` of each page."""
        self.seen: set[int] = set()
        self.pagelets: list[Keys] = []
        self.links: list[Keys] = []

    def add(self, tree: PageTree) -> None:
        """Add a page; a replica of an earlier page gets a number and nothing else."""
        self.pages.append(page_key(tree.url))
        content = page_fingerprint(tree)
        if content in self.seen:
            self.pagelets.append(np.zeros(0, np.uint64))
            self.links.append(np.zeros(0, np.uint64))
            return
        self.seen.add(content)
        self.pagelets.append(np.unique(pagelets_of(tree, self.settings).fingerprint))
        linked = filter(None, tree.links(areas=True).targets(fragments=True))
        targets = np.unique(np.fromiter(map(page_key, linked), np.uint64))
        self.links.append(targets if self.known is None else targets[np.isin(targets, self.known)])

    def templates(self, *, linked: bool = True, pages: int = TEMPLATE_PAGES) -> list[Template]:
        """The templates, most pages first: the global algorithm where pages must be `linked`, else the local one.

        A template is on at least so many `pages`, two as published.
        """
        key, owner = _table(self.pagelets)
        order = np.argsort(key, kind="stable")
        key, owner = key[order], owner[order]
        first = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1]))) if len(key) else np.zeros(0, np.int64)
        graph = _Graph(self.pages, self.links) if linked else None
        found: list[Template] = []
        for a, b in zip(first.tolist(), [*first[1:].tolist(), len(key)], strict=False):
            if b - a >= pages:
                owners = owner[a:b]
                groups = [owners] if graph is None else graph.components(owners, pages)
                found += [Template(int(key[a]), tuple(group.tolist())) for group in groups]
        return sorted(found, key=lambda one: (-len(one.pages), one.fingerprint, one.pages))


class _Graph:
    """Links between the pages of a collection, in both directions."""

    def __init__(self, pages: list[int], links: list[Keys]) -> None:
        keys = np.array(pages, np.uint64)
        order = np.argsort(keys, kind="stable")
        target, source = _table(links)
        at = np.minimum(np.searchsorted(keys[order], target), max(len(keys) - 1, 0))
        inside = keys[order][at] == target if len(keys) else np.zeros(0, np.bool_)
        one, other = source[inside], order[at[inside]]
        ends = np.unique(np.concatenate((one * len(keys) + other, other * len(keys) + one)))
        near, self.neighbour = np.divmod(ends, max(len(keys), 1))
        self.first = np.searchsorted(near, np.arange(len(keys) + 1))
        self.place = np.full(len(keys), -1, np.int64)

    def components(self, owners: NDArray[np.int64], least: int) -> list[NDArray[np.int64]]:
        """The connected components, of `least` pages or more, of some pages (ascending)."""
        self.place[owners] = np.arange(len(owners))
        begin, size = self.first[owners], self.first[owners + 1] - self.first[owners]
        source = np.repeat(np.arange(len(owners)), size)
        within = np.arange(len(source)) - np.repeat(np.cumsum(size) - size, size)
        target = self.place[self.neighbour[np.repeat(begin, size) + within]]
        self.place[owners] = -1
        inside = target >= 0
        label = _connected(len(owners), source[inside], target[inside])
        order = np.argsort(label, kind="stable")
        groups = np.split(owners[order], np.flatnonzero(np.diff(label[order])) + 1)
        return [group for group in groups if len(group) >= least]


def _connected(count: int, one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each of `count` nodes the lowest node of its component, by hooking roots and shortening paths."""
    label = np.arange(count)
    while True:
        before = label.copy()
        np.minimum.at(label, before[one], before[other])
        while not np.array_equal(label, label[label]):
            label = label[label]
        if np.array_equal(label, before):
            return label


def _table(rows: list[Keys]) -> tuple[Keys, NDArray[np.int64]]:
    """All keys of some rows, and the row of each."""
    if not rows:
        return np.zeros(0, np.uint64), np.zeros(0, np.int64)
    return np.concatenate(rows), np.repeat(np.arange(len(rows)), [len(row) for row in rows])


def pagelet_text(tree: PageTree, fingerprint: int, settings: PageletSettings = PUBLISHED) -> str:
    """The text of a page's pagelet with this fingerprint, white space folded, cut to `SHOWN_CHARACTERS`."""
    found = pagelets_of(tree, settings)
    for node in found.node[found.fingerprint == np.uint64(fingerprint)].tolist():
        return " ".join(tree[node].text.split())[:SHOWN_CHARACTERS]
    return ""


class TemplateList:
    """Which pagelets of which pages are templates, and how they were found: a file of `webwinnow lists templates`."""

    def __init__(self, pairs: Keys, settings: PageletSettings = PUBLISHED) -> None:
        self.pairs = np.unique(pairs)
        self.settings = settings

    @classmethod
    def load(cls, path: Path | str) -> TemplateList:
        """Read a list; each line is validated. Raises `InputError`."""
        pairs: list[Keys] = []
        settings: set[PageletSettings] = set()
        try:
            with Path(path).open(encoding="utf-8") as lines:
                for number, line in enumerate(lines, start=1):
                    found, how = _pairs(line, f"line {number} of {path}")
                    pairs.append(found)
                    settings.add(how)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read as a list of templates: {error}") from None
        if len(settings) > 1:
            raise InputError(
                f"{path} has templates of different settings; make the list with: webwinnow lists templates"
            )
        return cls(np.concatenate(pairs) if pairs else np.zeros(0, np.uint64), *settings)

    def marked(self, url: str, fingerprint: Keys) -> NDArray[np.bool_]:
        """Which of these pagelets of a page are templates."""
        page = np.full(len(fingerprint), page_key(url), np.uint64)
        return np.isin(pair_key(fingerprint, page), self.pairs)


def _pairs(line: str, where: str) -> tuple[Keys, PageletSettings]:
    try:
        row = json.loads(line)
        fingerprint, members = int(row["template"], 16), row["members"]
        if not 0 <= fingerprint < 1 << 64 or not isinstance(members, list):
            raise ValueError("no fingerprint of 64 bits, or no members")
        pages = np.fromiter((page_key(str(url)) for url in members), np.uint64, len(members))
        settings = PageletSettings(**row.get("pagelets", {}))
    except (ValueError, KeyError, TypeError, RecursionError, SettingsError) as error:
        raise InputError(
            f"{where} is not a template ({error}); make the list with: webwinnow lists templates"
        ) from None
    return pair_key(np.full(len(pages), fingerprint, np.uint64), pages), settings
