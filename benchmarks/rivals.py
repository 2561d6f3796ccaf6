"""The rival cleaners of the thesis's chapter 3 on news sites with truth, compared with our own."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.parquet as pq

from webwinnow import PageTree, SiteModel, clean_page, parse
from webwinnow.methods.method_segments import SegmentSettings
from webwinnow.methods.registry import CleaningSettings, method_named

_WORD = re.compile(r"\w+")
COLUMNS = ("method", "word F1", "precision", "recall", "share of words kept")
SECTIONS = CleaningSettings(segments=SegmentSettings(by="sections"))
ROWS: tuple[tuple[str, str, CleaningSettings | None], ...] = (
    ("none", "none", None),
    ("template (local)", "template", None),
    ("segments (tables)", "segments", None),
    ("segments (sections)", "segments", SECTIONS),
    ("items", "items", None),
    ("repeated", "repeated", None),
    ("sst", "sst", None),
    ("aligned", "aligned", None),
    ("cst", "cst", None),
    ("combined (in-sample: its page model has seen these sites)", "combined", None),
)


def news(data: Path) -> list[tuple[str, ...]]:
    """Word F1, precision, recall and words kept; means over the pages of a site, then over sites."""
    sites: dict[str, list[tuple[PageTree, str]]] = defaultdict(list)
    for page in pq.read_table(data / "sites-news.parquet", columns=["url", "site", "html", "text"]).to_pylist():
        sites[page["site"]].append((parse(page["html"], url=page["url"]), page["text"]))
    parts = frozenset().union(*(method_named(name).parts for _, name, _ in ROWS))
    scores: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    for pages in sites.values():
        model = SiteModel.learn([tree for tree, _ in pages], parts=parts)
        for label, name, settings in ROWS:
            found = [_scores(tree, truth, model, name, settings) for tree, truth in pages]
            scores[label].append(tuple(map(statistics.mean, zip(*found, strict=True))))
    return [
        (label, *(f"{statistics.mean(values):.3f}" for values in zip(*found, strict=True)))
        for label, found in scores.items()
    ]


def _scores(
    tree: PageTree, truth: str, model: SiteModel, name: str, settings: CleaningSettings | None
) -> tuple[float, ...]:
    clean = clean_page(tree, name, model, settings)
    found, wanted = (Counter(_WORD.findall(text.lower())) for text in (clean.text, truth))
    shared = (found & wanted).total()
    precision, recall = shared / max(found.total(), 1), shared / max(wanted.total(), 1)
    f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
    return (f1, precision, recall, clean.kept_words / max(clean.all_words, 1))
