"""`webwinnow cluster`: pages grouped by subject."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.cluster.settings import DEFAULT_WEIGHTING, ClusterSettings
from webwinnow.counted import counted
from webwinnow.errors import SettingsError
from webwinnow.features.options import WeightingUnlessGiven, WeightSettings, weight_settings
from webwinnow.features.vectors import VectorSettings
from webwinnow.run.outputs import STDOUT, check_apart, check_output, write_bytes
from webwinnow.run.tablefiles import read_label_column

if TYPE_CHECKING:
    from webwinnow.cluster.run import ClusteredCollection

PANEL = "Mine"

LISTED_CLUSTERS = 10
"""Clusters that the summary names."""


def cluster(
    context: typer.Context,
    inputs: Annotated[list[str], opt.pages_argument("one .npz file of webwinnow features")],
    out: Annotated[str, opt.out("a .jsonl, .csv or .parquet file, or - for standard output")],
    k: Annotated[
        int | None, opt.setting("Number of clusters; suggested if not given.", "-k", "--clusters", min=1)
    ] = None,
    format: Annotated[str | None, opt.format("jsonl, csv or parquet")] = None,
    report: Annotated[Path | None, opt.report(", with a map; by default OUT.html, and none with -o -")] = None,
    no_report: Annotated[bool, opt.writing("Write no report.", "--no-report")] = False,
    topics: Annotated[
        Path | None,
        opt.writing(
            "Also write the clusters with their terms, hierarchy and pages over time, as JSON.", callback=opt.written()
        ),
    ] = None,
    groups: Annotated[
        int | None, opt.writing("Cut the hierarchy into this many groups of clusters: adds group, group_name.", min=1)
    ] = None,
    label: Annotated[str | None, opt.label(", to compare the clusters with")] = None,
    labels: opt.Labels = None,
    weighting: WeightingUnlessGiven = None,
    algorithm: Annotated[
        str, opt.setting("k-means, every page in a cluster; or hdbscan, where pages between clusters are outliers.")
    ] = "k-means",
    directions: Annotated[
        int, opt.setting("Latent semantic directions to cluster in; 0 for the words themselves.", min=0)
    ] = 50,
    least_pages: Annotated[
        int | None,
        opt.setting("hdbscan: pages of a cluster, at least. [default: half the root of all]", "--min-pages", min=2),
    ] = None,
    set_: WeightSettings = None,
    stop_words: opt.StopWords = None,
    site_by: opt.SiteBy = "host",
    runs: Annotated[int, opt.runs("from different seeds, of which the best is kept")] = 20,
    start: Annotated[str, opt.setting("First centroids: k-means++ or random (thesis 5.1.1).")] = "k-means++",
    iterations: Annotated[int, opt.setting("Iterations of a run, at most.", min=1)] = 30,
    batch: Annotated[
        int | None, opt.setting("Pages in a mini-batch, used above 50,000 pages.", "--mini-batch", min=1)
    ] = None,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """Cluster pages by subject: one line per page with its cluster, and an HTML page with a map to browse.

    Pages are cleaned; their words are weighted so that subjects count and sites do not (--weighting topic), reduced to
    latent semantic directions, and clustered by cosine. A cluster is named by the words and phrases that distinguish
    it. A page without features is in no cluster, and its line says so. Exit code 1 if any page failed.

    Examples:

        webwinnow cluster crawl.warc.gz -k 8 -o clusters.jsonl
        webwinnow cluster crawl.warc.gz -o clusters.jsonl --algorithm hdbscan --groups 5 --topics topics.json
        webwinnow features crawl.warc.gz -o f.npz; webwinnow cluster f.npz -o clusters.csv
        webwinnow cluster shops.parquet -k 5 -o clusters.jsonl --site-by column --label make
    """
    from webwinnow.cluster.report import write_cluster_html  # noqa: PLC0415 (an optional extra, and slow to load)
    from webwinnow.cluster.run import (  # noqa: PLC0415
        check_clusters_output,
        cluster_collection,
        is_feature_file,
        write_clusters,
    )

    ignored = ("runs", "start", "iterations", "batch") if algorithm == "hdbscan" else ("least_pages",)
    opt.check_read(context, f"--algorithm {algorithm}", *ignored)
    check_clusters_output(out, format)
    page = None if no_report else report if report is not None else None if out == STDOUT else Path(f"{out}.html")
    if page is not None:
        check_output(page, "jsonl")
    if topics is not None:
        check_output(topics, "jsonl")
    check_apart([*inputs, *([] if labels is None else [labels])], out, page, topics)
    if any(is_feature_file(given) for given in inputs):
        if weighting is not None or set_:
            raise SettingsError("the pages of an .npz file are weighted already; leave --weighting and --set out")
        if stop_words is not None:
            raise SettingsError("an .npz file has its words already; give --stop-words to webwinnow features")
    if labels is not None and label is None:
        raise SettingsError(f"--labels names {labels}, but not its column; give --label too")
    settings = opt.parsing_settings(site_by, jobs)
    given = opt.fields_of(ClusterSettings, locals())
    clusters = ClusterSettings(**given | {"jobs": settings.workers, "map": page is not None})
    known = None if label is None else read_label_column(inputs if labels is None else [labels], label)
    vectors = VectorSettings(
        weighting=weighting or DEFAULT_WEIGHTING,
        stop_list=opt.stop_list(stop_words),
        weights=weight_settings(set_, weighting or DEFAULT_WEIGHTING),
    )
    with shown_progress(quiet=quiet) as progress:
        collection = cluster_collection(
            inputs, settings, vectors, clusters, labels=known, tmp=tmp, **progress.callbacks
        )
        fewer = None if groups is None else min(groups, len(collection.found.clusters))
        write_clusters(collection, out, format, groups=fewer)
        if topics is not None:
            write_bytes(topics, json.dumps(collection.to_plain(), indent=1, ensure_ascii=False).encode() + b"\n")
        if page is not None:
            write_cluster_html(collection, page)
    finish(_clusters_summary(collection, page), quiet=quiet, failed=collection.failed or progress.partial_inputs)


def _clusters_summary(collection: ClusteredCollection, page: Path | None) -> list[str]:
    found = collection.found
    lines = [f"{counted(len(collection.pages), 'page')} in {counted(len(found.clusters), 'cluster')}"]
    if found.suggestion is not None:
        lines[0] += ", a number that was suggested; -k gives another"
        if not found.suggestion.stands_out:
            most = max(found.suggestion.trials)
            lines.append(f"no number of clusters from 2 to {most:,} stands out; -k gives one that suits you")
    if found.wanted > len(found.clusters) and found.algorithm == "hdbscan":
        lines.append(f"fewer than {counted(found.wanted, 'cluster')}: hdbscan found no more; a lower --min-pages may")
    elif found.wanted > len(found.clusters):
        empty = found.wanted - len(found.clusters)
        rest = "is left out" if empty == 1 else "are left out"
        lines.append(f"{empty:,} of {counted(found.wanted, 'cluster')} got no page and {rest}")
    if collection.outliers:
        lines.append(f"{counted(collection.outliers, 'page is an outlier', 'pages are outliers')}, in no cluster")
    if collection.without_features:
        one, many = "page has no features to compare and is", "pages have no features to compare and are"
        lines.append(f"{counted(collection.without_features, one, many)} in no cluster")
    if collection.failed:
        lines.append(f"{counted(collection.failed, 'page')} failed")
    listed = enumerate(found.clusters[:LISTED_CLUSTERS], start=1)
    lines += [f"  {n}: {counted(c.size, 'page')}: {c.name}" for n, c in listed]
    if len(found.clusters) > LISTED_CLUSTERS:
        lines.append(f"  and {len(found.clusters) - LISTED_CLUSTERS:,} more")
    if collection.agreement is not None:
        lines.append(f"against {counted(collection.labelled, 'label')}: {collection.agreement}")
    if page is not None:
        lines.append(f"to browse: {page}")
    return lines
