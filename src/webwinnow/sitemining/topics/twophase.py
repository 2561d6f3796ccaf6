"""Method `twophase`: hidden Markov trees over the blocks of each page, then over the pages (Sites 3.2, Figure 2c)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.sitemining.fusion import Neighbours
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.method import Arrays, Told
from webwinnow.sitemining.topics.scale import SITE_DAMPING, Observed, TreeScale, site_nodes
from webwinnow.sitemining.topics.training import Training
from webwinnow.sitemining.topicwords import TopicWords

__all__ = ["TwoPhase"]

LEARNED_PAGES = 10
"""Pages of a site, evenly drawn, whose blocks teach how likely a block has its page's topic: one number."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TwoPhase:
    """Fine to coarse: blocks give the topic of their page, pages that of their site.

    A page is a DOM node too and shows its whole text. Its blocks repeat that text: what they say counts by a slope.
    """

    name: ClassVar[str] = "twophase"
    words: TopicWords
    blocks: TreeScale
    pages: TreeScale

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn words, then both scales from what other sites tell of each site's blocks and pages."""
        held = [
            (site, found, number)
            for site, found, number in zip(training.sites, training.held_out, training.topic.tolist(), strict=True)
            if found is not None
        ]
        topic = [number for *_, number in held]
        blocks = TreeScale.learn([_drawn(site, found.blocks) for site, found, _ in held], topic, training.topics)
        blocks = blocks.sloped(
            [(site.parent, found.blocks) for site, found, _ in held], [found.pages for _, found, _ in held], topic
        )
        trees = [
            (
                site.page_tree.parent,
                site_nodes(site.page_tree.page, blocks.roots(site.parent, found.blocks, found.pages)),
            )
            for site, found, _ in held
        ]
        pages = TreeScale.learn(trees, topic, training.topics, SITE_DAMPING)
        return cls(training.words, blocks, pages.sloped(trees, [None] * len(trees), topic))

    def tell(self, site: SitePages, neighbours: Neighbours | None = None) -> Told:  # noqa: ARG002
        """Steps 1 and 2 of Figure 7."""
        return self.classified(site, *self.preclassified(site))

    def preclassified(self, site: SitePages) -> tuple[Floats, Floats]:
        """Step 1: P(topic | text) of each page, and of each of its nodes; NaN where no word is known."""
        return self.words.of_pages(site.page_words), self.words.of_blocks(site.node_words)

    def classified(self, site: SitePages, pages: Floats, blocks: Floats) -> Told:
        """Step 2, and step 4: pages from their own text and from their blocks, the site from its pages."""
        found = self.blocks.roots(site.parent, blocks, pages)
        tree = site.page_tree
        return Told(self.pages.roots(tree.parent, site_nodes(tree.page, found))[0], found, pages, blocks)

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        return self.words.to_arrays() | {
            "block_scale": self.blocks.to_array(),
            "page_scale": self.pages.to_array(),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        return cls(
            TopicWords.from_arrays(arrays, topics),
            TreeScale.from_array(arrays, "block_scale", topics),
            TreeScale.from_array(arrays, "page_scale", topics),
        )


def _drawn(site: SitePages, shown: Floats) -> Observed:
    """The trees of some pages of a site, evenly drawn."""
    pages = np.unique(np.linspace(0, len(site) - 1, LEARNED_PAGES).round().astype(np.int64))
    return _trees(site, pages.tolist(), shown)


def _trees(site: SitePages, pages: Sequence[int], shown: Floats) -> Observed:
    nodes = np.concatenate([np.arange(site.first[p], site.first[p + 1]) for p in pages])
    place = np.full(len(site.parent) + 1, -1, np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    return place[site.parent[nodes]], shown[nodes]
