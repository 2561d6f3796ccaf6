"""Fingerprints of a page's text: an exact one, and one that small edits change little.

Both depend only on the text that a mask keeps, so pages that differ in markup, white space or case are equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128_hexdigest

from webwinnow.page._words import folded_text
from webwinnow.page.blocks import splitting_nodes, text_of_runs
from webwinnow.page.tree import PageTree
from webwinnow.page.words import shingles, words

SHINGLE_WORDS = 4
"""Words in a shingle of `near`. Ours, untuned; `webwinnow.replicas` has its own, measured on labelled replicas."""
BITS = 64

_BIT = np.arange(BITS, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`exact` is equal for equal text, ignoring white space and case; `near`, a SimHash, is close for similar pages."""

    exact: str
    near: int


def fingerprint(tree: PageTree, keep: NDArray[np.bool_] | None = None) -> Fingerprint:
    """The fingerprint of the kept text of a page, by default of all visible text."""
    mask = tree.visible if keep is None else keep
    text = text_of_runs(tree, mask[tree.run_owner])
    exact = xxh3_128_hexdigest(" ".join(text.casefold().split()).encode("utf-8", "replace"))
    return Fingerprint(exact, simhash(shingles(words(text), SHINGLE_WORDS)))


def exact_fingerprint(tree: PageTree, keep: NDArray[np.bool_] | None = None) -> str:
    """Only the `exact` part of a fingerprint, many times faster."""
    kept = tree.visible if keep is None else keep
    runs = (tree.run_start, tree.run_owner, tree.run_before, kept[tree.run_owner])
    return xxh3_128_hexdigest(folded_text(tree.text, *runs, tree.parent, splitting_nodes(tree)))


def simhash(features: NDArray[np.uint64]) -> int:
    """Charikar's (2002) SimHash: bit b is set when more distinct features have it set than not."""
    distinct = np.unique(features)
    if not len(distinct):
        return 0
    ones = ((distinct[:, None] >> _BIT) & np.uint64(1)).sum(axis=0, dtype=np.int64)
    return int(((ones * 2 > len(distinct)).astype(np.uint64) << _BIT).sum())


def distance(one: int, other: int) -> int:
    """In how many bits two `near` fingerprints differ."""
    return (one ^ other).bit_count()


def page_fingerprint(tree: PageTree) -> int:
    """64 bits of a page's exact fingerprint."""
    return short_fingerprint(exact_fingerprint(tree))


def short_fingerprint(exact: str) -> int:
    """The first 64 bits of an exact fingerprint."""
    return int(exact[:16], 16)
