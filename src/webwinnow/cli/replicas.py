"""`webwinnow replicas`: which pages of a collection are replicas of which."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli.progress import shown_progress
from webwinnow.collection.settings import RunSettings
from webwinnow.commands.replicas import write_replicas
from webwinnow.methods import DEFAULT_METHOD, METHODS
from webwinnow.replicas import REPLICA_METHODS, ReplicaSettings
from webwinnow.urls import SiteKey

__all__ = ["replicas"]

_DEFAULTS = ReplicaSettings()


def replicas(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Pages (HTML, WARC, WACZ, JSONL, Parquet, folders, or -), or JSONL that webwinnow clean wrote.",
        ),
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the lines go: a file or -.")],
    method: Annotated[
        str, typer.Option(help=f"The fingerprint: {' or '.join(REPLICA_METHODS)} (MD5 of frequent words, DocView 5).")
    ] = _DEFAULTS.method,
    threshold: Annotated[
        float, typer.Option(help="modern: pages that share so much of what the shorter one says are replicas.")
    ] = _DEFAULTS.threshold,
    titles_apart: Annotated[
        float, typer.Option(help="modern: the same for pages of one site under different titles, of all they say.")
    ] = _DEFAULTS.titles_apart,
    percentage: Annotated[
        float, typer.Option(help="published: the share of a page's words that is looked at.")
    ] = _DEFAULTS.percentage,
    interval: Annotated[
        int, typer.Option(help="published: the number of words hashed is a multiple of this.")
    ] = _DEFAULTS.interval,
    clean: Annotated[
        str, typer.Option(help=f"How pages are cleaned first: {', '.join(METHODS)}; none compares all that is visible.")
    ] = DEFAULT_METHOD,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="jsonl or parquet; by the output's name if not given.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = 0,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Find replicas: one line for each page, with its cluster and, unless it is the copy that stays, `replica_of`.

    The copy that stays has the canonical address, else the shortest URL, the earliest date. Old versions of a page and
    pages of mirrors are told from other copies (`relation`). Exit code 1 if any page failed.

    Examples:

        webwinnow replicas crawl.warc.gz -o replicas.jsonl

        webwinnow replicas clean.jsonl -o replicas.jsonl --threshold 0.8

        webwinnow replicas crawl.parquet -o - --method published --clean none
    """
    settings = RunSettings(
        method=clean,
        site_by=SiteKey.parse(site_by),
        jobs=jobs,
        replicas=ReplicaSettings(
            method=method,
            threshold=threshold,
            titles_apart=titles_apart,
            percentage=percentage,
            interval=interval,
        ),
    )
    with shown_progress(quiet=quiet) as progress:
        summary = write_replicas(
            inputs, out, settings, format=format, tmp=tmp, on_progress=progress.update, on_problem=progress.note
        )
    if not quiet:
        told = summary.found_replicas.lines() if summary.found_replicas is not None else []
        head = (
            f"{summary.pages:,} pages of {summary.sites:,} sites in {summary.seconds:.1f} s, {summary.failed:,} failed"
        )
        sys.stderr.write("\n".join([head, *told]) + "\n")
    if summary.failed:
        raise typer.Exit(1)
