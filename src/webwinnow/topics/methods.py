"""Methods of classifying sites, from whole sites to trees of pages and blocks (Sites 2 to 4; Ester et al. [9])."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.site.hmt.treemodel import soft_evidence
from webwinnow.storage.arrays import Held, Stored
from webwinnow.topics.fusion import LinkTopics, Neighbours, fuse, fuse_scales, site_context
from webwinnow.topics.pages import SitePages
from webwinnow.topics.topicwords import Scored, TopicWords, probabilities
from webwinnow.topics.training import (
    NEAREST,
    HeldOutSite,
    TopicMethod,
    TopicPrediction,
    TopicSettings,
    Training,
    WordMethod,
)
from webwinnow.topics.treescale import FLOOR, SITE_DAMPING, Observed, TreeScale, at_nodes, page_observations
from webwinnow.topics.wordrows import WordRows

SMOOTHING = 1.0
"""Pages added to every pair of topics (Laplace; ours)."""
LEARNED_PAGES = 10
"""Evenly spaced pages of a site whose blocks are used to learn P(a block has its page's topic), a single number."""
CALIBRATED_SITES = 24
"""Evenly spaced held-out sites that run all four steps, to learn the slope of the last step, a single number."""

Floats = NDArray[np.float64]


Parts = dict[str, tuple[type[Stored], str]]
VOTING = {
    "topic": Held(("sites",), np.int64, high="topics"),
    "nearest": Held((1,), np.int64, low=1, usual=NEAREST),
}
"""The arrays of methods in which sites vote: the topic of each, and how many of the nearest vote."""


@dataclass(frozen=True, eq=False)
class MarkovTree(WordMethod):
    """The 0-order Markov tree: a page's topic depends on the site's topic only.

    P(site) = P(topic) times the product over its pages of `emitted[topic, page's topic]`.
    """

    name: ClassVar[str] = "markovtree"
    PARTS: ClassVar[Parts] = {"words": (TopicWords, "")}
    ARRAYS: ClassVar[dict[str, Held]] = {"emitted": Held(("topics", "topics"), low=np.finfo(np.float64).tiny, high=1.0)}
    words: TopicWords
    emitted: Floats

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn the words, and how often pages of each topic's sites have which topic, predicted by other sites."""
        counts = np.full((training.topics, training.topics), SMOOTHING)
        for held, number in zip(training.held_out, training.topic.tolist(), strict=True):
            if held is None:
                counts[number, number] += 1  # the only site of its topic: one page of its own
            else:
                counts[number] += topic_counts(held.pages)
        return cls(training.words, counts / counts.sum(axis=1, keepdims=True))

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """Bayes' rule with equal priors."""
        pages = self.words.of_pages(site.page_words)
        likelihood = np.log(self.emitted) @ topic_counts(pages)
        return TopicPrediction(probabilities(likelihood[None])[0], pages, pages)


@dataclass(frozen=True, eq=False)
class HmtMethod(WordMethod):
    """A hidden Markov tree over the pages of a site; the site's topic is the state of the root (3.2, Figure 2b)."""

    name: ClassVar[str] = "hmt"
    PARTS: ClassVar[Parts] = {"words": (TopicWords, ""), "pages": (TreeScale, "page_")}
    words: TopicWords
    pages: TreeScale

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn the words, and the tree from predictions for held-out pages."""
        usual = cls(training.words, TreeScale.usual(training.topics, SITE_DAMPING))
        return usual.grown(training, training.held_out_sites())

    def grown(self, training: Training, fresh: Sequence[HeldOutSite]) -> Self:
        """Step 1.1."""
        pages = _page_scale(self.pages, fresh, [found.pages for _, found, _ in fresh], training.settings)
        return type(self)(training.words, pages)

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """The states of the page tree."""
        tree = site.page_tree
        texts = self.words.of_pages(site.page_words)
        observed = page_observations(tree, texts)
        pages = np.full((len(site), self.words.topics), np.nan)
        there = tree.page >= 0
        evidence = self.pages.evidence(observed.posteriors)
        pages[tree.page[there]] = self.pages.nodes(tree.parent, evidence)[there]
        return TopicPrediction(self.pages.roots(tree.parent, evidence)[0], pages, texts)


@dataclass(frozen=True, eq=False)
class TwoPhase(WordMethod):
    """Hidden Markov trees over the blocks of each page, then over the pages (3.2, Figure 2c).

    Fine to coarse: blocks give the topic of their page, pages that of their site. A page is a DOM node too and is
    observed with its whole text. Its blocks repeat that text, so their evidence is scaled by a slope.
    """

    name: ClassVar[str] = "twophase"
    PARTS: ClassVar[Parts] = {"words": (TopicWords, ""), "blocks": (TreeScale, "block_"), "pages": (TreeScale, "page_")}
    words: TopicWords
    blocks: TreeScale
    pages: TreeScale

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn the words, then both scales from predictions for held-out blocks and pages."""
        scales = TreeScale.usual(training.topics), TreeScale.usual(training.topics, SITE_DAMPING)
        return cls(training.words, *scales).grown(training, training.held_out_sites())

    def grown(self, training: Training, fresh: Sequence[HeldOutSite]) -> Self:
        """Steps 1.1 and 1.2; the DOM trees come first, as the page trees observe their results."""
        topic = [number for *_, number in fresh]
        blocks = self.blocks.grown(
            [_some_pages(site, found.blocks) for site, found, _ in fresh], topic, training.settings
        )
        observed = [Observed(site.parent, found.blocks) for site, found, _ in fresh]
        blocks = blocks.sloped(observed, topic, [found.pages for _, found, _ in fresh])
        pages = [blocks.roots(site.parent, blocks.evidence(found.blocks), found.pages) for site, found, _ in fresh]
        of_sites = [found.site for _, found, _ in fresh]
        return type(self)(training.words, blocks, _page_scale(self.pages, fresh, pages, training.settings, of_sites))

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """Steps 1 and 2 of Figure 7."""
        return self.classified(site, *self.preclassified(site))

    def preclassified(self, site: SitePages) -> tuple[Floats, Floats, Floats]:
        """Step 1: P(topic | text) of the site, of each page and of each of its nodes; NaN where no word is known."""
        words, of_pages = self.words, site.page_words
        return words.of_site(of_pages), words.of_pages(of_pages), words.of_blocks(site.node_words)

    def classified(self, site: SitePages, text: Floats, pages: Floats, blocks: Floats) -> TopicPrediction:
        """Step 2: pages from their own text and their blocks, the site from its own text and its pages."""
        found = self.blocks.roots(site.parent, self.blocks.evidence(blocks), pages)
        parent, shown = page_observations(site.page_tree, found)
        of_site = self.pages.roots(parent, self.pages.evidence(shown), text)[0]
        return TopicPrediction(of_site, found, pages, blocks)


@dataclass(frozen=True, eq=False)
class Multiscale(TopicMethod):
    """Two phases, interscale fusion and a final pass (4.1, the four steps of Figure 7).

    Raw results are refined coarse to fine by the scale above, then pages and site are classified again. P(C) is the
    relative frequency of the topics at each scale: of training sites (pi), and of their pages and blocks as EM found
    them. `final` is the tree of the last pass. It is more certain than the raw one, because fusion passes the site's
    topic to every page: so its slope is learned after fusion.
    """

    name: ClassVar[str] = "multiscale"
    PARTS: ClassVar[Parts] = {"raw": (TwoPhase, ""), "links": (LinkTopics, ""), "final": (TreeScale, "final_")}
    raw: TwoPhase
    final: TreeScale
    links: LinkTopics

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn both phases, which topics link to which, and the slope of the final pass."""
        return cls._over(training.learned(TwoPhase), (), training, training.held_out_sites())

    def grown(self, training: Training, fresh: Sequence[HeldOutSite]) -> Self:
        """Steps 1.1 to 1.3."""
        return self._over(training.learned(TwoPhase), self.final.shown, training, fresh)

    @classmethod
    def _over(cls, raw: TwoPhase, shown: tuple[Scored, ...], training: Training, fresh: Sequence[HeldOutSite]) -> Self:
        """Step 1.3, the parameters of fusion; `shown` are the roots of the final pass of sites learned before."""
        smoothing = training.settings.link_smoothing
        links = LinkTopics.learn(training.topic.tolist(), training.links, training.topics, smoothing)
        first = cls(raw, raw.pages, links)
        some = fresh[:: max(1, -(-len(fresh) // CALIBRATED_SITES))]
        refined = [first._refined(site, found.site, found.pages, found.blocks, None) for site, found, _ in some]
        observed = [
            page_observations(site.page_tree, pages) for (site, *_), (_, pages) in zip(some, refined, strict=True)
        ]
        final = replace(raw.pages, shown=shown)
        return cls(raw, final.sloped(observed, [number for *_, number in some], [text for text, _ in refined]), links)

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:
        """The four steps of Figure 7."""
        text, pages, blocks = self.raw.preclassified(site)  # step 1
        refined, found = self._refined(site, text, pages, blocks, neighbours)
        parent, shown = page_observations(site.page_tree, found)
        of_site = self.final.roots(parent, self.final.evidence(shown), refined)[0]
        return TopicPrediction(of_site, found, pages, blocks)

    def none_of_these(self, site: SitePages) -> float:
        return self.raw.none_of_these(site)

    def _refined(
        self, site: SitePages, text: Floats, pages: Floats, blocks: Floats, neighbours: Neighbours | None
    ) -> tuple[Floats, Floats]:
        """P(topic | text) of the site with its context, and P(topic) of each page after steps 2, 3 and half of 4."""
        scales = (self.raw.pages, self.raw.blocks)
        priors = [scales[0].parameters.root, *(scale.prior for scale in scales)]
        raw = self.raw.classified(site, text, pages, blocks)  # step 2
        assert raw.pages is not None
        context = site_context(neighbours or Neighbours(), self.links, priors[0])
        seen = self.raw.blocks.evidence(blocks)
        shown = np.where(np.isnan(blocks), np.nan, probabilities(seen + np.log(priors[2])))
        fused = fuse_scales(raw.site, raw.pages, shown, site.page_of_node, context, priors)  # step 3
        evidence = soft_evidence(np.where(np.isnan(blocks), np.nan, fused.blocks), priors[2], floor=FLOOR)
        found = self.raw.blocks.roots(site.parent, evidence, fuse(pages, fused.site, priors[1]))  # step 4
        return fuse(text, context, priors[0]), found


def _page_scale(
    scale: TreeScale,
    fresh: Sequence[HeldOutSite],
    pages: Sequence[Floats],
    settings: TopicSettings,
    texts: Sequence[Floats] = (),
) -> TreeScale:
    """The scale of page trees with more held-out sites, from P(topic) of their pages; `texts` is that of their text."""
    observed = [page_observations(site.page_tree, found) for (site, *_), found in zip(fresh, pages, strict=True)]
    topic = [number for *_, number in fresh]
    return scale.grown(observed, topic, settings).sloped(observed, topic, texts)


def _some_pages(site: SitePages, posteriors: Floats) -> Observed:
    """The block trees of evenly spaced pages of a site."""
    pages = np.unique(np.linspace(0, len(site) - 1, LEARNED_PAGES).round().astype(np.int64))
    nodes = np.concatenate([np.arange(site.first[p], site.first[p + 1]) for p in pages.tolist()])
    return at_nodes(site.parent, posteriors, nodes)


Indexes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Superpage(TopicMethod):
    """All words of a site as one page; the nearest training sites vote (Sites 2, the baseline).

    Sublinear tf-idf over sites, cosine, k = 3. Nothing is cleaned: that is what makes it the baseline.
    """

    name: ClassVar[str] = "superpage"
    ARRAYS: ClassVar[dict[str, Held]] = {
        "key": Held(("words",), np.uint64),
        "weight": Held(("words",)),
        "row": Held(("cells",), np.int64, high="sites"),
        "column": Held(("cells",), np.int64, high="words"),
        "value": Held(("cells",)),
        **VOTING,
    }
    key: NDArray[np.uint64]
    weight: Floats
    row: Indexes
    column: Indexes
    value: Floats
    topic: Indexes
    topics: int
    nearest: int = NEAREST

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Keep the vectors of all sites; idf = log ((1 + sites) / (1 + sites with the word)) + 1."""
        words = [site.all_words for site in training.sites]
        key, sites_with = np.unique(np.concatenate([one.key for one in words]), return_counts=True)
        weight = np.log((1 + len(words)) / (1 + sites_with)) + 1.0
        rows = WordRows.join([WordRows.of(one, key).weighted(weight) for one in words])
        cells = (rows.row, rows.column, rows.value)
        return cls(key, weight, *cells, training.topic, training.topics, training.settings.nearest)

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """Votes of the nearest sites, weighted by cosine."""
        words = WordRows.of(site.all_words, self.key).weighted(self.weight)
        vector = np.zeros(len(self.key))
        vector[words.column] = words.value
        rows = WordRows(len(self.topic), self.row, self.column, self.value)
        return TopicPrediction(votes(rows.times(vector), self.topic, self.topics, self.nearest))

    def none_of_these(self, site: SitePages) -> float:
        """0 if a word is known: the baseline always answers."""
        return 0.0 if np.isin(site.all_words.key, self.key).any() else float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class TopicVector(WordMethod):
    """A site as the vector of its pages' topics: pages are classified by words, sites by the nearest such vectors.

    Cosine, k = 3. The vectors of training sites are predicted by the other sites; the only site of a topic has a
    vector with that topic alone.
    """

    name: ClassVar[str] = "topicvector"
    PARTS: ClassVar[Parts] = {"words": (TopicWords, "")}
    ARRAYS: ClassVar[dict[str, Held]] = {"vectors": Held(("sites", "topics")), **VOTING}
    words: TopicWords
    vectors: Floats
    topic: Indexes
    nearest: int = NEAREST

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn the words, and keep the vector of each site."""
        alone = np.eye(training.topics)
        vectors = [
            alone[number] if held is None else topic_counts(held.pages)
            for held, number in zip(training.held_out, training.topic.tolist(), strict=True)
        ]
        return cls(training.words, np.stack(vectors), training.topic, training.settings.nearest)

    def predict(self, site: SitePages, neighbours: Neighbours | None = None) -> TopicPrediction:  # noqa: ARG002
        """Votes of the nearest vectors."""
        pages = self.words.of_pages(site.page_words)
        cosines = _unit(self.vectors) @ _unit(topic_counts(pages))
        return TopicPrediction(votes(cosines, self.topic, pages.shape[1], self.nearest), pages, pages)


def votes(similarity: Floats, topic: Indexes, topics: int, nearest: int = NEAREST) -> Floats:
    """The share of each topic in the votes of the nearest sites, each vote weighted by its similarity.

    Of equally similar sites the first ones vote. If none is similar, all topics have the same share.
    """
    chosen = np.argsort(-similarity, kind="stable")[:nearest]
    given = np.bincount(topic[chosen], np.maximum(similarity[chosen], 0.0), topics).astype(np.float64)
    total = given.sum()
    return given / total if total > 0 else np.full(topics, 1 / topics)


def topic_counts(pages: Floats) -> Floats:
    """The number of pages of each topic, by the most probable topic; pages without known words are not counted."""
    known = pages[~np.isnan(pages[:, 0])]
    return np.bincount(known.argmax(axis=1), minlength=pages.shape[1]).astype(np.float64)


def _unit(rows: Floats) -> Floats:
    length = np.sqrt((rows * rows).sum(axis=-1, keepdims=True))
    found: Floats = rows / np.where(length > 0, length, 1.0)
    return found
