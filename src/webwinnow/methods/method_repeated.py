"""Method `repeated`: drop only the text that a site repeats on a large share of its pages. Simple, high recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from webwinnow.judge.verdict import Reason, Verdict, keep_around, without_site
from webwinnow.methods.registry import Method
from webwinnow.methods.settings import MinPages
from webwinnow.page.page import Page
from webwinnow.settings import Settings, setting
from webwinnow.site.learned import LearnedSite
from webwinnow.site.part_texts import block_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedSettings(Settings):
    """Settings of method `repeated`."""

    share: Annotated[
        float, setting("remove a text that is on at least this share of the learned pages", above=0, most=1)
    ] = 0.5
    min_pages: MinPages = 3


def clean(page: Page, model: LearnedSite | None, settings: RepeatedSettings) -> Verdict:
    """Keep what is visible and not repeated on the site; each block of text is kept or removed as a whole."""
    tree, blocks = page.tree, page.blocks
    visible = tree.visible_runs
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        share = np.zeros(len(blocks))
    else:
        share = model.pages_that_say(block_keys(blocks)) / model.pages
    of_run = share[blocks.of_run()]
    keep_runs = visible & ~(of_run >= settings.share)
    keep = keep_around(tree, keep_runs)
    reason = np.where(keep, Reason.KEPT, np.where(tree.visible, Reason.REPEATED, Reason.HIDDEN))
    run_reason = np.where(keep_runs, Reason.KEPT, np.where(visible, Reason.REPEATED, Reason.HIDDEN))
    score = np.ones(len(tree), np.float32)
    np.minimum.at(score, tree.run_owner, (1 - of_run).astype(np.float32))
    return Verdict(
        method="repeated",
        keep=keep,
        keep_runs=keep_runs,
        reason=reason.astype(np.uint8),
        run_reason=run_reason.astype(np.uint8),
        score=score,
        weight=keep.astype(np.float32),
        kind=np.zeros(len(tree), np.uint8),
        note=note,
    )


METHOD = Method(
    "repeated",
    "remove only what the site repeats",
    clean,
    parts=frozenset({"texts"}),
    settings=RepeatedSettings,
)
