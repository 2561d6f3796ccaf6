"""Pages from which regions are sampled, cleaned as by `webwinnow clean`, and the labeller's view of one region."""

from __future__ import annotations

import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from xxhash import xxh3_64_hexdigest

from webwinnow.judge.removedregions import SPAN, RemovedRegions, removed_regions
from webwinnow.judge.verdict import Verdict
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey
from webwinnow.record.cleaner import clean_page
from webwinnow.record.sitemodel import learn
from webwinnow.site.learned import LearnedSite

__all__ = [
    "FILES",
    "MORE",
    "SINGLE",
    "CutPage",
    "context",
    "cut_pages",
    "data_folder",
    "domain_of",
    "short_context",
    "text_hash",
    "text_of",
]

SINGLE, MORE = "pages-wcxb", "pages-more"
"""Files of pages that are cleaned alone."""
FILES = (SINGLE, "sites-news", "sites-swde", "crawl-ics", "sites-docs")
LEARNED = 40
"""Pages of a site from which its model is learned."""
SHOWN_TEXT, SHOWN_LINKS, SHOWN_STEPS = 400, 12, 7


@dataclass(frozen=True, slots=True, eq=False)
class CutPage:
    """A cleaned page and its removed regions."""

    file: str
    page_id: str
    site: str
    tree: PageTree
    regions: RemovedRegions
    verdict: Verdict
    model: LearnedSite | None

    def span(self, r: int) -> dict[str, Any]:
        """The position of a region, as in the files of labels."""
        place = {name: int(getattr(self.regions, name)[r]) for name in SPAN}
        return {"xpath": self.tree.xpath(place["node"])} | place


def data_folder() -> Path:
    """The data folder, from WEBWINNOW_DATA."""
    data = Path(os.environ.get("WEBWINNOW_DATA", ""))
    if not (data / f"{SINGLE}.parquet").is_file():
        sys.exit("labels: set WEBWINNOW_DATA to the folder with pages-wcxb.parquet")
    return data


def cut_pages(data: Path, file: str, rng: np.random.Generator, a_site: int) -> Iterator[CutPage]:
    """Pages of a file, a random sample of at most `a_site` per site, with their removed regions.

    Single pages are cleaned alone; others with a model of their site.
    """
    rows = defaultdict(list)
    alone = file in (SINGLE, MORE)
    usable = [("use", "=", "train")] if file == MORE else None
    columns = ["page_id", "url", "site", "html"]
    for row in pq.read_table(data / f"{file}.parquet", columns=columns, filters=usable).to_pylist():
        if row["url"]:
            rows[domain_of(row["url"]) if alone else row["site"]].append(row)
    for site in sorted(rows):
        own = sorted(rows[site], key=lambda row: row["page_id"])
        order = rng.permutation(len(own)).tolist()
        model = None
        if not alone:
            model = learn([parse(own[k]["html"], url=own[k]["url"]) for k in order[:LEARNED]], site)
        for k in order[:a_site]:
            tree = parse(own[k]["html"], url=own[k]["url"])
            verdict = clean_page(tree, "combined", model).verdict
            yield CutPage(file, own[k]["page_id"], site, tree, removed_regions(tree, verdict), verdict, model)


def domain_of(url: str) -> str:
    """The registrable domain of a URL."""
    return SiteKey(by="domain").of(url if "://" in url else f"http://{url}")


def text_hash(text: str) -> str:
    """The hash that replaces a region's text in the committed list."""
    return xxh3_64_hexdigest(text.encode("utf-8"))[:10]


def text_of(tree: PageTree, region: dict[str, Any]) -> str:
    """The text of a listed region."""

    def column(name: str) -> NDArray[np.int32]:
        return np.array([region[name]], np.int32)

    return RemovedRegions(tree=tree, **{name: column(name) for name in SPAN}).texts()[0]


def short_context(tree: PageTree, region: dict[str, Any]) -> str:
    """A view of three lines: page and place; the text between the words before and after; some links and controls."""
    text, (first, last) = text_of(tree, region), (region["first_node"], region["last_node"])
    a, b = (int(tree.run_start[region[name]]) for name in ("first_run", "last_run"))
    before, after = (" ".join(part.split()) for part in (tree.text[max(a - 200, 0) : a], tree.text[b : b + 160]))
    inside = range(first, max(last, first))
    links = [i for i in inside if tree.tag_name(i) == "a" and tree.attribute(i, "href") is not None]
    controls = [_control(tree, i) for i in inside if tree.tag_name(i) in ("input", "select", "textarea", "button")]
    chosen = links if len(links) <= 4 else [*links[:2], links[len(links) // 2], links[-1]]
    targets = [(tree.attribute(i, "href") or "")[:45] for i in chosen]
    half = 190
    shown = text if len(text) <= 2 * half else f"{text[:half]} […{len(text.split())}w…] {text[-half // 2 :]}"
    rows = [
        f"{tree.url[:90]} | {' '.join(tree.head.title.split())[:60]} | {a / max(len(tree.text), 1):.0%}"
        f" | {_path(tree, region['node'], 4)[:110]}",
        f"  … {before[-60:]} [[ {shown} ]] {after[:50]} …",
    ]
    if links or controls:
        rows.append(f"  {len(links)} links {' ; '.join(targets)}  {', '.join(controls[:4])}")
    return "\n".join(row.replace("\n", " ") for row in rows)


def context(tree: PageTree, region: dict[str, Any]) -> str:
    """The labeller's view: URL, title, position, text, links, controls and images."""
    text = text_of(tree, region)
    first, last = region["first_node"], region["last_node"]
    where = int(tree.run_start[region["first_run"]]) / max(len(tree.text), 1)
    lines = [
        f"page:  {tree.url[:150]}",
        f"title: {' '.join(tree.head.title.split())[:110]}",
        f"place: {_path(tree, region['node'])}{'' if first == region['node'] else ' (a part of it)'}, {where:.0%} down",
        f"text:  [{len(text.split())} words] {_short(text)}",
    ]
    inside = range(first, max(last, first))
    links = [i for i in inside if tree.tag_name(i) == "a" and tree.attribute(i, "href") is not None]
    owner = around = int(tree.run_owner[region["first_run"]]) if region["last_run"] > region["first_run"] else first
    while not links and around > 0:
        links = [around] if tree.tag_name(around) == "a" and tree.attribute(around, "href") is not None else []
        around = int(tree.parent[around])
    if links:
        shown = [
            f"{' '.join(tree[i].text.split())[:40] or tree.attribute(i, 'title') or '[picture]'}"
            f" -> {(tree.attribute(i, 'href') or '')[:70]}"
            for i in links[:SHOWN_LINKS]
        ]
        lines.append(f"links: ({len(links)}) " + "; ".join(shown))
    controls = [_control(tree, i) for i in inside if tree.tag_name(i) in ("input", "select", "textarea", "button")]
    if controls:
        lines.append(f"controls: ({len(controls)}) " + ", ".join(controls[:6]))
    pictures = [
        tree.attribute(i, "alt") or (tree.attribute(i, "src") or "")[-40:] for i in inside if tree.tag_name(i) == "img"
    ]
    if pictures:
        lines.append(f"pictures: ({len(pictures)}) " + "; ".join(pictures[:4]))
    if not tree.visible[owner]:
        lines.append("hidden until a script shows it")
    return "\n".join(line.replace("\n", " ") for line in lines)


def _short(text: str) -> str:
    half = SHOWN_TEXT * 3 // 4
    return text if len(text) <= SHOWN_TEXT else f"{text[:half]} […] {text[half - SHOWN_TEXT :]}"


def _control(tree: PageTree, i: int) -> str:
    kept = tree.attributes(i)
    said = kept.get("value") or kept.get("aria-label") or kept.get("title") or ""
    return f"{tree.tag_name(i)}:{kept.get('type', '')} {said}".strip()[:40]


def _path(tree: PageTree, i: int, most: int = SHOWN_STEPS) -> str:
    steps: list[str] = []
    while i > 0 and len(steps) < most:
        kept = tree.attributes(i)
        named = "".join(f".{name}" for name in (kept.get("class") or "").split()[:3])
        named += f"#{kept['id']}" if kept.get("id") else ""
        named += f"[{kept['aria-label']}]" if kept.get("aria-label") else ""
        steps.append(re.sub(r"\s+", " ", tree.tag_name(i) + named)[:60])
        i = int(tree.parent[i])
    return " < ".join(steps)
