"""`webwinnow links`: a collection to its cleaned link graph."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cleaning.tasks import TASKS, task_of
from webwinnow.cli.progress import shown_progress
from webwinnow.commands import RunSettings, run
from webwinnow.links import STRUCTURE
from webwinnow.methods import DEFAULT_METHOD, METHODS
from webwinnow.site.modelstore import open_models
from webwinnow.urls import SiteKey

__all__ = ["links"]


def links(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="HTML, WARC, WACZ, JSONL or Parquet files, folders, or -.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the links go: a .jsonl, .csv or .parquet file, or -.")],
    task: Annotated[str, typer.Option(help=f"Whose kinds of links count: {', '.join(TASKS)}, or a file.")] = STRUCTURE,
    every: Annotated[bool, typer.Option("--all", help="Write the links that do not count too; `kept` tells.")] = False,
    method: Annotated[str, typer.Option(help=f"How to clean: {', '.join(METHODS)}.")] = DEFAULT_METHOD,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    models: Annotated[
        Path | None, typer.Option(help="Clean with the models of this folder or table (webwinnow learn).")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = 0,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Export the link graph without the links of menus, footers and advertisements, ready for PageRank or HITS.

    One line a link: source, target (canonical addresses), anchor, kind of the region it stands in, score, kept,
    page_id, site; in the order (site, input, place on the page).

    Examples:

        webwinnow links crawl.warc.gz -o links.jsonl

        webwinnow links crawl.parquet -o links.parquet --all --site-by domain
    """
    settings = RunSettings(
        method=method,
        site_by=SiteKey.parse(site_by),
        models=None if models is None else str(open_models(models).path.absolute()),
        task=task_of(task),
        links="all" if every else "kept",
        replicas=None,
        jobs=jobs,
    )
    with shown_progress(quiet=quiet) as progress:
        summary = run(inputs, out, settings, tmp=tmp, on_progress=progress.update, on_problem=progress.note)
    if not quiet:
        told = f"links of {summary.pages:,} pages of {summary.sites:,} sites; {summary.failed:,} pages failed"
        sys.stderr.write(told + "\n")
    if summary.failed:
        raise typer.Exit(1)
