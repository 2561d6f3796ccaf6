"""Known-item search over the three indexes (DocView 7.3): a page's title is the query, the page is the answer."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np

from webwinnow.errors import InputError
from webwinnow.io.rows import Record
from webwinnow.progress import Progress
from webwinnow.search import IndexFolder, SearchSettings, search
from webwinnow.search.index import ABSTRACT, FULL, TEXTS, key_of
from webwinnow.search.query import Within
from webwinnow.words import words

__all__ = ["KnownItem", "SearchRow", "known_items", "search_experiment", "search_table"]

SUCCESS_AT = 10
LEAST_WORDS = 2
"""Words of a title that may name one page."""
PLACES: dict[str, tuple[str, ...]] = {"body": ("body",), "title, keywords, body": TEXTS}
"""Where words are looked for: with titles indexed, a title finds its page easily."""


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A page and the query that should find it."""

    key: str
    query: str


@dataclass(frozen=True, slots=True)
class SearchRow:
    """How one index answers: mean reciprocal rank, share of pages among the first ten, results and milliseconds a
    query (medians).
    """

    index: str
    searched: str
    reciprocal_rank: float
    success: float
    results: float
    milliseconds: float


def known_items(records: Iterable[Record], most: int, seed: int) -> list[KnownItem]:
    """Pages whose title no other page has, so many drawn by a seed."""
    titled = [(key_of(record), " ".join(words(str(record.get("title") or "")))) for record in records]
    times = Counter(title for _, title in titled)
    items = [KnownItem(key, title) for key, title in titled if times[title] == 1 and len(title.split()) >= LEAST_WORDS]
    if not items:
        raise InputError("no page has a title of its own; expected records of webwinnow clean")
    items.sort(key=lambda item: item.key)
    drawn = np.random.default_rng(seed).permutation(len(items))[:most]
    return [items[k] for k in sorted(drawn.tolist())]


def search_experiment(
    records: Callable[[], Iterator[Record]],
    folder: Path,
    *,
    most: int = 1000,
    seed: int = 0,
    on_progress: Progress | None = None,
) -> dict[str, Any]:
    """Index the kept records in `folder`, ask for pages by their titles, and compare the levels."""
    with IndexFolder(folder, create=True).writing() as index:
        index.put_all(records(), on_progress=on_progress)
    index = IndexFolder(folder)
    kept = (record for record in records() if record.get("outcome") == "kept" and not record.get("replica_of"))
    items = known_items(kept, most, seed)
    rows = []
    for searched, texts in PLACES.items():
        for within in get_args(Within):
            settings = SearchSettings(within=within, limit=SUCCESS_AT, texts=texts)
            rows.append(_asked(index, items, settings, searched))
            if on_progress is not None:
                on_progress("search", len(rows), len(PLACES) * len(get_args(Within)))
    abstract, full = _terms(records())
    return {
        "pages": index.pages,
        "queries": len(items),
        "seed": seed,
        "terms": {ABSTRACT: abstract, FULL: full, "ratio": abstract / max(full, 1)},
        "bytes": {name: index.levels[name].bytes for name in (ABSTRACT, FULL)}
        | {"ratio": index.levels[ABSTRACT].bytes / max(index.levels[FULL].bytes, 1)},
        "indexes": [asdict(row) for row in rows],
    }


def _asked(index: IndexFolder, items: list[KnownItem], settings: SearchSettings, searched: str) -> SearchRow:
    ranks, results, spent = [], [], []
    for item in items:
        answer = search(index, item.query, settings)
        found = [hit.key for hit in answer.hits]
        ranks.append(1.0 / (found.index(item.key) + 1) if item.key in found else 0.0)
        results.append(answer.count)
        spent.append(1000.0 * answer.seconds)
    return SearchRow(
        settings.within,
        searched,
        statistics.mean(ranks),
        statistics.mean(rank > 0 for rank in ranks),
        statistics.median(results),
        statistics.median(spent),
    )


def _terms(records: Iterator[Record]) -> tuple[int, int]:
    """Words of all abstracts and of all full texts (Table 3)."""
    abstract = full = 0
    for record in records:
        if record.get("outcome") == "kept":
            abstract += len(words(str(record.get("abstract") or "")))
            full += len(words(str(record.get("text") or "")))
    return abstract, full


def search_table(found: dict[str, Any]) -> str:
    """The result as Markdown."""
    lines = [
        f"{found['pages']:,} pages, {found['queries']:,} queries (titles that one page has), seed {found['seed']}.",
        "",
        "| index | words looked for in | MRR | success at 10 | results (median) | ms a query (median) |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['index']} | {row['searched']} | {row['reciprocal_rank']:.3f} | {row['success']:.3f} "
        f"| {row['results']:,.0f} | {row['milliseconds']:.2f} |"
        for row in found["indexes"]
    ]
    lines += [
        "",
        "| | abstract | full text | ratio | the paper's |",
        "|---|---|---|---|---|",
    ]
    for name, published in (("terms", 0.3528), ("bytes", 0.414)):
        told = found[name]
        lines.append(f"| {name} | {told[ABSTRACT]:,} | {told[FULL]:,} | {told['ratio']:.3f} | {published} |")
    return "\n".join(lines) + "\n"
