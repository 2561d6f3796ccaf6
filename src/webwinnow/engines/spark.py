"""Spark: `mapInArrow` and `applyInArrow`, for a run (`webwinnow clean --engine spark`) and inside a user's own job."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from webwinnow.engines.batches import BATCH_PAGES, TREES
from webwinnow.engines.cluster import BatchFunction, failed_task

__all__ = ["SparkCarrier"]

SETTINGS: Final = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_PAGES),
    "spark.sql.parquet.columnarReaderBatchSize": str(BATCH_PAGES),
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
}
"""Batches of pages, not of numbers: by default Spark would hold 4,096 trees at once."""
ATTEMPTS: Final = 4
"""How often a task is tried; Spark's own default on a cluster, where `local[n]` alone would try once."""
_TYPES: Final = {pa.int64(): "bigint", pa.large_string(): "string", pa.large_binary(): "binary"}


class SparkCarrier:
    """A Spark session that carries out a run."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        for name, value in SETTINGS.items():
            session.conf.set(name, value)

    @classmethod
    def started(cls, master: str | None, jobs: int) -> SparkCarrier:
        """Start a session, or take the one that runs: on a master, or on this machine with so many cores (0: all)."""
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        cores = jobs or len(os.sched_getaffinity(0))
        builder = SparkSession.builder.appName("webwinnow").master(master or f"local[{cores},{ATTEMPTS}]")
        builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        return cls(session)

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""
        return self.session.sparkContext.defaultParallelism

    def tasks(self, count: int, do: BatchFunction, schema: pa.Schema) -> Iterator[dict[str, Any]]:
        """One task for each number (see `Carrier`)."""
        numbers = self.session.range(0, count, 1, count)
        return _rows(numbers.mapInArrow(do, ddl(schema)))

    def groups(
        self,
        files: Sequence[str],
        spread: BatchFunction,
        middle: pa.Schema,
        by: str,
        do: BatchFunction,
        schema: pa.Schema,
        about: int,  # noqa: ARG002 (Spark finds out by itself)
    ) -> Iterator[dict[str, Any]]:
        """Groups of trees (see `Carrier`)."""
        trees = self.session.read.schema(ddl(TREES)).parquet(*files)
        return _rows(grouped(trees.mapInArrow(spread, ddl(middle)), by, do, schema))


def ddl(schema: pa.Schema) -> str:
    """A schema as Spark writes it."""
    return ", ".join(f"{field.name} {_TYPES[field.type]}" for field in schema)


def streamed(do: BatchFunction) -> Any:
    """A function whose signature tells Spark to hand it a group batch by batch."""

    def group(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return do(batches)

    group.__annotations__ = {"batches": Iterator[pa.RecordBatch], "return": Iterator[pa.RecordBatch]}
    return group


def grouped(frame: DataFrame, by: str, do: BatchFunction, schema: pa.Schema) -> DataFrame:
    """What `do` makes of each group of a frame."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # Spark 4.3 warns of pandas 3, which is not used here
        return frame.groupBy(by).applyInArrow(streamed(do), ddl(schema))


def _rows(frame: DataFrame) -> Iterator[dict[str, Any]]:
    try:
        found = frame.collect()
    except (PySparkException, Py4JError) as error:
        raise failed_task("spark", error) from error
    for row in found:
        yield row.asDict()
