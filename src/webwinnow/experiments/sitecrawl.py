"""Sites, Figures 10 and 11: what pruning saves while sites are crawled, against a fixed depth, and what it costs.

Each labelled site is crawled from its start page in both ways, by real requests, and told by a model that was learned
from the stored pages of all other sites.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from webwinnow.commands.mine import PrunedFollow
from webwinnow.crawl import CrawledPage, CrawlSettings, Next, crawl
from webwinnow.crawl.scope import host_of, start_url
from webwinnow.errors import InputError, PageRefused
from webwinnow.experiments.cleanedtexts import read_rows
from webwinnow.parsing import parse
from webwinnow.progress import Progress
from webwinnow.sitemining.measures import macro_accuracy, spotting_rate
from webwinnow.sitemining.sitepages import PageWords, SitePages
from webwinnow.sitemining.sitereading import ReadingModel, ReadingSettings, SiteReading
from webwinnow.sitemining.topics import DEFAULT_METHOD, SiteTopics, Training
from webwinnow.urls import canonical

__all__ = ["FIXED_DEPTH", "CrawlComparison", "SiteCrawl", "Way", "compare_crawls", "crawl_table"]

FIXED_DEPTH = 2
"""Links from the start page: "a fixed three levels of pages" (Sites 5), 0 to 2."""
SITE_PAGES = 500


@dataclass(frozen=True, slots=True)
class SiteCrawl:
    """One site, crawled in one way, and what it was taken for."""

    site: str
    label: str
    topic: str
    probability: float
    pages: int
    failed: bool

    @property
    def right(self) -> bool:
        """Whether the topic is the label."""
        return self.topic == self.label


@dataclass(frozen=True, slots=True)
class Way:
    """All sites crawled in one way: seconds of the crawl, `judging` of them in the rule, and of classifying after.

    `spotted` are further hosts that the pages read link to: the new sites that a mining run would go on with.
    """

    name: str
    sites: tuple[SiteCrawl, ...]
    crawling: float
    judging: float
    classifying: float
    received: int
    spotted: int = 0

    @property
    def spotting(self) -> float:
        """Equation 15: new sites to those begun with."""
        return spotting_rate(self.spotted, len(self.sites))

    @property
    def pages(self) -> int:
        """Of all sites."""
        return sum(site.pages for site in self.sites)

    @property
    def errors(self) -> tuple[SiteCrawl, ...]:
        """Sites told wrong."""
        return tuple(site for site in self.sites if not site.right)

    @property
    def accuracy(self) -> float:
        """Equation 16."""
        return macro_accuracy([site.label for site in self.sites], [site.topic for site in self.sites])

    @property
    def seconds(self) -> float:
        """Crawling and classifying."""
        return self.crawling + self.classifying


@dataclass(frozen=True, slots=True)
class CrawlComparison:
    """The fixed depth and the pruned crawl of the same sites."""

    data: str
    method: str
    delay: float
    fixed: Way
    pruned: Way

    def saved(self, what: str) -> float:
        """The share of `pages`, `crawling` or `seconds` that pruning saves; below 0 where it costs."""
        before = getattr(self.fixed, what)
        return 1.0 - getattr(self.pruned, what) / before if before else 0.0

    def to_plain(self) -> dict[str, Any]:
        """For a JSON file."""
        ways = {
            way.name: asdict(way) | {"accuracy": way.accuracy, "pages": way.pages, "spotting": way.spotting}
            for way in self.ways
        }
        saved = {what: self.saved(what) for what in ("pages", "received", "crawling", "seconds")}
        return {"data": self.data, "method": self.method, "delay": self.delay, "ways": ways, "saved": saved}

    @property
    def ways(self) -> tuple[Way, Way]:
        """Both."""
        return (self.fixed, self.pruned)


@dataclass(frozen=True, slots=True, eq=False)
class _Labelled:
    name: str
    label: str
    start: str
    pages: SitePages


def compare_crawls(
    data: Path,
    out: Path,
    crawling: CrawlSettings,
    *,
    label: str = "label",
    site: str = "site",
    method: str = DEFAULT_METHOD,
    reading: ReadingSettings | None = None,
    depth: int = FIXED_DEPTH,
    most: int = SITE_PAGES,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> CrawlComparison:
    """Crawl every labelled site of a file in both ways, with the same limits; WARC files go into the folder `out`."""
    tell, note = on_progress or (lambda *_: None), on_problem or (lambda _: None)
    sites = _read(data, label, site, most, note)
    settings = replace(crawling, pages=most, strategy="breadth", scope="host")
    models: dict[str, tuple[SiteTopics, ReadingModel]] = {}
    for done, held in enumerate(sites, start=1):
        others = [one for one in sites if one is not held]
        training = Training([one.pages for one in others], [one.label for one in others])
        models[held.start] = SiteTopics(method).learn(training), ReadingModel.learn(training)
        tell("learn", done, len(sites))
    everything = {one.start: SiteReading() for one in sites}
    pruning = {one.start: SiteReading(models[one.start][1], reading) for one in sites}
    fixed = _crawled(f"depth 0 to {depth}", sites, models, out, replace(settings, depth=depth), everything, tell, note)
    pruned = _crawled("pruned", sites, models, out, settings, pruning, tell, note)
    return CrawlComparison(data.name, method, settings.delay, fixed, pruned)


def crawl_table(found: CrawlComparison) -> str:
    """The comparison as Markdown."""
    lines = [
        f"Crawling {len(found.fixed.sites)} sites of {found.data}; method {found.method}, each told by the others; "
        f"{found.delay:g} s between requests.",
        "",
        "| crawl | pages | MB | crawl, s | rule, s | classify, s | spotting (15) | accuracy (16) | errors |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for way in found.ways:
        wrong = ", ".join(f"{site.site} ({site.topic})" for site in way.errors) or "none"
        lines.append(
            f"| {way.name} | {way.pages:,} | {way.received / 1e6:.1f} | {way.crawling:.1f} | {way.judging:.1f} | "
            f"{way.classifying:.1f} | {100 * way.spotting:.0f} % | {way.accuracy:.3f} | {len(way.errors)}: {wrong} |"
        )
    lines += [
        "",
        f"Pruning saves {100 * found.saved('pages'):.1f} % of the pages, {100 * found.saved('crawling'):.1f} % of the "
        f"time of crawling (the paper: 46.7 %) and {100 * found.saved('seconds'):.1f} % in all (the paper: 34.5 %).",
    ]
    return "\n".join(lines) + "\n"


def _read(data: Path, label: str, site: str, most: int, note: Callable[[str], None]) -> list[_Labelled]:
    """The labelled sites of a file; a site begins at its page of the least `depth`, where there is such a column."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_rows(data, ("url", "html", label, site), also=("depth",)):
        rows[str(row[site])].append(row)
    found = []
    for name, members in sorted(rows.items()):
        labels = {str(row[label]) for row in members if row[label] is not None}
        if len(labels) != 1:
            raise InputError(f"{data}: the site {name} has {len(labels)} labels in {label}; expected one")
        first = min(members, key=lambda row: row["depth"]) if "depth" in members[0] else None
        pages = list(_words(members[:most], note))
        if not pages:
            note(f"{name}: no page could be read")
            continue
        stored = SitePages.of_pages(pages, name, None if first is None else str(first["url"]))
        tree = stored.page_tree.page.tolist()
        start = stored.urls[next(page for page in tree if page >= 0)] if first is None else str(first["url"])
        found.append(_Labelled(name, labels.pop(), start_url(start), stored))
    if len(found) < 3:
        raise InputError(f"{data}: {len(found)} labelled sites; expected 3 at least, for each is told by the others")
    return found


def _words(rows: Sequence[dict[str, Any]], note: Callable[[str], None]) -> list[PageWords]:
    found = []
    for row in rows:
        body = row["html"].encode() if isinstance(row["html"], str) else row["html"]
        try:
            found.append(PageWords.of(parse(body, url=canonical(str(row["url"])))))
        except PageRefused as refusal:
            note(f"{row['url']}: {refusal}")
    return found


class _Timed:
    """A `Follow` that is timed, and notes the hosts that pages link to."""

    learns = True

    def __init__(self, follow: PrunedFollow) -> None:
        self.follow = follow
        self.seconds = 0.0
        self.hosts: set[str] = set()

    def next(self, page: CrawledPage) -> Next:
        self.hosts.update(map(host_of, page.links))
        began = time.perf_counter()
        found = self.follow.next(page)
        self.seconds += time.perf_counter() - began
        return found


def _crawled(
    name: str,
    sites: Sequence[_Labelled],
    models: dict[str, tuple[SiteTopics, ReadingModel]],
    out: Path,
    settings: CrawlSettings,
    readings: dict[str, SiteReading],
    tell: Progress,
    note: Callable[[str], None],
) -> Way:
    """Crawl all sites side by side, then tell the topic of each."""
    follow = _Timed(PrunedFollow(readings))
    warc = out / f"{name.replace(' ', '-')}.warc.gz"
    summary = crawl([one.start for one in sites], warc, settings, follow=follow, on_progress=tell, on_problem=note)
    began = time.perf_counter()
    told = []
    for one in sites:
        reading = readings[one.start]
        found = models[one.start][0].classify(reading.site(one.name))
        pages = len(reading.pages)
        told.append(SiteCrawl(one.name, one.label, found.topic, found.probability, pages, failed=not pages))
    spotted = len(follow.hosts - {host_of(one.start) for one in sites} - {""})
    classifying = time.perf_counter() - began
    return Way(name, tuple(told), summary.seconds, follow.seconds, classifying, summary.received, spotted)
