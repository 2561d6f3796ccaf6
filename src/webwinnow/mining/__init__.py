"""Mining of pages as feature vectors: the input is a sparse matrix with named rows and columns, never a page tree.

The names below are loaded on first use, because scikit-learn (extra `mining`) takes seconds to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webwinnow.mining.clusteredpages import (
        Cluster,
        ClusteredPages,
        ClusterSettings,
        PageRows,
        Suggestion,
        cluster_names,
        cluster_pages,
        cluster_terms,
        plane,
        suggest_k,
    )
    from webwinnow.mining.clustering import (
        NO_CLUSTER,
        Agreement,
        Clustering,
        KMeans,
        UnitRows,
        agreement,
        best_run,
        k_means,
    )

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

_MODULES = ("clustering", "clusteredpages")


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name in __all__:
        for module in _MODULES:
            found = vars(import_module(f"webwinnow.mining.{module}"))
            if name in found:
                return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
