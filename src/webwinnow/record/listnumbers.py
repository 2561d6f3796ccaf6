"""The numbers of list items, as browsers show them: `start`, `reversed`, `value` and `type` of ordered lists."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow.page._nodes import nearest
from webwinnow.page.markup import HIDDEN, TAG_CODE
from webwinnow.page.tree import PageTree
from webwinnow.record.walk import attribute_reader

BULLET = -1
"""The number of an item without a number."""
DIGITS = 8
"""Digits of the longest number that `start` and `value` may have; Markdown allows nine."""
LETTERED = frozenset("aAiI")
"""Values of `type` for letters and Roman numerals."""
MOST_ROMAN = 3999
_LISTS = [TAG_CODE[name] for name in ("ul", "ol", "menu")]


def list_numbers(tree: PageTree, keep: NDArray[np.bool_]) -> dict[int, tuple[int, str]]:
    """Number and `type` of the items of kept ordered lists, by node. Removed items count, hidden ones do not.

    A number below 0 cannot be written in Markdown and is a bullet.
    """
    lists = np.isin(tree.tag, _LISTS)
    items = np.flatnonzero(tree.tag == TAG_CODE["li"])
    around = nearest(tree.parent, lists)[tree.parent[items]]
    ordered = (around >= 0) & (tree.tag[around] == TAG_CODE["ol"]) & keep[around]
    hidden = (tree.flags & HIDDEN) != 0
    ordered &= keep[items] | ~hidden[items] | hidden[around]
    attributes = attribute_reader(tree)
    count = np.bincount(around[ordered], minlength=len(tree))
    upcoming: dict[int, int] = {}
    numbers: dict[int, tuple[int, str]] = {}
    for item, own in zip(items[ordered].tolist(), around[ordered].tolist(), strict=True):
        found = attributes(own)
        falling = "reversed" in found
        if own not in upcoming:
            upcoming[own] = number_in(found.get("start", ""), DIGITS, int(count[own]) if falling else 1)
        number = number_in(attributes(item).get("value", ""), DIGITS, upcoming[own])
        upcoming[own] = number - 1 if falling else number + 1
        style = found.get("type", "")
        numbers[item] = max(number, BULLET), style if style in LETTERED else ""
    return numbers


def number_in(written: str, digits: int, missing: int) -> int:
    """The number that an attribute has, of at most so many digits; `missing` for anything else."""
    return int(written) if written.isascii() and written.isdecimal() and len(written) <= digits else missing
