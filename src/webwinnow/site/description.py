"""A model as lines of text for people: its counts and the simplified tree (Figure 4-6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from webwinnow.site.learned import LearnedSite
from webwinnow.site.styletree import LEAF

SHOWN_DEPTH = 8
SHOWN_CHILDREN = 30


def describe_model(model: LearnedSite, depth: int = SHOWN_DEPTH) -> Iterator[str]:
    """The model line by line; levels below `depth`, and below noisy or meaningful elements, are left out."""
    yield f"{model.shown_name}: {model.pages:,} pages learned"
    yield f"texts that more than one page says: {len(model.text_key):,}; that half of them say: {_on_half(model):,}"
    if model.cst is not None:
        yield f"compressed structure tree: {len(model.cst):,} elements, {len(model.cst.feature):,} features"
    if model.sst is None:
        return
    yield f"site style tree: {len(model.sst):,} elements, threshold {model.threshold:.3f}"
    yield ""
    yield "pages  styles  importance  (- noisy, + meaningful, ~ some of both)"
    yield from _tree(model, depth)


def _on_half(model: LearnedSite) -> int:
    return int((2 * model.text_pages >= model.pages).sum())


def _tree(model: LearnedSite, depth: int) -> Iterator[str]:
    site, importance = model.noise.site, model.noise.importance
    marks = model.noise.marked(model.threshold)
    children: dict[int, list[int]] = defaultdict(list)
    for i, parent in enumerate(site.parent.tolist()):
        if importance.speaks[i] and parent >= 0:
            children[parent].append(i)
    below = np.ones(len(site), np.int64)
    for i in range(len(site) - 1, 0, -1):
        below[site.parent[i]] += below[i]
    styles = np.bincount(site.style_element, minlength=len(site))
    open_branches = [(child, 0) for child in reversed(children[0])]
    while open_branches:
        i, level = open_branches.pop()
        sign = "-" if marks.noisy[i] else "+" if marks.meaningful[i] else "~"
        inside = children[i] if sign == "~" and level < depth else []
        hidden = f"  ({below[i] - 1:,} elements inside)" if not inside and below[i] > 1 else ""
        shown = f"{styles[i]:6,}" if site.kind[i] != LEAF else " " * 6
        name = model.labels.get(int(site.style[i]), "#text" if site.style[i] == 0 else "?")
        yield f"{site.m[i]:5,}  {shown}  {importance.composite[i]:10.3f}  {'  ' * level}{sign} {name}{hidden}"
        if len(inside) > SHOWN_CHILDREN:
            yield f"{'':25}{'  ' * (level + 1)}  … the first {SHOWN_CHILDREN} of {len(inside):,}:"
        open_branches += [(child, level + 1) for child in reversed(inside[:SHOWN_CHILDREN])]
