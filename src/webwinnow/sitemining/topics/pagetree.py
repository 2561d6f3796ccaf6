"""Method `hmt`: a hidden Markov tree over the pages of a site (Sites 3.2, Figure 2b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from webwinnow.sitemining.fusion import Neighbours
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.method import Arrays, Told
from webwinnow.sitemining.topics.scale import SITE_DAMPING, TreeScale, site_nodes
from webwinnow.sitemining.topics.training import Training
from webwinnow.sitemining.topicwords import TopicWords

__all__ = ["PageTreeHmt"]


@dataclass(frozen=True, slots=True, eq=False)
class PageTreeHmt:
    """A page is the smallest thing; the topic of the site is the state of the root."""

    name: ClassVar[str] = "hmt"
    words: TopicWords
    pages: TreeScale

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn words, and the tree from what other sites tell of each site's pages."""
        held = [
            (site.page_tree, found.pages, number)
            for site, found, number in zip(training.sites, training.held_out, training.topic.tolist(), strict=True)
            if found is not None
        ]
        trees = [(tree.parent, site_nodes(tree.page, pages)) for tree, pages, _ in held]
        topic = [number for *_, number in held]
        pages = TreeScale.learn(trees, topic, training.topics, SITE_DAMPING)
        return cls(training.words, pages.sloped(trees, [None] * len(trees), topic))

    def tell(self, site: SitePages, neighbours: Neighbours | None = None) -> Told:  # noqa: ARG002
        """The states of the page tree."""
        tree = site.page_tree
        texts = self.words.of_pages(site.page_words)
        shown = site_nodes(tree.page, texts)
        pages = np.full((len(site), self.words.topics), np.nan)
        there = tree.page >= 0
        pages[tree.page[there]] = self.pages.nodes(tree.parent, shown)[there]
        return Told(self.pages.roots(tree.parent, shown)[0], pages, texts)

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        return self.words.to_arrays() | {"page_scale": self.pages.to_array()}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        return cls(TopicWords.from_arrays(arrays, topics), TreeScale.from_array(arrays, "page_scale", topics))
