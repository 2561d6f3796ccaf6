"""A model as lines of text for people: its counts and the simplified tree (Figure 4-6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from webwinnow.counted import counted
from webwinnow.site.counts import Counts
from webwinnow.site.learned import LearnedSite
from webwinnow.site.noisemap import Marks, NoiseMap
from webwinnow.site.sitetree import SiteTree
from webwinnow.site.styletree import LEAF
from webwinnow.site.sums import TEXTS

TREE_NAMES = {"sst": "site style tree", "aligned": "aligned style tree"}
SHOWN_DEPTH = 8
SHOWN_CHILDREN = 30


def describe_model(model: LearnedSite, depth: int = SHOWN_DEPTH, tree: str | None = None) -> Iterator[str]:
    """The model line by line, with the `tree` of `NOISE_TREES`, or the first that it has.

    Levels below `depth`, and below noisy or meaningful elements, are left out.
    """
    yield f"{model.shown_name}: {counted(model.pages, 'page')} learned"
    texts: Counts = model.part(TEXTS) if TEXTS in model.parts else Counts.empty()
    on_half = int((2 * texts.pages >= model.pages).sum())
    yield f"texts that more than one page says: {len(texts.key):,}; that half of them say: {on_half:,}"
    if isinstance(cst := model.parts.get("cst"), SiteTree):
        features = counted(len(cst.feature), "feature")
        yield f"compressed structure tree: {counted(len(cst), 'element')}, {features}"
    for name in model.noise_trees:
        elements = len(model.part(name))
        yield f"{TREE_NAMES[name]}: {counted(elements, 'element')}, threshold {model.thresholds[name]:.3f}"
    if tree is None and not model.noise_trees:
        return
    shown = tree or model.noise_trees[0]
    noise = model.noise_map(shown)
    yield ""
    yield f"{shown}: pages  styles  importance  (- noisy, + meaningful, ~ some of both)"
    yield from _tree(noise, noise.marked(model.thresholds[shown]), model.labels, depth)


def _tree(noise: NoiseMap, marks: Marks, labels: dict[int, str], depth: int) -> Iterator[str]:
    site, importance = noise.site, noise.importance
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
        hidden = f"  ({counted(int(below[i]) - 1, 'element')} inside)" if not inside and below[i] > 1 else ""
        shown = f"{styles[i]:6,}" if site.kind[i] != LEAF else " " * 6
        name = labels.get(int(site.style[i]), "#text" if site.style[i] == 0 else "?")
        yield f"{site.m[i]:5,}  {shown}  {importance.composite[i]:10.3f}  {'  ' * level}{sign} {name}{hidden}"
        if len(inside) > SHOWN_CHILDREN:
            yield f"{'':25}{'  ' * (level + 1)}  … the first {SHOWN_CHILDREN} of {len(inside):,}:"
        open_branches += [(child, level + 1) for child in reversed(inside[:SHOWN_CHILDREN])]
