"""Run the benchmarks and write their table: `python benchmarks/run.py [parse clean workers memory svm repeated page]`.

Without names all are run.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import memory
import mining
import page_quality
import quality
import speed

RESULTS = Path(__file__).with_name("RESULTS.md")


class Benchmark(NamedTuple):
    """A benchmark by name, with what it must show."""

    name: str
    target: str
    measure: Callable[[Path], list[tuple[str, str]]]


BENCHMARKS = (
    Benchmark("parse", "PageTree pages/s at least 0.35 of turbohtml's bare parse; 0.5 wanted", speed.parse),
    Benchmark("clean", "`clean --method none`, one core: at least 8 times trafilatura's pages/s", speed.clean),
    Benchmark("workers", "two workers at least 1.7 times one", speed.workers),
    Benchmark("memory", "50,000 pages of one site, and 50,000 sites of one page: peak under 1 GB", memory.peak),
    Benchmark(
        "svm", "SVM configuration 3 (thesis 5.5): F 0.93 on car makes, 0.70 on cuisines and job roles", mining.svm
    ),
    Benchmark("repeated", "`repeated` on sites-swde: attribute recall 0.97, no repeated text left", quality.repeated),
    Benchmark("page", "`page`, sites not seen: word F1 0.895 on pages-wcxb, above the best peers", page_quality.page),
)


def main() -> None:
    found = os.environ.get("WEBWINNOW_DATA")
    if not found or not Path(found).is_dir():
        sys.exit("benchmarks: set WEBWINNOW_DATA to the folder with pages-wcxb.parquet and sites-swde.parquet")
    wanted = sys.argv[1:] or [benchmark.name for benchmark in BENCHMARKS]
    sections = _known_sections()
    for benchmark in BENCHMARKS:
        if benchmark.name in wanted:
            print(f"{benchmark.name}: {benchmark.target}", flush=True)
            rows = benchmark.measure(Path(found))
            for what, value in rows:
                print(f"  {what}: {value}", flush=True)
            table = "\n".join(f"| {what} | {value} |" for what, value in rows)
            sections[benchmark.name] = f"{benchmark.target}.\n\n| what | measured |\n|---|---|\n{table}\n"
    RESULTS.write_text(_page(sections), encoding="utf-8")


def _known_sections() -> dict[str, str]:
    """What earlier runs measured, so that one benchmark can be run alone."""
    if not RESULTS.exists():
        return {}
    parts = RESULTS.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip() + "\n" for part in parts}


def _page(sections: dict[str, str]) -> str:
    machine = f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}"
    head = f"# Results\n\nMeasured by `make bench` on {machine}.\n"
    order = [benchmark.name for benchmark in BENCHMARKS]
    return head + "".join(f"\n## {name}\n\n{sections[name]}" for name in order if name in sections)


if __name__ == "__main__":
    main()
