"""`webwinnow experiment`: the papers' experiments on labelled pages."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli.crawl import Allow, AllowPrivate, Resolve, guard_of
from webwinnow.cli.progress import shown_progress
from webwinnow.crawl import AddressGuard, CrawlSettings
from webwinnow.errors import SettingsError
from webwinnow.experiments.knownitems import search_experiment, search_table
from webwinnow.experiments.replicapairs import cleaned_texts, read_pairs, replica_experiment
from webwinnow.io.tablefiles import read_records
from webwinnow.methods import DEFAULT_METHOD, METHODS, method_named
from webwinnow.storage import write_file
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
    labelled, key = read_pairs(pairs), SiteKey.parse(site_by)
    with shown_progress(quiet=quiet) as progress:
        texts = {
            cleaning: cleaned_texts(pages, labelled, cleaning, key, progress.update)
            for cleaning in dict.fromkeys(("none", clean))
        }
    results = replica_experiment(labelled, texts)
    out.mkdir(parents=True, exist_ok=True)
    write_file(out / "replicas.json", json.dumps(results.to_plain(), indent=1).encode() + b"\n")
    write_file(out / "replicas.md", results.to_markdown().encode())
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
    write_file(out / "search.json", json.dumps(results, indent=1).encode() + b"\n")
    write_file(out / "search.md", search_table(results).encode())
    if not quiet:
        sys.stderr.write(search_table(results))


@experiment.command()
def mining(
    data: Annotated[Path, typer.Option(help="Labelled pages: Parquet or JSONL with html, a label and a site.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for mining.html and the tables as CSV.")],
    label: Annotated[str | None, typer.Option(help="The column that holds a page's class.")] = None,
    site: Annotated[str, typer.Option(help="The column that names a page's site.")] = "site",
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="With --label: only these rows; repeatable."),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TASK",
            help="What to tell apart: '[NAME:] COLUMN [where COLUMN=VALUE [and ...]] [runs N]'; repeatable.",
        ),
    ] = None,
    methods: Annotated[
        str | None, typer.Option(help="Cleaning methods by letter or name, as in N,T,S,W,C; all of them if left out.")
    ] = None,
    runs: Annotated[int, typer.Option(min=0, help="Runs of k-means; 0 for none.")] = 800,
    configurations: Annotated[str, typer.Option(help="Configurations of the SVM: of 1,2,3, or none.")] = "1,2,3",
    neighbours: Annotated[bool, typer.Option(help="Chi-square and k-NN too.")] = True,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn.")] = 0,
    jobs: Annotated[int, typer.Option(min=0, help="Worker processes; 0 for one a core. No result depends on it.")] = 0,
    tmp: Annotated[Path | None, typer.Option(help="Where to keep the working files.")] = None,
    keep: Annotated[
        Path | None, typer.Option(help="A folder for what is done: a killed run goes on, more methods cost themselves.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Mine labelled pages of several sites before and after every cleaning (thesis chapter 5; DocView, Figure 5).

    SVM in configurations 1, 2, 3 for all pairs of classes and sites, k-means over many runs, chi-square with k-NN: the
    same miners for pages cleaned by every method. One HTML page with findings, plots and tables, and CSV.

    Examples:

        webwinnow experiment mining --data pages.parquet --label topic --site host -o results

        webwinnow experiment mining --data shops.parquet -o results --task 'makes: label where kind=car' --task kind
    """
    from webwinnow.experiments.mining import (  # noqa: PLC0415 (an optional extra)
        DEFAULT_METHODS,
        MiningSettings,
        TaskSettings,
        mining_experiment,
        mining_html,
        write_tables,
    )
    from webwinnow.experiments.mining.minefindings import finding  # noqa: PLC0415
    from webwinnow.experiments.mining.minetasks import condition  # noqa: PLC0415

    if where and label is None:
        raise SettingsError("--where goes with --label; a --task has its own conditions")
    tasks = [] if label is None else [TaskSettings(label=label, where=tuple(map(condition, where or ())))]
    tasks += [TaskSettings.parse(text) for text in task or ()]
    if not tasks:
        raise SettingsError("nothing to tell apart: give --label COLUMN, or --task")
    settings = MiningSettings(
        tasks=tuple(tasks),
        site=site,
        methods=DEFAULT_METHODS if methods is None else tuple(methods.split(",")),
        runs=runs,
        configurations=_configurations(configurations),
        neighbours=neighbours,
        seed=seed,
        jobs=jobs,
    )
    out.mkdir(parents=True, exist_ok=True)
    with shown_progress(quiet=quiet) as progress:
        results = mining_experiment(
            data,
            settings,
            command=shlex.join(["webwinnow", *sys.argv[1:]]),
            tmp=tmp,
            keep=keep,
            on_progress=progress.update,
            on_problem=progress.note,
        )
    write_file(out / "mining.html", mining_html(results).encode("utf-8", "replace"))
    write_tables(results, out)
    if not quiet:
        for found in results.tasks:
            sys.stderr.write(f"{found.task.name}: the thesis's finding: {finding(found).value}\n")
            sys.stderr.writelines(f"{found.task.name}: {note}\n" for note in found.task.notes)
        for left in results.left_out:
            sys.stderr.write(f"{left.name}: nothing was mined. {' '.join(left.notes)}\n")
        sys.stderr.write(f"the report is {out / 'mining.html'}\n")


@experiment.command()
def sites(
    data: Annotated[Path, typer.Option(help="Labelled sites: Parquet or JSONL with url, html, a label and a site.")],
    label: Annotated[str, typer.Option(help="The column that holds a site's topic.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for sites.html and the tables as CSV.")],
    site: Annotated[str, typer.Option(help="The column that names a page's site.")] = "site",
    methods: Annotated[
        str | None, typer.Option(help="Methods, as in superpage,hmt,multiscale; all six if left out.")
    ] = None,
    thesaurus: Annotated[
        Path | None,
        typer.Option(help="Terms for denoising: SKOS (.rdf, .ttl, .nt) or a term a line; learned if left out."),
    ] = None,
    denoising: Annotated[bool, typer.Option(help="Compare the ways of denoising too.")] = True,
    clean: Annotated[str, typer.Option(help=f"The cleaner to denoise with: {', '.join(METHODS)}.")] = DEFAULT_METHOD,
    reading: Annotated[bool, typer.Option(help="Compare ways of reading fewer pages too.")] = True,
    likelihood: Annotated[bool, typer.Option(help="Batch and incremental EM, pass by pass, too.")] = True,
    repeats: Annotated[int, typer.Option(min=0, help="Draws of each number of training sites; 0 for none.")] = 10,
    pages: Annotated[int | None, typer.Option(min=1, help="Pages of a site, at most, the first ones.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=0, help="Worker processes; 0 for one a core. Nothing but times depends on it.")
    ] = 0,
    crawl: Annotated[
        bool, typer.Option("--crawl", help="Instead: crawl the sites, with pruning and to a fixed depth.")
    ] = False,
    delay: Annotated[float, typer.Option(min=0, help="With --crawl: seconds between requests to a host.")] = 1.0,
    allow_private: AllowPrivate = False,
    allow: Allow = None,
    resolve: Resolve = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no findings on stderr.")] = False,
) -> None:
    """Classify whole sites by six methods, with and without denoising and pruning (Sites, section 5).

    Accuracy by number of training sites, every site left out once with every error, ways of denoising, pages read with
    and without pruning, batch and incremental EM, time by stage: one HTML page with findings, and CSV.

    With --crawl each site is fetched anew from its start page, once with pruning and once to depth 2, and told by a
    model of the other sites' stored pages: pages, time, errors of both (Figures 10 and 11), as sitecrawl.md and .json.

    Examples:

        webwinnow experiment sites --data sites.parquet --label topic -o results

        webwinnow experiment sites --data sites.parquet --label topic -o results --crawl --methods multiscale
    """
    if crawl:
        _crawl_sites(
            data, label, site, out, methods, pages, delay, guard_of(allow_private, allow, resolve), quiet=quiet
        )
        return
    from webwinnow.experiments.sites import (  # noqa: PLC0415 (much that the other commands do not need)
        SitesSettings,
        findings,
        sites_experiment,
        sites_html,
        write_tables,
    )
    from webwinnow.sitemining.denoising import CHOICES  # noqa: PLC0415
    from webwinnow.sitemining.topics import METHODS as TOPIC_METHODS  # noqa: PLC0415

    method_named(clean)
    settings = SitesSettings(
        label=label,
        site=site,
        methods=tuple(TOPIC_METHODS) if methods is None else tuple(name.strip() for name in methods.split(",")),
        choices=CHOICES if denoising else (),
        thesaurus=thesaurus,
        cleaning=clean,
        repeats=repeats,
        pruning=reading,
        likelihood=likelihood,
        most_pages=pages,
        seed=seed,
        jobs=jobs,
    )
    out.mkdir(parents=True, exist_ok=True)
    with shown_progress(quiet=quiet) as progress:
        results = sites_experiment(
            data,
            settings,
            command=shlex.join(["webwinnow", *sys.argv[1:]]),
            on_progress=progress.update,
            on_problem=progress.note,
        )
    write_file(out / "sites.html", sites_html(results).encode())
    write_tables(results, out)
    if not quiet:
        sys.stderr.write("\n".join(findings(results)) + "\n")


def _crawl_sites(
    data: Path,
    label: str,
    site: str,
    out: Path,
    methods: str | None,
    pages: int | None,
    delay: float,
    guard: AddressGuard,
    *,
    quiet: bool,
) -> None:
    """The pruned crawl against the fixed depth."""
    from webwinnow.experiments.sitecrawl import SITE_PAGES, compare_crawls, crawl_table  # noqa: PLC0415
    from webwinnow.sitemining.topics import DEFAULT_METHOD as DEFAULT_TOPICS  # noqa: PLC0415

    if methods is not None and "," in methods:
        raise SettingsError(f"--crawl takes one method, not {methods!r}")
    out.mkdir(parents=True, exist_ok=True)
    with shown_progress(quiet=quiet) as progress, tempfile.TemporaryDirectory(dir=out) as folder:
        found = compare_crawls(
            data,
            Path(folder),
            CrawlSettings(delay=delay, guard=guard),
            label=label,
            site=site,
            method=methods or DEFAULT_TOPICS,
            most=SITE_PAGES if pages is None else pages,
            on_progress=progress.update,
            on_problem=progress.note,
        )
    write_file(out / "sitecrawl.json", json.dumps(found.to_plain(), indent=1).encode() + b"\n")
    write_file(out / "sitecrawl.md", crawl_table(found).encode())
    if not quiet:
        sys.stderr.write(crawl_table(found))


def _configurations(text: str) -> tuple[int, ...]:
    """Read `1,2,3` or `none`."""
    parts = [] if text.strip().lower() == "none" else text.split(",")
    if not all(part.strip() in ("1", "2", "3") for part in parts):
        raise SettingsError(f"no configurations {text!r}: expected some of 1,2,3, or none")
    return tuple(sorted({int(part) for part in parts}))
