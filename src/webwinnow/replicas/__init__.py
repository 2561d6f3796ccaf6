"""Replica removal (DocView 5): fingerprints of pages, clusters of replicas, and the page of each that is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webwinnow.lazy import lazy_names

if TYPE_CHECKING:
    from webwinnow.replicas.finding import RELATIONS, Mirror, ReplicaFinder, Replicas, find_replicas
    from webwinnow.replicas.sketches import (
        REPLICA_METHODS,
        ReplicaSettings,
        Sketches,
        Standing,
        distinctive_runs,
        no_sketch,
        page_sketch,
        published_fingerprint,
        sketch,
        sketch_type,
    )

__all__ = [
    "RELATIONS",
    "REPLICA_METHODS",
    "Mirror",
    "ReplicaFinder",
    "ReplicaSettings",
    "Replicas",
    "Sketches",
    "Standing",
    "distinctive_runs",
    "find_replicas",
    "no_sketch",
    "page_sketch",
    "published_fingerprint",
    "sketch",
    "sketch_type",
]

__getattr__ = lazy_names(
    __name__,
    {
        "finding": "RELATIONS Mirror ReplicaFinder Replicas find_replicas",
        "sketches": (
            "REPLICA_METHODS ReplicaSettings Sketches Standing distinctive_runs "
            "no_sketch page_sketch published_fingerprint sketch sketch_type"
        ),
    },
)
