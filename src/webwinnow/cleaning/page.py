"""Method `page`: what the page alone tells. The page model scores each block; the cut is chosen for this page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.blocks import cut
from webwinnow.cleaning.noise import KIND_CODE
from webwinnow.cleaning.posts import is_for_posts, nodes_of, ruled
from webwinnow.cleaning.verdict import (
    CONTENT_REASON,
    HIDDEN_REASON,
    KEPT_POSTS_REASON,
    NO_CONTENT_REASON,
    POSTS_REASON,
    REPEATED_REASON,
    UNLIKELY_REASON,
    Verdict,
    keep_around,
)
from webwinnow.errors import SettingsError
from webwinnow.pagemodel import Favor, PageEvidence, PageModel
from webwinnow.pagemodel.cut import BETA
from webwinnow.pagetree import PageTree

__all__ = ["NO_CONTENT_BELOW", "PageSettings", "clean", "verdict_of"]

NO_CONTENT_BELOW = 0.3
"""A page with a lower confidence has no main content: what it would keep is navigation. Pages with content hardly ever
have so little (last table of benchmarks/page_quality.py)."""
JUDGED_WORDS = 50
"""A page of fewer words is never said to be without main content: too little is there to tell."""
HIDDEN_ABOVE = 0.5
"""What browsers do not show stays only if it is likelier content than not, wherever the page's cut lies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings:
    """`favor`: `precision` or `recall` leans the cut; None balances the two.

    `comments`: True keeps what readers wrote (comments, reviews, forum posts) on every page, False on none; None keeps
    it where it is what the page is for.
    """

    favor: Favor | None = None
    comments: bool | None = None

    def __post_init__(self) -> None:
        if self.favor not in BETA:
            raise SettingsError(f"favor is {self.favor!r}: expected precision, recall or nothing")
        if self.comments not in (None, True, False):
            raise SettingsError(f"comments is {self.comments!r}: expected True, False or None")


def clean(tree: PageTree, settings: PageSettings | None = None, model: PageModel | None = None) -> Verdict:
    """Keep the blocks that are likely main content, hidden ones too: scripts reveal them."""
    settings = settings or PageSettings()
    model = model or PageModel.load()
    evidence = PageEvidence.of(tree, model)
    lowest, confidence = model.judged(evidence.probability, evidence.words, settings.favor)
    keep = evidence.probability >= lowest
    return verdict_of(tree, evidence, evidence.probability, keep, confidence, method="page", comments=settings.comments)


def verdict_of(
    tree: PageTree,
    evidence: PageEvidence,
    probability: NDArray[np.float64],
    keep: NDArray[np.bool_],
    confidence: float,
    *,
    method: str,
    comments: bool | None = None,
    repeated: NDArray[np.bool_] | None = None,
    note: str | None = None,
) -> Verdict:
    """The verdict that keeps some of the scored blocks; none where the page shows no main content.

    `comments` as in `PageSettings`; `repeated` marks blocks that, if they go, go because the site repeats them.
    """
    empty = confidence < NO_CONTENT_BELOW and int(evidence.words.sum()) >= JUDGED_WORDS
    blocks = cut(tree)
    of_run = blocks.of_run()
    shown = tree.visible[tree.run_owner[blocks.first_run[evidence.said]]]
    keep = keep & (shown | (probability >= HIDDEN_ABOVE))
    for_posts = is_for_posts(evidence, keep)
    stays, goes = ruled(evidence, probability, shown, for_posts=for_posts, comments=comments)
    keep = (keep & (not empty) & ~goes) | stays

    def over_blocks(of_said: NDArray[Any]) -> NDArray[Any]:
        spread = np.zeros(len(blocks), of_said.dtype)
        spread[evidence.said] = of_said
        return spread

    chance = over_blocks(probability.astype(np.float32))
    keep_runs = over_blocks(keep)[of_run]
    of_posts = over_blocks(evidence.is_post)[of_run]
    nodes = keep_around(tree, keep_runs)
    score = np.zeros(len(tree), np.float32)
    np.maximum.at(score, tree.run_owner, chance[of_run])
    gone = NO_CONTENT_REASON if empty else UNLIKELY_REASON
    run_reason = _reasons(keep_runs, tree.visible[tree.run_owner], gone)
    run_reason[over_blocks(stays)[of_run]] = KEPT_POSTS_REASON
    run_reason[over_blocks(goes)[of_run] & (run_reason == gone)] = POSTS_REASON
    if repeated is not None:
        run_reason[over_blocks(repeated)[of_run] & (run_reason == gone)] = REPEATED_REASON
    in_posts = nodes_of(tree, of_posts)
    reason = _reasons(nodes, tree.visible, gone)
    reason[in_posts & nodes & stays.any()] = KEPT_POSTS_REASON
    reason[in_posts & (reason == gone) & goes.any()] = POSTS_REASON
    return Verdict(
        method=method,
        keep=nodes,
        keep_runs=keep_runs,
        reason=reason,
        run_reason=run_reason,
        score=score,
        weight=nodes.astype(np.float32),
        kind=np.where(in_posts, KIND_CODE["posts"], KIND_CODE["content"]).astype(np.uint8),
        note=note,
        genre=evidence.genre,
        confidence=confidence,
        post_runs=keep_runs & of_posts if comments and not for_posts else None,
    )


def _reasons(keep: NDArray[np.bool_], visible: NDArray[np.bool_], gone: int) -> NDArray[np.uint8]:
    return np.where(keep, CONTENT_REASON, np.where(visible, gone, HIDDEN_REASON)).astype(np.uint8)
