"""Sample the removed regions that are labelled by hand: `python tools/labels/draw_noise_blocks.py [--seed N]`.

`DRAWN` sets the number per file. A few regions per site are sampled, one stratum after the other so that rare ones
occur too. A stratum is defined by neutral properties: number of words, share of words in links, position on the page,
and whether it has a control. Two more strata are sampled by broad filters, because their recall is measured: regions
that mention cookies or consent, and short rows of links near the top of the page that lead up the page's own path or
are separated by arrows or bars. Regions that are sampled again keep their labels.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from noise_pages import FILES, SINGLE, CutPage, cut_pages, data_folder, text_hash

LABELS = Path(__file__).with_name("noise-blocks.jsonl")
DRAWN = {SINGLE: 130, "sites-news": 40, "sites-swde": 50, "crawl-ics": 12, "sites-docs": 28}
"""Regions by strata, for each file: 260 in all."""
CONSENT, PATHS = 20, 20
"""Regions for each of the two filters."""
A_SITE = {SINGLE: 1, "sites-news": 3, "sites-swde": 2, "crawl-ics": 3, "sites-docs": 3}
"""Most regions per site by strata; a filter may add one."""
PAGES_A_SITE = {SINGLE: 1, "sites-news": 2, "sites-swde": 2, "crawl-ics": 6, "sites-docs": 3}
WORDS = (5, 20, 80)
LINKS = (0.33, 0.8)
PLACES = (0.15, 0.85)
_CONSENT = re.compile(r"cookie|consent", re.IGNORECASE)
_WORD = re.compile(r"\w\w")
"""A region without a word of two letters (a mark, a number of one digit) is not sampled."""
_PARTED = re.compile(r"\s[>›»/|▸→·:]+\s|[›»▸→]")

Region = dict[str, Any]


def main() -> None:
    """Sample regions and write them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=2004)
    options.add_argument("--out", type=Path, default=LABELS)
    chosen = options.parse_args()
    data = data_folder()
    rng = np.random.default_rng(chosen.seed)
    taken: list[Region] = []
    every: list[Region] = []
    for file in FILES:
        found = [r for page in cut_pages(data, file, rng, PAGES_A_SITE[file]) for r in described(page)]
        every.extend(found)
        taken.extend(by_strata(found, DRAWN[file], A_SITE[file], rng))
        print(f"{file}: {len(found):,} regions", flush=True)
    for name, wanted in (("consent", CONSENT), ("path", PATHS)):
        taken.extend(by_filter(every, taken, name, wanted, rng))
    known = labels_in(chosen.out)
    with chosen.out.open("w", encoding="utf-8") as out:
        for number, region in enumerate(taken, 1):
            row = {"id": f"n{number:03}"} | {k: v for k, v in region.items() if not k.startswith("_")}
            row["kind"] = known.get(key_of(row))
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    sites = {(r["file"], r["site"]) for r in taken}
    print(f"{chosen.out}: {len(taken)} regions of {len(sites)} sites; {dict(Counter(r['file'] for r in taken))}")


def key_of(region: Region) -> tuple[Any, ...]:
    """The key by which a region is identified in two samples."""
    return region["file"], region["page_id"], region["first_run"], region["hash"]


def labels_in(path: Path) -> dict[tuple[Any, ...], str]:
    """Return the existing labels."""
    if not path.is_file():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {key_of(row): row["kind"] for row in rows if row.get("kind")}


def described(page: CutPage) -> list[Region]:
    """The regions of a page: fields to write, and fields for sampling, which start with an underscore."""
    tree, cut = page.tree, page.regions
    linked = tree.tagged("a")
    control = np.concatenate(([0], np.cumsum(tree.tagged("input", "select", "textarea", "button"))))
    found = []
    for r, text in enumerate(cut.texts()):
        if not _WORD.search(text):
            continue
        first, last = int(cut.first_node[r]), int(cut.last_node[r])
        nodes = np.arange(first, last)[linked[first:last]]
        words = len(text.split())
        in_links = sum(len(tree[i].text.split()) for i in nodes.tolist())
        where = int(tree.run_start[cut.first_run[r]]) / max(len(tree.text), 1)
        stratum = (
            int(np.searchsorted(WORDS, words)),
            int(np.searchsorted(LINKS, in_links / max(words, 1))),
            int(np.searchsorted(PLACES, where)),
            int(control[last] > control[first]),
        )
        paths = [urlsplit(tree.resolve(tree.attribute(i, "href") or "") or "").path for i in nodes[:8].tolist()]
        found.append(
            {
                "file": page.file,
                "page_id": page.page_id,
                "site": page.site,
                "xpath": tree.xpath(int(cut.node[r])),
                "node": int(cut.node[r]),
                "first_node": first,
                "last_node": last,
                "first_run": int(cut.first_run[r]),
                "last_run": int(cut.last_run[r]),
                "hash": text_hash(text),
                "drawn": "stratum",
                "_stratum": stratum,
                "_consent": words >= 3 and bool(_CONSENT.search(text)),
                "_path": where < 0.5 and is_short_path(tree.url, text, paths, len(nodes)),
            }
        )
    return found


def is_short_path(url: str, text: str, paths: list[str], links: int) -> bool:
    """A broad filter for breadcrumbs."""
    if not (1 <= links <= 7 and 2 <= len(text.split()) <= 30):
        return False
    own = urlsplit(url).path
    upward = {path.rstrip("/") for path in paths if path != own and own.startswith(path.rstrip("/") + "/")}
    marks = len(_PARTED.findall(text))
    return len(upward) >= 2 or (marks >= 1 and bool(upward - {""})) or (marks >= 2 and bool(upward))


def by_strata(found: list[Region], wanted: int, a_site: int, rng: np.random.Generator) -> list[Region]:
    """Sample regions, one of each stratum in turn, without repeated texts, at most `a_site` per site."""
    strata = defaultdict(list)
    for k in rng.permutation(len(found)).tolist():
        strata[found[k]["_stratum"]].append(found[k])
    order = sorted(strata)
    taken: list[Region] = []
    sites: Counter[str] = Counter()
    texts: set[str] = set()
    while len(taken) < wanted and any(strata.values()):
        for k in rng.permutation(len(order)).tolist():
            queue = strata[order[k]]
            while queue:
                region = queue.pop()
                if sites[region["site"]] < a_site and region["hash"] not in texts:
                    sites[region["site"]] += 1
                    texts.add(region["hash"])
                    taken.append(region)
                    break
            if len(taken) == wanted:
                break
    return taken


def by_filter(
    every: list[Region], taken: list[Region], name: str, wanted: int, rng: np.random.Generator
) -> list[Region]:
    """Sample regions that pass a filter, one per site, none of them sampled before."""
    known = {key_of(region) for region in taken}
    passed = [region for region in every if region[f"_{name}"] and key_of(region) not in known]
    found: dict[tuple[str, str], Region] = {}
    for k in rng.permutation(len(passed)).tolist():
        found.setdefault((passed[k]["file"], passed[k]["site"]), passed[k])
    return [{**region, "drawn": name} for region in list(found.values())[:wanted]]


if __name__ == "__main__":
    main()
