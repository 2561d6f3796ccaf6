"""`Page`: a page's tree with what is derived from it, each at most once. It travels from the parser to the record."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from webwinnow.lazy import lazy_property
from webwinnow.page.blocks import Blocks, cut
from webwinnow.page.fingerprints import page_fingerprint
from webwinnow.page.hints import Hints
from webwinnow.page.structures import Structures
from webwinnow.page.tree import PageTree
from webwinnow.page.visualcues import VisualCues

T = TypeVar("T")


class Page:
    """A page's tree with its blocks, structures, hints and layout, and with what `derived` functions found on it.

    Nothing is computed before it is read. Values that are known already can be given.
    """

    def __init__(self, tree: PageTree, *, blocks: Blocks | None = None, fingerprint: int | None = None) -> None:
        self.tree = tree
        self.hints = Hints(tree)
        self.found: dict[Callable[[Page], Any], Any] = {}
        """What `derived` functions found, by the function."""
        if blocks is not None:
            self.blocks = blocks
        if fingerprint is not None:
            self.fingerprint = fingerprint

    def once(self, derive: Callable[[Page], T]) -> T:
        """The result of `derive(page)`, which is called for the first use only."""
        if derive not in self.found:
            self.found.setdefault(derive, derive(self))
        return cast("T", self.found[derive])

    def give(self, derive: Callable[[Page], T], value: T) -> None:
        """Set the result of a `derived` function, so that it is not computed."""
        self.found[derive.__wrapped__] = value  # type: ignore[attr-defined]

    @lazy_property
    def blocks(self) -> Blocks:
        """The page cut into blocks."""
        return cut(self.tree)

    @lazy_property
    def fingerprint(self) -> int:
        """The fingerprint of the page's text, by which a site's model knows its pages."""
        return page_fingerprint(self.tree)

    @lazy_property
    def structures(self) -> Structures:
        """The tables, lists and records of the page."""
        return Structures.of(self.tree)

    @lazy_property
    def visual(self) -> VisualCues | None:
        """What its layout shows about each node; None if the page was not rendered."""
        return VisualCues.of(self.blocks)


def derived(derive: Callable[[Page], T]) -> Callable[[Page], T]:
    """Decorate a function of a page so that it is computed at most once for each page."""

    @wraps(derive)
    def found(page: Page) -> T:
        try:
            return cast("T", page.found[derive])
        except KeyError:
            return page.once(derive)

    return found
