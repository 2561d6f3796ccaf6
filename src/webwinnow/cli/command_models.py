"""`webwinnow models`: models of sites merged, packed and shown."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import UNCHANGED, finish, stoppable
from webwinnow.counted import counted
from webwinnow.errors import ModelError, SettingsError
from webwinnow.run.outputs import check_output, opened_output
from webwinnow.site.description import SHOWN_DEPTH, describe_model
from webwinnow.site.learned import NOISE_TREES, LearnedSite
from webwinnow.site.modelstore import ModelFolder, ModelTable, open_models
from webwinnow.site.sums import SiteSums
from webwinnow.storage.atomic import scratch_folder

PANEL = "Learn"

MODEL_FILE = ".npz"
models = typer.Typer(name="models", help="Show, merge or pack site models.", no_args_is_help=True)


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
            sums = SiteSums.merge(SiteSums.load(file, cleaning) for file in files)
            merged.save(sums.site, LearnedSite.of(sums).to_bytes(), sums.to_bytes())
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
                f"; {name} {counted(len(model.part(name)), 'element')}, threshold {model.thresholds[name]:.3f}"
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
