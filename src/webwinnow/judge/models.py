"""The trained models of one page, whose weights ship with the package: `PageModel` and `PostModel`.

In the page model a linear model over hashed words and class names scores each block. That score, features of the block,
its place and its page, and the page's genre go through a forest; a second forest also sees the first one's scores of
the blocks around. Trained by `make train`; see CARD.md.

The post model recognises what readers wrote: comments, replies, reviews, forum posts. The names of the elements around
a block (tags, classes, ids, roles, schema.org types) give it a score. Posts come in lists, so the scores of the blocks
around it, of those in the same list above all, count too. Words do not: readers write about anything, in any language.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import isfinite, sqrt
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import ModelError
from webwinnow.judge._genre import forest_row, page_features
from webwinnow.judge._scoring import best_cut as _best_cut
from webwinnow.judge._scoring import distinct_sums, forest_sums
from webwinnow.judge.featureschema import CONTEXTS, FEATURES, MOST_LEVELS, TOKEN_BITS, WORD_BITS
from webwinnow.judge.reading import (
    GENRES,
    HEAD_BITS,
    HEADING_BITS,
    LINEAR_SCALE,
    Linear,
    Reading,
    block_features,
    context_features,
    head_tokens,
    linear_scores,
    name_scores,
    read,
)
from webwinnow.page.tree import PageTree
from webwinnow.storage.modelfile import ModelFormat

LEAF_SCALE = 8192.0
"""Leaves are integers over this: sums do not depend on their order."""


def sigmoid(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logits as probabilities, rounded to 1e-6: they are compared later."""
    return rounded(1.0 / (1.0 + np.exp(-np.minimum(np.maximum(logit, -30.0), 30.0))))


def rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values rounded to 1e-6, as `np.round` does in more time."""
    found: NDArray[np.float64] = np.rint(values * 1e6) / 1e6
    return found


def log_odds(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities as log odds, finite."""
    p = np.clip(probability, 1e-6, 1.0 - 1e-6)
    odds: NDArray[np.float64] = np.log(p / (1.0 - p))
    return odds


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoostedTrees:
    """Boosted oblivious trees. Each level has one test, `feature[t, d] > border[t, d]`; the results number the leaf.

    `leaves[k, t]` are the leaves of tree t for output k.
    """

    feature: NDArray[np.int16]
    border: NDArray[np.float32]
    leaves: NDArray[np.int16]
    bias: NDArray[np.float64]

    def logits(self, columns: NDArray[np.float32], output: int = 0) -> NDArray[np.float64]:
        """The score of each column of features."""
        sums = forest_sums(columns, self.feature, self.border, self.leaves[output])
        scores: NDArray[np.float64] = sums / LEAF_SCALE + self.bias[output]
        return scores

    def logits_of(self, row: NDArray[np.float32]) -> NDArray[np.float64]:
        """All outputs for one row of features."""
        sums = forest_row(row, self.feature, self.border, self.leaves)
        scores: NDArray[np.float64] = sums / LEAF_SCALE + self.bias
        return scores

    def fits(self, features: int) -> bool:
        """Whether the arrays fit together and test only features that exist."""
        if not (self.feature.ndim == self.border.ndim == 2 and self.leaves.ndim == 3 and self.bias.ndim == 1):
            return False
        trees, levels = self.feature.shape
        return (
            levels <= MOST_LEVELS
            and self.border.shape == (trees, levels)
            and self.leaves.shape == (len(self.bias), trees, 1 << levels)
            and self.feature.dtype == self.leaves.dtype == np.dtype(np.int16)
            and self.border.dtype == np.dtype(np.float32)
            and bool(np.all((self.feature >= 0) & (self.feature < features)))
            and bool(np.isfinite(self.border).all() and np.isfinite(self.bias).all())
        )


Favor = Literal["precision", "recall"]
BETA: dict[Favor | None, float] = {None: 1.0, "precision": 0.5, "recall": 2.0}
"""The beta of F-beta (van Rijsbergen 1979, chapter 7): recall counts beta times as much as precision."""


LEAST_CUT = 0.02
"""No shift lowers a cut below this."""


def best_cut(
    probability: NDArray[np.float64], words: NDArray[np.int32], favor: Favor | None = None
) -> tuple[float, float]:
    """The lowest probability to keep, and the expected F-beta of the page then: (1 + b2) TP / (kept + b2 content), with
    TP = sum of p w over what is kept.

    Of all sets of blocks the best contains those above some probability (the ratio of two sums is highest where each
    part is above the ratio), so only those sets are tried. Ties go to the shorter text.
    """
    return _best_cut(
        np.ascontiguousarray(probability, np.float64), np.ascontiguousarray(words, np.int32), BETA[favor] ** 2
    )


FORMAT = ModelFormat("page model", 2, "install webwinnow again or run `make train`")
SHIPPED = Path(__file__).with_name("weights.npz")
_LINEAR = {"words": WORD_BITS, "near": TOKEN_BITS, "mid": TOKEN_BITS, "far": TOKEN_BITS, "heading": HEADING_BITS}
_FORESTS = ("genre", "first", "second")
_FOREST_PARTS = ("feature", "border", "leaves", "bias")


@dataclass(frozen=True, slots=True, eq=False)
class PageScores:
    """For each block with text (`reading.said`) the calibrated probability of being main content, and for the page the
    probability of each of `GENRES`. `features` is the input of the second forest.
    """

    reading: Reading
    probability: NDArray[np.float64]
    genre_probability: NDArray[np.float64]
    features: NDArray[np.float32]

    @property
    def genre(self) -> str | None:
        """The most probable genre; None for a page without text."""
        return GENRES[int(np.argmax(self.genre_probability))] if len(self.probability) else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageModel:
    """The weights. `calibration` and `confidence` are knots (x ascending, y) measured on held-out pages: the second
    forest's logit against the share of content, the expected F1 against the actual F1. `cut_shift` is what each genre
    adds to the cut with the highest expected F1.
    """

    linear: Linear
    genre_head: NDArray[np.int16]
    genre_names: NDArray[np.int16]
    genre: BoostedTrees
    first: BoostedTrees
    second: BoostedTrees
    calibration: NDArray[np.float64]
    confidence: NDArray[np.float64]
    cut_shift: NDArray[np.float64]
    about: dict[str, Any]

    @classmethod
    def load(cls, path: Path | None = None) -> PageModel:
        """The weights of a file, or the shipped ones, which are read once."""
        return _shipped() if path is None else cls.from_bytes(FORMAT.load(path), str(path))

    def score(self, page: PageTree | Reading) -> PageScores:
        """Score each block of a page, given as its tree or as read already."""
        reading = page if isinstance(page, Reading) else read(page)
        if not len(reading.said):
            features = np.zeros((len(FEATURES) + len(GENRES) + len(CONTEXTS), 0), np.float32)
            return PageScores(reading, np.zeros(0), np.zeros(len(GENRES)), features)
        wide = np.empty((len(FEATURES) + len(GENRES) + len(CONTEXTS), len(reading.said)), np.float32)
        features = block_features(reading, *linear_scores(reading, self.linear), wide[: len(FEATURES)])
        genres = self.genre_probability(reading, features)
        wide[len(FEATURES) : -len(CONTEXTS)] = genres[:, None]
        given = sigmoid(self.first.logits(wide))
        context_features(reading, given, wide[-len(CONTEXTS) :])
        probability = rounded(np.interp(self.second.logits(wide), *self.calibration))
        return PageScores(reading, probability, genres, wide)

    def genre_probability(self, reading: Reading, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """The probability of each of `GENRES`."""
        row = np.concatenate((page_features(features, reading.words), self.genre_scores(reading)), dtype=np.float32)
        logits = self.genre.logits_of(row)
        odds = np.exp(logits - logits.max())
        return rounded(odds / odds.sum())

    def genre_scores(self, reading: Reading) -> NDArray[np.float64]:
        """Scores of the linear model of genres: tokens of the head and of the names of elements."""
        head = head_tokens(reading.blocks.tree.head)
        tokens, of_tokens = distinct_sums(head, self.genre_head)
        names, of_names = distinct_sums(reading.node_ids, self.genre_names)
        said = of_tokens / sqrt(max(tokens, 1)) + of_names / sqrt(max(names, 1))
        scores: NDArray[np.float64] = said / LINEAR_SCALE
        return scores

    def cut(
        self,
        probability: NDArray[np.float64],
        words: NDArray[np.int32],
        favor: Favor | None = None,
        genre: NDArray[np.float64] | None = None,
    ) -> float:
        """The lowest probability to keep, on a page of these probabilities of genres."""
        return self._shifted(best_cut(probability, words, favor)[0], probability, genre)

    def judged(
        self,
        probability: NDArray[np.float64],
        words: NDArray[np.int32],
        favor: Favor | None = None,
        genre: NDArray[np.float64] | None = None,
    ) -> tuple[float, float]:
        """The lowest probability to keep, and the confidence: the F1 of such pages in training, cut for F1."""
        lowest, expected = best_cut(probability, words)
        quality = round(float(np.interp(expected, *self.confidence)), 6)
        if favor is not None:
            return self.cut(probability, words, favor, genre), quality
        return self._shifted(lowest, probability, genre), quality

    def _shifted(self, lowest: float, probability: NDArray[np.float64], genre: NDArray[np.float64] | None) -> float:
        """The cut with the shift of the genre; something is kept wherever it was."""
        if genre is None or not isfinite(lowest):
            return lowest
        shifted = max(lowest + round(float(genre @ self.cut_shift), 6), min(lowest, LEAST_CUT))
        return min(shifted, float(probability.max()))

    # To and from bytes

    def to_bytes(self) -> bytes:
        """The weights as a model file; equal weights give equal bytes."""
        arrays: dict[str, NDArray[Any]] = {f"linear_{name}": getattr(self.linear, name) for name in _LINEAR}
        arrays |= {"genre_head": self.genre_head, "genre_names": self.genre_names}
        for forest in _FORESTS:
            arrays |= {f"{forest}_{part}": getattr(getattr(self, forest), part) for part in _FOREST_PARTS}
        arrays |= {"calibration": self.calibration, "confidence": self.confidence, "cut_shift": self.cut_shift}
        return FORMAT.pack(self.about | {"bias": self.linear.bias, "features": _feature_names()}, arrays)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the page model") -> PageModel:
        """Read weights; everything in them is validated. Raises `ModelError`."""
        with FORMAT.reading(data, name) as file:
            about, found = file.about, file.arrays
            bias = float(about.pop("bias"))
            if about.pop("features") != _feature_names():
                raise ModelError(f"{name} was trained for another version of webwinnow; run `make train`")
            model = cls(
                linear=Linear(bias=bias, **{part: found[f"linear_{part}"] for part in _LINEAR}),
                genre_head=found["genre_head"],
                genre_names=found["genre_names"],
                **{
                    forest: BoostedTrees(**{part: found[f"{forest}_{part}"] for part in _FOREST_PARTS})
                    for forest in _FORESTS
                },
                calibration=found["calibration"],
                confidence=found["confidence"],
                cut_shift=found.get("cut_shift", np.zeros(len(GENRES))),
                about=about,
            )
            if not model._fits():
                raise ValueError("its arrays do not fit together")
        return model

    def _fits(self) -> bool:
        tables = [getattr(self.linear, part) for part in _LINEAR]
        return (
            all(
                t.dtype == np.int16 and t.shape == (1 << bits,)
                for t, bits in zip(tables, _LINEAR.values(), strict=True)
            )
            and np.isfinite(self.linear.bias)
            and self.genre_head.dtype == self.genre_names.dtype == np.int16
            and self.genre_head.shape == (1 << HEAD_BITS, len(GENRES))
            and self.genre_names.shape == (1 << TOKEN_BITS, len(GENRES))
            and self.genre.fits(2 * len(FEATURES) + len(GENRES))
            and len(self.genre.bias) == len(GENRES)
            and self.first.fits(len(FEATURES) + len(GENRES))
            and self.second.fits(len(FEATURES) + len(GENRES) + len(CONTEXTS))
            and len(self.first.bias) == len(self.second.bias) == 1
            and all(_are_knots(knots) for knots in (self.calibration, self.confidence))
            and self.cut_shift.dtype == np.float64
            and self.cut_shift.shape == (len(GENRES),)
            and bool((np.abs(self.cut_shift) <= 1.0).all())
        )


def _are_knots(knots: NDArray[Any]) -> bool:
    """Whether an array has two rows, x ascending and y between 0 and 1."""
    return (
        knots.ndim == 2
        and len(knots) == 2
        and knots.shape[1] > 0
        and knots.dtype == np.float64
        and bool(np.isfinite(knots).all() and (np.diff(knots[0]) > 0).all())
        and bool(((knots[1] >= 0) & (knots[1] <= 1)).all())
    )


def _feature_names() -> str:
    return " ".join((*FEATURES, *GENRES, *CONTEXTS))


@cache
def _shipped() -> PageModel:
    return PageModel.load(SHIPPED)


POSTS_FORMAT = ModelFormat("post model", 2, "install webwinnow again or run `make train`")
POSTS_SHIPPED = Path(__file__).with_name("posts.npz")
POST_ABOVE = 0.7
"""Blocks above this probability are posts. On pages of other domains 0.98 of the words found so were posts, and 0.80 of
the words of posts were found (benchmarks/post_quality.py)."""
POOLED: tuple[str, ...] = tuple("own around list near in_list siblings".split())
"""A block's score, the mean scores around it, and its list, in the order of `pooling`."""
SUREST = 8.0
"""Scores are clipped to plus or minus this: one name does not decide for its neighbours."""
MOST_WEIGHT = 40
"""The most words of a block that count in a mean."""
NEAR = 3
"""Blocks to each side that are near."""
_TABLES = ("near", "mid", "far")


def pooled(reading: Reading, own: NDArray[np.float64]) -> NDArray[np.float64]:
    """One row for each of `POOLED`: a block's own score and the means of the scores around it, by words."""
    first, last, _, item, _, same, _ = reading.places
    parent, blocks = reading.blocks.tree.parent, len(own)
    weight = np.minimum(reading.words, MOST_WEIGHT).astype(np.float64)
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
    """The weights: of names, by their place (see `Linear`), and `pooling`, one for each of `POOLED` and a bias."""

    near: NDArray[np.int16]
    mid: NDArray[np.int16]
    far: NDArray[np.int16]
    bias: float
    pooling: NDArray[np.float64]
    about: dict[str, Any]

    @classmethod
    def load(cls, path: Path | None = None) -> PostModel:
        """The weights of a file, or the shipped ones, which are read once."""
        return _shipped_posts() if path is None else cls.from_bytes(POSTS_FORMAT.load(path), str(path))

    def probability(self, reading: Reading) -> NDArray[np.float64]:
        """The probability that each block is a post. Without a post by its own names a page has none."""
        own = self.scores(reading)
        if not (own > 0.0).any():
            return sigmoid(own)
        logit = np.full(len(own), float(self.pooling[-1]))
        for weight, row in zip(self.pooling.tolist(), pooled(reading, own), strict=False):
            logit += weight * row
        return sigmoid(logit)

    def scores(self, reading: Reading) -> NDArray[np.float64]:
        """The score of the names around each block, as log odds."""
        said = name_scores(reading, self.near, self.mid, self.far).sum(axis=0)
        scores: NDArray[np.float64] = np.minimum(np.maximum(said / LINEAR_SCALE + self.bias, -SUREST), SUREST)
        return scores

    # To and from bytes

    def to_bytes(self) -> bytes:
        """The weights as a model file; equal weights give equal bytes."""
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in (*_TABLES, "pooling")}
        return POSTS_FORMAT.pack(self.about | {"bias": self.bias, "pooled": " ".join(POOLED)}, arrays)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the post model") -> PostModel:
        """Read weights; everything in them is validated. Raises `ModelError`."""
        with POSTS_FORMAT.reading(data, name) as file:
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
def _shipped_posts() -> PostModel:
    return PostModel.load(POSTS_SHIPPED)
