"""Parse every page of a collection into its store, in worker processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from webwinnow.collection.pagestore import CollectionStore, PageRow
from webwinnow.collection.settings import RunSettings
from webwinnow.collection.workerpool import Answer, Task, WorkerPool
from webwinnow.progress import Progress
from webwinnow.records import PageRecord

CHUNK_PAGES = 32
CHUNK_BYTES = 4_000_000
"""A worker is handed so many pages, or so many bytes of them, at a time."""


def parse_all(
    pages: Iterator[PageRecord], store: CollectionStore, pool: WorkerPool, settings: RunSettings, tell: Progress
) -> None:
    """Stage 1: parse every page that the store does not have yet into it."""
    if store.marked("parsed") is not None:
        return
    is_resumed = store.page_count() > 0
    new = (page for page in pages if not (is_resumed and store.has_page(page.ordinal)))
    for done, (row, packed) in enumerate(parsed(new, pool, settings), start=1):
        store.add_page(row, packed)
        tell("parse", done, None)
    store.commit()
    store.mark("parsed")


def parsed(
    pages: Iterable[PageRecord], pool: WorkerPool, settings: RunSettings
) -> Iterator[tuple[PageRow, bytes | None]]:
    """Each page as a row of the index, with what the spool keeps of it; in whatever order the workers are done.

    A page that cannot be parsed, or that its source could not hand over, has an error in its row and nothing to keep.
    """
    task, size = Task([], "parse", None), 0
    for page in pages:
        site = settings.site_by.of(page)
        if page.refused is not None:
            yield PageRow(page.ordinal, site, page.url, page.page_id, error=page.refused), None
            continue
        task.name.append((page.ordinal, page.url, page.page_id, site, page.fetched_at))
        task.items.append((page.url, page.body, page.content_type, page.site, page.page_id))
        size += len(page.body)
        if len(task.items) >= CHUNK_PAGES or size >= CHUNK_BYTES:
            pool.submit(task)
            task, size = Task([], "parse", None), 0
            while not pool.has_room:
                yield _row(pool.answer())
    if task.items:
        pool.submit(task)
    yield from map(_row, pool.answers())


def _row(answer: Answer) -> tuple[PageRow, bytes | None]:
    ordinal, url, page_id, site, fetched_at = answer.task.name[answer.index]
    if answer.error is not None:
        return PageRow(ordinal, site, url, page_id, error=answer.error), None
    site, key, content, packed = answer.value
    return PageRow(ordinal, site, url, page_id, key, content, fetched_at=fetched_at), packed
