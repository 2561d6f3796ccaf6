"""Mining of pages as feature vectors: the input is a sparse matrix with named rows and columns, never a page tree.

The names below are loaded on first use, because scikit-learn (extra `mining`) takes seconds to import.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from webwinnow.mining.clustercount import Suggestion, suggest_k
    from webwinnow.mining.clusteredpages import Cluster, ClusteredPages, ClusterSettings, cluster_pages
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
    from webwinnow.mining.clusternames import ClusterTerms, cluster_terms
    from webwinnow.mining.clustertree import ClusterTree, cluster_tree
    from webwinnow.mining.density import density_clusters
    from webwinnow.mining.latent import latent_rows
    from webwinnow.mining.overtime import OverTime, over_time
    from webwinnow.mining.pagemap import plane
    from webwinnow.mining.pagerows import PageRows
    from webwinnow.mining.phrases import PhraseCollector, PhraseRows

__all__ = [
    "NO_CLUSTER",
    "Agreement",
    "Cluster",
    "ClusterSettings",
    "ClusterTerms",
    "ClusterTree",
    "ClusteredPages",
    "Clustering",
    "KMeans",
    "OverTime",
    "PageRows",
    "PhraseCollector",
    "PhraseRows",
    "Suggestion",
    "UnitRows",
    "agreement",
    "best_run",
    "cluster_pages",
    "cluster_terms",
    "cluster_tree",
    "density_clusters",
    "k_means",
    "latent_rows",
    "over_time",
    "plane",
    "suggest_k",
]

_MODULES = (
    "clustering",
    "clusteredpages",
    "clustercount",
    "clusternames",
    "clustertree",
    "density",
    "latent",
    "overtime",
    "pagemap",
    "pagerows",
    "phrases",
)


def __getattr__(name: str) -> Any:
    """Import a public name on first use (PEP 562)."""
    if name in __all__:
        for module in _MODULES:
            found = vars(import_module(f"webwinnow.mining.{module}"))
            if name in found:
                return found[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
