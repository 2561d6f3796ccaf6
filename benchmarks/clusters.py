"""Clusters by subject, not by site: `cluster` on sites-news and sites-swde, next to its former default and a classic
pipeline (LSA, HDBSCAN, c-TF-IDF) over the same cleaned texts.

NMI is with the site, of all pages, outliers as a cluster of their own. NPMI is the mean over clusters and pairs of
their ten strongest words, over the documents of the cleaned texts (Bouma 2009). `site names` counts the words of
cluster names that name a site. Purity is by vertical, on the first `PAGES_A_SITE` pages of each site of sites-swde.
All clusters of `cluster` are named as now; with its former names, by mean weight, the former default had an NPMI of
-0.232 on sites-news and 0.354 on sites-swde, and one name of a site (cnn).
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

CLUSTERS = 8
PAGES_A_SITE = 25
TOP_WORDS = 10
SITE_NAMES = frozenset(("bbc", "cnn", "fox", "foxnews", "msnbc", "nation", "nymag", "thenation"))
"""Words that name the sites of sites-news: parts of their hosts, and what their pages call them."""
COLUMNS = ("collection", "method", "NMI with site", "largest", "outliers", "NPMI", "purity", "site names", "names")
FORMER = ("--weighting", "cst", "--directions", "0")


class Found(NamedTuple):
    """The cluster of each page (-1 for none), and the strongest words and name of each cluster."""

    label: dict[str, int]
    words: list[list[str]]
    names: list[str]


class Collection(NamedTuple):
    """Pages of a file with their sites and classes, and the words of their cleaned texts."""

    name: str
    path: Path
    site: dict[str, str]
    vertical: dict[str, str]
    texts: dict[str, str]


def clusters(data: Path) -> Iterator[tuple[str, ...]]:
    """Measure the default, the former default, W+, HDBSCAN, and the classic pipeline."""
    with tempfile.TemporaryDirectory() as folder:
        for collection in (_news(data, Path(folder)), _swde(data, Path(folder))):
            for name, options in {
                "former default (cst)": FORMER,
                "wplus, no LSA": ("--weighting", "wplus", "--directions", "0"),
                "default (topic, LSA)": (),
                "topic, LSA, hdbscan": ("--algorithm", "hdbscan"),
            }.items():
                yield _row(collection, name, _webwinnow(collection, Path(folder), options))
            yield _row(collection, "LSA, HDBSCAN, c-TF-IDF (scikit-learn)", _classic(collection))


def _news(data: Path, folder: Path) -> Collection:
    return _collection("sites-news", data / "sites-news.parquet", folder, "site")


def _swde(data: Path, folder: Path) -> Collection:
    table = pq.read_table(data / "sites-swde.parquet")
    seen: Counter[str] = Counter()
    kept = []
    for number, site in enumerate(table.column("site").to_pylist()):
        seen[site] += 1
        if seen[site] <= PAGES_A_SITE:
            kept.append(number)
    path = folder / "swde.parquet"
    pq.write_table(table.take(kept), path)
    return _collection("sites-swde", path, folder, "vertical")


def _collection(name: str, path: Path, folder: Path, column: str) -> Collection:
    table = pq.read_table(path, columns=sorted({"page_id", "site", column}))
    pages = table.column("page_id").to_pylist()
    site = dict(zip(pages, table.column("site").to_pylist(), strict=True))
    vertical = dict(zip(pages, table.column(column).to_pylist(), strict=True))
    out = folder / f"{name}.jsonl"
    _run("clean", path, "-o", out, "--site-by", "column", "--no-view", "--no-replicas", "-q")
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    return Collection(name, path, site, vertical, {line["page_id"]: line["text"] or "" for line in lines})


def _run(*arguments: object) -> None:
    command = [sys.executable, "-c", "from webwinnow.cli import main; main()", *map(str, arguments)]
    subprocess.run(command, check=True)


def _webwinnow(collection: Collection, folder: Path, options: Sequence[str]) -> Found:
    out, topics = folder / "clusters.jsonl", folder / "topics.json"
    given = () if "hdbscan" in options else ("-k", CLUSTERS)
    _run(
        "cluster", collection.path, "-o", out, "--no-report", "--topics", topics, "--site-by", "column", "-q", *given,
        *options,
    )  # fmt: skip
    label = {}
    for line in map(json.loads, out.read_text(encoding="utf-8").splitlines()):
        label[line["page_id"]] = -1 if line["cluster"] is None else line["cluster"] - 1
    found = json.loads(topics.read_text(encoding="utf-8"))["clusters"]
    return Found(label, [list(one["terms"]) for one in found], [one["name"] for one in found])


def _classic(collection: Collection) -> Found:
    """TF-IDF, LSA of 50 directions, HDBSCAN, and names by c-TF-IDF, as people put them together."""
    from sklearn.cluster import HDBSCAN
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.preprocessing import Normalizer

    pages = list(collection.site)
    texts = [collection.texts.get(page, "") for page in pages]
    rows = TfidfVectorizer(stop_words="english", sublinear_tf=True, min_df=2).fit_transform(texts)
    points = Normalizer().fit_transform(TruncatedSVD(50, random_state=0).fit_transform(rows))
    label = HDBSCAN(min_cluster_size=max(5, len(pages) // 100), copy=True).fit_predict(points)
    counter = CountVectorizer(stop_words="english", min_df=2)
    counts = counter.fit_transform(texts)
    names = counter.get_feature_names_out()
    every = np.asarray(counts.sum(axis=0)).ravel()
    words = []
    for cluster in range(label.max() + 1):
        own = np.asarray(counts[label == cluster].sum(axis=0)).ravel()
        strength = own / max(own.sum(), 1) * np.log1p(counts.sum() / max(label.max() + 1, 1) / every)
        words.append([str(names[k]) for k in np.argsort(-strength, kind="stable")[:TOP_WORDS]])
    return Found(dict(zip(pages, label.tolist(), strict=True)), words, [", ".join(some[:3]) for some in words])


def _row(collection: Collection, method: str, found: Found) -> tuple[str, ...]:
    from webwinnow.cluster.clustering import agreement

    pages = list(collection.site)
    label = np.array([found.label[page] for page in pages])
    sizes = np.bincount(label[label >= 0], minlength=1)
    by_site = agreement([collection.site[page] for page in pages], label)
    purity = agreement([collection.vertical[page] for page in pages], label).purity
    named = sum(word in SITE_NAMES for name in found.names for word in re.findall(r"\w+", name.lower()))
    return (
        collection.name,
        method,
        f"**{by_site.nmi:.3f}**",
        f"{sizes.max() / len(label):.1%}",
        f"{(label < 0).mean():.1%}",
        f"{coherence(found.words, list(collection.texts.values())):.3f}",
        "" if collection.name == "sites-news" else f"{purity:.3f}",
        str(named) if collection.name == "sites-news" else "",
        f"{len(found.names)}: " + "; ".join(found.names[:CLUSTERS]),
    )


def coherence(tops: Sequence[Sequence[str]], texts: Sequence[str]) -> float:
    """The mean NPMI of the pairs of top words of each cluster; -1 for a pair that no text has."""
    from webwinnow.page.words import words

    wanted = {word for top in tops for word in top}
    held: dict[str, set[int]] = defaultdict(set)
    for number, text in enumerate(texts):
        for word in wanted & set(words(text)):
            held[word].add(number)
    scores: list[Any] = []
    for top in tops:
        pairs = [_npmi(held[one], held[other], len(texts)) for k, one in enumerate(top) for other in top[:k]]
        if pairs:
            scores.append(np.mean(pairs))
    return float(np.mean(scores)) if scores else 0.0


def _npmi(one: set[int], other: set[int], texts: int) -> float:
    both = len(one & other)
    if not both:
        return -1.0
    if both == texts:
        return 1.0
    return math.log(both * texts / (len(one) * len(other))) / -math.log(both / texts)
