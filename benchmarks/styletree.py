"""The aligned site style tree as a cleaner, on news sites with truth: automatic against best threshold; model sizes."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from webwinnow import PageTree, SiteModel, clean_page, parse
from webwinnow.methods.method_cst import CstSettings
from webwinnow.methods.method_sst import AlignedSettings
from webwinnow.methods.registry import CleaningSettings
from webwinnow.site.sums import SiteSums

_WORD = re.compile(r"\w+")
THRESHOLDS = [round(0.05 * k, 2) for k in range(21)]
WEIGHTS = (0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9)
SHOP_PAGES = 200


def word_f1(text: str, truth: str) -> float:
    """Overlap of bags of words."""
    found, wanted = (Counter(_WORD.findall(words.lower())) for words in (text, truth))
    shared = sum((found & wanted).values())
    return 2 * shared / (sum(found.values()) + sum(wanted.values())) if shared else 0.0


def news(data: Path) -> list[tuple[str, str]]:
    """Word F1, mean over sites: the automatic threshold, the best for each site by the truth, one for all."""
    sites: dict[str, list[tuple[PageTree, str]]] = defaultdict(list)
    for page in pq.read_table(data / "sites-news.parquet", columns=["url", "site", "html", "text"]).to_pylist():
        sites[page["site"]].append((parse(page["html"], url=page["url"]), page["text"]))
    own, row, unseen, weighed = [], [], [], []
    for pages in sites.values():
        model = SiteModel.learn([tree for tree, _ in pages])
        own.append(_mean(pages, model, None))
        row.append([_mean(pages, model, threshold) for threshold in THRESHOLDS])
        weighed.append([_mean_cst(pages, model, weight) for weight in WEIGHTS])
        unseen.append(_mean(pages[1::2], SiteModel.learn([tree for tree, _ in pages[::2]]), None))
    best = [max(scores) for scores in row]
    gaps = [one - other for one, other in zip(best, own, strict=True)]
    for_all = np.mean(row, axis=0)
    for_all_cst = np.mean(weighed, axis=0)
    shown = ", ".join(f"{t:.2f}: {f:.3f}" for t, f in zip(THRESHOLDS, for_all, strict=True) if t >= 0.6)
    return [
        ("automatic threshold, word F1", f"**{statistics.mean(own):.3f}**"),
        ("best threshold of each site, by the truth", f"{statistics.mean(best):.3f}"),
        ("mean distance, worst site", f"**{statistics.mean(gaps):.3f}**, {max(gaps):.3f}"),
        ("one threshold for all", shown),
        (
            "pages that were not learned (half of each site learned, the other cleaned)",
            f"{statistics.mean(unseen):.3f}",
        ),
        (
            "`cst` by weight per word",
            ", ".join(f"{weight}: {f:.3f}" for weight, f in zip(WEIGHTS, for_all_cst, strict=True)),
        ),
        ("sites, pages", f"{len(sites)}, {sum(map(len, sites.values()))}"),
    ]


def _mean(pages: list[tuple[PageTree, str]], model: SiteModel, threshold: float | None) -> float:
    settings = CleaningSettings(aligned=AlignedSettings(threshold=threshold))
    return statistics.mean(word_f1(clean_page(tree, "aligned", model, settings).text, truth) for tree, truth in pages)


def _mean_cst(pages: list[tuple[PageTree, str]], model: SiteModel, weight: float) -> float:
    settings = CleaningSettings(cst=CstSettings(weight=weight))
    return statistics.mean(word_f1(clean_page(tree, "cst", model, settings).text, truth) for tree, truth in pages)


def sizes(data: Path) -> list[tuple[str, str]]:
    """Size on disk of the models of shop sites of 200 pages each, and of the sums that they are computed from."""
    models, sums = [], []
    sites = defaultdict(list)
    for page in pq.read_table(data / "sites-swde.parquet", columns=["url", "site", "html"]).to_pylist():
        sites[page["site"]].append(page)
    for site, pages in sorted(sites.items()):
        if len(pages) < SHOP_PAGES:
            continue
        learned = SiteSums(site)
        for page in pages[:SHOP_PAGES]:
            learned.add(parse(page["html"], url=page["url"]))
        sums.append(len(learned.to_bytes()) / 1e6)
        models.append(len(SiteModel.of(learned).to_bytes()) / 1e6)
    return [
        ("model, MB: median, largest", f"{statistics.median(models):.2f}, **{max(models):.2f}**"),
        ("raw sums, MB: median, largest", f"{statistics.median(sums):.2f}, {max(sums):.2f}"),
        ("sites of 200 pages", f"{len(models)}"),
    ]
