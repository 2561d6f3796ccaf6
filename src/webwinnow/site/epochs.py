"""A site over time: each crawl of it is an epoch with sums of its own, and a model joins the last few.

Sums are never scaled: an epoch counts in full until it falls out. A page that an earlier epoch has learned, word for
word, is not learned again, since replicas would make their own content look like template. Where the new pages hardly
know the places of the earlier ones, the site was redesigned: then what was known of it goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from webwinnow.fingerprints import page_fingerprint
from webwinnow.pagemodel import PageEvidence
from webwinnow.pagetree import PageTree
from webwinnow.site.blocktable import BlockRows
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sums import BLOCKS, SiteSums

__all__ = ["EPOCHS", "FAMILIAR", "LEAST_REDESIGNED", "Epoch", "familiarity", "join_epoch"]

EPOCHS: Final = 3
"""Epochs that a model joins. Ours: a site that is crawled each month is known by a quarter of a year."""
FAMILIAR: Final = 0.5
"""Below this share of blocks at known places a site was redesigned."""
LEAST_REDESIGNED: Final = 3
"""Fewer strange pages, say one that asks who is there, tell nothing of a site: they are left out."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """What a new crawl of a site gives: the joined model, and the sums of the pages that are new.

    `model` and `sums` are None if no page is new, or few are and all are strange. `familiar` is the share of blocks at
    places that were known.
    """

    model: LearnedSite | None
    sums: SiteSums | None
    familiar: float
    redesigned: bool


def familiarity(earlier: BlockRows, new: BlockRows) -> float:
    """The share of the new pages' blocks that stand at places (ways) of the earlier ones, as a mean over pages."""
    if not len(new.page_key) or not len(new.page):
        return 1.0
    known = np.isin(new.way, earlier.way)
    blocks = np.bincount(new.page, minlength=len(new.page_key))
    share = np.bincount(new.page, weights=known, minlength=len(new.page_key))[blocks > 0] / blocks[blocks > 0]
    return float(share.mean())


def join_epoch(
    earlier: Sequence[SiteSums],
    trees: Callable[[], Iterable[PageTree]],
    *,
    epochs: int = EPOCHS,
    beat: Callable[[], None] = lambda: None,
) -> Epoch:
    """Join a new crawl of a site, gone through once or twice, to the sums of earlier epochs, oldest first."""
    kept = list(earlier[-(epochs - 1) :]) if epochs > 1 else []
    known = {key for sums in kept for key in sums.keys}
    site, parts = earlier[-1].site, earlier[-1].parts
    fresh, shown = SiteSums(site, parts), []
    for tree in trees():
        beat()
        key, evidence = page_fingerprint(tree), PageEvidence.of(tree)
        shown.append(BlockRows.of_page(key, evidence))
        if key not in known:
            fresh.add(tree, evidence)
    familiar = familiarity(BlockRows.merge([sums.blocks() for sums in earlier]), BlockRows.merge(shown))
    if BLOCKS in parts and familiar < FAMILIAR:
        if len(shown) < LEAST_REDESIGNED:
            return Epoch(None, None, familiar, False)
        whole = SiteSums(site, parts)
        for tree in trees():
            beat()
            whole.add(tree)
        return Epoch(LearnedSite.of(whole), whole, familiar, True)
    if not fresh.pages:
        return Epoch(None, None, familiar, False)
    return Epoch(LearnedSite.of(SiteSums.merge([*kept, fresh])), fresh, familiar, False)
