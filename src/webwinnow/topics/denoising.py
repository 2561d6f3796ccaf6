"""Denoising a site in two stages (Sites 4.2): first its DOM nodes, then its pages.

A node is marked for removal if its text has too little to do with the topics, measured by the terms of a thesaurus
(the paper's method) or by its similarity to the centroid of a topic (the alternative that the paper names), or if a
page cleaning method removes it (ours). A page is removed if most of its nodes are marked. Trees are not changed: the
result is a mask over the nodes of a site, for `SitePages.keeping`, or of a page (`WordCounter`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Final, Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError
from webwinnow.page.tree import PageTree
from webwinnow.page.words import StopList
from webwinnow.settings import Settings, share
from webwinnow.topics.pages import PageWords
from webwinnow.topics.thesaurus import SpelledText, Thesaurus
from webwinnow.topics.trees import NOTHING, BlockTree

LEAST_PERTINENCE: Final = 0.1
"""Share of a node's words that belong to terms. Ours, the best of 0.02, 0.1 and 0.2 in one trial on sites-docs: the
paper gives no value."""
MAJORITY: Final = 0.5
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
            block_texts = nodes.blocks.texts()
            title = tree.head.title.strip()
            texts += ["" if b == NOTHING else block_texts[b] for b in nodes.block.tolist()] + [title] * bool(title)
            blocks.append(np.concatenate((nodes.block != NOTHING, np.zeros(int(bool(title)), np.bool_))))
            sizes.append(len(blocks[-1]))
        return cls(np.cumsum(sizes), np.concatenate(blocks), SpelledText.of(texts))

    def __len__(self) -> int:
        return len(self.block)

    @property
    def page(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


# Stage 1: nodes


def pertinence(text: SiteText, thesaurus: Thesaurus) -> Floats:
    """The share of each node's words that belong to terms: "the occurrence frequency of the topic-specific keywords
    and terms in that node" (4.2). 0 for a node without words.
    """
    covered = thesaurus.covered(text.spelled)
    return covered / np.maximum(text.spelled.count, 1)


# Stage 2: pages


def is_removed(marked: int, nodes: int, majority: float = MAJORITY) -> bool:
    """Whether a page is removed: "if a majority of DOM nodes within a page is marked for removing" (4.2).

    A page without nodes is removed too.
    """
    return nodes == 0 or marked > majority * nodes


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
    left_nodes = judged if score is None else judged & (score >= least)
    pages = len(text.first) - 1
    nodes = np.bincount(text.page[judged], minlength=pages).tolist()
    left = np.bincount(text.page[left_nodes], minlength=pages).tolist()
    kept = np.array([not is_removed(n - k, n, majority) for n, k in zip(nodes, left, strict=True)], np.bool_)
    return (left_nodes | ~text.block) & kept[text.page], kept


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
