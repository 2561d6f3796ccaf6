"""Build or update the models of the sites of a store, each in a worker."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from typing import NamedTuple

from webwinnow.collection.pagestore import CollectionStore
from webwinnow.collection.workerjobs import BuildModel, ModelBuilt, Shared, UpdateModel
from webwinnow.collection.workerpool import Task, WorkerPool
from webwinnow.site.modelstore import ModelFolder


class ModelOrder(NamedTuple):
    """Which models to build: their folder, whether to keep sums, the threshold, how many epochs an update joins."""

    folder: str
    learn_pages: int
    threshold: float | None = None
    with_sums: bool = True
    update: int | None = None


class SiteModelBuilt(NamedTuple):
    """The packed model and sums of a site, or an error; an update has no model where no page was new."""

    site: str
    is_update: bool
    error: str | None = None
    model: bytes | None = None
    sums: bytes | None = None
    familiar: float = 1.0
    redesigned: bool = False


def build_models(
    store: CollectionStore, pool: WorkerPool, order: ModelOrder, wanted: Container[str] | None = None
) -> Iterator[SiteModelBuilt]:
    """Learn the sites of a store, or the `wanted` ones of them; in any order."""
    for answer in pool.run(_tasks(store, order, wanted)):
        site, is_update = answer.task.about, isinstance(answer.task.jobs[0], UpdateModel)
        if answer.error is not None:
            yield SiteModelBuilt(site, is_update, answer.error)
        else:
            built: ModelBuilt = answer.result
            yield SiteModelBuilt(site, is_update, None, *built)


def _tasks(store: CollectionStore, order: ModelOrder, wanted: Container[str] | None) -> Iterator[Task]:
    folder = None if order.update is None else ModelFolder(Path(order.folder), make=True)
    shared = Shared(str(store.spool_path))
    for site, _ in store.sites():
        chosen = store.chosen_of(site, order.learn_pages) if wanted is None or site in wanted else []
        earlier = [] if folder is None else folder.epochs(folder.model_path(site))
        if chosen and earlier and order.update is not None:
            job = UpdateModel(chosen, order.threshold, [str(path) for path in earlier], order.update)
            yield Task(site, [job], shared)
        elif chosen:
            yield Task(site, [BuildModel(site, chosen, order.threshold, order.with_sums)], shared)
