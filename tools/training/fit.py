"""Fit a `PageModel` to labelled pages: each stage learns from the out-of-fold predictions of the stage before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.isotonic import IsotonicRegression

from training.boosting import fit_forest
from training.cut import cut_shift
from training.linear import fit_blocks, fit_genres, genre_rows
from training.pages import SINGLE, LabelledPage
from webwinnow.judge._genre import page_features
from webwinnow.judge.models import BoostedTrees, PageModel, best_cut, sigmoid
from webwinnow.judge.reading import GENRES, LINEAR_SCALE, Linear, block_features, context_features, linear_scores

__all__ = ["INNER_FOLDS", "fit", "folds_of"]

INNER_FOLDS = 3
"""Folds of the out-of-fold scores that the next stage learns from."""
GENRE_PAGE = 0.3
"""Weight of other pages relative to a single page for the genre, times their weight: most are articles."""
SURE = 0.1
"""Where only segments of a page are known, the second forest also learns the blocks that the first one, trained on
other sites, gives a probability below this or above its complement."""
DOUBTED = 0.9
"""The second forest does not learn a block whose label is this far from the probability that the first one, trained on
other sites, gives it: some truths end in the middle of the page, some have a box by accident."""
WORD_POWER, LEAST_SHARE = 0.6, 0.15
"""A block's weight is words^0.6; a page's weight is that of its content, but at least this share of all its blocks."""
THINNED = 3.0
"""Blocks with a lower weight than this (the mean is 1) are sampled, and then have this weight."""
FIRST: dict[str, Any] = {"iterations": 250, "depth": 6, "learning_rate": 0.1, "rsm": 0.25}
SECOND: dict[str, Any] = {"iterations": 500, "depth": 6, "learning_rate": 0.05, "rsm": 0.25}
GENRE: dict[str, Any] = {
    "iterations": 200,
    "depth": 4,
    "learning_rate": 0.1,
    "rsm": 0.3,
    "loss_function": "MultiClass",
}
CALIBRATION_KNOTS, CONFIDENCE_KNOTS = 24, 12


def folds_of(pages: Sequence[LabelledPage], folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each page; the pages of a site share one."""
    sites = sorted({page.site for page in pages})
    fold = dict(zip(np.random.default_rng(seed).permutation(sites).tolist(), range(len(sites)), strict=True))
    return np.array([fold[page.site] % folds for page in pages])


def fit(
    pages: Sequence[LabelledPage],
    *,
    seed: int = 0,
    about: dict[str, Any] | None = None,
    progress: Callable[[str], None] = print,
) -> PageModel:
    """Train all stages. Deterministic for the same pages, seed and machine."""
    return _Fit(pages, seed, progress).model(about or {})


class _Fit:
    def __init__(self, pages: Sequence[LabelledPage], seed: int, progress: Callable[[str], None]) -> None:
        self.pages, self.seed, self.progress = pages, seed, progress
        self.fold = folds_of(pages, INNER_FOLDS, seed + 1)
        self.single = np.array([page.source == SINGLE for page in pages])
        self.whole = np.array([page.truth is not None for page in pages])
        self.page_weight = np.array([page.weight for page in pages])
        self.page = np.repeat(np.arange(len(pages)), [len(page.label) for page in pages])
        self.block_fold = self.fold[self.page]
        self.words = np.concatenate([page.words for page in pages])
        label = np.concatenate([page.label for page in pages])
        self._learn_from(label >= 0.5, ~np.isnan(label))

    def _learn_from(self, content: NDArray[np.bool_], known: NDArray[np.bool_]) -> None:
        """Set the labels; only known blocks have a weight."""
        self.content, self.known = content, known & (self.words > 0)
        self.weight = self._weights()
        self.sampled = np.random.default_rng(self.seed).random(len(self.weight)) < self.weight / THINNED

    def model(self, about: dict[str, Any]) -> PageModel:
        linear, features = self._linear()
        heads, names, genre, genres = self._genres(features)
        wide = np.concatenate([np.concatenate(features, axis=1), genres.T[:, self.page]]).astype(np.float32)
        first, given = self._forest(wide, FIRST, "first forest")
        self._label_sure(sigmoid(given))
        self.sampled &= np.abs(sigmoid(given) - self.content) < DOUBTED
        wide = np.concatenate([wide, self._contexts(sigmoid(given))])
        second, logit = self._forest(wide, SECOND, "second forest")
        calibration = self._calibration(logit)
        probability = np.round(np.interp(logit, *calibration), 6)
        return PageModel(
            linear=linear,
            genre_head=heads,
            genre_names=names,
            genre=genre,
            first=first,
            second=second,
            calibration=calibration,
            confidence=self._confidence(probability),
            cut_shift=cut_shift(self.pages, self._by_page(probability), genres),
            about=about,
        )

    def _weights(self) -> NDArray[np.float64]:
        """Weights of blocks: pages have equal weight because F1 is per page; errors are relative to its content."""
        powered = self.words**WORD_POWER * self.known
        whole = np.bincount(self.page, powered, len(self.pages))
        content = np.bincount(self.page, powered * self.content, len(self.pages))
        weight = powered / np.maximum(np.maximum(content, LEAST_SHARE * whole), 1.0)[self.page]
        weight *= self.page_weight[self.page]
        return weight * self.known.sum() / weight.sum()

    def _label_sure(self, given: NDArray[np.float64]) -> None:
        """Label the blocks of pages with segments that the first forest is sure about."""
        unknown = ~self.known & ~self.whole[self.page]
        sure = unknown & ((given < SURE) | (given > 1.0 - SURE))
        self._learn_from(np.where(unknown, given > 0.5, self.content), self.known | sure)

    def _rounds(self) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
        """Training pages and pages to score, for each inner fold; then all pages and none."""
        for k in range(INNER_FOLDS):
            yield self.fold != k, self.fold == k
        yield np.ones(len(self.pages), np.bool_), np.zeros(len(self.pages), np.bool_)

    def _linear(self) -> tuple[Linear, list[NDArray[np.float32]]]:
        rows = sparse.vstack([page.rows for page in self.pages]).tocsr()
        features: list[NDArray[np.float32]] = [np.zeros((0, 0), np.float32)] * len(self.pages)
        for learn, score in self._rounds():
            use = learn[self.page] & self.known
            linear = fit_blocks(rows[use], self.content[use], self.weight[use])
            for i in np.flatnonzero(score).tolist():
                reading = self.pages[i].reading
                features[i] = block_features(reading, *linear_scores(reading, linear))
        self.progress("linear model: done")
        return linear, features

    def _genres(
        self, features: list[NDArray[np.float32]]
    ) -> tuple[NDArray[np.int16], NDArray[np.int16], BoostedTrees, NDArray[np.float64]]:
        rows = genre_rows([page.tokens for page in self.pages])
        genre = np.array([-1 if page.genre is None else page.genre for page in self.pages])
        weight = np.where(self.single, 1.0, GENRE_PAGE * self.page_weight)
        has_genre = genre >= 0
        scores = np.zeros((len(self.pages), len(GENRES)))
        for use, score in self._rounds():
            learn = use & has_genre
            heads, names = fit_genres(rows[learn], genre[learn], weight[learn])
            scores[score] = rows[score] @ (np.concatenate((heads, names)) / LINEAR_SCALE)
        stats = [page_features(f, page.reading.words) for f, page in zip(features, self.pages, strict=True)]
        columns = np.concatenate([np.array(stats), scores], axis=1).astype(np.float32).T.copy()
        found = np.zeros((len(self.pages), len(GENRES)))
        for use, score in self._rounds():
            learn = use & has_genre
            forest = fit_forest(columns[:, learn], genre[learn], weight[learn], seed=self.seed, **GENRE)
            if score.any():
                held = np.ascontiguousarray(columns[:, score])
                logits = np.array([forest.logits(held, k) for k in range(len(GENRES))]).T
                odds = np.exp(logits - logits.max(axis=1, keepdims=True))
                found[score] = odds / odds.sum(axis=1, keepdims=True)
        right = float((found.argmax(axis=1) == genre)[self.single].mean())
        self.progress(f"genre: {right:.3f} of the held-out single pages right")
        return heads, names, forest, found

    def _forest(
        self, wide: NDArray[np.float32], settings: dict[str, Any], name: str
    ) -> tuple[BoostedTrees, NDArray[np.float64]]:
        held_out = np.zeros(len(self.page))
        weight = np.maximum(self.weight, THINNED)
        for learn, score in self._rounds():
            use = learn[self.page] & self.sampled
            forest = fit_forest(wide[:, use], self.content[use], weight[use], seed=self.seed, **settings)
            if score.any():
                held = score[self.page]
                held_out[held] = forest.logits(np.ascontiguousarray(wide[:, held]))
        self.progress(f"{name}: done")
        return forest, held_out

    def _by_page(self, values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        return np.split(values, np.cumsum([len(page.label) for page in self.pages])[:-1])

    def _contexts(self, given: NDArray[np.float64]) -> NDArray[np.float32]:
        parts = zip(self.pages, self._by_page(given), strict=True)
        return np.concatenate([context_features(page.reading, part) for page, part in parts], axis=1)

    def _calibration(self, logit: NDArray[np.float64]) -> NDArray[np.float64]:
        use = self.known & self.whole[self.page]
        return _knots(logit[use], self.content[use], self.weight[use], CALIBRATION_KNOTS)

    def _confidence(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        expected, found = [], []
        for page, part in zip(self.pages, self._by_page(probability), strict=True):
            if page.truth is None:
                continue
            lowest, hoped = best_cut(part, page.reading.words)
            expected.append(hoped)
            found.append(page.f1(part >= lowest)[0])
        knots = _knots(np.array(expected), np.array(found), self.page_weight[self.whole], CONFIDENCE_KNOTS)
        return np.concatenate((np.zeros((2, 1)), knots), axis=1)  # an expected F1 of 0 maps to 0


def _knots(x: NDArray[Any], y: NDArray[Any], weight: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Isotonic regression of y on x, sampled at quantiles of the weight: few increasing knots."""
    curve = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(x, y, sample_weight=weight)
    order = np.argsort(x, kind="stable")
    reached = np.cumsum(weight[order]) / weight.sum()
    bins = np.minimum((reached * count).astype(np.int64), count - 1)
    fitted = curve.predict(x[order])
    knots = [
        (np.average(x[order][bins == k], weights=weight[order][bins == k]),
         np.average(fitted[bins == k], weights=weight[order][bins == k]))
        for k in range(count)
        if weight[order][bins == k].sum() > 0
    ]  # fmt: skip
    found = np.round(np.array(knots).T, 6)
    rising = np.concatenate(([True], np.diff(found[0]) > 0))
    return np.ascontiguousarray(found[:, rising])
