"""`webwinnow sites`: learn the topics of whole sites, and tell those of others."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli.crawl import Allow, AllowPrivate, Resolve, guard_of
from webwinnow.cli.progress import shown_progress
from webwinnow.collection.settings import RunSettings
from webwinnow.commands.mine import SITE_PAGES as MINED_PAGES
from webwinnow.commands.mine import MineSettings, mine_sites
from webwinnow.commands.sites import SITE_PAGES, SiteRun, classify_sites, train_sites
from webwinnow.crawl import CrawlSettings
from webwinnow.io import check_output
from webwinnow.report.minedsites import mined_html
from webwinnow.sitemining.discovery import DiscoverySettings
from webwinnow.sitemining.sitereading import ReadingSettings
from webwinnow.sitemining.topics import DEFAULT_METHOD, METHODS, SiteTopics
from webwinnow.storage import write_file
from webwinnow.urls import SiteKey

__all__ = ["sites"]

_MINING, _READING, _CRAWLING = DiscoverySettings(), ReadingSettings(), CrawlSettings()

sites = typer.Typer(help="Learn the topics of whole sites, tell those of others, find more.", no_args_is_help=True)


@sites.callback()
def _sites() -> None:
    """Learn the topics of whole sites, tell those of others, find more."""


@sites.command()
def train(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="HTML, WARC, WACZ, JSONL or Parquet files, folders, or -.")
    ],
    label: Annotated[str, typer.Option(help="The column of JSONL or Parquet with the topic of each page's site.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the model goes, an .npz file.")],
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = DEFAULT_METHOD,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    pages: Annotated[int, typer.Option(min=1, help="Read at most so many pages of a site.")] = SITE_PAGES,
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = 0,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Learn topics from sites whose topic is known: all pages of a site bear the same label.

    Pages without a label belong to their site all the same; sites without one are left out. Exit code 1 if any page
    failed.

    Example:

        webwinnow sites train sites.parquet --label topic -o topics.npz
    """
    check_output(out, "jsonl")
    model = SiteTopics(method, site_by=site_by)
    settings = RunSettings(method="none", site_by=SiteKey.parse(site_by), jobs=jobs, keep_trees=True)
    with shown_progress(quiet=quiet) as progress:
        run = train_sites(
            inputs,
            model,
            settings,
            label=label,
            most=pages,
            tmp=tmp,
            on_progress=progress.update,
            on_problem=progress.note,
        )
    write_file(out, model.to_bytes())
    if not quiet:
        sys.stderr.write(_told(run, "learned"))
        if run.unlabelled:
            sys.stderr.write(f"{len(run.unlabelled):,} sites without a topic: {', '.join(run.unlabelled[:5])}\n")
    if run.failed:
        raise typer.Exit(1)


@sites.command()
def mine(
    seeds: Annotated[
        Path,
        typer.Option(
            help="Sites with their topics: a start page and a label a line (CSV, TSV, JSONL, Parquet), or stored pages."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the run; one that was stopped goes on.")],
    label: Annotated[str, typer.Option(help="The column of JSONL or Parquet with the topic.")] = "label",
    topic: Annotated[
        list[str] | None, typer.Option(help="A topic to look for, of the seeds'; may be given again. [default: all]")
    ] = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = DEFAULT_METHOD,
    site_by: Annotated[str, typer.Option(help="What makes pages one site: host or domain.")] = "host",
    sites: Annotated[int, typer.Option(min=1, help="Sites to read at most, seeds not counted.")] = 500,
    pages_per_site: Annotated[int, typer.Option(min=1, help="Pages of a site at most.")] = MINED_PAGES,
    time: Annotated[float | None, typer.Option(help="Seconds; then it stops, and the same command goes on.")] = None,
    search: Annotated[
        bool, typer.Option(help="Where no candidate is left, read sites on topic further, for their links.")
    ] = True,
    fruitless: Annotated[int, typer.Option(min=1, help="Stop after so many sites in a row off topic.")] = 100,
    confidence: Annotated[float, typer.Option(min=0, max=1, help="How likely a topic must be.")] = _MINING.confidence,
    distinctness: Annotated[
        float, typer.Option(min=0, max=1, help="How near a site must be to its topic: 0.5 for as near as to others, 1.")
    ] = _MINING.distinctness,
    delta: Annotated[
        float, typer.Option(min=0, help="Of the KL rule: by how much a page must change what is believed.")
    ] = _READING.delta,
    delay: Annotated[
        float, typer.Option(help="Seconds between requests to a host; robots.txt may ask for more.")
    ] = _CRAWLING.delay,
    hosts: Annotated[int, typer.Option(min=1, help="Sites of a round, read side by side.")] = _CRAWLING.hosts,
    robots: Annotated[bool, typer.Option(help="Obey robots.txt.")] = True,
    user_agent: Annotated[str, typer.Option(help="What to call ourselves.")] = _CRAWLING.user_agent,
    allow_private: AllowPrivate = False,
    allow: Allow = None,
    resolve: Resolve = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Find sites that have the topics of some seeds: follow links between sites, read each as far as needed.

    Every site found teaches the next round. The folder gets report.html, sites.jsonl, topics.npz (as sites train makes
    it) and the pages as WARC. However a run ends, the same command goes on with it. Exit code 1 if no site was found.

    Examples:

        webwinnow sites mine --seeds seeds.csv -o run --sites 200 --time 3600

        webwinnow sites mine --seeds sites.parquet --label topic --topic databases -o run
    """
    settings = MineSettings(
        method=method,
        label=label,
        site_by=site_by,
        mining=DiscoverySettings(
            topics=tuple(topic or ()),
            confidence=confidence,
            distinctness=distinctness,
            sites=sites,
            fruitless=fruitless,
            batch=hosts,
        ),
        reading=ReadingSettings(delta=delta),
        pages=pages_per_site,
        seconds=time,
        search=search,
    )
    crawling = CrawlSettings(
        delay=delay, hosts=hosts, robots=robots, user_agent=user_agent, guard=guard_of(allow_private, allow, resolve)
    )
    try:
        with shown_progress(quiet=quiet) as progress:
            run = mine_sites(seeds, out, settings, crawling, on_progress=progress.update, on_problem=progress.note)
    except KeyboardInterrupt:
        sys.stderr.write(f"webwinnow: stopped; {out} holds what was found; the same command goes on\n")
        raise typer.Exit(130) from None
    write_file(
        out / "report.html", mined_html(run, shlex.join(["webwinnow", *sys.argv[1:]])).encode("utf-8", "replace")
    )
    if not quiet:
        sys.stderr.write("\n".join(run.lines()) + "\n")
        if not run.finished:
            sys.stderr.write("  the same command goes on\n")
        sys.stderr.write(f"  the report is {out / 'report.html'}\n")
    if not run.found:
        raise typer.Exit(1)


@sites.command()
def classify(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="What webwinnow sites train wrote.")],
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="HTML, WARC, WACZ, JSONL or Parquet files, folders, or -.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the lines go: a file or -.")],
    site_by: Annotated[
        str | None,
        typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none; as in training."),
    ] = None,
    pages: Annotated[int, typer.Option(min=1, help="Read at most so many pages of a site.")] = SITE_PAGES,
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = 0,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Tell the topic of each site, how likely each topic is, and the pages and blocks that decided most.

    One line of JSON a site. Exit code 1 if any page failed.

    Example:

        webwinnow sites classify topics.npz crawl.warc.gz -o topics.jsonl
    """
    learned = SiteTopics.load(model)
    key = SiteKey.parse(learned.site_by if site_by is None else site_by)
    settings = RunSettings(method="none", site_by=key, jobs=jobs, keep_trees=True)
    with shown_progress(quiet=quiet) as progress:
        run = classify_sites(
            learned,
            inputs,
            out,
            settings,
            most=pages,
            tmp=tmp,
            on_progress=progress.update,
            on_problem=progress.note,
        )
    if not quiet:
        sys.stderr.write(_told(run, "classified"))
    if run.failed:
        raise typer.Exit(1)


def _told(run: SiteRun, done: str) -> str:
    topics = ", ".join(f"{name} {count:,}" for name, count in sorted(run.topics.items()))
    return f"{run.sites:,} sites {done} ({topics or 'none'}); {run.pages:,} pages, {run.failed:,} failed\n"
