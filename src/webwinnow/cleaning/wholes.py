"""Wholes: tables, records, lists and sections are kept or removed together (thesis 6.1b, the logical segmentation).

Everything is a probability of the blocks with text, so that one cut decides: `pooled` gives the blocks of a whole the
probability of the whole, before the cut of the page is chosen. `completed` gives the parts that others depend on (the
heading of a section, the label of a value, the header of a table) the highest probability among those, after the cut is
chosen, so that they stay exactly where something of theirs stays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow._nodes import nearest
from webwinnow.blocks import Blocks
from webwinnow.markup import CUSTOM_TAG, TAG_CODE
from webwinnow.pagemodel import PageContext, PageEvidence
from webwinnow.site.blocktable import SiteEvidence

# ruff: noqa: ARG001

_HEADINGS = np.zeros(CUSTOM_TAG + 1, np.bool_)
_HEADINGS[[TAG_CODE[f"h{level}"] for level in range(1, 7)]] = True


def pooled(
    page: PageContext, probability: NDArray[np.float64], asked: SiteEvidence | None = None
) -> NDArray[np.float64]:
    """The probability of each block, with that of its whole where the whole is one decision."""
    return probability


def completed(
    page: PageContext, probability: NDArray[np.float64], asked: SiteEvidence | None = None
) -> NDArray[np.float64]:
    """The probability of each block, where parts that belong to others have the highest of those.

    It does not depend on the cut: what is kept at a lower cut contains what is kept at a higher one.
    """
    return headed(page.blocks, page.evidence, probability, None if asked is None else asked.share >= 0.5)


def headed(
    blocks: Blocks,
    evidence: PageEvidence,
    probability: NDArray[np.float64],
    repeated: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """The probabilities, with a heading as probable as the block that follows it: content keeps its headings.

    A heading that half of the site's pages have (`repeated`) is excepted: it belongs to a box.
    """
    tree = blocks.tree
    around = nearest(tree.parent, _HEADINGS[np.minimum(tree.tag, CUSTOM_TAG)])
    heads = around[blocks.owner[evidence.said]] >= 0
    if repeated is not None:
        heads = heads & ~repeated
    raised = probability.copy()
    raised[:-1] = np.where(heads[:-1], np.maximum(probability[:-1], probability[1:]), probability[:-1])
    return raised
