"""`webwinnow clean`: a collection in, one record per page out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from webwinnow import plugins
from webwinnow.cli import options as opt
from webwinnow.cli.terminal import UNCHANGED, finish, shown_progress, stoppable
from webwinnow.errors import WebwinnowError
from webwinnow.methods.registry import CleaningSettings, method_named
from webwinnow.methods.viewsettings import DOCVIEW, VIEW_ONLY, ViewSettings
from webwinnow.run.cleaning import is_unfinished, run, run_folder
from webwinnow.run.outputs import STDOUT, check_apart, check_output, output_format
from webwinnow.run.readers import Reader
from webwinnow.run.settings import Rendering, RunSettings
from webwinnow.settings import SITE, declared
from webwinnow.site.modelstore import open_models
from webwinnow.site.templates import TemplateList

PANEL = "Clean"
URLS: Reader = plugins.load("reader", "url").READER


@opt.settings_options(
    RunSettings,
    URLS.settings,
    hidden=[URLS.settings],
    shown={"crawl.pages": SITE, "crawl.render": SITE},
    hide="shard_pages stop_words tmp address",
)
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
    set_: opt.Settings = None,
    stop_words: opt.StopWords = None,
    replicas: Annotated[
        bool, opt.keeping("Find near-duplicates: replica_of names the page that a record repeats.")
    ] = True,
    resume: opt.Resume = False,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
    engine: opt.Engine = "local",
    address: opt.Address = None,
    **_: Any,
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

    A URL is crawled first (webwinnow crawl); the WARC file is kept beside the output. Every other setting is given with
    --set, as in `--set run.page_seconds=30` or `--set crawl.pages=100`; `webwinnow methods --run` lists them.
    """
    chosen = opt.Chosen(context, RunSettings, URLS.settings, pairs=set_)
    if stop_words is not None:
        chosen.suppose_stop_words(stop_words)
    settings = _run_settings(chosen, is_default_cleaning=stop_words is None)
    has_urls = any(map(URLS.takes, inputs))
    if not has_urls:
        chosen.refuse("without a URL to crawl", *URLS.settings.groups())
    crawling = chosen.settings(URLS.settings)
    if crawling.render == "never":
        chosen.refuse("without --render", "crawl.browsers", "crawl.render_set", "crawl.screenshots")
    settings = replace(
        settings,
        also=tuple(sorted({*settings.also, *(one for one in get_args(Rendering) if one == format)})),
        rejected=rejected is not None,
        replicas=settings.replicas if replicas else None,
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
                engine=opt.chosen_engine(engine, address, settings.jobs),
                **progress.callbacks,
            )
    finish(summary.lines(), quiet=quiet, failed=summary.failed or progress.partial_inputs)


def _run_settings(chosen: opt.Chosen, *, is_default_cleaning: bool) -> RunSettings:
    """The settings of the run, all of which have an effect."""
    settings = chosen.settings(RunSettings)
    chosen.check_method(settings.method)
    if not method_named(settings.method).learns:
        chosen.refuse(f"with --method {settings.method}", "run.models", "run.learn_pages")
    if settings.models is not None:
        chosen.refuse("with --models", "run.learn_pages")
        open_models(Path(settings.models))
    if settings.classes is None:
        chosen.refuse("without --classes", "run.class_none", "run.class_least")
    if not settings.view:
        is_read = settings.method == DOCVIEW or settings.categories is not None
        names = VIEW_ONLY if is_read else declared(ViewSettings)
        chosen.refuse("with --no-view", *(f"{DOCVIEW}.{name}" for name in names))
    if settings.method == "template" and settings.cleaning.template.found is not None:
        TemplateList.load(Path(settings.cleaning.template.found))
    decides = ("method", "task")
    if is_default_cleaning and not any(
        name in decides if group == "run" else name not in VIEW_ONLY and CleaningSettings.group(group) is not None
        for group, name in chosen.given
    ):
        return settings.cleaned_as_trained()
    return settings


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
