"""`webwinnow learn-items`: the decision trees of method items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.itemlabels import train_items
from webwinnow.cli.terminal import finish
from webwinnow.counted import counted
from webwinnow.methods.itemtraining import TreeSettings
from webwinnow.run.outputs import check_apart, write_bytes

PANEL = "Learn"

_TREES = TreeSettings()


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
