"""Replicas: fingerprints per second from parsed trees; time and memory to find replicas among a million sketches."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

SKETCHES = 1_000_000
TREES = 400
ROUNDS = 7

_FIND = """
import sys, time
from pathlib import Path
import numpy as np
from webwinnow.replicas.finding import find_replicas
from webwinnow.replicas.sketches import sketch_type
rows = np.memmap(sys.argv[1], sketch_type(), "r")
wall, cpu = time.perf_counter(), time.process_time()
found = find_replicas(rows)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024  # ru_maxrss is inherited
print(wall, cpu, peak, found.count, int(found.cluster.max()) + 1)
"""


def _write_sketches(path: Path, count: int) -> tuple[int, int]:
    """Write sketches: 10 % exact copies, 20 % near-duplicates, 20 % of one template. Return (replicas, others)."""
    import numpy as np

    from webwinnow.replicas.sketches import sketch_type

    chance = np.random.default_rng(7)
    rows = np.zeros(count, sketch_type())
    rows["slots"] = chance.integers(0, 1 << 16, rows["slots"].shape, np.uint16)
    rows["exact"] = chance.integers(1, 1 << 63, count, np.uint64)
    rows["address"] = rows["near"] = rows["path"] = chance.integers(1, 1 << 63, count, np.uint64)
    rows["site"] = chance.integers(1, 1 + count // 100, count, np.uint64)
    rows["ordinal"] = np.arange(count)
    rows["shingles"] = 500
    rows["url_length"] = chance.integers(20, 120, count)
    tenth = count // 10
    template = slice(7 * tenth, 9 * tenth)
    rows["slots"][template, :50] = rows["slots"][7 * tenth, :50]
    equal, near, originals = slice(0, tenth), slice(tenth, 3 * tenth), slice(3 * tenth, 5 * tenth)
    for name in ("slots", "exact"):
        rows[name][equal] = rows[name][originals][:tenth]
    kept = chance.random((2 * tenth, rows["slots"].shape[1])) < 0.8
    rows["slots"][near] = np.where(kept, rows["slots"][originals], rows["slots"][near])
    rows.tofile(path)
    return 3 * tenth, count - 3 * tenth


def find(data: Path) -> list[tuple[str, str]]:
    """Measure fingerprints and the search for replicas."""
    rows = [("fingerprints from parsed trees, one core", _speed(data))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sketches.bin"
        replicas, others = _write_sketches(path, SKETCHES)
        size = path.stat().st_size
        done = subprocess.run(
            [sys.executable, "-c", _FIND, str(path)], check=True, capture_output=True, text=True
        ).stdout.split()
        wall, cpu, peak, count, clusters = (float(value) for value in done)
        rows += [
            (f"replicas among {SKETCHES:,} sketches", f"**{cpu:.1f} s of one core**, {wall:.1f} s of wall-clock time"),
            (
                "peak resident memory, the mapped file included",
                f"**{peak / 1e6:,.0f} MB**, of which the file of sketches {size / 1e6:,.0f} MB",
            ),
            ("replicas found", f"{count:,.0f} of {replicas:,}; clusters {clusters:,.0f} of {others:,}"),
        ]
    return rows


def _speed(data: Path) -> str:
    from webwinnow.page.parsing import parse
    from webwinnow.record.cleaner import clean_page
    from webwinnow.replicas.sketches import PageOrigin, page_sketch

    pages = pq.read_table(data / "pages-wcxb.parquet", columns=["url", "html"]).slice(0, TREES).to_pylist()
    ready = []
    for page in pages:
        tree = parse(page["html"], url=page["url"])
        ready.append((tree, clean_page(tree, "page").verdict.keep_runs))
    spent = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for tree, runs in ready:
            origin = PageOrigin(url=tree.url, title=tree.head.title, canonical=tree.head.canonical, site="x")
            page_sketch(tree, runs, origin)
        spent.append(time.process_time() - started)
    return f"**{len(ready) / min(spent):,.0f} pages/s**, best of {ROUNDS}"
