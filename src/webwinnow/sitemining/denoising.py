"""Denoising a site in two stages (Sites 4.2): first its DOM nodes, then its pages.

A node is marked for removing when its text has too little to do with the topics: by the terms of a thesaurus, which is
the paper's way, by its likeness to the centroid of a topic, which is the rival that the paper names, or because a
cleaner of web pages removes it, which is ours. A page of which most nodes are marked goes as a whole. Nothing is taken
out of a tree: what comes out is a mask over the nodes of a site, as `SitePages.keeping` takes it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, SettingsError
from webwinnow.methods import DEFAULT_METHOD, CleaningSettings, method_named
from webwinnow.pagemodel import PageEvidence
from webwinnow.pagetree import PageTree
from webwinnow.sitemining.sitepages import SitePages
from webwinnow.sitemining.sitetree import NOTHING, BlockTree
from webwinnow.sitemining.thesaurus import TERMS_OF_A_TOPIC, SpelledText, Thesaurus, distinctive_terms
from webwinnow.sitemining.topicwords import TopicWords, WordRows
from webwinnow.sitemodel import learn
from webwinnow.words import stop_words

__all__ = [
    "CHOICES",
    "Choice",
    "Denoised",
    "Denoiser",
    "DenoisingSettings",
    "SiteText",
    "cleaned_nodes",
    "denoise",
    "is_removed",
    "learned_thesaurus",
    "pertinence",
    "similarity",
]

LEAST_PERTINENCE: Final = 0.1
"""Share of a node's words that belong to terms. Ours, of 0.02, 0.1 and 0.2 in one trial on sites-docs: the paper names
none."""
LEAST_SIMILARITY: Final = 0.005
"""Cosine with the nearest centroid. Ours, of 0.001, 0.002 and 0.005 in one trial on sites-docs: the paper says only
that "most similarity scores are near to zero"."""
MAJORITY: Final = 0.5
DEFAULT_LANGUAGE: Final = "en"
_WORD = re.compile(r"[^\W\d_]{2,}")

Choice = Literal["none", "repeated", "thesaurus", "centroid", "cleaner", "cleaner, thesaurus"]
CHOICES: Final[tuple[Choice, ...]] = get_args(Choice)
"""The ways of denoising that there are to compare: none; blocks that the site repeats, as `SitePages` does by itself;
terms; centroids; a cleaner; a cleaner first, then terms on what it left."""

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class DenoisingSettings:
    """Where a node is noise, and where a page is.

    - `least_pertinence`, `least_similarity`: nodes below are marked, with a thesaurus and with centroids.
    - `majority`: a page goes if a larger share of its nodes is marked.
    """

    least_pertinence: float = LEAST_PERTINENCE
    least_similarity: float = LEAST_SIMILARITY
    majority: float = MAJORITY

    def __post_init__(self) -> None:
        for name in ("least_pertinence", "least_similarity", "majority"):
            if not 0 <= getattr(self, name) <= 1:
                raise SettingsError(f"{name} is {getattr(self, name)}; expected a share from 0 to 1")


@dataclass(frozen=True, slots=True, eq=False)
class SiteText:
    """What the nodes of a site say, in the order of `SitePages`: page by page its containers, its blocks, its title.

    The nodes of page p are `first[p]:first[p + 1]`. Containers say nothing; `block` marks what can be noise.
    """

    first: NDArray[np.int64]
    block: Mask
    spelled: SpelledText

    @classmethod
    def of(cls, trees: Sequence[PageTree]) -> Self:
        """The texts of a site's pages."""
        texts: list[str] = []
        sizes, blocks = [0], []
        for tree in trees:
            nodes = BlockTree.of(tree)
            said = nodes.blocks.texts()
            title = tree.head.title.strip()
            texts += ["" if b == NOTHING else said[b] for b in nodes.block.tolist()] + [title] * bool(title)
            blocks.append(np.concatenate((nodes.block != NOTHING, np.zeros(int(bool(title)), np.bool_))))
            sizes.append(len(blocks[-1]))
        return cls(np.cumsum(sizes), np.concatenate(blocks) if blocks else np.zeros(0, np.bool_), SpelledText.of(texts))

    def __len__(self) -> int:
        return len(self.block)

    @property
    def page(self) -> NDArray[np.int64]:
        """The page of each node."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    def page_shares(self) -> dict[str, float]:
        """For each word the share of the site's pages that have it, as `distinctive_terms` takes it; no stop words."""
        times: Counter[str] = Counter()
        for begin, end in pairwise(self.first.tolist()):
            times.update(set(self.spelled.words(begin, end)))
        pages = max(len(self.first) - 1, 1)
        stops = stop_words(DEFAULT_LANGUAGE)
        return {word: count / pages for word, count in times.items() if _WORD.fullmatch(word) and word not in stops}


@dataclass(frozen=True, slots=True, eq=False)
class Denoised:
    """Which `nodes` and `pages` of a site take part. Containers always do, a title as long as its page does.

    `whole` is true where nothing would have been left: then everything takes part.
    """

    nodes: Mask
    pages: Mask
    whole: bool = False


# Stage 1: nodes


def pertinence(text: SiteText, thesaurus: Thesaurus) -> Floats:
    """Of each node the share of words that belong to terms: "the occurrence frequency of the topic-specific keywords
    and terms in that node" (4.2). 0 for a node without words.
    """
    covered = thesaurus.covered(text.spelled)
    return covered / np.maximum(text.spelled.count, 1)


def similarity(site: SitePages, topics: TopicWords) -> Floats:
    """Of each node the cosine with the centroid vector of the nearest topic (4.2, the rival); 0 without known words."""
    found = WordRows.of(site.words, topics.key).weighted(topics.weight).cosines(topics.direction)
    nearest: Floats = np.nan_to_num(found, nan=0.0).max(axis=1, initial=0.0)
    return nearest


def cleaned_nodes(trees: Sequence[PageTree], cleaning: str = DEFAULT_METHOD) -> Mask:
    """The nodes that a cleaning method keeps, the site learned from its own pages: ours, in place of text or before."""
    chosen, settings = method_named(cleaning), CleaningSettings()
    model = learn(trees, "", chosen.parts) if chosen.learns else None
    kept = []
    for tree in trees:
        evidence = PageEvidence.of(tree) if chosen.scores else None
        runs = chosen.clean(tree, model, settings, evidence).keep_runs
        nodes = BlockTree.of(tree)
        of_block = np.bincount(nodes.blocks.of_run(), weights=runs, minlength=len(nodes.blocks)) > 0
        stays = nodes.block == NOTHING
        stays[~stays] = of_block[nodes.block[~stays]]
        kept.append(np.concatenate((stays, np.ones(int(bool(tree.head.title.strip())), np.bool_))))
    return np.concatenate(kept) if kept else np.zeros(0, np.bool_)


# Stage 2: pages


def is_removed(marked: int, nodes: int, majority: float = MAJORITY) -> bool:
    """Whether a page goes: "if a majority of DOM nodes within a page is marked for removing" (4.2).

    A page without nodes says nothing and goes too.
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
    """Both stages: nodes whose score is below `least` or that say nothing are marked, then pages go.

    `among` are the nodes that a cleaner left; only these are judged and counted, and a page that has none goes. Without
    scores what the cleaner left stays. Ours: a site of which no page would be left is not denoised at all, for it has
    a topic all the same.
    """
    there = np.ones(len(text), np.bool_) if among is None else among
    if there.shape != (len(text),) or (score is not None and score.shape != (len(text),)):
        raise InputError(f"masks or scores for another site than this of {len(text)} nodes")
    judged = text.block & there & (text.spelled.count > 0)
    stays = judged if score is None else judged & (score >= least)
    pages = len(text.first) - 1
    nodes = np.bincount(text.page[judged], minlength=pages).tolist()
    left = np.bincount(text.page[stays], minlength=pages).tolist()
    kept = np.array([not is_removed(n - k, n, majority) for n, k in zip(nodes, left, strict=True)], np.bool_)
    if not kept.any():
        return Denoised(np.ones(len(text), np.bool_), np.ones(pages, np.bool_), whole=True)
    return Denoised((stays | ~text.block) & kept[text.page], kept)


# What is learned from training sites


def learned_thesaurus(
    shares: Sequence[dict[str, float]], topics: Sequence[str], terms: int = TERMS_OF_A_TOPIC
) -> Thesaurus:
    """The terms that tell of any topic: a node that has to do with one of them has to do with what is looked for.

    `shares[i]` is `SiteText.page_shares` of training site i.
    """
    found = distinctive_terms(shares, topics, terms)
    return Thesaurus(term for told in found.values() for term in told)


@dataclass(frozen=True, slots=True, eq=False)
class Denoiser:
    """A choice, ready: with the terms of its thesaurus or the words of its centroids, where it needs them."""

    choice: Choice
    settings: DenoisingSettings = field(default_factory=DenoisingSettings)
    thesaurus: Thesaurus | None = None
    words: TopicWords | None = None

    def __post_init__(self) -> None:
        if self.choice not in CHOICES:
            raise SettingsError(f"there is no denoising {self.choice!r}; there are: {'; '.join(CHOICES)}")
        if "thesaurus" in self.choice and self.thesaurus is None:
            raise SettingsError(f"denoising {self.choice!r} needs a thesaurus: give one, or learn it from sites")
        if self.choice == "centroid" and self.words is None:
            raise SettingsError("denoising 'centroid' needs the words of topics: learn them from sites")

    def denoised(self, text: SiteText, site: SitePages, cleaned: Mask | None = None) -> Denoised:
        """Which nodes and pages of a site take part; `cleaned` is what `cleaned_nodes` gave, for those with a cleaner.

        `site` tells which blocks are repeated and has the words for centroids; what is kept in it does not count.
        """
        if self.choice in ("none", "repeated"):
            nodes = np.ones(len(text), np.bool_) if self.choice == "none" else site.kept
            return Denoised(nodes, np.ones(len(site), np.bool_))
        if "cleaner" in self.choice and cleaned is None:
            raise InputError(f"denoising {self.choice!r} wants to know what a cleaner keeps")
        among = cleaned if "cleaner" in self.choice else None
        if self.choice == "cleaner":
            return denoise(text, among=among)
        settings = self.settings
        if self.choice == "centroid":
            assert self.words is not None
            return denoise(text, similarity(site, self.words), settings.least_similarity, majority=settings.majority)
        assert self.thesaurus is not None
        found = pertinence(text, self.thesaurus)
        return denoise(text, found, settings.least_pertinence, among=among, majority=settings.majority)
