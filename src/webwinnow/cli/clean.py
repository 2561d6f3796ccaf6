"""`webwinnow clean`: a collection in, one record a page out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cleaning.cst import CstSettings
from webwinnow.cleaning.page import PageSettings
from webwinnow.cleaning.repeated import RepeatedSettings
from webwinnow.cleaning.segments import SegmentSettings
from webwinnow.cleaning.sst import SstSettings
from webwinnow.cleaning.tasks import DEFAULT_TASK, TASKS, task_of
from webwinnow.cleaning.template import TemplateSettings
from webwinnow.cli.crawl import Allow, AllowPrivate, Resolve, Scopes, crawled_inputs, guard_of, scope_of
from webwinnow.cli.engines import Address, EngineName, chosen_engine
from webwinnow.cli.page import Comments, Favor, favored
from webwinnow.cli.progress import shown_progress
from webwinnow.commands import RunSettings, run
from webwinnow.crawl import CrawlSettings
from webwinnow.docview import CategoryModel, ViewSettings
from webwinnow.io import check_apart, check_output, output_format
from webwinnow.methods import DEFAULT_METHOD, METHODS, CleaningSettings
from webwinnow.parsing import ParseLimits
from webwinnow.replicas import ReplicaSettings
from webwinnow.site.modelstore import open_models
from webwinnow.templates import TemplateList
from webwinnow.urls import SiteKey

__all__ = ["clean"]

_DEFAULTS = RunSettings()


def clean(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="HTML, WARC, WACZ, JSONL or Parquet files, folders, addresses of sites to crawl, or -.",
        ),
    ],
    out: Annotated[str, typer.Option("--out", "-o", help="Where the records go: a file, a folder, or -.")],
    method: Annotated[str, typer.Option(help=f"How to clean: {', '.join(METHODS)}.")] = DEFAULT_METHOD,
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    share: Annotated[
        float, typer.Option(help="repeated: text on at least this share of a site's pages goes.")
    ] = RepeatedSettings().share,
    threshold: Annotated[
        float | None,
        typer.Option(help="sst: importance up to which an element is noise; the site's own if not given."),
    ] = None,
    weight: Annotated[
        float, typer.Option(help="cst: a block stays if its words weigh so much on average.")
    ] = CstSettings().weight,
    blocks: Annotated[
        str, typer.Option(help="segments: what parts a page into blocks: tables, or sections too.")
    ] = SegmentSettings().by,
    entropy: Annotated[
        float | None,
        typer.Option(help="segments: entropy up to which a block stays; the site's own if not given."),
    ] = None,
    templates: Annotated[
        Path | None, typer.Option(help="template: drop the templates of this list (webwinnow templates) instead.")
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option(help="Clean with the models of this folder or table (webwinnow learn)."),
    ] = None,
    favor: Annotated[
        Favor | None, typer.Option(help="combined, page: lean to precision (less noise) or recall (less lost).")
    ] = None,
    comments: Comments = None,
    task: Annotated[
        str, typer.Option(help=f"Which kinds of noise stay, for which use: {', '.join(TASKS)}, or a file.")
    ] = DEFAULT_TASK,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="jsonl, parquet, csv, markdown, html or dublin-core; by the output's name if not given.",
        ),
    ] = None,
    view: Annotated[
        bool, typer.Option(help="Fill type, keywords, abstract and relevant links; without, a run is faster.")
    ] = True,
    keywords: Annotated[int, typer.Option(help="Keywords of a record.")] = ViewSettings().keywords,
    sentences: Annotated[int, typer.Option(help="Sentences of a record's abstract.")] = ViewSettings().sentences,
    categories: Annotated[
        Path | None, typer.Option(help="A model of categories (webwinnow categories): fills the records' category.")
    ] = None,
    also: Annotated[list[str] | None, typer.Option(help="More renderings in each record: markdown, html.")] = None,
    rejected: Annotated[str | None, typer.Option(help="Write what was left out, with reasons, as JSONL.")] = None,
    replicas: Annotated[
        bool, typer.Option(help="Find replicas: replica_of in a record names the page of which it is one.")
    ] = True,
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = _DEFAULTS.jobs,
    engine: EngineName = "local",
    address: Address = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was killed.")] = False,
    tmp: Annotated[
        Path | None, typer.Option(help="Where to keep the run's working files; beside the output if not given.")
    ] = None,
    page_seconds: Annotated[float, typer.Option(help="A page that takes longer fails.")] = _DEFAULTS.page_seconds,
    worker_memory: Annotated[
        int, typer.Option(help="Megabytes that a worker may use; a page that needs more fails.")
    ] = _DEFAULTS.worker_memory >> 20,
    max_bytes: Annotated[int, typer.Option(help="Refuse pages that are longer.")] = ParseLimits().max_bytes,
    pages: Annotated[int, typer.Option(help="Addresses: pages to crawl of each site.")] = CrawlSettings().pages,
    scope: Annotated[
        Scopes, typer.Option(help="Addresses: pages below the start page's folder, of its host, its domain, or any.")
    ] = Scopes.below,
    delay: Annotated[float, typer.Option(help="Addresses: seconds between requests.")] = CrawlSettings().delay,
    allow_private: AllowPrivate = False,
    allow: Allow = None,
    resolve: Resolve = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Clean a crawl: one record for each page, in the order (site, input).

    Failed and dropped pages have a record too, with the reason. Exit code 1 if any page failed.

    Examples:

        webwinnow clean crawl.warc.gz -o clean.jsonl

        webwinnow clean pages/ more.jsonl.gz -o clean.parquet --rejected left-out.jsonl

        webwinnow clean crawl.parquet -o notes --format markdown --site-by domain

        webwinnow clean https://example.org/docs/ -o docs.jsonl --pages 100

    An address is crawled first (webwinnow crawl); the WARC file stays beside the output.
    """
    wanted = list(also or [])
    if format in ("markdown", "html") and format not in wanted:
        wanted.append(format)
    if templates is not None:
        TemplateList.load(templates)  # a list that cannot be read is told before the run, not by each page
    settings = RunSettings(
        method=method,
        cleaning=CleaningSettings(
            repeated=RepeatedSettings(share=share),
            sst=SstSettings(threshold=threshold),
            cst=CstSettings(weight=weight),
            page=PageSettings(favor=favored(favor), comments=comments),
            template=TemplateSettings(found=None if templates is None else str(templates.absolute())),
            segments=SegmentSettings(by=blocks, threshold=entropy),
        ),
        models=None if models is None else str(open_models(models).path.absolute()),
        view=ViewSettings(keywords=keywords, sentences=sentences) if view else None,
        categories=None if categories is None else _checked(categories),
        task=task_of(task),
        site_by=SiteKey.parse(site_by),
        also=tuple(sorted(set(wanted))),
        limits=ParseLimits(max_bytes=max_bytes),
        jobs=jobs,
        page_seconds=page_seconds,
        worker_memory=worker_memory << 20,
        rejected=rejected is not None,
        replicas=ReplicaSettings() if replicas else None,
    )
    crawling = CrawlSettings(
        pages=pages, scope=scope_of(scope), delay=delay, guard=guard_of(allow_private, allow, resolve)
    )
    try:
        check_output(out, output_format(out, format))
        check_apart(inputs, out, rejected)
        with (
            shown_progress(quiet=quiet) as progress,
            crawled_inputs(inputs, out, crawling, progress, resume=resume) as given,
        ):
            summary = run(
                given,
                out,
                settings,
                format=format,
                rejected=rejected,
                resume=resume,
                tmp=tmp,
                engine=chosen_engine(engine, address, jobs),
                on_progress=progress.update,
                on_problem=progress.note,
            )
    except KeyboardInterrupt:
        sys.stderr.write("webwinnow: stopped; the same command with --resume goes on\n")
        raise typer.Exit(130) from None
    if not quiet:
        sys.stderr.write("\n".join(summary.lines()) + "\n")
    if summary.failed:
        raise typer.Exit(1)


def _checked(categories: Path) -> str:
    """Where a model of categories is; it is read once, so that a wrong file is told before the work begins."""
    CategoryModel.load(categories)
    return str(categories.absolute())
