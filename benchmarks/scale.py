"""A crawl with site sizes as skewed as the web's: 100,000 sites, most of one or two pages, and one of 50,000 pages.

python benchmarks/scale.py ENGINE SHARE...    run a share of it through one engine, without the table
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

SITES = 100_000
LARGE = 50_000
"""Pages of the one large site, all different."""
SKEW = 1.2
"""Exponent of the power law of the other sites' sizes: a site has more than n pages with probability n^-1.2."""
MOST = 2_000
FILES = 8
SHARES = {"local": (0.1, 0.3, 1.0), "ray": (0.1, 0.3, 1.0), "spark": (0.1, 0.3, 1.0)}
COLUMNS = ("engine", "sites", "pages", "seconds", "CPU per page", "peak memory", "records")
_WORDS = [f"word{k}" for k in range(20_000)]


def sizes(share: float) -> list[int]:
    """Pages of each site, the large one first."""
    chance = random.Random(1)
    small = [min(MOST, int((1 - chance.random()) ** (-1 / SKEW))) for _ in range(int(SITES * share))]
    return [int(LARGE * share), *small]


def _page(site: int, number: int) -> dict[str, str]:
    """A page of about 3 KB: its site's menu around unique text."""
    chance = random.Random(site << 20 | number)
    host = f"s{site}.example"
    menu = "".join(f'<li class="item"><a href="/section/{k}">Section {k} of {host}</a></li>' for k in range(8))
    story = "".join(f"<p>{' '.join(chance.choices(_WORDS, k=50))}.</p>" for _ in range(5))
    html = f"<!doctype html><title>Page {number}</title><body><nav><ul>{menu}</ul></nav><main>{story}</main></body>"
    return {"url": f"http://{host}/p/{number}", "page_id": f"{site}/{number}", "html": html}


def _crawl(folder: Path, share: float) -> tuple[list[Path], int]:
    """Write files of pages in the order of a crawl, sites mixed."""
    places = [(site, number) for site, pages in enumerate(sizes(share)) for number in range(pages)]
    random.Random(2).shuffle(places)
    paths = [folder / f"{k}.jsonl" for k in range(FILES)]
    for k, path in enumerate(paths):
        with path.open("w") as out:
            out.writelines(json.dumps(_page(*place)) + "\n" for place in places[k::FILES])
    return paths, len(places)


def _below(pid: int) -> Iterator[int]:
    """Return a process and its descendants."""
    yield pid
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in (thread / "children").read_text().split():
                yield from _below(int(child))
    except OSError:
        return


class _Watch:
    """Peak resident bytes and CPU seconds of a process and its descendants.

    Memory that processes share counts once (proportional set size).
    """

    def __init__(self) -> None:
        self.most = 0
        self.cpu: dict[int, float] = {}

    def look(self, pid: int) -> None:
        total = 0
        for one in _below(pid):
            try:
                status = Path(f"/proc/{one}/smaps_rollup").read_text()
                total += int(status.split("\nPss:")[1].split()[0]) * 1024
                times = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
                self.cpu[one] = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
            except (OSError, IndexError):
                continue
        self.most = max(self.most, total)


def measure(engine: str, share: float) -> tuple[str, ...]:
    """Measure one run in separate processes."""
    with tempfile.TemporaryDirectory() as folder:
        paths, pages = _crawl(Path(folder), share)
        out = Path(folder) / "out.jsonl"
        command = [sys.executable, "-c", "from webwinnow.cli import main; main()", "clean", *map(str, paths)]
        command += ["-o", str(out), "--jobs", "2", "--engine", engine, "-q"]
        started, watch = time.perf_counter(), _Watch()
        with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ) as process:
            while process.poll() is None:
                watch.look(process.pid)
                time.sleep(0.5)
        seconds = time.perf_counter() - started
        records = 0
        if out.exists():
            with out.open("rb") as lines:
                records = sum(1 for _ in lines)
    ok = process.returncode == 0 and records == pages
    return (
        engine,
        f"{len(sizes(share)):,}",
        f"{pages:,}",
        f"{seconds:,.0f}",
        f"{sum(watch.cpu.values()) / pages * 1e3:.2f} ms",
        f"{watch.most / 1e6:,.0f} MB",
        f"{records:,}{'' if ok else ' (FAILED)'}",
    )


def skewed(_: Path) -> list[tuple[str, ...]]:
    """Run growing shares of the crawl through every engine."""
    rows = []
    for engine, shares in SHARES.items():
        for share in shares:
            rows.append(measure(engine, share))
            print("  " + " | ".join(rows[-1]), file=sys.stderr, flush=True)  # progress of a run of an hour or more
    return rows


if __name__ == "__main__":
    for given in sys.argv[2:]:
        print(*measure(sys.argv[1], float(given)), sep=" | ", flush=True)
