"""Method `page`: the page alone. The page model scores each block; the cut is chosen for this page.

Readers' posts (comments, reviews) are kept where the page exists for them, elsewhere if the user asks for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow._words import blank_runs
from webwinnow.blocks import runs_of_nodes
from webwinnow.cleaning import verdict as reasons
from webwinnow.cleaning.kinds import KIND_CODE
from webwinnow.cleaning.pictures import judged_pictures
from webwinnow.cleaning.settings import MethodSettings, setting, yes_or_no
from webwinnow.cleaning.verdict import Verdict, keep_around
from webwinnow.cleaning.wholes import HIDDEN_ABOVE, SAID_OFTEN, completed, headed, labels, pooled
from webwinnow.pagemodel import Favor, PageContext, PageEvidence, PageModel
from webwinnow.pagemodel.featureschema import COUNTS
from webwinnow.pagemodel.models import BETA
from webwinnow.pagetree import PageTree
from webwinnow.site.blocktable import SiteEvidence
from webwinnow.site.learned import LearnedSite

NO_CONTENT_BELOW = 0.3
"""A page with a lower confidence has no main content if it is one of the cases of `no_content`. Pages with content
hardly ever have so low a confidence (last table of benchmarks/page_quality.py)."""
JUDGED_WORDS = 50
"""A page of fewer words is never reported to have no main content: there is too little evidence."""
MOST_SAID = 300
"""A login page, an error page or a bot check has at most this many words outside links."""
PROSE_WORDS, LEAST_PROSE = 8, 16
"""A page of links has less than this many words in text of at least so many words outside links."""
_BOT_CHECK = re.compile(
    r"captcha|cloudflare|checking (?:if the site|your browser)|verify(?:ing)? (?:that )?you are|are you (?:a )?human"
    r"|unusual traffic|access denied|enable javascript|javascript (?:is|to be) (?:disabled|enabled)",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\b(?:40[0134]|410|429|50[0234])\b|not (?:be )?found|no longer (?:available|exists)|does not exist|forbidden"
    r"|\berror\b|unavailable|nicht gefunden|introuvable|no encontrad[ao]|non trovat[ao]|niet gevonden",
    re.IGNORECASE,
)
MOSTLY_POSTS = 0.5
"""A page exists for its posts if they have a larger share of the words that would be kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettings(MethodSettings):
    """Settings of methods `page` and `combined`."""

    favor: Favor | None = setting(
        None, "favor precision or recall; none balances the two", "precision or recall", str, BETA.__contains__
    )
    comments: bool | None = setting(
        None,
        "keep what readers wrote on every page (true) or on none (false); none keeps it where the page exists for it",
        "true or false",
        yes_or_no,
        lambda v: v in (True, False),
    )
    wholes: bool = setting(
        True,
        "keep or remove tables, records, lists and sections as wholes (true), or judge block by block (false)",
        "true or false",
        yes_or_no,
        lambda v: v in (True, False),
    )


def clean(page: PageContext, _model: LearnedSite | None, settings: PageSettings) -> Verdict:
    """Keep the blocks that are probably main content, hidden ones too: scripts reveal them."""
    evidence = page.evidence
    own = evidence.probability
    probability = pooled(page, own) if settings.wholes else own
    model = page.model or PageModel.load()
    lowest, confidence = model.judged(probability, evidence.words, settings.favor, evidence.genre_probability)
    return verdict_of(page, own, probability, lowest, confidence, settings, method="page")


def verdict_of(
    page: PageContext,
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
    tree, blocks, evidence = page.tree, page.blocks, page.evidence
    comments, repeated = settings.comments, None if asked is None else asked.share >= SAID_OFTEN
    doubtful = confidence < NO_CONTENT_BELOW and int(evidence.words.sum()) >= JUDGED_WORDS
    why_empty = no_content(page) if doubtful else None
    empty = why_empty is not None
    of_run = blocks.of_run()
    shown = tree.visible[tree.run_owner[blocks.first_run[evidence.said]]]
    pooled_in = probability >= lowest
    if not settings.wholes:
        probability = headed(blocks, evidence, probability, repeated)
    for_posts = is_for_posts(evidence, (probability >= lowest) & (shown | (probability >= HIDDEN_ABOVE)))
    stays, goes = posts_to_keep(evidence, probability, shown, for_posts=for_posts, comments=comments)
    if settings.wholes:
        label = labels(page, asked)
        probability = completed(page, np.where(goes, 0.0, np.where(stays, 1.0, probability)), asked, label)
    keep = (probability >= lowest) & (shown | (probability >= HIDDEN_ABOVE))
    if not empty and not keep.any():
        keep = probability >= lowest  # all that might be content is hidden
    keep = (keep & (not empty) & ~goes) | stays

    def over_runs(of_said: NDArray[Any]) -> NDArray[Any]:
        spread = np.zeros(len(blocks), of_said.dtype)
        spread[evidence.said] = of_said
        return spread[of_run]

    keep_runs = over_runs(keep)
    of_posts = over_runs(evidence.is_post)
    nodes = keep_around(tree, keep_runs)
    beside, decoration = judged_pictures(page, nodes, keep) if settings.wholes else (None, None)
    if beside is not None and decoration is not None:
        nodes &= ~(beside | decoration)
    score = np.zeros(len(tree), np.float32)
    np.maximum.at(score, tree.run_owner, over_runs(probability.astype(np.float32)))
    gone = reasons.NO_CONTENT_REASON if empty else reasons.UNLIKELY_REASON
    run_reason = _reasons(keep_runs, tree.visible[tree.run_owner], gone)
    if settings.wholes:
        of_whole = _whole_reasons(page, own >= lowest, pooled_in, keep, label)
        changed = over_runs(of_whole)
        run_reason = np.where((changed > 0) & (keep_runs | (run_reason == gone)), changed, run_reason)
    else:
        run_reason[over_runs(keep & ~pooled_in)] = reasons.HEADING_REASON
    run_reason[over_runs(stays)] = reasons.KEPT_POSTS_REASON
    run_reason[over_runs(goes) & (run_reason == gone)] = reasons.POSTS_REASON
    if repeated is not None:
        run_reason[over_runs(repeated) & (run_reason == gone)] = reasons.REPEATED_REASON
    in_posts = nodes_of(tree, of_posts)
    reason = _reasons(nodes, tree.visible, gone)
    if beside is not None and decoration is not None:
        reason[beside] = reasons.PICTURE_BESIDE_REASON
        reason[decoration] = reasons.DECORATION_REASON
    reason[in_posts & nodes & stays.any()] = reasons.KEPT_POSTS_REASON
    reason[in_posts & (reason == gone) & goes.any()] = reasons.POSTS_REASON
    return Verdict(
        method=method,
        keep=nodes,
        keep_runs=keep_runs,
        reason=reason,
        run_reason=run_reason,
        score=score,
        weight=nodes.astype(np.float32),
        kind=np.where(in_posts, KIND_CODE["posts"], KIND_CODE["content"]).astype(np.uint8),
        note=why_empty or note,
        genre=evidence.genre,
        confidence=confidence,
        post_runs=keep_runs & of_posts if comments and not for_posts else None,
    )


def no_content(page: PageContext) -> str | None:
    """Why a page without probable main content has none; None if it may have some: its best part is kept."""
    reading, tree = page.reading, page.tree
    counts = {name: reading.counts[:, COUNTS.index(name)].astype(np.int64) for name in ("words", "link_words")}
    own = counts["words"] - counts["link_words"]
    prose = int(own[own >= PROSE_WORDS].sum())
    if int(own.sum()) <= MOST_SAID:
        if "password" in (value.lower() for value in tree.values("type")[1]):
            return "a login page"
        heads = [tree.head.title, *(reading.blocks.text(int(b)) for b in reading.said[reading.level > 0])]
        if any(map(_ERROR.search, heads)):
            return "an error page"
        if any(map(_BOT_CHECK.search, (*heads, *(reading.blocks.text(int(b)) for b in reading.said[own > 0])))):
            return "a bot check"
    return "links only" if prose < LEAST_PROSE else None


def _whole_reasons(
    page: PageContext,
    alone: NDArray[np.bool_],
    pooled_in: NDArray[np.bool_],
    keep: NDArray[np.bool_],
    label: NDArray[np.bool_],
) -> NDArray[np.uint8]:
    """The reasons of blocks whose wholes decided: they would be kept alone and are not, or the other way; 0 for others.

    `alone` and `pooled_in` are the blocks that would be kept by their own probability, and by that of their table,
    records or list.
    """
    structures, owner = page.structures, page.blocks.owner[page.evidence.said]
    table, record, listed = (of[owner] >= 0 for of in (structures.table_of, structures.record_of, structures.list_of))
    heads = page.sections.level > 0
    kept = np.where(heads, reasons.HEADING_REASON, np.where(label, reasons.LABEL_REASON, reasons.WHOLE_REASON))
    kept = np.where(pooled_in, np.where(record, reasons.OF_RECORD_REASON, reasons.OF_LIST_REASON), kept)
    kept[table] = reasons.OF_TABLE_REASON
    gone = np.where(record, reasons.WITH_RECORDS_REASON, np.where(listed, reasons.WITH_LIST_REASON, 0))
    gone[table] = reasons.WITH_TABLE_REASON
    gone[pooled_in & label] = reasons.LABELS_NOTHING_REASON
    gone[pooled_in & heads] = reasons.HEADS_NOTHING_REASON
    return np.where(keep & ~alone, kept, np.where(alone & ~keep, gone, 0)).astype(np.uint8)


def _reasons(keep: NDArray[np.bool_], visible: NDArray[np.bool_], gone: int) -> NDArray[np.uint8]:
    return np.where(keep, reasons.CONTENT_REASON, np.where(visible, gone, reasons.HIDDEN_REASON)).astype(np.uint8)


# Readers' posts


def is_for_posts(evidence: PageEvidence, keep: NDArray[np.bool_]) -> bool:
    """Whether a page exists for what readers wrote: a forum, or most of what would be kept is theirs."""
    if evidence.genre == "forum":
        return True
    posts = int(evidence.words[keep & evidence.is_post].sum())
    return posts > MOSTLY_POSTS * int(evidence.words[keep].sum())


def posts_to_keep(
    evidence: PageEvidence,
    probability: NDArray[np.float64],
    shown: NDArray[np.bool_],
    *,
    for_posts: bool,
    comments: bool | None,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """The posts that are always kept, and those that are always removed; `comments` as in `PageSettings`.

    With `comments=None` a block is removed only if it is more probably a post than main content: losing an article that
    looks like a comment is worse than keeping a comment.
    """
    post, none = evidence.is_post, np.zeros(len(evidence), np.bool_)
    if comments is None:
        return none, none if for_posts else post & (evidence.post > probability)
    return (post & shown, none) if comments else (none, post)


def nodes_of(tree: PageTree, runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The nodes that own some of the runs, or contain no other text."""
    found = np.zeros(len(tree), np.bool_)
    if not runs.any():
        return found
    says = ~blank_runs(tree.text, tree.run_start)
    first, last = runs_of_nodes(tree)
    spoken, chosen = (np.concatenate(([0], np.cumsum(some))) for some in (says, says & runs))
    count, count_chosen = spoken[last] - spoken[first], chosen[last] - chosen[first]
    found |= (count > 0) & (count_chosen == count)
    found[tree.run_owner[runs & says]] = True
    return found
