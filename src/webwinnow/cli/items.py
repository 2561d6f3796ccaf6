"""`webwinnow items`: the rules by which method `items` tells noisy links and pictures."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from webwinnow.itemmodel import ItemModel

__all__ = ["items"]

ItemKind = StrEnum("ItemKind", ["link", "image"])


def items(
    kind: Annotated[ItemKind | None, typer.Option(help="Only the rules for links, or for pictures.")] = None,
) -> None:
    """Show the rules by which method `items` tells noisy links and pictures, those of most items first.

    Examples:

        webwinnow items

        webwinnow items --kind image
    """
    model = ItemModel.load()
    for name, tree in model.trees.items():
        if kind is None or kind.value == name:
            sys.stdout.write(f"# {name}: {model.about.get(name)}\n" + "\n".join(tree.rules()) + "\n")
