"""Search over all pages of the data: building, its memory, known-item search in the three indexes, with titles as they
are, with typos and in other forms; and judged queries over sites-docs.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FILES = ("pages-wcxb", "sites-news", "sites-swde", "sites-docs", "crawl-ics")
QUERIES = 1000
SPELLED = 300
"""Titles that are searched for with typos and in other forms."""
JUDGEMENTS = Path(__file__).with_name("judgements")
SENTENCES = 15
"""Sentences of an abstract in the index of judged queries, as when they were judged (docs/search.md)."""
LONG_WORD = 5
"""Letters of a word that is misspelt or inflected."""

_INDEX = """
import sys, time
from pathlib import Path
from webwinnow.run.tablefiles import read_records
from webwinnow.search.index import IndexFolder
started = time.perf_counter()
with IndexFolder(sys.argv[1], create=True).writing() as index:
    done = index.put_all(read_records(sys.argv[2:], on_problem=print))
peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
print(done.put, time.perf_counter() - started, peak)
"""


def known_items(data: Path) -> list[tuple[str, str]]:
    """Clean all pages, index what was kept, search for pages by their titles."""
    from webwinnow.papers.search import search_experiment
    from webwinnow.run.tablefiles import read_records

    with tempfile.TemporaryDirectory() as folder:
        cleaned = []
        for name in FILES:
            out = Path(folder) / f"{name}.jsonl"
            arguments = ["clean", str(data / f"{name}.parquet"), "-o", str(out), "--site-by", "column", "-q"]
            subprocess.run([sys.executable, "-m", "webwinnow", *arguments], check=False)
            cleaned.append(_with_unique_ids(out, name))
        built = subprocess.run(
            [sys.executable, "-c", _INDEX, str(Path(folder) / "once"), *map(str, cleaned)],
            check=True,
            capture_output=True,
            text=True,
        )
        pages, seconds, peak = (float(part) for part in built.stdout.split()[-3:])
        started = time.perf_counter()
        found = search_experiment(
            lambda: read_records(cleaned, on_problem=print), Path(folder) / "index", most=QUERIES, seed=0
        )
        asked = time.perf_counter() - started - seconds
        kept = [record for record in read_records(cleaned, on_problem=print) if record["outcome"] == "kept"]
        spelled = spelled_queries([record for record in kept if not record["replica_of"]], Path(folder) / "once")
    rows = [
        ("pages indexed, pages/s, peak memory", f"{pages:,.0f}, {pages / seconds:,.0f}, {peak / 1e6:,.0f} MB"),
        ("terms: abstracts / full texts (the paper 0.353)", f"{found['terms']['ratio']:.3f}"),
        ("bytes of the inverted index: abstracts / full texts (the paper 0.414)", f"{found['bytes']['ratio']:.3f}"),
        ("queries (titles that one page has), seconds for all", f"{found['queries']:,}, {asked:.1f}"),
    ]
    rows += [
        (
            f"{row['index']}, words in {row['searched']}: MRR, success at 10, results, ms per query (medians)",
            f"{row['reciprocal_rank']:.3f}, {row['success']:.3f}, {row['results']:,.0f}, {row['milliseconds']:.2f}",
        )
        for row in found["indexes"]
    ]
    return rows + spelled + judged_queries(data)


def judged_queries(data: Path) -> list[tuple[str, str]]:
    """Measure the judged queries over sites-docs, before and after cleaning (docs/search.md)."""
    from webwinnow.papers.search import JudgedQueries, search_experiment
    from webwinnow.run.tablefiles import read_records

    judged = JudgedQueries.read(JUDGEMENTS / "sites-docs.tsv", JUDGEMENTS / "sites-docs.qrels")
    with tempfile.TemporaryDirectory() as folder:
        cleaned = {name: Path(folder) / f"{name}.jsonl" for name in ("combined", "none")}
        for method, out in cleaned.items():
            arguments = ["clean", str(data / "sites-docs.parquet"), "-o", str(out), "--site-by", "column", "-q"]
            arguments += ["--sentences", str(SENTENCES), "--method", method]
            subprocess.run([sys.executable, "-m", "webwinnow", *arguments], check=False)
        found = search_experiment(
            lambda: read_records([cleaned["combined"]], on_problem=print),
            Path(folder) / "index",
            before=lambda: read_records([cleaned["none"]], on_problem=print),
            judged=judged,
            most=0,
        )
    return [
        (
            f"{found['judged_queries']} judged queries over {found['pages']:,} pages of sites-docs, {row['index']}, "
            f"words in {row['searched']}: precision at 10, MAP, nDCG at 10, share judged",
            ", ".join(f"{row['judged'][name]:.3f}" for name in ("precision", "average_precision", "ndcg", "judged")),
        )
        for row in found["indexes"]
    ]


def spelled_queries(records: list[dict[str, Any]], folder: Path, most: int = SPELLED) -> list[tuple[str, str]]:
    """Known-item search with titles as they are, with one typo each, and with other forms of their words.

    Before: words as they are typed. After: the defaults, which also find other forms and misspelt words.
    """
    from webwinnow.papers.search import known_items, measured
    from webwinnow.search.index import IndexFolder
    from webwinnow.search.query import SearchSettings

    index = IndexFolder(folder)
    items = known_items(records, most, 0)
    chosen = random.Random(0)
    forms = _forms(record["text"] for record in records if record["lang"] == "en")
    inflected = [item._replace(query=_inflected(item.query, forms)) for item in items]
    sets = {
        "titles": items,
        "titles with one typo": [item._replace(query=_misspelt(item.query, chosen)) for item in items],
        "titles in other forms": [new for new, old in zip(inflected, items, strict=True) if new.query != old.query],
    }
    rows = []
    for name, queries in sets.items():
        found = [
            measured(index, queries, SearchSettings(forms=new, typos=new, texts=texts))
            for texts in (("body",), ("title", "keywords", "body"))
            for new in (False, True)
        ]
        for searched, (before, after) in (("body", found[:2]), ("all fields", found[2:])):
            numbers = f"{before['reciprocal_rank']:.3f} -> {after['reciprocal_rank']:.3f}"
            times = f"{before['milliseconds']:.1f} -> {after['milliseconds']:.1f} ms"
            shares = f"{before['success']:.3f} -> {after['success']:.3f}"
            what = f"{len(queries):,} {name}, words in {searched}: MRR, success at 10, ms per query, before -> after"
            rows.append((what, f"{numbers}, {shares}, {times}"))
    return rows


def _misspelt(query: str, chosen: random.Random) -> str:
    """One typo in one of the longer words: a letter left out, doubled, replaced, or swapped with the next."""
    words = query.split()
    long = [k for k, word in enumerate(words) if len(word) >= LONG_WORD and word.isascii() and word.isalpha()]
    if not long:
        return query
    k = chosen.choice(long)
    word, at = words[k], chosen.randrange(len(words[k]) - 1)
    words[k] = chosen.choice(
        [
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + chosen.choice("abcdefghijklmnopqrstuvwxyz") + word[at + 1 :],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        ]
    )
    return " ".join(words)


def _forms(texts: Iterable[str]) -> dict[str, list[str]]:
    """For each English word of the texts the other words with its stem, the most frequent first."""
    from webwinnow.page.words import words
    from webwinnow.search.spelling import stems

    counted = Counter(word for text in texts for word in words(text) if word.isascii() and word.isalpha())
    frequent = [word for word, _ in counted.most_common()]
    by_stem: dict[str, list[str]] = defaultdict(list)
    for word, stem in zip(frequent, stems(frequent, "en"), strict=True):
        by_stem[stem].append(word)
    return {word: [other for other in family if other != word] for family in by_stem.values() for word in family}


def _inflected(query: str, forms: dict[str, list[str]]) -> str:
    """The query with another form of each word that has one."""
    return " ".join((forms.get(word) or [word])[0] if len(word) >= LONG_WORD else word for word in query.split())


def _with_unique_ids(path: Path, name: str) -> Path:
    """Copy the records with the file's name in each `page_id`."""
    unique = path.with_suffix(".unique.jsonl")
    with path.open() as lines, unique.open("w") as out:
        for line in lines:
            record = json.loads(line)
            out.write(json.dumps(record | {"page_id": f"{name}/{record['page_id']}"}) + "\n")
    return unique
