"""`webwinnow crawl`: sites into a WARC file; and what `page` and `clean` need to take addresses."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, get_args

import typer

from webwinnow.cli.progress import ProgressShown, shown_progress
from webwinnow.crawl import AddressGuard, CrawlSettings, FollowAll, FollowKept, Route
from webwinnow.crawl import crawl as crawl_sites
from webwinnow.crawl.crawling import stored_crawl
from webwinnow.crawl.crawlsettings import USER_AGENT, ScopeKind
from webwinnow.errors import InputError
from webwinnow.io.outputs import STDOUT
from webwinnow.urls import is_web_link

__all__ = [
    "Allow",
    "AllowPrivate",
    "Resolve",
    "crawl",
    "crawled_inputs",
    "guard_of",
    "is_address",
    "page_settings",
    "scope_of",
]

_DEFAULTS = CrawlSettings()

Strategies = StrEnum("Strategies", ["random", "breadth"])
Scopes = StrEnum("Scopes", ["below", "host", "domain", "any"])
Followed = StrEnum("Followed", ["all", "kept"])
AllowPrivate = Annotated[
    bool,
    typer.Option("--allow-private", help="Allow private, loopback and link-local addresses: your own network."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(metavar="NETWORK", help="Allow the addresses of this network, and no other private ones."),
]
Resolve = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOST=ADDRESS[:PORT]",
        help="Connect there for this host, in place of what its name resolves to; HOST may begin with '*.'.",
    ),
]


def crawl(
    starts: Annotated[
        list[str] | None, typer.Argument(metavar="URL...", help="Start pages: each begins a site.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The WARC file to write: a name that ends in .warc.gz or .warc.")
    ] = Path("crawl.warc.gz"),
    pages: Annotated[int, typer.Option(help="Pages to store of each site.")] = _DEFAULTS.pages,
    strategy: Annotated[
        Strategies, typer.Option(help="Next page: drawn at random from those known, or nearest to the start page.")
    ] = Strategies.random,
    seed: Annotated[int, typer.Option(help="What the random draws begin with.")] = _DEFAULTS.seed,
    scope: Annotated[
        Scopes, typer.Option(help="Pages below the start page's folder, of its host, of its domain, or any.")
    ] = Scopes.below,
    follow: Annotated[
        Followed | None,
        typer.Option(
            help="Follow all links, or those in blocks that cleaning keeps, learned on the way. [default: all]"
        ),
    ] = None,
    depth: Annotated[int | None, typer.Option(help="Links away from the start page at most.")] = None,
    delay: Annotated[
        float, typer.Option(help="Seconds between requests to a host; robots.txt may ask for more.")
    ] = _DEFAULTS.delay,
    hosts: Annotated[int, typer.Option(help="Hosts to read from at the same time.")] = _DEFAULTS.hosts,
    retries: Annotated[int, typer.Option(help="Further attempts at a page that did not come.")] = _DEFAULTS.retries,
    backoff: Annotated[
        float, typer.Option(help="Seconds that a host is left alone after a failure, doubled with each.")
    ] = _DEFAULTS.backoff,
    timeout: Annotated[float, typer.Option(help="Seconds of silence after which to give up.")] = _DEFAULTS.timeout,
    page_seconds: Annotated[float, typer.Option(help="Seconds for one page at most.")] = _DEFAULTS.page_seconds,
    max_size: Annotated[int, typer.Option(help="Bytes of a page at most, as sent and unpacked.")] = _DEFAULTS.max_size,
    max_bytes: Annotated[int | None, typer.Option(help="Bytes to receive in all; then the crawl stops.")] = None,
    time: Annotated[float | None, typer.Option(help="Seconds in all; then the crawl stops.")] = None,
    robots: Annotated[bool, typer.Option(help="Obey robots.txt.")] = True,
    user_agent: Annotated[str, typer.Option(help="What to call ourselves.")] = USER_AGENT,
    allow_private: AllowPrivate = False,
    allow: Allow = None,
    resolve: Resolve = None,
    log: Annotated[Path | None, typer.Option(help="Write what became of each address, as JSONL.")] = None,
    state: Annotated[
        Path | None, typer.Option(help="Keep what a killed crawl needs here, for good; beside the output otherwise.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a crawl that was killed or stopped.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Crawl sites into a WARC file: up to 500 pages of each, drawn at random, below the start page, politely.

    Each page is stored once, with its request and response as they were sent. Exit code 1 if nothing could be stored.

    Examples:

        webwinnow crawl https://example.org/docs/ -o docs.warc.gz

        webwinnow crawl https://a.example https://b.example -o two.warc.gz --pages 100 --strategy breadth --depth 3

        webwinnow crawl https://example.org/ -o site.warc.gz --follow kept --log fates.jsonl

        webwinnow crawl -o docs.warc.gz --resume

    With --resume, options that are not given are as they were.
    """
    settings = CrawlSettings(
        pages=pages,
        strategy="random" if strategy is Strategies.random else "breadth",
        seed=seed,
        scope=scope_of(scope),
        depth=depth,
        delay=delay,
        hosts=hosts,
        retries=retries,
        backoff=backoff,
        timeout=timeout,
        page_seconds=page_seconds,
        max_size=max_size,
        max_bytes=max_bytes,
        seconds=time,
        robots=robots,
        user_agent=user_agent,
        guard=guard_of(allow_private, allow, resolve),
    )
    if resume:
        before = stored_crawl(out, state)
        settings = _as_before(settings, before.settings)
        follow = follow or (Followed.kept if before.follow == FollowKept.__name__ else Followed.all)
    try:
        with shown_progress(quiet=quiet) as progress:
            summary = crawl_sites(
                starts or [],
                out,
                settings,
                follow=FollowKept() if follow is Followed.kept else FollowAll(),
                resume=resume,
                state=state,
                log=log,
                on_progress=progress.update,
                on_problem=progress.note,
            )
    except KeyboardInterrupt:
        sys.stderr.write(f"webwinnow: stopped; {out} holds what was fetched; the same command with --resume goes on\n")
        raise typer.Exit(130) from None
    if not quiet:
        sys.stderr.write("\n".join(summary.lines()) + "\n")
        if not summary.finished:
            sys.stderr.write("  the same command with --resume goes on\n")
    if not summary.stored:
        raise typer.Exit(1)


def _as_before(given: CrawlSettings, before: CrawlSettings) -> CrawlSettings:
    """The settings of a crawl that goes on: as they were, where no other was given."""
    names = [field.name for field in fields(CrawlSettings)]
    return replace(
        before, **{name: value for name in names if (value := getattr(given, name)) != getattr(_DEFAULTS, name)}
    )


def scope_of(scope: Scopes) -> ScopeKind:
    """The option as the settings have it."""
    return next(kind for kind in get_args(ScopeKind) if kind == scope)


def is_address(given: str) -> bool:
    """Whether an input is an address on the web rather than a file."""
    return is_web_link(given)


def guard_of(allow_private: bool, allow: list[str] | None, resolve: list[str] | None) -> AddressGuard:
    """The guard that the options ask for."""
    routes = tuple(Route.parse(text) for text in resolve or ())
    return AddressGuard(allow_private=allow_private, allow=tuple(allow or ()), routes=routes)


@contextmanager
def crawled_inputs(
    inputs: list[str], out: str, settings: CrawlSettings, progress: ProgressShown, *, resume: bool
) -> Iterator[list[str]]:
    """The inputs with the WARC file of a crawl in place of addresses: beside the output, where it stays, unless the
    output is standard output.

    With `resume` a crawl that was cut off goes on, and one that had finished is not made again.
    """
    starts = [given for given in inputs if is_address(given)]
    if not starts:
        yield inputs
        return
    with ExitStack() as folders:
        if out == STDOUT:
            warc = Path(folders.enter_context(tempfile.TemporaryDirectory(prefix="webwinnow-"))) / "crawl.warc.gz"
        else:
            warc = Path(out).with_name(f"{Path(out).name}.warc.gz")
        unfinished = warc.with_name(f".{warc.name}.webwinnow-crawl").is_dir()
        if not resume or unfinished or not warc.exists():
            _crawl_all(starts, warc, settings, progress, resume=resume and unfinished)
        yield [str(warc), *(given for given in inputs if not is_address(given))]


def _crawl_all(
    starts: list[str], warc: Path, settings: CrawlSettings, progress: ProgressShown, *, resume: bool
) -> None:
    found = crawl_sites(starts, warc, settings, resume=resume, on_progress=progress.update, on_problem=progress.note)
    if not found.stored:
        why = ", ".join(f"{reason} ({count:,})" for _, reason, count in found.reasons) or found.ended
        raise InputError(f"{' '.join(starts)}: no page could be had: {why}")


def page_settings(guard: AddressGuard, max_size: int) -> CrawlSettings:
    """How one page is fetched."""
    return replace(_DEFAULTS, guard=guard, max_size=max(1, max_size), retries=1)
