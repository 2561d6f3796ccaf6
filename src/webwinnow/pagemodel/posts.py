"""`PostModel`: which blocks readers wrote: comments, replies, reviews, forum posts.

The names of the elements around a block (tags, classes, ids, roles, schema.org types) give it a score, as in the page
model's linear part. Posts come in lists, so the scores of the blocks around it, of those in the same list above all,
have their say. Words have none: what readers write is about anything, in any language. Trained by `make train`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import ModelError
from webwinnow.pagemodel.features import LINEAR_SCALE, Reading, name_scores
from webwinnow.pagemodel.forest import sigmoid
from webwinnow.pagemodel.schema import TOKEN_BITS
from webwinnow.storage import ModelFormat

__all__ = ["POOLED", "POSTS_SHIPPED", "POST_ABOVE", "PostModel", "pooled"]

FORMAT = ModelFormat("post model", 2, "install webwinnow again or run `make train`")
POSTS_SHIPPED = Path(__file__).with_name("posts.npz")
POST_ABOVE = 0.7
"""Blocks that are likelier are posts. On pages of other domains 0.98 of the words found so were posts, and 0.80 of
the words of posts were found (benchmarks/post_quality.py)."""
POOLED: tuple[str, ...] = tuple("own around list near in_list siblings".split())
"""What the score of a block, the mean scores around it, and its list tell, in the order of `pooling`."""
SUREST = 8.0
"""Scores count up to this, and down to its negative: one name does not decide for its neighbours."""
HEARD = 40
"""Words of a block that count in a mean at most."""
NEAR = 3
"""Blocks to each side that are near."""
_TABLES = ("near", "mid", "far")


def pooled(reading: Reading, own: NDArray[np.float64]) -> NDArray[np.float64]:
    """One row for each of `POOLED`: a block's own score and the means of the scores around it, by words."""
    first, last, _, item, _, same, _ = reading.places
    parent, blocks = reading.blocks.tree.parent, len(own)
    weight = np.minimum(reading.words, HEARD).astype(np.float64)
    heard, said = np.zeros(blocks + 1), np.zeros(blocks + 1)
    np.cumsum(weight, out=heard[1:])
    np.cumsum(weight * own, out=said[1:])

    def mean(a: NDArray[np.int32], b: NDArray[np.int32]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = (said[b] - said[a]) / np.maximum(heard[b] - heard[a], 1.0)
        return found

    up = np.maximum(parent[reading.owner], 0)
    entry = item[reading.owner]
    in_list = entry >= 0
    entry = np.maximum(entry, 0)
    whole = np.where(in_list, np.maximum(parent[entry], 0), up)
    place = np.arange(blocks, dtype=np.int32)
    rows = np.empty((len(POOLED), blocks))
    rows[0] = own
    rows[1] = mean(first[up], last[up])
    rows[2] = mean(first[whole], last[whole])
    rows[3] = mean(np.maximum(place - NEAR, 0), np.minimum(place + NEAR + 1, blocks))
    rows[4] = in_list
    rows[5] = np.where(in_list, np.log1p(same[entry]), 0.0)
    return rows


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PostModel:
    """The weights: of names, by where they stand (see `Linear`), and `pooling`, one for each of `POOLED` and a bias."""

    near: NDArray[np.int16]
    mid: NDArray[np.int16]
    far: NDArray[np.int16]
    bias: float
    pooling: NDArray[np.float64]
    about: dict[str, Any]

    @classmethod
    def load(cls, path: Path | None = None) -> PostModel:
        """The weights of a file, or those that ship with the package, which are read once."""
        return _shipped() if path is None else cls.from_bytes(FORMAT.load(path), str(path))

    def probability(self, reading: Reading) -> NDArray[np.float64]:
        """How likely each block is a reader's post. A page none of whose blocks is one by its own names has none."""
        own = self.scores(reading)
        if not (own > 0.0).any():
            return sigmoid(own)
        logit = np.full(len(own), float(self.pooling[-1]))
        for weight, row in zip(self.pooling.tolist(), pooled(reading, own), strict=False):
            logit += weight * row
        return sigmoid(logit)

    def scores(self, reading: Reading) -> NDArray[np.float64]:
        """What the names around each block say, as log odds."""
        said = name_scores(reading, self.near, self.mid, self.far).sum(axis=0)
        scores: NDArray[np.float64] = np.clip(said / LINEAR_SCALE + self.bias, -SUREST, SUREST)
        return scores

    # To and from bytes

    def to_bytes(self) -> bytes:
        """The weights as a model file; equal weights give equal bytes."""
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in (*_TABLES, "pooling")}
        return FORMAT.pack(self.about | {"bias": self.bias, "pooled": " ".join(POOLED)}, arrays)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the post model") -> PostModel:
        """Read weights; everything in them is validated. Raises `ModelError`."""
        with FORMAT.reading(data, name) as file:
            about = file.about
            if about.pop("pooled") != " ".join(POOLED):
                raise ModelError(f"{name} was trained for another version of webwinnow; run `make train`")
            model = cls(bias=float(about.pop("bias")), about=about, **file.arrays)
            if not model._fits():
                raise ValueError("its arrays do not fit together")
        return model

    def _fits(self) -> bool:
        tables = [getattr(self, name) for name in _TABLES]
        return (
            all(table.dtype == np.int16 and table.shape == (1 << TOKEN_BITS,) for table in tables)
            and self.pooling.dtype == np.float64
            and self.pooling.shape == (len(POOLED) + 1,)
            and bool(np.isfinite(self.pooling).all() and np.isfinite(self.bias))
        )


@cache
def _shipped() -> PostModel:
    return PostModel.load(POSTS_SHIPPED)
