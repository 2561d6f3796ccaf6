"""The stages of a run as functions over Arrow record batches. They use the functions of a local run, in a supervised
worker process, so a page that hangs or needs too much memory fails alone, with the same error.

    PAGES --parse_pages--> TREES --learn_site--> models, --clean_part--> records
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from webwinnow.page.records import PageRecord
from webwinnow.run.engines.batches import TREES, pages_of, rows_of, tree_batches, values
from webwinnow.run.outputparts import Counts, clean_all
from webwinnow.run.pagestore import SIGN, CollectionStore, scratch_store
from webwinnow.run.parsedcollection import ModelOrder, SiteModelBuilt, build_models, parsed_pages
from webwinnow.run.plan import Plan
from webwinnow.run.settings import CollectionSettings, RunSettings
from webwinnow.run.unpacking import ReadLimits
from webwinnow.run.workerjobs import LearnSite, Shared, SiteLearned
from webwinnow.run.workerpool import Task, WorkerPool

EVERY_KEY: Final = (1 << 64) - 1
NO_KEY: Final = -1
"""Last keys of a site whose pages may all be learned from, and of one with none."""


@dataclass(frozen=True, slots=True)
class CleanedPart:
    """The output of a part in the order (site, ordinal): records, removed blocks, rows of stages, counts."""

    lines: list[bytes]
    rejected: list[bytes]
    rows: list[bytes]
    counts: Counts


def parse_pages(
    batches: Iterable[pa.RecordBatch], settings: CollectionSettings, limits: ReadLimits | None = None
) -> Iterator[pa.RecordBatch]:
    """PAGES to TREES, one row per page; a page that cannot be parsed has an `error` instead of a tree."""
    return parse_records(pages_of(batches, limits or ReadLimits()), settings)


def parse_records(pages: Iterable[PageRecord], settings: CollectionSettings) -> Iterator[pa.RecordBatch]:
    """Pages to TREES."""
    with _worker(settings) as pool:
        yield from tree_batches(parsed_pages(pages, pool, settings))


def chosen_trees(
    batches: Iterable[pa.RecordBatch], last_keys: Mapping[str, int], others: int = NO_KEY
) -> Iterator[pa.RecordBatch]:
    """The TREES that their sites may be learned from. Only keys are kept in memory.

    A page passes if its key is not above its site's last key (`others` for sites not in `last_keys`), and if no page
    with its content and a lower key came before; of n copies in random order about log n pass. Choices over parts of a
    site combine in any order (`choose_pages`); the last one is made when the site is learned.
    """
    lowest: dict[tuple[str, str], tuple[int, int]] = {}
    for batch in batches:
        wanted = []
        for site, ordinal, key, content, error in zip(
            *(values(batch, name) for name in ("site", "ordinal", "key", "content", "error")), strict=True
        ):
            found = (key + SIGN, ordinal)
            is_wanted = error is None and found[0] <= last_keys.get(site, others)
            if is_wanted and (is_wanted := found < lowest.get((site, content), (EVERY_KEY, ordinal + 1))):
                lowest[site, content] = found
            wanted.append(is_wanted)
        if any(wanted):
            yield batch.select(TREES.names).filter(pa.array(wanted, pa.bool_()))


def with_parts(
    batches: Iterable[pa.RecordBatch], plan: Plan, done: frozenset[int] = frozenset(), *, together: bool = False
) -> Iterator[pa.RecordBatch]:
    """TREES with the number of their `part`, without parts that are done.

    With `together` all trees of a large site go to its first part.
    """
    first = dict(plan.large) if together else {}
    for batch in batches:
        places = zip(values(batch, "site"), values(batch, "ordinal"), strict=True)
        parts = [first[site] if site in first else plan.part_of(site, ordinal) for site, ordinal in places]
        wanted = pa.array([part not in done for part in parts], pa.bool_())
        yield batch.append_column("part", pa.array(parts, pa.int64())).filter(wanted)


def learn_site(batches: Iterable[pa.RecordBatch], settings: RunSettings) -> tuple[str, SiteLearned | None]:
    """Learn a site from the TREES of its pages, or those that `chosen_trees` left; None where that fails."""
    with _scratch(batches) as store, _worker(settings) as pool:
        ((site, _),) = store.sites()
        job = LearnSite(store.chosen_of(site, settings.learn_pages))
        (answer,) = pool.run([Task(site, [job], Shared(str(store.spool_path)))])
        return site, answer.result


def build_part(
    batches: Iterable[pa.RecordBatch], settings: CollectionSettings, order: ModelOrder
) -> Iterator[SiteModelBuilt]:
    """Build the models of the sites of TREES, as `webwinnow learn` does."""
    with _scratch(batches) as store, _worker(settings) as pool:
        yield from build_models(store, pool, order)


def clean_part(
    batches: Iterable[pa.RecordBatch], settings: RunSettings, models: Mapping[str, str | None]
) -> CleanedPart:
    """Clean TREES: a site in `models` with that model file, any other, which must be complete, as it is learned."""
    with _scratch(batches) as store, _worker(settings) as pool:
        clean_all(store, pool, settings, models=models)
        cleaned = CleanedPart([], [], [], Counts())
        for number, counts in store.parts():
            cleaned.counts.add(Counts.from_plain(counts))
            for kept, path in (
                (cleaned.lines, store.part_path(number)),
                (cleaned.rejected, store.part_path(number, rejected=True)),
            ):
                with path.open("rb") as file:
                    kept.extend(file)
            cleaned.rows.append(store.rows_path(number).read_bytes())
        return cleaned


@contextmanager
def _scratch(batches: Iterable[pa.RecordBatch]) -> Iterator[CollectionStore]:
    """A temporary store with these trees; those of killed tasks are removed."""
    with scratch_store() as store:
        for row, packed in rows_of(batches):
            store.add_page(row, packed)
        store.commit()
        yield store


_idle: dict[str, list[WorkerPool]] = {}
"""Idle worker processes by their settings: starting one takes as long as about a hundred pages."""


@contextmanager
def _worker(settings: CollectionSettings) -> Iterator[WorkerPool]:
    """A supervised worker process, which is kept for the next task unless an error occurred."""
    idle = _idle.setdefault(json.dumps(settings.to_plain(), sort_keys=True), [])
    pool = idle.pop() if idle else WorkerPool(settings, workers=1).__enter__()
    try:
        yield pool
    except BaseException:
        pool.close()
        raise
    if pool.waiting:
        pool.close()
    else:
        idle.append(pool)
