"""Mining of pages as vectors: a sparse matrix with the names of its rows and columns goes in, never a tree."""

from __future__ import annotations

from webwinnow.mining.cluster import NO_CLUSTER, Clustering, KMeans, UnitRows, best_run, k_means
from webwinnow.mining.rows import PageRows
from webwinnow.mining.scores import Agreement, agreement

__all__ = [
    "NO_CLUSTER",
    "Agreement",
    "Clustering",
    "KMeans",
    "PageRows",
    "UnitRows",
    "agreement",
    "best_run",
    "k_means",
]
