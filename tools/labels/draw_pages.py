"""Sample pages of weak genres for labelling: `python tools/labels/draw_pages.py`. Writes `pages.jsonl`.

Candidates are random pages of the whole sites and all pages of pages-more with `use = train`, at most 350 blocks long.
The genre is the one that the page model predicts. Two thirds of each genre are the pages that the model is least sure
about, one third is random; then pages of crawl-ics with most of their words in links, because few of the others turned
out to be lists, and pages of crawl-ics that `page-types.tsv` and `page-types-later.tsv` label as hubs; then pages of
pages-more of which only segments are known, the unsure ones first (`SEGMENTS`). `drawn` names the sample. Pages with
labels stay; what is sampled depends on the weights of the page model.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from noise_pages import data_folder

from webwinnow.judge.featureschema import COUNTS
from webwinnow.judge.models import PageModel
from webwinnow.judge.reading import read
from webwinnow.page.parsing import parse

LABELS = Path(__file__).with_name("pages.jsonl")
SITES, MORE = ("crawl-ics", "sites-docs", "sites-swde"), "pages-more"
HUBS, TYPES = SITES[0], ("page-types.tsv", "page-types-later.tsv")
QUOTA = {"collection": 20, "listing": 20, "product": 20, "service": 20, "documentation": 20}
A_SITE, EAST_ASIAN = 3, 6
"""Pages per site, and pages in Chinese or Japanese of pages-more whatever their genre."""
HUBS_A_SITE, MANY_LINKS = 4, 0.5
"""Pages per site of crawl-ics, of each kind, and the least share of their words in links."""
SEGMENTS = {"product": 80, "trafilatura": 90, "fixtures": 20}
"""Pages of the sets of pages-more of which only segments are known, one per site except in `product`."""
LONGEST_SHOP = 900
"""Blocks of a page of the set `product`: most have several hundred."""
LOOKED_AT = 24
"""Random pages of a whole site among which those of one site are chosen."""
SHORTEST, LONGEST = 8, 350
"""Blocks of a page: fewer are not worth reading, more take too long."""
SEED = 2306
_LINKED = COUNTS.index("link_words")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page with the predicted genre, and how sure the model is: the mean of |p - 0.5| over its words. `linked` is
    the share of words in links, `part` the set of pages-more.
    """

    file: str
    page_id: str
    site: str
    genre: str
    sure: float
    linked: float
    east_asian: bool
    part: str = ""


def main() -> None:
    """Sample, keep existing labels, write."""
    rng = np.random.default_rng(SEED)
    candidates = list(_candidates(data_folder(), rng))
    print(f"{len(candidates)} candidates, by genre {dict(Counter(c.genre for c in candidates))}")
    known = {}
    if LABELS.exists():
        known = {(row["file"], row["page_id"]): row for row in map(json.loads, LABELS.read_text("utf-8").splitlines())}
    first, *others = _sample(candidates, rng), _hubs(candidates, rng), _segments(candidates)
    sampled = dict(first)
    for more in others:
        sampled = dict(more) | sampled  # the first sample names a page
    rows = [row for row in known.values() if "content" in row] + [
        {"file": page.file, "page_id": page.page_id, "site": page.site, "drawn": how, "predicted": page.genre}
        for page, how in sampled.items()
        if "content" not in known.get((page.file, page.page_id), {})
    ]
    LABELS.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), encoding="utf-8")
    print(f"{len(rows)} pages, {Counter((row['file'], row['predicted'], row['drawn']) for row in rows)}")


def _candidates(data: Path, rng: np.random.Generator) -> Iterator[Candidate]:
    model = PageModel.load()
    for file, row in _rows(data, rng):
        tree = parse(row["html"], url=row["url"] or "")
        reading = read(tree)
        longest = LONGEST_SHOP if row.get("set") == "product" else LONGEST
        if SHORTEST <= len(reading.said) <= longest and reading.words.sum():
            scores = model.score(reading)
            sure = float(np.average(np.abs(scores.probability - 0.5), weights=reading.words))
            linked = float(reading.counts[:, _LINKED].sum() / reading.words.sum())
            east_asian = row.get("lang") in ("zh", "ja")
            found = Candidate(file, row["page_id"], row["site"], str(scores.genre), sure, linked, east_asian)
            yield replace(found, part=row.get("set", "") if row.get("text") is None else "")


def _rows(data: Path, rng: np.random.Generator) -> Iterator[tuple[str, dict[str, Any]]]:
    hubs = hub_ids()
    for file in SITES:
        table = pq.read_table(data / f"{file}.parquet", columns=["page_id", "url", "site", "html"])
        of_site = defaultdict(list)
        for k, site in enumerate(table["site"].to_pylist()):
            of_site[site].append(k)
        ids = table["page_id"].to_pylist()
        for _, own in sorted(of_site.items()):
            chosen = set(rng.permutation(own)[:LOOKED_AT].tolist()) | {k for k in own if ids[k] in hubs}
            for row in table.take(sorted(chosen)).to_pylist():
                yield file, row
    for row in pq.read_table(
        data / f"{MORE}.parquet",
        columns=["page_id", "url", "site", "html", "lang", "set", "text"],
        filters=[("use", "=", "train")],
    ).to_pylist():
        yield MORE, row


def _sample(candidates: list[Candidate], rng: np.random.Generator) -> Iterator[tuple[Candidate, str]]:
    """First the unsure ones of every genre, then random ones; a site gives at most `A_SITE`."""
    of_site: Counter[tuple[str, str]] = Counter()
    taken: set[Candidate] = set()
    shuffled = [candidates[k] for k in rng.permutation(len(candidates)).tolist()]
    unsure = sorted(shuffled, key=lambda page: page.sure)
    east = [page for page in shuffled if page.east_asian]
    weak = [(genre, [page for page in pages if page.genre == genre], how, count)
            for how, pages, third in (("unsure", unsure, 2), ("random", shuffled, 1))
            for genre, quota in QUOTA.items()
            for count in [round(quota * third / 3)]]  # fmt: skip
    for _, pages, how, count in [*weak, ("", east, "random", EAST_ASIAN)]:
        for _ in range(count):
            free = (page for page in pages if page not in taken and of_site[page.file, page.site] < A_SITE)
            if (page := next(free, None)) is not None:
                of_site[page.file, page.site] += 1
                taken.add(page)
                yield page, how
    for page in shuffled:
        if page.file == HUBS and page.linked >= MANY_LINKS and of_site[page.file, page.site] < HUBS_A_SITE:
            of_site[page.file, page.site] += 1
            yield page, "links"


def _hubs(candidates: list[Candidate], rng: np.random.Generator) -> Iterator[tuple[Candidate, str]]:
    of_site: Counter[str] = Counter()
    hubs = hub_ids()
    for page in (candidates[k] for k in rng.permutation(len(candidates)).tolist()):
        if page.page_id in hubs and of_site[page.site] < HUBS_A_SITE:
            of_site[page.site] += 1
            yield page, "hub"


def _segments(candidates: list[Candidate]) -> Iterator[tuple[Candidate, str]]:
    for part, quota in SEGMENTS.items():
        own = sorted((page for page in candidates if page.part == part), key=lambda page: page.sure)
        of_site: dict[str, list[Candidate]] = defaultdict(list)
        for page in own:
            of_site[page.site].append(page)
        chosen = own if part == "product" else [pages[0] for pages in of_site.values()]
        yield from ((page, "segments") for page in chosen[:quota])


def hub_ids() -> set[str]:
    """The pages of crawl-ics that were labelled as hubs."""
    lines = [line for name in TYPES for line in LABELS.with_name(name).read_text("utf-8").splitlines()]
    return {page_id for page_id, kind in (line.split("\t")[:2] for line in lines) if kind == "hub"}


if __name__ == "__main__":
    main()
