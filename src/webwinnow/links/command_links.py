"""`webwinnow links`: the link graph of a collection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.counted import counted
from webwinnow.judge.tasks import task_of
from webwinnow.links.edges import STRUCTURE
from webwinnow.links.stage_links import KEPT, REMOVED
from webwinnow.methods.registry import DEFAULT_METHOD
from webwinnow.page.urls import SiteKey
from webwinnow.run.cleaning import run
from webwinnow.run.settings import RunSettings
from webwinnow.site.modelstore import open_models

PANEL = "Mine"


def links(
    context: typer.Context,
    inputs: opt.Inputs,
    out: Annotated[str, opt.out("a .jsonl, .csv, .parquet, .graphml or .edges file, or - for standard output")],
    format: Annotated[str | None, opt.format("jsonl, csv, parquet, graphml or edges")] = None,
    every: Annotated[bool, opt.writing("Write removed links too; `kept` marks the others.", "--all")] = False,
    method: opt.Method = DEFAULT_METHOD,
    task: opt.Task = STRUCTURE,
    models: opt.Models = None,
    set_: opt.Settings = None,
    site_by: opt.SiteBy = "host",
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Export the link graph without the links of menus, footers and advertisements; `webwinnow rank` ranks its pages.

    One line per link: source, target (canonical URLs), anchor, kind of the region it is in, score, kept, page_id,
    site; in the order (site, input, place on the page).

    Examples:

        webwinnow links crawl.warc.gz -o links.jsonl
        webwinnow links crawl.parquet -o links.parquet --all --site-by domain
        webwinnow links crawl.warc.gz -o links.graphml
        webwinnow links crawl.warc.gz -o - --format edges | sort | uniq -c

    GraphML is for Gephi, NetworkX and igraph; edges is an edge list, one source and target per line with a tab between.
    """
    opt.check_learns(context, method)
    settings = link_settings("all" if every else "kept", method, set_, site_by, models, task, jobs)
    with shown_progress(quiet=quiet) as progress:
        summary = run(inputs, out, settings, format=format, resumable=False, tmp=tmp, **progress.callbacks)
    pages, failed = counted(summary.pages, "page"), counted(summary.failed, "page")
    lines = [f"links of {pages} of {counted(summary.sites, 'site')}; {failed} failed"]
    for what, table in (("kept", KEPT), ("removed", REMOVED)):
        found = summary.counts.tallies.get(table, {})
        kinds = sorted(found.items(), key=lambda kind: (-kind[1], kind[0]))
        listed = ", ".join(f"{kind} {number:,}" for kind, number in kinds)
        lines.append(f"  {what}: {counted(sum(found.values()), 'link')}{f' ({listed})' if listed else ''}")
    finish(lines, quiet=quiet, failed=summary.failed or progress.partial_inputs)


def link_settings(
    links: str, method: str, set_: list[str] | None, site_by: str, models: Path | None, task: str, jobs: int
) -> RunSettings:
    """The settings of a run whose records are links."""
    return RunSettings(
        method=method,
        cleaning=opt.cleaning_settings(set_, method=method),
        site_by=SiteKey.parse(site_by),
        models=None if models is None else str(open_models(models).path.absolute()),
        task=task_of(task),
        links=links,
        replicas=None,
        jobs=jobs,
    )
