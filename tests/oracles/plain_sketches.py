"""MinHashes and clusters, in plain Python: the reference for the compiled version."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from plain_hashing import mixed

_GOLDEN, _ALL_BITS = 0x9E3779B97F4A7C15, (1 << 64) - 1


def lowest_shingles(words: NDArray[np.uint64], size: int, slot_bits: int) -> tuple[NDArray[np.uint64], int]:
    """The lowest shingle of each slot, all bits set in an empty one, and the number of different shingles.

    A shingle is the hash of `size` consecutive words, given by their hashes; fewer words are one shingle. Its first
    bits are the number of its slot.
    """
    if size < 1 or not 1 <= slot_bits <= 16:
        raise ValueError("expected shingles of one word or more, and 1 to 16 bits for the slots")
    hashes = words.tolist()
    size = min(size, len(hashes))
    lowest = [_ALL_BITS] * (1 << slot_bits)
    different = set()
    for k in range(len(hashes) - size + 1 if size else 0):
        value = hashes[k]
        for word in hashes[k + 1 : k + size]:
            value = (value * _GOLDEN + word) & _ALL_BITS
        value = mixed(value)
        different.add(value)
        slot = value >> (64 - slot_bits)
        lowest[slot] = min(lowest[slot], value)
    return np.array(lowest, np.uint64), len(different)


def lent_slots(lowest: NDArray[np.uint64], lenders: NDArray[np.int64]) -> NDArray[np.uint16]:
    """The last 16 bits of each slot's lowest shingle; an empty slot has those of the first of its lenders that has one.

    Zeros if all are empty.
    """
    if len(lenders) != len(lowest):
        raise ValueError("expected the lenders of each slot")
    is_empty = lowest == np.uint64(_ALL_BITS)
    found = np.where(is_empty, 0, lowest).astype(np.uint16)
    for slot in np.flatnonzero(is_empty).tolist():
        found[slot] = next((found[lender] for lender in lenders[slot].tolist() if not is_empty[lender]), 0)
    return found


def agreeing_slots(slots: NDArray[np.uint16], one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int32]:
    """The number of slots in which the members of each pair agree; a row of `slots` is a member."""
    if len(one) != len(other):
        raise ValueError("pairs of different length")
    if any(len(side) and not (side.min() >= 0 and side.max() < len(slots)) for side in (one, other)):
        raise ValueError("no such member")
    agree: NDArray[np.int32] = (slots[one] == slots[other]).sum(axis=1, dtype=np.int32)
    return agree


def unite(parent: NDArray[np.int64], one: NDArray[np.int64], other: NDArray[np.int64]) -> None:
    """Join the clusters of each pair, in place: `parent` names for each member the first of its cluster.

    The clusters do not depend on the order of the pairs.
    """
    if len(one) != len(other):
        raise ValueError("pairs of different length")
    if np.any(parent < 0) or np.any(parent > np.arange(len(parent))):
        raise ValueError("the parent of a member is an earlier member or itself")
    if any(len(side) and not (side.min() >= 0 and side.max() < len(parent)) for side in (one, other)):
        raise ValueError("no such member")
    parents = parent.tolist()

    def root_of(k: int) -> int:
        while parents[k] != k:
            parents[k] = parents[parents[k]]
            k = parents[k]
        return k

    for a, b in zip(one.tolist(), other.tolist(), strict=True):
        first, second = root_of(a), root_of(b)
        parents[max(first, second)] = min(first, second)
    for k, above in enumerate(parents):
        parents[k] = parents[above]
    parent[:] = parents
