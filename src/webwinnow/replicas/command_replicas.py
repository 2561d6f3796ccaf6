"""`webwinnow replicas`: near-duplicate pages of a collection."""

from __future__ import annotations

from typing import Annotated

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.counted import counted
from webwinnow.methods.registry import DEFAULT_METHOD
from webwinnow.page.urls import SiteKey
from webwinnow.replicas.run import write_replicas
from webwinnow.replicas.sketches import REPLICA_METHODS, ReplicaSettings
from webwinnow.run.settings import RunSettings

PANEL = "Mine"

_REPLICAS = ReplicaSettings()


def replicas(
    context: typer.Context,
    inputs: Annotated[list[str], opt.pages_argument("JSONL that webwinnow clean wrote")],
    out: Annotated[str, opt.out("a file, or - for standard output")],
    format: Annotated[str | None, opt.format("jsonl or parquet")] = None,
    fingerprint: Annotated[
        str, opt.setting(f"Fingerprint: {' or '.join(REPLICA_METHODS)} (DocView 5).")
    ] = _REPLICAS.method,
    threshold: Annotated[
        float, opt.setting("modern: share of the shorter page's text that two near-duplicates have in common.")
    ] = _REPLICAS.threshold,
    titles_apart: Annotated[
        float, opt.setting("modern: the same share for pages of one site with different titles.")
    ] = _REPLICAS.titles_apart,
    percentage: Annotated[
        float, opt.setting("published: share of a page's words that is compared.")
    ] = _REPLICAS.percentage,
    interval: Annotated[
        int, opt.setting("published: the number of words hashed is a multiple of this.")
    ] = _REPLICAS.interval,
    stop_words: opt.StopWords = None,
    method: opt.Method = DEFAULT_METHOD,
    set_: opt.Settings = None,
    site_by: opt.SiteBy = "host",
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
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
    others = ("percentage", "interval") if fingerprint == "modern" else ("threshold", "titles_apart")
    opt.check_read(context, f"--fingerprint {fingerprint}", *others)
    cleaning = opt.cleaning_settings(set_, stop_words=stop_words, method=method)
    known = {"method": fingerprint, "stop_words": cleaning.docview.stop_words}
    settings = RunSettings(
        method=method,
        cleaning=cleaning,
        site_by=SiteKey.parse(site_by),
        jobs=jobs,
        replicas=ReplicaSettings(**opt.fields_of(ReplicaSettings, locals()) | known),
    )
    with shown_progress(quiet=quiet) as progress:
        summary = write_replicas(inputs, out, settings, format=format, tmp=tmp, **progress.callbacks)
    pages, sites = counted(summary.pages, "page"), counted(summary.sites, "site")
    head = f"{pages} of {sites} in {summary.seconds:.1f} s, {summary.failed:,} failed"
    found = summary.findings["replicas"].lines()
    finish([head, *found], quiet=quiet, failed=summary.failed or progress.partial_inputs)
