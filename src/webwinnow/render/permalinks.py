"""Headings without the links to themselves that documentation tools and blogs add: ¶, #, §, icons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from webwinnow.markup import CUSTOM_TAG, TAG_CODE
from webwinnow.pagetree import PageTree
from webwinnow.render._text import permalinks

LINKED_TAGS = np.zeros(CUSTOM_TAG, np.uint16)
"""2048, the bit for the compiled kernel, for tags whose elements may have a permalink."""
LINKED_TAGS[[TAG_CODE[name] for name in "h1 h2 h3 h4 h5 h6 dt caption figcaption".split()]] = 2048


def without_permalinks(tree: PageTree, keep: NDArray[np.bool_]) -> tuple[PageTree, NDArray[np.bool_]]:
    """The page with blanks for the signs of such links in headings, terms and captions, and the mask without the links.

    `C#` stays: only a link whose whole text is such signs is one.
    """
    nodes, places = permalinks(
        tree.text, tree.text_start, tree.text_end, tree.tag, tree.end, LINKED_TAGS, TAG_CODE["a"]
    )
    if not places:
        return tree, keep
    if nodes:
        keep = keep.copy()
        for node in nodes:
            keep[node : int(tree.end[node])] = False
    text, after = tree.text, [0, *(at + 1 for at in places)]
    kept = [text[start:end] for start, end in zip(after, [*places, len(text)], strict=True)]
    return replace(tree, text=" ".join(kept)), keep
