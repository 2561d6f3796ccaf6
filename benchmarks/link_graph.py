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

from webwinnow.links.graph import LinkGraph, pagerank
from webwinnow.page.urls import canonical

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
    """Rank the pages by PageRank over the links between them."""
    number = {page: k for k, page in enumerate(pages)}
    found = ((number.get(edge["source"]), number.get(edge["target"])) for edge in edges)
    source, target = np.array([pair for pair in found if None not in pair], np.int64).reshape(-1, 2).T
    rank = pagerank(LinkGraph.of(source, target, len(pages))).score
    return sorted(zip(pages, rank.tolist(), strict=True), key=lambda found: (-round(found[1], 12), found[0]))


def short(url: str) -> str:
    """A URL without its scheme, shortened for a table."""
    return url.partition("://")[2].replace("|", "%7C")[:80]
