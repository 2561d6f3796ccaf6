"""Which blocks of a page are main content: the words of its blocks aligned with the true text, or true segments."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

__all__ = ["block_labels", "segment_labels"]

SHINGLE = 3
"""Length of a shingle that page and truth must share for its words to be aligned: single words match anywhere."""
WHOLE = 0.8
"""Share of a block's words that the truth must contain, if the ordered alignment skipped the block."""
LONG = 8
"""Least number of words of a block that is more than a title."""
SHORT_SEGMENT = 12
"""A segment of fewer letters is found only where it is most of a block, or if the page has it once."""
MOST_PLACES = 3
"""A segment in more places shows nothing about any of them."""
NEIGHBOURS = 7
"""Window of blocks around a short one, itself included; two of them must be content."""


def block_labels(blocks: list[list[str]], truth: list[str]) -> NDArray[np.float32]:
    """For each block the share of its words that the alignment finds in the true text.

    Words in shingles that page and truth share are aligned in order (longest common subsequence). Blocks that the
    ordered alignment skips but whose words the truth contains count whole, and so do short ones between aligned ones.
    """
    page = [word for block in blocks for word in block]
    of_block = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    matched, used = np.zeros(len(page), np.bool_), np.zeros(len(truth), np.bool_)
    on_page, in_truth = _shingled(page, _shingles(truth)), _shingled(truth, _shingles(page))
    _align(page, truth, on_page, in_truth, matched, used)
    left = Counter(truth[k] for k in np.flatnonzero(~used).tolist())
    bounds = np.searchsorted(of_block, np.arange(len(blocks) + 1)).tolist()
    spans = [(a, b) for a, b in pairwise(bounds) if b > a]
    for a, b in spans:
        if matched[a:b].mean() < 0.5 and on_page[a:b].sum() >= max(SHINGLE, WHOLE * (b - a)):
            wanted = Counter(page[a:b])
            if sum(min(count, left[word]) for word, count in wanted.items()) >= WHOLE * (b - a):
                left -= wanted
                matched[a:b] = True
    content = np.array([matched[a:b].mean() >= 0.5 for a, b in spans], np.float64)
    near = np.convolve(content, np.ones(NEIGHBOURS), "same") if len(spans) >= NEIGHBOURS else content
    for (a, b), is_content, vouched in zip(spans, content.tolist(), near.tolist(), strict=True):
        if not is_content and vouched >= 2:
            wanted = Counter(page[a:b])
            if all(left[word] >= count for word, count in wanted.items()):
                left -= wanted
                matched[a:b] = True
    _to_the_first(page, spans, matched)
    sizes = np.maximum(np.bincount(of_block, minlength=len(blocks)), 1)
    return (np.bincount(of_block, weights=matched, minlength=len(blocks)) / sizes).astype(np.float32)


def segment_labels(blocks: list[str], wanted: list[str], unwanted: list[str]) -> NDArray[np.float32]:
    """For each block 1 if it is in a wanted segment, 0 if in an unwanted one, NaN if in none.

    Blocks and segments are compared on their letters and digits alone (`blocks` and segments contain nothing else).
    """
    page = "".join(blocks)
    start = np.cumsum([0, *map(len, blocks)])
    label = np.full(len(blocks), np.nan, np.float32)
    for segments, value in ((unwanted, 0.0), (wanted, 1.0)):
        for segment in segments:
            places = _places(page, segment)
            if not 0 < len(places) <= MOST_PLACES:
                continue
            for a in places:
                first, last = np.searchsorted(start, [a, a + len(segment) - 1], side="right") - 1
                for b in range(first, last + 1):
                    shared = min(start[b + 1], a + len(segment)) - max(start[b], a)
                    most = shared >= 0.5 * (start[b + 1] - start[b])
                    if most or (first == last and (len(segment) >= SHORT_SEGMENT or len(places) == 1)):
                        label[b] = value
    return label


def _places(page: str, segment: str) -> list[int]:
    """Where a text has a segment, up to one more place than `MOST_PLACES`."""
    places: list[int] = []
    at = page.find(segment) if segment else -1
    while at >= 0 and len(places) <= MOST_PLACES:
        places.append(at)
        at = page.find(segment, at + 1)
    return places


def _to_the_first(page: list[str], spans: list[tuple[int, int]], matched: NDArray[np.bool_]) -> None:
    """Of long blocks with equal text, where the truth has fewer, label the first ones as content.

    Alignment picks any of them; a rule that is the same on all pages can be learned. Short blocks are unchanged: a
    title is also in the breadcrumb above the content.
    """
    equal: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for a, b in spans:
        if b - a >= LONG:
            equal.setdefault(tuple(page[a:b]), []).append((a, b))
    for copies in equal.values():
        content = sum(matched[a:b].mean() >= 0.5 for a, b in copies)
        if 0 < content < len(copies):
            for k, (a, b) in enumerate(copies):
                matched[a:b] = k < content


def _shingles(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[k : k + SHINGLE]) for k in range(len(words) - SHINGLE + 1)}


def _shingled(words: list[str], known: set[tuple[str, ...]]) -> NDArray[np.bool_]:
    """Which words are in a shingle of `known`."""
    inside = np.zeros(len(words), np.bool_)
    for k in range(len(words) - SHINGLE + 1):
        if tuple(words[k : k + SHINGLE]) in known:
            inside[k : k + SHINGLE] = True
    return inside


def _align(
    page: list[str],
    truth: list[str],
    on_page: NDArray[np.bool_],
    in_truth: NDArray[np.bool_],
    matched: NDArray[np.bool_],
    used: NDArray[np.bool_],
) -> None:
    at, there = np.flatnonzero(on_page), np.flatnonzero(in_truth)
    if not len(at) or not len(there):
        return
    for operation in LCSseq.opcodes([page[k] for k in at], [truth[k] for k in there]):
        if operation.tag == "equal":
            matched[at[operation.src_start : operation.src_end]] = True
            used[there[operation.dest_start : operation.dest_end]] = True
