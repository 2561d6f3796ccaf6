"""Plain Python twins of the compiled loops over style trees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plain_hashing import mixed
from plain_nodes import nearest

_ALL_BITS = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_TEXT_LEAF = 0x5DEECE66D1CE4E5B
"""Marks the key of the `#text` leaf, which has all text directly inside an internal element."""
_L_SCALE = 1 << 32
OUTSIDE, INTERNAL, LEAF = range(3)
"""Kinds of nodes in a style tree: below its leaves or hidden, with element nodes below, a virtual leaf."""


def element_keys(
    parent: NDArray[np.int32],
    style: NDArray[np.uint64],
    alive: NDArray[np.bool_],
    leaf_height: int,
    least_height: int,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint8]]:
    """The place of each node in a style tree: key, child sequence, position, kind.

    The key of a node is a hash of the path to it: the presentation style (`sequence`, a hash of the children's styles)
    and the position at each level above. Nodes of different pages with one key are one element of the style tree. A
    node whose subtree is at most `leaf_height` levels high is a virtual leaf, one of less than `least_height` is no
    element; nodes that are not alive are ignored.
    """
    size = len(parent)
    height, sequence, position, children = [0] * size, [0] * size, [0] * size, [0] * size
    for i in range(size - 1, 0, -1):
        p = int(parent[i])
        if not 0 <= p < i:
            raise ValueError(f"node {i} has the parent {p}")
        if alive[i]:
            height[p] = max(height[p], height[i] + 1)
    for i in range(1, size):
        p = int(parent[i])
        if alive[i]:
            position[i] = children[p]
            children[p] += 1
            sequence[p] = mixed(sequence[p] * _GOLDEN + int(style[i]) & _ALL_BITS)
    key, kind = [1] + [0] * (size - 1), [INTERNAL] + [OUTSIDE] * (size - 1)
    for i in range(1, size):
        p = int(parent[i])
        if alive[i] and kind[p] == INTERNAL and height[i] >= least_height:
            kind[i] = LEAF if height[i] <= leaf_height else INTERNAL
            key[i] = mixed(mixed(key[p] ^ sequence[p]) + position[i] * 4 + kind[i] & _ALL_BITS)
    return (
        np.array(key, np.uint64),
        np.array(sequence, np.uint64),
        np.array(position, np.int32),
        np.array(kind, np.uint8),
    )


def leaves_around(
    parent: NDArray[np.int32], key: NDArray[np.uint64], kind: NDArray[np.uint8], owner: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """The leaf around each occurrence of a feature, given the node that has it: the leaf's node and its key.

    The leaf is the virtual leaf around the node, or the `#text` leaf of an internal element.
    """
    if len(key) != len(parent) or len(kind) != len(parent):
        raise ValueError("columns of different lengths")
    around: list[int] = []
    for i in range(len(parent)):
        p = int(parent[i])
        if kind[i] == OUTSIDE and not 0 <= p < i:
            raise ValueError(f"node {i} has the parent {p}")
        around.append(i if kind[i] != OUTSIDE else around[p])
    nodes: list[int] = []
    for node in owner.tolist():
        if not 0 <= node < len(parent):
            raise ValueError(f"no node {node} of a tree of {len(parent)}")
        nodes.append(around[node])
    keys = [mixed(int(key[node]) ^ _TEXT_LEAF) if kind[node] == INTERNAL else int(key[node]) for node in nodes]
    return np.array(nodes, np.int32), np.array(keys, np.uint64)


class StyleSums:
    """The sums of a style tree, page after page: elements, their styles, their features."""

    def __init__(self) -> None:
        self.elements: dict[int, tuple[int, int, int, int, int, int]] = {}
        self.m: Counter[int] = Counter()
        self.styles: Counter[tuple[int, int]] = Counter()
        self.df: Counter[tuple[int, int]] = Counter()
        self.total: Counter[tuple[int, int]] = Counter()
        self.entropy: Counter[tuple[int, int]] = Counter()

    def add(
        self,
        parent: NDArray[np.int32],
        style: NDArray[np.uint64],
        shape: NDArray[np.uint64],
        key: NDArray[np.uint64],
        sequence: NDArray[np.uint64],
        position: NDArray[np.int32],
        kind: NDArray[np.uint8],
        owner: NDArray[np.int32],
        feature: NDArray[np.uint64],
    ) -> None:
        """Add a page, cut by `element_keys`, with the occurrences of its features and their nodes.

        A leaf has the features of its subtree, the `#text` leaf of an internal element those directly inside. Each
        element above counts a feature once.
        """
        self._check(parent, (style, shape, key, sequence, position, kind), kind, owner, feature)
        keys, paths = key.tolist(), sequence.tolist()
        for i in np.flatnonzero(kind != OUTSIDE).tolist():
            p = int(parent[i])
            above = (keys[p], paths[p]) if i else (0, 0)
            self._add_element(keys[i], *above, int(style[i]), int(shape[i]), int(position[i]), int(kind[i]))
            if kind[i] == INTERNAL:
                self.styles[keys[i], paths[i]] += 1
        leaf_node = nearest(parent, kind != OUTSIDE)
        inside = Counter(zip(leaf_node[owner].tolist(), feature.tolist(), strict=True))
        for node in sorted({node for node, _ in inside if kind[node] == INTERNAL}):
            self._add_element(mixed(keys[node] ^ _TEXT_LEAF), keys[node], 0, 0, 0, -1, LEAF)
        held: set[tuple[int, int]] = set()
        for (node, name), f in inside.items():
            is_leaf = kind[node] == LEAF
            pair = (keys[node] if is_leaf else mixed(keys[node] ^ _TEXT_LEAF), name)
            self.df[pair] += 1
            self.total[pair] += f
            self.entropy[pair] += round(_L_SCALE * f * log2(f))
            i = int(parent[node]) if is_leaf else node
            while i >= 0:
                held.add((keys[i], name))
                i = int(parent[i])
        self.df.update(held)

    def _add_element(self, key: int, *row: int) -> None:
        self.elements.setdefault(key, row)  # type: ignore[arg-type]
        self.m[key] += 1

    @staticmethod
    def _check(
        parent: NDArray[np.int32],
        columns: tuple[NDArray[Any], ...],
        kind: NDArray[np.uint8],
        owner: NDArray[np.int32],
        feature: NDArray[np.uint64],
    ) -> None:
        size = len(parent)
        if not size or any(len(column) != size for column in columns) or len(owner) != len(feature):
            raise ValueError("columns of different lengths")
        if kind[0] != INTERNAL:
            raise ValueError("the root is no element")
        for i in range(1, size):
            p = int(parent[i])
            if not 0 <= p < i or (kind[i] != OUTSIDE and kind[p] != INTERNAL):
                raise ValueError(f"node {i} has the parent {p}")
        for node in owner.tolist():
            if not 0 <= node < size:
                raise ValueError(f"no node {node} of a tree of {size}")

    def element_columns(self) -> tuple[NDArray[Any], ...]:
        """Key, parent, path, style, shape, position, kind and m of each element, by key."""
        rows = [(key, *self.elements[key], self.m[key]) for key in sorted(self.elements)]
        return _columns(rows, (*[np.uint64] * 5, np.int32, np.uint8, np.int64))

    def style_columns(self) -> tuple[NDArray[Any], ...]:
        """Element, sequence and m of each style, by their pair key."""
        rows = [(*pair, self.styles[pair]) for pair in sorted(self.styles, key=_pair_key)]
        return _columns(rows, (np.uint64, np.uint64, np.int64))

    def feature_columns(self) -> tuple[NDArray[Any], ...]:
        """Element, feature, df, F and L of each pair of element and feature, by their pair key."""
        rows = [(*pair, self.df[pair], self.total[pair], self.entropy[pair]) for pair in sorted(self.df, key=_pair_key)]
        return _columns(rows, (np.uint64, np.uint64, np.int64, np.int64, np.int64))


class Pairs:
    """Pairs of keys, to find their rows."""

    def __init__(self, one: NDArray[np.uint64], other: NDArray[np.uint64]) -> None:
        self._rows: dict[tuple[int, int], int] = {}
        for row, pair in enumerate(_pairs(one, other)):
            self._rows.setdefault(pair, row)

    def rows(self, one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The row of each pair, -1 for a missing one."""
        return np.array([self._rows.get(pair, -1) for pair in _pairs(one, other)], np.int64)


def sums_by_key(key: NDArray[np.uint64], value: NDArray[np.float64]) -> tuple[NDArray[np.uint64], NDArray[np.float64]]:
    """Distinct keys, ascending, and the sum of the values of each, added in the order given."""
    if len(key) != len(value):
        raise ValueError("columns of different lengths")
    sums: dict[int, float] = {}
    for one, number in zip(key.tolist(), value.tolist(), strict=True):
        sums[one] = sums.get(one, 0.0) + number
    return np.array(sorted(sums), np.uint64), np.array([sums[one] for one in sorted(sums)], np.float64)


class Paths:
    """The paths of a finished tree, for mapping a page: (element, sequence, position, kind) to the child."""

    def __init__(
        self,
        element: NDArray[np.int64],
        sequence: NDArray[np.uint64],
        position: NDArray[np.int32],
        kind: NDArray[np.uint8],
        child: NDArray[np.int64],
    ) -> None:
        if len({len(element), len(sequence), len(position), len(kind), len(child)}) > 1:
            raise ValueError("columns of different lengths")
        places = zip(element.tolist(), sequence.tolist(), position.tolist(), kind.tolist(), strict=True)
        self._paths: dict[tuple[int, int, int, int], int] = dict(zip(places, child.tolist(), strict=True))

    def walk(
        self,
        parent: NDArray[np.int32],
        sequence: NDArray[np.uint64],
        position: NDArray[np.int32],
        kind: NDArray[np.uint8],
        held: NDArray[np.int32],
    ) -> NDArray[np.int32]:
        """The element of each node of a page; -1 where the page leaves the tree, and for nodes below its leaves.

        A node is taken for the element `held` for it, if that is -1 or more and its parent is in the tree; the others
        follow the paths.
        """
        size = len(parent)
        if not size or {len(sequence), len(position), len(kind), len(held)} != {size}:
            raise ValueError("columns of different lengths")
        found = [0] + [-1] * (size - 1)
        for i in range(1, size):
            p = int(parent[i])
            if not 0 <= p < i:
                raise ValueError(f"node {i} has the parent {p}")
            if kind[i] == OUTSIDE or found[p] < 0:
                continue
            if held[i] >= -1:
                found[i] = int(held[i])
            else:
                found[i] = self._paths.get((found[p], int(sequence[p]), int(position[i]), int(kind[i])), -1)
        return np.array(found, np.int32)


def _pairs(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> list[tuple[int, int]]:
    if len(one) != len(other):
        raise ValueError("columns of different lengths")
    return list(zip(one.tolist(), other.tolist(), strict=True))


def _pair_key(pair: tuple[int, int]) -> int:
    return mixed(mixed(pair[0]) ^ pair[1])


def _columns(rows: Sequence[tuple[int, ...]], kinds: tuple[type, ...]) -> tuple[NDArray[Any], ...]:
    return tuple(np.array([row[k] for row in rows], kind) for k, kind in enumerate(kinds))
