"""Walk over the kept on_split of a tree in page order, and read the attributes of kept elements."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from webwinnow.page._nodes import nearest
from webwinnow.page.blocks import are_split, splitting_nodes
from webwinnow.page.markup import ATTRIBUTES
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import is_safe_link, is_web_link


def attribute_reader(tree: PageTree) -> Callable[[int], dict[str, str]]:
    """A fast `PageTree.attributes` for many nodes."""
    first: list[int] = np.searchsorted(tree.attr_node, np.arange(len(tree) + 1)).tolist()
    names: list[int] = tree.attr_name.tolist()
    starts: list[int] = tree.attr_start.tolist()
    text = tree.attr_text
    return lambda i: {ATTRIBUTES[names[k]]: text[starts[k] : starts[k + 1]] for k in range(first[i], first[i + 1])}


def link_target(tree: PageTree, href: str | None) -> str | None:
    """The http, https or mailto URL that `href` means on this page; None where it is anything else."""
    target = tree.resolve(href) if href is not None else None
    return target if target is not None and is_safe_link(target) else None


def picture_source(tree: PageTree, src: str | None, data_src: str | None) -> str | None:
    """The http(s) URL of a picture; scripts replace a placeholder in `src` by `data_src`."""
    if not src or src.lstrip().lower().startswith("data:"):
        src = data_src
    url = tree.resolve(src) if src else None
    return url if url is not None and is_web_link(url) else None


_SILENTLY = 2
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


def printable(text: str) -> str:
    """Text of the same length with a blank for each terminal control character but tab and newline."""
    return _CONTROLS.sub(" ", text)


def walk(
    tree: PageTree,
    keep: NDArray[np.bool_],
    kept_runs: NDArray[np.bool_] | None,
    relevant: NDArray[np.bool_] | None = None,
    silent: NDArray[np.bool_] | None = None,
    *,
    on_open: Callable[[int], None],
    on_close: Callable[[int], None],
    on_text: Callable[[str], None],
    on_split: Callable[[bool], None],
) -> None:
    """Call `on_open` and `on_close` for each node that is kept or around something kept, `on_text` for each kept run.

    `on_split(False)` is called between two runs that a removed block or line break splits, or they would become one;
    `on_split(True)` where one of the `silent` nodes splits them. A run is kept when its element is and, with
    `kept_runs`, it is too. Nodes outside `relevant` are skipped; `relevant` and `silent` contain the root.
    """
    total = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
    around = np.arange(len(tree), dtype=np.int32) if relevant is None else nearest(tree.parent, relevant)
    is_shown = total[tree.end] > total[:-1]
    nodes = np.flatnonzero(is_shown & (around == np.arange(len(tree))))
    parents: list[int] = np.where(nodes > 0, around[tree.parent[nodes]], -1).tolist()
    wanted = keep[tree.run_owner] if kept_runs is None else keep[tree.run_owner] & kept_runs
    runs = np.flatnonzero(wanted)
    split = _split_by_removed(tree, is_shown, runs).astype(np.int8)
    if silent is not None and len(runs):
        split[1:][are_split(tree, silent, runs)] = _SILENTLY
    befores = np.searchsorted(nodes, tree.run_before[runs]).tolist()  # how many of `nodes` open before the run
    owners: list[int] = around[tree.run_owner[runs]].tolist()
    starts: list[int] = tree.run_start[runs].tolist()
    ends: list[int] = tree.run_start[runs + 1].tolist()
    shown: list[int] = nodes.tolist()
    text = printable(tree.text)
    opened: list[int] = [-1]
    at = 0
    for before, owner, start, end, is_split in zip(befores, owners, starts, ends, split.tolist(), strict=True):
        while at < before:
            while opened[-1] != parents[at]:
                on_close(opened.pop())
            on_open(shown[at])
            opened.append(shown[at])
            at += 1
        while opened[-1] != owner:
            on_close(opened.pop())
        if is_split:
            on_split(is_split == _SILENTLY)
        on_text(text[start:end])
    for i, parent in zip(shown[at:], parents[at:], strict=True):
        while opened[-1] != parent:
            on_close(opened.pop())
        on_open(i)
        opened.append(i)
    while len(opened) > 1:
        on_close(opened.pop())


def _split_by_removed(tree: PageTree, is_shown: NDArray[np.bool_], runs: NDArray[np.intp]) -> NDArray[np.bool_]:
    """For each of `runs` whether only nodes that are not shown split it from the one before."""
    split = np.zeros(len(runs), np.bool_)
    nodes = splitting_nodes(tree)
    shown = nodes & is_shown
    if len(runs) and np.count_nonzero(shown) < np.count_nonzero(nodes):
        split[1:] = are_split(tree, nodes, runs) & ~are_split(tree, shown, runs)
    return split
