"""Method `items`: drop links and pictures that decision trees call noisy (AdEater, nepotistic links; thesis 3.1).

All other text stays: the method knows no other kind of noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from webwinnow._kernels import topmost
from webwinnow.cleaning.verdict import (
    HIDDEN_REASON,
    KEPT_REASON,
    NOISY_ITEM_REASON,
    Verdict,
    keep_around,
    reasons_of_nodes,
)
from webwinnow.errors import SettingsError
from webwinnow.itemmodel import ItemModel, items_of
from webwinnow.pagetree import PageTree

__all__ = ["ItemSettings", "clean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSettings:
    """`noisy`: an item goes if it is likelier noisy than this. `trees`: a file of trees, None for those that ship."""

    noisy: float = 0.5
    trees: str | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.noisy < 1.0:
            raise SettingsError(f"how likely noisy an item must be lies from 0 to below 1, not at {self.noisy}")


def clean(tree: PageTree, settings: ItemSettings | None = None) -> Verdict:
    """Drop the text of noisy links, and noisy pictures."""
    settings = settings or ItemSettings()
    model = ItemModel.load(None if settings.trees is None else Path(settings.trees))
    score = np.ones(len(tree), np.float32)
    noisy = {}
    for kind, decides in model.trees.items():
        items = items_of(tree, kind, decides.names)
        share = decides.noisy_share(items)
        score[items.node] = 1 - share
        noisy[kind] = np.zeros(len(tree), np.bool_)
        noisy[kind][items.node[share > settings.noisy]] = True
    in_noisy_link = topmost(tree.parent, noisy["link"]) >= 0
    visible = tree.visible[tree.run_owner]
    run_reason = np.where(
        visible, np.where(in_noisy_link, NOISY_ITEM_REASON, KEPT_REASON)[tree.run_owner], HIDDEN_REASON
    ).astype(np.uint8)
    keep_runs = run_reason == KEPT_REASON
    keep = keep_around(tree, keep_runs) & ~noisy["image"]
    return Verdict(
        method="items",
        keep=keep,
        keep_runs=keep_runs,
        reason=reasons_of_nodes(tree, keep, run_reason, KEPT_REASON, NOISY_ITEM_REASON),
        run_reason=run_reason,
        score=score,
        weight=keep.astype(np.float32),
        kind=np.zeros(len(tree), np.uint8),
    )
