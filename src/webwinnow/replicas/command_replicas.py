"""`webwinnow replicas`: near-duplicate pages of a collection."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.counted import counted
from webwinnow.methods.registry import DEFAULT_METHOD
from webwinnow.page.urls import SiteKey
from webwinnow.replicas.run import write_replicas
from webwinnow.replicas.sketches import ReplicaSettings
from webwinnow.run.settings import RunSettings

PANEL = "Mine"


@opt.settings_options(ReplicaSettings)
def replicas(
    context: typer.Context,
    inputs: Annotated[list[str], opt.pages_argument("JSONL that webwinnow clean wrote")],
    out: Annotated[str, opt.out("a file, or - for standard output")],
    format: Annotated[str | None, opt.format("jsonl or parquet")] = None,
    stop_words: opt.StopWords = None,
    method: opt.Method = DEFAULT_METHOD,
    set_: opt.Settings = None,
    site_by: opt.SiteBy = "host",
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
    **_: Any,
) -> None:
    """Find near-duplicates: one line per page, with its cluster and, unless it is the copy to keep, `replica_of`.

    The copy to keep has the canonical URL, else the shortest URL, then the earliest date. `relation` distinguishes old
    versions of a page and pages of mirrors from other copies. Pages are cleaned first; with --method none all visible
    text is compared. Exit code 1 if any page failed.

    Examples:

        webwinnow replicas crawl.warc.gz -o replicas.jsonl
        webwinnow replicas clean.jsonl -o replicas.jsonl --threshold 0.8
        webwinnow replicas crawl.parquet -o - --fingerprint published --method docview
    """
    cleaning = opt.cleaning_settings(set_, stop_words=stop_words, method=method)
    chosen = opt.Chosen(context, ReplicaSettings)
    finding = chosen.settings(ReplicaSettings, stop_words=cleaning.docview.stop_words)
    others = "percentage interval" if finding.method == "modern" else "threshold titles_apart"
    chosen.refuse(f"with --fingerprint {finding.method}", *(f"replicas.{name}" for name in others.split()))
    settings = RunSettings(
        method=method,
        cleaning=cleaning,
        site_by=SiteKey.parse(site_by),
        jobs=jobs,
        replicas=finding,
    )
    with shown_progress(quiet=quiet) as progress:
        summary = write_replicas(inputs, out, settings, format=format, tmp=tmp, **progress.callbacks)
    pages, sites = counted(summary.pages, "page"), counted(summary.sites, "site")
    head = f"{pages} of {sites} in {summary.seconds:.1f} s, {summary.failed:,} failed"
    found = summary.findings["replicas"].lines()
    finish([head, *found], quiet=quiet, failed=summary.failed or progress.partial_inputs)
