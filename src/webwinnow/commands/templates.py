"""The templates of a whole collection: parse and spool as in a cleaning run, then cut pages up, follow their links."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from webwinnow.collection.pagestore import CollectionStore, PageRow
from webwinnow.collection.parsedpages import parse_all
from webwinnow.collection.settings import RunSettings
from webwinnow.collection.workerpool import WorkerPool
from webwinnow.io import check_apart, check_output, open_pages
from webwinnow.io.outputs import write_lines
from webwinnow.pagetree import PageTree
from webwinnow.progress import Progress
from webwinnow.templates import Collection, Template, pagelet_text
from webwinnow.treebytes import tree_from_bytes
from webwinnow.urls import SiteKey

__all__ = ["Listed", "list_templates"]


@dataclass(frozen=True, slots=True)
class Listed:
    """What a run found: templates, pages that have one, all pages, and pages that could not be read."""

    templates: int
    with_templates: int
    pages: int
    failed: int


def list_templates(
    inputs: Sequence[str | Path],
    out: str | Path,
    settings: RunSettings,
    *,
    linked: bool = True,
    tmp: Path | None = None,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> Listed:
    """Write one line a template, those of most pages first: fingerprint, text, sites and the pages that have it."""
    tell = on_progress or (lambda _stage, _done, _total: None)
    check_output(out, "jsonl")
    check_apart(inputs, out)
    pages = open_pages(inputs, on_problem=on_problem or (lambda _: None))
    with (
        tempfile.TemporaryDirectory(prefix="webwinnow-", dir=tmp) as folder,
        CollectionStore(Path(folder) / "run", {}, resume=False) as store,
    ):
        with WorkerPool(
            settings.workers, settings.to_plain(), page_seconds=settings.page_seconds, memory=settings.worker_memory
        ) as pool:
            parse_all(pages, store, pool, settings, tell)
        total, failed = store.page_count(), store.failed_count()
        rows = [row for site, _ in list(store.sites()) for row in store.pages_of(site) if row.ref is not None]
        collection = Collection(row.key for row in rows)
        for done, row in enumerate(rows, start=1):
            collection.add(_tree(store, row))
            tell("clean", done, len(rows))
        found = collection.templates(linked=linked)
        write_lines(_lines(found, rows, _texts(found, rows, store), settings.site_by), out)
    having = {page for template in found for page in template.pages}
    return Listed(len(found), len(having), total, failed)


def _tree(store: CollectionStore, row: PageRow) -> PageTree:
    assert row.ref is not None
    return tree_from_bytes(store.read(row.ref))


def _texts(found: list[Template], rows: list[PageRow], store: CollectionStore) -> list[str]:
    """What each template says on its first page; each page is read once."""
    wanted: dict[int, list[int]] = defaultdict(list)
    for at, template in enumerate(found):
        wanted[template.pages[0]].append(at)
    texts = [""] * len(found)
    for page, templates in wanted.items():
        tree = _tree(store, rows[page])
        for at in templates:
            texts[at] = pagelet_text(tree, found[at].fingerprint)
    return texts


def _lines(found: list[Template], rows: list[PageRow], texts: list[str], site_by: SiteKey) -> Iterator[bytes]:
    for template, text in zip(found, texts, strict=True):
        members = [rows[page] for page in template.pages]
        told = {
            "template": f"{template.fingerprint:016x}",
            "pages": len(members),
            "sites": sorted({site_by.name(row.site, row.url) for row in members}),
            "text": text,
            "members": [row.url for row in members],
        }
        yield json.dumps(told, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
