"""Our variant of the site style tree, method `aligned`: sequences of children are aligned by tag and role.

In the published tree, one class name on BODY or one more box in a row splits a site's pages into trees that share
nothing. Here the child sequences of an element are aligned, and children at the same place are one element, before
similar elements are joined as in `sitetree`. A sequence that a page has and the tree does not is aligned in the same
way (experiment: `benchmarks/run.py sst`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.page.tree import PageTree
from webwinnow.site._mapping import align
from webwinnow.site._styles import Pairs
from webwinnow.site.mapping import BY_PATH, NOWHERE, SiteMap
from webwinnow.site.sitetree import Finisher, JoinSettings, Rows, SiteTree, Slot
from webwinnow.site.styletree import INTERNAL, OUTSIDE, Keys, PageElements, StyleTree, pair_key


class AlignedFinisher(Finisher):
    """Finishes a raw tree of `ALIGNED_CUT`, aligning the sequences of children of each element."""

    def __init__(self, tree: StyleTree, joins: JoinSettings | None = None) -> None:
        super().__init__(tree, joins)
        self.contents: list[int] = _content_keys(tree, self.element, self.order, self.joins.gamma).tolist()

    def _slots(self, rows: Rows) -> list[Slot]:
        """Children by their place when all sequences are aligned, the most frequent first."""
        texts = rows.pop(0, {}).get(-1, [])
        if len(rows) < 2:
            return [((0, -1), texts)] * bool(texts) + [
                ((0, position), row[position]) for row in rows.values() for position in sorted(row)
            ]
        frequent = {sequence: sum(self.m[i] for i in next(iter(row.values()))) for sequence, row in rows.items()}
        aligned = _AlignedRows()
        for sequence in sorted(rows, key=lambda sequence: (-frequent[sequence], sequence)):
            children = [rows[sequence][position] for position in sorted(rows[sequence])]
            chosen = [min(child, key=lambda i: (-self.m[i], self.keys[i])) for child in children]
            aligned.add(
                children,
                np.array([self.shapes[i] for i in chosen], np.uint64),
                np.array([self.styles[i] for i in chosen], np.uint64),
                np.array([self.contents[i] for i in chosen], np.uint64),
            )
        slots = [((0, place), members) for place, members in enumerate(aligned.members)]
        return [((0, -1), texts), *slots] if texts else slots


def _content_keys(tree: StyleTree, element: NDArray[np.int64], order: NDArray[np.int64], gamma: float) -> Keys:
    """A hash of each raw element's characteristic features; 0 where it has none."""
    keys = np.zeros(len(tree.key), np.uint64)
    characteristic = order[tree.df[order] >= gamma * tree.m[element[order]]]
    if len(characteristic):
        holder = element[characteristic]
        first = np.flatnonzero(np.concatenate(([True], holder[1:] != holder[:-1])))
        keys[holder[first]] = np.bitwise_xor.reduceat(pair_key(tree.feature, tree.feature)[characteristic], first)
    return keys


class _AlignedRows:
    """Aligned sequences of children: the members at each place."""

    def __init__(self) -> None:
        self.members: list[list[int]] = []
        self.columns = [np.zeros(0, np.uint64)] * 3

    def add(self, children: list[list[int]], shape: Keys, style: Keys, content: Keys) -> None:
        """Align one more sequence; children without a counterpart get a new place."""
        if not self.members:
            self.members, self.columns = children, [shape, style, content]
            return
        known_shape, known_style, known_content = self.columns
        places = align(known_shape, known_style, known_content, shape, style, content).tolist()
        new: list[int] = []
        before: list[int] = []
        last = 0
        for k, place in enumerate(places):
            if place >= 0:
                self.members[place] += children[k]
                last = place + 1
            else:
                new.append(k)
                before.append(last)
        if new:
            self.columns = [
                np.insert(known, before, column[new])
                for known, column in zip(self.columns, (shape, style, content), strict=True)
            ]
            for shift, (k, place) in enumerate(zip(new, before, strict=True)):
                self.members.insert(place + shift, children[k])


class AlignedMap(SiteMap):
    """The paths of an aligned tree, for mapping pages."""

    def __init__(self, site: SiteTree) -> None:
        super().__init__(site)
        self.styles = Pairs(site.style_element.astype(np.uint64), site.style_sequence)
        self.first_child = np.searchsorted(site.parent, np.arange(len(site) + 1))
        """The children of an element are consecutive, in the order of their positions."""

    def locate(self, tree: PageTree, cutting: PageElements) -> NDArray[np.int32]:
        """The element of each node; a sequence of children that is not in the tree is aligned with those that are."""
        fixed = np.full(len(tree), BY_PATH, np.int32)
        found = self.paths.walk(tree.parent, cutting.sequence, cutting.position, cutting.kind, fixed)
        aligned = np.zeros(len(tree), np.bool_)
        while True:
            unknown = self._unknown(found, cutting, aligned)
            if not len(unknown):
                return found
            for i in unknown.tolist():
                self._align(tree, cutting, i, int(found[i]), fixed)
            aligned[unknown] = True
            found = self.paths.walk(tree.parent, cutting.sequence, cutting.position, cutting.kind, fixed)

    def own_leaves(self, found: NDArray[np.int32], _: PageElements) -> NDArray[np.int32]:
        """The `#text` leaf of each node's element."""
        return self.text_leaf[found]

    def _unknown(self, found: NDArray[np.int32], cutting: PageElements, aligned: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The nodes whose element is known and whose sequence of children is not."""
        known = np.flatnonzero((found != NOWHERE) & (cutting.kind == INTERNAL) & ~aligned)
        rows = self.styles.rows(found[known].astype(np.uint64), cutting.sequence[known])
        return known[rows < 0]

    def _align(self, tree: PageTree, cutting: PageElements, i: int, element: int, fixed: NDArray[np.int32]) -> None:
        """Align an unknown sequence of children with the children of the element."""
        children = []
        child, end = i + 1, int(tree.end[i])
        while child < end:
            if cutting.kind[child] != OUTSIDE:
                children.append(child)
            child = int(tree.end[child])
        row = np.array(children, np.intp)
        first, last = self.first_child[element : element + 2].tolist()
        known = np.arange(first, last)[self.site.style[first:last] != 0]
        places = align(
            _of_kind(self.site.shape[known], self.site.kind[known]),
            self.site.style[known],
            np.zeros(len(known), np.uint64),
            _of_kind(tree.shape[row], cutting.kind[row]),
            tree.style[row],
            np.zeros(len(row), np.uint64),
        )
        fixed[row] = np.where(places < 0, NOWHERE, known[places]) if len(known) else NOWHERE


def _of_kind(shape: Keys, kind: NDArray[np.uint8]) -> Keys:
    """Shapes that differ by kind, so that a leaf never matches an internal element."""
    return shape ^ kind.astype(np.uint64)
