"""`webwinnow cluster`: the pages of a collection in groups, named, with a map."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli.progress import shown_progress
from webwinnow.collection.settings import RunSettings
from webwinnow.commands.cluster import (
    ClusteredCollection,
    check_clusters_output,
    cluster_collection,
    is_feature_file,
    write_clusters,
)
from webwinnow.errors import SettingsError
from webwinnow.io import check_apart, check_output
from webwinnow.io.outputs import STDOUT
from webwinnow.io.tablefiles import read_label_column
from webwinnow.platforms import cpu_count
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.urls import SiteKey
from webwinnow.vectors import VectorSettings

__all__ = ["cluster"]

_WEIGHTING = VectorSettings().weighting
LISTED = 10
"""Clusters that the summary tells of."""


def cluster(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Pages (HTML, WARC, WACZ, JSONL, Parquet, folders, or -), or one .npz of webwinnow features.",
        ),
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the lines go: a .jsonl, .csv or .parquet file, or -.")],
    k: Annotated[
        int | None, typer.Option("-k", "--clusters", min=1, help="Clusters; a number is suggested if not given.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Where the page to browse goes; OUT.html if not given, none with -o -.")
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no page to browse, and draw no map.")] = False,
    weighting: Annotated[
        str | None,
        typer.Option(
            help=f"How pages are weighed, as in webwinnow features, where an .npz was. [default: {_WEIGHTING}]"
        ),
    ] = None,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    label: Annotated[
        str | None,
        typer.Option(help="A column of the input (JSONL, Parquet) with the pages' classes, to compare with."),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="The file (JSONL, Parquet) that has this column, if it is not the input.")
    ] = None,
    runs: Annotated[int, typer.Option(min=1, help="Runs from other seeds, of which the best is taken.")] = 20,
    start: Annotated[str, typer.Option(help="The first centroids: k-means++ or random (thesis 5.1.1).")] = "k-means++",
    iterations: Annotated[int, typer.Option(min=1, help="At most so many in a run.")] = 30,
    mini_batch: Annotated[
        int | None, typer.Option(min=1, help="Pages in a mini-batch; none up to 50,000 pages, 10,000 beyond.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn at random.")] = 0,
    format: Annotated[
        str | None, typer.Option("--format", "-f", help="jsonl, csv or parquet; by the output's name if not given.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Worker processes and threads; 0 for one a core.")] = 0,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Cluster pages by what they say: one line for each page with its cluster, and a page to browse with a map.

    K-means by cosine over weighted words; what a site repeats weighs nothing. A cluster is named by the words that set
    it apart. A page without features is in no cluster, and its line says so. Exit code 1 if any page failed.

    Examples:

        webwinnow cluster crawl.warc.gz -k 8 -o clusters.jsonl

        webwinnow features crawl.warc.gz -o f.npz; webwinnow cluster f.npz -o clusters.csv

        webwinnow cluster shops.parquet -k 5 -o clusters.jsonl --site-by column --label make
    """
    from webwinnow.mining import ClusterSettings  # noqa: PLC0415 (an optional extra, and slow to load)
    from webwinnow.report.clusterreport import write_cluster_html  # noqa: PLC0415

    check_clusters_output(out, format)
    page = None if no_report else report if report is not None else None if out == STDOUT else Path(f"{out}.html")
    if page is not None:
        check_output(page, "jsonl")
    check_apart([*inputs, *([] if labels is None else [labels])], out, page)
    if weighting is not None and any(is_feature_file(given) for given in inputs):
        raise SettingsError("the pages of an .npz were weighed by webwinnow features; leave --weighting out")
    if labels is not None and label is None:
        raise SettingsError(f"--labels names {labels}, but not its column; give --label too")
    settings = RunSettings(method="none", site_by=SiteKey.parse(site_by), jobs=jobs, keep_trees=True)
    clusters = ClusterSettings(
        k=k,
        runs=runs,
        start=start,
        iterations=iterations,
        batch=mini_batch,
        seed=seed,
        jobs=jobs or cpu_count(),
        map=page is not None,
    )
    known = None if label is None else read_label_column(inputs if labels is None else [labels], label)
    with shown_progress(quiet=quiet) as progress:
        collection = cluster_collection(
            inputs,
            settings,
            VectorSettings(weighting=weighting or _WEIGHTING, weights=CstWeightSettings(mapped=True)),
            clusters,
            labels=known,
            tmp=tmp,
            on_progress=progress.update,
            on_problem=progress.note,
        )
        write_clusters(collection, out, format)
        if page is not None:
            write_cluster_html(collection, page)
    if not quiet:
        sys.stderr.write("\n".join(_summary(collection, page)) + "\n")
    if collection.failed:
        raise typer.Exit(1)


def _summary(collection: ClusteredCollection, page: Path | None) -> list[str]:
    found = collection.found
    told = [f"{len(collection.pages):,} pages in {len(found.clusters):,} clusters"]
    if found.suggestion is not None:
        told[0] += ", a number that was suggested; -k gives another"
    if found.asked > len(found.clusters):
        told.append(f"{found.asked - len(found.clusters):,} of {found.asked:,} clusters drew no page and are left out")
    if collection.without_features:
        told.append(f"{collection.without_features:,} pages have no features to compare and are in no cluster")
    if collection.failed:
        told.append(f"{collection.failed:,} pages failed")
    told += [f"  {n}: {c.size:,} pages: {c.name}" for n, c in enumerate(found.clusters[:LISTED], start=1)]
    if len(found.clusters) > LISTED:
        told.append(f"  and {len(found.clusters) - LISTED:,} more")
    if collection.agreement is not None:
        told.append(f"against {collection.labelled:,} labels: {collection.agreement}")
    if page is not None:
        told.append(f"to browse: {page}")
    return told
