"""Time of `webwinnow clean` by stage: a worker's stages timed in process, and the run around the workers."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq

ROUNDS = 3
_STAGES = {
    "decode": ("webwinnow.page.parsing._as_utf8",),
    "HTML parser": ("webwinnow.page.parsing.HtmlTree",),
    "tree laid out": ("webwinnow.page.parsing.lay_out",),
    "head read": ("webwinnow.run.pageworker.parse",),
    "fingerprint": (
        "webwinnow.run.pageworker.exact_fingerprint",
        "webwinnow.judge.evidence.page_fingerprint",
    ),
    "page model: page read": ("webwinnow.judge.evidence.read", "webwinnow.judge.models.read"),
    "page model: scored": ("webwinnow.judge.evidence.PageEvidence.of",),
    "spool": (
        "webwinnow.run.pageworker.tree_to_bytes",
        "webwinnow.run.pagestore.StoredPage.pack",
        "webwinnow.run.pagestore.StoredPage.unpack",
        "webwinnow.run.pageworker.tree_from_bytes",
        "webwinnow.judge.evidence.PageEvidence.to_bytes",
    ),
    "site learned": ("webwinnow.run.pageworker.PageWorker._site_model",),
    "verdict": ("webwinnow.record.cleaner.Cleaner.clean_in",),
    "record: text": ("webwinnow.record.cleaner.to_text",),
    "record: metadata": ("webwinnow.record.cleaner.fields_of", "webwinnow.record.cleaner.language_of"),
    "record: view": ("webwinnow.record.cleaner.CleanPage._view",),
    "record: the rest": ("webwinnow.record.cleaner.CleanPage.record", "webwinnow.run.pageworker.record_line"),
    "replica sketch": ("webwinnow.run.pageworker.PageWorker._sketch",),
}
"""The functions of each stage. Time in a nested stage counts for the nested stage only."""
_OTHER = "other"


class _Clock:
    """CPU seconds by stage; a nested stage stops the clock of the outer one."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.open = [_OTHER]
        self.since = time.process_time()

    def switch(self) -> None:
        now = time.process_time()
        self.seconds[self.open[-1]] += now - self.since
        self.since = now

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Time the functions of `_STAGES` while this is open."""
        with ExitStack() as patched:
            for stage, names in _STAGES.items():
                for name in names:
                    target, _, attribute = name.rpartition(".")
                    patched.enter_context(_patched(target, attribute, self, stage))
            self.since = time.process_time()
            yield
            self.switch()


def _patched(target: str, attribute: str, clock: _Clock, stage: str) -> Any:
    owner = _found(target)
    given = owner.__dict__[attribute]
    function: Callable[..., Any] = given.__func__ if isinstance(given, classmethod) else given

    def timed(*arguments: Any, **named: Any) -> Any:
        clock.switch()
        clock.open.append(stage)
        try:
            return function(*arguments, **named)
        finally:
            clock.switch()
            clock.open.pop()

    return patch.object(owner, attribute, classmethod(timed) if isinstance(given, classmethod) else timed)


def _found(name: str) -> Any:
    """A module, or a class or module in it."""
    from pkgutil import resolve_name

    return resolve_name(name)


def stages(data: Path) -> list[tuple[str, str]]:
    """CPU per page by stage with the default method, then the CPU of a run outside its workers."""
    pages = pq.read_table(data / "pages-wcxb.parquet", columns=["page_id", "url", "html"]).to_pylist()
    rounds = [_worked(pages) for _ in range(ROUNDS)]
    best = {stage: 1_000 * min(found[stage] for found in rounds) / len(pages) for stage in (*_STAGES, _OTHER)}
    total = sum(best.values())
    rows = [(stage, f"{spent:.2f} ms per page, {spent / total:.0%}") for stage, spent in best.items()]
    run = min(_run_seconds(data / "pages-wcxb.parquet") for _ in range(ROUNDS))
    start = min(_start_seconds(pages[0]) for _ in range(ROUNDS))
    around = 1_000 * (run - start) / len(pages) - total
    return [
        *rows,
        ("a worker, all stages", f"{total:.2f} ms per page"),
        ("reading, queue, index, joining", f"{around:.2f} ms per page"),
        ("start of the run and its worker", f"{start:.2f} s, {start / run:.0%} of this run"),
    ]


def _worked(pages: list[dict[str, Any]]) -> dict[str, float]:
    """Time a worker on these pages, site by site."""
    from webwinnow.run.pageworker import PageWorker
    from webwinnow.run.settings import RunSettings
    from webwinnow.run.workerjobs import CleanStored, ParsePage, Shared, SiteToClean

    worker = PageWorker(RunSettings())
    clock = _Clock()
    sites: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    with tempfile.NamedTemporaryFile() as spool:
        at = 0
        with clock.timing():
            for page in pages:
                site, _, content, packed = worker.parse(ParsePage(page["url"], page["html"], page_id=page["page_id"]))
                spool.write(packed)
                sites[site].append((page["url"], page["page_id"], (at, len(packed)), content))
                at += len(packed)
            spool.flush()
            for site, found in sites.items():
                chosen = list({content: ref for *_, ref, content in found}.values())
                shared = Shared(spool.name, (SiteToClean(site, chosen, None),))
                for url, page_id, ref, _ in found:
                    worker.do(CleanStored(0, url, page_id, ref, None), shared)
    return clock.seconds


def _run_seconds(crawl: Path) -> float:
    """CPU of the whole command with one worker, all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", "from webwinnow.cli import main; main()", "clean", str(crawl)]
        options = ["-o", f"{folder}/out.jsonl", "-q", "--jobs", "1"]
        process = os.spawnv(os.P_WAIT, sys.executable, [*command, *options])
    assert process == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _start_seconds(page: dict[str, Any]) -> float:
    """CPU of a run of one page: the cost of start-up."""
    import pyarrow as pa

    with tempfile.TemporaryDirectory() as folder:
        crawl = Path(folder) / "page.parquet"
        pq.write_table(pa.Table.from_pylist([page]), crawl)
        return _run_seconds(crawl)
