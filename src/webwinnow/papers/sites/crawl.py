"""Sites, Figures 10 and 11: the cost and savings of pruning during a crawl, against a fixed depth.

Each labelled site is crawled from its start page twice, by real requests, and classified by a model learned from the
stored pages of all other sites.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from webwinnow.counted import counted
from webwinnow.crawl.crawling import crawl
from webwinnow.crawl.follow import CrawledPage, Next
from webwinnow.crawl.scope import host_of, start_url
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.errors import InputError
from webwinnow.papers.experiment import Report, markdown_table
from webwinnow.papers.sites.labelledsites import Clock, read_sites
from webwinnow.papers.sites.trials import RuleSettings
from webwinnow.progress import Progress, no_progress
from webwinnow.run.tablefiles import TableFile
from webwinnow.topics.denoising import WordCounter
from webwinnow.topics.pages import SitePages
from webwinnow.topics.reading import PrunedFollow, ReadingModel, ReadingSettings, SiteReading
from webwinnow.topics.scores import macro_accuracy, spotting_rate
from webwinnow.topics.sitetopics import DEFAULT_METHOD, SiteTopics
from webwinnow.topics.training import TopicSettings, Training

SITE_PAGES = 500
LEAST_SITES = 3
HEAD = ("crawl", "pages", "MB", "crawl, s", "rule, s", "classify, s", "spotting (15)", "accuracy (16)", "errors")


@dataclass(frozen=True, slots=True)
class SiteCrawl:
    """One crawl of a site, and the predicted topic."""

    site: str
    label: str
    topic: str
    probability: float
    pages: int
    failed: bool


@dataclass(frozen=True, slots=True)
class CrawlRun:
    """One crawl of all sites: seconds of the crawl, `judging` of them in the rule, and of classifying afterwards.

    `spotted` counts the other hosts that the pages link to: the new sites that a mining run would continue with.
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
        """Equation 15: new sites per given site."""
        return spotting_rate(self.spotted, len(self.sites))

    @property
    def pages(self) -> int:
        return sum(site.pages for site in self.sites)

    @property
    def errors(self) -> tuple[SiteCrawl, ...]:
        return tuple(site for site in self.sites if site.topic != site.label)

    @property
    def accuracy(self) -> float:
        """Equation 16."""
        return macro_accuracy([site.label for site in self.sites], [site.topic for site in self.sites])

    @property
    def seconds(self) -> float:
        return self.crawling + self.classifying

    @property
    def cells(self) -> list[str]:
        """The row of the report."""
        errors = ", ".join(f"{site.site} ({site.topic})" for site in self.errors) or "none"
        seconds = [f"{value:.1f}" for value in (self.crawling, self.judging, self.classifying)]
        measures = [f"{100 * self.spotting:.0f} %", f"{self.accuracy:.3f}", f"{len(self.errors)}: {errors}"]
        return [self.name, f"{self.pages:,}", f"{self.received / 1e6:.1f}", *seconds, *measures]


@dataclass(frozen=True, slots=True)
class CrawlComparison:
    """The fixed-depth and the pruned crawl of the same sites."""

    data: str
    method: str
    delay: float
    fixed: CrawlRun
    pruned: CrawlRun

    def saved(self, what: str) -> float:
        """The share of `pages`, `crawling` or `seconds` that pruning saves; below 0 if it costs."""
        before = getattr(self.fixed, what)
        return 1.0 - getattr(self.pruned, what) / before if before else 0.0

    def report(self) -> Report:
        """The comparison in Markdown, and plain results."""
        both = (self.fixed, self.pruned)
        saved = {what: self.saved(what) for what in ("pages", "received", "crawling", "seconds")}
        about = f"method {self.method}, each classified by the others; {self.delay:g} s between requests."
        summary = [
            f"Crawl of {counted(len(self.fixed.sites), 'site')} of {self.data}; {about}",
            "",
            *markdown_table(HEAD, [run.cells for run in both]),
            "",
            f"Pruning saves {100 * saved['pages']:.1f} % of the pages, {100 * saved['crawling']:.1f} % of the time of "
            f"crawling (the paper: 46.7 %) and {100 * saved['seconds']:.1f} % in all (the paper: 34.5 %).",
        ]
        ways = {
            run.name: asdict(run) | {"accuracy": run.accuracy, "pages": run.pages, "spotting": run.spotting}
            for run in both
        }
        plain = {"data": self.data, "method": self.method, "delay": self.delay, "ways": ways, "saved": saved}
        return Report(name="sitecrawl", summary=summary, plain=plain)


class StartedSite(NamedTuple):
    """A labelled site with its start page and its stored pages."""

    name: str
    label: str
    start: str
    pages: SitePages


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlTrialSettings:
    """How labelled sites are crawled and classified.

    - `label`, `site`: the columns with a site's topic and its name.
    - `method`: of classifying sites; `reading`, `topics`, `rules`: settings of its parts.
    - `pages`: the most pages of a site.
    - `counter`: how words are counted; its denoiser is for `compare_seeds`.
    - `seed`: of the random samples of seeds.
    """

    label: str = "label"
    site: str = "site"
    method: str = DEFAULT_METHOD
    reading: ReadingSettings = field(default_factory=ReadingSettings)
    topics: TopicSettings = field(default_factory=TopicSettings)
    rules: RuleSettings = field(default_factory=RuleSettings)
    pages: int = SITE_PAGES
    counter: WordCounter = field(default_factory=WordCounter)
    seed: int = 0


def compare_crawls(
    data: Path,
    out: Path,
    crawling: CrawlSettings,
    settings: CrawlTrialSettings | None = None,
    *,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> CrawlComparison:
    """Crawl every labelled site of a file twice with the same limits; WARC files go into the folder `out`."""
    trial, progress, note = settings or CrawlTrialSettings(), on_progress or no_progress, on_problem or (lambda _: None)
    sites = read_started(data, trial, progress, note)
    crawling = replace(crawling, pages=trial.pages, strategy="breadth", scope="host")
    models: dict[str, tuple[SiteTopics, ReadingModel]] = {}
    for done, held in enumerate(sites, start=1):
        others = [one for one in sites if one is not held]
        training = Training([one.pages for one in others], [one.label for one in others], trial.topics)
        models[held.start] = SiteTopics(trial.method).learn(training), ReadingModel.learn(training)
        progress("learn", done, len(sites))
    everything = {one.start: SiteReading() for one in sites}
    pruning = {
        one.start: SiteReading(models[one.start][1], trial.reading, tolerance=trial.topics.tolerance) for one in sites
    }

    def crawled(name: str, settings: CrawlSettings, readings: dict[str, SiteReading]) -> CrawlRun:
        """Crawl all sites at once, then classify each."""
        follow = _Timed(PrunedFollow(readings, counter=trial.counter))
        warc = out / f"{name.replace(' ', '-')}.warc.gz"
        starts = [one.start for one in sites]
        summary = crawl(starts, warc, settings, follow=follow, on_progress=progress, on_problem=note)
        began = time.perf_counter()
        found = [_classified(one, models[one.start][0], readings[one.start]) for one in sites]
        spotted = len(follow.hosts - set(map(host_of, starts)) - {""})
        classifying = time.perf_counter() - began
        return CrawlRun(name, tuple(found), summary.seconds, follow.seconds, classifying, summary.received, spotted)

    fixed = crawled(f"depth 0 to {trial.rules.crawled}", replace(crawling, depth=trial.rules.crawled), everything)
    return CrawlComparison(data.name, trial.method, crawling.delay, fixed, crawled("pruned", crawling, pruning))


def read_started(
    data: Path, settings: CrawlTrialSettings, progress: Progress, note: Callable[[str], None]
) -> list[StartedSite]:
    """Read the labelled sites; a site starts at its page of the least `depth`, if the file has such a column."""
    label, site = settings.label, settings.site
    file = TableFile(data)
    file.check_pages()
    file.check(["url", "html", label, site])
    stored = read_sites(
        file,
        label,
        site,
        cleaning=None,
        clock=Clock(),
        most_pages=settings.pages,
        stop_list=settings.counter.stop_list,
        on_progress=progress,
        on_problem=note,
    )
    starts: dict[str, tuple[Any, str]] = {}
    if "depth" in file.columns:
        for row in file.rows(("url", site, "depth"), note):
            first = (row["depth"], str(row["url"]))
            starts[str(row[site])] = min(starts.get(str(row[site]), first), first, key=lambda found: found[0])
    found = []
    for one in stored:
        pages = one.site
        if one.name in starts:
            pages = SitePages.of_pages(one.pages, one.name, starts[one.name][1])
            start = starts[one.name][1]
        else:
            start = pages.urls[next(page for page in pages.page_tree.page.tolist() if page >= 0)]
        found.append(StartedSite(one.name, one.label, start_url(start), pages))
    if len(found) < LEAST_SITES:
        raise InputError(f"{data}: {len(found)} labelled sites; expected at least {LEAST_SITES} to learn from")
    return found


class _Timed:
    """A `Follow` that measures its time and collects the hosts that pages link to."""

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


def _classified(site: StartedSite, model: SiteTopics, reading: SiteReading) -> SiteCrawl:
    found, pages = model.classify(reading.site(site.name)), len(reading.pages)
    return SiteCrawl(site.name, site.label, found.topic, found.probability, pages, failed=not pages)
