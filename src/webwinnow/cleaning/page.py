"""Method `page`: what the page alone tells. The page model scores each block; the cut is chosen for this page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow._nodes import nearest
from webwinnow._words import blank_runs
from webwinnow.blocks import Blocks, cut
from webwinnow.cleaning.kinds import KIND_CODE
from webwinnow.cleaning.verdict import (
    CONTENT_REASON,
    HEADING_REASON,
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
from webwinnow.markup import CUSTOM_TAG, TAG_CODE
from webwinnow.pagemodel import Favor, PageEvidence, PageModel
from webwinnow.pagemodel.model import BETA
from webwinnow.pagetree import PageTree

MOSTLY = 0.5
"""A page is for posts if they hold a larger share of the words that would stay."""


def is_for_posts(evidence: PageEvidence, keep: NDArray[np.bool_]) -> bool:
    """Whether what readers wrote is what the page is for: a forum, or most of what would stay is theirs."""
    if evidence.genre == "forum":
        return True
    posts = int(evidence.words[keep & evidence.is_post].sum())
    return posts > MOSTLY * int(evidence.words[keep].sum())


def ruled(
    evidence: PageEvidence,
    probability: NDArray[np.float64],
    shown: NDArray[np.bool_],
    *,
    for_posts: bool,
    comments: bool | None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The posts that stay whatever else is known of them, and those that go; `comments` as in `PageSettings`.

    Unasked, a block goes only if it is likelier a post than main content (`probability`): an article that looks like a
    comment is worse lost than a comment is kept.
    """
    post, none = evidence.is_post, np.zeros(len(evidence), np.bool_)
    if comments is None:
        return none, none if for_posts else post & (evidence.post > probability)
    return (post & shown, none) if comments else (none, post)


def nodes_of(tree: PageTree, runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The nodes that own some of the runs, or hold no other text than theirs."""
    found = np.zeros(len(tree), np.bool_)
    if not runs.any():
        return found
    says = ~blank_runs(tree.text, tree.run_start)
    first = np.searchsorted(tree.run_start[:-1], tree.text_start)
    last = np.searchsorted(tree.run_start[:-1], tree.text_end)
    spoken, chosen = (np.concatenate(([0], np.cumsum(some))) for some in (says, says & runs))
    count, count_chosen = spoken[last] - spoken[first], chosen[last] - chosen[first]
    found |= (count > 0) & (count_chosen == count)
    found[tree.run_owner[runs & says]] = True
    return found


NO_CONTENT_BELOW = 0.3
"""A page with a lower confidence has no main content: what it would keep is navigation. Pages with content hardly ever
have so little (last table of benchmarks/page_quality.py)."""
JUDGED_WORDS = 50
"""A page of fewer words is never said to be without main content: too little is there to tell."""
HIDDEN_ABOVE = 0.5
"""What browsers do not show stays only if it is likelier content than not, wherever the page's cut lies."""


_HEADINGS = np.zeros(CUSTOM_TAG + 1, np.bool_)
_HEADINGS[[TAG_CODE[f"h{level}"] for level in range(1, 7)]] = True


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
    return verdict_of(
        tree, evidence, evidence.probability, lowest, confidence, method="page", comments=settings.comments
    )


def verdict_of(
    tree: PageTree,
    evidence: PageEvidence,
    probability: NDArray[np.float64],
    lowest: float,
    confidence: float,
    *,
    method: str,
    comments: bool | None = None,
    repeated: NDArray[np.bool_] | None = None,
    note: str | None = None,
) -> Verdict:
    """The verdict that keeps the blocks at least as likely as `lowest`; none where the page shows no main content.

    `comments` as in `PageSettings`; `repeated` marks blocks that, if they go, go because the site repeats them.
    """
    empty = confidence < NO_CONTENT_BELOW and int(evidence.words.sum()) >= JUDGED_WORDS
    blocks = cut(tree)
    of_run = blocks.of_run()
    shown = tree.visible[tree.run_owner[blocks.first_run[evidence.said]]]
    alone = probability >= lowest
    probability = headed(blocks, evidence, probability, repeated)
    keep = (probability >= lowest) & (shown | (probability >= HIDDEN_ABOVE))
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
    run_reason[over_blocks(keep & ~alone)[of_run]] = HEADING_REASON
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


def headed(
    blocks: Blocks,
    evidence: PageEvidence,
    probability: NDArray[np.float64],
    repeated: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """The probabilities, a heading being as likely as the block that follows it: content keeps its headings.

    Not one that half of the site's pages have (`repeated`): such a heading belongs to a box.
    """
    tree = blocks.tree
    around = nearest(tree.parent, _HEADINGS[np.minimum(tree.tag, CUSTOM_TAG)])
    heads = around[blocks.owner[evidence.said]] >= 0
    if repeated is not None:
        heads = heads & ~repeated
    likely = probability.copy()
    likely[:-1] = np.where(heads[:-1], np.maximum(probability[:-1], probability[1:]), probability[:-1])
    return likely


def _reasons(keep: NDArray[np.bool_], visible: NDArray[np.bool_], gone: int) -> NDArray[np.uint8]:
    return np.where(keep, CONTENT_REASON, np.where(visible, gone, HIDDEN_REASON)).astype(np.uint8)
