"""Thesis 5.5, SVM configuration 3, on the features of shop and reference sites: what the CST's weights are worth."""

from __future__ import annotations

import itertools
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

VERTICALS = ("auto", "restaurant", "job")


def svm(data: Path) -> list[tuple[str, str]]:
    """Mean F of the first class over all class pairs and ordered pairs of different sites, for three weightings."""
    import scipy.sparse as sp
    from sklearn.preprocessing import normalize

    truth = pq.read_table(data / "sites-swde.parquet", columns=["page_id", "site", "vertical", "label"]).to_pylist()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, options in (
            ("tf-idf of all words", ["--weighting", "tfidf", "--all-words"]),
            ("cst, exact (5-10)", ["--no-mapped"]),
            ("cst, mapped (4.3.3), the default", []),
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
