"""Links and pictures of a page, one by one: what they look like, and decision trees that tell the noisy ones."""

from __future__ import annotations

from webwinnow.itemmodel.model import ItemModel, ItemTree
from webwinnow.itemmodel.traits import KINDS, Items, items_of

__all__ = ["KINDS", "ItemModel", "ItemTree", "Items", "items_of"]
