"""Classifiers of pages by feature vectors: a linear SVM (thesis 5.1.2); chi-square with k-NN (DocView 7.1).

Both are in the style of scikit-learn: a constructor that only stores settings, `fit`, `predict`, `predict_proba`, and
learned attributes with a trailing `_`, all of them plain arrays. Rows are pages (a CSR matrix of scipy), columns are
features. Only `LinearSVM.fit` needs scikit-learn; the rest needs scipy (extra `mining`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.counted import counted
from webwinnow.errors import MissingExtra, SettingsError, check_range
from webwinnow.features.vectors import check_csr
from webwinnow.storage.modelfile import is_within

Rows = Any
"""A CSR matrix or array of scipy, which has no types."""
Labels = Sequence[str] | NDArray[np.str_]
Arrays = dict[str, NDArray[Any]]

SVM_FEATURES = 100_000
"""Most columns of an SVM, chosen by chi-square: a limit on the size of a model that few collections reach."""
KNN_FEATURES = 5_000
NEIGHBOURS = 15
"""As for the categories of a DocView (`CategorySettings`)."""
COST = 1.0
"""C of the SVM; scikit-learn's default, which suits rows of length 1."""
MOST_CLASSES = 5_000
"""More labels are names of pages, not classes."""
MOST_ROUNDS = 5_000
CELLS = 1 << 22
"""Cells of a dense table that are computed at once."""
STEEPEST = 1e3
"""The largest slope; the smallest is its inverse."""
FOLDS = 5
LEAST_SITES = 3
"""With fewer sites, folds are by page: otherwise half of the sites would have to predict the other half."""
LEAST_SHARE = 0.5
"""Folds are by site if at least this share of pages has classes that other sites have too."""


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """The fold in which each page is held out; `by` is `site` or `page`, `why` the reason."""

    number: NDArray[np.int64]
    count: int
    by: str
    why: str


def choose_folds(
    truth: NDArray[np.int64], sites: Labels | None = None, *, most: int = FOLDS, seed: int = 0
) -> Folds | None:
    """Split pages of the classes `truth` into at most `most` folds; None with fewer than two pages or folds.

    Folds are by site, because pages of one site are similar, if there are `LEAST_SITES` sites and most pages have
    classes that are on two of them or more: a class of one site is unknown while that site is held out. Otherwise they
    are by page, stratified by class.
    """
    if most < 2 or len(truth) < 2:
        return None
    if sites is None:
        return _by_page(truth, most, seed, "no sites were given")
    names, site = np.unique(np.array([*map(str, sites)], object), return_inverse=True)
    if len(names) < LEAST_SITES:
        return _by_page(truth, most, seed, f"{len(names)} site{'s' * (len(names) != 1)}; by site from {LEAST_SITES} on")
    pairs = np.unique(np.stack((truth, site)), axis=1)
    shared = np.bincount(pairs[0], minlength=int(truth.max()) + 1)[truth] > 1
    if shared.mean() < LEAST_SHARE:
        why = f"{1 - shared.mean():.0%} of the pages are of classes that one site alone has"
        return _by_page(truth, most, seed, why)
    return _by_site(site, most, counted(len(names), "site"))


def _by_site(site: NDArray[np.int64], most: int, why: str) -> Folds:
    """The largest site goes to the fold with the fewest pages, and so on."""
    pages = np.bincount(site)
    count = min(most, len(pages))
    filled = np.zeros(count, np.int64)
    fold = np.zeros(len(pages), np.int64)
    for s in np.lexsort((np.arange(len(pages)), -pages)).tolist():
        fold[s] = int(filled.argmin())
        filled[fold[s]] += pages[s]
    return Folds(fold[site], count, "site", why)


def _by_page(truth: NDArray[np.int64], most: int, seed: int, why: str) -> Folds:
    """Pages in random order within each class, assigned in turn."""
    count = min(most, len(truth))
    order = np.lexsort((np.random.default_rng(seed).permutation(len(truth)), truth))
    fold = np.zeros(len(truth), np.int64)
    fold[order] = np.arange(len(truth)) % count
    return Folds(fold, count, "page", why)


@dataclass(kw_only=True, eq=False)
class Classifier:
    """The common base: checks, folds, held-out pages, and the slope that turns scores into probabilities.

    `fit` learns from all pages. If `folds` is 2 or more, it also learns once without each fold (`choose_folds`), and
    fits the slope on the scores of held-out pages; `held_out_` has their probabilities, with the slope of each fold
    fitted on the others. With fewer folds there is neither, and the slope is 1.
    """

    features: int
    folds: int = FOLDS
    seed: int = 0
    array_types: ClassVar[dict[str, str]]

    def __post_init__(self) -> None:
        check_range(self, "features", least=1)
        self.slope_ = 1.0
        self.folds_: Folds | None = None
        self.held_out_: NDArray[np.float64] | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def fit(self, matrix: Rows, labels: Labels, sites: Labels | None = None) -> Self:
        """Learn the classes of pages. A single class is possible: every page has it."""
        rows = _csr(matrix)
        named = np.array([*map(str, labels)], object)
        if rows.shape[0] != len(named) or not len(named) or (sites is not None and len(sites) != len(named)):
            raise SettingsError(f"{rows.shape[0]} rows and {len(named)} labels: expected one for each, and some")
        self.classes_, truth = np.unique(named, return_inverse=True)
        if len(self.classes_) > MOST_CLASSES:
            raise SettingsError(
                f"{len(self.classes_):,} classes among {len(named):,} pages, more than {MOST_CLASSES:,}; "
                "expected labels that many pages share"
            )
        truth = truth.astype(np.int64)
        self._fit(rows, truth)
        self.slope_, self.held_out_ = 1.0, None
        self.folds_ = choose_folds(truth, sites, most=self.folds, seed=self.seed) if len(self.classes_) > 1 else None
        if self.folds_ is not None:
            scores = self._held_out(rows, truth, self.folds_)
            self.slope_ = slope_of(scores, truth)
            self.held_out_ = np.zeros_like(scores)
            for fold in range(self.folds_.count):
                inside = self.folds_.number == fold
                slope = slope_of(scores[~inside], truth[~inside])
                self.held_out_[inside] = probabilities(scores[inside], slope)
        return self

    def predict_proba(self, matrix: Rows) -> NDArray[np.float64]:
        """The probability of each class, as `classes_`; for a page without a known feature, the shares in training."""
        rows = self._known(matrix)
        found = probabilities(self._scores(rows), self.slope_)
        found[np.diff(rows.indptr) == 0] = self.prior_
        return found

    def predict(self, matrix: Rows) -> NDArray[np.str_]:
        found: NDArray[np.str_] = self.classes_[self.predict_proba(matrix).argmax(axis=1)]
        return found

    def none_probability(self, matrix: Rows) -> NDArray[np.float64]:
        """The probability that a page is of none of the classes; 1 for a page without a known feature."""
        rows = self._known(matrix)
        found: NDArray[np.float64] = np.round(self._none(self._scores(rows)), 6)
        found[np.diff(rows.indptr) == 0] = 1.0
        return found

    def known(self, matrix: Rows) -> NDArray[np.bool_]:
        """Which pages have a feature that was learned from."""
        found: NDArray[np.bool_] = np.diff(self._known(matrix).indptr) > 0
        return found

    def _fit(self, rows: Rows, truth: NDArray[np.int64]) -> None:
        self.prior_ = np.bincount(truth, minlength=len(self.classes_)) / len(truth)
        self.width_ = rows.shape[1]
        self.columns_ = best_features(rows, truth, self.features)
        self._learn(_unit(rows[:, self.columns_]), truth)

    def _known(self, matrix: Rows) -> Rows:
        rows = _csr(matrix)
        if rows.shape[1] != self.width_:
            raise SettingsError(f"rows of {rows.shape[1]} columns: expected {self.width_}, as in training")
        return _unit(rows[:, self.columns_])

    def _held_out(self, rows: Rows, truth: NDArray[np.int64], folds: Folds) -> NDArray[np.float64]:
        """The scores of each page from the pages of the other folds; minus infinity for classes that those lack."""
        scores = np.full((len(truth), len(self.classes_)), -np.inf)
        for fold in range(folds.count):
            inside = folds.number == fold
            there, known = np.unique(truth[~inside], return_inverse=True)
            other = type(self)(**self.settings | {"folds": 0})
            other.classes_ = self.classes_[there]
            other._fit(rows[~inside], known.astype(np.int64))
            scores[np.ix_(inside, there)] = other._scores(other._known(rows[inside]))
        return scores

    def _learn(self, rows: Rows, truth: NDArray[np.int64]) -> None:
        raise NotImplementedError

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        raise NotImplementedError

    def _none(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """One minus the probability of the most probable class."""
        found: NDArray[np.float64] = 1 - probabilities(scores, self.slope_).max(axis=1)
        return found

    def to_arrays(self) -> Arrays:
        """What this kind of classifier learned, as arrays of `array_types`."""
        raise NotImplementedError

    def set_arrays(self, arrays: Arrays) -> None:
        """Restore the result of `to_arrays` after `classes_` and `width_`; `ValueError` if it does not fit."""
        raise NotImplementedError


@dataclass(kw_only=True, eq=False)
class LinearSVM(Classifier):
    """One hyperplane per class against all others (thesis 5.1.2), over rows of length 1.

    A score is the margin m, `<w, x> + b` (6-5). The probability of a class c is `exp(a m_c) / sum_k exp(a m_k)`, with a
    slope `a` fitted by likelihood on held-out pages: for two classes this is Platt's sigmoid (1999) without an offset.
    One slope serves all classes, so that it can be learned from classes of few pages, and the class of the widest
    margin is the most probable.
    """

    features: int = SVM_FEATURES
    cost: float = COST
    array_types: ClassVar[dict[str, str]] = {"weight": "f4", "bias": "f8"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.cost > 0:
            raise SettingsError(f"cost is {self.cost}: expected more than 0")

    def _learn(self, rows: Rows, truth: NDArray[np.int64]) -> None:
        if len(self.classes_) == 1 or not rows.shape[1]:
            self.weight_ = np.zeros((len(self.classes_), rows.shape[1]), np.float32)
            self.bias_ = np.log(self.prior_)
            return
        try:
            from sklearn.exceptions import ConvergenceWarning  # noqa: PLC0415 (an optional extra)
            from sklearn.svm import LinearSVC  # noqa: PLC0415
        except ImportError:
            raise MissingExtra("training a classifier", "mining") from None
        machine = LinearSVC(C=self.cost, dual="auto", max_iter=MOST_ROUNDS, random_state=self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(_short(rows), truth)
        weight, bias = machine.coef_, machine.intercept_
        if len(self.classes_) == 2:  # one hyperplane for both
            weight, bias = np.concatenate((-weight, weight)), np.concatenate((-bias, bias))
        self.weight_, self.bias_ = weight.astype(np.float32), bias.astype(np.float64)

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.round(rows @ self.weight_.T.astype(np.float64) + self.bias_, 6)
        return found

    def _none(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The product over classes of 1 - sigmoid(a m_c): a page on the wrong side of every hyperplane is of no class.

        Each hyperplane is taken as one answer, independent of the others (ours); with one class there is none.
        """
        if len(self.classes_) < 2:
            return np.zeros(len(scores))
        found: NDArray[np.float64] = np.exp(-np.logaddexp(0, self.slope_ * scores).sum(axis=1))
        return found

    def to_arrays(self) -> Arrays:
        return {"weight": self.weight_.ravel(), "bias": self.bias_}

    def set_arrays(self, arrays: Arrays) -> None:
        shape = (len(self.classes_), self.width_)
        if len(arrays["weight"]) != shape[0] * shape[1] or len(arrays["bias"]) != shape[0]:
            raise ValueError("arrays of different lengths")
        self.weight_, self.bias_ = arrays["weight"].reshape(shape), arrays["bias"]


@dataclass(kw_only=True, eq=False)
class ChiSquareNeighbours(Classifier):
    """The nearest training pages vote with their cosines, over the features with the highest chi-square.

    A score is a class's share of the votes. As in Yang and Liu 1999, which DocView follows; see `CategoryModel`.
    """

    features: int = KNN_FEATURES
    neighbours: int = NEIGHBOURS
    array_types: ClassVar[dict[str, str]] = {"row_data": "f8", "row_indices": "i4", "row_indptr": "i8", "truth": "i8"}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self, "neighbours", least=1)

    def _learn(self, rows: Rows, truth: NDArray[np.int64]) -> None:
        self.rows_, self.truth_ = rows, truth

    def _scores(self, rows: Rows) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.zeros((rows.shape[0], len(self.classes_)))
        step = max(CELLS // max(len(self.truth_), 1), 1)
        for start in range(0, rows.shape[0], step):
            cosines = np.round((rows[start : start + step] @ self.rows_.T).toarray(), 6)
            for at, row in enumerate(cosines, start=start):
                near = _nearest(row, self.neighbours)
                votes = np.bincount(self.truth_[near], weights=row[near], minlength=len(self.classes_))
                found[at] = votes / votes.sum() if votes.any() else self.prior_
        return np.round(found, 6, out=found)

    def to_arrays(self) -> Arrays:
        rows = self.rows_
        arrays = rows.data, rows.indices, rows.indptr, self.truth_
        return {name: array.astype(kind) for (name, kind), array in zip(self.array_types.items(), arrays, strict=True)}

    def set_arrays(self, arrays: Arrays) -> None:
        data, indices, indptr, truth = (arrays[name] for name in self.array_types)
        check_csr(data, indices, indptr, (len(truth), self.width_))
        if not len(truth) or not is_within(truth, len(self.classes_)):
            raise ValueError("its pages have no classes")
        self.rows_, self.truth_ = sparse_rows(data, indices, indptr, self.width_), truth


def best_features(rows: Rows, truth: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The columns with the greatest chi-square over the classes, ascending; ties by column, empty ones left out.

    Not scikit-learn's `chi2`: that counts pages with the feature only, so its values lack the factor N / (N - n) of a
    feature on n of N pages and give another order.
    """
    sparse = _sparse()
    there = sparse.csr_array((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
    of_feature = np.bincount(rows.indices, minlength=rows.shape[1])
    met = np.flatnonzero(of_feature)
    if len(met) <= most:
        return met
    of_class = np.bincount(truth).astype(np.float64)
    belongs = sparse.csr_array((np.ones(len(truth)), (truth, np.arange(len(truth)))), shape=(len(of_class), len(truth)))
    together = (belongs @ there).T.tocsr()
    best = np.zeros(len(met))
    step = max(CELLS // len(of_class), 1)
    for start in range(0, len(met), step):
        part = met[start : start + step]
        found = chi_square(together[part].toarray(), of_feature[part].astype(np.float64), of_class, len(truth))
        best[start : start + step] = found.max(axis=1)
    return np.sort(met[np.lexsort((met, -np.round(best, 6)))[:most]])


def chi_square(
    together: NDArray[np.float64], of_feature: NDArray[np.float64], of_category: NDArray[np.float64], pages: int
) -> NDArray[np.float64]:
    """The chi-square statistic of each feature (rows) and category (columns) (Yang and Pedersen 1997, 2.4).

    `together[f, c]` is A: pages of category c with feature f. B has the feature and another category, C the category
    without the feature, D neither; the statistic is `N (A D - C B)^2 / ((A + C)(B + D)(A + B)(C + D))`.
    """
    a = together
    b = of_feature[:, None] - a
    c = of_category[None, :] - a
    d = pages - a - b - c
    bottom = (a + c) * (b + d) * (a + b) * (c + d)
    top = pages * np.square(a * d - c * b)
    found: NDArray[np.float64] = np.divide(top, bottom, out=np.zeros_like(a), where=bottom > 0)
    return found


def probabilities(scores: NDArray[np.float64], slope: float) -> NDArray[np.float64]:
    """`exp(a s_c) / sum_k exp(a s_k)` of each row; a score of minus infinity gives 0."""
    odds = np.exp(slope * (scores - scores.max(axis=1, keepdims=True)))
    found: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
    return found


def slope_of(scores: NDArray[np.float64], truth: NDArray[np.int64]) -> float:
    """The slope of the highest likelihood of the true classes, by bisection: the likelihood is concave in it.

    As with Platt, the target of n pages in k classes is not 1 but `(n + 1) / (n + k)`, so that the slope stays finite
    if all pages are classified correctly. Pages of a class without a score are left out.
    """
    pages = np.flatnonzero(np.isfinite(scores[np.arange(len(truth)), truth]))
    if not len(pages):
        return 1.0
    scores, truth = scores[pages], truth[pages]
    finite = np.isfinite(scores)
    known = np.where(finite, scores, 0.0)
    count = finite.sum(axis=1)
    spread = known.sum(axis=1) / (len(pages) + count)
    target = known[np.arange(len(truth)), truth] * len(pages) / (len(pages) + count) + spread
    low, high = np.log(1 / STEEPEST), np.log(STEEPEST)
    while high - low > 1e-4:
        slope = (low + high) / 2
        if (target - (probabilities(scores, float(np.exp(slope))) * known).sum(axis=1)).sum() > 0:
            low = slope
        else:
            high = slope
    return round(float(np.exp((low + high) / 2)), 6)


def _nearest(like: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """The indexes of the greatest values, the first of equal ones."""
    if len(like) <= most:
        return np.arange(len(like))
    least = np.partition(like, -most)[-most]
    above = np.flatnonzero(like > least)
    return np.concatenate((above, np.flatnonzero(like == least)[: most - len(above)]))


def sparse_rows(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], width: int) -> Rows:
    """Arrays as a CSR array of this width."""
    return _sparse().csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))


def _csr(matrix: Rows) -> Rows:
    """A matrix as CSR without zeros."""
    rows = _sparse().csr_array(matrix, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    if not np.isfinite(rows.data).all():
        raise SettingsError("some features have weights that are not finite numbers")
    rows.eliminate_zeros()
    return rows


def _unit(rows: Rows) -> Rows:
    """Rows of length 1; empty rows stay empty."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    length = np.sqrt(np.bincount(row, weights=np.square(rows.data), minlength=rows.shape[0]))
    return _sparse().csr_array((rows.data / length[row], rows.indices, rows.indptr), shape=rows.shape)


def _short(rows: Rows) -> Rows:
    """Rows with 32-bit indexes, as liblinear requires."""
    if rows.nnz > np.iinfo(np.int32).max:
        raise SettingsError(f"{rows.nnz:,} cells are too many for a linear SVM; use fewer features")
    arrays = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return _sparse().csr_array(arrays, shape=rows.shape)


def _sparse() -> Any:
    try:
        from scipy import sparse  # noqa: PLC0415 (an optional extra)
    except ImportError:
        raise MissingExtra("classification", "mining") from None
    return sparse
