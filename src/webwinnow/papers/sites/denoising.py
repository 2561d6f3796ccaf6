"""Denoising that the experiment compares with that by a given thesaurus (Sites 4.2).

Terms are learned from training sites by chi-square, as the paper extends its thesaurus with keywords of a large text;
nodes are compared with the centroids of topics (the alternative that the paper names), or cleaned by a method (ours).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import SettingsError
from webwinnow.methods.registry import DEFAULT_METHOD
from webwinnow.page.tree import PageTree
from webwinnow.page.words import StopList
from webwinnow.record.cleaner import Cleaner
from webwinnow.record.sitemodel import learn
from webwinnow.settings import share
from webwinnow.topics.denoising import MAJORITY, DenoisingSettings, SiteText, both_stages, pertinence
from webwinnow.topics.pages import SitePages
from webwinnow.topics.thesaurus import Thesaurus
from webwinnow.topics.topicwords import TopicWords
from webwinnow.topics.trees import NOTHING, BlockTree

LEAST_SIMILARITY: Final = 0.005
"""Cosine with the nearest centroid. Ours, the best of 0.001, 0.002 and 0.005 in one trial on sites-docs: the paper says
only that "most similarity scores are near to zero"."""
TERMS_PER_TOPIC: Final = 500
"""Terms of each topic that are learned from training sites (ours; not tuned)."""
LEAST_SITES: Final = 2
"""A word of a single site belongs to the site, not to its topic (ours)."""
_WORD = re.compile(r"[^\W\d_]{2,}")


Choice = Literal["none", "repeated", "thesaurus", "repeated, thesaurus", "centroid", "cleaner", "cleaner, thesaurus"]
CHOICES: Final[tuple[Choice, ...]] = get_args(Choice)
"""The denoising methods: none; blocks that the site repeats, as `SitePages` removes by default; terms; both, as `sites
train --thesaurus` does; centroids; a cleaner; a cleaner, then terms on what it kept."""

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalSettings(DenoisingSettings):
    """Also that of denoising by centroids: nodes below `least_similarity` are marked."""

    least_similarity: Annotated[float, share("centroid: nodes less similar to every topic are removed")] = (
        LEAST_SIMILARITY
    )


class Denoised(NamedTuple):
    """The `nodes` and `pages` of a site that are kept. Containers always are, a title if its page is.

    `whole` is true if nothing would have been left: then everything is kept.
    """

    nodes: Mask
    pages: Mask
    whole: bool = False


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
        kept_nodes = nodes.block == NOTHING
        kept_nodes[~kept_nodes] = of_block[nodes.block[~kept_nodes]]
        kept += [kept_nodes, np.ones(int(bool(tree.head.title.strip())), np.bool_)]
    return np.concatenate(kept)


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


# Terms


def page_shares(text: SiteText, stop_list: StopList | None = None) -> dict[str, float]:
    """The share of the site's pages that have each word, without stop words, for `distinctive_terms`."""
    times: Counter[str] = Counter()
    for begin, end in pairwise(text.first.tolist()):
        times.update(set(text.spelled.words(begin, end)))
    pages = max(len(text.first) - 1, 1)
    stops = (stop_list or StopList()).of(None)
    return {word: count / pages for word, count in times.items() if _WORD.fullmatch(word) and word not in stops}


def chi_square(with_word: Floats, without: Floats, others_with: Floats, others_without: Floats) -> Floats:
    """N (AD - CB)^2 / ((A + C)(B + D)(A + B)(C + D)), the chi-square of a word and a topic.

    A and C are pages of the topic with and without the word, B and D those of other topics. 0 for words that are less
    frequent in the topic. Not scikit-learn's `chi2`, which leaves C and D out: its values are smaller by the share of
    pages without the word.
    """
    a, b, c, d = with_word, others_with, without, others_without
    below = (a + c) * (b + d) * (a + b) * (c + d)
    cross = a * d - c * b
    positive = (cross > 0) & (below > 0)
    return np.divide((a + b + c + d) * cross * cross, below, out=np.zeros_like(cross), where=positive)


def distinctive_terms(
    shares: Sequence[dict[str, float]], topics: Sequence[str], terms: int = TERMS_PER_TOPIC
) -> dict[str, list[str]]:
    """The words with the highest chi-square for each topic over training sites, the highest first.

    `shares[i]` is the share of pages of site i that have each word, so that each site has the same weight. Ours: a word
    must be on two sites of its topic, if it has two; otherwise the names of the sites would come first.
    """
    names = sorted(set(topics))
    vocabulary = sorted(set().union(*shares))
    column = {word: k for k, word in enumerate(vocabulary)}
    held, sites_with = np.zeros((2, len(names), len(vocabulary)))
    for of_site, topic in zip(shares, topics, strict=True):
        row, at = names.index(topic), [column[word] for word in of_site]
        held[row, at] += list(of_site.values())
        sites_with[row, at] += 1
    sites = np.array([[topics.count(name)] for name in names])
    others = held.sum(axis=0) - held
    value = chi_square(held, sites - held, others, len(topics) - sites - others)
    value[sites_with < np.minimum(LEAST_SITES, sites)] = 0.0
    best = np.argsort(-value, axis=1, kind="stable")[:, :terms].tolist()
    return {name: [vocabulary[k] for k in best[row] if value[row, k] > 0] for row, name in enumerate(names)}


def learned_thesaurus(
    shares: Sequence[dict[str, float]], topics: Sequence[str], terms: int = TERMS_PER_TOPIC
) -> Thesaurus:
    """The distinctive terms of all topics; `shares[i]` is `page_shares` of training site i."""
    return Thesaurus(term for found in distinctive_terms(shares, topics, terms).values() for term in found)


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
