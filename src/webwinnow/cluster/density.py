"""Clusters by density (HDBSCAN): their number is found, and pages between them are outliers."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN
from threadpoolctl import threadpool_limits

from webwinnow.cluster.clustering import NO_CLUSTER, Clustering, Labels, UnitRows, members
from webwinnow.cluster.tree import cluster_tree

LEAST_PAGES: Final = 5
"""By default a cluster has at least half the square root of the number of pages, and this many (ours)."""
NEIGHBOURS: Final = 3
"""Neighbours that make a page dense (`min_samples`): few, because latent directions are sparse."""
JOIN_SHARE: Final = 0.4
"""A page between clusters joins the nearest if its cosine to the centroid is at least this share of the mean of the
cluster's pages. On sites-news 0.3, 0.4 and 0.5 leave 5, 12 and 23 % of the pages as outliers; HDBSCAN alone 70 %."""


def density_clusters(unit: UnitRows, *, least_pages: int | None = None, k: int | None = None) -> Clustering:
    """Cluster unit rows by HDBSCAN (Campello, Moulavi and Sander 2013); of more than `k` clusters the nearest merge.

    The leaves of its tree are the clusters. A page between them joins the nearest unless it is far from its centroid
    (`JOIN_SHARE`); the others are outliers (`NO_CLUSTER`).
    """
    pages = len(unit.page)
    least = least_pages or max(LEAST_PAGES, round(math.sqrt(pages) / 2))
    label = np.full(pages, NO_CLUSTER, np.int32)
    if pages >= 2 * least:
        with threadpool_limits(1):
            found = HDBSCAN(
                min_cluster_size=least,
                min_samples=min(NEIGHBOURS, least),
                cluster_selection_method="leaf",
                n_jobs=1,
                copy=True,
            ).fit_predict(unit.rows.toarray().astype(np.float64))
        label = np.where(found >= 0, found, NO_CLUSTER).astype(np.int32)
    if label.max(initial=NO_CLUSTER) < 1:  # no two groups: all pages are one cluster
        label = np.zeros(pages, np.int32)
    label = _joined(label, _cosines(unit, label))
    if k is not None and label.max() >= k:
        alone = UnitRows(unit.rows, unit.columns, np.arange(pages), pages)
        groups = np.array(cluster_tree(alone, label, lambda _: "").cut(k))
        _, number = np.unique(groups, return_inverse=True)
        label = np.where(label >= 0, number[label], NO_CLUSTER).astype(np.int32)
    cosine = _cosines(unit, label)
    return unit.clustering(label, np.where(label >= 0, cosine[np.arange(pages), np.maximum(label, 0)], 0))


def _cosines(unit: UnitRows, label: Labels) -> NDArray[np.float64]:
    """The cosine of each row and each centroid."""
    centre = (members(label) @ unit.rows.astype(np.float64)).toarray()
    length = np.linalg.norm(centre, axis=1, keepdims=True)
    found: NDArray[np.float64] = np.round(unit.rows @ (centre / np.where(length > 0, length, 1)).T, 6)
    return found


def _joined(label: Labels, cosine: NDArray[np.float64]) -> Labels:
    """Labels with the outliers that are similar to a cluster in it."""
    least = JOIN_SHARE * np.array([cosine[label == c, c].mean() for c in range(cosine.shape[1])])
    nearest = cosine.argmax(axis=1)
    joins = (label == NO_CLUSTER) & (cosine[np.arange(len(label)), nearest] >= least[nearest])
    return np.where(joins, nearest, label).astype(np.int32)
