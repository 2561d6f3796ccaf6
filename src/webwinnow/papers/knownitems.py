"""Search in the indexes of DocView 7.3: known items (the title of a page is the query), judged queries, disk reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple, get_args

import numpy as np

from webwinnow.errors import InputError
from webwinnow.inspect.templating import render_text
from webwinnow.page.words import StopList, words
from webwinnow.papers.diskreads import disk_reads
from webwinnow.papers.judgedqueries import DEPTH, JudgedQueries
from webwinnow.progress import Progress, no_progress
from webwinnow.record.fields import Record
from webwinnow.search.index import ABSTRACT, FULL, IndexFolder, key_of
from webwinnow.search.level import TEXTS
from webwinnow.search.query import SearchSettings, Within, search

SUCCESS_AT = 10
BEFORE = "before cleaning"
LEAST_WORDS = 2
"""Words of a title that may identify a page."""
SEARCHED: dict[str, tuple[str, ...]] = {"body": ("body",), "title, keywords, body": TEXTS}
"""The fields to search: if titles are indexed, a title finds its page easily."""


class KnownItem(NamedTuple):
    """A page and the query that should find it."""

    key: str
    query: str


def known_items(records: Iterable[Record], most: int, seed: int) -> list[KnownItem]:
    """Return a random sample of the pages whose title no other page has."""
    titled = [KnownItem(key_of(record), " ".join(words(str(record.get("title") or "")))) for record in records]
    times = Counter(item.query for item in titled)
    items = sorted(item for item in titled if times[item.query] == 1 and len(item.query.split()) >= LEAST_WORDS)
    if not items:
        raise InputError("no page has a title of its own; expected records of webwinnow clean")
    sample = np.random.default_rng(seed).permutation(len(items))[:most]
    return [items[k] for k in sorted(sample.tolist())]


def search_experiment(
    records: Callable[[], Iterator[Record]],
    folder: Path,
    *,
    before: Callable[[], Iterator[Record]] | None = None,
    judged: JudgedQueries | None = None,
    most: int = 1000,
    groups: int = 0,
    stop_list: StopList | None = None,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> dict[str, Any]:
    """Index the kept records in `folder` and compare the indexes (DocView 7.3): abstracts, full texts, two levels.

    `before` are the records of the same pages without cleaning, as one more index of full texts. `most` pages are
    searched for by their titles, `judged` queries are measured by their judgements, and `groups` groups of query terms
    by the bytes that they read from disk.
    """
    progress = on_progress or no_progress
    sources = {"after": records} | ({} if before is None else {BEFORE: before})
    for name, source in sources.items():
        with IndexFolder(folder / name, create=True, stop_list=stop_list).writing() as index:
            index.put_all(source(), on_progress=on_progress)
    kept = [record for record in records() if record.get("outcome") == "kept" and not record.get("replica_of")]
    items = known_items(kept, most, seed) if most else []
    found: dict[str, Any] = {
        "queries": len(items),
        "judged_queries": 0 if judged is None else len(judged.queries),
        "seed": seed,
        "disk": None,
    } | _compared(folder, items, judged, progress)
    abstract, full = _terms(records())
    found["terms"] = {ABSTRACT: abstract, FULL: full, "ratio": abstract / max(full, 1)}
    if groups:
        queries = () if judged is None else judged.queries.values()
        said = [*queries, *(str(record.get("title") or "") for record in kept)]
        stops = frozenset(stop_list.own or ()) if stop_list is not None else frozenset()
        asked = sorted({word for text in said for word in words(text)} - stops)
        levels = {name: folder / "after" / name for name in (ABSTRACT, FULL)}
        levels |= {} if before is None else {BEFORE: folder / BEFORE / FULL}
        found["disk"] = disk_reads(levels, asked, FULL, groups=groups, seed=seed, on_progress=progress)
    return found


def _compared(folder: Path, items: list[KnownItem], judged: JudgedQueries | None, progress: Progress) -> dict[str, Any]:
    """The measures of each index. None of them is open afterwards, so that its files can leave the page cache."""
    index = IndexFolder(folder / "after")
    compared: list[tuple[str, IndexFolder, Within]] = [(within, index, within) for within in get_args(Within)]
    if (folder / BEFORE).exists():
        compared.append((BEFORE, IndexFolder(folder / BEFORE), "full"))
    rows: list[dict[str, Any]] = []
    for searched, texts in SEARCHED.items():
        for name, searched_index, within in compared:
            row: dict[str, Any] = {"index": name, "searched": searched}
            if items:
                row |= measured(searched_index, items, SearchSettings(within=within, limit=SUCCESS_AT, texts=texts))
            if judged is not None:
                settings = SearchSettings(within=within, limit=DEPTH, texts=texts)
                row["judged"] = judged.measured(searched_index, settings)
            rows.append(row)
            progress("search", len(rows), len(SEARCHED) * len(compared))
    sizes = {name: index.levels[name].bytes for name in (ABSTRACT, FULL)}
    ratio = sizes[ABSTRACT] / max(sizes[FULL], 1)
    return {"pages": index.pages, "bytes": sizes | {"ratio": ratio}, "indexes": rows}


def measured(index: IndexFolder, items: list[KnownItem], settings: SearchSettings) -> dict[str, float]:
    """Mean reciprocal rank, share of pages among the first ten, results and milliseconds per query (medians)."""
    ranks, results, spent = [], [], []
    for item in items:
        answer = search(index, item.query, settings)
        found = [hit.key for hit in answer.hits]
        ranks.append(1.0 / (found.index(item.key) + 1) if item.key in found else 0.0)
        results.append(answer.count)
        spent.append(1000.0 * answer.seconds)
    success = mean(rank > 0 for rank in ranks)
    measured = {"reciprocal_rank": mean(ranks), "success": success, "results": median(results)}
    return measured | {"milliseconds": median(spent)}


def _terms(records: Iterator[Record]) -> tuple[int, int]:
    """Words of all abstracts and of all full texts (Table 3)."""
    abstract = full = 0
    for record in records:
        if record.get("outcome") == "kept":
            abstract += len(words(str(record.get("abstract") or "")))
            full += len(words(str(record.get("text") or "")))
    return abstract, full


def search_table(found: dict[str, Any]) -> str:
    """Return the results as Markdown."""
    return render_text("search.md.j2", found=found, abstract=ABSTRACT, full=FULL)
