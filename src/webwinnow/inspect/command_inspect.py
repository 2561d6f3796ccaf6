"""`webwinnow inspect`: the report on a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.counted import counted
from webwinnow.inspect.inspector import ReportSettings, write_report
from webwinnow.methods.registry import method_names
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.urls import SiteKey

PANEL = "Inspect"

_DEFAULTS = ReportSettings()


def inspect(
    inputs: opt.Inputs,
    out: Annotated[Path, opt.out("an .html file, or - for standard output", callback=opt.written(".html"))],
    methods: Annotated[
        str, opt.methods(f"{', '.join(method_names())}; the first two are shown side by side")
    ] = ",".join(_DEFAULTS.methods),
    sample: Annotated[int, opt.reading("Sample pages in all, divided among the sites.", min=1)] = _DEFAULTS.pages,
    site: Annotated[list[str] | None, opt.site("; repeatable")] = None,
    site_by: opt.SiteBy = "host",
    max_bytes: opt.MaxBytes = opt.MAX_BYTES,
    jobs: opt.Jobs = _DEFAULTS.jobs,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Show the sites of a crawl and a sample of their pages, what is kept, what is removed and why, in one HTML page.

    The page needs no network and runs no script of the pages it shows. Move a method's slider to see what changes; the
    page shows the command line for it. Exit code 1 if any page failed.

    Examples:

        webwinnow inspect crawl.warc.gz -o report.html
        webwinnow inspect crawl.warc.gz -o report.html --methods combined,sst,repeated --site www.example.org
    """
    settings = ReportSettings(
        methods=opt.names_in(methods),
        pages=sample,
        sites=tuple(site or ()),
        site_by=SiteKey.parse(site_by),
        limits=ParseLimits(max_bytes=max_bytes),
        jobs=jobs,
    )
    with shown_progress(quiet=quiet) as progress:
        found = write_report(inputs, out, settings, tmp=tmp, **progress.callbacks)
    left_out = f"; {counted(found.left_out, 'page')} left out, the report is full" if found.left_out else ""
    failed = f"; {counted(found.failed, 'page')} failed" if found.failed else ""
    shown = f"{counted(found.pages, 'page')} of {counted(found.sites, 'site')}"
    lines = [f"{shown} in {out}, {found.size / 1e6:.1f} MB{left_out}{failed}"]
    finish(lines, quiet=quiet, failed=found.failed or progress.partial_inputs)
