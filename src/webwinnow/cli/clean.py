"""`webwinnow clean`: a collection in, one record per page out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cleaning.tasks import DEFAULT_TASK, task_of
from webwinnow.cli import options as opt
from webwinnow.cli.terminal import ShownProgress, finish, shown_progress, stoppable
from webwinnow.commands import RunSettings, run
from webwinnow.crawl import CrawlSettings
from webwinnow.crawl import crawl as crawl_sites
from webwinnow.docview import CategoryModel, ViewSettings
from webwinnow.errors import InputError
from webwinnow.io import check_apart, check_output, output_format
from webwinnow.io.outputs import STDOUT
from webwinnow.methods import DEFAULT_METHOD
from webwinnow.parsing import ParseLimits
from webwinnow.replicas import ReplicaSettings
from webwinnow.site.modelstore import open_models
from webwinnow.templates import TemplateList
from webwinnow.urls import SiteKey, is_web_link

_RUN, _VIEW, _CRAWL = RunSettings(), ViewSettings(), CrawlSettings()


def clean(
    context: typer.Context,
    inputs: Annotated[list[str], opt.pages_argument("URLs of sites to crawl")],
    out: Annotated[str, opt.out("a file, a folder, or - for standard output")],
    format: Annotated[str | None, opt.format("jsonl, parquet, csv, markdown, html or dublin-core")] = None,
    rejected: Annotated[str | None, opt.writing("Also write what was removed, with reasons, as JSONL.")] = None,
    also: Annotated[list[str] | None, opt.writing("Add markdown or html to each record; repeatable.")] = None,
    method: opt.Method = DEFAULT_METHOD,
    favor: opt.Favoring = None,
    task: opt.Task = DEFAULT_TASK,
    comments: opt.Comments = None,
    models: opt.Models = None,
    set_: opt.Settings = None,
    stop_words: opt.StopWords = None,
    css: opt.Css = False,
    learn_pages: opt.LearnPages = _RUN.learn_pages,
    site_by: opt.SiteBy = "host",
    max_bytes: opt.MaxBytes = opt.MAX_BYTES,
    view: Annotated[
        bool, opt.writing("Fill type, keywords, abstract and relevant links; without, a run is faster.")
    ] = True,
    keywords: Annotated[int, opt.writing("Keywords of a record.")] = _VIEW.keywords,
    sentences: Annotated[
        int | None, opt.writing("Sentences in the abstract of a record; by default 5, and a fifth of the text at most.")
    ] = _VIEW.sentences,
    categories: Annotated[
        Path | None,
        opt.writing("Fill category with this model (classify train --classifier docview); pages are cleaned as in it."),
    ] = None,
    replicas: Annotated[
        bool, opt.writing("Find near-duplicates: replica_of names the page that a record repeats.")
    ] = True,
    jobs: opt.Jobs = _RUN.jobs,
    resume: opt.Resume = False,
    tmp: opt.Tmp = None,
    page_seconds: opt.PageSeconds = _RUN.page_seconds,
    worker_memory: Annotated[
        int, opt.running("Megabytes of a worker; a page that needs more fails.")
    ] = _RUN.worker_memory >> 20,
    quiet: opt.Quiet = False,
    engine: opt.Engine = "local",
    address: opt.Address = None,
    pages: Annotated[int, opt.most_pages(panel=opt.CRAWL)] = _CRAWL.pages,
    scope: opt.Scope = _CRAWL.scope,
    delay: opt.Delay = _CRAWL.delay,
    allow_private: opt.AllowPrivate = False,
    allow: opt.Allow = None,
    resolve: opt.Resolve = None,
) -> None:
    """Clean a crawl: one record for each page, in the order (site, input).

    Failed and dropped pages have a record too, with the reason. Exit code 1 if any page failed.

    Examples:

        webwinnow clean crawl.warc.gz -o clean.jsonl
        webwinnow clean pages/ more.jsonl.gz -o clean.parquet --rejected removed.jsonl
        webwinnow clean crawl.parquet -o notes --format markdown --site-by domain
        webwinnow clean crawl.warc.gz -o clean.jsonl --method sst --set sst.threshold=0.9
        webwinnow clean https://example.org/docs/ -o docs.jsonl --pages 100

    A URL is crawled first (webwinnow crawl); the WARC file is kept beside the output.
    """
    renderings = {*(also or ()), *({format} & {"markdown", "html"})}
    settings = RunSettings(
        method=method,
        cleaning=opt.cleaning_settings(set_, favor, comments, stop_words, keywords=keywords, sentences=sentences),
        models=None if models is None else str(open_models(models).path.absolute()),
        view=view,
        categories=None if categories is None else str(categories.absolute()),
        task=task_of(task),
        site_by=SiteKey.parse(site_by),
        also=tuple(sorted(filter(None, renderings))),
        limits=ParseLimits(max_bytes=max_bytes, css=css),
        learn_pages=learn_pages,
        jobs=jobs,
        page_seconds=page_seconds,
        worker_memory=worker_memory << 20,
        rejected=rejected is not None,
        replicas=ReplicaSettings() if replicas else None,
    )
    if categories is not None:
        trained = CategoryModel.load(categories).cleaning
        options = ("method", "favor", "task", "comments", "set_", "stop_words")
        if trained and not any(opt.is_given(context, name) for name in options):
            settings = settings.cleaning_as(trained)
    if settings.cleaning.template.found is not None:
        TemplateList.load(Path(settings.cleaning.template.found))
    crawling = CrawlSettings(pages=pages, scope=scope, delay=delay, guard=opt.guard_of(allow_private, allow, resolve))
    with stoppable("the same command with --resume continues"):
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
                engine=opt.chosen_engine(engine, address, jobs),
                **progress.callbacks,
            )
    finish(summary.lines(), quiet=quiet, failed=summary.failed)


@contextmanager
def crawled_inputs(
    inputs: list[str], out: str, settings: CrawlSettings, progress: ShownProgress, *, resume: bool
) -> Iterator[list[str]]:
    """The inputs with a WARC file in place of URLs. It is kept beside the output, unless that is standard output.

    With `resume` an interrupted crawl continues, and a finished one is not repeated.
    """
    starts = [given for given in inputs if is_web_link(given)]
    if not starts:
        yield inputs
        return
    with ExitStack() as folders:
        if out == STDOUT:
            warc = Path(folders.enter_context(tempfile.TemporaryDirectory(prefix="webwinnow-"))) / "crawl.warc.gz"
        else:
            warc = Path(out).with_name(f"{Path(out).name}.warc.gz")
        unfinished = warc.with_name(f".{warc.name}.webwinnow-crawl").is_dir()
        if not resume or unfinished or not warc.exists():
            found = crawl_sites(starts, warc, settings, resume=resume and unfinished, **progress.callbacks)
            if not found.stored:
                why = ", ".join(f"{reason} ({count:,})" for _, reason, count in found.reasons) or found.ended
                raise InputError(f"{' '.join(starts)}: no page could be fetched: {why}")
        yield [str(warc), *(given for given in inputs if not is_web_link(given))]
