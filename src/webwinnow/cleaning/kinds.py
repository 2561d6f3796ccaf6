"""The kinds of what was removed: regions with the kind that the recogniser gives each, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from webwinnow.cleaning.kindmodel import KindModel
from webwinnow.cleaning.noise import KIND_CODE
from webwinnow.cleaning.regionfeatures import read_regions
from webwinnow.cleaning.regions import Regions, regions
from webwinnow.cleaning.verdict import Verdict
from webwinnow.pagemodel.posts import POST_ABOVE
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite

__all__ = ["RegionKinds", "recognise", "told_on_nodes", "with_kinds"]

_POSTS = KIND_CODE["posts"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegionKinds:
    """The removed regions of a page, the kind of each (a code of `noise.KINDS`) and its probability."""

    regions: Regions
    kind: NDArray[np.uint8]
    score: NDArray[np.float32]

    def of_runs(self) -> NDArray[np.uint8]:
        """The kind of the region that each run belongs to; content for what stays."""
        region = self.regions.of_run()
        return (
            np.where(region >= 0, self.kind[region], KIND_CODE["content"]).astype(np.uint8)
            if len(self.kind)
            else np.zeros(len(region), np.uint8)
        )

    def on_nodes(self) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """The kind of each node that stands in a region, and its score; content and 0 for all others."""
        kind = np.zeros(len(self.regions.tree), np.uint8)
        score = np.zeros(len(self.regions.tree), np.float32)
        spans = zip(self.regions.first_node.tolist(), self.regions.last_node.tolist(), strict=True)
        for r, (first, last) in enumerate(spans):
            kind[first:last], score[first:last] = self.kind[r], self.score[r]
        return kind, score


def recognise(
    tree: PageTree, verdict: Verdict, site: LearnedSite | None = None, model: KindModel | None = None
) -> RegionKinds:
    """Cut what was removed into regions and give each its kind; `site` tells how fixed a text is there."""
    cut = regions(tree, verdict)
    if not len(cut):
        return RegionKinds(regions=cut, kind=np.zeros(0, np.uint8), score=np.zeros(0, np.float32))
    found = (model or KindModel.load()).probabilities(read_regions(cut, verdict, site))
    kind = found.argmax(axis=1)
    score = found[np.arange(len(kind)), kind].astype(np.float32)
    posts = verdict.kind[cut.node] == _POSTS
    kind[posts], score[posts] = _POSTS, np.maximum(score[posts], POST_ABOVE)
    return RegionKinds(regions=cut, kind=kind.astype(np.uint8), score=score)


def with_kinds(
    tree: PageTree, verdict: Verdict, site: LearnedSite | None = None, model: KindModel | None = None
) -> Verdict:
    """The verdict with the kind of every removed node, and how sure it is. What stays is content."""
    kind, score = told_on_nodes(recognise(tree, verdict, site, model), verdict)
    other = verdict.keep & (kind != _POSTS)
    kind[other], score[other] = KIND_CODE["content"], 0.0
    return replace(verdict, kind=kind, kind_score=score)


def told_on_nodes(found: RegionKinds, verdict: Verdict) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Kind and score of each node; what the method found readers to have written is posts, whatever its region is."""
    kind, score = found.on_nodes()
    posts = verdict.kind == _POSTS
    score[posts] = np.where(kind[posts] == _POSTS, np.maximum(score[posts], POST_ABOVE), POST_ABOVE)
    kind[posts] = _POSTS
    return kind, score
