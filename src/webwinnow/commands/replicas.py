"""Replicas of a collection, a line a page: pages are cleaned as in a cleaning run, records are taken as they are."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from webwinnow.collection.foundreplicas import RunReplicas, replicas_in
from webwinnow.collection.outputparts import clean_all
from webwinnow.collection.pagestore import CollectionStore, PageRow
from webwinnow.collection.parsedpages import parse_all
from webwinnow.collection.settings import RunSettings
from webwinnow.collection.summary import Counts, Summary
from webwinnow.collection.workerpool import WorkerPool
from webwinnow.errors import SettingsError
from webwinnow.io import Field, FieldKind, check_apart, check_output, open_pages, output_format, write_output
from webwinnow.io.tablefiles import are_records, read_records
from webwinnow.progress import Progress
from webwinnow.replicas import RELATIONS, ReplicaSettings, Standing, sketch
from webwinnow.replicas.sketches import placed

__all__ = ["REPLICA_FIELDS", "write_replicas"]

REPLICA_FIELDS: Final = (
    Field("page_id"),
    Field("url"),
    Field("cluster", FieldKind.INTEGER),
    Field("replica_of"),
    Field("relation"),
    Field("similarity", FieldKind.NUMBER),
    Field("reason"),
)
"""What `webwinnow replicas` writes for each page; `reason` says why a page has no fingerprint."""
NOTHING_TO_COMPARE: Final = "too few words to compare"
RECORDS_A_PART: Final = 4096


def write_replicas(
    inputs: Sequence[str | Path],
    out: str | Path,
    settings: RunSettings,
    *,
    format: str | None = None,
    tmp: Path | None = None,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> Summary:
    """Find the replicas of a collection and write a line for each page, in the order (site, input ordinal)."""
    started = time.monotonic()
    if settings.replicas is None:
        raise SettingsError("expected settings that say how replicas are found")
    wanted = output_format(out, format)
    if wanted not in ("jsonl", "parquet"):
        raise SettingsError(f"replicas are written as jsonl or parquet, not {wanted}")
    check_output(out, wanted)
    check_apart(inputs, out)
    tell = on_progress or (lambda _stage, _done, _total: None)
    problems: list[str] = []

    def note(problem: str) -> None:
        problems.append(problem)
        if on_problem is not None:
            on_problem(problem)

    with (
        tempfile.TemporaryDirectory(prefix="webwinnow-", dir=tmp) as scratch,
        CollectionStore(Path(scratch) / "run", {}, resume=False) as store,
    ):
        if are_records(inputs):
            _keep_records(read_records(inputs, on_problem=note), store, settings.replicas, tell)
        else:
            pages = open_pages(inputs, on_problem=note)
            with WorkerPool(
                settings.workers,
                settings.to_plain(),
                page_seconds=settings.page_seconds,
                memory=settings.worker_memory,
            ) as pool:
                parse_all(pages, store, pool, settings, tell)
                clean_all(store, pool, settings, tell)
        replicas = replicas_in(store, settings.replicas, tell)
        write_output(_lines(store, replicas), out, wanted, fields=REPLICA_FIELDS)
        counts, sites = Counts(), sum(1 for _ in store.sites())
        for _, counted in store.parts():
            counts.add(Counts.from_plain(counted))
        found, total = replicas.found(store), store.page_count()
    return Summary(total, sites, counts, found, time.monotonic() - started, tuple(problems))


def _keep_records(
    records: Iterator[dict[str, Any]], store: CollectionStore, settings: ReplicaSettings, tell: Progress
) -> None:
    """Put the sketches of records into the store as parts, in the order in which they come."""
    rows: list[bytes] = []
    counts, part, ordinal = Counts(), 0, -1
    for ordinal, record in enumerate(records):
        url, page_id, site = (_text(record.get(name)) for name in ("url", "page_id", "site"))
        failed = record.get("outcome") == "failed"
        store.add_page(
            PageRow(ordinal, site or "", url or "", page_id, error=_text(record.get("reason")) if failed else None)
        )
        standing = Standing(
            url=url or "", site=site or "", title=_text(record.get("title")), date=_text(record.get("date"))
        )
        packed = sketch(_text(record.get("text")) or "", standing, settings).tobytes()
        rows.append(placed(packed, site or "", ordinal, None, settings))
        counts.add(Counts(outcomes={str(record.get("outcome")): 1}))
        tell("parse", ordinal + 1, None)
        if len(rows) == RECORDS_A_PART:
            store.add_part(part, [], [], counts.to_plain(), rows)
            rows, counts, part = [], Counts(), part + 1
    store.add_part(part, [], [], counts.to_plain(), rows)
    store.commit()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None if value is None else str(value)


def _lines(store: CollectionStore, found: RunReplicas) -> Iterator[dict[str, Any]]:
    """A line for each page in the order of the sketches."""
    replicas = found.replicas
    ordinals = np.asarray(found.sketches["ordinal"])
    for place, ordinal in enumerate(ordinals.tolist()):
        page_id, url, error = store.page(ordinal)
        is_compared = bool(replicas.fingerprinted[place])
        relation = RELATIONS[replicas.relation[place]]
        yield {
            "page_id": page_id,
            "url": url,
            "cluster": int(replicas.cluster[place]),
            "replica_of": found.stays(place, store),
            "relation": relation or None,
            "similarity": round(float(replicas.similarity[place]), 3) if relation else None,
            "reason": error if error is not None else None if is_compared else NOTHING_TO_COMPARE,
        }
