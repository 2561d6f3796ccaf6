"""Search over all pages of the data: building, its memory, and known-item search in the three indexes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES = ("pages-wcxb", "sites-news", "sites-swde", "sites-docs", "crawl-ics")
QUERIES = 1000

_INDEX = """
import sys, time
from pathlib import Path
from webwinnow.io.tablefiles import read_records
from webwinnow.search import IndexFolder
started = time.perf_counter()
with IndexFolder(sys.argv[1], create=True).writing() as index:
    done = index.put_all(read_records(sys.argv[2:], on_problem=print))
peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
print(done.put, time.perf_counter() - started, peak)
"""


def known_items(data: Path) -> list[tuple[str, str]]:
    """Clean all pages, index what was kept, search for pages by their titles."""
    from webwinnow.experiments.knownitems import search_experiment
    from webwinnow.io.tablefiles import read_records

    with tempfile.TemporaryDirectory() as folder:
        cleaned = []
        for name in FILES:
            out = Path(folder) / f"{name}.jsonl"
            arguments = ["clean", str(data / f"{name}.parquet"), "-o", str(out), "--site-by", "column", "-q"]
            subprocess.run([sys.executable, "-m", "webwinnow", *arguments], check=False)
            cleaned.append(_with_unique_ids(out, name))
        built = subprocess.run(
            [sys.executable, "-c", _INDEX, str(Path(folder) / "once"), *map(str, cleaned)],
            check=True,
            capture_output=True,
            text=True,
        )
        pages, seconds, peak = (float(part) for part in built.stdout.split()[-3:])
        started = time.perf_counter()
        found = search_experiment(
            lambda: read_records(cleaned, on_problem=print), Path(folder) / "index", most=QUERIES, seed=0
        )
        asked = time.perf_counter() - started - seconds
    rows = [
        ("pages indexed, pages/s, peak memory", f"{pages:,.0f}, {pages / seconds:,.0f}, {peak / 1e6:,.0f} MB"),
        ("terms: abstracts / full texts (the paper 0.353)", f"{found['terms']['ratio']:.3f}"),
        ("bytes of the inverted index: abstracts / full texts (the paper 0.414)", f"{found['bytes']['ratio']:.3f}"),
        ("queries (titles that one page has), seconds for all", f"{found['queries']:,}, {asked:.1f}"),
    ]
    rows += [
        (
            f"{row['index']}, words in {row['searched']}: MRR, success at 10, results, ms per query (medians)",
            f"{row['reciprocal_rank']:.3f}, {row['success']:.3f}, {row['results']:,.0f}, {row['milliseconds']:.2f}",
        )
        for row in found["indexes"]
    ]
    return rows


def _with_unique_ids(path: Path, name: str) -> Path:
    """Copy the records with the file's name in each `page_id`."""
    unique = path.with_suffix(".unique.jsonl")
    with path.open() as lines, unique.open("w") as out:
        for line in lines:
            record = json.loads(line)
            out.write(json.dumps(record | {"page_id": f"{name}/{record['page_id']}"}) + "\n")
    return unique
