"""Which blocks readers wrote, and the `PostModel` that learns it.

Labels have three sources. `posts.json` lists pages labelled by hand, with the XPaths of what readers wrote there (an
empty list if they wrote nothing). On forum pages the true text is what readers wrote. On other pages readers wrote
nothing; elements whose names suggest posts are excluded from training there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from training.linear import PARTS, integers
from training.pages import SINGLE, LabelledPage
from webwinnow.judge.models import POOLED, PostModel, pooled
from webwinnow.judge.reading import GENRES
from webwinnow.page.tree import PageTree

__all__ = ["LOOKED_AT", "PostLabels", "fit_posts", "looked_at"]

LOOKED_AT: dict[str, list[str]] = json.loads(Path(__file__).with_name("posts.json").read_text(encoding="utf-8"))
"""Pages of pages-wcxb by id, and the XPaths of what readers wrote on them."""
MIGHT_BE = re.compile(r"comment|review|repl(y|ies)|respon|feedback|disqus|discuss|testimonial", re.IGNORECASE)
"""Names of elements that may contain posts; excluded from training on pages that are not labelled by hand."""
NAMED_BY = ("class", "id", "itemtype", "itemprop")
WORD_POWER = 0.6
"""Exponent of a block's weight, words^0.6; the blocks of a page sum to 1."""
COUNTS_AS = 3.0
"""Weight of a page labelled by hand relative to another."""
POSTS_COUNT = 0.3
"""Weight of all posts of such a page relative to the page: without it the model learns from long threads only.
Of 0.3, 1 and 2 the first kept a precision of 0.98."""
STRENGTH = 1.0
"""Inverse regularisation; of 0.05, 0.2 and 1 the last had the highest recall at a precision of 0.96."""
FORUM = GENRES.index("forum")


class PostLabels:
    """For each block of a page: whether readers wrote it (`post`), and its weight in training (`weight`)."""

    def __init__(self, page: LabelledPage) -> None:
        self.looked_at = page.source == SINGLE and page.page_id in LOOKED_AT
        usable = page.words > 0
        content = page.label >= 0.5
        if self.looked_at:
            self.post = looked_at(page)
        elif page.source == SINGLE and page.genre == FORUM:
            self.post = content & (page.reading.level == 0)
            usable &= self.post | ~_between(content)
        else:
            self.post = np.zeros(len(content), np.bool_)
            usable &= content | ~_named_so(page.tree)[page.reading.owner]
        powered = np.where(usable, page.words**WORD_POWER, 0.0)
        self.weight = powered / max(powered.sum(), 1.0)
        if self.looked_at:
            posts = self.weight[self.post]
            self.weight[self.post] = posts * POSTS_COUNT / max(posts.sum(), 1e-9)
            self.weight *= COUNTS_AS


def looked_at(page: LabelledPage) -> NDArray[np.bool_]:
    """The blocks that readers wrote, on a page labelled by hand."""
    post, owner = np.zeros(len(page.label), np.bool_), page.reading.owner
    for xpath in LOOKED_AT[page.page_id]:
        node = _node_at(page.tree, xpath)
        post |= (owner >= node) & (owner < page.tree.end[node])
    return post


def _node_at(tree: PageTree, xpath: str) -> int:
    """The node whose `PageTree.xpath` is this path. Raises `ValueError` if there is none."""
    node = 0
    for step in xpath.strip("/").split("/")[1:]:
        name, _, number = step.partition("[")
        left = int(number[:-1]) if number else 1
        child = node + 1
        while child < tree.end[node]:
            left -= tree.tag_name(child) == name
            if not left:
                break
            child = int(tree.end[child])
        else:
            raise ValueError(f"there is no {xpath}")
        node = child
    return node


def _between(content: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The range from the first block of content to the last: names and dates between posts belong to them."""
    at = np.flatnonzero(content)
    inside = np.zeros(len(content), np.bool_)
    if len(at):
        inside[at[0] : at[-1] + 1] = True
    return inside


def _named_so(tree: PageTree) -> NDArray[np.bool_]:
    """Nodes inside an element whose name suggests posts."""
    named = np.zeros(len(tree), np.bool_)
    for attribute in NAMED_BY:
        nodes, values = tree.values(attribute)
        named[[i for i, value in zip(nodes.tolist(), values, strict=True) if i > 1 and MIGHT_BE.search(value)]] = True
    for i in range(1, len(tree)):
        named[i] |= named[tree.parent[i]]
    return named


def fit_posts(
    pages: Sequence[LabelledPage], fold: NDArray[np.int64], *, about: dict[str, Any] | None = None, seed: int = 0
) -> PostModel:
    """Learn names from all pages; learn pooling from the out-of-fold predictions of the names."""
    labels = [PostLabels(page) for page in pages]
    of_page = np.repeat(np.arange(len(pages)), [len(page.label) for page in pages])
    post = np.concatenate([label.post for label in labels])
    weight = np.concatenate([label.weight for label in labels])
    weight *= len(weight) / weight.sum()
    sure = post | np.array([label.looked_at for label in labels])[of_page]
    sampled = (sure | (np.random.default_rng(seed).random(len(weight)) < weight)) & (weight > 0)
    weight = np.where(sure, weight, np.maximum(weight, 1.0))
    cuts = np.cumsum([0, *PARTS.values()])
    rows = sparse.vstack([page.rows for page in pages]).tocsr()[:, cuts[1] : cuts[4]]
    rows_of_pool: list[NDArray[np.float64]] = [np.zeros((len(POOLED), 0))] * len(pages)
    for k in np.unique(fold).tolist():
        use = sampled & (fold[of_page] != k)
        model = _names(rows[use], post[use], weight[use])
        for i in np.flatnonzero(fold == k).tolist():
            rows_of_pool[i] = pooled(pages[i].reading, model.scores(pages[i].reading))
    pool = LogisticRegression(C=1.0, max_iter=300).fit(
        np.concatenate(rows_of_pool, axis=1).T[sampled], post[sampled], sample_weight=weight[sampled]
    )
    final = _names(rows[sampled], post[sampled], weight[sampled])
    return PostModel(
        near=final.near,
        mid=final.mid,
        far=final.far,
        bias=final.bias,
        pooling=np.round(np.append(pool.coef_[0], pool.intercept_), 6),
        about=about or {},
    )


def _names(rows: sparse.csr_matrix, post: NDArray[np.bool_], weight: NDArray[np.float64]) -> PostModel:
    """Logistic regression over the names around blocks, as tables of integers; no pooling yet."""
    model = LogisticRegression(C=STRENGTH, max_iter=60, tol=1e-3).fit(rows, post, sample_weight=weight)
    near, mid, far = np.split(integers(model.coef_[0]), 3)
    bias = round(float(model.intercept_[0]), 6)
    return PostModel(near=near, mid=mid, far=far, bias=bias, pooling=np.zeros(len(POOLED) + 1), about={})
