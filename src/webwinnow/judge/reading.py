"""`Reading`: a page read once into counts, tokens and places, and the page model's features."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.judge import _scoring
from webwinnow.judge.featureschema import CONTEXTS, COUNTS, FEATURES, WORD_BITS
from webwinnow.page.blocks import Blocks, cut
from webwinnow.page.markup import ATTRIBUTE_CODE, CUSTOM_TAG, TAG_CODE
from webwinnow.page.tree import Head, PageTree

GENRES: tuple[str, ...] = tuple("article collection documentation forum listing product service".split())
HEAD_BITS, HEADING_BITS = 12, 14
"""Bits that tokens of the head, and the words of headings, are hashed into."""
LINEAR_SCALE = 4096.0
"""Weights of the linear models are integers over this."""
_WORDS = COUNTS.index("words")
_NAMING = np.zeros(256, np.bool_)
_NAMING[[ATTRIBUTE_CODE[name] for name in ("class", "id", "role", "itemprop", "itemtype")]] = True
_LEVEL = np.zeros(CUSTOM_TAG, np.uint8)
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
    description = _description(tree.head)
    summaries = _summaries(tree.head, description)
    said, counts, text_key, word_ids, word_offsets = _scoring.block_words(
        tree.text,
        tree.run_start,
        blocks.first_run,
        tree.run_owner,
        marks,
        _scoring.word_keys(tree.head.title),
        _scoring.word_keys(description),
        _scoring.shingle_map(summaries) if summaries else _NO_SHINGLES,
    )
    owner = blocks.owner[said]
    first_runs = blocks.first_run[said]
    places, group = _scoring.outline(
        tree.parent, tree.style, tree.text_start, tree.text_end, owner, tree.run_start[first_runs]
    )
    node_ids, node_offsets = _scoring.node_tokens(
        tree.tag, tree.attr_node, tree.attr_name, _NAMING, tree.attr_start, tree.attr_text
    )
    level, heading = _scoring.heading_rows(tree.tag, tree.parent, _LEVEL, owner)
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


def _summaries(head: Head, description: str) -> str:
    """The summaries of the content in the head: its description, and the longer texts of its JSON-LD."""
    texts = [description, *(text for script in head.json_ld for text in _SUMMARIES.findall(script))]
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
    names = name_scores(reading, linear.near, linear.mid, linear.far)
    words = reading.word_ids, reading.word_offsets, linear.words, linear.heading, WORD_BITS - HEADING_BITS
    return _scoring.linear_scores(names, *words, reading.heading, LINEAR_SCALE, linear.bias)


def name_scores(
    reading: Reading, near: NDArray[np.int16], mid: NDArray[np.int16], far: NDArray[np.int16]
) -> NDArray[np.float64]:
    """Three rows of scores of the names around each block: of its own elements, of the two around them, of those
    further out. The tokens of each part weigh 1 / sqrt(their number).
    """
    places = reading.blocks.tree.parent, reading.owner, reading.near
    return _scoring.name_scores(*places, reading.node_ids, reading.node_offsets, near, mid, far)


def block_features(
    reading: Reading,
    scores: NDArray[np.float64],
    heading_score: NDArray[np.float64],
    into: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """The features of each block, one row for each of `FEATURES`; they can be written into a given array."""
    tree = reading.blocks.tree
    found = np.empty((len(FEATURES), len(reading.owner)), np.float32) if into is None else into
    _scoring.block_features(
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
        found,
    )
    return found


def context_features(
    reading: Reading, probability: NDArray[np.float64], into: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """The first forest's scores of the blocks around each block, one row for each of `CONTEXTS`."""
    tree = reading.blocks.tree
    found = np.empty((len(CONTEXTS), len(reading.owner)), np.float32) if into is None else into
    _scoring.context_features(
        tree.parent,
        reading.places,
        reading.owner,
        reading.group,
        reading.text_key,
        reading.level,
        reading.words,
        probability,
        found,
    )
    return found


# The page as a whole


def head_tokens(head: Head) -> NDArray[np.int32]:
    """Hashed tokens of the head that show the page's genre: types of JSON-LD, names of metas, a few contents."""
    hashed = {_hashed("ld", kind.lower()) for script in head.json_ld for kind in _TYPE.findall(script)}
    for name, content in head.metas:
        hashed.add(_hashed("meta", name[:_LONGEST_META]))
        if name in _GENRE_METAS:
            hashed.update(_hashed(name, word) for word in _LETTERS.findall(content.lower()[:_LONGEST_META]))
    return np.array(list(hashed), np.int32)


@lru_cache(maxsize=4096)  # names of metas repeat
def _hashed(name: str, word: str) -> int:
    token = f"{name}:{word}"
    return xxh3_64_intdigest(token.encode("utf-8", "replace")) >> (64 - HEAD_BITS)
