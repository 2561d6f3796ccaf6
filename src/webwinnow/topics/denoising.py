"""Denoising a site in two stages (Sites 4.2): first its DOM nodes, then its pages.

A node is marked for removal if its text has too little to do with the topics, measured by the terms of a thesaurus
(the paper's method) or by its similarity to the centroid of a topic (the alternative that the paper names), or if a
page cleaning method removes it (ours). A page is removed if most of its nodes are marked. Trees are not changed: the
result is a mask over the nodes of a site, for `SitePages.keeping`, or of a page (`WordCounter`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, NamedTuple, Self, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, SettingsError
from webwinnow.methods.registry import DEFAULT_METHOD
from webwinnow.page.tree import PageTree
from webwinnow.page.words import StopList
from webwinnow.record.cleaner import Cleaner
from webwinnow.record.sitemodel import learn
from webwinnow.settings import Settings, share
from webwinnow.topics.pages import PageWords, SitePages
from webwinnow.topics.thesaurus import TERMS_PER_TOPIC, SpelledText, Thesaurus, distinctive_terms
from webwinnow.topics.topicwords import TopicWords
from webwinnow.topics.trees import NOTHING, BlockTree

LEAST_PERTINENCE: Final = 0.1
"""Share of a node's words that belong to terms. Ours, the best of 0.02, 0.1 and 0.2 in one trial on sites-docs: the
paper gives no value."""
LEAST_SIMILARITY: Final = 0.005
"""Cosine with the nearest centroid. Ours, the best of 0.001, 0.002 and 0.005 in one trial on sites-docs: the paper says
only that "most similarity scores are near to zero"."""
MAJORITY: Final = 0.5
_WORD = re.compile(r"[^\W\d_]{2,}")

Choice = Literal["none", "repeated", "thesaurus", "repeated, thesaurus", "centroid", "cleaner", "cleaner, thesaurus"]
CHOICES: Final[tuple[Choice, ...]] = get_args(Choice)
"""The denoising methods: none; blocks that the site repeats, as `SitePages` removes by default; terms; both, as `sites
train --thesaurus` does; centroids; a cleaner; a cleaner, then terms on what it kept."""

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class DenoisingSettings(Settings):
    """Thresholds of denoising by a thesaurus.

    - `least_pertinence`: nodes below are marked.
    - `majority`: a page is removed if a larger share of its nodes is marked.
    """

    least_pertinence: Annotated[float, share("thesaurus: nodes with a smaller share of terms are removed")] = (
        LEAST_PERTINENCE
    )
    majority: Annotated[float, share("a page is removed if a larger share of its nodes is")] = MAJORITY


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalSettings(DenoisingSettings):
    """Also that of denoising by centroids: nodes below `least_similarity` are marked."""

    least_similarity: Annotated[float, share("centroid: nodes less similar to every topic are removed")] = (
        LEAST_SIMILARITY
    )


@dataclass(frozen=True, slots=True, eq=False)
class SiteText:
    """The texts of the nodes of a site, in the order of `SitePages`: for each page its containers, blocks and title.

    The nodes of page p are `first[p]:first[p + 1]`. Containers have no text; `block` marks the nodes that can be noise.
    """

    first: NDArray[np.int64]
    block: Mask
    spelled: SpelledText

    @classmethod
    def of(cls, trees: Sequence[PageTree]) -> Self:
        """The texts of a site's pages."""
        texts: list[str] = []
        sizes, blocks = [0], [np.zeros(0, np.bool_)]
        for tree in trees:
            nodes = BlockTree.of(tree)
            said = nodes.blocks.texts()
            title = tree.head.title.strip()
            texts += ["" if b == NOTHING else said[b] for b in nodes.block.tolist()] + [title] * bool(title)
            blocks.append(np.concatenate((nodes.block != NOTHING, np.zeros(int(bool(title)), np.bool_))))
            sizes.append(len(blocks[-1]))
        return cls(np.cumsum(sizes), np.concatenate(blocks), SpelledText.of(texts))

    def __len__(self) -> int:
        return len(self.block)

    @property
    def page(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def page_shares(self, stop_list: StopList | None = None) -> dict[str, float]:
        """The share of the site's pages that have each word, without stop words, for `distinctive_terms`."""
        times: Counter[str] = Counter()
        for begin, end in pairwise(self.first.tolist()):
            times.update(set(self.spelled.words(begin, end)))
        pages = max(len(self.first) - 1, 1)
        stops = (stop_list or StopList()).of(None)
        return {word: count / pages for word, count in times.items() if _WORD.fullmatch(word) and word not in stops}


class Denoised(NamedTuple):
    """The `nodes` and `pages` of a site that are kept. Containers always are, a title if its page is.

    `whole` is true if nothing would have been left: then everything is kept.
    """

    nodes: Mask
    pages: Mask
    whole: bool = False


# Stage 1: nodes


def pertinence(text: SiteText, thesaurus: Thesaurus) -> Floats:
    """The share of each node's words that belong to terms: "the occurrence frequency of the topic-specific keywords
    and terms in that node" (4.2). 0 for a node without words.
    """
    covered = thesaurus.covered(text.spelled)
    return covered / np.maximum(text.spelled.count, 1)


def similarity(site: SitePages, topics: TopicWords) -> Floats:
    """The cosine of each node with the nearest topic's centroid (4.2, the alternative); 0 without known words."""
    cosines = topics.rows(site.words).cosines(topics.direction).value
    nearest: Floats = np.nan_to_num(cosines, nan=0.0).max(axis=1, initial=0.0)
    return nearest


def cleaned_nodes(trees: Sequence[PageTree], cleaning: str = DEFAULT_METHOD) -> Mask:
    """The nodes that a cleaning method keeps, with the site learned from these pages (ours)."""
    cleaner = Cleaner.of(cleaning)
    model = learn(trees, "", cleaner.method.parts) if cleaner.method.learns else None
    kept = [np.zeros(0, np.bool_)]
    for tree in trees:
        runs = cleaner.clean(tree, model).verdict.keep_runs
        nodes = BlockTree.of(tree)
        of_block = np.bincount(nodes.blocks.of_run(), weights=runs, minlength=len(nodes.blocks)) > 0
        stays = nodes.block == NOTHING
        stays[~stays] = of_block[nodes.block[~stays]]
        kept += [stays, np.ones(int(bool(tree.head.title.strip())), np.bool_)]
    return np.concatenate(kept)


# Stage 2: pages


def is_removed(marked: int, nodes: int, majority: float = MAJORITY) -> bool:
    """Whether a page is removed: "if a majority of DOM nodes within a page is marked for removing" (4.2).

    A page without nodes is removed too.
    """
    return nodes == 0 or marked > majority * nodes


def denoise(
    text: SiteText,
    score: Floats | None = None,
    least: float = 0.0,
    *,
    among: Mask | None = None,
    majority: float = MAJORITY,
) -> Denoised:
    """Both stages for a site. Ours: a site of which no page would be left is kept whole."""
    nodes, pages = both_stages(text, score, least, among=among, majority=majority)
    if not pages.any():
        return Denoised(np.ones(len(text), np.bool_), np.ones(len(pages), np.bool_), whole=True)
    return Denoised(nodes, pages)


def both_stages(
    text: SiteText,
    score: Floats | None = None,
    least: float = 0.0,
    *,
    among: Mask | None = None,
    majority: float = MAJORITY,
) -> tuple[Mask, Mask]:
    """Mark the nodes without text or with a score below `least`, then remove pages: the nodes and pages that are left.

    `among` are the nodes that a cleaner kept: only these are scored and counted, and a page without any is removed.
    Without scores all of them are kept.
    """
    there = np.ones(len(text), np.bool_) if among is None else among
    judged = text.block & there & (text.spelled.count > 0)
    stays = judged if score is None else judged & (score >= least)
    pages = len(text.first) - 1
    nodes = np.bincount(text.page[judged], minlength=pages).tolist()
    left = np.bincount(text.page[stays], minlength=pages).tolist()
    kept = np.array([not is_removed(n - k, n, majority) for n, k in zip(nodes, left, strict=True)], np.bool_)
    return (stays | ~text.block) & kept[text.page], kept


def learned_thesaurus(
    shares: Sequence[dict[str, float]], topics: Sequence[str], terms: int = TERMS_PER_TOPIC
) -> Thesaurus:
    """The distinctive terms of all topics; `shares[i]` is `SiteText.page_shares` of training site i."""
    return Thesaurus(term for found in distinctive_terms(shares, topics, terms).values() for term in found)


@dataclass(frozen=True, slots=True, eq=False)
class TermDenoiser:
    """Denoising by a thesaurus, page by page, while a site is read (Algorithm 1, step 3.3)."""

    thesaurus: Thesaurus
    settings: DenoisingSettings = field(default_factory=DenoisingSettings)

    def nodes(self, tree: PageTree) -> Mask:
        """The nodes of a page that are left, in the order of `PageWords`; none of a page that is removed."""
        text, settings = SiteText.of([tree]), self.settings
        score = pertinence(text, self.thesaurus)
        return both_stages(text, score, settings.least_pertinence, majority=settings.majority)[0]

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"settings": asdict(self.settings), "thesaurus": self.thesaurus.by_topic}

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Read the result of `to_plain`. Raises `ValueError` or `SettingsError`."""
        terms = msgspec.convert(plain["thesaurus"], dict[str, list[str]])
        try:
            return cls(Thesaurus(terms), DenoisingSettings(**plain["settings"]))
        except InputError as error:
            raise ValueError(str(error)) from None


@dataclass(frozen=True, slots=True)
class WordCounter:
    """Counts the words of pages: without stop words and, with a thesaurus, without what it removes."""

    stop_list: StopList = field(default_factory=StopList)
    denoiser: TermDenoiser | None = None

    def of(self, tree: PageTree, spelled: dict[int, str] | None = None) -> PageWords:
        """The words of a page's blocks; `spelled` gets them as text."""
        page = PageWords.of(tree, self.stop_list, spelled=spelled)
        return page if self.denoiser is None else replace(page, counted=self.denoiser.nodes(tree))


@dataclass(frozen=True, slots=True, eq=False)
class Denoiser:
    """A denoising method with the thesaurus or the topic words that it needs."""

    choice: Choice
    settings: RivalSettings = field(default_factory=RivalSettings)
    thesaurus: Thesaurus | None = None
    words: TopicWords | None = None

    def __post_init__(self) -> None:
        if "thesaurus" in self.choice and self.thesaurus is None:
            raise SettingsError(f"denoising {self.choice!r} needs a thesaurus: give one, or learn it from sites")
        if self.choice == "centroid" and self.words is None:
            raise SettingsError("denoising 'centroid' needs the words of topics: learn them from sites")

    def denoised(self, text: SiteText, site: SitePages, cleaned: Mask | None = None) -> Denoised:
        """The nodes and pages of a site that are kept.

        `site` has the repeated blocks and the words for centroids. `cleaned` is the result of `cleaned_nodes`, for the
        methods with a cleaner.
        """
        if self.choice in ("none", "repeated"):
            nodes = np.ones(len(text), np.bool_) if self.choice == "none" else site.kept
            return Denoised(nodes, np.ones(len(site), np.bool_))
        among = cleaned if "cleaner" in self.choice else None
        majority = self.settings.majority
        if self.words is not None and self.choice == "centroid":
            return denoise(text, similarity(site, self.words), self.settings.least_similarity, majority=majority)
        if self.thesaurus is None or self.choice == "cleaner":
            return denoise(text, among=among)
        found = pertinence(text, self.thesaurus)
        return denoise(text, found, self.settings.least_pertinence, among=among, majority=majority)
