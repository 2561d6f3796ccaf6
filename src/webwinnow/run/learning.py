"""Learn the models of a collection's sites, each in a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from webwinnow.errors import ModelError, SettingsError
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.tree import PageTree
from webwinnow.run.parsedcollection import (
    ModelOrder,
    OpenOptions,
    ParsedCollection,
    SiteModelBuilt,
    build_models,
)
from webwinnow.run.settings import CollectionSettings
from webwinnow.run.unpacking import ProblemListener
from webwinnow.site.epochs import FAMILIAR
from webwinnow.site.modelstore import ModelFolder

if TYPE_CHECKING:
    from webwinnow.run.engines.clusterengine import ClusterEngine

SAMPLE_PAGES = 20
"""Pages to show for a series of thresholds (thesis 5.3)."""
SHOWN_ERRORS = 8


@dataclass(slots=True)
class Learned:
    """The numbers of sites and pages of a learning run.

    For an update also: sites with a new epoch, sites without new pages, and the names of redesigned sites.
    """

    sites: int = 0
    pages: int = 0
    failed_pages: int = 0
    failed_sites: int = 0
    updated: int = 0
    unchanged: int = 0
    redesigned: list[str] = field(default_factory=list)


def learn_sites(
    inputs: Sequence[str | Path],
    out: Path,
    settings: CollectionSettings,
    *,
    cleaning: CleaningSettings | None = None,
    sums: bool = True,
    update: int | None = None,
    on_sample: Callable[[str, list[PageTree]], None] | None = None,
    sample: int = SAMPLE_PAGES,
    engine: ClusterEngine | None = None,
    **options: Unpack[OpenOptions],
) -> Learned:
    """Learn every site of a collection and write the models into the folder `out`, with their sums unless unwanted.

    - `cleaning`: the settings of the trees: `gamma`, `overlap` and `threshold`, which is learned unless set.
    - `update`: the pages are a new epoch of each site that `out` has; the new model joins this many last epochs.
    - `on_sample(site, trees)`: gets up to `sample` pages that a site was learned from, once its model is written.
    - `engine`: a cluster (`webwinnow.run.engines`), which has no samples.
    """
    if engine is not None and on_sample is not None:
        raise SettingsError("a cluster shows no pages of the sites it learns; leave out the engine")
    settings.site_by.check_sites("learning")
    order = ModelOrder(str(out.absolute()), settings.learn_pages, cleaning or CleaningSettings(), sums, update)
    with ExitStack() as opened:
        was_there = out.is_dir()
        if was_there:
            opened.enter_context(ModelFolder(out, make=True).writing())
        collection = opened.enter_context(ParsedCollection.open(inputs, settings, engine=engine, **options))
        store, note = collection.store, collection.on_problem
        folder = ModelFolder(out, make=True)
        if not was_there:
            opened.enter_context(folder.writing())
        learned = Learned(pages=collection.page_count, failed_pages=collection.failed_count)
        collection.report_errors(SHOWN_ERRORS)
        sizes, done = dict(store.sites()), 0
        for built in (
            build_models(store, collection.pool, order)
            if engine is None
            else engine.build_models(store, settings, order)
        ):
            done += sizes[built.site]
            collection.progress("learn", done, learned.pages)
            error = built.error or (_damage(folder, built.site) if built.model is None else None)
            if error is not None:
                learned.failed_sites += 1
                note(f"{built.site} could not be learned: {error}")
                continue
            _save(folder, built, update or 1, learned, note)
            learned.sites += 1
            if on_sample is not None:
                on_sample(built.site, list(collection.chosen_trees(built.site, sample)))
    return learned


def _damage(folder: ModelFolder, site: str) -> str | None:
    """What is wrong with the model of a site that an update leaves as it is."""
    try:
        missing = folder.find(site) is None
    except ModelError as error:
        return str(error)
    return f"{folder.model_path(site)} is missing; learn the site again without --update" if missing else None


def _save(folder: ModelFolder, built: SiteModelBuilt, most: int, learned: Learned, note: ProblemListener) -> None:
    """Save the model of a site, and report a redesign."""
    if built.model is None:
        learned.unchanged += 1
        if built.familiar < FAMILIAR:
            note(f"{built.site}: its few new pages resemble none of the known ones and are left out")
    elif built.is_update and not built.redesigned and built.sums is not None:
        folder.save_epoch(built.site, built.model, built.sums, most)
        learned.updated += 1
    else:
        folder.save(built.site, built.model, built.sums)
    if built.redesigned:
        learned.redesigned.append(built.site)
        note(
            f"{built.site} looks redesigned: only {built.familiar:.0%} of what its new pages show is where it was "
            "before; earlier epochs are dropped"
        )
