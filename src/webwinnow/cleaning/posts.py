"""What becomes of readers' posts: kept where they are what the page is for, elsewhere if asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import blank_runs
from webwinnow.pagemodel import PageEvidence
from webwinnow.pagetree import PageTree

__all__ = ["MOSTLY", "is_for_posts", "nodes_of", "ruled"]

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
