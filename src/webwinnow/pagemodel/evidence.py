"""`PageEvidence`: what the page model says of a page's blocks, with keys that the rest of the site can be asked about.

It is small, so a run keeps it beside the page's tree: a page is scored once, and a site is learned without its trees.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow._nodes import way_keys
from webwinnow.pagemodel.features import GENRES
from webwinnow.pagemodel.model import PageModel
from webwinnow.pagemodel.posts import POST_ABOVE, PostModel
from webwinnow.pagetree import PageTree

__all__ = ["PageEvidence"]

_HEAD = struct.Struct("<I")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageEvidence:
    """For each block that says something: its number, words, what it says (`text`), where it stands (`way`: the styles
    of its element and of the two around), the probability that it is main content, and that of being a reader's post
    (`post`); for the page the probability of each genre.
    """

    said: NDArray[np.int32]
    words: NDArray[np.int32]
    text: NDArray[np.uint64]
    way: NDArray[np.uint64]
    probability: NDArray[np.float64]
    post: NDArray[np.float64]
    genre_probability: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.said)

    @property
    def logit(self) -> NDArray[np.float64]:
        """The probabilities as log odds, finite."""
        p = np.clip(self.probability, 1e-6, 1.0 - 1e-6)
        odds: NDArray[np.float64] = np.log(p / (1.0 - p))
        return odds

    @property
    def genre(self) -> str | None:
        """The likeliest genre; None for a page that says nothing."""
        return GENRES[int(np.argmax(self.genre_probability))] if len(self.said) else None

    @property
    def is_post(self) -> NDArray[np.bool_]:
        """Blocks that readers wrote."""
        found: NDArray[np.bool_] = self.post > POST_ABOVE
        return found

    @classmethod
    def of(cls, tree: PageTree, model: PageModel | None = None) -> PageEvidence:
        """Score a page, with the weights that ship with the package if no others are given."""
        scores = (model or PageModel.load()).score(tree)
        reading = scores.reading
        return cls(
            said=reading.said.astype(np.int32),
            words=reading.words.astype(np.int32),
            text=reading.text_key,
            way=way_keys(tree.parent, tree.style)[1][reading.owner],
            probability=scores.probability,
            post=PostModel.load().probability(reading),
            genre_probability=scores.genre_probability,
        )

    def to_bytes(self) -> bytes:
        """Plain bytes that `from_bytes` reads back."""
        columns = (self.said, self.words, self.text, self.way, self.probability, self.post, self.genre_probability)
        return _HEAD.pack(len(self)) + b"".join(np.ascontiguousarray(column).tobytes() for column in columns)

    @classmethod
    def from_bytes(cls, data: bytes) -> PageEvidence:
        """Read what `to_bytes` wrote. Raises `ValueError` for anything else."""
        (blocks,) = _HEAD.unpack_from(data) if len(data) >= _HEAD.size else (0,)
        types = (np.int32, np.int32, np.uint64, np.uint64, np.float64, np.float64)
        sizes = [blocks * np.dtype(dtype).itemsize for dtype in types]
        if len(data) != _HEAD.size + sum(sizes) + 8 * len(GENRES):
            raise ValueError("this is no evidence of a page")
        at = _HEAD.size
        columns = []
        for dtype, size in zip(types, sizes, strict=True):
            columns.append(np.frombuffer(data, dtype, blocks, at))
            at += size
        said, words, text, way, probability, post = columns
        return cls(
            said=said,
            words=words,
            text=text,
            way=way,
            probability=probability,
            post=post,
            genre_probability=np.frombuffer(data, np.float64, len(GENRES), at),
        )
