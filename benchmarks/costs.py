"""Cost of each stage of a run, for planning a large one: CPU of one core and bytes, per page and per million pages."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from webwinnow.page.urls import SiteKey
from webwinnow.replicas.sketches import sketch_type
from webwinnow.run.inputs import open_pages
from webwinnow.run.pagestore import CollectionStore, PageRow
from webwinnow.run.pageworker import PageWorker
from webwinnow.run.settings import RunSettings
from webwinnow.run.workerjobs import CleanStored, LearnSite, ParsePage, Shared, SiteToClean

FILES = {"sites-swde": ("shop pages", 1500), "pages-wcxb": ("pages of all kinds, mostly one per site", 800)}
COLUMNS = ("what", "per page", "per million pages")


class _Stopwatch:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    @contextmanager
    def on(self, stage: str) -> Iterator[None]:
        began = time.process_time()
        yield
        self.seconds[stage] += time.process_time() - began


def costs(data: Path) -> list[tuple[str, ...]]:
    """Time the stages of `combined`, one page after the other in this process."""
    rows: list[tuple[str, ...]] = []
    for name, (description, most) in FILES.items():
        rows += _costs(data / f"{name}.parquet", description, most)
    return rows


def _costs(path: Path, description: str, most: int) -> list[tuple[str, ...]]:
    settings = RunSettings(site_by=SiteKey.parse("column" if "swde" in path.name else "host"))
    worker = PageWorker(settings)
    watch = _Stopwatch()
    sizes: dict[str, int] = defaultdict(int)
    pages = open_pages([path], on_problem=print)
    with tempfile.TemporaryDirectory() as folder, CollectionStore(Path(folder) / "run", {}, resume=False) as store:
        for ordinal in range(most):
            with watch.on("reading"):
                page = next(pages)
            job = ParsePage(page.url, page.body, page.content_type, page.site, page.page_id)
            with watch.on("parsing, page model"):
                site, key, content, packed = worker.parse(job)
            with watch.on("index and spool"):
                store.add_page(PageRow(ordinal, site, page.url, page.page_id, key, content), packed)
            sizes["HTML"] += len(page.body)
            sizes["trees, packed"] += len(packed)
        store.commit()
        sites = list(store.sites())
        spool = str(store.spool_path)
        for site, _ in sites:
            with watch.on("learning"):
                learned = worker.do(LearnSite(store.chosen_of(site, settings.learn_pages)), Shared(spool))
            sizes["models"] += len(learned[0])
            shared = Shared(spool, (SiteToClean(site, store.chosen_of(site, settings.learn_pages), None),))
            for row in store.pages_of(site):
                first = worker.model_of is None or worker.model_of[0] != site
                with watch.on("learning, a second time" if first else "cleaning, record, sketch"):
                    answer = worker.do(CleanStored(0, row.url, row.page_id, row.ref, row.error), shared)
                sizes["records (JSONL)"] += len(answer[0])
        sizes["index of the pages"] = sum(file.stat().st_size for file in Path(folder).glob("run/index.sqlite*"))
        sizes["sketches"] = sketch_type().itemsize * most
    cleaned = most - len(sites)
    del watch.seconds["learning, a second time"]
    rows: list[tuple[str, ...]] = [(f"**{most:,} {description}** ({len(sites):,} sites)", "", "")]
    total = 0.0
    for stage, seconds in watch.seconds.items():
        each = seconds / (cleaned if stage.startswith("cleaning") and cleaned else most)
        total += each
        rows.append((stage, f"{each * 1e3:.2f} ms", f"{each * 1e6 / 3600:.2f} core hours"))
    rows.append(("all stages", f"{total * 1e3:.2f} ms", f"**{total * 1e6 / 3600:.1f} core hours**"))
    rows += [(what, f"{size / most:,.0f} bytes", f"{size / most / 1e3:,.1f} GB") for what, size in sizes.items()]
    return rows
