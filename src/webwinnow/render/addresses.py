"""Where links and pictures point: absolute addresses, and none that runs something or carries its own content."""

from __future__ import annotations

from webwinnow.pagetree import PageTree
from webwinnow.urls import is_safe_link, is_web_link

__all__ = ["link_target", "picture_source"]


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
