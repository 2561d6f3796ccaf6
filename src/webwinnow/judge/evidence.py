"""`PageEvidence`: the page model's result for each block of a page, with keys to look up the rest of the site.

It is small, so a run stores it beside the page's tree: a page is cut into blocks and scored once, and a site is learned
without its trees. `evidence_of` derives it from a page.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.models import POST_ABOVE, PageModel, PageScores, PostModel, log_odds
from webwinnow.judge.reading import GENRES, Reading, read
from webwinnow.page._nodes import path_keys
from webwinnow.page.blocks import Blocks
from webwinnow.page.hints import page_names
from webwinnow.page.page import Page, derived
from webwinnow.page.structures import Sections, find_sections, headlines
from webwinnow.page.tree import PageTree

_HEAD = struct.Struct("<III")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageEvidence:
    """For each block with text: its number (`said`), words, a key of its text and of its place (`path`: the styles of
    its element and of the two around), the probability of being main content and of being a reader's post (`post`); for
    the page the probability of each genre. `first_run` and `owner` are those of `Blocks`. `names` are keys of the names
    of the page, which only learning uses; None if they were not computed.
    """

    said: NDArray[np.int32]
    words: NDArray[np.int32]
    text: NDArray[np.uint64]
    path: NDArray[np.uint64]
    probability: NDArray[np.float64]
    post: NDArray[np.float64]
    genre_probability: NDArray[np.float64]
    names: NDArray[np.uint64] | None
    first_run: NDArray[np.int32]
    owner: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.said)

    @property
    def logit(self) -> NDArray[np.float64]:
        """The probabilities as log odds, finite."""
        return log_odds(self.probability)

    @property
    def genre(self) -> str | None:
        """The most probable genre; None for a page without text."""
        return GENRES[int(np.argmax(self.genre_probability))] if len(self.said) else None

    @property
    def is_post(self) -> NDArray[np.bool_]:
        """Blocks that readers wrote."""
        found: NDArray[np.bool_] = self.post > POST_ABOVE
        return found

    @classmethod
    def of(cls, tree: PageTree, model: PageModel | None = None) -> PageEvidence:
        """Score a page to learn from, with the shipped weights unless others are given."""
        return evidence_to_learn(page_with(tree, model=model))

    def blocks(self, tree: PageTree) -> Blocks:
        """The blocks of the page that this is the evidence of."""
        return Blocks(tree=tree, first_run=self.first_run.astype(np.int64), owner=self.owner)

    def to_bytes(self) -> bytes:
        """Plain bytes that `from_bytes` reads back."""
        assert self.names is not None
        columns = (np.ascontiguousarray(getattr(self, name)).tobytes() for name in _columns(0, 0, 0))
        return _HEAD.pack(len(self), len(self.owner), len(self.names)) + b"".join(columns)

    @classmethod
    def from_bytes(cls, data: bytes) -> PageEvidence:
        """Read what `to_bytes` wrote. Raises `ValueError` for anything else."""
        columns = _columns(*_HEAD.unpack_from(data)) if len(data) >= _HEAD.size else {}
        if len(data) != _HEAD.size + sum(count * np.dtype(dtype).itemsize for dtype, count in columns.values()):
            raise ValueError("this is no evidence of a page")
        found: dict[str, NDArray[Any]] = {}
        at = _HEAD.size
        for name, (dtype, count) in columns.items():
            found[name] = np.frombuffer(data, dtype, count, at)
            at += found[name].nbytes
        return cls(**found)


def _columns(said: int, blocks: int, names: int) -> dict[str, tuple[type[np.generic], int]]:
    """Type and length of each array, wide types first."""
    return {
        "text": (np.uint64, said),
        "path": (np.uint64, said),
        "names": (np.uint64, names),
        "probability": (np.float64, said),
        "post": (np.float64, said),
        "genre_probability": (np.float64, len(GENRES)),
        "said": (np.int32, said),
        "words": (np.int32, said),
        "first_run": (np.int32, blocks + 1),
        "owner": (np.int32, blocks),
    }


def page_with(
    tree: PageTree,
    evidence: PageEvidence | None = None,
    *,
    model: PageModel | None = None,
    fingerprint: int | None = None,
) -> Page:
    """A page whose evidence or fingerprint is known, or that another page model than the shipped one scores."""
    page = Page(tree, blocks=None if evidence is None else evidence.blocks(tree), fingerprint=fingerprint)
    if evidence is not None:
        page.give(evidence_of, evidence)
        if evidence.names is not None:
            page.give(names_of, evidence.names)
    if model is not None:
        page.give(page_model, model)
    return page


@derived
def page_model(_: Page) -> PageModel:
    """The page model that scores the page."""
    return PageModel.load()


@derived
def reading_of(page: Page) -> Reading:
    """Counts, tokens and places of the blocks."""
    return read(page.tree, page.blocks)


@derived
def scores_of(page: Page) -> PageScores:
    """The page model's scores."""
    return page_model(page).score(reading_of(page))


@derived
def evidence_of(page: Page) -> PageEvidence:
    """What of the scores the rest of cleaning uses."""
    reading, scores, blocks = reading_of(page), scores_of(page), page.blocks
    return PageEvidence(
        said=reading.said.astype(np.int32),
        words=reading.words.astype(np.int32),
        text=reading.text_key,
        path=path_keys(page.tree.parent, page.tree.style)[1][reading.owner],
        probability=scores.probability,
        post=PostModel.load().probability(reading),
        genre_probability=scores.genre_probability,
        names=None,
        first_run=blocks.first_run.astype(np.int32),
        owner=blocks.owner,
    )


def evidence_to_learn(page: Page) -> PageEvidence:
    """The evidence of a page that a site is learned from, with the keys of its names."""
    return replace(evidence_of(page), names=names_of(page))


@derived
def names_of(page: Page) -> NDArray[np.uint64]:
    """Keys of the names of the page."""
    return page_names(page.tree, page.hints)


# The blocks with text


@derived
def owner_of(page: Page) -> NDArray[np.int32]:
    """The nearest block element around each of the blocks with text."""
    return page.blocks.owner[evidence_of(page).said]


@derived
def spans_of(page: Page) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where in the page's text each of the blocks with text begins and ends."""
    bounds, said = page.tree.run_start[page.blocks.first_run], evidence_of(page).said
    return bounds[said], bounds[1:][said]


@derived
def shown_of(page: Page) -> NDArray[np.bool_]:
    """Which of the blocks with text browsers show."""
    found: NDArray[np.bool_] = page.tree.visible_runs[page.blocks.first_run[evidence_of(page).said]]
    found.setflags(write=False)
    return found


@derived
def sections_of(page: Page) -> Sections:
    """Headings and what they head, introductions, code and figures, over the blocks with text."""
    return find_sections(page.tree, owner_of(page), evidence_of(page).words, spans_of(page))


@derived
def headlines_of(page: Page) -> list[list[int]]:
    """Blocks with text that may be the headline, the best first."""
    return headlines(page.tree, spans_of(page), shown_of(page), sections_of(page), page.hints)
