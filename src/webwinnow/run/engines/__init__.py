"""Runs on a cluster: the stages as functions over Arrow record batches, carried out by Ray Data or Spark."""

from __future__ import annotations

from typing import Final

from webwinnow.errors import MissingExtra, SettingsError
from webwinnow.plugins import meant
from webwinnow.run.engines.clusterengine import Cluster, ClusterEngine

__all__ = ["ENGINES", "Cluster", "ClusterEngine", "engine_named"]

ENGINES: Final = ("local", "ray", "spark")


def engine_named(name: str, *, address: str | None = None, jobs: int = 0) -> ClusterEngine | None:
    """The engine of a run; None for `local`, the worker processes of this machine.

    `address` is that of a running cluster (Ray's address, Spark's master). Without one, a cluster is started on this
    machine with `jobs` cores (0: all), which ends with the process.
    """
    if name not in ENGINES:
        raise SettingsError(f"there is no engine {name!r}; {meant(name, list(ENGINES))}")
    if name == "local":
        if address is not None:
            raise SettingsError("the local engine has no address; name another with --engine")
        return None
    try:
        if name == "ray":
            from webwinnow.run.engines.ray import RayCluster  # noqa: PLC0415 (an optional extra)

            return ClusterEngine(RayCluster(address, jobs))
        from webwinnow.run.engines.spark import SparkCluster  # noqa: PLC0415

        return ClusterEngine(SparkCluster.started(address, jobs))
    except ImportError as error:
        raise MissingExtra(f"the engine {name}", name) from error
