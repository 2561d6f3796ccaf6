"""`Reading`: a page read once into counts, tokens and places, and the page model's features."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow._nodes import nearest
from webwinnow.blocks import Blocks, cut
from webwinnow.markup import ATTRIBUTE_CODE, CUSTOM_TAG, TAG_CODE
from webwinnow.pagemodel import _scoring
from webwinnow.pagemodel.featureschema import COUNTS, MARK, WORD_BITS
from webwinnow.pagetree import Head, PageTree

GENRES: tuple[str, ...] = tuple("article collection documentation forum listing product service".split())
HEAD_BITS, HEADING_BITS = 12, 14
"""Bits that tokens of the head, and the words of headings, are hashed into."""
LINEAR_SCALE = 4096.0
"""Weights of the linear models are integers over this."""
_WORDS = COUNTS.index("words")
_NAMING = np.zeros(256, np.bool_)
_NAMING[[ATTRIBUTE_CODE[name] for name in ("class", "id", "role", "itemprop", "itemtype")]] = True
_LEVEL = np.zeros(CUSTOM_TAG + 1, np.uint8)
for _level in range(1, 7):
    _LEVEL[TAG_CODE[f"h{_level}"]] = _level
_TYPE = re.compile(r'"@type"\s*:\s*"([\w:/.]{1,40})"')
_SUMMARIES = re.compile(r'"(?:description|articleBody|text|reviewBody)"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_NO_SHINGLES = np.zeros(0, np.uint8)
_GENRE_METAS = frozenset(("og:type", "generator", "twitter:card", "application-name"))
_LETTERS = re.compile(r"[a-z.]+")
_LONGEST_META = 60
"""Characters of a meta that are read for the genre."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """A page read for the model; row k of an array over blocks is the k-th with text, `said[k]` of `blocks`.

    `places` and `group` are what `_scoring.outline` gives, `heading[k]` is the row of the last heading before (-1 for
    none), `near[k]` the innermost element around the block's first run.
    """

    blocks: Blocks
    said: NDArray[np.int32]
    owner: NDArray[np.int32]
    near: NDArray[np.int32]
    counts: NDArray[np.int32]
    text_key: NDArray[np.uint64]
    level: NDArray[np.uint8]
    heading: NDArray[np.int64]
    group: NDArray[np.int32]
    places: NDArray[np.int32]
    marks: NDArray[np.uint32]
    word_ids: NDArray[np.int32]
    word_offsets: NDArray[np.int32]
    node_ids: NDArray[np.int32]
    node_offsets: NDArray[np.int32]

    @property
    def words(self) -> NDArray[np.int32]:
        """Words of each block."""
        return self.counts[:, _WORDS]


def read(tree: PageTree, blocks: Blocks | None = None) -> Reading:
    """Read a page, once over its text and once over its class names. No weights are needed."""
    blocks = cut(tree) if blocks is None else blocks
    marks = _scoring.node_marks(tree.tag, tree.parent)
    run_marks = marks[tree.run_owner]
    summaries = _summaries(tree.head)
    said, counts, text_key, word_ids, word_offsets = _scoring.block_words(
        tree.text,
        tree.run_start,
        blocks.first_run,
        (run_marks & MARK["link"]) != 0,
        (run_marks & MARK["strong"]) != 0,
        _scoring.word_keys(tree.head.title),
        _scoring.word_keys(_description(tree.head)),
        _scoring.shingle_map(summaries) if summaries else _NO_SHINGLES,
    )
    owner = blocks.owner[said]
    first_runs = blocks.first_run[said]
    places, group = _scoring.outline(
        tree.parent, tree.style, tree.text_start, tree.text_end, owner, tree.run_start[first_runs]
    )
    node_ids, node_offsets = _scoring.node_tokens(
        tree.tag, tree.attr_node, _NAMING[tree.attr_name], tree.attr_start, tree.attr_text
    )
    node_level = _LEVEL[np.minimum(tree.tag, CUSTOM_TAG)]
    heads = nearest(tree.parent, node_level > 0)[owner]
    level = np.where(heads >= 0, node_level[heads], 0).astype(np.uint8)
    heading = np.full(len(said), -1, np.int64)
    heading[1:] = np.maximum.accumulate(np.where(level > 0, np.arange(len(said)), -1))[:-1]
    return Reading(
        blocks=blocks,
        said=said,
        owner=owner,
        near=tree.run_owner[first_runs],
        counts=counts,
        text_key=text_key,
        level=level,
        heading=heading,
        group=group,
        places=places,
        marks=marks,
        word_ids=word_ids,
        word_offsets=word_offsets,
        node_ids=node_ids,
        node_offsets=node_offsets,
    )


def _description(head: Head) -> str:
    """The page's own summary."""
    return head.meta("description", "og:description", "dc.description", "twitter:description") or ""


def _summaries(head: Head) -> str:
    """The summaries of the content in the head: its description, and the longer texts of its JSON-LD."""
    texts = [_description(head), *(text for script in head.json_ld for text in _SUMMARIES.findall(script))]
    return "\n".join(texts).strip()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linear:
    """A linear model over hashed tokens, by their place: the block's words, the names of its own elements, of the two
    elements around them, of those further out, and the words of the heading before.
    """

    words: NDArray[np.int16]
    near: NDArray[np.int16]
    mid: NDArray[np.int16]
    far: NDArray[np.int16]
    heading: NDArray[np.int16]
    bias: float


def linear_scores(reading: Reading, linear: Linear) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Five rows (all, words, near, mid, far) of the linear model's scores of each block, and its score as a heading.

    The tokens of each part weigh 1 / sqrt(their number).
    """
    word_root = np.sqrt(np.maximum(np.diff(reading.word_offsets), 1))
    scores = np.empty((5, len(reading.owner)))
    scores[1] = _scoring.token_sums(reading.word_ids, reading.word_offsets, linear.words) / word_root
    scores[2:] = name_scores(reading, linear.near, linear.mid, linear.far)
    heading_ids = reading.word_ids >> (WORD_BITS - HEADING_BITS)
    heading = _scoring.token_sums(heading_ids, reading.word_offsets, linear.heading) / word_root
    scores[0] = scores[1] + scores[2] + scores[3] + scores[4]
    if len(heading):
        scores[0] += np.where(reading.heading >= 0, heading[reading.heading], 0.0)
    scores /= LINEAR_SCALE
    scores[0] += linear.bias
    return scores, heading / LINEAR_SCALE


def name_scores(
    reading: Reading, near: NDArray[np.int16], mid: NDArray[np.int16], far: NDArray[np.int16]
) -> NDArray[np.float64]:
    """Three rows of scores of the names around each block: of its own elements, of the two around them, of those
    further out. The tokens of each part weigh 1 / sqrt(their number).
    """
    parent, owner = reading.blocks.tree.parent, reading.owner
    ids, offsets = reading.node_ids, reading.node_offsets
    node_count = np.diff(offsets)
    count_above = _scoring.sums_above(parent, node_count)
    near_above = _scoring.sums_above(parent, _scoring.token_sums(ids, offsets, near))
    far_above = _scoring.sums_above(parent, _scoring.token_sums(ids, offsets, far))
    mid_sums = _scoring.token_sums(ids, offsets, mid)
    up = np.maximum(parent[owner], 0)
    higher = np.maximum(parent[up], 0)
    beyond = np.maximum(parent[higher], 0)
    outside = owner > 0
    scores = np.empty((3, len(owner)))
    near_count = count_above[reading.near] - np.where(outside, count_above[up], 0)
    scores[0] = (near_above[reading.near] - np.where(outside, near_above[up], 0)) / np.sqrt(near_count)
    scores[1] = (mid_sums[up] + mid_sums[higher]) / np.sqrt(node_count[up] + node_count[higher])
    scores[2] = far_above[beyond] / np.sqrt(count_above[beyond])
    return scores


def block_features(
    reading: Reading, scores: NDArray[np.float64], heading_score: NDArray[np.float64]
) -> NDArray[np.float32]:
    """The features of each block, one row for each of `FEATURES`."""
    tree = reading.blocks.tree
    return _scoring.block_features(
        tree.parent,
        reading.marks,
        tree.flags,
        reading.places,
        reading.owner,
        reading.group,
        reading.counts,
        reading.text_key,
        reading.level,
        scores,
        heading_score,
    )


def context_features(reading: Reading, probability: NDArray[np.float64]) -> NDArray[np.float32]:
    """The first forest's scores of the blocks around each block, one row for each of `CONTEXTS`."""
    words = reading.words.astype(np.float64)
    order = np.argsort(-probability, kind="stable")
    rank = np.empty(len(words))
    rank[order] = np.cumsum(words[order]) / max(words.sum(), 1.0)
    tree = reading.blocks.tree
    return _scoring.context_features(
        tree.parent,
        reading.places,
        reading.owner,
        reading.group,
        reading.text_key,
        reading.level,
        words,
        probability,
        rank,
    )


# The page as a whole


def page_features(features: NDArray[np.float32], words: NDArray[np.int32]) -> NDArray[np.float32]:
    """The mean of each feature over the page's blocks, and over its words."""
    count = features.shape[1]
    if not count:
        return np.zeros(2 * len(features), np.float32)
    weight = words / max(float(words.sum()), 1.0)
    exact = features.astype(np.float64)
    return np.concatenate((exact.sum(axis=1) / count, exact @ weight)).astype(np.float32)


def head_tokens(head: Head) -> NDArray[np.int64]:
    """Hashed tokens of the head that show the page's genre: types of JSON-LD, names of metas, a few contents."""
    tokens = {f"ld:{kind.lower()}" for script in head.json_ld for kind in _TYPE.findall(script)}
    for name, content in head.metas:
        tokens.add(f"meta:{name[:_LONGEST_META]}")
        if name in _GENRE_METAS:
            tokens.update(f"{name}:{word}" for word in _LETTERS.findall(content.lower()[:_LONGEST_META]))
    hashed = {xxh3_64_intdigest(token.encode("utf-8", "replace")) >> (64 - HEAD_BITS) for token in tokens}
    return np.array(sorted(hashed), np.int64)
