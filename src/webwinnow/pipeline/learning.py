"""Models of a collection's sites: parse and spool as in a cleaning run, then learn site by site, each in a worker."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from webwinnow.io import open_pages
from webwinnow.pagetree import PageTree
from webwinnow.pipeline.pool import Answer, Pool, Task
from webwinnow.pipeline.run import parse_all
from webwinnow.pipeline.settings import Progress, RunSettings
from webwinnow.pipeline.store import RunStore
from webwinnow.site.folder import ModelFolder
from webwinnow.treebytes import tree_from_bytes

__all__ = ["Learned", "learn_sites"]

SAMPLE_PAGES = 20
"""Pages shown for a row of thresholds (thesis 5.3)."""
SHOWN_ERRORS = 8


class _Site(NamedTuple):
    """A site and how many pages of it there are."""

    name: str
    pages: int


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
) -> Learned:
    """Learn every site of a collection and write its model, and its sums unless told not to, into the folder `out`.

    `on_sample(site, trees)` is handed up to 20 of the pages that a site was learned from, once its model is written.
    With `update` the pages are a new epoch of each site that `out` knows, and its model joins the last so many.
    `sample`, told how many pages each site has, may say how many of each instead; sites it leaves out are not learned.
    """
    tell = on_progress or (lambda _stage, _done, _total: None)
    note = on_problem or (lambda _: None)
    pages = open_pages(inputs, on_problem=note)
    folder = ModelFolder(out, make=True)
    learned = Learned()
    with (
        tempfile.TemporaryDirectory(prefix="webwinnow-", dir=tmp) as scratch,
        RunStore(Path(scratch) / "run", {}, resume=False) as store,
        Pool(
            settings.workers, settings.to_plain(), page_seconds=settings.page_seconds, memory=settings.worker_memory
        ) as pool,
    ):
        parse_all(pages, store, pool, settings, tell)
        learned.pages, learned.failed_pages = store.page_count(), store.failed_count()
        for error, count in store.errors(SHOWN_ERRORS):
            note(f"{count:,} pages could not be read: {error}")
        wanted = dict(store.sites())
        wanted = dict.fromkeys(wanted, SAMPLE_PAGES) if sample is None else sample(wanted)
        done = 0

        def keep(answer: Answer) -> None:
            nonlocal done
            site: _Site = answer.task.name
            done += site.pages
            tell("learn", done, learned.pages)
            if answer.error is not None:
                learned.failed_sites += 1
                note(f"{site.name} could not be learned: {answer.error}")
                return
            if answer.task.kind == "update":
                _keep_epoch(folder, site.name, answer.value, update or 1, learned, note)
            else:
                folder.save(site.name, *answer.value)
            learned.sites += 1
            if on_sample is not None:
                refs = store.chosen_of(site.name, settings.learn_pages)[: wanted[site.name]]
                on_sample(site.name, [tree_from_bytes(store.read(ref)) for ref in refs])

        for task in _tasks(store, settings, wanted, folder, sums=sums, update=update):
            pool.submit(task)
            while not pool.has_room:
                keep(pool.answer())
        for answer in pool.answers():
            keep(answer)
    return learned


def _tasks(
    store: RunStore,
    settings: RunSettings,
    wanted: Container[str],
    folder: ModelFolder,
    *,
    sums: bool,
    update: int | None,
) -> Iterator[Task]:
    for name, pages in store.sites():
        refs = store.chosen_of(name, settings.learn_pages) if name in wanted else []
        earlier = folder.epochs(folder.model_path(name)) if update is not None else []
        if refs and earlier:
            item = (refs, [str(path) for path in earlier], update)
            yield Task(_Site(name, pages), "update", str(store.spool_path), [item])
        elif refs:
            yield Task(_Site(name, pages), "model", str(store.spool_path), [(name, refs, sums)])


def _keep_epoch(
    folder: ModelFolder, site: str, answer: Any, most: int, learned: Learned, note: Callable[[str], None]
) -> None:
    """Keep what an update made of a site, and say so where it was redesigned."""
    model, sums, familiar, redesigned = answer
    if model is None:
        learned.unchanged += 1
    elif redesigned:
        folder.save(site, model, sums)
        learned.redesigned.append(site)
        note(
            f"{site} looks redesigned: only {familiar:.0%} of what its new pages show stands where it stood before; "
            "earlier epochs are set aside"
        )
    else:
        folder.save_epoch(site, model, sums, most)
        learned.updated += 1
