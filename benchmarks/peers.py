"""Other extractors and ours on the same pages: word F1 by page type and on news sites, and speed on one core.

Each extractor runs in its own process, all on one core, and each page goes to all of them in turn: other load on the
machine affects all equally, and an extractor that hangs or dies loses only that page.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from speed import command_seconds

TIMED_PAGES = 300
PAGE_SECONDS = 60.0
START_SECONDS = 120.0
PAGE_METHODS = ("none", "page")
"""Our methods that need no site."""
SITE_METHODS = ("none", "repeated", "sst", "combined")
"""Our methods on the news sites, through the command."""
PAGE_TYPES = ("article", "documentation", "service", "forum", "listing", "collection", "product")
COLUMNS = ("extractor", "word F1", *PAGE_TYPES, "sites-news", "pages/s", "failed")
QUOTED = (
    *("rs-trafilatura (no wheel: quoted from the data's README, not run here)", "0.857"),
    *("0.936", "0.938", "0.836", "0.774", "0.706", "0.658", "0.624", "", "28", ""),
)
_WORD = re.compile(r"\w+")

Extract = Callable[[bytes], str]


# The extractors


def _decoded(body: bytes) -> str:
    """The text of a page; one that is not UTF-8 in the encoding that resiliparse detects (all of pages-wcxb is)."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        from resiliparse.parse.encoding import bytes_to_str, detect_encoding

        return bytes_to_str(body, detect_encoding(body))


def _trafilatura() -> Extract:
    import trafilatura

    return lambda body: trafilatura.extract(_decoded(body)) or ""


def _trafilatura_without_comments() -> Extract:
    import trafilatura

    return lambda body: trafilatura.extract(_decoded(body), include_comments=False) or ""


def _readability() -> Extract:
    import lxml.html
    import readability

    def extract(body: bytes) -> str:
        return "\n".join(lxml.html.fromstring(readability.Document(_decoded(body)).summary()).itertext())

    return extract


def _justext() -> Extract:
    import justext

    stop_words = justext.get_stoplist("English")

    def extract(body: bytes) -> str:
        return "\n".join(p.text for p in justext.justext(_decoded(body), stop_words) if not p.is_boilerplate)

    return extract


def _resiliparse() -> Extract:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda body: extract_plain_text(_decoded(body), main_content=True)


def _turbohtml() -> Extract:
    import turbohtml

    return lambda body: turbohtml.parse(_decoded(body)).main_text()


def _ours(method: str) -> Callable[[], Extract]:
    def make() -> Extract:
        import webwinnow

        return lambda body: webwinnow.clean_page(webwinnow.parse(body), method).text

    return make


_SEEN = dict.fromkeys(
    ("page", "combined"),
    " (its weights were trained on these pages; held out: docs/page-model.md, section `sites`)",
)
"""Remarks on methods whose quality here is in-sample."""

EXTRACTORS: dict[str, Callable[[], Extract]] = {
    "trafilatura": _trafilatura,
    "readability-lxml": _readability,
    "jusText": _justext,
    "resiliparse, main content": _resiliparse,
    "turbohtml, main text": _turbohtml,
    **{f"webwinnow, `{method}`{_SEEN.get(method, '')}": _ours(method) for method in PAGE_METHODS},
}

WITHOUT_COMMENTS = "trafilatura, without comments"
_FURTHER: dict[str, Callable[[], Extract]] = {WITHOUT_COMMENTS: _trafilatura_without_comments}
"""Extractors that other sections use."""


# Running them


def _serve(name: str, core: int, pages: Connection) -> None:
    """Answer each page with its text, the seconds it took, and whether extraction failed."""
    os.sched_setaffinity(0, {core})
    extract = (EXTRACTORS | _FURTHER)[name]()
    pages.send(None)
    while True:
        body = pages.recv()
        started = time.perf_counter()
        try:
            text, failed = extract(body), False
        except Exception:
            text, failed = "", True
        pages.send((text, time.perf_counter() - started, failed))


class Extractor:
    """An extractor in its own process, restarted when it hangs or dies."""

    def __init__(self, name: str, core: int) -> None:
        self.name, self.core = name, core
        self.failed = 0
        self._start()

    def _start(self) -> None:
        self.pages, there = multiprocessing.get_context("spawn").Pipe()
        self.process = multiprocessing.get_context("spawn").Process(
            target=_serve, args=(self.name, self.core, there), daemon=True
        )
        self.process.start()
        there.close()
        if not self.pages.poll(START_SECONDS):
            self.stop()
            raise TimeoutError(f"{self.name} did not start within {START_SECONDS:.0f} seconds")
        self.pages.recv()

    def __call__(self, body: bytes) -> tuple[str, float]:
        started = time.perf_counter()
        try:
            self.pages.send(body)
            if self.pages.poll(PAGE_SECONDS):
                text, seconds, failed = self.pages.recv()
                self.failed += failed
                return text, seconds
        except (EOFError, OSError):
            pass
        self.stop()
        self.failed += 1
        self._start()
        return "", time.perf_counter() - started

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pages.close()


def word_f1(text: str, truth: str) -> float:
    """Overlap of two bags of words, as computed by `score_pages.py` next to the data."""
    got, wanted = Counter(_WORD.findall(text.lower())), Counter(_WORD.findall(truth.lower()))
    both = sum((got & wanted).values())
    return 2 * both / (sum(got.values()) + sum(wanted.values())) if both else 0.0


def compare(data: Path) -> list[tuple[str, ...]]:
    """Return one row per extractor: word F1, by page type, on news sites, pages/s, pages failed."""
    pages = pq.read_table(data / "pages-wcxb.parquet", columns=["html", "text", "page_type"]).to_pylist()
    news = pq.read_table(data / "sites-news.parquet", columns=["page_id", "site", "html", "text"]).to_pylist()
    timed = set(range(0, len(pages), len(pages) // TIMED_PAGES)[:TIMED_PAGES])
    core = max(os.sched_getaffinity(0))
    extractors = [Extractor(name, core) for name in EXTRACTORS]
    scores: dict[str, list[float]] = defaultdict(list)
    seconds: Counter[str] = Counter()
    on_news: dict[str, list[float]] = defaultdict(list)
    try:
        for k, page in enumerate(pages):
            for extractor in _turned(extractors, k):
                text, took = extractor(page["html"])
                scores[extractor.name].append(word_f1(text, page["text"] or ""))
                seconds[extractor.name] += took if k in timed else 0.0
        for k, page in enumerate(news):
            for extractor in _turned(extractors, k):
                on_news[extractor.name].append(word_f1(extractor(page["html"])[0], page["text"] or ""))
    finally:
        for extractor in extractors:
            extractor.stop()
    types = [page["page_type"] for page in pages]
    sites = [page["site"] for page in news]
    rows: list[tuple[str, ...]] = [
        (
            extractor.name,
            f"**{statistics.mean(scores[extractor.name]):.3f}**",
            *(f"{_means(types, scores[extractor.name])[kind]:.3f}" for kind in PAGE_TYPES),
            f"{statistics.mean(_means(sites, on_news[extractor.name]).values()):.3f}",
            f"{len(timed) / seconds[extractor.name]:,.0f}",
            str(extractor.failed),
        )
        for extractor in extractors
    ]
    return [*rows, QUOTED, *_commands(data, news, core)]


def _turned(extractors: list[Extractor], k: int) -> list[Extractor]:
    """Rotate the order for each page: the first extractor finds the page not yet in the CPU cache."""
    at = k % len(extractors)
    return extractors[at:] + extractors[:at]


def _means(groups: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    grouped: dict[str, list[float]] = defaultdict(list)
    for group, value in zip(groups, values, strict=True):
        grouped[group].append(value)
    return {group: statistics.mean(found) for group, found in grouped.items()}


def _commands(data: Path, news: list[dict[str, Any]], core: int) -> list[tuple[str, ...]]:
    """Measure the whole command, start-up included: speed on pages-wcxb, quality on the news sites."""
    count = pq.read_metadata(data / "pages-wcxb.parquet").num_rows
    rows = []
    for method in SITE_METHODS:
        took = command_seconds(data / "pages-wcxb.parquet", "--method", method, "--jobs", "1", cores={core})
        texts = _cleaned(data / "sites-news.parquet", method)
        values = [word_f1(texts.get(page["page_id"], ""), page["text"] or "") for page in news]
        per_site = _means([page["site"] for page in news], values)
        empty = [""] * (len(PAGE_TYPES) + 1)
        name = f"`webwinnow clean --method {method}`, by site{_SEEN.get(method, '')}"
        rows.append((name, *empty, f"{statistics.mean(per_site.values()):.3f}", f"{count / took:,.0f}", ""))
    return rows


def _cleaned(crawl: Path, method: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        command = [sys.executable, "-c", "from webwinnow.cli import main; main()", "clean", str(crawl), "-o", str(out)]
        subprocess.run([*command, "--method", method, "--site-by", "column", "-q"], check=True)
        with out.open(encoding="utf-8") as lines:
            return {record["page_id"]: record["text"] or "" for record in map(json.loads, lines)}
