"""Speed relative to peers, each ratio from one run: parsing, extraction, whole runs, start-up, two workers.

Times are CPU times, except those of two workers or two threads: other processes do not count.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))

PAGES = 300
ROUNDS = 5


def _pages(data: Path, count: int | None = None) -> list[dict[str, Any]]:
    table = pq.read_table(data / "pages-wcxb.parquet", columns=["page_id", "url", "html"])
    return table.slice(0, count).to_pylist() if count else table.to_pylist()


def _interleaved(works: dict[str, Callable[[bytes], object]], bodies: list[bytes]) -> dict[str, float]:
    """CPU seconds per page: the sum over pages of the least of several rounds, in which the works take turns."""
    best = {name: [float("inf")] * len(bodies) for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            for k, body in enumerate(bodies):
                started = time.thread_time()
                work(body)
                best[name][k] = min(best[name][k], time.thread_time() - started)
    return {name: sum(least) / len(bodies) for name, least in best.items()}


def parse(data: Path) -> list[tuple[str, str]]:
    """Compare PageTree with another parser alone, and count the tests of the HTML standard that pass."""
    import turbohtml
    from treelines import HTML5LIB, built, cases, expected

    import webwinnow

    bodies = [page["html"] for page in _pages(data)]
    spent = _interleaved({"bare": turbohtml.parse, "tree": webwinnow.parse}, bodies)
    passed = [built(page.encode()) == expected(document) for path in HTML5LIB for page, document in cases(path)]
    return [
        ("turbohtml.parse, ms per page", f"{1_000 * spent['bare']:.2f}"),
        ("webwinnow.parse (PageTree), ms per page", f"{1_000 * spent['tree']:.2f}"),
        ("ratio", f"**{spent['bare'] / spent['tree']:.2f}**"),
        ("tree-construction tests of html5lib passed", f"**{sum(passed):,}** of {len(passed):,}"),
    ]


def extract(data: Path) -> list[tuple[str, str]]:
    """Compare `webwinnow.extract` with resiliparse's main content and with the parser alone; one thread with two."""
    import turbohtml
    from resiliparse.extract.html2text import extract_plain_text

    import webwinnow

    bodies = [page["html"] for page in _pages(data)]
    bodies = bodies[:: len(bodies) // PAGES]
    spent = _interleaved(
        {
            "turbohtml.parse": turbohtml.parse,
            "resiliparse, main content": lambda body: extract_plain_text(
                body.decode("utf-8", "replace"), main_content=True
            ),
            "webwinnow.extract": webwinnow.extract,
        },
        bodies,
    )
    bare, peer, ours = spent.values()
    one, two = (min(_thread_seconds(webwinnow.extract, bodies, count) for _ in range(ROUNDS)) for count in (1, 2))
    return [
        *((f"{name}, ms per page", f"{1_000 * seconds:.2f}") for name, seconds in spent.items()),
        ("speed of extract, of resiliparse's", f"**{peer / ours:.2f}**"),
        ("speed of extract, of the bare parse's", f"**{bare / ours:.2f}**"),
        ("two threads, times the pages/s of one (wall-clock)", f"{one / two:.2f}"),
    ]


def _thread_seconds(work: Callable[[bytes], object], bodies: list[bytes], count: int) -> float:
    """Wall-clock of all pages, shared by so many threads."""
    threads = [threading.Thread(target=lambda k=k: [work(body) for body in bodies[k::count]]) for k in range(count)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def start(_: Path) -> list[tuple[str, str]]:
    """CPU of `webwinnow page` on a small page, compared with that of importing numpy."""
    page = Path(__file__).parent.parent / "samples" / "pages" / "sqlite-whentouse.html"
    commands = {
        "python -c 'import numpy'": ["-c", "import numpy"],
        "import webwinnow": ["-c", "import webwinnow"],
        "webwinnow page FILE": ["-m", "webwinnow", "page", str(page)],
        "webwinnow --help": ["-m", "webwinnow", "--help"],
    }
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(2 * ROUNDS):
        for name, command in commands.items():
            best[name] = min(best[name], child_seconds([sys.executable, *command]))
    numpy = next(iter(best.values()))
    return [(name, f"{seconds:.3f} s, **{seconds / numpy:.1f}** times numpy") for name, seconds in best.items()]


def child_seconds(command: list[str], cores: set[int] | None = None) -> float:
    """CPU of a command and all its processes, with byte code written: installed packages have it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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
    """CPU of the whole command with one worker, start-up included, and of peers on a sample of the same pages."""
    import trafilatura
    from resiliparse.extract.html2text import extract_plain_text

    crawl = data / "pages-wcxb.parquet"
    pages = _pages(data)
    some = [page["html"] for page in pages[:: len(pages) // PAGES]]
    spent = _interleaved(
        {
            "trafilatura": lambda body: trafilatura.extract(body.decode("utf-8", "replace")),
            "resiliparse": lambda body: extract_plain_text(body.decode("utf-8", "replace"), main_content=True),
        },
        some,
    )
    rows = [(f"{name}, ms per page", f"{1_000 * seconds:.2f}") for name, seconds in spent.items()]
    bare = ("--no-view", "--no-replicas")
    for options in (("none",), ("page",), ("combined",), ("none", *bare), ("combined", *bare)):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "webwinnow", "clean", str(crawl), "-o", f"{folder}/out.jsonl", "-q"]
            command += ["--jobs", "1", "--method", *options]
            ours = min(child_seconds(command) for _ in range(2)) / len(pages)
        ratios = ", ".join(f"**{seconds / ours:.2f}** of {name}" for name, seconds in spent.items())
        rows.append((f"webwinnow clean --method {' '.join(options)}, ms per page", f"{1_000 * ours:.2f}: {ratios}"))
    return rows


def workers(data: Path) -> list[tuple[str, str]]:
    """Wall-clock of the command with one worker and with two, on a crawl that makes start-up negligible.

    With one worker and two cores, reading and writing use the second core; the last ratio is that of two workers on two
    cores to one worker on one.
    """
    first = {min(os.sched_getaffinity(0))}
    with tempfile.TemporaryDirectory() as folder:
        crawl = Path(folder) / "crawl.parquet"
        table = pq.read_table(data / "pages-wcxb.parquet", columns=["page_id", "url", "html"])
        pq.write_table(pa.concat_tables([table] * 3), crawl, compression="zstd", row_group_size=200)
        rows = []
        for method in ("none", "repeated", "combined"):
            alone, one, two = [], [], []
            for _ in range(3):
                alone.append(command_seconds(crawl, "--method", method, "--jobs", "1", cores=first))
                one.append(command_seconds(crawl, "--method", method, "--jobs", "1"))
                two.append(command_seconds(crawl, "--method", method, "--jobs", "2"))
            pages = 3 * table.num_rows
            rows += [
                (f"{method}: one worker on one core, pages/s", f"{pages / min(alone):,.0f}"),
                (f"{method}: one worker, pages/s", f"{pages / min(one):,.0f}"),
                (f"{method}: two workers, pages/s", f"{pages / min(two):,.0f}"),
                (f"{method}: two workers to one, medians", f"**{_ratio(one, two):.2f}**"),
                (f"{method}: two workers on two cores to one on one, medians", f"**{_ratio(alone, two):.2f}**"),
            ]
    return rows


def _ratio(seconds: list[float], others: list[float]) -> float:
    return statistics.median(seconds) / statistics.median(others)
