"""`webwinnow lists`: lists derived from a whole collection, its templates and its stop words."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.templatefile import list_templates
from webwinnow.cli.terminal import finish, shown_progress
from webwinnow.counted import counted
from webwinnow.errors import PageRefused
from webwinnow.page.words import StopListBuilder, StopListSettings
from webwinnow.record.cleaner import clean_page
from webwinnow.record.sitemodel import tree_of
from webwinnow.run.inputs import open_pages

PANEL = "Learn"

_STOP = StopListSettings()

lists = typer.Typer(
    name="lists", help="Derive a list from a collection: its templates, or its stop words.", no_args_is_help=True
)


@lists.command()
def templates(
    inputs: opt.Inputs,
    out: Annotated[str, opt.out("a JSONL file, or - for standard output")],
    detection: Annotated[
        Literal["global", "local"], opt.setting("Whether pages of a template must be linked (global) or not.")
    ] = "global",
    set_: opt.Settings = None,
    site_by: opt.SiteBy = "host",
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
) -> None:
    """List the templates of a collection (Bar-Yossef and Rajagopalan, 2002): pagelets that linked pages share.

    Pages of several hosts that link to one another may share a template. The list has one line per template, those of
    most pages first, with the pages that have it. Method `template` drops the templates of such a list.

    Examples:

        webwinnow lists templates crawl.warc.gz -o templates.jsonl
        webwinnow clean crawl.warc.gz --method template --set template.found=templates.jsonl -o clean.jsonl
        webwinnow lists templates crawl.warc.gz -o templates.jsonl --set template.links=5 --set template.pages=10
    """
    wanted = opt.cleaning_settings(set_, method="template").template
    with shown_progress(quiet=quiet) as progress:
        settings = opt.parsing_settings(site_by, jobs)
        listed = list_templates(
            inputs,
            out,
            settings,
            linked=detection == "global",
            least=wanted.pages,
            pagelets=wanted.pagelets,
            tmp=tmp,
            **progress.callbacks,
        )
    summary = (
        f"{counted(listed.templates, 'template')} on {listed.with_templates:,} of {counted(listed.pages, 'page')}; "
        f"{counted(listed.failed, 'page')} failed"
    )
    finish([summary], quiet=quiet, failed=listed.failed or progress.partial_inputs)


@lists.command()
def stopwords(
    inputs: opt.Inputs,
    share: Annotated[float, opt.setting("Least share of pages that use a stop word often.")] = _STOP.min_page_share,
    often: Annotated[
        int, opt.setting("A page uses a word often if it has it at least this many times.")
    ] = _STOP.min_term_frequency,
) -> None:
    """List the stop words of a collection (DocView 3.2): words that many pages use often, most widespread first.

    Writes one line per word with the number of pages, tab-separated, to standard output.

    Example:

        webwinnow lists stopwords crawl.warc.gz --share 0.2 > stop.tsv
    """
    builder = StopListBuilder(
        StopListSettings(
            min_page_share=share, min_term_frequency=often, max_missed_share=min(_STOP.max_missed_share, share / 10)
        )
    )
    refused = 0
    with shown_progress(quiet=True) as progress:
        for page in open_pages(inputs, on_problem=progress.note):
            try:
                builder.add(clean_page(tree_of(page)).text)
            except PageRefused:
                refused += 1
    for found in builder.stop_list():
        sys.stdout.write(f"{found.word}\t{found.pages}\n")
    finish([f"webwinnow: {counted(builder.pages, 'page')} read, {refused:,} refused"], failed=progress.partial_inputs)
