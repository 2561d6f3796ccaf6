"""Method `multiscale`: two phases, interscale fusion, and a final pass (Sites 4.1, the four steps of Figure 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.sitemining.arraychecks import floats
from webwinnow.sitemining.fusion import LinkTopics, Neighbours, fuse, fuse_scales, site_context
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.method import Arrays, Told
from webwinnow.sitemining.topics.scale import TreeScale, site_nodes
from webwinnow.sitemining.topics.training import Training
from webwinnow.sitemining.topics.twophase import TwoPhase

__all__ = ["Multiscale"]


CALIBRATED_SITES = 24
"""Held-out sites, evenly drawn, that pass all four steps to teach the slope of the last; one number."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Multiscale:
    """Raw results are refined coarse to fine by the scale above, then pages and site are classified again.

    P(C) is the same for every topic at every scale: the words are learned so that each topic counts alike. `final` is
    the tree of the last pass, surer than the raw one because fusion has told every page what the site is: its slope is
    learned after fusion.
    """

    name: ClassVar[str] = "multiscale"
    raw: TwoPhase
    final: TreeScale
    links: LinkTopics

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn both phases, which topics link to which, and the slope of the final pass."""
        raw = training.learned(TwoPhase)
        links = LinkTopics.learn(training.topic.tolist(), training.links, training.topics)
        first = cls(raw, raw.pages, links)
        held = [
            (site, found, number)
            for site, found, number in zip(training.sites, training.held_out, training.topic.tolist(), strict=True)
            if found is not None
        ]
        held = held[:: max(1, -(-len(held) // CALIBRATED_SITES))]
        trees = [
            (
                site.page_tree.parent,
                site_nodes(site.page_tree.page, first._pages(site, found.pages, found.blocks, None)),
            )
            for site, found, _ in held
        ]
        return cls(raw, raw.pages.sloped(trees, [None] * len(trees), [number for *_, number in held]), links)

    def tell(self, site: SitePages, neighbours: Neighbours | None = None) -> Told:
        """The four steps of Figure 7."""
        pages, blocks = self.raw.preclassified(site)  # step 1
        found = self._pages(site, pages, blocks, neighbours)
        tree = site.page_tree
        return Told(self.final.roots(tree.parent, site_nodes(tree.page, found))[0], found, pages, blocks)

    def _pages(self, site: SitePages, pages: Floats, blocks: Floats, neighbours: Neighbours | None) -> Floats:
        """P(topic) of each page after steps 2, 3 and the first half of 4."""
        prior = np.full(pages.shape[1], 1 / pages.shape[1])
        raw = self.raw.classified(site, pages, blocks)  # step 2
        assert raw.pages is not None
        context = site_context(neighbours or Neighbours(), self.links, prior)
        fused = fuse_scales(raw.site, raw.pages, blocks, site.page_of_node, context, [prior] * 3)  # step 3
        seen = np.where(np.isnan(blocks), np.nan, fused.blocks)
        return self.raw.blocks.roots(site.parent, seen, fuse(pages, fused.site, prior))  # step 4

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        links = {"linking": self.links.linking, "linked": self.links.linked}
        return self.raw.to_arrays() | links | {"final_scale": self.final.to_array()}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        links = [floats(arrays, name, (topics, topics), high=1.0) for name in ("linking", "linked")]
        final = TreeScale.from_array(arrays, "final_scale", topics)
        return cls(TwoPhase.from_arrays(arrays, topics), final, LinkTopics(*links))
