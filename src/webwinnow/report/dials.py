"""`Dial`, the one number that a person may turn on a method, and `Reading`: what a method says of a page at each turn.

A dial stands at a whole number of millionths, and so do the places where a run of text changes sides: a reading is
exact at every turn, in Python and in the viewer's script alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from webwinnow.blocks import cut
from webwinnow.cleaning import Verdict, combined
from webwinnow.cleaning.cst import block_weights
from webwinnow.cleaning.kinds import with_kinds
from webwinnow.cleaning.page import HIDDEN_ABOVE, headed
from webwinnow.cleaning.verdict import (
    CONTENT_REASON,
    HIDDEN_REASON,
    KEPT_REASON,
    LIGHT_REASON,
    LOCALLY_NOISY_REASON,
    MEANINGFUL_REASON,
    NO_CONTENT_REASON,
    NOISY_REASON,
    POSSIBLY_REASON,
    POSTS_REASON,
    REPEATED_REASON,
    UNLIKELY_REASON,
    WEIGHTY_REASON,
    without_site,
)
from webwinnow.fingerprints import page_fingerprint
from webwinnow.methods import CleaningSettings, method_named
from webwinnow.pagemodel import Favor, PageEvidence, PageModel
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.mapping import NOWHERE
from webwinnow.site.sums import block_keys

__all__ = ["ALWAYS", "DIALS", "MILLION", "NEVER", "Dial", "Reading", "read"]

MILLION = 1_000_000
ALWAYS, NEVER = 2 * MILLION, -1
"""Limits of runs that stay, or go, wherever the dial stands."""
FAVORS: tuple[Favor, ...] = ("precision", "recall")

Limits = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Dial:
    """What the dial of a method turns: its name for people, and the option of `webwinnow clean` that sets it.

    A run stays while the dial stands at most at its limit; above it, for a dial that `keeps_more`. `own` is what the
    untouched dial means. No `option`: nothing on the command line sets it; `favors` are the options nearest to it.
    """

    name: str
    about: str
    own: str
    option: str | None = None
    keeps_more: bool = False
    favors: tuple[str, ...] = ()


_CUT = Dial(
    "cut",
    "A block stays if its probability of being main content is at least this.",
    "chosen for each page",
    favors=FAVORS,
)
DIALS: dict[str, Dial] = {
    "combined": _CUT,
    "page": _CUT,
    "sst": Dial(
        "threshold", "Parts of the site whose importance is at most this are noise.", "the site's own", "--threshold"
    ),
    "cst": Dial("weight", "A block stays if its words weigh at least this on average.", "the default", "--weight"),
    "repeated": Dial(
        "share",
        "A text that stands on at least this share of the site's pages goes.",
        "the default",
        "--share",
        keeps_more=True,
    ),
}
"""The dials by method; methods that are not here have none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """What a method says of each run of a page: up to where of the dial it stays, and the reasons on either side.

    `own`: where the untouched dial stands for this page; None where it keeps nothing at all. `favored`: where the
    options of `Dial.favors` put it. `score`: what decides, NaN where the method has no degrees.
    """

    verdict: Verdict
    limit: Limits
    kept_reason: NDArray[np.uint8]
    gone_reason: NDArray[np.uint8]
    score: NDArray[np.float64]
    own: int | None = 0
    favored: dict[str, int | None] = field(default_factory=dict)

    def keeps(self, turn: int | None) -> NDArray[np.bool_]:
        """The runs that stay with the dial at `turn` millionths."""
        if turn is None:
            return np.zeros(len(self.limit), np.bool_)
        dial = DIALS.get(self.verdict.method)
        kept: NDArray[np.bool_] = turn > self.limit if dial is not None and dial.keeps_more else turn <= self.limit
        return kept


def read(name: str, tree: PageTree, model: LearnedSite | None, evidence: PageEvidence | None = None) -> Reading:
    """Clean a page with a method, and find out what turning its dial would do."""
    verdict = with_kinds(tree, method_named(name).clean(tree, model, CleaningSettings(), evidence), model)
    reader = _READERS.get(name)
    if reader is None or (verdict.note is not None and name in _NEED_A_SITE):
        return _undegreed(tree, verdict)
    return reader(tree, model, verdict, evidence)


def _undegreed(tree: PageTree, verdict: Verdict) -> Reading:
    """A method without a dial, or one that found no evidence."""
    keeps_more = verdict.method in DIALS and DIALS[verdict.method].keeps_more
    stays, goes = (NEVER, ALWAYS) if keeps_more else (ALWAYS, NEVER)
    return Reading(
        verdict=verdict,
        limit=np.where(verdict.keep_runs, stays, goes).astype(np.int32),
        kept_reason=verdict.run_reason,
        gone_reason=verdict.run_reason,
        score=np.full(tree.run_count, np.nan),
    )


def _read_sst(tree: PageTree, model: LearnedSite | None, verdict: Verdict, _: PageEvidence | None) -> Reading:
    assert model is not None
    traced = model.noise.trace(tree)
    at_zero = model.noise.lay(tree, 0.0)
    stays = tree.visible[tree.run_owner] & (at_zero.unmatched | ~at_zero.dull)
    noisy_from = np.ceil(np.minimum(traced.noisy_from, 2.0) * MILLION)  # noisy at t means t >= noisy_from
    importance = np.append(model.noise.importance.composite, np.nan)[traced.element]
    kept = np.where(traced.element == NOWHERE, POSSIBLY_REASON, MEANINGFUL_REASON)
    return _two_sided(
        verdict,
        np.where(stays, noisy_from - 1, NEVER),
        kept,
        np.where(stays, NOISY_REASON, np.where(at_zero.dull, LOCALLY_NOISY_REASON, HIDDEN_REASON)),
        importance,
        own=round(model.threshold * MILLION),
    )


def _read_cst(tree: PageTree, model: LearnedSite | None, verdict: Verdict, _: PageEvidence | None) -> Reading:
    assert model is not None
    blocks = cut(tree)
    score = block_weights(blocks, model)[blocks.of_run()]
    limit = np.where(tree.visible[tree.run_owner], np.rint(score * MILLION), NEVER)
    own = round(CleaningSettings().cst.weight * MILLION)
    return _two_sided(verdict, limit, WEIGHTY_REASON, LIGHT_REASON, score, own=own)


def _read_repeated(tree: PageTree, model: LearnedSite | None, verdict: Verdict, _: PageEvidence | None) -> Reading:
    blocks = cut(tree)
    share = np.zeros(len(blocks))
    if verdict.note is None and model is not None:
        share = model.pages_that_say(block_keys(blocks)) / model.pages
    of_run = share[blocks.of_run()]
    limit = np.where(tree.visible[tree.run_owner], np.floor(of_run * MILLION), ALWAYS)
    own = round(CleaningSettings().repeated.share * MILLION)
    return _two_sided(verdict, limit, KEPT_REASON, REPEATED_REASON, of_run, own=own)


def _read_probability(
    tree: PageTree, model: LearnedSite | None, verdict: Verdict, evidence: PageEvidence | None
) -> Reading:
    evidence = evidence or PageEvidence.of(tree)
    page_model = PageModel.load()
    probability, gone = evidence.probability, np.full(len(evidence), UNLIKELY_REASON)
    if verdict.method == "combined" and model is not None and without_site(model, combined.LEAST_PAGES) is None:
        table = model.block_table
        asked = table.ask(evidence, model.pages, learned=page_fingerprint(tree) in model.learned)
        probability = combined.joined(evidence, asked, table.whole, model.pages)
        gone[asked.share >= combined.SAID_OFTEN] = REPEATED_REASON
    is_empty = bool((verdict.run_reason == NO_CONTENT_REASON).any())
    turns = {
        favor: None if is_empty else _turn(page_model.cut(probability, evidence.words, favor))
        for favor in (None, *FAVORS)
    }
    blocks = cut(tree)
    of_run = blocks.of_run()
    repeated = gone == REPEATED_REASON
    probability = headed(blocks, evidence, probability, repeated if verdict.method == "combined" else None)
    shown = tree.visible[tree.run_owner[blocks.first_run[evidence.said]]]
    limit, score = np.full(len(blocks), NEVER, np.int32), np.full(len(blocks), np.nan)
    limit[evidence.said] = np.where(shown | (probability >= HIDDEN_ABOVE), np.rint(probability * MILLION), NEVER)
    score[evidence.said] = probability
    reason = np.full(len(blocks), UNLIKELY_REASON)
    reason[evidence.said] = gone
    return _two_sided(
        verdict,
        np.where(verdict.run_reason == POSTS_REASON, NEVER, limit[of_run]),
        CONTENT_REASON,
        reason[of_run],
        score[of_run],
        own=turns[None],
        favored={str(favor): turns[favor] for favor in FAVORS},
    )


def _turn(lowest: float) -> int | None:
    """Where a page's own cut stands; None where no block is good enough."""
    return round(lowest * MILLION) if np.isfinite(lowest) else None


def _two_sided(
    verdict: Verdict,
    limit: NDArray[np.float64] | Limits,
    kept: NDArray[np.int64] | int,
    gone: NDArray[np.int64] | int,
    score: NDArray[np.float64],
    *,
    own: int | None,
    favored: dict[str, int | None] | None = None,
) -> Reading:
    """A reading whose reasons are the verdict's own on the side that it took."""
    return Reading(
        verdict=verdict,
        limit=limit.astype(np.int32),
        kept_reason=np.where(verdict.keep_runs, verdict.run_reason, kept).astype(np.uint8),
        gone_reason=np.where(verdict.keep_runs, gone, verdict.run_reason).astype(np.uint8),
        score=score,
        own=own,
        favored=favored or {},
    )


_READERS: dict[str, Callable[[PageTree, LearnedSite | None, Verdict, PageEvidence | None], Reading]] = {
    "combined": _read_probability,
    "page": _read_probability,
    "sst": _read_sst,
    "cst": _read_cst,
    "repeated": _read_repeated,
}
_NEED_A_SITE = frozenset({"sst", "cst"})
"""Methods that have no degrees where nothing is known of the site."""
