"""Clusters of similar pages from their sketches, without comparing every page with every other.

Equal texts are joined by sorting. Of the rest, pages that agree in a whole band of slots (Leskovec, Rajaraman and
Ullman, Mining of Massive Datasets, 3.4) are neighbours when the bands are sorted; each is compared with the one before
it and with the first of this band, so a band costs at most n log n, however many pages share it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from webwinnow.replicas._sketches import agreeing_slots, unite
from webwinnow.replicas.sketches import SLOTS, ReplicaSettings, Sketches

ROWS: Final = 3
"""Slots in a band: two pages that agree in half of their slots meet in one of 42 bands with probability 0.996."""
BANDS: Final = SLOTS // ROWS
KEY_BYTES: Final = 256_000_000
"""Memory for the keys of bands; more pages take more passes."""
CHUNK: Final = 1 << 15
"""Sketches that are compared at once."""
LEAST_SHARE: Final = 0.4
"""A page is not a replica of one with more than 2.5 times as much text, even if that contains all of it."""
GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: products with it are spread over all bits (Fibonacci hashing)."""
_INDEX_BITS, _INDEX = np.uint64(32), np.uint64(0xFFFFFFFF)

Places = NDArray[np.int64]


def joined(sketches: Sketches, settings: ReplicaSettings) -> Places:
    """For each page the first page of its cluster; a page without a fingerprint is a cluster by itself."""
    first = np.arange(len(sketches), dtype=np.int64)
    different = _join_equal(sketches, first)
    if settings.method == "modern":
        for keys in _band_keys(sketches, different):
            one, other = _neighbours(keys)
            _join_alike(sketches, settings, first, different[one], different[other])
    return first


def _join_equal(sketches: Sketches, first: Places) -> Places:
    """Join pages with equal text; return one page for each text, in an order independent of the input's."""
    exact, *traits = (np.ascontiguousarray(sketches[name]) for name in ("exact", "site", "title", "address"))
    order = np.lexsort((*traits, exact))
    order = order[np.searchsorted(exact, 1, sorter=order) :]
    is_same = exact[order[1:]] == exact[order[:-1]]
    unite(first, order[:-1][is_same], order[1:][is_same])
    return order[np.append(True, ~is_same)] if len(order) else order


def _band_keys(sketches: Sketches, wanted: Places) -> Iterator[NDArray[np.uint32]]:
    """For each band a key of each wanted page; as many bands at a time as fit into `KEY_BYTES`."""
    in_file_order = np.argsort(wanted)
    at_once = max(1, min(BANDS, KEY_BYTES // (4 * max(1, len(wanted)))))
    for band in range(0, BANDS, at_once):
        bands = range(band, min(band + at_once, BANDS))
        keys = np.empty((len(bands), len(wanted)), np.uint32)
        for start in range(0, len(wanted), CHUNK):
            part = in_file_order[start : start + CHUNK]
            slots = sketches["slots"][wanted[part], bands[0] * ROWS : (bands[-1] + 1) * ROWS].astype(np.uint64)
            joint = slots[:, ::ROWS]
            for row in range(1, ROWS):
                joint = joint << np.uint64(16) | slots[:, row::ROWS]
            keys[:, part] = (joint * GOLDEN >> np.uint64(32)).T
        yield from keys


def _neighbours(keys: NDArray[np.uint32]) -> tuple[Places, Places]:
    """Pairs of indexes with the same key: each with the one before it, and with the first."""
    packed = keys.astype(np.uint64) << _INDEX_BITS | np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    is_same = packed[1:] >> _INDEX_BITS == packed[:-1] >> _INDEX_BITS
    starts = np.append(True, ~is_same) if len(packed) else np.zeros(0, np.bool_)
    start = np.maximum.accumulate(np.where(starts, np.arange(len(packed)), 0))
    place = (packed & _INDEX).astype(np.int64)
    again = np.flatnonzero(is_same) + 1
    far = again[again - start[again] > 1]
    return (np.concatenate([place[again - 1], place[start[far]]]), np.concatenate([place[again], place[far]]))


def _join_alike(sketches: Sketches, settings: ReplicaSettings, first: Places, one: Places, other: Places) -> None:
    """Join the similar pairs that are not yet in one cluster."""
    for start in range(0, len(one), CHUNK):
        a, b = one[start : start + CHUNK], other[start : start + CHUNK]
        apart = first[a] != first[b]
        a, b = a[apart], b[apart]
        found = alike(sketches, a, b, settings)
        if found.any():
            unite(first, a[found], b[found])


def alike(
    sketches: Sketches, one: Places, other: Places, settings: ReplicaSettings, *, slack: float = 0.0
) -> NDArray[np.bool_]:
    """Whether the pages of each pair are replicas; `slack` lowers the threshold."""
    found, titles_differ = similarity_of(sketches, one, other)
    wanted = np.where(titles_differ, settings.titles_apart, settings.threshold) - slack
    are: NDArray[np.bool_] = found >= wanted
    return are


def similarity_of(sketches: Sketches, one: Places, other: Places) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The similarity of the pages of each pair, 0 to 1, and whether they are on one site under different titles.

    It is the share of the shorter page's shingles that the longer one has too, since boilerplate that cleaning leaves
    makes a page longer, not different; but 0 where one is much shorter. Under different titles it is the Jaccard index,
    since the additional text may be what matters.
    """
    exact, site, title = (_both(sketches, name, one, other) for name in ("exact", "site", "title"))
    is_equal = (exact[0] == exact[1]) & (exact[0] != 0)
    titles_differ = (site[0] == site[1]) & (title[0] != title[1]) & (title != 0).all(axis=0) & ~is_equal
    if "slots" not in (sketches.dtype.names or ()):
        return is_equal.astype(np.float64), titles_differ
    jaccard = agreeing_slots(sketches["slots"], one, other) / SLOTS
    sizes = _both(sketches, "shingles", one, other).astype(np.float64)
    shorter, longer = np.maximum(sizes.min(axis=0), 1), sizes.max(axis=0)
    common = jaccard / (1 + jaccard) * (shorter + longer)
    share = np.minimum(common / shorter, 1.0)
    share[shorter < LEAST_SHARE * longer] = 0.0
    found = np.where(titles_differ, jaccard, share)
    found[(exact == 0).any(axis=0)] = 0.0
    found[is_equal] = 1.0
    return found, titles_differ


def _both(sketches: Sketches, name: str, one: Places, other: Places) -> NDArray[Any]:
    column = sketches[name]
    return np.stack([column[one], column[other]])
