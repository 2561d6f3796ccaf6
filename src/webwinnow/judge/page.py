"""Method `page`: the page alone. The page model scores each block; the cut is chosen for this page.

Readers' posts (comments, reviews) are kept where the page exists for them, elsewhere if the user asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge._judging import node_reasons, spread, whole_reasons
from webwinnow.judge.emptypages import why_empty
from webwinnow.judge.evidence import PageEvidence, evidence_of, owner_of, page_model, sections_of, shown_of
from webwinnow.judge.kinds import KIND_CODE
from webwinnow.judge.models import Favor
from webwinnow.judge.pictures import judged_pictures
from webwinnow.judge.tails import find_tails
from webwinnow.judge.verdict import Reason, Verdict, keep_around
from webwinnow.judge.visualevidence import unseen_blocks, with_layout
from webwinnow.judge.wholes import HIDDEN_ABOVE, SAID_OFTEN, completed, headed, labels, pooled
from webwinnow.page.blocks import runs_of_nodes
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.settings import KEEP, METHOD, Settings, setting
from webwinnow.site.blocktable import SiteEvidence
from webwinnow.site.learned import LearnedSite

_KIND = np.array((KIND_CODE["content"], KIND_CODE["posts"]), np.uint8)
_SPREAD = (
    Reason.CONTENT,
    Reason.HEADING,
    Reason.KEPT_POSTS,
    Reason.POSTS,
    Reason.TEASER,
    Reason.FURTHER,
    Reason.REPEATED,
)
"""The reasons of `spread`, after those of hidden and of removed text."""
_WHOLES = (
    Reason.HEADING,
    Reason.LABEL,
    Reason.OF_RECORD,
    Reason.OF_LIST,
    Reason.OF_TABLE,
    Reason.WHOLE,
    Reason.WITH_RECORDS,
    Reason.WITH_LIST,
    Reason.WITH_TABLE,
    Reason.LABELS_NOTHING,
    Reason.HEADS_NOTHING,
)
"""The reasons of `whole_reasons`."""
MOSTLY_POSTS = 0.5
"""A page exists for its posts if they have a larger share of the words that would be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings(Settings):
    """Settings of methods `page` and `combined`."""

    favor: Annotated[
        Favor | None,
        setting(
            "Prefer precision (less boilerplate) or recall (less content lost); none balances the two.",
            "--favor",
            panel=METHOD,
        ),
    ] = None
    comments: Annotated[
        bool | None,
        setting(
            "Keep what readers wrote on every page, or on none. [default: where it is the content]",
            "--comments/--no-comments",
            panel=KEEP,
        ),
    ] = None
    wholes: Annotated[
        bool,
        setting("keep or remove tables, records, lists and sections as wholes (true), or judge block by block (false)"),
    ] = True
    tails: Annotated[
        bool,
        setting("remove what follows an article: comments known by structure alone, link teasers, further articles"),
    ] = True
    layout: Annotated[
        bool,
        setting(
            "use the layout of rendered pages: remove overlays and text that is not seen, and count columns and fonts"
        ),
    ] = True
    unseen: Annotated[
        bool,
        setting("keep text that a browser does not show if it is probably content (true), or remove all of it (false)"),
    ] = True


def clean(page: Page, _model: LearnedSite | None, settings: PageSettings) -> Verdict:
    """Keep the blocks that are probably main content, hidden ones too: scripts reveal them."""
    evidence = evidence_of(page)
    own = evidence.probability
    if settings.layout and page.tree.layout is not None:
        own = with_layout(page, own, keep_likely=settings.unseen)
    probability = pooled(page, own) if settings.wholes else own
    model = page_model(page)
    lowest, confidence = model.judged(probability, evidence.words, settings.favor, evidence.genre_probability)
    return verdict_of(page, own, probability, lowest, confidence, settings, method="page")


def verdict_of(
    page: Page,
    own: NDArray[np.float64],
    probability: NDArray[np.float64],
    lowest: float,
    confidence: float,
    settings: PageSettings,
    *,
    method: str,
    asked: SiteEvidence | None = None,
    note: str | None = None,
) -> Verdict:
    """The verdict that keeps the blocks with a probability of at least `lowest`; none on a page without main content.

    `own` are the probabilities before those of wholes. With `asked`, what the site shows about each block, the reason
    of removed blocks that it repeats is that.
    """
    tree, blocks, evidence = page.tree, page.blocks, evidence_of(page)
    comments, repeated = settings.comments, None if asked is None else asked.share >= SAID_OFTEN
    shown = shown_of(page)
    pooled_in = probability >= lowest
    if not settings.wholes:
        probability = headed(blocks, evidence, probability, repeated)
    likely = (probability >= lowest) & (shown | (probability >= HIDDEN_ABOVE))
    without = why_empty(page, likely, confidence)
    empty = without is not None
    tails = find_tails(page, probability, likely, shown) if settings.tails else None
    below = np.zeros(len(likely), np.bool_) if tails is None else tails.comments
    posts = evidence.is_post | below
    any_posts = bool(posts.any())
    for_posts = not (any_posts and below.any()) and is_for_posts(evidence, likely, any_posts=any_posts)
    stays, goes = below, below  # none
    if any_posts:
        stays, goes = posts_to_keep(evidence, probability, shown, below, for_posts=for_posts, comments=comments)
    any_stay, any_go = bool(any_posts and stays.any()), bool(any_posts and goes.any())
    cut = None if tails is None or not tails.any_cut else tails.cut
    if cut is not None:
        probability = np.where(cut, 0.0, probability)
    if settings.wholes:
        label = labels(page, asked)
        given = np.where(goes, 0.0, np.where(stays, 1.0, probability)) if any_stay or any_go else probability
        probability = completed(page, given, asked, label)
        if cut is not None:
            probability[cut] = 0.0
    keep = (probability >= lowest) & (shown | (probability >= HIDDEN_ABOVE))
    if not empty and not keep.any():
        keep = probability >= lowest  # all that might be content is hidden
    if empty:
        keep = np.zeros_like(keep)
    if any_go:
        keep &= ~goes
    if any_stay:
        keep |= stays
    is_seen = settings.layout and tree.layout is not None
    unseen = unseen_blocks(page, own, keep_likely=settings.unseen) if is_seen else None
    if unseen is not None:
        keep &= unseen == 0

    gone = Reason.NO_CONTENT if empty else Reason.UNLIKELY
    behind = None if empty or cut is None else tails
    whole = None
    if settings.wholes and not empty:
        of_nodes = page.structures.table_of, page.structures.record_of, page.structures.list_of
        judged = keep, own >= lowest, pooled_in, label, sections_of(page).level
        whole = whole_reasons(*judged, owner_of(page), *of_nodes, _WHOLES)
    keep_runs, of_posts, run_reason, score = spread(
        blocks.first_run,
        evidence.said,
        tree.run_owner,
        tree.visible,
        probability,
        keep,
        posts,
        whole,
        None if settings.wholes else keep & ~pooled_in,
        stays if any_stay else None,
        goes if any_go else None,
        below,
        None if behind is None else behind.teasers,
        None if behind is None else behind.further,
        repeated,
        (Reason.HIDDEN, gone, *_SPREAD),
    )
    nodes = keep_around(tree, keep_runs)
    beside, decoration = judged_pictures(page, nodes, keep) if settings.wholes else (None, None)
    codes = Reason.HIDDEN, gone, Reason.CONTENT
    pictured = Reason.PICTURE_BESIDE, Reason.DECORATION
    reason = node_reasons(nodes, tree.visible, beside, decoration, (*codes, *pictured))
    if unseen is not None:
        of_block = np.zeros(len(blocks), np.uint8)
        of_block[evidence.said] = unseen
        why_unseen = of_block.repeat(np.diff(blocks.first_run))
        run_reason = np.where(why_unseen > 0, why_unseen, run_reason)
    in_posts = nodes_of(tree, of_posts) if any_posts else np.zeros(len(tree), np.bool_)
    if any_stay:
        reason[in_posts & nodes] = Reason.KEPT_POSTS
    if any_go:
        reason[in_posts & (reason == gone)] = Reason.POSTS
    return Verdict(
        method=method,
        keep=nodes,
        keep_runs=keep_runs,
        reason=reason,
        run_reason=run_reason,
        score=score,
        weight=nodes.astype(np.float32),
        kind=_KIND.take(in_posts),
        note=without or note,
        genre=evidence.genre,
        confidence=confidence,
        post_runs=keep_runs & of_posts if comments and not for_posts else None,
    )


# Readers' posts


def is_for_posts(evidence: PageEvidence, keep: NDArray[np.bool_], *, any_posts: bool = True) -> bool:
    """Whether a page exists for what readers wrote: a forum, or most of what would be kept is theirs.

    The page of a product exists for the product, however many reviews it has.
    """
    if evidence.genre == "forum":
        return True
    if not any_posts or evidence.genre == "product":
        return False
    posts = int(evidence.words[keep & evidence.is_post].sum())
    return posts > MOSTLY_POSTS * int(evidence.words[keep].sum())


def posts_to_keep(
    evidence: PageEvidence,
    probability: NDArray[np.float64],
    shown: NDArray[np.bool_],
    below: NDArray[np.bool_],
    *,
    for_posts: bool,
    comments: bool | None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The posts that are always kept, and those that are always removed; `comments` as in `PageSettings`.

    Comments `below` an article (`find_tails`) are posts whatever the post model says. With `comments=None` another
    block is removed only if it is more probably a post than main content: losing an article that looks like a comment
    is worse than keeping a comment.
    """
    post, none = evidence.is_post | below, np.zeros(len(evidence), np.bool_)
    if comments is None:
        return none, none if for_posts else post & (below | (evidence.post > probability))
    return (post & shown, none) if comments else (none, post)


def nodes_of(tree: PageTree, runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The nodes that own some of the runs, or contain no other text."""
    found = np.zeros(len(tree), np.bool_)
    if not runs.any():
        return found
    says = tree.written_runs
    first, last = runs_of_nodes(tree)
    spoken, chosen = (np.concatenate(([0], np.cumsum(some))) for some in (says, says & runs))
    count, count_chosen = spoken[last] - spoken[first], chosen[last] - chosen[first]
    found |= (count > 0) & (count_chosen == count)
    found[tree.run_owner[runs & says]] = True
    return found
