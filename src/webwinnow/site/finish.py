"""From a raw style tree to a finished one: style nodes folded, alike elements joined (thesis 4.2.5, 4.3.1 step 3).

Top-down, once, deterministic. Elements that stand at the same position of the same style of the same (joined) element
are one. Then, below one element, elements of the same tag and attributes whose characteristic features (freq >= 0.85)
overlap by a Jaccard of at least 0.85 are joined, highest Jaccard first, ties by place. The SST's enhancement 1 never
puts two tag nodes of one page into one element; step 3 of the CST may.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise
from math import ceil

import numpy as np
from numpy.typing import NDArray

from webwinnow.site.styletree import ROOT_KEY, SST_CUT, Counts, Keys, StyleTree

__all__ = ["CHARACTERISTIC", "JACCARD", "SiteTree", "finish"]

CHARACTERISTIC = 0.85
"""Gamma of the thesis: a feature on so many of an element's tag nodes is characteristic."""
JACCARD = 0.85
"""Lambda of the thesis: elements whose characteristic features overlap so far are alike."""
LEAST_UNEQUAL = 6
"""Smaller sets are either equal or overlap by less than `JACCARD`: 6 of 7 is the first overlap that suffices."""


_WAY = np.dtype([("element", np.int64), ("sequence", np.uint64), ("position", np.int32), ("child", np.int64)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteTree:
    """A finished tree; elements in an order that puts parents before children, 0 is the root.

    `ways` leads down: (element, sequence, position) to the child; a `#text` leaf stands at (element, 0, -1).
    """

    cut: int
    pages: int
    parent: NDArray[np.int32]
    style: Keys
    kind: NDArray[np.uint8]
    m: Counts
    style_element: NDArray[np.int64]
    style_sequence: Keys
    style_count: Counts
    way_element: NDArray[np.int64]
    way_sequence: Keys
    way_position: NDArray[np.int32]
    way_child: NDArray[np.int64]
    feature_element: NDArray[np.int64]
    feature: Keys
    df: Counts
    total: Counts
    entropy_sum: Counts

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(slots=True)
class _Group:
    """Raw elements that are one element of the finished tree."""

    members: list[int]
    style: int
    kind: int
    place: tuple[int, int]
    """(sequence, position) of the first, for ties."""
    m: int
    ways: frozenset[int]
    features: dict[int, int] = field(default_factory=dict)
    """df by feature, filled when the group may be joined."""
    characteristic: frozenset[int] = frozenset()


def finish(tree: StyleTree) -> SiteTree:
    """Finish a raw tree; what the cut says about joining holds (`SST_CUT`, `CST_CUT`)."""
    return _Finisher(tree).finished()


class _Finisher:
    def __init__(self, tree: StyleTree) -> None:
        self.tree = tree
        self.one_a_page = tree.cut == SST_CUT
        self.at = {key: i for i, key in enumerate(tree.key.tolist())}
        self.children: dict[int, list[int]] = defaultdict(list)
        for i, parent in enumerate(tree.parent.tolist()):
            if parent:
                self.children[parent].append(i)
        element = np.searchsorted(tree.key, tree.feature_element)
        order = np.argsort(element, kind="stable")
        bounds = np.searchsorted(element[order], np.arange(len(tree.key) + 1))
        self.feature_rows = [order[a:b] for a, b in pairwise(bounds)]
        self.keys: list[int] = tree.key.tolist()
        self.styles: list[int] = tree.style.tolist()
        self.sequences: list[int] = tree.way.tolist()
        self.positions: list[int] = tree.position.tolist()
        self.kinds: list[int] = tree.kind.tolist()
        self.m: list[int] = tree.m.tolist()

    def finished(self) -> SiteTree:
        group_of = np.full(len(self.keys), -1, np.int64)
        parents, groups = [-1], [self._root()]
        next_group = 0
        while next_group < len(groups):
            group_of[groups[next_group].members] = next_group
            for child in self._children_of(groups[next_group]):
                parents.append(next_group)
                groups.append(child)
            next_group += 1
        return self._columns(group_of, parents, groups)

    def _root(self) -> _Group:
        i = self.at[int(ROOT_KEY)]
        return _Group([i], self.styles[i], self.kinds[i], (0, 0), self.m[i], frozenset([0]))

    def _children_of(self, group: _Group) -> list[_Group]:
        """The initial child elements, by (sequence, position, kind), then joined where alike."""
        initial: dict[tuple[int, int, int], _Group] = {}
        for member in group.members:
            for i in self.children[self.keys[member]]:
                place = (self.sequences[i], self.positions[i], self.kinds[i])
                known = initial.get(place)
                if known is None:
                    initial[place] = _Group(
                        [i], self.styles[i], self.kinds[i], place[:2], self.m[i], frozenset([place[0]])
                    )
                else:
                    known.members.append(i)
                    known.m += self.m[i]
        alike: dict[tuple[int, int], list[_Group]] = defaultdict(list)
        for place in sorted(initial):
            found = initial[place]
            alike[found.style, found.kind].append(found)
        joined = [one for key in sorted(alike) for one in self._joined(alike[key])]
        return sorted(joined, key=lambda one: (one.place[1], one.place[0], one.kind, one.style))

    def _joined(self, groups: list[_Group]) -> list[_Group]:
        """Join groups of one tag and attributes that are alike, until no two are."""
        if len(groups) == 1:
            return groups
        for group in groups:
            self._characterise(group)
        groups = self._join_equal(groups)
        alike = _Alike(groups)
        while (pair := alike.closest()) is not None:
            one, other = alike.groups[pair[0]], alike.groups[pair[1]]
            if self._may_join(one, other):
                alike.replace(*pair, self._union(one, other))
        return alike.left()

    def _join_equal(self, groups: list[_Group]) -> list[_Group]:
        """Join those whose characteristic features are the same: the set of the union is the same again."""
        unions: dict[frozenset[int], list[_Group]] = defaultdict(list)
        left: list[_Group] = []
        for group in groups:
            if not group.characteristic:
                left.append(group)
                continue
            known = unions[group.characteristic]
            for k, union in enumerate(known):
                if self._may_join(union, group):
                    known[k] = self._union(union, group)
                    break
            else:
                known.append(group)
        return left + [union for known in unions.values() for union in known]

    def _may_join(self, one: _Group, other: _Group) -> bool:
        """In the SST elements of one style node are on the same pages, and may not become one."""
        return not self.one_a_page or not one.ways & other.ways

    def _characterise(self, group: _Group) -> None:
        features: dict[int, int] = {}
        for member in group.members:
            rows = self.feature_rows[member]
            for feature, df in zip(self.tree.feature[rows].tolist(), self.tree.df[rows].tolist(), strict=True):
                features[feature] = features.get(feature, 0) + df
        group.features = features
        least = CHARACTERISTIC * group.m
        group.characteristic = frozenset(feature for feature, df in features.items() if df >= least)

    def _union(self, one: _Group, other: _Group) -> _Group:
        first, second = sorted((one, other), key=lambda group: group.place)
        features = dict(first.features)
        for feature, df in second.features.items():
            features[feature] = features.get(feature, 0) + df
        m = first.m + second.m
        return _Group(
            first.members + second.members,
            first.style,
            first.kind,
            first.place,
            m,
            first.ways | second.ways,
            features,
            frozenset(feature for feature, df in features.items() if df >= CHARACTERISTIC * m),
        )

    def _columns(self, group_of: NDArray[np.int64], parents: list[int], groups: list[_Group]) -> SiteTree:
        tree = self.tree
        below = np.flatnonzero(tree.parent != 0)
        above = np.searchsorted(tree.key, tree.parent[below])
        ways = np.unique(
            np.array(
                list(
                    zip(
                        group_of[above].tolist(),
                        tree.way[below].tolist(),
                        tree.position[below].tolist(),
                        group_of[below].tolist(),
                        strict=True,
                    )
                ),
                _WAY,
            )
        )
        style_element, style_sequence, (style_count,) = _summed(
            group_of[np.searchsorted(tree.key, tree.style_element)], tree.style_sequence, [tree.style_m]
        )
        feature_element, feature, (df, total, entropy_sum) = _summed(
            group_of[np.searchsorted(tree.key, tree.feature_element)],
            tree.feature,
            [tree.df, tree.total, tree.entropy_sum],
        )
        return SiteTree(
            cut=tree.cut,
            pages=len(tree.pages),
            parent=np.array(parents, np.int32),
            style=np.array([group.style for group in groups], np.uint64),
            kind=np.array([group.kind for group in groups], np.uint8),
            m=np.array([group.m for group in groups], np.int64),
            style_element=style_element,
            style_sequence=style_sequence,
            style_count=style_count,
            way_element=ways["element"],
            way_sequence=ways["sequence"],
            way_position=ways["position"],
            way_child=ways["child"],
            feature_element=feature_element,
            feature=feature,
            df=df,
            total=total,
            entropy_sum=entropy_sum,
        )


def _summed(element: NDArray[np.int64], key: Keys, sums: list[Counts]) -> tuple[NDArray[np.int64], Keys, list[Counts]]:
    """Rows by (element, key), equal ones added up."""
    if not len(element):
        return element, key, sums
    order = np.lexsort((key, element))
    element, key = element[order], key[order]
    first = np.flatnonzero(np.concatenate(([True], (element[1:] != element[:-1]) | (key[1:] != key[:-1]))))
    return element[first], key[first], [np.add.reduceat(column[order], first) for column in sums]


class _Alike:
    """Finds the closest pair of sets that overlap enough, by an index of their rarest features (prefix filtering).

    Two sets with a Jaccard of at least t share one of the first |s| - ceil(t |s|) + 1 features of each, in any one
    order of all features; rare ones first keeps the lists short.
    """

    def __init__(self, groups: list[_Group]) -> None:
        self.groups = dict(enumerate(groups))
        self.rarity: dict[int, int] = defaultdict(int)
        for group in groups:
            for feature in group.characteristic:
                self.rarity[feature] += 1
        self.index: dict[int, list[int]] = defaultdict(list)
        self.heap: list[tuple[float, tuple[int, int], tuple[int, int], int, int]] = []
        self.next_number = len(groups)
        for number in list(self.groups):
            self._enter(number)

    def closest(self) -> tuple[int, int] | None:
        """Numbers of the pair with the highest Jaccard that has not been asked for, ties by place."""
        while self.heap:
            *_, one, other = heappop(self.heap)
            if one in self.groups and other in self.groups:
                return one, other
        return None

    def replace(self, one: int, other: int, union: _Group) -> None:
        """Put the union of two in their place."""
        del self.groups[one], self.groups[other]
        self.groups[self.next_number] = union
        self.next_number += 1
        self._enter(self.next_number - 1)

    def left(self) -> list[_Group]:
        """The groups that remain."""
        return list(self.groups.values())

    def _enter(self, number: int) -> None:
        group = self.groups[number]
        mine = group.characteristic
        if len(mine) < LEAST_UNEQUAL:
            return
        ordered = sorted(mine, key=lambda feature: (self.rarity[feature], feature))
        prefix = ordered[: len(ordered) - ceil(JACCARD * len(ordered)) + 1]
        for candidate in sorted({known for feature in prefix for known in self.index[feature] if known in self.groups}):
            theirs = self.groups[candidate].characteristic
            if JACCARD * len(mine) <= len(theirs) <= len(mine) / JACCARD:
                shared = len(mine & theirs)
                overlap = shared / (len(mine) + len(theirs) - shared)
                if overlap >= JACCARD:
                    places = sorted((self.groups[candidate].place, group.place))
                    heappush(self.heap, (-overlap, places[0], places[1], candidate, number))
        for feature in prefix:
            self.index[feature].append(number)
