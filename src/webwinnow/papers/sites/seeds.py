"""Sites, Figures 1, 10 and 11, with `sites mine`: time, pages and accuracy by the number of seeds.

All labelled sites are crawled once from their start pages, to a fixed depth. For each number of seeds, the others are
then crawled again to that depth, as the paper's baseline does, and found by `sites mine` from the seeds' start pages.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np

from webwinnow.counted import counted
from webwinnow.crawl.crawling import crawl
from webwinnow.crawl.scope import host_of
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.errors import InputError
from webwinnow.inspect.charts import Axis, Series, line_chart, point_chart
from webwinnow.papers.experiment import Report, experiment_page, markdown_table
from webwinnow.papers.sites.crawl import CrawlTrialSettings, StartedSite, read_started
from webwinnow.papers.sites.trials import random_splits
from webwinnow.progress import Progress, no_progress
from webwinnow.topics.mining.run import mine_sites
from webwinnow.topics.pages import SitePages
from webwinnow.topics.reading import PrunedFollow, ReadingSettings, SiteReading, crawled_site
from webwinnow.topics.scores import macro_accuracy
from webwinnow.topics.settings import SITE_PAGES, MineSettings
from webwinnow.topics.sitetopics import SiteTopics
from webwinnow.topics.training import Training

BASELINE = "superpage"
HEAD = ("seeds", "way", "read", "pages", "right", "accuracy (16)", "download, s", "classify, s", "on topic")
_COLOURS = {"depth": 0, "first": 1, "mine": 2}


@dataclass(frozen=True, slots=True)
class SeedRow:
    """One way to read and classify the sites that are no seeds.

    `read` sites have `pages` pages; `right` of them have their label. `found` are on topic for `sites mine`, of these
    `found_right` have their label. Seconds are None where the pages are those of another row. Crawls of seeds are not
    counted.
    """

    seeds: int
    way: str
    read: int
    pages: int
    right: int
    accuracy: float
    downloading: float | None = None
    classifying: float | None = None
    found: int | None = None
    found_right: int | None = None

    @property
    def cells(self) -> list[str]:
        """The row of the report."""
        seconds = ["" if value is None else f"{value:.1f}" for value in (self.downloading, self.classifying)]
        found = "" if self.found is None else f"{self.found} ({self.found_right} right)"
        counts = [f"{self.read}", f"{self.pages:,}", f"{self.right}", f"{self.accuracy:.3f}"]
        return [f"{self.seeds}", self.way, *counts, *seconds, found]


@dataclass(frozen=True, slots=True)
class SeedComparison:
    """All rows, by number of seeds."""

    data: str
    method: str
    delay: float
    sites: int
    rows: tuple[SeedRow, ...]
    seed: int = 0
    command: str = ""


class _Crawled(NamedTuple):
    """A site that was crawled to a fixed depth, as words are counted with and without denoising."""

    site: StartedSite
    reading: SiteReading
    denoised: SiteReading | None

    def pages(self, *, denoised: bool = False, first: int | None = None) -> SitePages:
        reading = self.denoised if denoised and self.denoised is not None else self.reading
        return crawled_site(
            self.site.name, reading.pages[:first], reading.referrers[:first], [True] * len(reading.pages[:first])
        )


def compare_seeds(
    data: Path,
    out: Path,
    crawling: CrawlSettings,
    seeds: Sequence[int],
    settings: CrawlTrialSettings | None = None,
    *,
    command: str = "",
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> SeedComparison:
    """Crawl and mine the labelled sites of a file; WARC files and runs of `sites mine` go into the folder `out`."""
    trial, progress, note = settings or CrawlTrialSettings(), on_progress or no_progress, on_problem or (lambda _: None)
    sites = read_started(data, trial, progress, note)
    crawling = replace(crawling, pages=trial.pages, strategy="breadth", scope="host")
    run = _Run(out, crawling, trial, progress, note)
    labels = [one.label for one in sites]
    for number in seeds:
        if not len(set(labels)) <= number < len(sites):
            raise InputError(
                f"{number} seeds of {len(sites)} sites with {len(set(labels))} topics: expected one of each"
            )
    whole, _ = run.fixed(sites)
    rows: list[SeedRow] = []
    for number in seeds:
        ((learned, tested),) = random_splits(labels, number, 1, np.random.default_rng([trial.seed, number]))
        chosen, others = [whole[s] for s in learned], [sites[s] for s in tested]
        rows += run.by_depth(number, chosen, others)
        rows += run.mined(number, [one.site for one in chosen], others)
    return SeedComparison(data.name, trial.method, crawling.delay, len(sites), tuple(rows), trial.seed, command)


@dataclass(frozen=True, slots=True)
class _Run:
    """The settings that all numbers of seeds share."""

    out: Path
    crawling: CrawlSettings
    trial: CrawlTrialSettings
    progress: Progress
    note: Callable[[str], None]

    def fixed(self, sites: Sequence[StartedSite]) -> tuple[list[_Crawled], float]:
        """Crawl sites to the fixed depth; also the seconds."""
        readings = {one.start: SiteReading() for one in sites}
        follow = PrunedFollow(readings, counter=replace(self.trial.counter, denoiser=None), keep_trees=True)
        settings = replace(self.crawling, depth=self.trial.rules.crawled)
        warc = self.out / "fixed.warc.gz"
        summary = crawl(list(readings), warc, settings, follow=follow, on_progress=self.progress, on_problem=self.note)
        warc.unlink(missing_ok=True)
        found = []
        for one in sites:
            plain, denoised = readings[one.start], None
            if self.trial.counter.denoiser is not None:
                denoised = SiteReading()
                for tree, referrer in zip(follow.trees[one.start], plain.referrers, strict=True):
                    denoised.read(self.trial.counter.of(tree), referrer)
            found.append(_Crawled(one, plain, denoised))
        return found, summary.seconds

    def by_depth(self, number: int, seeds: Sequence[_Crawled], others: Sequence[StartedSite]) -> list[SeedRow]:
        """The baseline, and what else its pages show: the method on all of them and on the first ones, denoised too."""
        crawled, seconds = self.fixed(others)
        depth = f"depth 0 to {self.trial.rules.crawled}"
        rows = []
        ways: list[tuple[str, str, bool, int | None]] = [(f"{depth}, {BASELINE}", BASELINE, False, None)]
        for denoised in (False, True) if self.trial.counter.denoiser is not None else (False,):
            end = ", thesaurus" if denoised else ""
            ways += [
                (
                    f"{'first ' + str(first) + ' pages' if first else depth}, {self.trial.method}{end}",
                    self.trial.method,
                    denoised,
                    first,
                )
                for first in (None, *self.trial.rules.first_pages)
            ]
        models: dict[tuple[str, bool], tuple[SiteTopics, float]] = {}
        for name, method, denoised, first in ways:
            if (method, denoised) not in models:
                began = time.perf_counter()
                learned = [one.pages(denoised=denoised) for one in seeds]
                training = Training(learned, [one.site.label for one in seeds], self.trial.topics)
                models[method, denoised] = SiteTopics(method).learn(training), time.perf_counter() - began
            model, learning = models[method, denoised]
            began = time.perf_counter()
            read = [one for one in crawled if one.reading.pages]
            found = [model.classify(one.pages(denoised=denoised, first=first)).topic for one in read]
            classifying = time.perf_counter() - began + learning
            count = sum(len(one.reading.pages[:first]) for one in read)
            times = (seconds, classifying) if first is None and not denoised else (None, None)
            rows.append(_row(number, name, [one.site.label for one in read], found, count, *times))
        return rows

    def mined(self, number: int, seeds: Sequence[StartedSite], others: Sequence[StartedSite]) -> list[SeedRow]:
        """`sites mine` from the start pages of the seeds: with our pruning and the paper's, with denoising."""
        table = self.out / "seeds.csv"
        table.write_text("".join(f"{one.start},{one.label}\n" for one in seeds), encoding="utf-8")
        labels = {host_of(one.start): one.label for one in others}
        ours = MineSettings(
            method=self.trial.method,
            pages=min(self.crawling.pages, SITE_PAGES),
            reading=self.trial.reading,
            learning=self.trial.topics,
            search=False,
            stop_list=self.trial.counter.stop_list,
        )
        ways = {"mine": ours, "mine, pruned as published": replace(ours, reading=ReadingSettings(published=True))}
        if self.trial.counter.denoiser is not None:
            ways["mine, thesaurus"] = replace(ours, denoiser=self.trial.counter.denoiser)
        rows: list[SeedRow] = []
        for name, settings in ways.items():
            folder = self.out / f"mine-{number}-{len(rows)}"
            run = mine_sites(table, folder, settings, self.crawling, on_progress=self.progress, on_problem=self.note)
            read = [one for one in run.sites if not one["seed"] and one["pages"] and one["site"] in labels]
            row = _row(
                number,
                name,
                [labels[one["site"]] for one in read],
                [one["topic"] for one in read],
                sum(one["pages"] for one in read),
                sum(run.crawling[1:]),
                run.seconds - sum(run.crawling),
            )
            found = [one for one in read if one["on_topic"]]
            right = sum(one["topic"] == labels[one["site"]] for one in found)
            rows.append(replace(row, found=len(found), found_right=right))
        return rows


def _row(
    number: int,
    way: str,
    labels: Sequence[str],
    topics: Sequence[str | None],
    pages: int,
    downloading: float | None,
    classifying: float | None,
) -> SeedRow:
    right = sum(topic == label for topic, label in zip(topics, labels, strict=True))
    accuracy = macro_accuracy(labels, [topic or "" for topic in topics]) if labels else 0.0
    return SeedRow(number, way, len(labels), pages, right, accuracy, downloading, classifying)


def seeds_report(found: SeedComparison) -> Report:
    """The page, the rows in Markdown, and plain results."""
    summary = [
        f"{counted(found.sites, 'site')} of {found.data}, some of them seeds; method {found.method}; {found.delay:g} s "
        "between requests. Sites that are no seeds:",
        "",
        *markdown_table(HEAD, [row.cells for row in found.rows]),
    ]
    return Report(name="siteseeds", summary=summary, page=seeds_html(found), plain=asdict(found))


def seeds_html(found: SeedComparison) -> str:
    """Return a page with the rows and charts."""
    numbers = sorted({row.seeds for row in found.rows})
    timed = [row for row in found.rows if row.downloading is not None]
    across = Axis("seeds", numbers[0], numbers[-1], whole=True)
    charts = []
    for what in ("downloading", "classifying"):
        series = [
            Series(way, [(row.seeds, getattr(row, what)) for row in timed if row.way == way])
            for way in dict.fromkeys(row.way for row in timed)
        ]
        highest = max((y for one in series for _, y in one.points), default=1.0)
        charts.append(line_chart(f"Seconds of {what} by number of seeds", series, across, Axis("seconds", 0, highest)))
    points = []
    for way in dict.fromkeys(row.way for row in found.rows):
        of_way = [row for row in found.rows if row.way == way]
        pages, accuracy = mean(row.pages / max(row.read, 1) for row in of_way), mean(row.accuracy for row in of_way)
        points.append((way, pages, accuracy, _COLOURS[way.split()[0].rstrip(",")]))
    chart = point_chart(
        "Accuracy by pages read of each site, means over the numbers of seeds",
        points,
        Axis("pages per site", 0, max(pages for _, pages, *_ in points), whole=True),
        Axis("accuracy", 0, 1, percent=True),
    )
    rows = [row.cells for row in found.rows]
    return experiment_page("siteseeds.html.j2", found, charts=[*charts, chart], rows=rows)
