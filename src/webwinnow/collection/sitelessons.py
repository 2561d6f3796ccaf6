"""Learn the sites of a store, each in a worker."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from typing import NamedTuple

from webwinnow.collection.pagestore import CollectionStore
from webwinnow.collection.settings import RunSettings
from webwinnow.collection.workerpool import Answer, Task, WorkerPool
from webwinnow.site.modelstore import ModelFolder


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


def learn_each(
    store: CollectionStore,
    pool: WorkerPool,
    settings: RunSettings,
    lesson: Lesson,
    wanted: Container[str] | None = None,
) -> Iterator[SiteLesson]:
    """Learn the sites of a store, or those of them that are wanted, each in a worker."""
    for task in _tasks(store, settings, lesson, wanted):
        pool.submit(task)
        while not pool.has_room:
            yield _lesson(pool.answer())
    yield from map(_lesson, pool.answers())


def _tasks(
    store: CollectionStore, settings: RunSettings, lesson: Lesson, wanted: Container[str] | None
) -> Iterator[Task]:
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
