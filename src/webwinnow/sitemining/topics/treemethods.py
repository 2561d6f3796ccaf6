"""Methods over the tree of pages: `markovtree`, `hmt`, `twophase` and `multiscale`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.sitemining.arraychecks import floats
from webwinnow.sitemining.fusion import LinkTopics, Neighbours, fuse, fuse_scales, site_context
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.topics.nearestsites import topic_counts
from webwinnow.sitemining.topics.topicmethod import Arrays, TopicPrediction, Training
from webwinnow.sitemining.topics.treescale import SITE_DAMPING, Observed, TreeScale, site_nodes
from webwinnow.sitemining.topicwords import TopicWords, probabilities

SMOOTHING = 1.0
"""Pages added to every pair of topics (Laplace; ours)."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkovTree:
    """P(site) = P(topic) times the product over its pages of `emitted[topic, page's topic]`."""

    name: ClassVar[str] = "markovtree"
    words: TopicWords
    emitted: NDArray[np.float64]

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn words, and how often the pages of each topic's sites have which topic, by what other sites tell."""
        counts = np.full((training.topics, training.topics), SMOOTHING)
        for held, number in zip(training.held_out, training.topic.tolist(), strict=True):
            if held is None:
                counts[number, number] += 1  # alone with its topic: a page of its own, so that the topic can be told
            else:
                counts[number] += topic_counts(held.pages)
        return cls(training.words, counts / counts.sum(axis=1, keepdims=True))

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """By Bayes' rule, all topics being as likely before."""
        pages = self.words.of_pages(site.page_words)
        likelihood = np.log(self.emitted) @ topic_counts(pages)
        return TopicPrediction(probabilities(likelihood[None])[0], pages, pages)

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        return self.words.to_arrays() | {"emitted": self.emitted}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        emitted = floats(arrays, "emitted", (topics, topics), low=np.finfo(np.float64).tiny, high=1.0)
        return cls(TopicWords.from_arrays(arrays, topics), emitted)


@dataclass(frozen=True, slots=True, eq=False)
class HmtMethod:
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

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """The states of the page tree."""
        tree = site.page_tree
        texts = self.words.of_pages(site.page_words)
        shown = site_nodes(tree.page, texts)
        pages = np.full((len(site), self.words.topics), np.nan)
        there = tree.page >= 0
        pages[tree.page[there]] = self.pages.nodes(tree.parent, shown)[there]
        return TopicPrediction(self.pages.roots(tree.parent, shown)[0], pages, texts)

    def to_arrays(self) -> Arrays:
        """What was learned, as named arrays."""
        return self.words.to_arrays() | {"page_scale": self.pages.to_array()}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topics: int) -> Self:
        """Read what `to_arrays` gave; `ValueError` where something does not fit."""
        return cls(TopicWords.from_arrays(arrays, topics), TreeScale.from_array(arrays, "page_scale", topics))


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

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """Steps 1 and 2 of Figure 7."""
        return self.classified(site, *self.preclassified(site))

    def preclassified(self, site: SitePages) -> tuple[Floats, Floats]:
        """Step 1: P(topic | text) of each page, and of each of its nodes; NaN where no word is known."""
        return self.words.of_pages(site.page_words), self.words.of_blocks(site.node_words)

    def classified(self, site: SitePages, pages: Floats, blocks: Floats) -> TopicPrediction:
        """Step 2, and step 4: pages from their own text and from their blocks, the site from its pages."""
        found = self.blocks.roots(site.parent, blocks, pages)
        tree = site.page_tree
        return TopicPrediction(self.pages.roots(tree.parent, site_nodes(tree.page, found))[0], found, pages, blocks)

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


CALIBRATED_SITES = 24
"""Held-out sites, evenly drawn, that pass all four steps to teach the slope of the last; one number."""


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

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:
        """The four steps of Figure 7."""
        pages, blocks = self.raw.preclassified(site)  # step 1
        found = self._pages(site, pages, blocks, neighbours)
        tree = site.page_tree
        return TopicPrediction(self.final.roots(tree.parent, site_nodes(tree.page, found))[0], found, pages, blocks)

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
