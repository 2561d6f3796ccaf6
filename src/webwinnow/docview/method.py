"""Method `docview`: cleaning by page type (DocView 4.2), from the page alone, as its authors have it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.cleaning.verdict import (
    CENTRAL_REASON,
    HIDDEN_REASON,
    HUB_BLOCK_REASON,
    IMAGE_BLOCK_REASON,
    MARGINAL_REASON,
    TOPIC_BLOCK_REASON,
    Verdict,
    keep_around,
    reasons_of_nodes,
)
from webwinnow.docview.pagetype import central_blocks, page_type
from webwinnow.docview.tagtree import HUB, IMAGE, TOPIC, TagTree, shown_images
from webwinnow.docview.weights import block_force, block_weights
from webwinnow.pagetree import PageTree

__all__ = ["METHOD", "clean"]

METHOD = "docview"


def clean(tree: PageTree) -> Verdict:
    """Keep the topic blocks of a topic page, the central area of a hub, the images of an image page with their text.

    What stays keeps its place, so two pages of one template give two topic content pages of one template.
    """
    visible = tree.visible
    blocks = TagTree.of(tree)
    central = central_blocks(blocks)
    found = page_type(blocks, central[blocks.block_of_word], int(blocks.images[central].sum()))
    if found == TOPIC:
        keep = blocks.type == TOPIC
    elif found == HUB:
        keep = central
    else:
        keep = _around_images(blocks, central)
    keep_runs = keep[blocks.of_run] & visible[tree.run_owner]
    nodes = keep_around(tree, keep_runs)
    if found == IMAGE:
        nodes |= _and_above(tree, shown_images(tree), keep[blocks.of_node])
    run_reason = _reasons(blocks, keep, found)[blocks.of_run]
    run_reason[~visible[tree.run_owner]] = HIDDEN_REASON
    kept_words = keep_runs[blocks.word_run]
    inside = blocks.around(blocks.block_of_word[kept_words])
    weight = block_weights(blocks.parent, block_force(blocks, kept_words), inside)
    gone = HUB_BLOCK_REASON if found == TOPIC else MARGINAL_REASON
    return Verdict(
        method=METHOD,
        keep=nodes,
        keep_runs=keep_runs,
        reason=reasons_of_nodes(
            tree, nodes, run_reason, TOPIC_BLOCK_REASON if found == TOPIC else CENTRAL_REASON, gone
        ),
        run_reason=run_reason,
        score=nodes.astype(np.float32),
        weight=weight[blocks.of_node].astype(np.float32),
        kind=np.zeros(len(tree), np.uint8),
    )


def _around_images(blocks: TagTree, central: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The central blocks with images, and the text around each: blocks with the same parent, and in or below them."""
    pictured = np.flatnonzero(central & (blocks.images > 0))
    near = np.zeros(len(blocks), np.bool_)
    near[pictured] = True
    near[blocks.parent[pictured[blocks.parent[pictured] >= 0]]] = True
    beside = near | np.append(False, near[blocks.parent[1:]])
    found: NDArray[np.bool_] = central & (near | (beside & (blocks.type != HUB)))
    return found


def _and_above(tree: PageTree, nodes: NDArray[np.int64], allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Some of the allowed nodes and all that stand around them."""
    counts = np.zeros(len(tree) + 1, np.int64)
    counts[nodes[allowed[nodes]] + 1] = 1
    running = np.cumsum(counts)
    found: NDArray[np.bool_] = running[tree.end] > running[: len(tree)]
    return found


def _reasons(blocks: TagTree, keep: NDArray[np.bool_], found: int) -> NDArray[np.uint8]:
    """Why each block stays or goes."""
    if found != TOPIC:
        return np.where(keep, CENTRAL_REASON, MARGINAL_REASON).astype(np.uint8)
    reasons = np.array([TOPIC_BLOCK_REASON, HUB_BLOCK_REASON, IMAGE_BLOCK_REASON], np.uint8)
    return reasons[blocks.type]
