"""Replicas of a collection, one line per page. Pages are cleaned first; records are compared as they are."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Unpack

import numpy as np

from webwinnow.errors import SettingsError
from webwinnow.progress import Progress, no_progress
from webwinnow.record.fields import Field, FieldKind
from webwinnow.replicas.finding import RELATIONS
from webwinnow.replicas.sketches import PageOrigin, ReplicaSettings, placed, sketch
from webwinnow.replicas.stage_replicas import CollectionReplicas
from webwinnow.run.inputs import known_page_count
from webwinnow.run.outputparts import Counts, clean_all
from webwinnow.run.outputs import OutputFormat, check_apart, check_output, output_format, write_output
from webwinnow.run.pagestore import CollectionStore, PageRow, scratch_store
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.settings import RunSettings
from webwinnow.run.stages import Stages
from webwinnow.run.summary import Summary
from webwinnow.run.tablefiles import are_records, read_records, spooled_tables

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
_ABOUT: Final = {"title": "title", "date": "date", "language": "lang"}


def write_replicas(
    inputs: Sequence[str | Path],
    out: str | Path,
    settings: RunSettings,
    *,
    format: str | None = None,
    **options: Unpack[OpenOptions],
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
    problems: list[str] = []
    report, progress = options.get("on_problem"), options.get("on_progress") or no_progress

    def note(problem: str) -> None:
        problems.append(problem)
        if report is not None:
            report(problem)

    with spooled_tables(inputs) as files:
        if are_records(files):
            with scratch_store(options.get("tmp")) as store:
                how, records = ReplicaSettings(**settings.replicas), read_records(files, on_problem=note)
                _add_records(records, known_page_count(files), store, how, progress)
                summary = _write(store, out, wanted, settings, progress)
        else:
            with ParsedCollection.open(files, settings, **options | {"on_problem": note}) as collection:
                clean_all(collection.store, collection.pool, settings, progress)
                summary = _write(collection.store, out, wanted, settings, progress)
    return replace(summary, seconds=time.monotonic() - started, problems=tuple(problems))


def _write(
    store: CollectionStore, out: str | Path, format: OutputFormat, settings: RunSettings, progress: Progress
) -> Summary:
    replicas = Stages.of(settings).joined(store, progress)["replicas"]
    assert isinstance(replicas, CollectionReplicas)
    write_output(_lines(replicas), out, format, fields=REPLICA_FIELDS)
    return Summary(store.page_count(), len(store.sites()), Counts.of(store), {"replicas": replicas.finding()})


def _add_records(
    records: Iterator[dict[str, Any]],
    total: int | None,
    store: CollectionStore,
    settings: ReplicaSettings,
    progress: Progress,
) -> None:
    """Add the sketches of records to the store as parts, in input order."""
    rows: list[bytes] = []
    counts, part, ordinal = Counts(), 0, -1
    for ordinal, record in enumerate(records):
        url, page_id, site = (record.get(name) for name in ("url", "page_id", "site"))
        failed = record.get("outcome") == "failed"
        store.add_page(PageRow(ordinal, site or "", url or "", page_id, error=record.get("reason") if failed else None))
        about = {name: record.get(field) for name, field in _ABOUT.items()}
        origin = PageOrigin(url=url or "", site=site or "", **about)
        packed = sketch(record.get("text") or "", origin, settings).tobytes()
        rows.append(placed(packed, site or "", ordinal, None, settings))
        counts.add(Counts(outcomes={str(record.get("outcome")): 1}))
        progress("parse", ordinal + 1, total)
        if len(rows) == RECORDS_A_PART:
            store.add_part(part, [], [], counts.to_plain(), rows)
            rows, counts, part = [], Counts(), part + 1
    store.add_part(part, [], [], counts.to_plain(), rows)
    store.commit()


def _lines(found: CollectionReplicas) -> Iterator[dict[str, Any]]:
    """A line for each page in the order of the sketches."""
    replicas = found.replicas
    for place, ordinal in enumerate(np.asarray(found.sketches["ordinal"]).tolist()):
        page_id, url, error = found.store.page(ordinal)
        is_compared = bool(replicas.fingerprinted[place])
        relation = RELATIONS[replicas.relation[place]]
        yield {
            "page_id": page_id,
            "url": url,
            "cluster": int(replicas.cluster[place]),
            "replica_of": found.replica_of(place),
            "relation": relation or None,
            "similarity": round(float(replicas.similarity[place]), 3) if relation else None,
            "reason": error if error is not None else None if is_compared else NOTHING_TO_COMPARE,
        }
