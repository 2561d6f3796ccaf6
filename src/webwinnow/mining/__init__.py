"""Mining of pages as vectors: a sparse matrix with the names of its rows and columns goes in, never a tree.

What is named here is loaded when it is asked for: the modules need scikit-learn (extra `mining`), which takes seconds.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webwinnow.mining.choosing import Suggestion, suggest_k
    from webwinnow.mining.cluster import NO_CLUSTER, Clustering, KMeans, UnitRows, best_run, k_means
    from webwinnow.mining.collection import Cluster, ClusteredPages, ClusterSettings, cluster_pages
    from webwinnow.mining.naming import cluster_names, cluster_terms
    from webwinnow.mining.places import plane
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

_HOMES = {
    "webwinnow.mining.choosing": "Suggestion suggest_k",
    "webwinnow.mining.cluster": "NO_CLUSTER Clustering KMeans UnitRows best_run k_means",
    "webwinnow.mining.collection": "Cluster ClusteredPages ClusterSettings cluster_pages",
    "webwinnow.mining.naming": "cluster_names cluster_terms",
    "webwinnow.mining.places": "plane",
    "webwinnow.mining.rows": "PageRows",
    "webwinnow.mining.scores": "Agreement agreement",
}


def __getattr__(name: str) -> Any:
    """Load the module that a name is from (PEP 562)."""
    for module, named in _HOMES.items():
        if name in named.split():
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
