"""`webwinnow experiment`: the papers' experiments on labelled pages."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import UNCHANGED, ShownProgress, finish, shown_progress, stoppable
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.errors import SettingsError
from webwinnow.methods.registry import DEFAULT_METHOD, method_named
from webwinnow.page.urls import SiteKey
from webwinnow.papers.experiment import Notes, Report
from webwinnow.papers.replicas import cleaned_texts, read_pairs, replica_experiment
from webwinnow.papers.search import JudgedQueries, search_experiment, search_report
from webwinnow.run.tablefiles import read_records
from webwinnow.storage.atomic import scratch_folder
from webwinnow.topics.sitetopics import DEFAULT_METHOD as DEFAULT_TOPICS
from webwinnow.topics.sitetopics import METHODS as TOPIC_METHODS

PANEL = "Research"

Data = Annotated[Path, opt.reading("Labelled pages: Parquet or JSONL with url, html, a label and a site.")]

experiment = typer.Typer(name="experiment", help="Run the papers' experiments on labelled pages.", no_args_is_help=True)


@experiment.command()
def replicas(
    pairs: Annotated[
        Path, typer.Argument(metavar="PAIRS", help="Table of page_a, page_b, replica, kind (Parquet, JSONL).")
    ],
    pages: Annotated[Path, typer.Argument(metavar="PAGES", help="The pages that they name, with page_id.")],
    out: Annotated[Path, opt.out_folder("a folder for replicas.json and replicas.md")],
    method: opt.Method = DEFAULT_METHOD,
    stop_words: opt.StopWords = None,
    site_by: opt.SiteBy = "host",
    quiet: opt.Quiet = False,
) -> None:
    """Hits and errors of each fingerprint: whole pages, DocView's topic content, and text cleaned by --method.

    DocView 7.2, Table 2: the published fingerprint by Percentage and Interval.

    Example:

        webwinnow experiment replicas replicas-pairs.parquet replicas.parquet -o results
    """
    labelled, key = read_pairs(pairs), SiteKey.parse(site_by)
    with shown_progress(quiet=quiet) as progress:
        note = Notes(progress.note)  # pages are read several times
        texts = {
            cleaning: cleaned_texts(pages, labelled, cleaning, key, progress.update, note)
            for cleaning in dict.fromkeys(("none", "docview", method))
        }
    results = replica_experiment(labelled, texts, opt.stop_list(stop_words))
    _finish(out, results.report(), progress, quiet=quiet)


@experiment.command()
def search(
    records: Annotated[list[Path], typer.Argument(metavar="RECORDS...", help="Records of clean, with abstracts.")],
    out: Annotated[Path, opt.out_folder("a folder for search.json and search.md")],
    before: Annotated[
        list[Path] | None,
        opt.reading("Records of the same pages without cleaning (clean --method none), to compare; repeatable."),
    ] = None,
    queries: Annotated[Path | None, opt.reading("Queries: TSV (id, query) or JSONL; with --judgements.")] = None,
    judgements: Annotated[
        Path | None, opt.reading("Judgements as in TREC: id of a query, 0, page_id or URL, grade.")
    ] = None,
    titles: Annotated[int, opt.running("Titles to search for, at most; 0 for none.", min=0)] = 1000,
    disk_groups: Annotated[
        int, opt.running("Groups of 100 query terms whose disk reads are measured; 0 for none.", min=0)
    ] = 10,
    stop_words: Annotated[Path | None, opt.stop_words("none, all words are indexed")] = None,
    seed: opt.Seed = 0,
    quiet: opt.Quiet = False,
) -> None:
    """Search in the abstract index, the full-text index and both (DocView 7.3, Table 3 and Figure 6).

    Known items: each query is the title of exactly one page, which is the expected result. With --queries and
    --judgements: precision at 10, mean average precision and nDCG. Disk reads: the bytes that groups of query terms
    read from disk with nothing cached, as the kernel counts them.

    Examples:

        webwinnow experiment search clean.jsonl -o results
        webwinnow experiment search clean.jsonl --before none.jsonl --queries q.tsv --judgements qrels.txt -o results
    """
    if (queries is None) != (judgements is None):
        raise SettingsError("--queries and --judgements belong together; give both, or none")
    judged = None if queries is None or judgements is None else JudgedQueries.read(queries, judgements)
    with shown_progress(quiet=quiet) as progress, _made(out), scratch_folder(out) as folder:
        note = Notes(progress.note)  # records are read several times
        results = search_experiment(
            lambda: read_records(records, on_problem=note),
            folder / "index",
            before=None if before is None else lambda: read_records(before, on_problem=note),
            judged=judged,
            most=titles,
            groups=disk_groups,
            stop_list=opt.stop_list(stop_words),
            seed=seed,
            on_progress=progress.update,
        )
    _finish(out, search_report(results), progress, quiet=quiet)


@experiment.command()
def mining(
    data: Data,
    out: Annotated[Path, opt.out_folder("a folder for mining.html and the tables as CSV")],
    label: Annotated[str | None, opt.label(": its class")] = None,
    where: Annotated[
        list[str] | None, opt.reading("With --label: only these rows; repeatable.", metavar="COLUMN=VALUE")
    ] = None,
    target: Annotated[
        list[str] | None,
        opt.reading(
            "Classes to predict: '[NAME:] COLUMN [where COLUMN=VALUE [and ...]] [runs N]'; repeatable.",
            metavar="TARGET",
        ),
    ] = None,
    site: opt.SiteColumn = "site",
    methods: Annotated[
        str | None, opt.methods("cleaning methods by letter or name, as in N,T,S,W,C. [default: all]")
    ] = None,
    runs: Annotated[int, opt.runs("0 for none")] = 800,
    configurations: Annotated[str, opt.running("Configurations of the SVM: of 1,2,3, or none.")] = "1,2,3",
    neighbours: Annotated[bool, opt.running("Also classify with chi-square and k-NN.", "--knn/--no-knn")] = True,
    rows: Annotated[
        str, opt.running("Rows of the SVM: raw, as in the thesis; unit, scaled to length 1; or both.")
    ] = "raw",
    set_: opt.Settings = None,
    stop_words: opt.StopWords = None,
    css: opt.Css = False,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    keep: Annotated[
        Path | None, opt.running("Folder that keeps finished work, so that a stopped run continues.")
    ] = None,
    quiet: opt.Quiet = False,
) -> None:
    """Mine labelled pages of several sites before and after every cleaning (thesis chapter 5; DocView, Figure 5).

    SVM in configurations 1, 2, 3 for all pairs of classes and sites, k-means over many runs, chi-square with k-NN: the
    same miners for pages cleaned by every method. One HTML page with findings, plots and tables, and CSV.

    Examples:

        webwinnow experiment mining --data pages.parquet --label topic --site-column host -o results
        webwinnow experiment mining --data shops.parquet -o results --target 'makes: label where kind=car' --target kind
    """
    from webwinnow.papers.mining.report import mining_report  # noqa: PLC0415 (an optional extra)
    from webwinnow.papers.mining.run import MiningSettings, mining_experiment  # noqa: PLC0415 (an optional extra)
    from webwinnow.papers.mining.tasks import TaskSettings, condition  # noqa: PLC0415 (an optional extra)
    from webwinnow.papers.mining.words import DEFAULT_METHODS  # noqa: PLC0415 (an optional extra)

    if where and label is None:
        raise SettingsError("--where goes with --label; a --target has its own conditions")
    tasks = [] if label is None else [TaskSettings(label=label, where=tuple(map(condition, where or ())))]
    tasks += [TaskSettings.parse(text) for text in target or ()]
    if not tasks:
        raise SettingsError("there are no classes to predict: give --label COLUMN, or --target")
    parsed = {
        "tasks": tuple(tasks),
        "methods": DEFAULT_METHODS if methods is None else tuple(methods.split(",")),
        "configurations": _configurations(configurations),
        "cleaning": opt.cleaning_settings(set_, stop_words=stop_words),
        "stop_list": opt.stop_list(stop_words),
    }
    settings = MiningSettings(**opt.fields_of(MiningSettings, locals()) | parsed)
    kept = UNCHANGED if keep is None else f"{keep} has the finished work; the same command continues"
    with stoppable(kept), shown_progress(quiet=quiet) as progress:
        results = mining_experiment(data, settings, command=_command_line(), tmp=tmp, keep=keep, **progress.callbacks)
    _finish(out, mining_report(results), progress, quiet=quiet)


@experiment.command()
@opt.settings_options(CrawlSettings, only="crawl.delay guard.allow_private guard.allow guard.routes")
def sites(
    context: typer.Context,
    data: Data,
    label: Annotated[str, opt.label(": the topic of its site")],
    out: Annotated[Path, opt.out_folder("a folder for sites.html and the tables as CSV")],
    site: opt.SiteColumn = "site",
    most_pages: Annotated[int | None, opt.most_pages()] = None,
    methods: Annotated[
        str | None, opt.methods("topic methods, as in superpage,hmt,multiscale. [default: all six]")
    ] = None,
    set_: opt.Settings = None,
    stop_words: opt.StopWords = None,
    thesaurus: Annotated[Path | None, opt.thesaurus("learned")] = None,
    denoise: Annotated[bool, opt.cleaning("Also compare kinds of denoising.", "--denoising/--no-denoising")] = True,
    cleaning: Annotated[str, opt.cleaning("Cleaning method to denoise with.", "--denoise-with")] = DEFAULT_METHOD,
    pruning: Annotated[bool, opt.running("Also compare ways of reading fewer pages.", "--reading/--no-reading")] = True,
    likelihood: Annotated[bool, opt.running("Also compare batch and incremental EM, pass by pass.")] = True,
    repeats: Annotated[int, opt.running("Random samples of each number of training sites; 0 for none.", min=0)] = 10,
    seed: opt.Seed = 0,
    jobs: opt.Jobs = 0,
    crawl: Annotated[bool, opt.crawling("Crawl the sites instead, pruned and to a fixed depth.", "--crawl")] = False,
    seed_counts: Annotated[
        str | None,
        opt.crawling("With --crawl: numbers of seeds, as in 5,8,11, for sites mine to find the others."),
    ] = None,
    quiet: opt.Quiet = False,
    **_: Any,
) -> None:
    """Classify whole sites by six methods, with and without denoising and pruning (Sites, section 5).

    Accuracy by number of training sites, every site left out once with every error, kinds of denoising, pages read with
    and without pruning, batch and incremental EM, time by stage: one HTML page with findings, and CSV.

    With --crawl each site is fetched again, once with pruning and once to depth 2, and classified by a model of the
    other sites' stored pages: pages, time and errors of both (Figures 10 and 11), as sitecrawl.md and sitecrawl.json.
    With --seed-counts too, some sites are seeds, and the others are read to depth 2 and found by sites mine, also
    denoised with --thesaurus: time and accuracy by the number of seeds and by pages (Figures 1, 10 and 11), as
    siteseeds.html.

    Settings: those of sites train; denoising.least_pertinence=0.1, denoising.least_similarity=0.005 and
    denoising.majority=0.5; rules.depths=0,1,2, rules.first_pages=5,10,20,50, rules.deltas=1e-6,1e-4,1e-3,1e-2 and
    rules.omegas=1,2,4 (Figure 11); em.subsets=1,3,10, em.tolerance=1e-6 and em.passes=200 (Figure 6); with --crawl
    rules.crawled=2 (depth of the baseline) and those of sites mine.

    Examples:

        webwinnow experiment sites --data sites.parquet --label topic -o results
        webwinnow experiment sites --data sites.parquet --label topic -o results --crawl --methods multiscale
        webwinnow experiment sites --data sites.parquet --label topic -o results --crawl --seed-counts 5,10,20
        webwinnow experiment sites --data sites.parquet --label topic -o results --set rules.deltas=1e-5,1e-3
    """
    from webwinnow.papers.sites.settings import SiteTrialSettings  # noqa: PLC0415

    chosen = SiteTrialSettings.from_pairs(set_ or ())
    stop_list = opt.stop_list(stop_words)
    numbers = [int(name) for name in opt.names_in(seed_counts or "") if name.isdecimal()]
    if seed_counts is not None and (not crawl or not numbers or len(numbers) < len(opt.names_in(seed_counts))):
        raise SettingsError(f"--seed-counts is {seed_counts!r}: expected numbers as in 5,8,11, and --crawl")
    if crawl:
        if thesaurus is not None and seed_counts is None:
            raise SettingsError("--thesaurus with --crawl needs --seed-counts")
        from webwinnow.papers.sites.crawl import SITE_PAGES, CrawlTrialSettings, compare_crawls  # noqa: PLC0415
        from webwinnow.papers.sites.seeds import compare_seeds, seeds_report  # noqa: PLC0415
        from webwinnow.topics.denoising import DenoisingSettings, TermDenoiser, WordCounter  # noqa: PLC0415
        from webwinnow.topics.thesaurus import Thesaurus  # noqa: PLC0415

        if methods is not None and "," in methods:
            raise SettingsError(f"--crawl takes one method, not {methods!r}")
        crawling = opt.Chosen(context, CrawlSettings).settings(CrawlSettings)
        denoiser = None
        if thesaurus is not None:
            values = {name: getattr(chosen.denoising, name) for name in ("least_pertinence", "majority")}
            denoiser = TermDenoiser(Thesaurus.read(thesaurus, stop_list=stop_list), DenoisingSettings(**values))
        trial = CrawlTrialSettings(
            label=label,
            site=site,
            method=methods or DEFAULT_TOPICS,
            reading=chosen.reading,
            topics=chosen.topics,
            rules=chosen.rules,
            pages=most_pages or SITE_PAGES,
            counter=WordCounter(stop_list, denoiser),
            seed=seed,
        )
        with shown_progress(quiet=quiet) as progress, _made(out), scratch_folder(out) as folder:
            if seed_counts is None:
                report = compare_crawls(data, folder, crawling, trial, **progress.callbacks).report()
            else:
                command = _command_line()
                by_seeds = compare_seeds(data, folder, crawling, numbers, trial, command=command, **progress.callbacks)
                report = seeds_report(by_seeds)
        _finish(out, report, progress, quiet=quiet)
        return
    from webwinnow.papers.sites.denoising import CHOICES  # noqa: PLC0415
    from webwinnow.papers.sites.report import sites_report  # noqa: PLC0415 (much that the other commands do not need)
    from webwinnow.papers.sites.run import SitesSettings, sites_experiment  # noqa: PLC0415 (much that the other commands do not need)

    method_named(cleaning)
    parsed = {
        "methods": tuple(TOPIC_METHODS) if methods is None else opt.names_in(methods),
        "choices": CHOICES if denoise else (),
        "stop_list": stop_list,
        "denoising": chosen.denoising,
        "topics": chosen.topics,
        "rules": chosen.rules,
        "em": chosen.em,
    }
    settings = SitesSettings(**opt.fields_of(SitesSettings, locals()) | parsed)
    with shown_progress(quiet=quiet) as progress:
        results = sites_experiment(data, settings, command=_command_line(), **progress.callbacks)
    _finish(out, sites_report(results), progress, quiet=quiet)


@contextmanager
def _made(out: Path) -> Iterator[None]:
    """Make the output folder for the block; an error removes one that was not there before."""
    was_there = out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if not was_there:
            out.rmdir()
        raise


def _finish(out: Path, report: Report, progress: ShownProgress, *, quiet: bool) -> None:
    """Write what an experiment found, and print its summary."""
    report.write(out)
    page = [f"the report is {out / f'{report.name}.html'}"] if report.page else []
    finish([*report.summary, *page], quiet=quiet, failed=progress.partial_inputs)


def _command_line() -> str:
    return shlex.join(["webwinnow", *sys.argv[1:]])


def _configurations(text: str) -> tuple[int, ...]:
    """Read `1,2,3` or `none`."""
    parts = [] if text.strip().lower() == "none" else text.split(",")
    if not all(part.strip() in ("1", "2", "3") for part in parts):
        raise SettingsError(f"no configurations {text!r}: expected some of 1,2,3, or none")
    return tuple(sorted({int(part) for part in parts}))
