"""Ray Data: `map_batches` and `map_groups`, on a running cluster or one started here."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import pyarrow as pa
import ray
import ray.data
import ray.exceptions
import ray.job_config

from webwinnow.platforms import cpu_count
from webwinnow.run.engines.batches import DONE, tree_file, values
from webwinnow.run.engines.clusterengine import BatchFunction, Grouping, failed_task, no_cluster

OBJECT_STORE: Final = 500_000_000
"""Bytes of shared memory of a cluster started here; the rest is spilled to disk."""
SHUFFLE_BYTES: Final = 256_000_000
"""Bytes of an input batch of a shuffle task, which needs about three times that. Ray's default is 1 GiB."""
MOST_PARTITIONS: Final = 1_000
"""Partitions of a shuffle; a partition may have several groups."""


class RayCluster:
    """Runs tasks on a Ray cluster."""

    def __init__(self, address: str | None = None, jobs: int = 0) -> None:
        if not ray.is_initialized():
            started: dict[str, Any] = {"address": address}
            if address is None:
                os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's default of 15 gives way to all others
                cores = jobs or cpu_count()
                started = {"num_cpus": cores, "object_store_memory": OBJECT_STORE, "include_dashboard": False}
            job = ray.job_config.JobConfig()
            job._py_driver_sys_path = _SearchedFolders()
            try:
                with _own_sigterm():
                    ray.init(**started, job_config=job, logging_level="ERROR", log_to_driver=False)
            except Exception as error:  # Ray raises bare exceptions where it cannot start
                raise no_cluster("ray", error) from error
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # errors are reported in one sentence
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.shuffle_input_batch_bytes = SHUFFLE_BYTES

    @property
    def cores(self) -> int:
        """The number of tasks that run at a time."""
        return int(ray.cluster_resources().get("CPU", 1))

    def tasks(self, count: int, do: BatchFunction) -> Iterator[dict[str, Any]]:
        """One task for each number (see `Cluster`)."""
        numbers = ray.data.range(count, override_num_blocks=count)
        return _rows(numbers.map_batches(partial(_tables, do=do, schema=DONE), **_WHOLE))

    def groups(self, grouping: Grouping) -> Iterator[dict[str, Any]]:
        """Groups of trees (see `Cluster`)."""
        numbers = ray.data.range(len(grouping.files), override_num_blocks=len(grouping.files))
        trees = numbers.map_batches(partial(_chosen, grouping=grouping), **_WHOLE)
        groups = trees.groupby(grouping.by, num_partitions=max(1, min(grouping.about, MOST_PARTITIONS)))
        return _rows(groups.map_groups(partial(_group, do=grouping.do, schema=DONE), batch_format="pyarrow"))


class _SearchedFolders(list[str]):
    """Folders in which workers search for modules first. Ray would add the one that the driver was started in."""

    def extend(self, folders: Iterable[str]) -> None:
        """Add only those that the driver searches itself."""
        super().extend(folder for folder in folders if folder in sys.path)


@contextmanager
def _own_sigterm() -> Iterator[None]:
    """Keep what SIGTERM does in this process: with Ray's handlers it ends with a stack trace and status 15."""
    if threading.current_thread() is not threading.main_thread():  # Ray sets none there
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


_WHOLE: Final[dict[str, Any]] = {"batch_format": "pyarrow", "batch_size": None, "zero_copy_batch": True}


def _tables(table: pa.Table, *, do: BatchFunction, schema: pa.Schema) -> Iterator[pa.Table]:
    """Call a function over batches with a table, as Ray Data does."""
    for batch in do(iter(table.to_batches())):
        yield pa.Table.from_batches([batch], schema)


def _chosen(table: pa.Table, *, grouping: Grouping) -> Iterator[pa.Table]:
    """The trees of the files with these numbers; a shuffle needs the schema even without rows."""
    yield grouping.middle.empty_table()
    for number in values(table, "id"):
        for batch in grouping.choose(tree_file(grouping.files[number])):
            yield pa.Table.from_batches([batch], grouping.middle)


def _group(table: pa.Table, *, do: BatchFunction, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_batches(do(iter(table.to_batches())), schema)


def _rows(data: ray.data.Dataset) -> Iterator[dict[str, Any]]:
    try:
        yield from data.iter_rows()
    except (ray.exceptions.RayError, OSError) as error:  # Ray raises what a task raised as both
        raise failed_task("ray", error) from error
