"""Learn and predict the topics of whole sites."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from webwinnow.errors import InputError
from webwinnow.page.blocks import cut
from webwinnow.page.records import PageRecord
from webwinnow.page.tree import PageTree
from webwinnow.run.outputs import check_apart, check_output, write_lines
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.settings import CollectionSettings
from webwinnow.run.tablefiles import check_label_column
from webwinnow.topics.pages import SitePages
from webwinnow.topics.scores import LeftOutScore
from webwinnow.topics.sitetopics import LEAST_NONE, SiteTopic, SiteTopics
from webwinnow.topics.training import Training
from webwinnow.topics.trees import NOTHING

SITE_PAGES = 500
"""Pages of a site that are used at most, in input order, as many as a site is learned from."""
DECIDING = 3
"""Pages and blocks that are named as the most decisive."""
LONGEST_TEXT = 120
NOTHING_READ = "no page of the site could be read"


@dataclass(slots=True)
class SiteRun:
    """The numbers of sites by topic, and of pages."""

    topics: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    failed: int = 0
    unlabelled: list[str] = field(default_factory=list)
    unanswered: int = 0
    score: LeftOutScore | None = None

    @property
    def sites(self) -> int:
        """Sites that have a topic."""
        return self.topics.total()


def train_sites(
    inputs: Sequence[str | Path],
    model: SiteTopics,
    settings: CollectionSettings,
    *,
    label: str,
    most: int = SITE_PAGES,
    score: bool = True,
    **options: Unpack[OpenOptions],
) -> SiteRun:
    """Learn the topics of sites whose pages have one in the column `label`; a site has one topic.

    With `score` each site, or some of many, is also classified by a model of the others.
    """
    settings.site_by.check_sites("site mining")
    check_label_column(inputs, label)
    labels: dict[str, Counter[str]] = defaultdict(Counter)

    def noted(pages: Iterator[PageRecord]) -> Iterator[PageRecord]:
        for page in pages:
            if page.label is not None:
                labels[settings.site_by.of(page.url, page.site)][page.label] += 1
            yield page

    run = SiteRun()
    sites: list[SitePages] = []
    named: list[str] = []
    with ParsedCollection.open(inputs, settings, pages=noted, label=label, **options) as collection:
        total = collection.page_count
        for site, trees, _ in _sites(collection, run, most):
            topics = labels.get(site)
            if topics is None:
                run.unlabelled.append(site)
            elif len(topics) > 1:
                shown = ", ".join(f"{name} on {count}" for name, count in topics.most_common(3))
                raise InputError(f"the site {site} has more than one topic in {label!r}: {shown} pages; see --site-by")
            elif trees:
                sites.append(SitePages.of_pages(list(map(model.counter.of, trees)), site))
                named.extend(topics)
                run.topics.update(topics.keys())
            collection.progress("weigh", run.pages, total)
        if not sites:
            raise InputError(f"no site has a topic in the column {label!r}")
        model.learn(Training(sites, named, model.settings))
        if score:

            def on_site(done: int, total: int) -> None:
                collection.progress("mine", done, total)

            run.score = LeftOutScore.of(model.method, sites, named, model.settings, on_site=on_site)
    return run


def classify_sites(
    model: SiteTopics,
    inputs: Sequence[str | Path],
    out: str | Path,
    settings: CollectionSettings,
    *,
    most: int = SITE_PAGES,
    none: float = LEAST_NONE,
    **options: Unpack[OpenOptions],
) -> SiteRun:
    """Predict the topic of each site: one line of JSON per site, in the order of their names.

    A site has no topic if none of its words is known, or if none of the topics has a probability of at least `none`.
    """
    settings.site_by.check_sites("site mining")
    check_output(out, "jsonl")
    check_apart(inputs, out)
    run = SiteRun()
    with ParsedCollection.open(inputs, settings, **options) as collection:
        total = collection.page_count

        def lines() -> Iterator[bytes]:
            for site, trees, failed in _sites(collection, run, most):
                record = _record(model, site, trees, failed, none)
                run.topics.update([record["topic"]] if record["topic"] is not None else [])
                run.unanswered += record["topic"] is None
                yield json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
                collection.progress("weigh", run.pages, total)

        write_lines(lines(), out)
    return run


def _sites(collection: ParsedCollection, run: SiteRun, most: int) -> Iterator[tuple[str, list[PageTree], int]]:
    """Sites with the trees of their first pages, and the number of failed pages; counts all in `run`."""
    for site, count in collection.sites():
        trees: list[PageTree] = []
        failed = 0
        for row in collection.pages_of(site):
            if row.ref is None:
                failed += 1
            elif len(trees) < most:
                trees.append(collection.tree(row))
        run.pages += count
        run.failed += failed
        yield site, trees, failed


def _record(model: SiteTopics, site: str, trees: list[PageTree], failed: int, none: float) -> dict[str, Any]:
    pages = SitePages.of_pages(list(map(model.counter.of, trees)), site)
    found = model.classify(pages)
    why = found.why_none(none) if trees else NOTHING_READ
    record = site_record(found, pages, trees, failed) | {"method": model.method, "reason": why}
    return record | ({"topic": None, "probability": None} if why else {})


def site_record(found: SiteTopic, pages: SitePages, trees: Sequence[PageTree], failed: int) -> dict[str, Any]:
    """The record of a classified site: its topic, and the pages and blocks that decided."""
    known = bool(trees) and not np.isnan(found.none)
    levels = [{"topic": name, "probability": _rounded(share)} for name, share in found.levels()] if known else []
    return {
        "site": found.site,
        "topic": found.topic if known else None,
        "probability": _rounded(found.probability) if known else None,
        "probabilities": {name: _rounded(share) for name, share in found.posterior.items()} if known else {},
        "none": _rounded(found.none) if known else None,
        **({"levels": levels} if any("/" in name for name in found.posterior) else {}),
        "pages": len(trees),
        "failed_pages": failed,
        "deciding_pages": [
            {"url": pages.urls[page], "probability": _rounded(float(found.prediction.texts[page, found.number]))}
            for page in found.deciding_pages(DECIDING)
            if found.prediction.texts is not None
        ],
        "deciding_blocks": [_block(found, pages, trees, node) for node in found.deciding_blocks(DECIDING)],
    }


def _block(found: SiteTopic, pages: SitePages, trees: Sequence[PageTree], node: int) -> dict[str, Any]:
    """A block that decided: its XPath and the beginning of its text."""
    page = int(pages.page_of_node[node])
    tree, element = trees[page], int(pages.element[node])
    assert found.prediction.blocks is not None
    if element == NOTHING:
        xpath, text = "/html/head/title", " ".join(tree.head.title.split())
    else:
        xpath = tree.xpath(element)
        blocks = cut(tree)
        leaves = [b for b, owner in enumerate(blocks.owner.tolist()) if owner == element]
        text = " ".join(" ".join(blocks.text(b).split()) for b in leaves).strip()
    return {
        "url": pages.urls[page],
        "xpath": xpath,
        "text": text[:LONGEST_TEXT],
        "probability": _rounded(float(found.prediction.blocks[node, found.number])),
    }


def _rounded(share: float) -> float:
    return round(share, 6)
