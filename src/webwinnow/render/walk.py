"""Page order over the kept parts of a tree: elements open and close, runs of text stand between."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from webwinnow._nodes import nearest
from webwinnow.blocks import are_split, splitting_nodes
from webwinnow.markup import ATTRIBUTES
from webwinnow.pagetree import PageTree
from webwinnow.urls import is_safe_link, is_web_link


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


_SILENTLY = 2
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def printable(text: str) -> str:
    """Text of the same length with a blank for each control character but tab and newline: none reaches a terminal."""
    return _CONTROLS.sub(" ", text)


def walk(
    tree: PageTree,
    keep: NDArray[np.bool_],
    kept_runs: NDArray[np.bool_] | None,
    minded: NDArray[np.bool_] | None = None,
    silent: NDArray[np.bool_] | None = None,
    *,
    opens: Callable[[int], None],
    closes: Callable[[int], None],
    says: Callable[[str], None],
    parts: Callable[[bool], None],
) -> None:
    """Call `opens` and `closes` for each node that is kept or around something kept, `says` for each kept run.

    `parts(False)` is called between two runs that a block or line break parted which is not kept, or they would become
    one; `parts(True)` where one of the `silent` nodes parts them.

    A run is kept when its element is and, where `kept_runs` is given, it is too. Nodes outside `minded` are passed
    over in silence; it holds the root, and so does `silent`.
    """
    total = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    around = np.arange(len(tree), dtype=np.int32) if minded is None else nearest(tree.parent, minded)
    is_shown = total[tree.end] > total[:-1]
    nodes = np.flatnonzero(is_shown & (around == np.arange(len(tree))))
    parents: list[int] = np.where(nodes > 0, around[tree.parent[nodes]], -1).tolist()
    speaking = keep[tree.run_owner] if kept_runs is None else keep[tree.run_owner] & kept_runs
    runs = np.flatnonzero(speaking)
    parted = _parted_by_what_went(tree, is_shown, runs).astype(np.int8)
    if silent is not None and len(runs):
        parted[1:][are_split(tree, silent, runs)] = _SILENTLY
    befores = np.searchsorted(nodes, tree.run_before[runs]).tolist()  # how many of `nodes` open before the run
    owners: list[int] = around[tree.run_owner[runs]].tolist()
    starts: list[int] = tree.run_start[runs].tolist()
    ends: list[int] = tree.run_start[runs + 1].tolist()
    shown: list[int] = nodes.tolist()
    text = printable(tree.text)
    opened: list[int] = [-1]
    at = 0
    for before, owner, start, end, is_parted in zip(befores, owners, starts, ends, parted.tolist(), strict=True):
        while at < before:
            while opened[-1] != parents[at]:
                closes(opened.pop())
            opens(shown[at])
            opened.append(shown[at])
            at += 1
        while opened[-1] != owner:
            closes(opened.pop())
        if is_parted:
            parts(is_parted == _SILENTLY)
        says(text[start:end])
    for i, parent in zip(shown[at:], parents[at:], strict=True):
        while opened[-1] != parent:
            closes(opened.pop())
        opens(i)
        opened.append(i)
    while len(opened) > 1:
        closes(opened.pop())


def _parted_by_what_went(tree: PageTree, is_shown: NDArray[np.bool_], runs: NDArray[np.intp]) -> NDArray[np.bool_]:
    """For each of `runs` whether only nodes that are not shown part it from the one before."""
    parted = np.zeros(len(runs), np.bool_)
    nodes = splitting_nodes(tree)
    shown = nodes & is_shown
    if len(runs) and np.count_nonzero(shown) < np.count_nonzero(nodes):
        parted[1:] = are_split(tree, nodes, runs) & ~are_split(tree, shown, runs)
    return parted
