"""`webwinnow experiment`: the papers' experiments on labelled pages."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cleaning import DEFAULT_METHOD, METHODS
from webwinnow.cli.progress import shown_progress
from webwinnow.errors import InputError
from webwinnow.experiments.labelled import read_rows, telling_texts
from webwinnow.experiments.replicas import Pair, replica_experiment
from webwinnow.experiments.search import search_experiment, search_table
from webwinnow.io.sinks import whole_file
from webwinnow.io.written import read_records
from webwinnow.urls import SiteKey

__all__ = ["experiment"]

experiment = typer.Typer(help="Run the papers' experiments on labelled pages.", no_args_is_help=True)


@experiment.callback()
def _experiment() -> None:
    """Run the papers' experiments on labelled pages."""


@experiment.command()
def replicas(
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="Labelled pairs (Parquet, JSONL): page_a, page_b, replica, kind.")
    ],
    pages: Annotated[Path, typer.Argument(metavar="PAGES", help="The pages that they name, with page_id.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for replicas.json and replicas.md.")],
    clean: Annotated[
        str, typer.Option(help=f"The cleaning to compare with none: {', '.join(METHODS)}.")
    ] = DEFAULT_METHOD,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, and no tables on stderr.")] = False,
) -> None:
    """Hits and errors of each fingerprint, with and without cleaning (DocView 7.2, Table 2).

    Example:

        webwinnow experiment replicas replicas-pairs.parquet replicas.parquet -o results
    """
    rows = read_rows(pairs, ("page_a", "page_b", "replica", "kind"))
    labelled = [Pair(str(r["page_a"]), str(r["page_b"]), bool(r["replica"]), str(r["kind"])) for r in rows]
    if not any(pair.replica for pair in labelled):
        raise InputError(f"{pairs}: no pair of replicas is in there")
    wanted = {page for pair in labelled for page in (pair.page_a, pair.page_b)}
    key = SiteKey.parse(site_by)
    with shown_progress(quiet=quiet) as progress:
        texts = {
            cleaning: telling_texts(pages, wanted, cleaning=cleaning, site_by=key, on_progress=progress.update)
            for cleaning in dict.fromkeys(("none", clean))
        }
    results = replica_experiment(labelled, texts)
    out.mkdir(parents=True, exist_ok=True)
    with whole_file(out.resolve() / "replicas.json") as file:
        file.write(json.dumps(results.to_plain(), indent=1).encode() + b"\n")
    with whole_file(out.resolve() / "replicas.md") as file:
        file.write(results.to_markdown().encode())
    if not quiet:
        sys.stderr.write(results.to_markdown())


@experiment.command()
def search(
    records: Annotated[
        list[Path], typer.Argument(metavar="RECORDS...", help="Records that webwinnow clean wrote, with abstracts.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for search.json and search.md.")],
    queries: Annotated[int, typer.Option(min=1, help="Titles to ask for, at most.")] = 1000,
    seed: Annotated[int, typer.Option(help="By which they are drawn.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, and no tables on stderr.")] = False,
) -> None:
    """Known-item search in the abstract index, the full-text index and both (DocView 7.3, Table 3).

    A title that one page alone has is the query, that page the answer.

    Example:

        webwinnow experiment search clean.jsonl -o results
    """
    out.mkdir(parents=True, exist_ok=True)
    with shown_progress(quiet=quiet) as progress, tempfile.TemporaryDirectory(dir=out) as folder:
        results = search_experiment(
            lambda: read_records(records, on_problem=progress.note),
            Path(folder) / "index",
            most=queries,
            seed=seed,
            on_progress=progress.update,
        )
    with whole_file(out.resolve() / "search.json") as file:
        file.write(json.dumps(results, indent=1).encode() + b"\n")
    with whole_file(out.resolve() / "search.md") as file:
        file.write(search_table(results).encode())
    if not quiet:
        sys.stderr.write(search_table(results))
