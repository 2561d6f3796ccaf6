"""Models of a collection's sites: parse and spool as in a cleaning run, then learn site by site, each in a worker."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from webwinnow.errors import SettingsError
from webwinnow.io import open_pages
from webwinnow.io.unpacking import ReadLimits
from webwinnow.pagetree import PageTree
from webwinnow.pipeline.pool import Answer, Pool, Task
from webwinnow.pipeline.run import Parser, parse_all
from webwinnow.pipeline.settings import RunSettings
from webwinnow.pipeline.store import RunStore
from webwinnow.progress import Progress
from webwinnow.site.epochs import FAMILIAR
from webwinnow.site.modelstore import ModelFolder
from webwinnow.treebytes import tree_from_bytes

__all__ = ["Learned", "LearningEngine", "Lesson", "SiteLesson", "learn_each", "learn_sites"]

SAMPLE_PAGES = 20
"""Pages shown for a row of thresholds (thesis 5.3)."""
SHOWN_ERRORS = 8


class Lesson(NamedTuple):
    """What is to be learned: the folder of the models, whether sums are kept, how many epochs an update joins."""

    folder: str
    sums: bool
    update: int | None


class SiteLesson(NamedTuple):
    """What was learned of a site: its packed model and sums; an update has none where no page was new."""

    site: str
    is_update: bool
    error: str | None = None
    model: bytes | None = None
    sums: bytes | None = None
    familiar: float = 1.0
    redesigned: bool = False


class LearningEngine(Parser, Protocol):
    """Who learns sites in the place of this machine's workers."""

    def learn_all(self, store: RunStore, settings: RunSettings, lesson: Lesson) -> Iterator[SiteLesson]:
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
        RunStore(Path(scratch) / "run", {}, resume=False) as store,
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


def _pool(settings: RunSettings) -> Pool:
    return Pool(
        settings.workers, settings.to_plain(), page_seconds=settings.page_seconds, memory=settings.worker_memory
    )


def learn_each(
    store: RunStore, pool: Pool, settings: RunSettings, lesson: Lesson, wanted: Container[str] | None = None
) -> Iterator[SiteLesson]:
    """Learn the sites of a store, or those of them that are wanted, each in a worker."""
    for task in _tasks(store, settings, lesson, wanted):
        pool.submit(task)
        while not pool.has_room:
            yield _lesson(pool.answer())
    yield from map(_lesson, pool.answers())


def _tasks(store: RunStore, settings: RunSettings, lesson: Lesson, wanted: Container[str] | None) -> Iterator[Task]:
    folder = ModelFolder(Path(lesson.folder), make=True)
    for name, _ in store.sites():
        refs = store.chosen_of(name, settings.learn_pages) if wanted is None or name in wanted else []
        earlier = folder.epochs(folder.model_path(name)) if lesson.update is not None else []
        if refs and earlier:
            item = (refs, [str(path) for path in earlier], lesson.update)
            yield Task(name, "update", str(store.spool_path), [item])
        elif refs:
            yield Task(name, "model", str(store.spool_path), [(name, refs, lesson.sums)])


def _lesson(answer: Answer) -> SiteLesson:
    is_update = answer.task.kind == "update"
    if answer.error is not None:
        return SiteLesson(answer.task.name, is_update, answer.error)
    return SiteLesson(answer.task.name, is_update, None, *answer.value)


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
