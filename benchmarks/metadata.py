"""Title, author and date on pages with truth, compared with trafilatura; cost relative to parsing."""

from __future__ import annotations

import re
import statistics
import time
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

ROUNDS = 5
_WORD = re.compile(r"\w+")
_BETWEEN_NAMES = re.compile(r"[;,&|/]|\band\b", re.IGNORECASE)


class PageFacts(NamedTuple):
    """Title, author and date of a page, from a program or from the truth."""

    title: str | None
    author: str | None
    date: str | None


def _words(text: str | None) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text or "").lower())


def _names(authors: str | None) -> set[str]:
    """The set of authors' names, ignoring order, separators, case and punctuation."""
    return {" ".join(_words(name)) for name in _BETWEEN_NAMES.split(authors or "")} - {""}


def _word_f1(one: str | None, other: str | None) -> float:
    a, b = Counter(_words(one)), Counter(_words(other))
    both = sum((a & b).values())
    return 2 * both / (sum(a.values()) + sum(b.values())) if both else 0.0


def _theirs(page: dict[str, Any]) -> PageFacts:
    import trafilatura

    found = trafilatura.extract_metadata(page["html"].decode("utf-8", "replace"), default_url=page["url"])
    return PageFacts(found.title, found.author, found.date) if found else PageFacts(None, None, None)


def _ours(page: dict[str, Any]) -> PageFacts:
    import webwinnow

    found = webwinnow.metadata(webwinnow.parse(page["html"], url=page["url"]))
    return PageFacts(found.title, found.author, found.date)


def accuracy(data: Path) -> list[tuple[str, str]]:
    """Accuracy where the truth has a title, author or date; false positives where it has none."""
    columns = ["url", "html", "title", "author", "date"]
    pages = pq.read_table(data / "pages-wcxb.parquet", columns=columns).to_pylist()
    truth = [PageFacts(page["title"], page["author"], page["date"]) for page in pages]
    ours, theirs = ([read(page) for page in pages] for read in (_ours, _theirs))

    def row(what: str, field: str, same: Callable[[str, str | None], float]) -> tuple[str, str]:
        known = [k for k, true in enumerate(truth) if getattr(true, field)]
        scores = (
            statistics.mean(float(same(getattr(truth[k], field), getattr(facts[k], field))) for k in known)
            for facts in (ours, theirs)
        )
        return f"{what} ({len(known)} pages)", "ours **{:.3f}**, trafilatura {:.3f}".format(*scores)

    def false_positives(field: str) -> tuple[str, str]:
        absent = [k for k, true in enumerate(truth) if not getattr(true, field)]
        named = (sum(bool(getattr(facts[k], field)) for k in absent) for facts in (ours, theirs))
        return (
            f"{field} named where the truth has none ({len(absent)} pages)",
            "ours {}, trafilatura {}".format(*named),
        )

    return [
        row("title, same words", "title", lambda true, found: _words(true) == _words(found)),
        row("title, word F1", "title", _word_f1),
        row("author, same names", "author", lambda true, found: _names(true) == _names(found)),
        row("date, same day", "date", lambda true, found: true == found),
        false_positives("author"),
        false_positives("date"),
        *_cost([(page["html"], page["url"]) for page in pages]),
    ]


def _cost(pages: list[tuple[bytes, str]]) -> list[tuple[str, str]]:
    """Time reading metadata against parsing, page by page; each round parses anew so that nothing is cached."""
    import webwinnow

    parsing, reading = [], []
    for _ in range(ROUNDS):
        parsed = read = 0.0
        for body, url in pages:
            started = time.perf_counter()
            tree = webwinnow.parse(body, url=url)
            between = time.perf_counter()
            webwinnow.metadata(tree)
            read += time.perf_counter() - between
            parsed += between - started
        parsing.append(parsed)
        reading.append(read)
    ratio = statistics.median(r / p for r, p in zip(reading, parsing, strict=True))
    return [
        ("metadata, ms per page", f"{1000 * min(reading) / len(pages):.2f}"),
        ("ratio to webwinnow.parse, median of rounds", f"**{ratio:.2f}**"),
    ]
