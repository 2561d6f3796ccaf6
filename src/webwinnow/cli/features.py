"""`webwinnow features`: a collection to weighted feature vectors."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli.progress import shown_progress
from webwinnow.collection.settings import RunSettings
from webwinnow.commands.features import write_features
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.urls import SiteKey
from webwinnow.vectors import FEATURE_KINDS, VectorSettings

__all__ = ["features"]


def features(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="HTML, WARC, WACZ, JSONL or Parquet files, folders, or -.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the matrix goes, an .npz file.")],
    weighting: Annotated[
        str,
        typer.Option(help="cst: what its site makes of a feature; wplus: and what all sites do; tfidf: counts."),
    ] = "cst",
    mapped: Annotated[
        bool, typer.Option(help="Weigh as MapCST does (thesis 4.3.3) rather than exactly (5-10).")
    ] = True,
    kinds: Annotated[str, typer.Option(help=f"Features to write, of {','.join(FEATURE_KINDS)}.")] = "words",
    all_words: Annotated[
        bool, typer.Option("--all-words", help="Keep stop words, numbers and single letters.")
    ] = False,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = 0,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Write weighted features of a collection: a sparse matrix, a row a page, weighted by the page's own site.

    The compressed structure tree of a site says how much each word tells in its place: words that the site repeats
    weigh nothing. The file holds data, indices, indptr and shape (CSR), page_ids and vocabulary.

    Example:

        webwinnow features crawl.warc.gz -o features.npz
    """
    settings = RunSettings(method="none", site_by=SiteKey.parse(site_by), jobs=jobs, keep_trees=True)
    vectors = VectorSettings(
        kinds=tuple(kind.strip() for kind in kinds.split(",")),
        stop_words=not all_words,
        weighting=weighting,
        weights=CstWeightSettings(mapped=mapped),
    )
    with shown_progress(quiet=quiet) as progress:
        pages, columns, failed = write_features(
            inputs, out, settings, vectors, tmp=tmp, on_progress=progress.update, on_problem=progress.note
        )
    if not quiet:
        sys.stderr.write(f"{pages:,} pages, {columns:,} features, {failed:,} pages failed\n")
    if failed:
        raise typer.Exit(1)
