"""`webwinnow.page._nodes` in plain Python: slow and obvious; tests compare the compiled version with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from plain_hashing import ALL_BITS, GOLDEN, mixed


def nearest(parent: NDArray[np.int32], marked: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For each node of a preorder tree the nearest marked one of itself and its ancestors; -1 where there is none."""
    found = np.full(len(parent), -1, np.int32)
    for i in range(len(parent)):
        found[i] = i if marked[i] else found[parent[i]] if parent[i] >= 0 else -1
    return found


def cut_runs(
    tag: NDArray[np.uint16],
    parent: NDArray[np.int32],
    parts: NDArray[np.bool_],
    run_owner: NDArray[np.int32],
    run_before: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The first run of each block, and the number of runs; and the splitting element around each block.

    `parts` has, for the code of each tag, whether such nodes split the text before, inside and after them; its last
    entry is for all higher codes.
    """
    nodes = parts[np.minimum(tag, len(parts) - 1)]
    around = nearest(parent, nodes)[run_owner]
    opened = np.concatenate(([0], np.cumsum(nodes)))[run_before]
    starts = np.ones(len(run_owner), np.bool_)
    starts[1:] = (around[1:] != around[:-1]) | (opened[1:] != opened[:-1])
    first = np.flatnonzero(starts)
    return np.append(first, len(run_owner)).astype(np.int64), around[first]


def topmost(parent: NDArray[np.int32], marked: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For each node the highest marked one of itself and its ancestors, or -1. Parents come before children."""
    if len(marked) != len(parent):
        raise ValueError("columns of different lengths")
    found = np.full(len(parent), -1, np.int32)
    for i, up in enumerate(parent.tolist()):
        if 0 <= up < i:
            found[i] = found[up]
        if found[i] < 0 and marked[i]:
            found[i] = i
    return found


def path_keys(parent: NDArray[np.int32], style: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Two keys of each node's position: the styles from the root down to it, and its own and those of two ancestors.

    Neither depends on the order of siblings: all items of a list have the same keys.
    """
    if len(style) != len(parent):
        raise ValueError(f"{len(style)} styles for {len(parent)} nodes")
    up, own = parent.tolist(), style.tolist()
    whole: list[int] = []
    near: list[int] = []
    for i, p in enumerate(up):
        if p >= i:
            raise ValueError(f"node {i} has the parent {p}")
        g = up[p] if p >= 0 else -1
        whole.append(mixed((whole[p] * GOLDEN + own[i]) & ALL_BITS) if p >= 0 else 1)
        near.append(mixed(mixed(mixed(own[i]) ^ (own[p] if p >= 0 else 0)) ^ (own[g] if g >= 0 else 0)))
    return np.array(whole, np.uint64), np.array(near, np.uint64)


def kept_around(
    parent: NDArray[np.int32],
    run_owner: NDArray[np.int32],
    says: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    visible: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """The nodes with a kept run that is not blank, and visible ones without text inside such nodes."""
    if len(parent) != len(visible) or not len(says) == len(kept) == len(run_owner):
        raise ValueError("columns of different lengths")
    for i in np.flatnonzero(parent >= np.arange(len(parent))).tolist():
        raise ValueError(f"node {i} has the parent {parent[i]}")
    has_text, has_kept = (np.zeros(len(parent), np.bool_) for _ in range(2))
    for r in np.flatnonzero(says).tolist():
        node = int(run_owner[r])
        if not 0 <= node < len(parent):
            raise ValueError(f"run {r} is outside the tree")
        while node >= 0:
            has_text[node] = True
            has_kept[node] |= kept[r]
            node = int(parent[node])
    around = nearest(parent, has_text)
    inside: NDArray[np.bool_] = np.where(around >= 0, has_kept[around], False) & (visible | has_kept)
    return inside
