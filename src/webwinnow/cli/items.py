"""`webwinnow items`: the rules by which method `items` tells noisy links and pictures."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from webwinnow.cleaning.items import ItemModel

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
            sys.stdout.write("\n".join([_learned(name, model.about[name]), *tree.rules()]) + "\n")


def _learned(kind: str, about: dict[str, Any]) -> str:
    """What the rules of a kind were learned from, and how well they do on sites that they were not learned from."""
    unseen = about["unseen sites"]
    return (
        f"# {kind}: learned from {about['items']:,} {kind}s on {about['pages']:,} pages; on unseen sites "
        f"{unseen['accuracy']:.1%} are told right, {unseen['always noisy']:.1%} if all were called noisy; "
        f"noise is told with precision {unseen['precision']:.3f}, recall {unseen['recall']:.3f}"
    )
