"""Models of a collection's sites: parse and spool as in a cleaning run, then learn site by site, each in a worker."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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
    """What a learning run did: sites and pages; pages that could not be read; sites that could not be learned."""

    sites: int = 0
    pages: int = 0
    failed_pages: int = 0
    failed_sites: int = 0


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
) -> Learned:
    """Learn every site of a collection and write its model, and its sums unless told not to, into the folder `out`.

    `on_sample(site, trees)` is handed up to 20 of the pages that a site was learned from, once its model is written.
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
            model, summed = answer.value
            folder.save(site.name, model, summed)
            learned.sites += 1
            if on_sample is not None:
                refs = store.chosen_of(site.name, settings.learn_pages)[: wanted[site.name]]
                on_sample(site.name, [tree_from_bytes(store.read(ref)) for ref in refs])

        for task in _tasks(store, settings, wanted, sums=sums):
            pool.submit(task)
            while not pool.has_room:
                keep(pool.answer())
        for answer in pool.answers():
            keep(answer)
    return learned


def _tasks(store: RunStore, settings: RunSettings, wanted: Container[str], *, sums: bool) -> Iterator[Task]:
    for name, pages in store.sites():
        refs = store.chosen_of(name, settings.learn_pages) if name in wanted else []
        if refs:
            yield Task(_Site(name, pages), "model", str(store.spool_path), [(name, refs, sums)])
