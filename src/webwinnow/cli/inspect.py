"""`webwinnow inspect`: see what was kept and what went, and why, in one HTML page."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli.progress import shown_progress
from webwinnow.methods import METHODS
from webwinnow.parsing import ParseLimits
from webwinnow.report import ReportSettings, write_report
from webwinnow.urls import SiteKey

__all__ = ["inspect"]

_DEFAULTS = ReportSettings()


def inspect(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="HTML, WARC, WACZ, JSONL or Parquet files, folders, or -.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the report goes: an HTML file.")],
    methods: Annotated[
        str, typer.Option(help=f"Methods to compare, the first two side by side at first: {', '.join(METHODS)}.")
    ] = ",".join(_DEFAULTS.methods),
    pages: Annotated[
        int, typer.Option(min=1, help="Sample pages in all, shared out among the sites.")
    ] = _DEFAULTS.pages,
    site: Annotated[list[str] | None, typer.Option(help="Show this site only; may be given again.")] = None,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = _DEFAULTS.jobs,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    max_bytes: Annotated[int, typer.Option(help="Refuse pages that are longer.")] = ParseLimits().max_bytes,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Show a crawl's sites and a sample of their pages, what stayed, what went and why, in one HTML page.

    The page needs no network and runs nothing of what it shows. Turn a method's dial and see what changes; the page
    says the command line for it.

    Examples:

        webwinnow inspect crawl.warc.gz -o report.html

        webwinnow inspect crawl.warc.gz -o report.html --methods combined,sst,repeated --site www.example.org
    """
    settings = ReportSettings(
        methods=tuple(name.strip() for name in methods.split(",") if name.strip()),
        pages=pages,
        sites=tuple(site or ()),
        site_by=SiteKey.parse(site_by),
        limits=ParseLimits(max_bytes=max_bytes),
        jobs=jobs,
    )
    with shown_progress(quiet=quiet) as progress:
        found = write_report(inputs, out, settings, tmp=tmp, on_progress=progress.update, on_problem=progress.note)
    if not quiet:
        left_out = f"; {found.left_out:,} pages left out for want of room" if found.left_out else ""
        sys.stderr.write(
            f"{found.pages:,} pages of {found.sites:,} sites in {out}, {found.size / 1e6:.1f} MB{left_out}\n"
        )
    if found.failed:
        sys.stderr.write(f"webwinnow: {found.failed:,} pages could not be read\n")
