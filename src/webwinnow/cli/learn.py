"""`webwinnow learn` and `webwinnow models`: models of sites, made, merged and shown."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cleaning import sst
from webwinnow.cleaning.sst import SstSettings
from webwinnow.cli.engines import Address, EngineName, chosen_engine
from webwinnow.cli.progress import shown_progress
from webwinnow.collection.settings import RunSettings
from webwinnow.commands.learn import learn_sites
from webwinnow.errors import ModelError, SettingsError
from webwinnow.io import check_output
from webwinnow.methods import CleaningSettings
from webwinnow.pagetree import PageTree
from webwinnow.site.description import SHOWN_DEPTH, describe_model
from webwinnow.site.epochs import EPOCHS
from webwinnow.site.learned import LearnedSite
from webwinnow.site.modelstore import ModelFolder, ModelTable, open_models
from webwinnow.site.sampling import LEARNED_PAGES
from webwinnow.site.sums import SiteSums
from webwinnow.urls import SiteKey

__all__ = ["learn", "models"]

MODEL_FILE = ".npz"
models = typer.Typer(help="Look at models of sites, or merge them.", no_args_is_help=True)


def learn(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="HTML, WARC, WACZ, JSONL or Parquet files, folders, or -.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder that the models go into, one a site.")],
    site_by: Annotated[
        str, typer.Option(help="What makes pages one site: host, domain, prefix:N, column or none.")
    ] = "host",
    try_thresholds: Annotated[
        bool, typer.Option("--try-thresholds", help="Show what a row of thresholds would keep of 20 pages a site.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="Set the threshold of the site style tree by hand; the site's own if not given."),
    ] = None,
    pages: Annotated[int, typer.Option(min=1, help="Learn from at most so many pages of a site.")] = LEARNED_PAGES,
    sums: Annotated[
        bool, typer.Option(help="Keep the sums beside each model; only with them models can merge.")
    ] = True,
    update: Annotated[
        bool,
        typer.Option("--update", help="The pages are a new crawl of sites that the folder may know: an epoch more."),
    ] = False,
    epochs: Annotated[int, typer.Option(min=1, help="--update: a model joins the last so many epochs.")] = EPOCHS,
    engine: EngineName = "local",
    address: Address = None,
    jobs: Annotated[int, typer.Option(help="Worker processes; 0 for one a core.")] = 0,
    tmp: Annotated[
        Path | None, typer.Option(help="Where to keep the working files; ray, spark: where all machines reach them.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Learn how each site of a crawl is built, and keep it: a model a site, to clean its pages with from now on.

    Examples:

        webwinnow learn crawl.warc.gz -o models

        webwinnow clean new-pages.warc.gz --models models --method sst -o clean.jsonl

        webwinnow learn crawl.warc.gz -o models --try-thresholds

        webwinnow learn november.warc.gz -o models --update

        webwinnow learn crawl/ -o models --engine ray
    """
    if try_thresholds and engine != "local":
        raise SettingsError("--try-thresholds shows pages, which a cluster does not bring here; leave out --engine")
    if update and not sums:
        raise SettingsError("--update needs the sums of each epoch; leave out --no-sums")
    settings = RunSettings(
        method="sst",
        cleaning=CleaningSettings(sst=SstSettings(threshold=threshold)),
        site_by=SiteKey.parse(site_by),
        jobs=jobs,
        learn_pages=pages,
        keep_trees=True,
    )

    def show(site: str, trees: list[PageTree]) -> None:
        """Show what a row of thresholds would do."""
        model = ModelFolder(out).find(site)
        assert model is not None
        trials = sst.try_thresholds(model, trees)
        sys.stdout.write("\n".join(sst.shown_trials(model, trees, trials)) + "\n\n")

    with shown_progress(quiet=quiet) as progress:
        learned = learn_sites(
            inputs,
            out,
            settings,
            sums=sums,
            tmp=tmp,
            on_progress=progress.update,
            on_problem=progress.note,
            on_sample=show if try_thresholds else None,
            update=epochs if update else None,
            engine=chosen_engine(engine, address, jobs),
        )
    if not quiet:
        sys.stderr.write(
            f"{learned.sites:,} sites learned from {learned.pages:,} pages into {out}; "
            f"{learned.failed_pages:,} pages and {learned.failed_sites:,} sites failed\n"
        )
        if update:
            sys.stderr.write(
                f"{learned.updated:,} sites got a new epoch, {learned.unchanged:,} had no new page, "
                f"{len(learned.redesigned):,} were redesigned\n"
            )
    if learned.failed_pages or learned.failed_sites:
        raise typer.Exit(1)


@models.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(metavar="MODELS...", help="Folders that webwinnow learn wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder that the merged models go into.")],
) -> None:
    """Merge models that were learned from different pages: exactly what learning all pages at once would give.

    Example:

        webwinnow models merge monday tuesday -o both
    """
    found: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        if folder.resolve() == out.resolve():
            raise ModelError(f"{out} is one of the folders to merge; expected another for what comes out")
        for name, files in ModelFolder(folder).sums():
            found[name] += files
    target = ModelFolder(out, make=True)
    for _, files in sorted(found.items()):
        merged = SiteSums.merge(map(SiteSums.load, files))
        target.save(merged.site, LearnedSite.of(merged).to_bytes(), merged.to_bytes())
    sys.stderr.write(f"{len(found):,} sites of {len(folders):,} folders merged into {out}\n")


@models.command()
def pack(
    folder: Annotated[Path, typer.Argument(metavar="MODELS", help="A folder that webwinnow learn wrote.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The Parquet file that the models go into.")],
) -> None:
    """Pack the models of a folder into one Parquet file, which clean --models reads too; sums stay behind.

    Example:

        webwinnow models pack models -o models.parquet
    """
    check_output(out, "parquet")
    packed = ModelTable.pack(ModelFolder(folder), out)
    sys.stderr.write(f"{packed:,} models packed into {out}\n")


@models.command()
def show(
    path: Annotated[Path, typer.Argument(metavar="MODELS|FILE", help="A folder of models, or one model.")],
    site: Annotated[str | None, typer.Option(help="Show the tree of this site of the folder.")] = None,
    depth: Annotated[int, typer.Option(min=0, help="How many levels of the tree to draw.")] = SHOWN_DEPTH,
) -> None:
    """Show what a model knows: which parts of the site repeat, which vary, on how many pages.

    Models of a folder that cannot be read are named on stderr, and the exit code is 1.

    Examples:

        webwinnow models show models

        webwinnow models show models --site www.example.org
    """
    damaged: list[str] = []
    if path.is_file() and path.suffix == MODEL_FILE:
        model = LearnedSite.load(path)
        if site not in (None, model.site):
            raise ModelError(f"{path} is the model of {model.site!r}, not of {site!r}; leave --site out")
        lines = list(describe_model(model, depth))
    elif site is not None:
        found = open_models(path).find(site)
        if found is None:
            raise ModelError(f"{path} has no model of {site}; webwinnow models show {path} lists those it has")
        lines = list(describe_model(found, depth))
    else:
        lines = [
            f"{model.shown_name}: {model.pages:,} pages, {0 if model.sst is None else len(model.sst):,} elements, "
            f"threshold {model.threshold:.3f}"
            for model in _whole_models(open_models(path), damaged.append)
        ]
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.stderr.writelines(f"webwinnow: {error}\n" for error in damaged)
    if damaged:
        raise typer.Exit(1)


def _whole_models(known: ModelFolder | ModelTable, on_damaged: Callable[[str], None]) -> Iterator[LearnedSite]:
    """All models that can be read; `on_damaged` is told what is wrong with the others."""
    if isinstance(known, ModelTable):
        yield from known.models(on_damaged)
        return
    for path in known.models():
        try:
            yield LearnedSite.load(path)
        except ModelError as error:
            on_damaged(str(error))
