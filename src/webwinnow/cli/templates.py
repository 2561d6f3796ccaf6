"""`webwinnow templates`: the templates of a whole collection."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli.progress import shown_progress
from webwinnow.collection.settings import RunSettings
from webwinnow.commands.templates import list_templates
from webwinnow.urls import SiteKey

__all__ = ["templates"]

Detection = StrEnum("Detection", {"global_": "global", "local": "local"})


def templates(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="HTML, WARC, WACZ, JSONL or Parquet files, folders, or -.")
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the list goes, JSONL; - for standard output.")],
    detection: Annotated[
        Detection, typer.Option(help="global: pages must be linked with one another; local: they need not.")
    ] = Detection.global_,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = 0,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """List the templates of a whole collection (Bar-Yossef and Rajagopalan, 2002): pagelets that linked pages share.

    Sites do not matter: pages of several hosts that link to one another may share a template. One line a template,
    those of most pages first, with the pages that have it; `clean --method template --templates` drops them.

    Examples:

        webwinnow templates crawl.warc.gz -o templates.jsonl

        webwinnow clean crawl.warc.gz --method template --templates templates.jsonl -o clean.jsonl
    """
    settings = RunSettings(method="none", site_by=SiteKey.parse(site_by), jobs=jobs, keep_trees=True)
    with shown_progress(quiet=quiet) as progress:
        listed = list_templates(
            inputs,
            out,
            settings,
            linked=detection is Detection.global_,
            tmp=tmp,
            on_progress=progress.update,
            on_problem=progress.note,
        )
    if not quiet:
        sys.stderr.write(
            f"{listed.templates:,} templates on {listed.with_templates:,} of {listed.pages:,} pages; "
            f"{listed.failed:,} pages failed\n"
        )
    if listed.failed:
        raise typer.Exit(1)
