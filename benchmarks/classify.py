"""Classes of held-out sites: SVM and k-NN on two weightings, and how well their probabilities are calibrated."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from webwinnow.classify.classifiers import ChiSquareNeighbours, Classifier, Folds, LinearSVM, probabilities, slope_of
from webwinnow.classify.classmodel import Taxonomy
from webwinnow.classify.scores import ClassScores, Reliability

VERTICALS = ("auto", "restaurant", "job", "movie", "camera")
COLUMNS = ("classes", "weighting", "method", "accuracy", "macro F", "Brier score", "calibration error")
METHODS: dict[str, type[LinearSVM] | type[ChiSquareNeighbours]] = {"svm": LinearSVM, "knn": ChiSquareNeighbours}


def held_out(data: Path) -> Sequence[tuple[str, ...]]:
    """Score folds by site within each vertical, then over all verticals as paths; then compare calibration methods."""
    truth = pq.read_table(data / "sites-swde.parquet", columns=["page_id", "site", "vertical", "label"]).to_pylist()
    labelled = [page for page in truth if page["label"]]
    rows: list[tuple[str, ...]] = []
    others: dict[str, list[Reliability]] = {}
    for weighting in ("cst", "tfidf"):
        matrix, row_of = _features(data, weighting)
        for vertical in VERTICALS:
            pages = [page for page in labelled if page["vertical"] == vertical]
            features = matrix[[row_of[page["page_id"]] for page in pages]]
            for name, method in METHODS.items():
                labels, sites = [page["label"] for page in pages], [page["site"] for page in pages]
                found = method().fit(features, labels, sites)
                rows.append((vertical, weighting, name, *_scores(found, labels)))
                _compare(name, found, features, labels, others)
        features = matrix[[row_of[page["page_id"]] for page in labelled]]
        for name, method in METHODS.items():
            labels = [f"{page['vertical']}/{page['label']}" for page in labelled]
            found = method().fit(features, labels, [page["site"] for page in labelled])
            rows += [("all, level 1", weighting, name, *_first_level(found, labels))]
            rows += [("all, level 2", weighting, name, *_scores(found, labels))]
    for how, worth in sorted(others.items()):
        brier, error = (float(np.mean([getattr(one, name) for one in worth])) for name in ("brier", "expected_error"))
        rows.append((f"mean of {len(worth)}", "both", how, "", "", f"{brier:.3f}", f"{error:.3f}"))
    return rows


def _features(data: Path, weighting: str) -> tuple[Any, dict[str, int]]:
    import scipy.sparse as sp

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "features.npz"
        command = [sys.executable, "-c", "from webwinnow.cli import main; main()", "features"]
        crawl = str(data / "sites-swde.parquet")
        options = ["--site-by", "column", "-q", "--weighting", weighting]
        subprocess.run([*command, crawl, "-o", str(out), *options], check=True)
        with np.load(out, allow_pickle=False) as found:
            matrix = sp.csr_matrix((found["data"], found["indices"], found["indptr"]), shape=tuple(found["shape"]))
            return matrix, {page: k for k, page in enumerate(found["page_ids"].tolist())}


def _scores(found: Classifier, labels: list[str]) -> tuple[str, ...]:
    assert found.held_out_ is not None
    predicted = found.classes_[found.held_out_.argmax(axis=1)].tolist()
    scores = ClassScores.of(labels, predicted)
    worth = Reliability.of(found.held_out_, np.searchsorted(found.classes_, labels))
    return f"**{scores.accuracy:.3f}**", f"{scores.macro_f:.3f}", f"{worth.brier:.3f}", f"{worth.expected_error:.3f}"


def _first_level(found: Classifier, labels: list[str]) -> tuple[str, ...]:
    assert found.held_out_ is not None
    taxonomy = Taxonomy(found.classes_.tolist())
    topics, _ = taxonomy.predict(found.held_out_)
    predicted = [taxonomy.names[0][topic] for topic in topics[:, 0]]
    scores = ClassScores.of([taxonomy.at(label, 0) for label in labels], predicted)
    return f"**{scores.accuracy:.3f}**", f"{scores.macro_f:.3f}", "", ""


# Methods that turn scores into probabilities, each fitted on the other folds


def _one_slope(scores: NDArray[np.float64], truth: NDArray[np.int64], held: NDArray[np.float64]) -> NDArray[np.float64]:
    return probabilities(held, slope_of(scores, truth))


def _sigmoids(scores: NDArray[np.float64], truth: NDArray[np.int64], held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Platt's sigmoid for each class against the rest, then normalised."""
    from sklearn.linear_model import LogisticRegression

    lowest = float(scores[np.isfinite(scores)].min())
    scores, held = (np.where(np.isfinite(found), found, lowest) for found in (scores, held))
    found = np.zeros_like(held)
    for c in range(scores.shape[1]):
        inside = truth == c
        ones, zeros = int(inside.sum()), int((~inside).sum())
        high, low = (ones + 1) / (ones + 2), 1 / (zeros + 2)
        target = np.where(inside, high, low)
        twice = np.concatenate((scores[:, [c]], scores[:, [c]]))
        named = np.repeat([1, 0], len(scores))
        machine = LogisticRegression(C=1e6).fit(twice, named, sample_weight=np.concatenate((target, 1 - target)))
        found[:, c] = machine.predict_proba(held[:, [c]])[:, 1] + 1e-12
    shares: NDArray[np.float64] = found / found.sum(axis=1, keepdims=True)
    return shares


def _shares(
    scores: NDArray[np.float64],  # noqa: ARG001
    truth: NDArray[np.int64],  # noqa: ARG001
    held: NDArray[np.float64],
) -> NDArray[np.float64]:
    return np.where(np.isfinite(held), held, 0.0)


CALIBRATIONS: dict[str, dict[str, Callable[..., NDArray[np.float64]]]] = {
    "svm": {"one slope (ours)": _one_slope, "a sigmoid for each class": _sigmoids},
    "knn": {"one slope (ours)": _one_slope, "a sigmoid for each class": _sigmoids, "shares of votes": _shares},
}


def _compare(
    name: str, found: Classifier, features: Any, labels: list[str], others: dict[str, list[Reliability]]
) -> None:
    folds: Folds | None = found.folds_
    assert folds is not None
    truth = np.searchsorted(found.classes_, labels)
    scores = found._held_out(features, truth, folds)
    for how, make in CALIBRATIONS[name].items():
        worth = np.zeros_like(scores)
        for fold in range(folds.count):
            inside = folds.number == fold
            worth[inside] = make(scores[~inside], truth[~inside], scores[inside])
        others.setdefault(f"{name}, {how}", []).append(Reliability.of(worth, truth))
