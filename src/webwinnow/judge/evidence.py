"""`PageEvidence`: the page model's result for each block of a page, with keys to look up the rest of the site.

It is small, so a run stores it beside the page's tree: a page is cut into blocks and scored once, and a site is learned
without its trees. `PageContext` derives it from a tree.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.models import POST_ABOVE, PageModel, PageScores, PostModel, log_odds
from webwinnow.judge.reading import GENRES, Reading, read
from webwinnow.page._nodes import path_keys
from webwinnow.page.blocks import Blocks, cut
from webwinnow.page.fingerprints import page_fingerprint
from webwinnow.page.hints import Hints, page_names
from webwinnow.page.structures import Sections, Structures, find_sections, headlines
from webwinnow.page.tree import PageTree
from webwinnow.page.visualcues import VisualCues

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
        page = PageContext(tree, model=model)
        return replace(page.evidence, names=page_names(tree, page.hints))

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


class PageContext:
    """A page's tree with what cleaning derives from it, each computed at most once: blocks, structures,
    reading, scores, evidence, hints.

    Evidence, blocks or the fingerprint that are known already can be given.
    """

    def __init__(
        self,
        tree: PageTree,
        evidence: PageEvidence | None = None,
        blocks: Blocks | None = None,
        model: PageModel | None = None,
        fingerprint: int | None = None,
    ) -> None:
        self.tree = tree
        self.model = model
        self.hints = Hints(tree)
        if fingerprint is not None:
            self.fingerprint = fingerprint
        if evidence is not None:
            self.evidence = evidence
            blocks = evidence.blocks(tree) if blocks is None else blocks
        if blocks is not None:
            self.blocks = blocks

    @property
    def known_blocks(self) -> Blocks | None:
        """The blocks, if they have been computed."""
        return self.__dict__.get("blocks")

    @cached_property
    def blocks(self) -> Blocks:
        """The page cut into blocks."""
        return cut(self.tree)

    @cached_property
    def owner(self) -> NDArray[np.int32]:
        """The nearest block element around each of the blocks with text."""
        return self.blocks.owner[self.evidence.said]

    @cached_property
    def spans(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Where in the page's text each of the blocks with text begins and ends."""
        bounds, said = self.tree.run_start[self.blocks.first_run], self.evidence.said
        return bounds[said], bounds[1:][said]

    @cached_property
    def shown(self) -> NDArray[np.bool_]:
        """Which of the blocks with text browsers show."""
        tree, blocks = self.tree, self.blocks
        found: NDArray[np.bool_] = tree.visible[tree.run_owner[blocks.first_run[self.evidence.said]]]
        found.setflags(write=False)
        return found

    @cached_property
    def fingerprint(self) -> int:
        """The fingerprint of the page's text, by which a site's model knows its pages."""
        return page_fingerprint(self.tree)

    @cached_property
    def structures(self) -> Structures:
        """The tables, lists and records of the page."""
        return Structures.of(self.tree)

    @cached_property
    def sections(self) -> Sections:
        """Headings and what they head, introductions, code and figures, over the blocks with text."""
        return find_sections(self.tree, self.owner, self.evidence.words, self.spans)

    @cached_property
    def headlines(self) -> list[list[int]]:
        """Blocks with text that may be the headline, the best first."""
        return headlines(self.tree, self.spans, self.shown, self.sections, self.hints)

    @cached_property
    def visual(self) -> VisualCues | None:
        """What its layout shows about each node; None if the page was not rendered."""
        return VisualCues.of(self.blocks)

    @cached_property
    def reading(self) -> Reading:
        """Counts, tokens and places of the blocks."""
        return read(self.tree, self.blocks)

    @cached_property
    def scores(self) -> PageScores:
        """The page model's scores."""
        return (self.model or PageModel.load()).score(self.reading)

    @cached_property
    def evidence(self) -> PageEvidence:
        """What of the scores the rest of cleaning uses."""
        reading, scores, blocks = self.reading, self.scores, self.blocks
        return PageEvidence(
            said=reading.said.astype(np.int32),
            words=reading.words.astype(np.int32),
            text=reading.text_key,
            path=path_keys(self.tree.parent, self.tree.style)[1][reading.owner],
            probability=scores.probability,
            post=PostModel.load().probability(reading),
            genre_probability=scores.genre_probability,
            names=None,
            first_run=blocks.first_run.astype(np.int32),
            owner=blocks.owner,
        )
