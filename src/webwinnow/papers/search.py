"""Search in the indexes of DocView 7.3: known items (titles are the queries), judged queries, disk reads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple, get_args

import numpy as np

from webwinnow.errors import InputError
from webwinnow.inspect.templating import render_text
from webwinnow.page.words import StopList, words
from webwinnow.papers.diskreads import disk_reads
from webwinnow.papers.experiment import Report
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
        texts = [*queries, *(str(record.get("title") or "") for record in kept)]
        stops = frozenset(stop_list.own or ()) if stop_list is not None else frozenset()
        terms = sorted({word for text in texts for word in words(text)} - stops)
        levels = {name: folder / "after" / name for name in (ABSTRACT, FULL)}
        levels |= {} if before is None else {BEFORE: folder / BEFORE / FULL}
        found["disk"] = disk_reads(levels, terms, FULL, groups=groups, seed=seed, on_progress=progress)
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


def search_report(found: dict[str, Any]) -> Report:
    """The tables in Markdown, and the results as they are."""
    text = render_text("search.md.j2", found=found, abstract=ABSTRACT, full=FULL)
    return Report(name="search", summary=text.splitlines(), plain=found)


# Judged queries: precision at 10, mean average precision, nDCG

CUTOFF = 10
"""Results whose precision is measured, as in the paper."""
DEPTH = 100
"""Results that average precision takes into account."""
LARGEST_FILE = 100_000_000


@dataclass(frozen=True, slots=True)
class JudgedQueries:
    """The queries by id, and for each the grade of each judged page, by its key: 0 for one that is not relevant."""

    queries: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]

    @classmethod
    def read(cls, queries: Path, judgements: Path) -> JudgedQueries:
        """Read queries (TSV: id, query; or JSONL: `id`, `query`) and TREC judgements (id, 0, page, grade).

        A page is named by the key of an index: its `page_id`, or else its URL. Queries without a relevant page are
        left out, since no index can find one. Raises `InputError`.
        """
        by_id = dict(_query(line, f"{queries}, line {n}") for n, line in _lines(queries))
        grades: dict[str, dict[str, int]] = {}
        for number, line in _lines(judgements):
            parts = [
                *line.split(maxsplit=2)[:2],
                *line.split(maxsplit=2)[-1].rsplit(maxsplit=1),
            ]  # a page may have blanks
            if len(parts) != 4 or not parts[3].lstrip("-").isdigit() or parts[0] not in by_id:
                expected = "expected id, 0, page and grade, separated by blanks, and the id of a query"
                raise InputError(f"{judgements}, line {number}: {line[:60]!r}; {expected}")
            grades.setdefault(parts[0], {})[parts[2]] = max(0, int(parts[3]))
        judged = {name: found for name, found in grades.items() if any(found.values())}
        if not judged:
            raise InputError(f"{judgements}: no query has a relevant page")
        return cls({name: by_id[name] for name in judged}, judged)

    def measured(self, index: IndexFolder, settings: SearchSettings) -> dict[str, float]:
        """The measures of an index, means over the queries."""
        rows = []
        for name, query in self.queries.items():
            ranking = [hit.key for hit in search(index, query, settings).hits]
            grades = self.grades[name]
            rows.append(
                {
                    "precision": precision(ranking, grades),
                    "average_precision": average_precision(ranking, grades),
                    "ndcg": ndcg(ranking, grades),
                    "judged": sum(key in grades for key in ranking[:CUTOFF]) / CUTOFF,
                    "found": min(len(ranking), CUTOFF),
                }
            )
        return {measure: mean(row[measure] for row in rows) for measure in rows[0]}


def precision(ranking: Sequence[str], grades: Mapping[str, int], at: int = CUTOFF) -> float:
    """The share of the first `at` places with a relevant page; empty places and pages without a judgement count
    as not relevant.
    """
    return sum(grades.get(key, 0) > 0 for key in ranking[:at]) / at


def average_precision(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """The mean, over all relevant pages, of the precision at the place of each; 0 for one that is not found."""
    found, total = 0, 0.0
    for place, key in enumerate(ranking, start=1):
        if grades.get(key, 0) > 0:
            found += 1
            total += found / place
    return total / sum(grade > 0 for grade in grades.values())


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], at: int = CUTOFF) -> float:
    """The discounted cumulative gain of the first `at` places, as a share of that of the best ranking."""

    def gain(found: Sequence[int]) -> float:
        return sum(grade / log2(place + 1) for place, grade in enumerate(found[:at], start=1))

    return gain([grades.get(key, 0) for key in ranking]) / gain(sorted(grades.values(), reverse=True))


def _query(line: str, where: str) -> tuple[str, str]:
    """The id and the text of a query."""
    if line.lstrip().startswith("{"):
        try:
            row = json.loads(line)
        except ValueError:
            row = {}
        name, text = row.get("id"), row.get("query")
    else:
        name, _, text = line.partition("\t")
    if name is None or not str(name).strip() or not isinstance(text, str) or not text.strip():
        raise InputError(f"{where}: {line[:60]!r} is no query; expected an id, a tab and a query, or JSON with both")
    return str(name).strip(), text.strip()


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines that are not empty, with their numbers."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    if len(data) > LARGEST_FILE:
        raise InputError(f"{path}: has more than {LARGEST_FILE:,} bytes")
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
