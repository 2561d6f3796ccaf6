"""Quality on pages with truth: the wanted values that are kept, and the repeated text that is left."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import turbohtml

_WORD = re.compile(r"\w+")


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _visible(html: bytes) -> str:
    try:
        text = html.decode("utf-8")
    except UnicodeDecodeError:
        text = html.decode("cp1252", "replace")
    document = turbohtml.parse(text)
    body = document.find("body")
    return (body if body is not None else document).to_text()


def repeated(data: Path) -> list[tuple[str, str]]:
    """Attribute recall, share of output lines that half of the site's pages have, share of words kept; mean over sites.

    Lines come from another program's text rendering, so that the measure does not depend on our definition of a block.
    """
    truth = data / "sites-swde.parquet"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.jsonl"
        command = [sys.executable, "-c", "from webwinnow.cli import main; main()", "clean", str(truth)]
        subprocess.run([*command, "-o", str(out), "--method", "repeated", "--site-by", "column", "-q"], check=True)
        with out.open(encoding="utf-8") as lines:
            texts = {record["page_id"]: record["text"] for record in map(json.loads, lines)}
    sites = defaultdict(list)
    for page in pq.read_table(truth, columns=["page_id", "site", "html", "attributes"]).to_pylist():
        sites[page["site"]].append(page)
    recalls, leaks, kept = [], [], []
    for pages in sites.values():
        on_pages: Counter[str] = Counter()
        sizes = {}
        for page in pages:
            text = _visible(page["html"])
            sizes[page["page_id"]] = len(_words(text))
            on_pages.update({" ".join(_words(line)) for line in text.splitlines()})
        often = {line for line, count in on_pages.items() if line and count >= len(pages) / 2}
        scores = [_score(page, texts[page["page_id"]], often, sizes[page["page_id"]]) for page in pages]
        for measure, found in zip((recalls, leaks, kept), zip(*scores, strict=True), strict=True):
            measure.append(statistics.mean(found))
    return [
        ("attribute recall", f"**{statistics.mean(recalls):.4f}**"),
        ("share of the output's words in repeated lines", f"**{statistics.mean(leaks):.4f}**"),
        ("share of words kept", f"{statistics.mean(kept):.3f}"),
        ("sites, pages", f"{len(sites)}, {len(texts):,}"),
    ]


def _score(page: dict[str, str], text: str, often: set[str], size: int) -> tuple[float, float, float]:
    flat = f" {' '.join(_words(text))} "
    wanted = [value for values in json.loads(page["attributes"]).values() for value in values if _words(value)]
    found = sum(f" {' '.join(_words(value))} " in flat for value in wanted)
    lines = [_words(line) for line in text.splitlines()]
    total = sum(map(len, lines))
    leaked = sum(len(line) for line in lines if " ".join(line) in often)
    return found / len(wanted) if wanted else 1.0, leaked / total if total else 1.0, total / max(1, size)
