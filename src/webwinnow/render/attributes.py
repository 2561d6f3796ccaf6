"""What attributes of kept elements say: read fast, and addresses only where they neither run nor carry anything."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from webwinnow.markup import ATTRIBUTES
from webwinnow.pagetree import PageTree
from webwinnow.urls import is_safe_link, is_web_link

__all__ = ["attribute_reader", "link_target", "picture_source"]


def attribute_reader(tree: PageTree) -> Callable[[int], dict[str, str]]:
    """`PageTree.attributes` for one who asks it of many nodes."""
    first: list[int] = np.searchsorted(tree.attr_node, np.arange(len(tree) + 1)).tolist()
    names: list[int] = tree.attr_name.tolist()
    starts: list[int] = tree.attr_start.tolist()
    text = tree.attr_text
    return lambda i: {ATTRIBUTES[names[k]]: text[starts[k] : starts[k + 1]] for k in range(first[i], first[i + 1])}


def link_target(tree: PageTree, href: str | None) -> str | None:
    """The http, https or mailto address that `href` means on this page; None where it means another or none."""
    target = tree.resolve(href) if href is not None else None
    return target if target is not None and is_safe_link(target) else None


def picture_source(tree: PageTree, src: str | None, data_src: str | None) -> str | None:
    """The http(s) address of a picture; `data_src` is where scripts find the one that `src` only holds the place of."""
    if not src or src.lstrip().lower().startswith("data:"):
        src = data_src
    address = tree.resolve(src) if src else None
    return address if address is not None and is_web_link(address) else None
