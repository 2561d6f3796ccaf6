"""Mining of pages as vectors: a sparse matrix with the names of its rows and columns goes in, never a tree."""

from __future__ import annotations

from webwinnow.mining.choosing import Suggestion, suggest_k
from webwinnow.mining.cluster import NO_CLUSTER, Clustering, KMeans, UnitRows, best_run, k_means
from webwinnow.mining.collection import Cluster, ClusteredPages, ClusterSettings, cluster_pages
from webwinnow.mining.naming import cluster_names, cluster_terms
from webwinnow.mining.plane import plane
from webwinnow.mining.rows import PageRows
from webwinnow.mining.scores import Agreement, agreement

__all__ = [
    "NO_CLUSTER",
    "Agreement",
    "Cluster",
    "ClusterSettings",
    "ClusteredPages",
    "Clustering",
    "KMeans",
    "PageRows",
    "Suggestion",
    "UnitRows",
    "agreement",
    "best_run",
    "cluster_names",
    "cluster_pages",
    "cluster_terms",
    "k_means",
    "plane",
    "suggest_k",
]
