"""Clean the sites of a store into numbered parts of the output, with every worker busy and little in memory.

Parts are numbered in output order, (site, input ordinal), before any is done, so they may be done in any order. Small
sites share a part, and the worker that cleans it learns them; a large site is learned once, then its parts follow.
Pages that need nothing of their site were cleaned when they were parsed and are only put in order.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from math import inf
from operator import attrgetter
from typing import Any, NamedTuple

from webwinnow.progress import Progress, no_progress
from webwinnow.run.pagestore import CollectionStore, PageRow, StoredPage
from webwinnow.run.pageworker import failed_page
from webwinnow.run.plan import LOCAL_PAGES, Plan
from webwinnow.run.settings import RunSettings
from webwinnow.run.stages import Joined, Stages
from webwinnow.run.workerjobs import CleanStored, LearnSite, PageCleaned, Ref, Shared, SiteLearned, SiteToClean
from webwinnow.run.workerpool import Answer, Task, WorkerPool
from webwinnow.storage.atomic import write_file
from webwinnow.storage.encoding import to_json

SHOWN_REPEATS = 10
MOST_REASONS = 1_000
"""Different reasons that are counted: a hostile crawl could cause one per page."""
_PLACE_BEFORE = re.compile(r"(?:line|row) [0-9]+: ")
_PLACE = re.compile(r"(line|row) [0-9]+(?= )")
_JSON_PLACE = re.compile(r": line [0-9]+ column [0-9]+ \(char [0-9]+\)")


def clean_all(
    store: CollectionStore,
    pool: WorkerPool,
    settings: RunSettings,
    progress: Progress = no_progress,
    models: Mapping[str, str | None] | None = None,
) -> int:
    """Clean every page of the store into parts; returns the number of sites.

    `models` has the model files of sites that were learned before, from more pages than this store has; None for a
    site that could not be learned.
    """
    stage = _CleanStage(store, pool, settings, progress, models or {})
    stage.run()
    return stage.plan.sites


def shared_reason(reason: str) -> str:
    """A reason without the line or row that it names, to count equal ones together."""
    reason = _PLACE_BEFORE.sub("", reason, count=1) if _PLACE_BEFORE.match(reason) else reason
    found = _PLACE.match(reason)
    if found is not None:
        reason = f"a {found[1]}{reason[found.end() :]}"
    return _JSON_PLACE.sub("", reason)


@dataclass(slots=True)
class Counts:
    """The counts of one part, or of a whole run."""

    outcomes: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    """Why pages were dropped or failed."""
    remarks: dict[str, int] = field(default_factory=dict)
    """Remarks on pages that were kept."""
    kept_words: int = 0
    all_words: int = 0
    repeats: list[tuple[int, str, str]] = field(default_factory=list)
    """(pages, text, site)."""
    tallies: dict[str, dict[str, int]] = field(default_factory=dict)
    """What stages counted, by table."""

    def add(self, other: Counts) -> None:
        """Add other counts."""
        tables = [(self.outcomes, other.outcomes), (self.reasons, other.reasons), (self.remarks, other.remarks)]
        tables += [(self.tallies.setdefault(name, {}), found) for name, found in other.tallies.items()]
        for mine, found in tables:
            for name, count in found.items():
                known = name if name in mine or len(mine) < MOST_REASONS else "other reasons"
                mine[known] = mine.get(known, 0) + count
        self.kept_words += other.kept_words
        self.all_words += other.all_words
        if other.repeats:
            self.repeats = sorted([*self.repeats, *other.repeats], key=lambda r: (-r[0], r[1], r[2]))[:SHOWN_REPEATS]

    def to_plain(self) -> dict[str, Any]:
        """Plain values for `from_plain`."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Counts:
        """Read the values of `to_plain`."""
        return cls(**plain | {"repeats": [tuple(repeat) for repeat in plain["repeats"]]})

    @classmethod
    def of(cls, store: CollectionStore) -> Counts:
        """The sum over the finished parts of a store."""
        counts = cls()
        for _, plain in store.parts():
            counts.add(cls.from_plain(plain))
        return counts


class _Part(NamedTuple):
    """A part with its sites and pages; `site_of` has the position in `sites` of each page's site."""

    number: int
    sites: list[SiteToClean]
    rows: list[PageRow]
    site_of: list[int]

    def jobs(self) -> list[CleanStored]:
        """The jobs for its pages."""
        return [
            CleanStored(site, row.url, row.page_id, row.ref, row.error, row.fetched_at)
            for site, row in zip(self.site_of, self.rows, strict=True)
        ]


class _LargeSite(NamedTuple):
    """A site of several parts."""

    name: str
    parts: range


class _PartOutput:
    """The output of one part so far."""

    def __init__(self, stages: Stages) -> None:
        self.stages = stages
        self.rows: list[bytes] = []
        self.lines: list[bytes] = []
        self.rejected: list[bytes] = []
        self.counts = Counts()

    def add(self, site: str, row: PageRow, page: PageCleaned) -> None:
        for k, stage in enumerate(self.stages.keeping):  # a page that failed has no rows yet
            self.rows.append(stage.placed(page.rows[k] if page.rows else b"", site, row))
        self.lines.append(page.line)
        self.rejected.extend(page.rejected)
        reason, is_kept = page.reason, page.outcome == "kept"
        tallies: dict[str, dict[str, int]] = {}
        for table, name, number in page.tallies:
            tallies.setdefault(table, {})[name] = number
        self.counts.add(
            Counts(
                outcomes={page.outcome: 1},
                reasons={shared_reason(reason): 1} if reason is not None and not is_kept else {},
                remarks={reason: 1} if reason is not None and is_kept else {},
                kept_words=page.kept_words,
                all_words=page.all_words,
                repeats=[(pages, text, site) for pages, text in page.repeats],
                tallies=tallies,
            )
        )

    def store(self, store: CollectionStore, part: int) -> None:
        store.add_part(part, self.lines, self.rejected, self.counts.to_plain(), self.rows)


class _CleanStage:
    def __init__(
        self,
        store: CollectionStore,
        pool: WorkerPool,
        settings: RunSettings,
        progress: Progress,
        models: Mapping[str, str | None],
    ) -> None:
        self.store, self.pool, self.settings, self.progress = store, pool, settings, progress
        self.models = models
        self.learns, self.stages = settings.learns, Stages.of(settings)
        self.plan = Plan.of(store.places(), LOCAL_PAGES, inf)
        self.done, self.total = 0, store.page_count()
        self.outputs: dict[int, _PartOutput] = {}
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
                self._take(self.pool.answer())
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
        for name, parts in self.plan.groups():
            if all(map(self.store.has_part, parts)):  # by an earlier attempt at this run
                self._count(sum(self.plan.pages[part] for part in parts))
            elif name is not None and self.learns and name not in self.models:
                chosen = self.store.chosen_of(name, self.settings.learn_pages)
                yield Task(_LargeSite(name, parts), [LearnSite(chosen)], Shared(str(self.store.spool_path)))
            elif name is not None:
                yield from self._tasks_of(_LargeSite(name, parts), self.models.get(name))
            else:
                yield from self._task_of(self._small(parts[0]))

    def _rows_of(self, part: int) -> Iterator[PageRow]:
        return self.store.rows_from(*self.plan.starts[part], self.plan.pages[part])

    def _small(self, number: int) -> _Part:
        """A part of whole sites."""
        part = _Part(number, [], [], [])
        for name, found in groupby(self._rows_of(number), key=attrgetter("site")):
            rows = list(found)
            part.sites.append(SiteToClean(name, self._chosen(name, rows), self.models.get(name)))
            part.rows.extend(rows)
            part.site_of.extend([len(part.sites) - 1] * len(rows))
        return part

    def _chosen(self, name: str, rows: list[PageRow]) -> list[Ref] | None:
        """The pages that a small site is learned from; None if it is not learned."""
        if not self.learns or name in self.models:
            return None
        if len(rows) == 1:  # most sites of a sample of the web
            return [ref for row in rows if (ref := row.ref) is not None]
        return self.store.chosen_of(name, self.settings.learn_pages)

    def _tasks_of(self, site: _LargeSite, model: str | None) -> Iterator[Task]:
        for number in site.parts:
            rows = list(self._rows_of(number))
            yield from self._task_of(_Part(number, [SiteToClean(site.name, None, model)], rows, [0] * len(rows)))

    def _task_of(self, part: _Part) -> Iterator[Task]:
        """The task of a part, unless an earlier attempt at this run has done it."""
        if self.store.has_part(part.number):
            self._count(len(part.rows))
        elif not self.learns:
            self._store_cleaned(part)
        else:
            self.outputs.setdefault(part.number, _PartOutput(self.stages))
            yield Task(part, part.jobs(), Shared(str(self.store.spool_path), tuple(part.sites)))

    def _store_cleaned(self, part: _Part) -> None:
        """Store a part whose pages were cleaned when they were parsed."""
        output = _PartOutput(self.stages)
        for row in part.rows:
            site = self.settings.site_by.name(row.site, row.url)
            cleaned = None if row.ref is None else StoredPage.unpack(self.store.read(row.ref)).cleaned
            if cleaned is not None:
                output.add(site, row, PageCleaned(*cleaned))
            else:
                output.add(
                    site, row, failed_page(row.url, row.page_id, site, self.settings, self.stages, row.error or "")
                )
        self._count(len(part.rows))
        output.store(self.store, part.number)

    def _take(self, answer: Answer) -> None:
        if isinstance(answer.task.about, _LargeSite):
            self._keep_model(answer.task.about, answer)
            return
        part: _Part = answer.task.about
        output, row = self.outputs[part.number], part.rows[answer.at]
        if answer.error is None:
            output.add(row.site, row, answer.result)
        else:
            failed = failed_page(row.url, row.page_id, row.site, self.settings, self.stages, answer.error)
            output.add(row.site, row, failed)
        self._count(1)
        if answer.is_last:
            del self.outputs[part.number]
            output.store(self.store, part.number)

    def _keep_model(self, site: _LargeSite, answer: Answer) -> None:
        """Store what was learned; a site that could not be learned is cleaned without, and its records say so."""
        model = None
        if answer.error is None:
            learned: SiteLearned = answer.result
            first_part = site.parts[0]
            path = self.store.model_path(first_part)
            write_file(path, learned.model, durable=False)
            model = str(path)
            first = self.outputs.setdefault(first_part, _PartOutput(self.stages))
            first.counts.add(Counts(repeats=[(pages, text, site.name) for pages, text in learned.repeats]))
        self.ready.append(self._tasks_of(site, model))

    def _count(self, pages: int) -> None:
        self.done += pages
        self.progress("clean", self.done, self.total)


def with_values(lines: Iterable[bytes], joined: Collection[Joined]) -> Iterator[bytes]:
    """The lines of all records in output order, with what was joined; they are not parsed.

    A quotation mark in a text has a backslash before it, so only the field itself reads `"name":null`.
    """
    for place, line in enumerate(lines):
        found = line
        for stage in joined:
            for name, value in stage.values(place).items():
                key = b'"%s":' % name.encode()
                found = found.replace(key + b"null", key + to_json(value), 1)
        yield found
