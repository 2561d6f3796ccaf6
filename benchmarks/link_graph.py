"""The link graph of crawl-ics: the top 20 pages by PageRank over all links, and over the links that the task keeps."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from webwinnow.urls import canonical

DAMPING, ROUNDS, ENOUGH = 0.85, 200, 1e-10
"""PageRank as published (Page et al. 1998)."""
TOP = 20


def top_pages(data: Path) -> list[tuple[str, ...]]:
    """Count the links of each kind, and compare both rankings."""
    crawl = data / "crawl-ics.parquet"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "links.jsonl"
        command = [sys.executable, "-c", "from webwinnow.cli import main; main()", "links"]
        subprocess.run([*command, str(crawl), "-o", str(out), "--all", "-q"], check=True)
        edges = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    pages = sorted({canonical(url) for url in pq.read_table(crawl, columns=["url"])["url"].to_pylist()})
    every = ranked(pages, edges)
    cleaned = ranked(pages, [edge for edge in edges if edge["kept"]])
    stayed = len({page for page, _ in every[:TOP]} & {page for page, _ in cleaned[:TOP]})
    place = {page: k for k, (page, _) in enumerate(every, start=1)}
    kinds = Counter(edge["kind"] or "unknown" for edge in edges)
    kept = Counter(edge["kind"] or "unknown" for edge in edges if edge["kept"])
    rows = [("links, kept", f"{len(edges):,}, {sum(kept.values()):,}", "")]
    rows += [(f"kind {kind}: links, kept", f"{times:,}, {kept[kind]:,}", "") for kind, times in kinds.most_common()]
    rows.append((f"of the top {TOP} of all links, in the top {TOP} of the cleaned graph", str(stayed), ""))
    for k in range(TOP):
        (one, _), (other, _) = every[k], cleaned[k]
        rows.append((f"{k + 1}", short(one), f"{short(other)} (was {place[other]:,})"))
    return rows


def ranked(pages: list[str], edges: list[dict[str, str]]) -> list[tuple[str, float]]:
    """Rank the pages by PageRank over the links between them; repeated links between two pages count once."""
    number = {page: k for k, page in enumerate(pages)}
    found = ((number.get(edge["source"]), number.get(edge["target"])) for edge in edges)
    pairs = {pair for pair in found if None not in pair}
    rank = pagerank(np.array(sorted(pairs), np.int64).reshape(-1, 2), len(pages))
    return sorted(zip(pages, rank.tolist(), strict=True), key=lambda found: (-round(found[1], 12), found[0]))


def pagerank(pairs: NDArray[np.int64], pages: int) -> NDArray[np.float64]:
    """The stationary distribution of a surfer who follows a link, or with 0.15, or from a dead end, goes anywhere."""
    links = sparse.csr_matrix((np.ones(len(pairs)), (pairs[:, 1], pairs[:, 0])), shape=(pages, pages))
    out = np.asarray(links.sum(axis=0)).ravel()
    share = links @ sparse.diags(1 / np.maximum(out, 1))
    rank = np.full(pages, 1 / pages)
    for _ in range(ROUNDS):
        after = DAMPING * (share @ rank + rank[out == 0].sum() / pages) + (1 - DAMPING) / pages
        if np.abs(after - rank).sum() < ENOUGH:
            break
        rank = after
    return rank


def short(url: str) -> str:
    """A URL without its scheme, shortened for a table."""
    return url.partition("://")[2].replace("|", "%7C")[:80]
