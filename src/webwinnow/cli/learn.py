"""`webwinnow learn` and `webwinnow models`: models of sites, learned, merged, packed and shown."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cleaning import sst
from webwinnow.cleaning.itemtraining import TreeSettings
from webwinnow.cli import options as opt
from webwinnow.cli.terminal import UNCHANGED, finish, shown_progress, stoppable
from webwinnow.collection.settings import CollectionSettings
from webwinnow.commands.itemlabels import train_items
from webwinnow.commands.learn import SAMPLE_PAGES, learn_sites
from webwinnow.counted import counted
from webwinnow.errors import ModelError, SettingsError
from webwinnow.io import check_apart, check_output
from webwinnow.io.outputs import opened_output, write_bytes
from webwinnow.pagetree import PageTree
from webwinnow.parsing import ParseLimits
from webwinnow.site.description import SHOWN_DEPTH, describe_model
from webwinnow.site.epochs import EPOCHS
from webwinnow.site.learned import NOISE_TREES, LearnedSite
from webwinnow.site.modelstore import ModelFolder, ModelTable, open_models
from webwinnow.site.sums import LEARNED_PAGES, SiteSums
from webwinnow.storage import scratch_folder
from webwinnow.urls import SiteKey

MODEL_FILE = ".npz"
FINISHED_SITES = "the sites that were finished, if any. Run the same command again"
_TREES = TreeSettings()
models = typer.Typer(name="models", help="Show, merge or pack site models.", no_args_is_help=True)


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


def learn_items(
    labels: Annotated[
        list[Path],
        typer.Argument(metavar="LABELS...", help="JSONL or Parquet files, one labelled item per row."),
    ],
    out: Annotated[
        Path, opt.out("an .npz file for --set items.trees, or - for standard output", callback=opt.written(".npz"))
    ],
    leaves: Annotated[int, opt.setting("Leaves of a tree, at most.")] = _TREES.leaves,
    leaf_items: Annotated[int, opt.setting("Least number of items in a leaf.")] = _TREES.leaf_items,
    phrase_sites: Annotated[int, opt.setting("Least number of sites of a phrase to test.")] = _TREES.phrase_sites,
    folds: Annotated[int, opt.setting("Parts of the sites, left out in turn to measure the trees.")] = _TREES.folds,
    quiet: opt.Quiet = False,
) -> None:
    """Learn the decision trees of method items from labelled images and links, and measure them on sites left out.

    A row has kind (image or link), item (its URL, as on the page or absolute), label (ad or other for an image,
    nepotistic or editorial for a link), url (of the page), and the page as html or as path, relative to the file.

    Examples:

        webwinnow learn-items labels.jsonl -o trees.npz
        webwinnow clean crawl.warc.gz --method items --set items.trees=trees.npz -o clean.jsonl
    """
    check_apart(labels, out)
    settings = TreeSettings(leaves=leaves, leaf_items=leaf_items, phrase_sites=phrase_sites, folds=folds)
    model = train_items(labels, settings)
    write_bytes(out, model.to_bytes())
    finish([*map(model.summary, model.trees), f"{counted(len(model.trees), 'tree')} written to {out}"], quiet=quiet)


@models.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(metavar="MODELS...", help="Folders that webwinnow learn wrote.")],
    out: Annotated[Path, opt.out_folder("a folder, one model for each site")],
    set_: opt.Settings = None,
) -> None:
    """Merge models learned from different pages: the result equals learning all pages at once.

    Example:

        webwinnow models merge monday tuesday -o both
    """
    cleaning = opt.learning_settings(set_)
    found: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        if folder.resolve() == out.resolve():
            raise ModelError(f"{out} is one of the folders to merge; expected another output folder")
        for name, files in ModelFolder(folder).sums():
            found[name] += files
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    with stoppable(UNCHANGED), scratch_folder(out.absolute().parent) as scratch:
        merged, sites = ModelFolder(scratch, make=True), []
        for _, files in sorted(found.items()):
            sums = SiteSums.merge(map(SiteSums.load, files))
            merged.save(sums.site, cleaning.learned(sums).to_bytes(), sums.to_bytes())
            sites.append(sums.site)
        target = ModelFolder(out, make=True)  # once all could be merged
        with target.writing():
            for site in sites:
                target.save(site, merged.model_path(site).read_bytes(), merged.sums_path(site).read_bytes())
    finish([f"{counted(len(found), 'site')} of {counted(len(folders), 'folder')} merged into {out}"])


@models.command()
def pack(
    folder: Annotated[Path, typer.Argument(metavar="MODELS", help="A folder that webwinnow learn wrote.")],
    out: Annotated[Path, opt.out("a .parquet file, or - for standard output", callback=opt.written(".parquet"))],
) -> None:
    """Pack the models of a folder into one Parquet file for clean --models. Sums are not packed.

    Example:

        webwinnow models pack models -o models.parquet
    """
    check_output(out, "parquet")
    with opened_output(out) as file:
        packed = ModelTable.pack_into(ModelFolder(folder), file)
    finish([f"{counted(packed, 'model')} packed into {out}"])


@models.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="MODELS|FILE", help="A folder of models, or one model.")],
    site: Annotated[str | None, opt.site(": show its tree")] = None,
    levels: Annotated[int, opt.writing("How many levels of the tree to show.", min=0)] = SHOWN_DEPTH,
    tree: Annotated[str | None, opt.writing(f"Which tree to show: {' or '.join(NOISE_TREES)}.")] = None,
) -> None:
    """Show what a model has learned: which parts of the site repeat, which vary, on how many pages.

    Models of a folder that cannot be read are named on stderr, and the exit code is 1.

    Examples:

        webwinnow models show models
        webwinnow models show models --site www.example.org
    """
    if tree not in (None, *NOISE_TREES):
        raise SettingsError(f"there is no tree {tree!r}; there are: {', '.join(NOISE_TREES)}")
    damaged: list[str] = []
    if path.is_file() and path.suffix == MODEL_FILE:
        model = LearnedSite.load(path)
        if site not in (None, model.site):
            raise ModelError(f"{path} is the model of {model.site!r}, not of {site!r}; leave --site out")
        lines = list(describe_model(model, levels, tree))
    elif site is not None:
        found = open_models(path).find(site)
        if found is None:
            raise ModelError(f"{path} has no model of {site}; webwinnow models show {path} lists those it has")
        lines = list(describe_model(found, levels, tree))
    else:
        lines = [
            f"{model.shown_name}: {counted(model.pages, 'page')}"
            + "".join(
                f"; {name} {counted(len(model.noise_tree(name)), 'element')}, threshold {model.thresholds[name]:.3f}"
                for name in model.noise_trees
            )
            for model in _readable_models(open_models(path), damaged.append)
        ]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    finish([f"webwinnow: {error}" for error in damaged], failed=damaged)


def _readable_models(known: ModelFolder | ModelTable, on_damaged: Callable[[str], None]) -> Iterator[LearnedSite]:
    """All models that can be read; `on_damaged` gets the error of each other one."""
    if isinstance(known, ModelTable):
        yield from known.models(on_damaged)
        return
    for path in known.models():
        try:
            yield LearnedSite.load(path)
        except ModelError as error:
            on_damaged(str(error))
