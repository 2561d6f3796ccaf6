"""`webwinnow sites`: learn the topics of whole sites, and tell those of others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli.progress import shown_progress
from webwinnow.io import check_output
from webwinnow.io.sinks import whole_file
from webwinnow.pipeline import RunSettings
from webwinnow.pipeline.sites import SITE_PAGES, SiteRun, classify_sites, train_sites
from webwinnow.sitemining.topics import DEFAULT_METHOD, METHODS, SiteTopics
from webwinnow.urls import SiteKey

__all__ = ["sites"]

sites = typer.Typer(help="Learn the topics of whole sites, and tell those of others.", no_args_is_help=True)


@sites.callback()
def _sites() -> None:
    """Learn the topics of whole sites, and tell those of others."""


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
    with whole_file(out.resolve()) as file:
        file.write(model.to_bytes())
    if not quiet:
        sys.stderr.write(_told(run, "learned"))
        if run.unlabelled:
            sys.stderr.write(f"{len(run.unlabelled):,} sites without a topic: {', '.join(run.unlabelled[:5])}\n")
    if run.failed:
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
