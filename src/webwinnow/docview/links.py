"""Relevant hyperlinks (DocView 6): blocks of links, taken or left as a whole by their likeness to the topic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import hrefs, like_blocks
from webwinnow.docview.tagtree import HUB, TagTree
from webwinnow.docview.weights import FeatureVector, stop_keys
from webwinnow.markup import ATTRIBUTE_CODE, TAG_CODE
from webwinnow.urls import web_links

__all__ = ["link_targets", "relevant_blocks"]


def relevant_blocks(
    blocks: TagTree, topic: FeatureVector, offered: NDArray[np.bool_], language: str, beta: float
) -> NDArray[np.bool_]:
    """The hub leaves whose terms are like the topic: their cosine with it (equation 3) exceeds beta.

    Only blocks that are `offered` are asked. Links that belong together are listed in one block; where each stands in
    an item of its own, a block of today, the items of one parent are judged together.
    """
    return like_blocks(
        blocks.parent,
        blocks.type,
        HUB,
        offered,
        blocks.block_of_word,
        blocks.word_key,
        topic.key,
        topic.weight,
        stop_keys(language),
        beta,
    )


def link_targets(blocks: TagTree, wanted: NDArray[np.bool_]) -> list[str]:
    """Where the links among some nodes point: absolute http(s) addresses of other pages, each once, in page order."""
    tree = blocks.tree
    written = hrefs(
        tree.tag,
        TAG_CODE["a"],
        wanted,
        tree.attr_node,
        tree.attr_name,
        ATTRIBUTE_CODE["href"],
        tree.attr_start,
        tree.attr_text,
    )
    return web_links(tree.head.base or tree.url, written)
