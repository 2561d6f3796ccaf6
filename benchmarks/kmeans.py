"""Thesis 5.4: the cost of hundreds of k-means runs over a collection, compared with scikit-learn."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import pyarrow.parquet as pq

RUNS, CLUSTERS, ITERATIONS = 800, 5, 30
COMPARED = 24
"""Runs of each implementation that are timed, interleaved, on one thread."""


def kmeans(data: Path) -> list[tuple[str, str]]:
    """Time of 800 runs of five clusters over all pages; the ratio to scikit-learn; F on car makes, run by run."""
    from webwinnow.cluster.clustering import UnitRows, agreement, best_run, k_means
    from webwinnow.cluster.rows import PageRows
    from webwinnow.cluster.settings import KMeans

    crawl = data / "sites-swde.parquet"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "features.npz"
        command = [sys.executable, "-c", "from webwinnow.cli import main; main()", "features"]
        subprocess.run([*command, str(crawl), "-o", str(out), "--site-by", "column", "-q"], check=True)
        rows = PageRows.read(out)
    unit, how = UnitRows.of(rows.matrix), KMeans(k=CLUSTERS, iterations=ITERATIONS)
    begun, cpu = time.perf_counter(), time.process_time()
    took = [run.iterations for run in k_means(unit, how, runs=RUNS, jobs=2)]
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    ours, theirs = _side_by_side(unit, how)
    truth = pq.read_table(crawl, columns=["page_id", "vertical", "label"]).to_pylist()
    row_of = {page: k for k, page in enumerate(rows.page_ids)}
    makes = {row_of[page["page_id"]]: page["label"] for page in truth if page["vertical"] == "auto" and page["label"]}
    cars, labels = UnitRows.of(rows.matrix[list(makes)]), list(makes.values())
    found = list(k_means(cars, KMeans(k=len(set(labels))), runs=RUNS, jobs=2))
    scores = [agreement(labels, run.label).f for run in found]
    best = [agreement(labels, best_run(found[k : k + 20]).label).f for k in range(0, RUNS, 20)]
    size = f"{rows.matrix.shape[0]:,} pages, {rows.matrix.shape[1]:,} features"
    return [
        (f"{RUNS} runs of {CLUSTERS} clusters, {size}, 2 threads", f"{wall:.1f} s, {cpu:.1f} s of CPU"),
        ("runs per second of CPU", f"**{RUNS / cpu:.1f}**"),
        ("iterations per run", f"{statistics.mean(took):.1f}, at most {ITERATIONS}"),
        ("scikit-learn KMeans on the same rows, time per run / ours, one thread", f"**{theirs / ours:.1f}**"),
        (f"car makes (in-sample), mean F over {RUNS} runs", f"**{statistics.mean(scores):.3f}**"),
        (
            "car makes, runs with F below 0.5, from 0.7, 0.8, 0.9 (Table 5-3)",
            ", ".join(
                f"{share:.1%}"
                for share in [
                    sum(f < 0.5 for f in scores) / RUNS,
                    *(sum(f >= least for f in scores) / RUNS for least in (0.7, 0.8, 0.9)),
                ]
            ),
        ),
        ("car makes, mean F of the best of 20 runs by cohesion", f"**{statistics.mean(best):.3f}**"),
    ]


def _side_by_side(unit: object, how: object) -> tuple[float, float]:
    """CPU seconds of the same number of runs, ours and scikit-learn's (random start, Lloyd, no tolerance)."""
    from sklearn.cluster import KMeans as Peer
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    from webwinnow.cluster.clustering import k_means

    spent = [0.0, 0.0]
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        for part in range(COMPARED // 6):
            begun = time.process_time()
            list(k_means(unit, how, runs=6, seed=part))
            middle = time.process_time()
            Peer(CLUSTERS, init="random", n_init=6, max_iter=ITERATIONS, tol=0, random_state=part).fit(unit.rows)
            spent[0] += middle - begun
            spent[1] += time.process_time() - middle
    return spent[0], spent[1]
