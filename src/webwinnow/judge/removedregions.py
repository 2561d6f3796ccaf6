"""`RemovedRegions`: what was removed from a page, in pieces a person would point at: a menu, a notice, a share bar.

A block is too small to have a kind (one `<li>` of a menu), the largest element without kept text too large (a wrapper
around header, menu and footer). A region is a sequence of neighbouring parts of one element, all removed, that belong
together. The rule works down from the root. The parts of an element are its block children and the inline text between
them; a sequence of removed parts is one region if it

- has only a few words, or is inline text only;
- fills a list, a paragraph, a menu, a small form, or a table of plain cells;
- is one short section: a title, and what follows up to the next title;
- fills an element with a message: short text with few links, and its buttons;
- consists of similar parts: of the same tag, attributes and inner tags, all mostly links or all mostly not.

Otherwise it is split: similar neighbours stay together, a title goes with what follows it, and the rule is applied to
each other part.

What has no text (a banner, the frame of an advertisement, a logo, share buttons that are icons) is a region of its own
if it is not inside one of these: `text_free_regions`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.verdict import Verdict
from webwinnow.page._nodes import nearest, topmost
from webwinnow.page.blocks import are_split, runs_of_nodes, splitting_nodes
from webwinnow.page.markup import ATTRIBUTE_CODE, CUSTOM_TAG, TAG_CODE
from webwinnow.page.tree import PageTree

FEW_WORDS = 10
"""A sequence of no more words is not split."""
FORM_WORDS = 80
"""A form of more words is a wrapper around a page, as some servers write it."""
SECTION_WORDS = 120
"""A titled section, or an item without a class, of more words is examined further."""
MESSAGE_WORDS = 80
"""A message of more words is examined further."""
INSIDE_ALIKE = 0.5
"""Jaccard index of the tags inside two similar parts."""
MOSTLY = 0.5
"""A part consists of links if this share of its words does."""
TITLE_WORDS = 4
"""A block of no more words, none a link, right before a part of links is its title, whatever its tag."""
SPEAKING_WORDS = 4
"""The share of links in a part of fewer words is no evidence."""

SPAN = ("node", "first_node", "last_node", "first_run", "last_run")
CONTROLS = ("input", "select", "textarea", "button")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "legend", "caption", "dt", "summary")
_WHOLE = frozenset(TAG_CODE[tag] for tag in "ul ol dl menu dir nav p select address pre figure blockquote".split())
"""Elements that contain one thing."""
_TABLES = frozenset(TAG_CODE[tag] for tag in ("table", "tbody", "thead", "tfoot", "tr"))
_LAID_OUT = ("table", "ul", "ol", "dl", "div", "form", "section", "h1", "h2", "h3")
"""Elements that are in the cells of a layout table, and not in those of a plain one."""
_FORM = TAG_CODE["form"]
_SHOWN = ("img", "svg", "iframe", "object", "embed", "video", "canvas", "ins")
"""Elements that show something without text, or that a script fills."""
_BOXES = ("div", "aside", "section", "center", "td")
"""Elements that a script may fill if they have a name."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RemovedRegions:
    """The removed regions of a page, in page order; no two share a node or a run.

    Region r has nodes `first_node[r]:last_node[r]` and runs `first_run[r]:last_run[r]`; `node[r]` is the largest
    element without other text, or the smallest around it where the region is a part of an element. Regions without
    text have no runs, and are after all others.
    """

    tree: PageTree
    node: NDArray[np.int32]
    first_node: NDArray[np.int32]
    last_node: NDArray[np.int32]
    first_run: NDArray[np.int32]
    last_run: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.node)

    def followed_by(self, others: RemovedRegions) -> RemovedRegions:
        """These regions, and others of the same page after them."""
        columns = {name: np.concatenate((getattr(self, name), getattr(others, name))) for name in SPAN}
        return RemovedRegions(tree=self.tree, **columns)

    def texts(self) -> list[str]:
        """The text of every region, white space folded, a blank where a block ends."""
        tree = self.tree
        bounds = pairwise(tree.run_start.tolist())
        split = np.append(are_split(tree, splitting_nodes(tree), np.arange(tree.run_count)), True).tolist()
        said = [tree.text[a:b] + (" " if gap else "") for (a, b), gap in zip(bounds, split, strict=False)]
        spans = zip(self.first_run.tolist(), self.last_run.tolist(), strict=True)
        return [" ".join("".join(said[first:last]).split()) for first, last in spans]

    def of_run(self) -> NDArray[np.int32]:
        """For each run its region; -1 for kept text, and for white space outside of regions."""
        found = np.full(self.tree.run_count, -1, np.int32)
        for r, (first, last) in enumerate(zip(self.first_run.tolist(), self.last_run.tolist(), strict=True)):
            found[first:last] = r
        return found


def removed_regions(tree: PageTree, verdict: Verdict) -> RemovedRegions:
    """The removed regions of a page. Every removed run with text is in exactly one."""
    page = _Page(tree, ~verdict.keep_runs)
    found: list[tuple[int, int, int, int, int]] = []
    work = [0]
    while work:
        node = work.pop()
        for stretch in page.stretches(node):
            if stretch[0].state == _MIXED:
                work.append(stretch[0].node)
                continue
            for group in [stretch] if page.is_one(node, stretch) else page.groups(stretch):
                titles, body = [part for part in group if part.is_title], [part for part in group if not part.is_title]
                split = page.split_at(body[0].node) if len(body) == 1 else -1
                if split >= 0:
                    work.append(split)
                    if titles:
                        found.append(page.spanned(node, titles))
                else:
                    found.append(page.spanned(node, group))
    found.sort(key=lambda span: span[3])
    columns = np.array(found, np.int32).reshape(-1, 5).T
    return RemovedRegions(tree=tree, **dict(zip(SPAN, columns, strict=True)))


def text_free_regions(tree: PageTree, cut: RemovedRegions) -> RemovedRegions:
    """The largest elements without text that show something or are boxes with a name, outside of the regions `cut`.

    Kept ones are included: a banner in the middle of an article is kept with the text around it.
    """
    first, last = runs_of_nodes(tree)
    says = np.concatenate(([0], np.cumsum(tree.written_runs)))
    free = (says[first] == says[last]) & (tree.parent > 0)
    for a, b in zip(cut.first_node.tolist(), cut.last_node.tolist(), strict=True):
        free[a:b] = False
    top = np.flatnonzero(topmost(tree.parent, free) == np.arange(len(tree)))
    shown = np.concatenate(([0], np.cumsum(tree.tagged(*_SHOWN))))
    named = np.zeros(len(tree), np.bool_)
    named[tree.attr_node[np.isin(tree.attr_name, [ATTRIBUTE_CODE["class"], ATTRIBUTE_CODE["id"]])]] = True
    node = top[(shown[tree.end[top]] > shown[top]) | (named & tree.tagged(*_BOXES))[top]].astype(np.int32)
    run = first[node].astype(np.int32)
    return RemovedRegions(tree=tree, node=node, first_node=node, last_node=tree.end[node], first_run=run, last_run=run)


_KEPT, _MIXED, _REMOVED = range(3)


@dataclass(frozen=True, slots=True)
class _Part:
    """A block child (`node`), or an inline child or a run of text (`node` is -1)."""

    node: int
    first_node: int
    last_node: int
    first_run: int
    last_run: int
    state: int
    is_title: bool = False


class _Page:
    """A page with running sums over its runs and nodes: `sums[b] - sums[a]` counts what is from a to before b."""

    def __init__(self, tree: PageTree, removed: NDArray[np.bool_]) -> None:
        self.tree, self.removed = tree, removed
        owner = tree.run_owner
        speaks = tree.written_runs
        linked = self._around("a")[owner] >= 0
        heading = np.where(linked, -1, self._around(*_HEADINGS)[owner])
        words = np.array([len(tree.text[a:b].split()) for a, b in pairwise(tree.run_start.tolist())], np.int64)
        self.said: list[int] = np.flatnonzero(speaks).tolist()
        self.says = _sums(speaks)
        self.goes = _sums(speaks & removed)
        self.words = _sums(words)
        self.linked = _sums(words * linked)
        self.heading: list[int] = heading.tolist()
        self.headed = _sums((heading >= 0) & speaks)
        self.controls = _sums(tree.tagged(*CONTROLS))
        self.laid_out = _sums(tree.tagged(*_LAID_OUT))
        self.blocks = _sums(splitting_nodes(tree) & ~tree.tagged("br"))
        first, last = runs_of_nodes(tree)
        self.span: tuple[list[int], list[int]] = first.tolist(), last.tolist()
        self.own_runs: dict[int, list[int]] = {}
        for r, node in enumerate(owner.tolist()):
            self.own_runs.setdefault(node, []).append(r)
        self.inside: list[int] = [1 << min(tag, CUSTOM_TAG) for tag in tree.tag.tolist()]
        """For each node the tags in it, as bits; its own too."""
        parent = tree.parent.tolist()
        for i in range(len(tree) - 1, 0, -1):
            self.inside[parent[i]] |= self.inside[i]

    def _around(self, *tags: str) -> NDArray[np.int32]:
        return nearest(self.tree.parent, self.tree.tagged(*tags))

    def parts(self, node: int) -> list[_Part]:
        """The parts of an element that have text, in page order."""
        tree, (first, last) = self.tree, self.span
        found = []
        child, end = node + 1, int(tree.end[node])
        while child < end:
            after = int(tree.end[child])
            a, b = first[child], last[child]
            if self.says[b] > self.says[a]:
                gone, said = self.goes[b] - self.goes[a], self.says[b] - self.says[a]
                state = _REMOVED if gone == said else _KEPT if gone == 0 else _MIXED
                is_block = self.blocks[after] > self.blocks[child] or state == _MIXED
                found.append(_Part(child if is_block else -1, child, after, a, b, state, self._is_title(a, b)))
            child = after
        for r in self.own_runs.get(node, ()):
            if self.says[r + 1] > self.says[r]:
                at = int(tree.run_before[r])
                found.append(_Part(-1, at, at, r, r + 1, _REMOVED if self.removed[r] else _KEPT))
        found.sort(key=lambda part: part.first_run)
        for k, (part, following) in enumerate(pairwise(found)):
            if self._introduces(part, following):
                found[k] = replace(part, is_title=True)
        return found

    def _introduces(self, part: _Part, following: _Part) -> bool:
        """Whether a part is a title by its place: short, without links, before links."""
        return (
            part.node >= 0
            and part.state == following.state == _REMOVED
            and self._words(part) <= TITLE_WORDS < self._words(following)
            and self.linked[part.last_run] == self.linked[part.first_run]
            and not self._has_controls(part)
            and self._of_links(following)
        )

    def _is_title(self, first: int, last: int) -> bool:
        """Whether all text of these runs is in headings, none of it a link."""
        return self.headed[last] - self.headed[first] == self.says[last] - self.says[first]

    def stretches(self, node: int) -> Iterator[list[_Part]]:
        """Sequences of neighbouring removed parts of an element; parts with kept text inside on their own."""
        stretch: list[_Part] = []
        for part in self.parts(node):
            if part.state == _REMOVED:
                stretch.append(part)
                continue
            if stretch:
                yield stretch
                stretch = []
            if part.state == _MIXED:
                yield [part]
        if stretch:
            yield stretch

    def split_at(self, node: int) -> int:
        """Where an element that is all removed is split: itself, or an only child; -1 if it is one region."""
        while node >= 0:
            parts = self.parts(node)
            if self.is_one(node, parts):
                return -1
            if len(parts) > 1:
                return node
            node = parts[0].node
        return -1

    def is_one(self, node: int, stretch: list[_Part]) -> bool:
        """Whether neighbouring removed parts of an element are one region."""
        first, last = stretch[0], stretch[-1]
        words = self.words[last.last_run] - self.words[first.first_run]
        if words <= FEW_WORDS or all(part.node < 0 for part in stretch):
            return True
        if len(stretch) == 1:
            return False
        tag = int(self.tree.tag[node])
        titled = sum(map(self._is_titled, stretch))
        if titled <= 1 and tag in _WHOLE:
            return True
        if tag == _FORM and words <= FORM_WORDS:
            return True
        if tag in _TABLES and self.laid_out[int(self.tree.end[node])] == self.laid_out[node + 1]:
            return True
        if first.is_title and titled == 1 and words <= SECTION_WORDS:
            return True
        if titled <= 1 and words <= MESSAGE_WORDS and self._is_message(node, stretch):
            return True
        return len(self.groups(stretch)) == 1

    def _is_message(self, node: int, stretch: list[_Part]) -> bool:
        """Whether an element contains only text that is mostly no link, without a list of links in it."""
        first, last = self.span
        said = self.says[stretch[-1].last_run] - self.says[stretch[0].first_run]
        whole = _Part(node, node, int(self.tree.end[node]), first[node], last[node], _REMOVED)
        return (
            said == self.says[last[node]] - self.says[first[node]]
            and not self._of_links(whole)
            and not any(self._of_links(part) and self._words(part) > FEW_WORDS for part in stretch)
        )

    def _is_titled(self, part: _Part) -> bool:
        """Whether a part begins with a heading of its own."""
        return part.is_title or self.heading[self.said[self.says[part.first_run]]] >= part.first_node

    def groups(self, stretch: list[_Part]) -> list[list[_Part]]:
        """Neighbouring removed parts, similar ones together, titles with what follows them."""
        found: list[list[_Part]] = []
        for part in stretch:
            if found and self._goes_with(found[-1], part):
                found[-1].append(part)
            else:
                found.append([part])
        return found

    def _goes_with(self, group: list[_Part], part: _Part) -> bool:
        before = group[-1]
        if before.is_title:
            return True
        if part.is_title:
            return False
        if before.node < 0 or part.node < 0:
            return before.node < 0 and part.node < 0
        return self._alike(before, part) or self._are_small_links(before, part)

    def _alike(self, one: _Part, other: _Part) -> bool:
        a, b = one.node, other.node
        if self.tree.style[a] != self.tree.style[b] or self._is_titled(other):
            return False
        if self._has_controls(one) != self._has_controls(other):
            return False
        words = self._words(one), self._words(other)
        if max(words) > SECTION_WORDS and self.tree.attribute(a, "class") is None:
            return False
        if min(words) >= SPEAKING_WORDS and self._of_links(one) != self._of_links(other):
            return False
        both, either = self.inside[a] & self.inside[b], self.inside[a] | self.inside[b]
        return both.bit_count() >= INSIDE_ALIKE * either.bit_count()

    def _are_small_links(self, one: _Part, other: _Part) -> bool:
        """Whether both are lines of one menu: single blocks of the same tag, short, links or marks between them."""
        return bool(self.tree.tag[one.node] == self.tree.tag[other.node]) and all(
            self.blocks[part.last_node] == self.blocks[part.first_node] + 1
            and self._words(part) <= FEW_WORDS
            and (self._of_links(part) or self._words(part) == 1)
            for part in (one, other)
        )

    def _words(self, part: _Part) -> int:
        return self.words[part.last_run] - self.words[part.first_run]

    def _has_controls(self, part: _Part) -> bool:
        return self.controls[part.last_node] > self.controls[part.first_node]

    def _of_links(self, part: _Part) -> bool:
        return self.linked[part.last_run] - self.linked[part.first_run] >= MOSTLY * self._words(part)

    def spanned(self, node: int, group: list[_Part]) -> tuple[int, int, int, int, int]:
        """A region as in `RemovedRegions`: node, first and last node, first and last run."""
        first_run, last_run = group[0].first_run, group[-1].last_run
        if len(group) == 1 and group[0].node >= 0:
            node = group[0].node
        first, last = self.span
        said = self.says[last_run] - self.says[first_run]
        while node > 1 and self.says[last[up := int(self.tree.parent[node])]] - self.says[first[up]] == said:
            node = up
        if self.says[last[node]] - self.says[first[node]] == said:
            return node, node, int(self.tree.end[node]), first[node], last[node]
        return node, group[0].first_node, group[-1].last_node, first_run, last_run


def _sums(counts: NDArray[np.generic]) -> list[int]:
    found: list[int] = np.concatenate(([0], np.cumsum(counts))).tolist()
    return found
