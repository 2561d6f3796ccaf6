"""`webwinnow crawl`: sites into a WARC file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import UNCHANGED, finish, shown_progress, stoppable
from webwinnow.crawl.crawling import crawl as crawl_sites
from webwinnow.crawl.crawling import is_killed_early, state_folder, stored_crawl
from webwinnow.crawl.follow import FollowAll, FollowKept
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.run.outputs import check_apart

PANEL = "Sites"

Follow = Literal["all", "kept"]


@opt.settings_options(CrawlSettings)
def crawl(
    context: typer.Context,
    starts: Annotated[
        list[str] | None, typer.Argument(metavar="URL...", help="Start pages, one for each site.")
    ] = None,
    out: Annotated[Path, opt.out("a WARC file, .warc.gz or .warc")] = Path("crawl.warc.gz"),
    follow: Annotated[
        Follow | None, opt.crawling("Links to follow: all, or those in blocks that cleaning keeps. [default: all]")
    ] = None,
    log: Annotated[
        Path | None, opt.writing("Also write the outcome of each URL, as JSONL.", callback=opt.written())
    ] = None,
    state: Annotated[Path | None, opt.running("Folder of the crawl's state; by default beside the output.")] = None,
    resume: opt.Resume = False,
    quiet: opt.Quiet = False,
    **_: Any,
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
    chosen = opt.Chosen(context, CrawlSettings)
    settings = chosen.settings(CrawlSettings)
    check_apart([], out, log)
    if resume and not (starts and is_killed_early(out, state)):
        before = stored_crawl(out, state)
        settings = chosen.settings(CrawlSettings, before.settings)
        follow = follow or ("kept" if before.follow == FollowKept.__name__ else "all")
    if settings.render == "never":
        chosen.refuse("without --render or --render=auto", "crawl.render_set")
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
