"""A site over time: each crawl is an epoch with its own sums, and a model joins the last few epochs.

Sums are never scaled: an epoch counts in full until it is dropped. A page that an earlier epoch learned, word for word,
is not learned again, since replicas would make their own content look like template. If the new pages share few paths
with the earlier ones, the site was redesigned, and the earlier epochs are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from webwinnow.judge.evidence import evidence_of
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.site.blocktable import BlockRows
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sums import BLOCKS, SiteSums

EPOCHS: Final = 3
"""Epochs that a model joins. Ours: for a site that is crawled monthly, a quarter of a year."""
FAMILIAR: Final = 0.5
"""Below this share of blocks with known paths a site was redesigned."""
LEAST_REDESIGNED: Final = 3
"""Fewer unfamiliar pages, for example a login page, say nothing about a site and are left out."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """The result of a new crawl: the joined model, and the sums of the new pages.

    `model` and `sums` are None if no page is new, or the new ones are few and unfamiliar. `familiar` is the share of
    blocks with known paths.
    """

    model: LearnedSite | None
    sums: SiteSums | None
    familiar: float
    redesigned: bool


def familiarity(earlier: BlockRows, new: BlockRows) -> float:
    """The share of the new pages' blocks whose paths the earlier pages have, as a mean over pages."""
    if not len(new.page_key) or not len(new.page):
        return 1.0
    known = np.isin(new.path, earlier.path)
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
    """Join a new crawl of a site, read once or twice, to the sums of earlier epochs, oldest first."""
    kept = list(earlier[-(epochs - 1) :]) if epochs > 1 else []
    known = {key for sums in kept for key in sums.keys}
    joined = known.union(*(sums.keys for sums in earlier[-epochs:])) if epochs > 1 else known
    fresh, shown = earlier[-1].again(), []
    for page in map(Page, trees()):
        beat()
        shown.append(BlockRows.of_page(page.fingerprint, evidence_of(page)))
        if page.fingerprint not in known:
            fresh.add(page)
    has_blocks = BLOCKS in fresh.parts
    rows = [sums.blocks.sums() for sums in earlier] if has_blocks else []
    familiar = familiarity(BlockRows.merge(rows), BlockRows.merge(shown))
    if has_blocks and familiar < FAMILIAR:
        if len(shown) < LEAST_REDESIGNED:
            return Epoch(None, None, familiar, False)
        whole = fresh.again()
        for tree in trees():
            beat()
            whole.add(tree)
        return Epoch(LearnedSite.of(whole), whole, familiar, True)
    if joined.issuperset(fresh.keys):
        return Epoch(None, None, familiar, False)
    return Epoch(LearnedSite.of(SiteSums.merge([*kept, fresh])), fresh, familiar, False)
