"""Reading a site page by page (Sites, Algorithm 1, steps 3.1 to 3.7): where links are followed, and when to stop.

`SiteReading` is told each page as it comes, breadth-first, and says whether its links are worth following (14) and
whether the topic of the site is settled. It fetches nothing: a crawl asks it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import SettingsError
from webwinnow.sitemining.hmt.treemodel import soft_evidence
from webwinnow.sitemining.pruning import Everything, GrowingTree, KlRule, Rule
from webwinnow.sitemining.sitepages import LEAST_PAGES, REPEATED_SHARE, PageWords, SitePages
from webwinnow.sitemining.sitetree import LinkTree
from webwinnow.sitemining.topics.topicmethod import Training
from webwinnow.sitemining.topics.treemethods import HmtMethod
from webwinnow.sitemining.topics.treescale import FLOOR
from webwinnow.sitemining.topicwords import TopicWords, WordRows
from webwinnow.urls import canonical

__all__ = ["ReadDecision", "ReadingModel", "ReadingSettings", "SiteReading"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingSettings:
    """When a page's links are followed, and when a site is settled.

    - `delta`: of the KL rule (14), in nats.
    - `unchanged`: the topic is settled when so many pages in a row did not change it by `delta` times the depth.
    - `least`: pages of every site that the tree begins with, whatever the rule says (ours: what a site repeats shows on
      several pages only, and a first page that is sure of itself would prune all others).
    """

    delta: float = 1e-3
    unchanged: int = 5
    least: int = 10

    def __post_init__(self) -> None:
        KlRule(delta=self.delta)
        for name in ("unchanged", "least"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}: expected 1 or more")


@dataclass(frozen=True, slots=True)
class ReadDecision:
    """What is made of a page: whether to `follow` its links, and whether the topic of the site is `settled`."""

    follow: bool
    settled: bool


@dataclass(frozen=True, slots=True, eq=False)
class ReadingModel:
    """What a reader has to know: the words of topics, and the hidden Markov tree over pages (method `hmt`)."""

    tree: HmtMethod

    @classmethod
    def learn(cls, training: Training) -> Self:
        """Learn from sites; what other methods learn from the same `Training` is shared."""
        return cls(training.learned(HmtMethod))

    @property
    def words(self) -> TopicWords:
        """Which words tell of which topic."""
        return self.tree.words

    def distinctness(self, site: SitePages) -> Floats:
        """How much nearer a site's words are to each topic than to the others: c / (c + mean of the others' c), c the
        cosine of the mean of its pages with the topic; 0.5 where it is as near to the others, 0 without known words.

        Every site has a likeliest topic; one that has another topic than the seeds' is about as near to all of them.
        """
        words = self.words
        mean = WordRows.of(site.page_words, words.key).weighted(words.weight).mean(len(words.key))
        length = float(np.sqrt(mean @ mean))
        if not length:
            return np.zeros(words.topics)
        near = mean @ words.direction / length
        others = (near.sum() - near) / max(words.topics - 1, 1)
        both = near + others
        found: Floats = np.divide(near, both, out=np.zeros_like(near), where=both > 0)
        return found


class SiteReading:
    """One site while it is read: its page tree grows, and the rule prunes it.

    A page speaks by its words, without blocks that stand on half of the pages read so far: the menu that all of them
    share says nothing of where they lead. `pages` and `referrers` are all pages in the order of reading, `added` says
    which of them the tree grew by, `settled` whether the topic is.
    """

    def __init__(self, model: ReadingModel | None = None, settings: ReadingSettings | None = None) -> None:
        self.model = model
        self.settings = settings or ReadingSettings()
        self.pages: list[PageWords] = []
        self.referrers: list[str | None] = []
        self.added: list[bool] = []
        self._tree = None if model is None else GrowingTree(model.tree.pages.parameters)
        self._rule = KlRule(delta=self.settings.delta)
        self._place: dict[str, int] = {}
        self._said: Counter[int] = Counter()
        self._unchanged = 0
        self.settled = False

    @property
    def posterior(self) -> Floats | None:
        """P(topic | pages so far), as the rule sees it, from `least` pages on; None without a model."""
        return None if self._tree is None else self._tree.posterior

    def read(self, page: PageWords, referrer: str | None = None) -> ReadDecision:
        """Take a page that `referrer` led to. Without a model all links are followed, and nothing is ever settled."""
        self.pages.append(page)
        self.referrers.append(referrer)
        if self._tree is None or self.model is None:
            self.added.append(True)
            return ReadDecision(follow=True, settled=False)
        self._said.update(set(page.said.tolist()) - {0})
        if len(self.pages) < self.settings.least:
            self.added.append(True)
            return ReadDecision(follow=True, settled=False)
        if len(self.pages) == self.settings.least:
            for first, above in zip(self.pages[:-1], self.referrers[:-1], strict=True):
                self._offer(first, above, Everything())
        grew = self._offer(page, referrer, self._rule)
        self.added.append(grew)
        self._unchanged = 0 if grew else self._unchanged + 1
        self.settled = self.settled or self._unchanged >= self.settings.unchanged
        return ReadDecision(follow=grew, settled=self.settled)

    def site(self, name: str) -> SitePages:
        """The site as far as it was read, with the page tree of the crawl."""
        tree = LinkTree.of_crawl([page.url for page in self.pages], self.referrers)
        return SitePages.of_pages(self.pages, name, page_tree=tree)

    def _offer(self, page: PageWords, referrer: str | None, rule: Rule) -> bool:
        """Offer a page to the tree; whether it grew."""
        assert self._tree is not None
        place = self._tree.offer(self._parent(referrer), self._evidence(page), rule)
        if place is not None:
            self._place.setdefault(canonical(page.url), place)
        return place is not None

    def _parent(self, referrer: str | None) -> int:
        """Where in the tree a page hangs; below the start page, where what led to it is not in it."""
        if self._tree is None or not len(self._tree):
            return -1
        return 0 if referrer is None else self._place.get(canonical(referrer), 0)

    def _evidence(self, page: PageWords) -> Floats:
        """Log P(topic | text) of what the page says and the site does not repeat; 0 where nothing is known."""
        assert self.model is not None
        pages = len(self.pages)
        often = [pages >= LEAST_PAGES and self._said[key] >= REPEATED_SHARE * pages for key in page.said.tolist()]
        kept = page.words.at(~np.array(often, np.bool_))
        told = self.model.words.of_pages(kept.by(np.zeros(len(page), np.int64), 1))
        found: Floats = soft_evidence(told, floor=FLOOR)[0]
        return found
