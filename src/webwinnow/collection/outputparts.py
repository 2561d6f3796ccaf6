"""Stage 2 of a run: sites to numbered parts of the output, with every worker busy and little in memory.

Parts are numbered in output order, (site, input ordinal), before any is done, so they may be done in any order. Small
sites share a part and are learned by the worker that cleans it; a large one is learned once, then its parts follow.
With a method that learns nothing from the site, pages come cleaned from stage 1 and are only put in order.
"""

from __future__ import annotations

import marshal
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from webwinnow.collection.pagestore import CollectionStore, PageRow
from webwinnow.collection.pageworker import failed_page
from webwinnow.collection.settings import RunSettings
from webwinnow.collection.summary import Counts, shared_reason
from webwinnow.collection.workerpool import Answer, Task, WorkerPool
from webwinnow.progress import Progress
from webwinnow.replicas import ReplicaSettings
from webwinnow.replicas.sketches import placed
from webwinnow.storage import write_file

__all__ = ["PART_PAGES", "clean_all"]

PART_PAGES = 64
"""Pages in a part of the output at most."""


def clean_all(
    store: CollectionStore,
    pool: WorkerPool,
    settings: RunSettings,
    tell: Progress,
    models: Mapping[str, str | None] | None = None,
) -> int:
    """Clean every page of the store into parts; returns the number of sites.

    `models` are sites that were learned already, from more pages than are here: where each model lies, None for a site
    that could not be learned.
    """
    stage = _CleanStage(store, pool, settings, tell, models or {})
    stage.run()
    return stage.sites


class _Part(NamedTuple):
    """Pages of one or more sites, in order: rows of the index, and items, which begin with the index of their site."""

    number: int
    sites: list[dict[str, Any]]
    items: list[tuple[Any, ...]]
    rows: list[PageRow]

    def add(self, at: int, row: PageRow) -> None:
        """Add a page of the site `at`."""
        self.items.append((at, row.url, row.page_id, row.ref, row.error))
        self.rows.append(row)


class _LargeSite(NamedTuple):
    """A site of several parts, the first numbered `first`."""

    first: int
    name: str
    parts: int


class _Gathered:
    """The answers to one part so far."""

    def __init__(self, replicas: ReplicaSettings | None) -> None:
        self.replicas = replicas
        self.sketches: list[bytes] = []
        self.lines: list[bytes] = []
        self.rejected: list[bytes] = []
        self.counts = Counts()

    def add(self, site: str, row: PageRow, answer: tuple[Any, ...]) -> None:
        line, rejected, outcome, reason, kept_words, all_words, sketch, repeats = answer
        if self.replicas is not None:
            self.sketches.append(placed(sketch, site, row.ordinal, row.fetched_at, self.replicas))
        self.lines.append(line)
        self.rejected.extend(rejected)
        self.counts.add(
            Counts(
                outcomes={outcome: 1},
                reasons={shared_reason(reason): 1} if reason is not None and outcome != "kept" else {},
                remarks={reason: 1} if reason is not None and outcome == "kept" else {},
                kept_words=kept_words,
                all_words=all_words,
                repeats=[(pages, text, site) for pages, text in repeats],
            )
        )

    def keep(self, store: CollectionStore, part: int) -> None:
        """Put a finished part into the store."""
        store.add_part(part, self.lines, self.rejected, self.counts.to_plain(), self.sketches)


class _CleanStage:
    def __init__(
        self,
        store: CollectionStore,
        pool: WorkerPool,
        settings: RunSettings,
        tell: Progress,
        models: Mapping[str, str | None],
    ) -> None:
        self.store, self.pool, self.settings, self.tell = store, pool, settings, tell
        self.models = models
        self.learns = settings.learns
        self.sites = 0
        self.done, self.total = 0, store.page_count()
        self.gathered: dict[int, _Gathered] = {}
        """Parts whose answers are coming in, by number."""
        self.ready: deque[Iterator[Task]] = deque()
        """The parts of large sites that have been learned."""

    def run(self) -> None:
        planned = self._planned()
        while True:
            task = self._next_task(planned)
            if task is not None:
                self.pool.submit(task)
            elif not self.pool.waiting:
                return
            while self.pool.waiting and (task is None or not self.pool.has_room):
                self._hear(self.pool.answer())
                if self.ready:
                    break

    def _next_task(self, planned: Iterator[Task]) -> Task | None:
        while self.ready:
            task = next(self.ready[0], None)
            if task is not None:
                return task
            self.ready.popleft()
        return next(planned, None)

    def _planned(self) -> Iterator[Task]:
        """Small parts, and the learning of large sites, in output order."""
        small, number = _Part(0, [], [], []), 0
        for name, pages in self.store.sites():
            self.sites += 1
            if small.items and (pages > PART_PAGES or len(small.items) + pages > PART_PAGES):
                yield from self._task_of(small)
                number += 1
            if not small.items or small.number != number:
                small = _Part(number, [], [], [])
            if pages <= PART_PAGES:
                self._add_small(small, name)
                continue
            site = _LargeSite(number, name, -(-pages // PART_PAGES))
            number += site.parts
            yield from self._large(site, pages)
        if small.items and small.number == number:
            yield from self._task_of(small)

    def _add_small(self, part: _Part, name: str) -> None:
        learns = self.learns and name not in self.models
        chosen = self.store.chosen_of(name, self.settings.learn_pages) if learns else None
        at = len(part.sites)
        part.sites.append({"name": name, "chosen": chosen, "model": self.models.get(name)})
        for row in self.store.pages_of(name):
            part.add(at, row)

    def _large(self, site: _LargeSite, pages: int) -> Iterator[Task]:
        if all(map(self.store.has_part, range(site.first, site.first + site.parts))):
            self._progress(pages)
        elif self.learns and site.name not in self.models:
            refs = self.store.chosen_of(site.name, self.settings.learn_pages)
            yield Task(site, "learn", str(self.store.spool_path), [refs])
        else:
            yield from self._parts_of(site, self.models.get(site.name))

    def _parts_of(self, site: _LargeSite, model: str | None) -> Iterator[Task]:
        about = {"name": site.name, "chosen": None, "model": model}
        part = _Part(site.first, [about], [], [])
        for row in self.store.pages_of(site.name):
            if len(part.items) == PART_PAGES:
                yield from self._task_of(part)
                part = _Part(part.number + 1, [about], [], [])
            part.add(0, row)
        yield from self._task_of(part)

    def _task_of(self, part: _Part) -> Iterator[Task]:
        """The task of a part, unless an earlier try at this run has done it."""
        if self.store.has_part(part.number):
            self._progress(len(part.items))
            return
        if not self.learns:
            self._gather_finished(part)
            return
        self.gathered.setdefault(part.number, _Gathered(self.settings.replicas))
        yield Task(part, "clean", {"spool": str(self.store.spool_path), "sites": part.sites}, part.items)

    def _gather_finished(self, part: _Part) -> None:
        """Pages that need nothing of their site were cleaned when they were parsed: only bring them in order."""
        gathered = _Gathered(self.settings.replicas)
        for row in part.rows:
            site = self.settings.site_by.name(row.site, row.url)
            if row.ref is not None:
                gathered.add(site, row, marshal.loads(self.store.read(row.ref)))
            else:
                failed = failed_page(row.url, row.page_id, site, self.settings, row.error or "")
                gathered.add(site, row, failed)
        self._progress(len(part.items))
        gathered.keep(self.store, part.number)

    def _hear(self, answer: Answer) -> None:
        if isinstance(answer.task.name, _LargeSite):
            self._keep_model(answer.task.name, answer)
            return
        part: _Part = answer.task.name
        gathered = self.gathered[part.number]
        row = part.rows[answer.index]
        if answer.error is None:
            gathered.add(row.site, row, answer.value)
        else:
            gathered.add(row.site, row, failed_page(row.url, row.page_id, row.site, self.settings, answer.error))
        self._progress(1)
        if answer.last:
            del self.gathered[part.number]
            gathered.keep(self.store, part.number)

    def _keep_model(self, site: _LargeSite, answer: Answer) -> None:
        """Store what was learned; a site that could not be learned is cleaned without, and its records say so."""
        model = None
        if answer.error is None:
            packed, repeats = answer.value
            path = self.store.model_path(site.first)
            write_file(path, packed, durable=False)
            model = str(path)
            first = self.gathered.setdefault(site.first, _Gathered(self.settings.replicas))
            first.counts.add(Counts(repeats=[(pages, text, site.name) for pages, text in repeats]))
        self.ready.append(self._parts_of(site, model))

    def _progress(self, pages: int) -> None:
        self.done += pages
        self.tell("clean", self.done, self.total)
