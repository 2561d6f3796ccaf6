"""Queries with relevance judgements (DocView 7.3): precision at 10, mean average precision, nDCG."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from statistics import mean

from webwinnow.errors import InputError
from webwinnow.search.index import IndexFolder
from webwinnow.search.query import SearchSettings, search

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
        asked = dict(_query(line, f"{queries}, line {n}") for n, line in _lines(queries))
        grades: dict[str, dict[str, int]] = {}
        for number, line in _lines(judgements):
            parts = [
                *line.split(maxsplit=2)[:2],
                *line.split(maxsplit=2)[-1].rsplit(maxsplit=1),
            ]  # a page may have blanks
            if len(parts) != 4 or not parts[3].lstrip("-").isdigit() or parts[0] not in asked:
                expected = "expected id, 0, page and grade, separated by blanks, and the id of a query"
                raise InputError(f"{judgements}, line {number}: {line[:60]!r}; {expected}")
            grades.setdefault(parts[0], {})[parts[2]] = max(0, int(parts[3]))
        judged = {name: found for name, found in grades.items() if any(found.values())}
        if not judged:
            raise InputError(f"{judgements}: no query has a relevant page")
        return cls({name: asked[name] for name in judged}, judged)

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
