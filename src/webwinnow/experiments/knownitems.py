"""Known-item search in the three indexes (DocView 7.3): the title of a page is the query, the page is the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple, get_args

import numpy as np

from webwinnow.errors import InputError
from webwinnow.io.rows import Record
from webwinnow.progress import Progress, no_progress
from webwinnow.report.templating import render_text
from webwinnow.search import IndexFolder, SearchSettings, search
from webwinnow.search.index import ABSTRACT, FULL, TEXTS, key_of
from webwinnow.search.query import Within
from webwinnow.words import words

SUCCESS_AT = 10
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
    most: int = 1000,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> dict[str, Any]:
    """Index the kept records in `folder`, search for pages by their titles, and compare the indexes."""
    progress = on_progress or no_progress
    with IndexFolder(folder, create=True).writing() as index:
        index.put_all(records(), on_progress=on_progress)
    index = IndexFolder(folder)
    kept = (record for record in records() if record.get("outcome") == "kept" and not record.get("replica_of"))
    items = known_items(kept, most, seed)
    rows: list[dict[str, Any]] = []
    for searched, texts in SEARCHED.items():
        for within in get_args(Within):
            settings = SearchSettings(within=within, limit=SUCCESS_AT, texts=texts)
            rows.append({"index": within, "searched": searched} | _measured(index, items, settings))
            progress("search", len(rows), len(SEARCHED) * len(get_args(Within)))
    abstract, full = _terms(records())
    return {
        "pages": index.pages,
        "queries": len(items),
        "seed": seed,
        "terms": {ABSTRACT: abstract, FULL: full, "ratio": abstract / max(full, 1)},
        "bytes": {name: index.levels[name].bytes for name in (ABSTRACT, FULL)}
        | {"ratio": index.levels[ABSTRACT].bytes / max(index.levels[FULL].bytes, 1)},
        "indexes": rows,
    }


def _measured(index: IndexFolder, items: list[KnownItem], settings: SearchSettings) -> dict[str, float]:
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
