"""Relevant hyperlinks (DocView 6): blocks of links, taken or left as a whole by their likeness to the topic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.docview.tagtree import HUB, TagTree
from webwinnow.docview.weights import FeatureVector, is_stop_word
from webwinnow.markup import TAG_CODE
from webwinnow.urls import is_web_link

__all__ = ["link_targets", "relevant_blocks"]


def relevant_blocks(
    blocks: TagTree, topic: FeatureVector, offered: NDArray[np.bool_], language: str, beta: float
) -> NDArray[np.bool_]:
    """The hub leaves whose terms are like the topic: their cosine with it (equation 3) exceeds beta.

    Only blocks that are `offered` are asked. Links that belong together are listed in one block; where each stands in
    an item of its own, a block of today, the items of one parent are judged together.
    """
    unit = np.where(blocks.leaf & (blocks.type == HUB) & offered, blocks.parent, -1)
    of_word = unit[blocks.block_of_word]
    at = np.flatnonzero(of_word >= 0)
    at = at[~is_stop_word(blocks.word_key[at], language)]
    if not len(at) or not len(topic):
        return np.zeros(len(blocks), np.bool_)
    keys, which = np.unique(blocks.word_key[at], return_inverse=True)
    pairs, count = np.unique(of_word[at].astype(np.int64) * len(keys) + which, return_counts=True)
    units = pairs // len(keys)
    dot = np.bincount(units, weights=count * topic.weight_of(keys)[pairs % len(keys)], minlength=len(blocks))
    length = np.sqrt(np.bincount(units, weights=np.square(count), minlength=len(blocks)))
    like = np.round(dot, 6) > beta * np.maximum(length, 1e-9)  # the topic's own length is 1
    found: NDArray[np.bool_] = (unit >= 0) & like[unit]
    return found


def link_targets(blocks: TagTree, wanted: NDArray[np.bool_]) -> list[str]:
    """Where the links among some nodes point: absolute http(s) addresses of other pages, each once, in page order."""
    tree = blocks.tree
    nodes, hrefs = tree.values("href")
    found: dict[str, None] = {}
    for k in np.flatnonzero(wanted[nodes] & (tree.tag[nodes] == TAG_CODE["a"])).tolist():
        if not hrefs[k].startswith("#"):
            target = tree.resolve(hrefs[k])
            if target is not None and is_web_link(target):
                found.setdefault(target)
    return list(found)
