"""Local, Ray and Spark on the same pages: whether the bytes are equal, speed relative to local, cost of each stage."""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path

from webwinnow.page.urls import SiteKey
from webwinnow.run.cleaning import run
from webwinnow.run.settings import RunSettings

CORES = 2
ROUNDS = 2
WARM_UP = Path(__file__).parents[1] / "samples" / "docs.warc.gz"


def _settings(jobs: int) -> RunSettings:
    return RunSettings(site_by=SiteKey.parse("column"), jobs=jobs)


def _timed(pages: Path, out: Path, engine: object, jobs: int) -> tuple[float, dict[str, float]]:
    """Return the seconds of a run, and the start of each stage."""
    began: dict[str, float] = {}
    started = time.perf_counter()
    summary = run(
        [pages],
        out,
        _settings(jobs),
        engine=engine,  # type: ignore[arg-type]
        on_progress=lambda stage, _done, _total: began.setdefault(stage, time.perf_counter() - started),
    )
    return summary.seconds, began


def same_bytes(data: Path) -> list[tuple[str, ...]]:
    """Clean the shop pages with every engine, one after the other, start-up excluded; best of two rounds."""
    from webwinnow.run.engines import engine_named

    pages = data / "sites-swde.parquet"
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        engines = {"local": None, "ray": engine_named("ray", jobs=CORES), "spark": engine_named("spark", jobs=CORES)}
        for engine in engines.values():
            run([WARM_UP], Path(folder) / "warm.jsonl", _settings(CORES), engine=engine)
        best: dict[str, tuple[float, dict[str, float]]] = {}
        whole = Path(folder) / "one.jsonl"
        one = _timed(pages, whole, None, 1)[0]
        wanted = whole.read_bytes()
        same = dict.fromkeys(engines, True)
        for _ in range(ROUNDS):
            for name, engine in engines.items():
                out = Path(folder) / f"{name}.jsonl"
                found = _timed(pages, out, engine, CORES)
                same[name] &= out.read_bytes() == wanted
                if name not in best or found[0] < best[name][0]:
                    best[name] = found
    total = wanted.count(b"\n")
    rows = [(f"{total:,} shop pages, local, 1 worker", f"{total / one:,.0f} pages/s")]
    for name, (seconds, began) in best.items():
        ratio = "" if name == "local" else f", **{best['local'][0] / seconds:.2f}** of local"
        stages = (
            f"; reading and parsing {began.get('clean', 0):.1f} s, the rest {seconds - began.get('clean', 0):.1f} s"
        )
        outcome = "the same bytes" if same[name] else "OTHER BYTES"
        rows.append((f"{name}, {CORES} cores", f"{total / seconds:,.0f} pages/s{ratio}; {outcome}{stages}"))
    return rows
