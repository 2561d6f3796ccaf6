"""Cost of learning and mapping a page relative to building its tree, and its growth with the pages of a site."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from webwinnow import parse
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.site.alignedtree import AlignedFinisher
from webwinnow.site.featureweights import FeatureWeights
from webwinnow.site.noisemap import NoiseMap
from webwinnow.site.sitetree import finish
from webwinnow.site.styletree import ALIGNED_CUT, CST_CUT, Grower, StyleTree

SITE_PAGES = 100
"""Pages of each site."""
ROUNDS = 5
THRESHOLD = 0.9
FEW, MANY = 100, 2_000


def costs(data: Path) -> list[tuple[str, str]]:
    """Learning, mapping and growth, each a ratio within one process."""
    return [*learning_and_mapping(data), *growth(data)]


def learning_and_mapping(data: Path) -> list[tuple[str, str]]:
    """Interleave sites and rounds so that other load affects all equally; minimum of the rounds."""
    works = ("learning (SST)", "learning (CST)", "learning (both)", "mapping (CST)", "finishing (SST)", "mapping (SST)")
    building: list[float] = []
    ratios: dict[str, list[float]] = {work: [] for work in works}
    spent = dict.fromkeys(works, 0.0)
    pages = 0
    for bodies in _sites(data).values():
        trees = [parse(body) for body in bodies]
        weights = FeatureWeights(finish(StyleTree.grow(trees, CST_CUT)))
        grown = StyleTree.grow(trees, ALIGNED_CUT)
        noise = NoiseMap(AlignedFinisher(grown).finished())
        noise.marked(THRESHOLD)
        seconds = _in_turn(
            lambda bodies=bodies: [parse(body) for body in bodies],
            lambda trees=trees: _grow(trees, ALIGNED_CUT),
            lambda trees=trees: _grow(trees, CST_CUT),
            lambda trees=trees: _grow(trees, ALIGNED_CUT, CST_CUT),
            lambda trees=trees, weights=weights: [weights.weigh(tree) for tree in trees],
            lambda grown=grown: AlignedFinisher(grown).finished(),
            lambda trees=trees, noise=noise: [noise.lay(tree, THRESHOLD) for tree in trees],
        )
        pages += len(trees)
        building.append(seconds[0])
        for work, took in zip(works, seconds[1:], strict=True):
            ratios[work].append(took / seconds[0])
            spent[work] += took
    rows = [("building a tree, ms per page", f"{1000 * sum(building) / pages:.2f}")]
    for work, took in spent.items():
        typical, worst = statistics.median(ratios[work]), max(ratios[work])
        what = f"{work} / building the tree: all {len(building)} sites; median, worst site"
        rows.append((what, f"**{took / sum(building):.2f}**; {typical:.2f}, {worst:.2f}"))
    return rows


def growth(data: Path) -> list[tuple[str, str]]:
    """Cost per page when 2,000 pages are learned as one site, against the same pages learned 100 at a time.

    No site in the data has 2,000 pages, so they are a random sample of all sites: the least homogeneous site possible.
    """
    bodies = [body for pages in _sites(data).values() for body in pages]
    sample = np.random.default_rng(0).permutation(len(bodies))[:MANY]
    trees = [parse(bodies[k]) for k in sample]
    parts = [trees[k : k + FEW] for k in range(0, MANY, FEW)]
    few, many = _in_turn(
        lambda: [_grow(part, ALIGNED_CUT, CST_CUT) for part in parts],
        lambda: _grow(trees, ALIGNED_CUT, CST_CUT),
    )
    finished_few = sum(
        _seconds(lambda part=part: AlignedFinisher(StyleTree.grow(part, ALIGNED_CUT)).finished()) for part in parts
    )
    finished_many = _seconds(lambda: AlignedFinisher(StyleTree.grow(trees, ALIGNED_CUT)).finished())
    return [
        (f"learning (both), ms per page: {FEW} pages", f"{1000 * few / len(trees):.3f}"),
        (f"learning (both), ms per page: {MANY:,} pages", f"{1000 * many / len(trees):.3f}"),
        (f"cost per page, {MANY:,} pages / {FEW} pages", f"**{many / few:.2f}**"),
        (
            f"the same with finishing (SST), {MANY:,} pages / {FEW} pages",
            f"**{finished_many / finished_few:.2f}**, {1000 * finished_many / len(trees):.2f} ms per page",
        ),
    ]


def _sites(data: Path) -> dict[str, list[bytes]]:
    table = pq.read_table(data / "sites-swde.parquet", columns=["site", "html"])
    sites: dict[str, list[bytes]] = {}
    for site, body in zip(table["site"].to_pylist(), table["html"].to_pylist(), strict=True):
        pages = sites.setdefault(site, [])
        if len(pages) < SITE_PAGES:
            pages.append(body)
    return sites


def _grow(trees: Sequence[PageTree], *cuts: int) -> list[StyleTree]:
    growers = [Grower(cut) for cut in cuts]
    for page in map(Page, trees):
        for grower in growers:
            grower.add(page)
    return [grower.tree() for grower in growers]


def _in_turn(*works: Callable[[], object]) -> list[float]:
    return [min(took) for took in zip(*([_seconds(work) for work in works] for _ in range(ROUNDS)), strict=True)]


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
