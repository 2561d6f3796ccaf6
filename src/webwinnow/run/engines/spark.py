"""Spark: `mapInArrow` and `applyInArrow`, for a run (`webwinnow clean --engine spark`) and inside a user's own job.

pages = spark.read.parquet("crawl")  # url, html, and maybe site, page_id, content_type, fetched_at
records = clean_pages(pages, RunSettings(), folder="/shared/run")
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, Window, functions

from webwinnow.platforms import cpu_count
from webwinnow.run.engines import batchjobs
from webwinnow.run.engines.batches import BATCH_BYTES, BATCH_PAGES, DONE, PAGES, PARTED_TREES, RECORDS, TREES, ddl
from webwinnow.run.engines.clusterengine import (
    BatchFunction,
    Grouping,
    failed_task,
    learn_and_keep,
    models_for,
    no_cluster,
    note_unlearned,
)
from webwinnow.run.plan import Plan
from webwinnow.run.settings import RunSettings

SETTINGS: Final = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_PAGES),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(4 * BATCH_BYTES),
    "spark.sql.parquet.columnarReaderBatchSize": "64",
    "spark.sql.execution.arrow.useLargeVarTypes": "true",
}
"""Batches for pages: by default Spark would have 4,096 trees in one."""
ATTEMPTS: Final = 4
"""Attempts at a task: Spark's default on a cluster; `local[n]` alone would try once."""
DRIVER_MEMORY: Final = "2g"
"""Of a session started on this machine, whose driver is also its executor."""


class SparkCluster:
    """Runs tasks in a Spark session."""

    def __init__(self, session: SparkSession) -> None:
        self.session = _prepared(session)

    @classmethod
    def started(cls, master: str | None, jobs: int) -> SparkCluster:
        """Start a session, or take the running one: on a master, or on this machine with `jobs` cores (0: all)."""
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        cores = jobs or cpu_count()
        builder = SparkSession.builder.appName("webwinnow").master(master or f"local[{cores},{ATTEMPTS}]")
        builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        if master is None:
            builder = builder.config("spark.driver.memory", DRIVER_MEMORY)
        try:
            session = builder.getOrCreate()
        except (PySparkException, Py4JError) as error:
            raise no_cluster("spark", error) from error
        session.sparkContext.setLogLevel("FATAL")  # errors are reported in one sentence
        return cls(session)

    @property
    def cores(self) -> int:
        """The number of tasks that run at a time."""
        return int(self.session.sparkContext.defaultParallelism)

    def tasks(self, count: int, do: BatchFunction) -> Iterator[dict[str, Any]]:
        """One task for each number (see `Cluster`)."""
        numbers = self.session.range(0, count, 1, count)
        with _no_pandas_warning():
            return _rows(numbers.mapInArrow(do, ddl(DONE)))

    def groups(self, grouping: Grouping) -> Iterator[dict[str, Any]]:
        """Groups of trees (see `Cluster`)."""
        with _no_pandas_warning():
            trees = self.session.read.schema(ddl(TREES)).parquet(*grouping.files)
            trees = trees.mapInArrow(grouping.choose, ddl(grouping.middle))
        return _rows(grouped(trees, grouping.by, grouping.do, DONE))


# For a user's own job


def parse_pages(pages: DataFrame, settings: RunSettings) -> DataFrame:
    """TREES of a frame of pages: `html` (text or bytes) and, where there is one, `url`, `site`, `page_id` and so on.

    A column `ordinal` of unique numbers gives the order of the pages; without one, Spark's order is used.
    """
    names = [name for name in PAGES.names if name in pages.columns]
    _prepared(pages.sparkSession)
    if "ordinal" not in names:
        pages = pages.withColumn("ordinal", functions.monotonically_increasing_id())
    chosen = pages.select("ordinal", *(name for name in names if name != "ordinal"))
    return chosen.mapInArrow(partial(batchjobs.parse_pages, settings=settings), ddl(TREES))


def clean_pages(pages: DataFrame, settings: RunSettings | None = None, *, folder: str | Path) -> DataFrame:
    """The records of a frame of pages (see `parse_pages`), one per page: a frame with the fields of a record.

    Trees and the models of large sites are stored in `folder`, new or empty, which all machines reach by that path. The
    caller may remove it once the records are written. `replica_of` stays empty: `webwinnow replicas` finds replicas
    among records.
    """
    settings = replace(settings or RunSettings(), replicas=None)
    session, place = pages.sparkSession, Path(folder)
    (place / "models").mkdir(parents=True)
    parse_pages(pages, settings).write.parquet(str(place / "trees"))
    trees = session.read.schema(ddl(TREES)).parquet(str(place / "trees"))
    places = trees.select("site", "ordinal", functions.coalesce(functions.length("packed"), functions.lit(0)))
    plan = Plan.of((row[0], row[1], row[2]) for row in places.orderBy("site", "ordinal").toLocalIterator())
    large = dict(plan.large)
    if settings.learns and large:
        choose = partial(batchjobs.chosen_trees, last_keys=_last_keys(trees, large, settings.learn_pages))
        learn = partial(learn_and_keep, settings=settings, folder=place, parts=large)
        grouped(trees.mapInArrow(choose, ddl(TREES)), "site", learn, DONE).collect()
        note_unlearned(place, large)
    parted = trees.mapInArrow(partial(batchjobs.with_parts, plan=plan), ddl(PARTED_TREES))
    return grouped(parted, "part", partial(_records, settings=settings, folder=place, large=large), RECORDS)


def _last_keys(trees: DataFrame, large: dict[str, int], most: int) -> dict[str, int]:
    """The highest key among the pages that each large site is learned from."""
    lowest = trees.where(functions.col("error").isNull() & functions.col("site").isin(list(large)))
    lowest = lowest.groupBy("site", "content").agg(functions.min("key").alias("key"))
    place = functions.row_number().over(Window.partitionBy("site").orderBy("key"))
    last = lowest.withColumn("place", place).where(functions.col("place") == most).select("site", "key").collect()
    return dict.fromkeys(large, (1 << 64) - 1) | {site: key + (1 << 63) for site, key in last}


def _records(
    batches: Iterator[pa.RecordBatch], *, settings: RunSettings, folder: Path, large: dict[str, int]
) -> Iterator[pa.RecordBatch]:
    held = list(batches)
    cleaned = batchjobs.clean_part(held, settings, models_for(held, settings, folder, large))
    for at in range(0, len(cleaned.lines), BATCH_PAGES):
        lines = cleaned.lines[at : at + BATCH_PAGES]
        yield pa.RecordBatch.from_pylist([json.loads(line) for line in lines], schema=RECORDS)


def streamed(do: BatchFunction) -> Any:
    """A function whose signature makes Spark pass a group batch by batch."""

    def group(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return do(batches)

    group.__annotations__ = {"batches": Iterator[pa.RecordBatch], "return": Iterator[pa.RecordBatch]}
    return group


def grouped(frame: DataFrame, by: str, do: BatchFunction, schema: pa.Schema) -> DataFrame:
    """Apply `do` to each group of a frame."""
    with _no_pandas_warning():
        return frame.groupBy(by).applyInArrow(streamed(do), ddl(schema))


@contextmanager
def _no_pandas_warning() -> Iterator[None]:
    """Hide a warning of Spark 4.3 about pandas 3, which is not used here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def _prepared(session: SparkSession) -> SparkSession:
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    return session


def _rows(frame: DataFrame) -> Iterator[dict[str, Any]]:
    try:
        found = frame.collect()
    except (PySparkException, Py4JError) as error:
        raise failed_task("spark", error) from error
    for row in found:
        yield row.asDict()
