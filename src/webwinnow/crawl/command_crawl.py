"""`webwinnow crawl`: sites into a WARC file."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import UNCHANGED, finish, shown_progress, stoppable
from webwinnow.crawl.crawling import crawl as crawl_sites
from webwinnow.crawl.crawling import is_killed_early, state_folder, stored_crawl
from webwinnow.crawl.follow import FollowAll, FollowKept
from webwinnow.crawl.settings import CrawlSettings, Strategy
from webwinnow.run.outputs import check_apart

PANEL = "Sites"

_CRAWL = CrawlSettings()
Follow = Literal["all", "kept"]


def crawl(
    starts: Annotated[
        list[str] | None, typer.Argument(metavar="URL...", help="Start pages, one for each site.")
    ] = None,
    out: Annotated[Path, opt.out("a WARC file, .warc.gz or .warc")] = Path("crawl.warc.gz"),
    pages: Annotated[int, opt.most_pages(panel=opt.CRAWL)] = _CRAWL.pages,
    strategy: Annotated[
        Strategy, opt.crawling("Next page: a random known one, or the nearest to the start page.")
    ] = _CRAWL.strategy,
    scope: opt.Scope = _CRAWL.scope,
    follow: Annotated[
        Follow | None, opt.crawling("Links to follow: all, or those in blocks that cleaning keeps. [default: all]")
    ] = None,
    depth: Annotated[int | None, opt.crawling("Links away from the start page, at most.")] = _CRAWL.depth,
    delay: opt.Delay = _CRAWL.delay,
    hosts: opt.Hosts = _CRAWL.hosts,
    retries: Annotated[int, opt.crawling("Further attempts at a page that could not be fetched.")] = _CRAWL.retries,
    backoff: Annotated[
        float, opt.crawling("Seconds to leave a host alone after a failure, doubled with each.")
    ] = _CRAWL.backoff,
    timeout: Annotated[float, opt.crawling("Seconds of silence after which a request fails.")] = _CRAWL.timeout,
    page_seconds: Annotated[
        float, opt.crawling("Seconds to fetch a page, at most.", "--fetch-seconds")
    ] = _CRAWL.page_seconds,
    max_size: Annotated[
        int, opt.crawling("Bytes of a fetched page, at most, as sent and decompressed.")
    ] = _CRAWL.max_size,
    max_bytes: Annotated[int | None, opt.crawling("Stop after receiving this many bytes.", "--total-bytes")] = None,
    allow_url: opt.AllowUrls = None,
    deny_url: opt.DenyUrls = None,
    sitemaps: opt.Sitemaps = _CRAWL.sitemaps,
    robots: opt.Robots = _CRAWL.robots,
    user_agent: opt.UserAgent = _CRAWL.user_agent,
    allow_private: opt.AllowPrivate = False,
    allow: opt.Allow = None,
    resolve: opt.Resolve = None,
    render: opt.Render = _CRAWL.render,
    browsers: opt.Browsers = _CRAWL.browsers,
    render_set: opt.RenderSet = None,
    screenshots: opt.Screenshots = _CRAWL.screenshots,
    log: Annotated[
        Path | None, opt.writing("Also write the outcome of each URL, as JSONL.", callback=opt.written())
    ] = None,
    seed: opt.Seed = _CRAWL.seed,
    seconds: opt.Time = None,
    state: Annotated[Path | None, opt.running("Folder of the crawl's state; by default beside the output.")] = None,
    resume: opt.Resume = False,
    quiet: opt.Quiet = False,
) -> None:
    r"""Crawl sites into a WARC file: up to 500 pages of each, a random sample, below the start page, politely.

    Each page is stored once, with its request and response as they were sent. Exit code 1 if nothing could be stored.

    Examples:

        webwinnow crawl https://example.org/docs/ -o docs.warc.gz
        webwinnow crawl https://a.example https://b.example -o two.warc.gz --pages 100 --strategy breadth --depth 3
        webwinnow crawl https://example.org/ -o site.warc.gz --follow kept --log outcomes.jsonl
        webwinnow crawl https://example.org/ -o app.warc.gz --render=auto
        webwinnow crawl https://example.org/ -o seen.warc.gz --render --screenshots
        webwinnow crawl https://example.org/ -o news.warc.gz --sitemaps --allow-url '/20\d\d/' --deny-url '\?print='
        webwinnow crawl -o docs.warc.gz --resume

    With --resume, options that are not given keep their earlier values.
    """
    guard = opt.guard_of(allow_private, allow, resolve)
    allow_urls, deny_urls = tuple(allow_url or ()), tuple(deny_url or ())
    given = opt.fields_of(CrawlSettings, locals()) | {"render_set": tuple(render_set or ())}
    settings = CrawlSettings(**given)
    check_apart([], out, log)
    if resume and not (starts and is_killed_early(out, state)):
        before = stored_crawl(out, state)
        settings = _resumed(settings, before.settings)
        render = settings.render
        follow = follow or ("kept" if before.follow == FollowKept.__name__ else "all")
    opt.check_rendering(render, render_set)
    with (
        stoppable(lambda: _after_stop(out, state)),
        shown_progress(quiet=quiet) as progress,
    ):
        summary = crawl_sites(
            starts or [],
            out,
            settings,
            follow=FollowKept() if follow == "kept" else FollowAll(),
            resume=resume,
            state=state,
            log=log,
            **progress.callbacks,
        )
    folder = state_folder(out, state)
    rest = [] if summary.finished else [f"  the same command with --resume continues; {folder} has the state"]
    finish([*summary.lines(), *rest], quiet=quiet, failed=not summary.stored)


def _after_stop(out: Path, state: Path | None) -> str:
    """What is kept of a crawl that was stopped, and how to go on."""
    folder = state_folder(out, state)
    if not folder.is_dir():
        return UNCHANGED
    return f"{out} has what was fetched, {folder} the state; the same command with --resume continues"


def _resumed(given: CrawlSettings, before: CrawlSettings) -> CrawlSettings:
    """The settings of a resumed crawl: the earlier ones, except those given now."""
    names = [field.name for field in fields(CrawlSettings)]
    return replace(
        before, **{name: value for name in names if (value := getattr(given, name)) != getattr(_CRAWL, name)}
    )
