"""Finish a raw style tree: fold style nodes and join similar elements (thesis 4.2.5, 4.3.1 step 3).

Top-down, once, deterministic. Elements at the same position of the same style of the same (joined) element are one.
Then, below one element, elements of the same tag and attributes whose characteristic features (freq >= gamma) have a
Jaccard index of at least lambda are joined, highest first, ties by place. The SST's enhancement 1 never puts two tag
nodes of one page into one element; step 3 of the CST may.
`alignedtree` has our variant of the SST, which aligns sequences of children first.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import ModelError
from webwinnow.site._mapping import grouped
from webwinnow.site._styles import Pairs
from webwinnow.site.styletree import INTERNAL, LEAF, ROOT_KEY, Counts, Cut, Keys, StyleTree
from webwinnow.storage.modelfile import ArrayTable, Column

ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSettings:
    """When elements are joined (thesis 4.2.5, enhancement 1; 4.3.1, step 3).

    `gamma`: a feature of at least this share of an element's tag nodes is characteristic. `overlap`, the thesis's
    lambda: elements whose characteristic features have at least this Jaccard index are joined.
    """

    gamma: float = 0.85
    overlap: float = 0.85


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteTree(ArrayTable):
    """A finished tree; parents are before their children, and 0 is the root.

    `path_` leads down: (element, sequence, position) to the child; a `#text` leaf is at (element, 0, -1). Features are
    those of the leaves.
    """

    NOT_STORED = ("cut", "pages", "threshold")

    cut: Cut
    pages: int
    threshold: float | None = None
    """The importance up to which an element is noise; None for a tree that marks none."""
    parent: Annotated[NDArray[np.int32], Column(index="rows", least=-1, before=True)]
    style: Keys
    shape: Keys
    kind: Annotated[NDArray[np.uint8], Column(least=INTERNAL, most=LEAF)]
    m: Annotated[Counts, Column(least=1)]
    style_element: Annotated[NDArray[np.int64], Column("styles", index="rows")]
    style_sequence: Annotated[Keys, Column("styles")]
    style_count: Annotated[Counts, Column("styles", least=1)]
    path_element: Annotated[NDArray[np.int64], Column("paths", index="rows")]
    path_sequence: Annotated[Keys, Column("paths")]
    path_position: Annotated[NDArray[np.int32], Column("paths")]
    path_child: Annotated[NDArray[np.int64], Column("paths", index="rows")]
    feature_element: Annotated[NDArray[np.int64], Column("features", index="rows")]
    feature: Annotated[Keys, Column("features")]
    df: Annotated[Counts, Column("features", least=1)]
    total: Annotated[Counts, Column("features", least=1)]
    entropy_sum: Annotated[Counts, Column("features", least=0)]

    def __len__(self) -> int:
        return len(self.parent)


Rows = dict[int, dict[int, list[int]]]
"""The raw children of an element by sequence and position."""
Slot = tuple[tuple[int, int], list[int]]
"""A place below an element, as (sequence, position), and the raw elements there."""


@dataclass(slots=True)
class _Group:
    """Raw elements that are one element of the finished tree."""

    members: list[int]
    style: int
    shape: int
    kind: int
    place: tuple[int, int]
    """Sequence and position of the first, for order and ties."""
    m: int
    sequences: frozenset[int]
    features: dict[int, int] = field(default_factory=dict)
    """df by feature, filled when the group may be joined."""
    characteristic: frozenset[int] = frozenset()


def finish(tree: StyleTree, joins: JoinSettings | None = None) -> SiteTree:
    """Finish a raw tree by the rules of its cut (`SST_CUT`, `CST_CUT`)."""
    return Finisher(tree, joins).finished()


class Finisher:
    """Finishes a raw tree, element by element."""

    def __init__(self, tree: StyleTree, joins: JoinSettings | None = None) -> None:
        self.tree = tree
        self.joins = joins or JoinSettings()
        self.one_per_page = tree.cut.one_per_page
        self.at = {key: i for i, key in enumerate(tree.key.tolist())}
        self.children: dict[int, list[int]] = defaultdict(list)
        for i, parent in enumerate(tree.parent.tolist()):
            if parent:
                self.children[parent].append(i)
        self.raw = Pairs(tree.key, np.zeros(len(tree.key), np.uint64))
        element = self.element = self._raw_elements(tree.feature_element)
        self.order, self.bounds = grouped(element, len(tree.key))
        self.keys: list[int] = tree.key.tolist()
        self.styles: list[int] = tree.style.tolist()
        self.shapes: list[int] = tree.shape.tolist()
        self.sequences: list[int] = tree.sequence.tolist()
        self.positions: list[int] = tree.position.tolist()
        self.kinds: list[int] = tree.kind.tolist()
        self.m: list[int] = tree.m.tolist()

    def _raw_elements(self, keys: Keys) -> NDArray[np.int64]:
        return self.raw.rows(keys, np.zeros(len(keys), np.uint64))

    def finished(self) -> SiteTree:
        group_of = np.full(len(self.keys), -1, np.int64)
        parents, groups = [-1], [self._group([self.at[int(ROOT_KEY)]], (0, 0))]
        next_group = 0
        while next_group < len(groups):
            group_of[groups[next_group].members] = next_group
            if groups[next_group].kind == INTERNAL:
                children = self._children_of(groups[next_group])
                parents += [next_group] * len(children)
                groups += children
            next_group += 1
        if np.any(group_of < 0):
            raise ModelError("a raw style tree has elements that its root does not lead to; learn the site again")
        return self._columns(group_of, parents, groups)

    def _group(self, members: list[int], place: tuple[int, int]) -> _Group:
        """Raw elements of one kind as one element with the style of the first."""
        first, sequences = members[0], frozenset(self.sequences[i] for i in members)
        m = sum(self.m[i] for i in members)
        return _Group(members, self.styles[first], self.shapes[first], self.kinds[first], place, m, sequences)

    def _children_of(self, group: _Group) -> list[_Group]:
        rows: Rows = defaultdict(lambda: defaultdict(list))
        for member in group.members:
            for i in self.children[self.keys[member]]:
                rows[self.sequences[i]][self.positions[i]].append(i)
        alike: dict[tuple[int, int], list[_Group]] = defaultdict(list)
        for place, members in self._slots(rows):
            for kind in sorted({self.kinds[i] for i in members}):
                found = self._group([i for i in members if self.kinds[i] == kind], place)
                alike[found.style, found.kind].append(found)
        joined = [one for key in sorted(alike) for one in self._joined(alike[key])]
        return sorted(joined, key=lambda one: (one.place[1], one.place[0], one.kind, one.style))

    def _slots(self, rows: Rows) -> list[Slot]:
        """Children by their position in their own sequence, as published."""
        return [
            ((sequence, position), rows[sequence][position])
            for sequence in sorted(rows)
            for position in sorted(rows[sequence])
        ]

    def _joined(self, groups: list[_Group]) -> list[_Group]:
        """Join similar groups of one tag and attributes, until no two are similar."""
        if len(groups) == 1 or (self.one_per_page and frozenset.intersection(*(group.sequences for group in groups))):
            return groups
        for group in groups:
            self._characterise(group)
        groups = self._join_equal(groups)
        alike = _Similar(groups, self.joins.overlap)
        while (pair := alike.closest()) is not None:
            one, other = alike.groups[pair[0]], alike.groups[pair[1]]
            if self._may_join(one, other):
                alike.replace(*pair, self._union(one, other))
        return alike.left()

    def _join_equal(self, groups: list[_Group]) -> list[_Group]:
        """Join groups with equal characteristic features, which the union has again."""
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
        """In the SST, elements of one style node are on the same pages and may not be joined."""
        return not self.one_per_page or not one.sequences & other.sequences

    def _characterise(self, group: _Group) -> None:
        features: dict[int, int] = {}
        for member in group.members:
            rows = self.order[self.bounds[member] : self.bounds[member + 1]]
            for feature, df in zip(self.tree.feature[rows].tolist(), self.tree.df[rows].tolist(), strict=True):
                features[feature] = features.get(feature, 0) + df
        group.features = features
        least = self.joins.gamma * group.m
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
            first.shape,
            first.kind,
            first.place,
            m,
            first.sequences | second.sequences,
            features,
            frozenset(feature for feature, df in features.items() if df >= self.joins.gamma * m),
        )

    def _columns(self, group_of: NDArray[np.int64], parents: list[int], groups: list[_Group]) -> SiteTree:
        tree = self.tree
        below = np.flatnonzero(tree.parent != 0)
        paths = _distinct(
            group_of[self._raw_elements(tree.parent[below])],
            tree.sequence[below],
            tree.position[below],
            group_of[below],
        )
        style_element, style_sequence, (style_count,) = _summed(
            group_of[self._raw_elements(tree.style_element)], tree.style_sequence, [tree.style_m]
        )
        at_leaf = tree.total > 0
        feature_element, feature, (df, total, entropy_sum) = _summed(
            group_of[self.element[at_leaf]],
            tree.feature[at_leaf],
            [tree.df[at_leaf], tree.total[at_leaf], tree.entropy_sum[at_leaf]],
        )
        return SiteTree(
            cut=tree.cut,
            pages=len(tree.pages),
            parent=np.array(parents, np.int32),
            style=np.array([group.style for group in groups], np.uint64),
            shape=np.array([group.shape for group in groups], np.uint64),
            kind=np.array([group.kind for group in groups], np.uint8),
            m=np.array([group.m for group in groups], np.int64),
            style_element=style_element,
            style_sequence=style_sequence,
            style_count=style_count,
            path_element=paths[0],
            path_sequence=paths[1],
            path_position=paths[2],
            path_child=paths[3],
            feature_element=feature_element,
            feature=feature,
            df=df,
            total=total,
            entropy_sum=entropy_sum,
        )


def _distinct(*columns: NDArray[Any]) -> list[NDArray[Any]]:
    """The distinct rows of a table, sorted."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    first = np.ones(len(order), np.bool_)
    first[1:] = np.any([column[1:] != column[:-1] for column in ordered], axis=0)
    return [column[first] for column in ordered]


def _summed(element: NDArray[np.int64], key: Keys, sums: list[Counts]) -> tuple[NDArray[np.int64], Keys, list[Counts]]:
    """Rows sorted by (element, key), equal ones added up."""
    if not len(element):
        return element, key, sums
    order = np.lexsort((key, element))
    element, key = element[order], key[order]
    first = np.flatnonzero(np.concatenate(([True], (element[1:] != element[:-1]) | (key[1:] != key[:-1]))))
    return element[first], key[first], [np.add.reduceat(column[order], first) for column in sums]


class _Similar:
    """Finds the most similar pair of sets by an index of their rarest features (prefix filtering).

    Two sets with a Jaccard index of at least t share one of the first |s| - ceil(t |s|) + 1 features of each, in any
    order of all features; rare ones first keep the lists short.
    """

    def __init__(self, groups: list[_Group], overlap: float) -> None:
        self.groups = dict(enumerate(groups))
        self.overlap = overlap
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
        """Numbers of the next pair by descending Jaccard index, ties by place."""
        while self.heap:
            *_, one, other = heappop(self.heap)
            if one in self.groups and other in self.groups:
                return one, other
        return None

    def replace(self, one: int, other: int, union: _Group) -> None:
        del self.groups[one], self.groups[other]
        self.groups[self.next_number] = union
        self.next_number += 1
        self._enter(self.next_number - 1, is_union=True)

    def left(self) -> list[_Group]:
        return list(self.groups.values())

    def _enter(self, number: int, *, is_union: bool = False) -> None:
        mine = self.groups[number].characteristic
        ordered = sorted(mine, key=lambda feature: (self.rarity[feature], feature))
        prefix = ordered[: len(ordered) - ceil(self.overlap * len(ordered) - ROUNDING) + 1]
        if is_union or len(mine) >= self.overlap * (len(mine) + 1):  # smaller sets are equal to others or not similar
            self._compare(number, {known for feature in prefix for known in self.index[feature]})
        for feature in prefix:
            self.index[feature].append(number)

    def _compare(self, number: int, candidates: set[int]) -> None:
        """Queue the pairs of a group with those of the candidates that are similar."""
        group = self.groups[number]
        mine = group.characteristic
        for candidate in sorted(candidates & self.groups.keys()):
            theirs = self.groups[candidate].characteristic
            if self.overlap * len(mine) <= len(theirs) and self.overlap * len(theirs) <= len(mine):
                shared = len(mine & theirs)
                jaccard = shared / (len(mine) + len(theirs) - shared)
                if jaccard >= self.overlap:
                    places = sorted((self.groups[candidate].place, group.place))
                    heappush(self.heap, (-jaccard, places[0], places[1], candidate, number))
