"""Models of a collection's sites: parse and spool as in a cleaning run, then learn site by site, each in a worker."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from webwinnow.collection.pagestore import CollectionStore
from webwinnow.collection.parsedpages import parse_all
from webwinnow.collection.settings import RunSettings
from webwinnow.collection.sitelessons import Lesson, SiteLesson, learn_each
from webwinnow.collection.workerpool import WorkerPool
from webwinnow.commands.clean import Parser
from webwinnow.errors import SettingsError
from webwinnow.io import open_pages
from webwinnow.io.unpacking import ReadLimits
from webwinnow.pagetree import PageTree
from webwinnow.progress import Progress
from webwinnow.site.epochs import FAMILIAR
from webwinnow.site.modelstore import ModelFolder
from webwinnow.treebytes import tree_from_bytes

__all__ = ["Learned", "LearningEngine", "learn_sites"]

SAMPLE_PAGES = 20
"""Pages shown for a row of thresholds (thesis 5.3)."""
SHOWN_ERRORS = 8


class LearningEngine(Parser, Protocol):
    """Who learns sites in the place of this machine's workers."""

    def learn_all(self, store: CollectionStore, settings: RunSettings, lesson: Lesson) -> Iterator[SiteLesson]:
        """Learn every site of which the store has pages that could be read, in whatever order."""


@dataclass(slots=True)
class Learned:
    """What a learning run did: sites and pages; pages that could not be read; sites that could not be learned.

    Of an update also: sites that got a new epoch, sites whose pages were all known, sites that were redesigned.
    """

    sites: int = 0
    pages: int = 0
    failed_pages: int = 0
    failed_sites: int = 0
    updated: int = 0
    unchanged: int = 0
    redesigned: list[str] = field(default_factory=list)


def learn_sites(
    inputs: Sequence[str | Path],
    out: Path,
    settings: RunSettings,
    *,
    sums: bool = True,
    tmp: Path | None = None,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
    on_sample: Callable[[str, list[PageTree]], None] | None = None,
    sample: Callable[[dict[str, int]], dict[str, int]] | None = None,
    update: int | None = None,
    engine: LearningEngine | None = None,
) -> Learned:
    """Learn every site of a collection and write its model, and its sums unless told not to, into the folder `out`.

    `on_sample(site, trees)` is handed up to 20 of the pages that a site was learned from, once its model is written.
    With `update` the pages are a new epoch of each site that `out` knows, and its model joins the last so many.
    `sample`, told how many pages each site has, may say how many of each instead; sites it leaves out are not learned.
    `engine` is a cluster (`webwinnow.engines`), which has no samples to show.
    """
    if engine is not None and (on_sample is not None or sample is not None):
        raise SettingsError("a cluster shows no pages of the sites it learns; leave out the engine")
    settings.site_by.check_sites("learning")
    tell = on_progress or (lambda _stage, _done, _total: None)
    note = on_problem or (lambda _: None)
    pages = open_pages(inputs, on_problem=note)
    folder = ModelFolder(out, make=True)
    lesson = Lesson(str(out.absolute()), sums, update)
    learned = Learned()
    with (
        tempfile.TemporaryDirectory(prefix="webwinnow-", dir=tmp) as scratch,
        CollectionStore(Path(scratch) / "run", {}, resume=False) as store,
        ExitStack() as workers,
    ):
        if engine is None:
            pool = workers.enter_context(_pool(settings))
            parse_all(pages, store, pool, settings, tell)
        else:
            engine.parse_all(inputs, store, settings, ReadLimits(), note, tell)
        learned.pages, learned.failed_pages = store.page_count(), store.failed_count()
        for error, count in store.errors(SHOWN_ERRORS):
            note(f"{count:,} pages could not be read: {error}")
        sizes = dict(store.sites())
        wanted = dict.fromkeys(sizes, SAMPLE_PAGES) if sample is None else sample(sizes)
        lessons = (
            learn_each(store, pool, settings, lesson, wanted)
            if engine is None
            else engine.learn_all(store, settings, lesson)
        )
        done = 0
        for found in lessons:
            done += sizes[found.site]
            tell("learn", done, learned.pages)
            if found.error is not None:
                learned.failed_sites += 1
                note(f"{found.site} could not be learned: {found.error}")
                continue
            _keep(folder, found, update or 1, learned, note)
            learned.sites += 1
            if on_sample is not None:
                refs = store.chosen_of(found.site, settings.learn_pages)[: wanted[found.site]]
                on_sample(found.site, [tree_from_bytes(store.read(ref)) for ref in refs])
    return learned


def _pool(settings: RunSettings) -> WorkerPool:
    return WorkerPool(
        settings.workers, settings.to_plain(), page_seconds=settings.page_seconds, memory=settings.worker_memory
    )


def _keep(folder: ModelFolder, found: SiteLesson, most: int, learned: Learned, note: Callable[[str], None]) -> None:
    """Keep what was learned of a site, and say so where it was redesigned."""
    if found.model is None:
        learned.unchanged += 1
        if found.familiar < FAMILIAR:
            note(f"{found.site}: its few new pages look like nothing known of it and are left out")
    elif found.is_update and not found.redesigned and found.sums is not None:
        folder.save_epoch(found.site, found.model, found.sums, most)
        learned.updated += 1
    else:
        folder.save(found.site, found.model, found.sums)
    if found.redesigned:
        learned.redesigned.append(found.site)
        note(
            f"{found.site} looks redesigned: only {found.familiar:.0%} of what its new pages show stands where it "
            "stood before; earlier epochs are dropped"
        )
