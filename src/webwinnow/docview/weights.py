"""How much a block weighs, and how much a feature (DocView 3.2: force, Algorithm 1, equation 2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from webwinnow._words import name_hash
from webwinnow.docview._view import blocks_around, feature_sums, shared_force, tag_forces
from webwinnow.docview.tagtree import FORCE_CODES, TOPIC, TagTree
from webwinnow.errors import SettingsError
from webwinnow.words import stop_words

__all__ = ["FeatureVector", "WeightSettings", "block_force", "block_weights", "feature_vector", "stop_keys"]

MOST_EMPHASISED = 0.7
"""A block of which weighty tags hold a larger share emphasises nothing (ours); headings are meant to."""
SHORT_BLOCK = 12
"""Unless it has no more than so many terms: a line in bold is a heading in all but name (ours)."""
_HEADING_FORCE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSettings:
    """How force is handed on.

    - `passed_on`: a leaf of force f multiplies the weights of its parent and siblings by `f ** passed_on`. Algorithm 1
      calls this `pforce` and does not define it; ours.
    - `most`: force, and the product of what a block is handed, go no higher (ours: a list of 200 items in bold would
      weigh 10^30 times the rest). `inf` for Algorithm 1 as published.
    """

    passed_on: float = 0.5
    most: float = 8.0

    def __post_init__(self) -> None:
        if not 0 <= self.passed_on <= 1:
            raise SettingsError(f"passed_on is {self.passed_on}: expected 0 to 1")
        if not self.most >= 1:
            raise SettingsError(f"most is {self.most}: expected 1 or more")


def block_force(blocks: TagTree, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The force of each block (Algorithm 1, lines 4 to 9): the sum over its weighty tags, 1 where it has none.

    Only tags with a word among `wanted` count, and none with pseudo-weighty information (3.2 filters it and does not
    say how; ours): what stands in a hub or an image block, and emphasis of nearly all of a long block.
    """
    tree = blocks.tree
    return tag_forces(
        tree.tag,
        tree.text_start,
        tree.text_end,
        blocks.of_node,
        FORCE_CODES,
        blocks.word_start,
        blocks.block_of_word,
        wanted,
        blocks.type,
        TOPIC,
        MOST_EMPHASISED,
        SHORT_BLOCK,
        _HEADING_FORCE,
    )


def block_weights(
    parent: NDArray[np.int32],
    force: NDArray[np.float64],
    inside: NDArray[np.bool_],
    settings: WeightSettings | None = None,
) -> NDArray[np.float64]:
    """The weight of each block (Algorithm 1): leaves take their force and hand some on to parent and siblings.

    `parent[b] < b` is the block around block b, -1 for none; `inside` are the blocks of the tree, with all that stand
    around one of them. The others have no part and weigh 0.
    """
    settings = settings or WeightSettings()
    own = np.log(np.minimum(np.maximum(force, 1.0), settings.most))
    weight: NDArray[np.float64] = np.exp(
        shared_force(parent, own, inside, settings.passed_on, float(np.log(settings.most)))
    )
    return weight


@dataclass(frozen=True, slots=True, eq=False)
class FeatureVector:
    """The features of a page by ascending `key` (hashes of words), their weights, and where each occurs first."""

    key: NDArray[np.uint64]
    weight: NDArray[np.float64]
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.key)

    def weight_of(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        """The weights of some features; 0 for those that the page has not."""
        if not len(self.key):
            return np.zeros(len(keys))
        at = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[at] == keys, self.weight[at], 0.0)


def feature_vector(
    blocks: TagTree, wanted: NDArray[np.bool_], language: str, settings: WeightSettings | None = None
) -> FeatureVector:
    """The weight of each feature among the wanted words (equation 2): `sum of BWeight_j BTf_ij`, of length 1.

    BWeight is that of Algorithm 1 over the blocks that hold a wanted word; stop words are no features.
    """
    inside = blocks_around(blocks.block_of_word, wanted, blocks.end)
    weight = block_weights(blocks.parent, block_force(blocks, wanted), inside, settings)
    keys, total, first = feature_sums(blocks.word_key, blocks.block_of_word, wanted, weight, stop_keys(language))
    length = float(np.sqrt(np.square(total).sum()))
    return FeatureVector(keys, total / length if length else total, first)


@cache
def stop_keys(language: str) -> NDArray[np.uint64]:
    """The hashes of the stop words of a language, ascending."""
    pieces = {piece for word in stop_words(language) for piece in word.split("'")}
    return np.sort(np.array([name_hash(piece) for piece in pieces], np.uint64))
