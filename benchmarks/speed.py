"""Speed relative to peers, each ratio from one run: bare parsing, one-page extraction, one worker against two."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PAGES = 300
ROUNDS = 5


def _pages(data: Path, count: int | None = None) -> list[dict[str, Any]]:
    table = pq.read_table(data / "pages-wcxb.parquet", columns=["page_id", "url", "html"])
    return table.slice(0, count).to_pylist() if count else table.to_pylist()


def _seconds(work: Callable[[bytes], object], bodies: list[bytes]) -> float:
    started = time.perf_counter()
    for body in bodies:
        work(body)
    return time.perf_counter() - started


def parse(data: Path) -> list[tuple[str, str]]:
    """Compare PageTree with the parser alone, in interleaved rounds so that other load affects both."""
    import turbohtml

    import webwinnow

    bodies = [page["html"] for page in _pages(data)]
    bare, trees = [], []
    for _ in range(ROUNDS):
        bare.append(_seconds(turbohtml.parse, bodies))
        trees.append(_seconds(webwinnow.parse, bodies))
    ratio = statistics.median(b / t for b, t in zip(bare, trees, strict=True))
    return [
        ("turbohtml.parse, pages/s", f"{len(bodies) / min(bare):,.0f}"),
        ("webwinnow.parse (PageTree), pages/s", f"{len(bodies) / min(trees):,.0f}"),
        ("ratio, median of rounds", f"**{ratio:.2f}**"),
    ]


def css(data: Path) -> list[tuple[str, str]]:
    """Parsing with and without the rules of style sheets as display properties."""
    import webwinnow

    rows = []
    for name, step in (("sites-swde", 20), ("pages-wcxb", 4)):
        bodies = pq.read_table(data / f"{name}.parquet", columns=["html"])["html"].to_pylist()[::step]
        spent = []
        for limits in (webwinnow.ParseLimits(), webwinnow.ParseLimits(css=True)):
            started = time.process_time()
            for body in bodies:
                webwinnow.parse(body, limits=limits)
            spent.append(time.process_time() - started)
        plain, cascaded = (len(bodies) / seconds for seconds in spent)
        numbers = f"{plain:,.0f}, {cascaded:,.0f}; **{spent[1] / spent[0]:.1f}** times the CPU"
        rows.append((f"{name}, {len(bodies)} pages: pages per CPU second without, with --css", numbers))
    return rows


def command_seconds(crawl: Path, *options: str, cores: set[int] | None = None) -> float:
    """Wall-clock of `webwinnow clean`, start-up included, on the given cores."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", "from webwinnow.cli import main; main()", "clean", str(crawl)]
        started = time.perf_counter()
        subprocess.run(
            [*command, "-o", f"{folder}/out.jsonl", "-q", *options],
            check=True,
            preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
        )
        return time.perf_counter() - started


def clean(data: Path) -> list[tuple[str, str]]:
    """Time the whole command on one core, start-up included, and peers on a sample of the same pages on one core."""
    import trafilatura
    from resiliparse.extract.html2text import extract_plain_text

    crawl = data / "pages-wcxb.parquet"
    pages = _pages(data)
    core = {min(os.sched_getaffinity(0))}
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, core)
    try:
        some = [page["html"] for page in pages[:: len(pages) // PAGES]]
        peers = {
            "trafilatura": lambda body: trafilatura.extract(body.decode("utf-8", "replace")),
            "resiliparse": lambda body: extract_plain_text(body.decode("utf-8", "replace"), main_content=True),
        }
        speed = {name: len(some) / _seconds(work, some) for name, work in peers.items()}
    finally:
        os.sched_setaffinity(0, everywhere)
    rows = [(f"{name}, pages/s", f"{found:,.1f}") for name, found in speed.items()]
    bare = ("--no-view", "--no-replicas")
    for options in (("none",), ("page",), ("combined",), ("none", *bare), ("combined", *bare)):
        ours = len(pages) / min(
            command_seconds(crawl, "--method", *options, "--jobs", "1", cores=core) for _ in range(2)
        )
        ratios = ", ".join(f"**{ours / found:.2f}** of {name}" for name, found in speed.items())
        rows.append((f"webwinnow clean --method {' '.join(options)}, pages/s", f"{ours:,.1f}: {ratios}"))
    return rows


def workers(data: Path) -> list[tuple[str, str]]:
    """Wall-clock of the command with one worker and with two, on a crawl that makes start-up negligible."""
    with tempfile.TemporaryDirectory() as folder:
        crawl = Path(folder) / "crawl.parquet"
        table = pq.read_table(data / "pages-wcxb.parquet", columns=["page_id", "url", "html"])
        pq.write_table(pa.concat_tables([table] * 3), crawl, compression="zstd", row_group_size=200)
        rows = []
        for method in ("none", "repeated"):
            one, two = [], []
            for _ in range(3):
                one.append(command_seconds(crawl, "--method", method, "--jobs", "1"))
                two.append(command_seconds(crawl, "--method", method, "--jobs", "2"))
            pages = 3 * table.num_rows
            rows += [
                (f"{method}: one worker, pages/s", f"{pages / min(one):,.0f}"),
                (f"{method}: two workers, pages/s", f"{pages / min(two):,.0f}"),
                (f"{method}: ratio of medians", f"**{statistics.median(one) / statistics.median(two):.2f}**"),
            ]
    return rows
