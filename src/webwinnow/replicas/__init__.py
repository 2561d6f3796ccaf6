"""Replica removal (DocView 5): fingerprints of pages, clusters of replicas, and the copy that stays."""

from __future__ import annotations

from webwinnow.replicas.find import RELATIONS, Mirror, Replicas, find_replicas
from webwinnow.replicas.finder import ReplicaFinder
from webwinnow.replicas.published import published_fingerprint
from webwinnow.replicas.settings import REPLICA_METHODS, ReplicaSettings
from webwinnow.replicas.sketch import Sketches, Standing, no_sketch, page_sketch, sketch, sketch_type
from webwinnow.replicas.telling import telling_runs

__all__ = [
    "RELATIONS",
    "REPLICA_METHODS",
    "Mirror",
    "ReplicaFinder",
    "ReplicaSettings",
    "Replicas",
    "Sketches",
    "Standing",
    "find_replicas",
    "no_sketch",
    "page_sketch",
    "published_fingerprint",
    "sketch",
    "sketch_type",
    "telling_runs",
]
