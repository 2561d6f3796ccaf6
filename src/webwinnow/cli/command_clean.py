"""`webwinnow clean`: a collection in, one record per page out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from webwinnow import plugins
from webwinnow.cli import options as opt
from webwinnow.cli.terminal import UNCHANGED, finish, shown_progress, stoppable
from webwinnow.errors import SettingsError, WebwinnowError
from webwinnow.judge.tasks import DEFAULT_TASK, task_of
from webwinnow.methods.registry import DEFAULT_METHOD
from webwinnow.methods.viewsettings import DOCVIEW, VIEW_ONLY, ViewSettings
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.urls import SiteKey
from webwinnow.run.cleaning import is_unfinished, run, run_folder
from webwinnow.run.corpusfilter import CorpusFilter
from webwinnow.run.outputs import STDOUT, check_apart, check_output, output_format
from webwinnow.run.readers import Reader
from webwinnow.run.rows import ColumnNames
from webwinnow.run.settings import RunSettings
from webwinnow.site.modelstore import open_models
from webwinnow.site.templates import TemplateList

PANEL = "Clean"
URLS: Reader = plugins.load("reader", "url").READER
_RUN, _VIEW, _CRAWL = RunSettings(), ViewSettings(), URLS.settings()
CRAWL_OPTIONS = "pages scope allow_url deny_url sitemaps delay render browsers allow_private allow resolve".split()
"""Options that only a crawl reads."""


def clean(
    context: typer.Context,
    inputs: Annotated[list[str], opt.pages_argument("URLs of sites to crawl")],
    out: Annotated[str, opt.out("a file, a folder, or - for standard output")],
    format: Annotated[str | None, opt.format("jsonl, parquet, csv, markdown, html or dublin-core")] = None,
    rejected: Annotated[
        str | None, opt.writing("Also write what was removed, with reasons, as JSONL.", callback=opt.written())
    ] = None,
    shard_pages: Annotated[
        int | None,
        opt.writing("Make the output a folder of files, each with this many records at most.", min=1),
    ] = None,
    also: Annotated[list[str] | None, opt.writing("Add markdown or html to each record; repeatable.")] = None,
    method: opt.Method = DEFAULT_METHOD,
    favor: opt.Favoring = None,
    task: opt.Task = DEFAULT_TASK,
    comments: opt.Comments = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    tables: opt.Tables = True,
    models: opt.Models = None,
    set_: opt.Settings = None,
    stop_words: opt.StopWords = None,
    css: opt.Css = False,
    learn_pages: opt.LearnPages = _RUN.learn_pages,
    site_by: opt.SiteBy = "host",
    max_bytes: opt.MaxBytes = opt.MAX_BYTES,
    url_column: opt.UrlColumn = _RUN.columns.url,
    html_column: opt.HtmlColumn = _RUN.columns.html,
    id_column: opt.IdColumn = _RUN.columns.page_id,
    lang: opt.Languages = None,
    min_words: opt.MinWords = 0,
    quality: opt.Quality = "none",
    signals: opt.Signals = False,
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
    classes: Annotated[
        Path | None,
        opt.writing("Fill category with the classes of this model, as classify apply does."),
    ] = None,
    none: Annotated[
        float | None,
        opt.setting(
            "Least probability of none of the classes for that answer, with --classes. [default: all have a class]",
            min=0,
            max=1,
        ),
    ] = None,
    least: Annotated[
        float,
        opt.setting(
            "Least probability of a class; pages below have none, with --classes.", "--min-probability", min=0, max=1
        ),
    ] = 0.0,
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
    allow_url: opt.AllowUrls = None,
    deny_url: opt.DenyUrls = None,
    sitemaps: opt.Sitemaps = _CRAWL.sitemaps,
    delay: opt.Delay = _CRAWL.delay,
    render: opt.Render = _CRAWL.render,
    browsers: opt.Browsers = _CRAWL.browsers,
    render_set: opt.RenderSet = None,
    screenshots: opt.Screenshots = _CRAWL.screenshots,
    allow_private: opt.AllowPrivate = False,
    allow: opt.Allow = None,
    resolve: opt.Resolve = None,
) -> None:
    """Clean a crawl: one record for each page, in the order (site, input).

    Failed and dropped pages have a record too, with the reason. Exit code 1 if any page failed or an input
    could be read only in part.

    Examples:

        webwinnow clean crawl.warc.gz -o clean.jsonl
        webwinnow clean pages/ more.jsonl.gz -o clean.parquet --rejected removed.jsonl
        webwinnow clean crawl.parquet -o notes --format markdown --site-by domain
        webwinnow clean crawl.warc.gz -o clean.jsonl --method sst --set sst.threshold=0.9
        webwinnow clean https://example.org/docs/ -o docs.jsonl --pages 100
        webwinnow clean crawl.warc.gz -o corpus.parquet --lang en,de --quality fineweb --shard-pages 100000
        webwinnow clean crawl.warc.gz -o clean.jsonl --drop .related --drop '//div[@id="ads"]' --no-tables

    A URL is crawled first (webwinnow crawl); the WARC file is kept beside the output.
    """
    opt.check_learns(context, method)
    if models is not None:
        opt.check_read(context, "--models", "learn_pages")
    if not view:
        _check_without_view(context, method, set_ or [], has_categories=categories is not None)
    has_urls = any(map(URLS.takes, inputs))
    if not has_urls:
        opt.check_needs(context, "a URL to crawl", *CRAWL_OPTIONS)
    elif render == "never":
        opt.check_needs(context, "--render", "browsers")
    if classes is None:
        opt.check_read(context, "without --classes", "none", "least")
    renderings = {*(also or ()), *({format} & {"markdown", "html"})}
    settings = RunSettings(
        method=method,
        cleaning=opt.cleaning_settings(
            set_, favor, comments, stop_words, method=method, keywords=keywords, sentences=sentences
        ),
        models=None if models is None else str(open_models(models).path.absolute()),
        view=view,
        categories=None if categories is None else str(categories.absolute()),
        classes=None if classes is None else str(classes.absolute()),
        class_none=none,
        class_least=least,
        task=task_of(task),
        site_by=SiteKey.parse(site_by),
        also=tuple(sorted(filter(None, renderings))),
        limits=ParseLimits(max_bytes=max_bytes, css=css),
        learn_pages=learn_pages,
        jobs=jobs,
        page_seconds=page_seconds,
        worker_memory=worker_memory << 20,
        rejected=rejected is not None,
        replicas={} if replicas else None,
        columns=ColumnNames(url=url_column, html=html_column, page_id=id_column),
        selection=opt.selection_of(keep, drop, tables=tables),
        corpus=CorpusFilter(languages=opt.names_in(lang or ""), min_words=min_words, quality=quality, signals=signals),
    )
    options = ("method", "favor", "task", "comments", "set_", "stop_words")
    if not any(opt.is_given(context, name) for name in options):
        settings = settings.cleaned_as_trained()
    if settings.cleaning.template.found is not None:
        TemplateList.load(Path(settings.cleaning.template.found))
    guard = opt.guard_of(allow_private, allow, resolve)
    crawling = URLS.settings(
        pages=pages,
        scope=scope,
        delay=delay,
        guard=guard,
        render=render,
        browsers=browsers,
        render_set=opt.check_rendering(render, render_set),
        screenshots=screenshots,
        allow_urls=tuple(allow_url or ()),
        deny_urls=tuple(deny_url or ()),
        sitemaps=sitemaps,
    )
    with stoppable(lambda: _after_stop(inputs, out, tmp)), _named_folder(out, tmp):
        again = resume and is_unfinished(out, tmp)
        check_output(out, output_format(out, format), shards=shard_pages is not None, again=again)
        check_apart(inputs, out, rejected, URLS.kept_file(out) if out != STDOUT and has_urls else None)
        with (
            shown_progress(quiet=quiet) as progress,
            URLS.fetched(inputs, out, crawling, resume=resume, **progress.callbacks) as given,
        ):
            summary = run(
                given,
                out,
                settings,
                format=format,
                shard_pages=shard_pages,
                rejected=rejected,
                resume=resume,
                tmp=tmp,
                engine=opt.chosen_engine(engine, address, jobs),
                **progress.callbacks,
            )
    finish(summary.lines(), quiet=quiet, failed=summary.failed or progress.partial_inputs)


def _check_without_view(context: typer.Context, method: str, pairs: list[str], *, has_categories: bool) -> None:
    """Raise `SettingsError` for what only type, keywords, abstract and relevant links of a record read."""
    opt.check_read(context, "--no-view", "keywords", "sentences")
    for name in (pair.partition("=")[0].strip() for pair in pairs):
        group, _, field = name.partition(".")
        is_read = field not in VIEW_ONLY and (method == group or has_categories)
        if group == DOCVIEW and not is_read:
            raise SettingsError(f"{name} has no effect with --no-view; leave it out")


def _after_stop(inputs: list[str], out: str, tmp: Path | None) -> str:
    """What is kept of a run that was stopped, and how to go on."""
    folder = run_folder(out, tmp)
    if folder is not None and folder.is_dir():
        return f"{folder} has what was done; the same command with --resume continues, and removes it"
    kept = URLS.after_stop(out) if out != STDOUT and any(map(URLS.takes, inputs)) else None
    return kept or UNCHANGED


@contextmanager
def _named_folder(out: str, tmp: Path | None) -> Iterator[None]:
    """Name the working folder that a failed run leaves."""
    try:
        yield
    except (WebwinnowError, OSError):
        folder = run_folder(out, tmp)
        if folder is not None and folder.is_dir():
            kept = f"{folder} has what was done: --resume continues that run, without --resume it is started again"
            sys.stderr.write(f"webwinnow: {kept}\n")
        raise
