"""Reading a site page by page (Sites, Algorithm 1, steps 3.1 to 3.7): which links to follow, and when to stop.

`SiteReading` gets each page as it is fetched, breadth-first, and decides whether its links are worth following (14) and
whether the topic of the site is settled. It does not fetch pages itself: `PrunedFollow` steers a crawl by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.crawl.follow import CrawledPage, Next, asks_not_to
from webwinnow.errors import PageRefused
from webwinnow.page.parsing import parse
from webwinnow.page.records import PageRecord
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import canonical
from webwinnow.settings import Settings, setting
from webwinnow.topics.denoising import WordCounter
from webwinnow.topics.methods import TwoPhase
from webwinnow.topics.pages import LEAST_PAGES, REPEATED_SHARE, PageWords, SitePages, WordCounts
from webwinnow.topics.pruning import Everything, GrowingTree, KlRule, Rule
from webwinnow.topics.topicwords import TopicWords
from webwinnow.topics.training import TOLERANCE, Training
from webwinnow.topics.trees import LinkTree

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingSettings(Settings):
    """When the links of a page are followed, and when the topic of a site is settled.

    - `published`: a setting below that is None has the paper's value, otherwise ours: see `filled`.
    - `delta`: of the KL rule (14), in nats.
    - `least`: the first pages of every site, which are always added (ours: repeated blocks show on several pages only,
      and a first page with a certain topic would prune all others).
    - `unchanged`: the topic is settled when this many pages in a row did not change it by `delta` times the depth; 0:
      never, as published. A site then ends where all its links were followed or pruned.
    """

    published: Annotated[
        bool, setting("for each setting below that is none, use the paper's value (true) or ours (false)")
    ] = False
    delta: Annotated[
        float | None, setting("least change of probabilities (14), in nats: topics.tolerance, or 0.001 (ours)", least=0)
    ] = None
    least: Annotated[int | None, setting("first pages of a site, which are always added: 1, or 10 (ours)", least=1)] = (
        None
    )
    unchanged: Annotated[
        int | None, setting("unchanging pages after which a topic is settled, 0 for never: 0, or 5 (ours)", least=0)
    ] = None

    def filled(self, tolerance: float = TOLERANCE) -> FilledReading:
        """All values. Delta is published as "the convergence parameter used in the HMT training": `tolerance`."""
        usual = FilledReading(tolerance, 1, 0) if self.published else OURS
        given = {name: value for name in usual._fields if (value := getattr(self, name)) is not None}
        return usual._replace(**given)


class FilledReading(NamedTuple):
    """The settings of reading as they are used."""

    delta: float
    least: int
    unchanged: int


OURS = FilledReading(delta=1e-3, least=10, unchanged=5)
"""Our settings of reading."""


class ReadDecision(NamedTuple):
    """Whether to `follow` the links of a page, and whether the topic of the site is `settled`."""

    follow: bool
    settled: bool


@dataclass(frozen=True, slots=True, eq=False)
class ReadingModel:
    """The model of a reader: the classifiers of steps 3.5.1 to 3.5.3, of blocks, pages and sites (`twophase`)."""

    tree: TwoPhase

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn from sites; methods that are trained on the same `Training` share the work."""
        return cls(training.learned(TwoPhase))

    @property
    def words(self) -> TopicWords:
        return self.tree.words

    def evidence(self, words: WordCounts, page: PageWords) -> Floats:
        """Log P(what a page shows | topic), from its own text and its blocks; 0 where nothing is known.

        `words` are those of its nodes that count.
        """
        of_page = self.words.of_pages(words.by(np.zeros(len(page), np.int64), 1))
        if np.isnan(of_page).all():
            return np.zeros(self.words.topics)
        blocks = self.tree.blocks
        found = blocks.roots(page.parent, blocks.evidence(self.words.of_blocks(words)), of_page)
        evidence: Floats = self.tree.pages.evidence(found)[0]
        return evidence


def crawled_site(
    name: str, pages: Sequence[PageWords], referrers: Sequence[str | None], added: Sequence[bool]
) -> SitePages:
    """The site of the pages of a crawl that were added, each below its referrer."""
    kept = [page for page, there in zip(pages, added, strict=True) if there]
    above = [referrer for referrer, there in zip(referrers, added, strict=True) if there]
    return SitePages.of_pages(kept, name, page_tree=LinkTree.of_crawl([page.url for page in kept], above))


class SiteReading:
    """A site while it is read: its page tree grows, and the rule prunes it.

    The evidence of a page is its words, without blocks that are on half of the pages read so far: the menu that all
    pages share says nothing about where they lead. `pages` and `referrers` are all pages in the order of reading,
    `added` says which of them are in the tree, `settled` whether the topic is settled. Without a model all links are
    followed and no topic is settled. `tolerance` is that of training, for the published delta.
    """

    def __init__(
        self,
        model: ReadingModel | None = None,
        settings: ReadingSettings | None = None,
        *,
        tolerance: float = TOLERANCE,
    ) -> None:
        self.model = model
        self.settings = (settings or ReadingSettings()).filled(tolerance)
        self.pages: list[PageWords] = []
        self.referrers: list[str | None] = []
        self.added: list[bool] = []
        self._tree = None if model is None else GrowingTree(model.tree.pages.parameters)
        self._rule = KlRule(delta=self.settings.delta)
        self._place: dict[str, int] = {}
        self._pages_with: Counter[int] = Counter()
        self._unchanged = 0
        self.settled = False

    @property
    def posterior(self) -> Floats | None:
        """P(topic | pages so far) for the rule, from `least` pages on; None without a model."""
        return None if self._tree is None else self._tree.posterior

    def read(self, page: PageWords, referrer: str | None = None) -> ReadDecision:
        """Add a page that `referrer` led to."""
        self.pages.append(page)
        self.referrers.append(referrer)
        if self.model is not None:
            self._pages_with.update(set(page.text_key.tolist()) - {0})
        if self.model is None or len(self.pages) < self.settings.least:
            self.added.append(True)
            return ReadDecision(follow=True, settled=False)
        if len(self.pages) == self.settings.least:
            for first, above in zip(self.pages[:-1], self.referrers[:-1], strict=True):
                self._offer(first, above, Everything())
        grew = self._offer(page, referrer, self._rule)
        self.added.append(grew)
        self._unchanged = 0 if grew else self._unchanged + 1
        self.settled = self.settled or 0 < self.settings.unchanged <= self._unchanged
        return ReadDecision(follow=grew, settled=self.settled)

    def site(self, name: str) -> SitePages:
        """The pruned site: the pages that were added, with the page tree of the crawl (4.2.2)."""
        return crawled_site(name, self.pages, self.referrers, self.added)

    def _offer(self, page: PageWords, referrer: str | None, rule: Rule) -> bool:
        """Offer a page to the tree, below its referrer or, if that is not in the tree, below the start page."""
        assert self._tree is not None
        above = 0 if referrer is None else self._place.get(canonical(referrer), 0)
        place = self._tree.offer(above if len(self._tree) else -1, self._evidence(page), rule)
        if place is not None:
            self._place.setdefault(canonical(page.url), place)
        return place is not None

    def _evidence(self, page: PageWords) -> Floats:
        """The evidence of a page by the DOM tree classifier (3.5.1, 3.5.2), without blocks that the site repeats."""
        assert self.model is not None
        pages = len(self.pages)
        often = [
            pages >= LEAST_PAGES and self._pages_with[key] >= REPEATED_SHARE * pages for key in page.text_key.tolist()
        ]
        kept = ~np.array(often, np.bool_) if page.counted is None else page.counted & ~np.array(often, np.bool_)
        return self.model.evidence(page.words.at(kept), page)


class PrunedFollow:
    """Steers a crawl by one `SiteReading` per start page: links are followed where the page tree grows, and a site is
    left when its topic is settled. With `keep_trees` the trees of pages and the spelling of their words are kept.
    """

    learns = True

    def __init__(
        self, readings: dict[str, SiteReading], *, counter: WordCounter | None = None, keep_trees: bool = False
    ) -> None:
        self.readings, self.counter = readings, counter or WordCounter()
        self.keep_trees = keep_trees
        self.trees: dict[str, list[PageTree]] = {start: [] for start in readings}
        self.spelled: dict[str, dict[int, str]] = {start: {} for start in readings}

    def next(self, page: CrawledPage) -> Next:
        """The links to follow from a page."""
        reading = self.readings.get(page.start)
        if reading is None:
            return Next()
        words = self.counter.of(page.tree, self.spelled[page.start] if self.keep_trees else None)
        unwilling = asks_not_to(page.tree)
        read = reading.read(replace(words, links=()) if unwilling else words, page.referrer)
        if self.keep_trees:
            self.trees[page.start].append(page.tree)
        return Next(page.links if read.follow and not unwilling else (), leave_site=read.settled)


def stored_words(record: PageRecord, counter: WordCounter, spelled: dict[int, str] | None = None) -> PageWords | None:
    """The words of a stored page, without links if it forbids following them; None if it cannot be read."""
    try:
        tree = parse(record.body, url=record.url, content_type=record.content_type)
    except PageRefused:
        return None
    words = counter.of(tree, spelled)
    return replace(words, links=()) if asks_not_to(tree) else words


def linked_urls(pages: Sequence[PageWords]) -> set[str]:
    """The URLs that pages link to."""
    return {canonical(link) for page in pages for link in page.links}
