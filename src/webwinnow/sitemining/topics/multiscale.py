"""Method `multiscale`: two phases, interscale fusion, and a final pass (Sites 4.1, the four steps of Figure 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from webwinnow.sitemining.arraychecks import floats
from webwinnow.sitemining.fusion import LinkTopics, Neighbours, fuse, fuse_scales, site_context
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.method import Arrays, Told
from webwinnow.sitemining.topics.training import Training
from webwinnow.sitemining.topics.twophase import TwoPhase

__all__ = ["Multiscale"]


@dataclass(frozen=True, slots=True, eq=False)
class Multiscale:
    """Raw results are refined coarse to fine by the scale above, then pages and site are classified again.

    P(C) is the same for every topic at every scale: the words are learned so that each topic counts alike.
    """

    name: ClassVar[str] = "multiscale"
    raw: TwoPhase
    links: LinkTopics

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn both phases, and which topics link to which."""
        links = LinkTopics.learn(training.topic.tolist(), training.links, training.topics)
        return cls(training.learned(TwoPhase), links)

    def tell(self, site: SitePages, neighbours: Neighbours | None = None) -> Told:
        """The four steps of Figure 7."""
        prior = np.full(self.raw.words.topics, 1 / self.raw.words.topics)
        pages, blocks = self.raw.preclassified(site)  # step 1
        raw = self.raw.classified(site, pages, blocks)  # step 2
        assert raw.pages is not None
        context = site_context(neighbours or Neighbours(), self.links, prior)
        fused = fuse_scales(raw.site, raw.pages, blocks, site.page_of_node, context, [prior] * 3)  # step 3
        seen = np.where(np.isnan(blocks), np.nan, fused.blocks)
        final = self.raw.classified(site, fuse(pages, fused.site, prior), seen)  # step 4
        return Told(final.site, final.pages, blocks)

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        return self.raw.to_arrays() | {"linking": self.links.linking, "linked": self.links.linked}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        links = [floats(arrays, name, (topics, topics), high=1.0) for name in ("linking", "linked")]
        return cls(TwoPhase.from_arrays(arrays, topics), LinkTopics(*links))
