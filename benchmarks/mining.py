"""Thesis 5.5 and 5.6 on the features of shop and reference sites: the value of the weights of the CST and of W+."""

from __future__ import annotations

import itertools
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

VERTICALS = ("auto", "job", "restaurant", "movie")
CLUSTERED = "auto"
KMEANS_RUNS, KMEANS_ROUNDS = 40, 30


def svm(data: Path) -> list[tuple[str, str]]:
    """For each weighting, configuration 3 of the SVM on four verticals and k-means on car makes."""
    import scipy.sparse as sp
    from sklearn.preprocessing import normalize

    truth = pq.read_table(data / "sites-swde.parquet", columns=["page_id", "site", "vertical", "label"]).to_pylist()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, options in (
            ("tf-idf of all words", ["--weighting", "tfidf", "--all-words"]),
            ("cst, exact (5-10)", ["--no-mapped"]),
            ("cst, mapped (4.3.3), the default", []),
            ("wplus", ["--weighting", "wplus"]),
        ):
            out = Path(folder) / "features.npz"
            command = [sys.executable, "-c", "from webwinnow.cli import main; main()", "features"]
            crawl = str(data / "sites-swde.parquet")
            subprocess.run([*command, crawl, "-o", str(out), "--site-by", "column", "-q", *options], check=True)
            with np.load(out, allow_pickle=False) as found:
                matrix = sp.csr_matrix((found["data"], found["indices"], found["indptr"]), shape=tuple(found["shape"]))
                row_of = {page: k for k, page in enumerate(found["page_ids"].tolist())}
            scores = []
            for vertical in VERTICALS:
                pages = [page for page in truth if page["vertical"] == vertical and page["label"]]
                features = normalize(matrix[[row_of[page["page_id"]] for page in pages]]).tocsr()
                scores.append(f"{vertical} **{_configuration_3(pages, features):.3f}**")
                if vertical == CLUSTERED:
                    scores.append(f"k-means {vertical} **{_k_means(pages, features):.3f}**")
            rows.append((name, ", ".join(scores)))
    return rows


def _configuration_3(pages: list[dict[str, str]], features: object) -> float:
    """Train on class A of site i and class B of site j, i and j different; test on all other pages of both classes."""
    from sklearn.metrics import f1_score
    from sklearn.svm import LinearSVC

    label = np.array([page["label"] for page in pages])
    site = np.array([page["site"] for page in pages])
    found = []
    for one, other in itertools.combinations(sorted(set(label)), 2):
        both = (label == one) | (label == other)
        for i, j in itertools.permutations(sorted(set(site[both])), 2):
            train = ((label == one) & (site == i)) | ((label == other) & (site == j))
            test = both & ~train
            if len(set(label[train])) == 2 and test.any():
                machine = LinearSVC().fit(features[train], label[train])
                found.append(f1_score(label[test], machine.predict(features[test]), pos_label=one))
    return statistics.mean(found)


def _k_means(pages: list[dict[str, str]], features: object) -> float:
    """Mean F over runs from random pages, with the best matching of clusters to classes (thesis 5.6)."""
    import scipy.sparse as sp
    from scipy.optimize import linear_sum_assignment

    classes, of = np.unique([page["label"] for page in pages], return_inverse=True)
    random, found = np.random.default_rng(0), []
    for _ in range(KMEANS_RUNS):
        centres = features[random.choice(len(pages), len(classes), replace=False)].toarray()
        for _ in range(KMEANS_ROUNDS):
            nearest = np.asarray(features @ centres.T).argmax(axis=1)
            members = sp.csr_matrix((np.ones(len(of)), (nearest, np.arange(len(of)))), shape=(len(classes), len(of)))
            summed = (members @ features).toarray()
            length = np.linalg.norm(summed, axis=1, keepdims=True)
            moved = np.where(length > 0, summed / np.maximum(length, 1e-12), centres)
            if np.allclose(moved, centres):
                break
            centres = moved
        table = np.zeros((len(classes), len(classes)))
        np.add.at(table, (of, nearest), 1)
        precision = table / np.maximum(table.sum(axis=0), 1)
        recall = table / table.sum(axis=1, keepdims=True)
        score = 2 * precision * recall / np.maximum(precision + recall, 1e-9)
        found.append(score[linear_sum_assignment(-score)].mean())
    return statistics.mean(found)
