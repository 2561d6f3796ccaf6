"""`webwinnow learn`: a model of each site of a crawl."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import finish, shown_progress, stoppable
from webwinnow.counted import counted
from webwinnow.errors import SettingsError
from webwinnow.methods import method_sst as sst
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey
from webwinnow.run.learning import SAMPLE_PAGES, learn_sites
from webwinnow.run.settings import CollectionSettings
from webwinnow.site.epochs import EPOCHS
from webwinnow.site.modelstore import ModelFolder
from webwinnow.site.sums import LEARNED_PAGES

PANEL = "Learn"

FINISHED_SITES = "the sites that were finished, if any. Run the same command again"


def learn(
    context: typer.Context,
    inputs: opt.Inputs,
    out: Annotated[Path, opt.out_folder("a folder, one model for each site")],
    site_by: opt.SiteBy = "host",
    pages: Annotated[int, opt.most_pages(", to learn from")] = LEARNED_PAGES,
    css: opt.Css = False,
    set_: opt.Settings = None,
    stop_words: opt.StopWords = None,
    try_thresholds: Annotated[
        bool, opt.writing("Show what several thresholds keep of some pages of each site.", "--try-thresholds")
    ] = False,
    try_pages: Annotated[int, opt.writing("With --try-thresholds: how many pages.", min=1)] = SAMPLE_PAGES,
    sums: Annotated[bool, opt.writing("Keep the sums beside each model; merging and updating need them.")] = True,
    update: Annotated[bool, opt.writing("Add the pages as a new crawl (epoch) of known sites.", "--update")] = False,
    epochs: Annotated[int, opt.writing("With --update: how many of the latest epochs a model joins.", min=1)] = EPOCHS,
    jobs: opt.Jobs = 0,
    tmp: opt.Tmp = None,
    quiet: opt.Quiet = False,
    engine: opt.Engine = "local",
    address: opt.Address = None,
) -> None:
    """Learn how each site of a crawl is built, and save one model per site to clean its pages with.

    Exit code 1 if any page or site failed.

    Examples:

        webwinnow learn crawl.warc.gz -o models
        webwinnow clean new-pages.warc.gz --models models --method sst -o clean.jsonl
        webwinnow learn crawl.warc.gz -o models --try-thresholds
        webwinnow learn november.warc.gz -o models --update
        webwinnow learn crawl/ -o models --engine ray
    """
    if try_thresholds and engine != "local":
        raise SettingsError("--try-thresholds needs the pages, which a cluster does not return; leave out --engine")
    if update and not sums:
        raise SettingsError("--update needs the sums of each epoch; leave out --no-sums")
    if not update:
        opt.check_needs(context, "--update", "epochs")
    if not try_thresholds:
        opt.check_needs(context, "--try-thresholds", "try_pages")
    settings = CollectionSettings(
        site_by=SiteKey.parse(site_by), limits=ParseLimits(css=css), jobs=jobs, learn_pages=pages
    )
    cleaning = opt.learning_settings(set_, stop_words)
    if sums and cleaning.segments.stop_words is not None:
        raise SettingsError("a model keeps its list of stop words, but the sums beside it do not; add --no-sums")

    def show(site: str, trees: list[PageTree]) -> None:
        """Print what each of a range of thresholds keeps."""
        model = ModelFolder(out).find(site)
        assert model is not None
        for own in (cleaning.sst, cleaning.aligned):
            trials = sst.try_thresholds(model, trees, settings=own)
            sys.stdout.write("\n".join(sst.shown_trials(model, trees, trials, own.TREE)) + "\n\n")

    with stoppable(f"{out} has the models of {FINISHED_SITES}"), shown_progress(quiet=quiet) as progress:
        learned = learn_sites(
            inputs,
            out,
            settings,
            cleaning=cleaning,
            sums=sums,
            tmp=tmp,
            on_sample=show if try_thresholds else None,
            sample=try_pages,
            update=epochs if update else None,
            engine=opt.chosen_engine(engine, address, jobs),
            **progress.callbacks,
        )
    summary = [
        f"{counted(learned.sites, 'site')} learned from {counted(learned.pages, 'page')} into {out}; "
        f"{counted(learned.failed_pages, 'page')} and {counted(learned.failed_sites, 'site')} failed"
    ]
    if update:
        summary.append(
            f"{counted(learned.updated, 'site')} got a new epoch, {learned.unchanged:,} had no new page, "
            f"{len(learned.redesigned):,} {'was' if len(learned.redesigned) == 1 else 'were'} redesigned"
        )
    finish(summary, quiet=quiet, failed=learned.failed_pages or learned.failed_sites or progress.partial_inputs)
