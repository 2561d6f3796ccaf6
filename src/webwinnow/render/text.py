"""Kept parts as plain text: one passage a line, paragraphs apart, list items and table rows readable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.markup import ATTRIBUTE_CODE
from webwinnow.pagetree import PageTree
from webwinnow.render._text import flowing_text
from webwinnow.render.flow import LIMITS, TAG_DOES
from webwinnow.render.walk import check_masks

__all__ = ["to_text"]

_NUMBERS = (ATTRIBUTE_CODE["start"], ATTRIBUTE_CODE["colspan"], ATTRIBUTE_CODE["rowspan"])


def to_text(tree: PageTree, keep: NDArray[np.bool_], runs: NDArray[np.bool_] | None = None) -> str:
    """Plain text of the kept parts. Ends with a newline unless it is empty."""
    check_masks(tree, keep, runs)
    return flowing_text(
        tree.text,
        tree.text_start,
        tree.text_end,
        tree.run_start,
        tree.run_owner,
        tree.run_before,
        tree.tag,
        tree.parent,
        tree.end,
        tree.flags,
        keep,
        np.ones(tree.run_count, np.bool_) if runs is None else runs,
        tree.attr_text,
        tree.attr_node,
        tree.attr_name,
        tree.attr_start,
        TAG_DOES,
        LIMITS,
        _NUMBERS,
    )
