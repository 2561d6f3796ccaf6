"""`Dial`, the one setting of a method that the viewer can change, and `DialReading`: the decisions at each position.

Positions and limits are whole millionths, so that Python and the viewer's script agree exactly at every position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge import combined
from webwinnow.judge.evidence import evidence_of, page_model
from webwinnow.judge.models import Favor
from webwinnow.judge.verdict import Reason, Verdict, without_site
from webwinnow.judge.wholes import HIDDEN_ABOVE, SAID_OFTEN, completed, pooled
from webwinnow.methods.method_cst import block_weights
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.record.cleaner import Cleaner
from webwinnow.site.learned import NOISE_TREES, LearnedSite
from webwinnow.site.mapping import NOWHERE
from webwinnow.site.part_texts import block_keys

MILLION = 1_000_000
ALWAYS, NEVER = 2 * MILLION, -1
"""Limits of runs that are kept, or removed, at every position."""
FAVORS: tuple[Favor, ...] = ("precision", "recall")

Limits = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Dial:
    """The setting that the dial of a method changes, and the option of `webwinnow clean` for it.

    A run is kept while the position is at most its limit, or above its limit for a dial that `keeps_more`. `own`
    describes the initial position. Without an `option`, `favors` are the nearest settings of the command line.
    """

    name: str
    about: str
    own: str
    option: str | None = None
    keeps_more: bool = False
    favors: tuple[str, ...] = ()


_CUT = Dial(
    "cut",
    "A block is kept if its probability of being main content is at least this.",
    "chosen for each page",
    favors=FAVORS,
)
DIALS: dict[str, Dial] = {
    "combined": _CUT,
    "page": _CUT,
    **{
        name: Dial(
            "threshold",
            "Parts of the site whose importance is at most this are noise.",
            "the site's own",
            f"--set {name}.threshold=",
        )
        for name in NOISE_TREES
    },
    "cst": Dial(
        "weight", "A block is kept if its words have at least this mean weight.", "the default", "--set cst.weight="
    ),
    "repeated": Dial(
        "share",
        "A text on at least this share of the site's pages is removed.",
        "the default",
        "--set repeated.share=",
        keeps_more=True,
    ),
}
"""The dials by method; other methods have none."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DialReading:
    """The decisions of a method on each run of a page: the limit up to which it is kept, and the reason on either side.

    `own`: the initial position for this page; None if it keeps nothing. `favored`: the positions of `Dial.favors`.
    `score`: the deciding score, NaN if the method has none. `reduced`: the page without words that the method removes
    from runs that it keeps, if it does.
    """

    verdict: Verdict
    limit: Limits
    kept_reason: NDArray[np.uint8]
    gone_reason: NDArray[np.uint8]
    score: NDArray[np.float64]
    own: int | None = 0
    favored: dict[str, int | None] = field(default_factory=dict)
    reduced: PageTree | None = None

    def keeps(self, turn: int | None) -> NDArray[np.bool_]:
        """The runs that are kept with the dial at `turn` millionths."""
        if turn is None:
            return np.zeros(len(self.limit), np.bool_)
        kept: NDArray[np.bool_] = turn > self.limit if keeps_more(self.verdict.method) else turn <= self.limit
        return kept


def keeps_more(name: str) -> bool:
    """Whether a higher position of a method's dial keeps more."""
    return name in DIALS and DIALS[name].keeps_more


def read_dial(name: str, page: Page, model: LearnedSite | None) -> DialReading:
    """Clean a page with a method and find its decisions at every position of the dial."""
    verdict = Cleaner.of(name, kinds=True).clean_in(page, model).verdict
    reader = _READERS.get(name)
    if reader is None or (verdict.note is not None and name in _NEED_A_SITE):
        return _without_dial(page.tree, verdict)
    return reader(page, model, verdict)


def _without_dial(tree: PageTree, verdict: Verdict) -> DialReading:
    """The reading of a method without a dial, or of one that found no evidence."""
    kept, gone = (NEVER, ALWAYS) if keeps_more(verdict.method) else (ALWAYS, NEVER)
    return DialReading(
        verdict=verdict,
        limit=np.where(verdict.keep_runs, kept, gone).astype(np.int32),
        kept_reason=verdict.run_reason,
        gone_reason=verdict.run_reason,
        score=np.full(tree.run_count, np.nan),
    )


def _read_sst(page: Page, model: LearnedSite | None, verdict: Verdict) -> DialReading:
    assert model is not None
    tree = page.tree
    noise = model.noise_map(verdict.method)
    traced = noise.trace(tree)
    runs = tree.words.run
    mapped = noise.lay(tree, 0.0)
    dull = mapped.dull_runs(runs, tree.run_count)
    kept_at_zero = tree.visible_runs & ~dull
    noisy_from = np.ceil(np.minimum(traced.noisy_from, 2.0) * MILLION)  # noisy at t means t >= noisy_from
    importance = np.append(noise.importance.composite, np.nan)[traced.element]
    kept = np.where(traced.element == NOWHERE, Reason.POSSIBLY, Reason.MEANINGFUL)
    reading = _two_sided(
        verdict,
        np.where(kept_at_zero, noisy_from - 1, NEVER),
        kept,
        np.where(
            kept_at_zero,
            Reason.NOISY,
            np.where(dull, Reason.LOCALLY_NOISY, Reason.HIDDEN),
        ),
        importance,
        own=round(model.thresholds[verdict.method] * MILLION),
    )
    if verdict.removed_features is None:
        return reading
    removed = mapped.dull.copy()
    removed[: len(runs)] &= ~dull[runs]
    return replace(reading, reduced=replace(verdict, removed_features=removed).reduced(tree))


def _read_cst(page: Page, model: LearnedSite | None, verdict: Verdict) -> DialReading:
    assert model is not None
    tree, blocks, settings = page.tree, page.blocks, CleaningSettings().cst
    score = block_weights(blocks, model.feature_weights(settings.weights))[blocks.of_run()]
    limit = np.where(tree.visible_runs, np.rint(score * MILLION), NEVER)
    own = round(settings.weight * MILLION)
    return _two_sided(verdict, limit, Reason.WEIGHTY, Reason.LIGHT, score, own=own)


def _read_repeated(page: Page, model: LearnedSite | None, verdict: Verdict) -> DialReading:
    tree, blocks = page.tree, page.blocks
    share = np.zeros(len(blocks))
    if verdict.note is None and model is not None:
        share = model.pages_that_say(block_keys(blocks)) / model.pages
    of_run = share[blocks.of_run()]
    limit = np.where(tree.visible_runs, np.floor(of_run * MILLION), ALWAYS)
    own = round(CleaningSettings().repeated.share * MILLION)
    return _two_sided(verdict, limit, Reason.KEPT, Reason.REPEATED, of_run, own=own)


def _read_probability(page: Page, model: LearnedSite | None, verdict: Verdict) -> DialReading:
    tree, evidence, asked = page.tree, evidence_of(page), None
    probability, gone = evidence.probability, np.full(len(evidence), Reason.UNLIKELY)
    if verdict.method == "combined" and model is not None and without_site(model, combined.LEAST_PAGES) is None:
        asked = combined.site_evidence(page, model)
        probability = combined.joined(evidence, asked)
        gone[asked.share >= SAID_OFTEN] = Reason.REPEATED
    probability = pooled(page, probability, asked)
    genre = evidence.genre_probability if asked is None else None
    is_empty = bool((verdict.run_reason == Reason.NO_CONTENT).any())
    turns = {
        favor: None if is_empty else _turn(page_model(page).cut(probability, evidence.words, favor, genre))
        for favor in (None, *FAVORS)
    }
    blocks = page.blocks
    of_run = blocks.of_run()
    posts = (verdict.run_reason == Reason.POSTS)[blocks.first_run[evidence.said]]
    probability = completed(page, np.where(posts, 0.0, probability), asked)
    shown = tree.visible_runs[blocks.first_run[evidence.said]]
    limit, score = np.full(len(blocks), NEVER, np.int32), np.full(len(blocks), np.nan)
    limit[evidence.said] = np.where(shown | (probability >= HIDDEN_ABOVE), np.rint(probability * MILLION), NEVER)
    score[evidence.said] = probability
    reason = np.full(len(blocks), Reason.UNLIKELY)
    reason[evidence.said] = gone
    return _two_sided(
        verdict,
        np.where(verdict.run_reason == Reason.POSTS, NEVER, limit[of_run]),
        Reason.CONTENT,
        reason[of_run],
        score[of_run],
        own=turns[None],
        favored={str(favor): turns[favor] for favor in FAVORS},
    )


def _turn(lowest: float) -> int | None:
    """The position of a page's own cut; None if no block passes."""
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
) -> DialReading:
    """A reading that has the verdict's own reasons on the side of its decision."""
    return DialReading(
        verdict=verdict,
        limit=limit.astype(np.int32),
        kept_reason=np.where(verdict.keep_runs, verdict.run_reason, kept).astype(np.uint8),
        gone_reason=np.where(verdict.keep_runs, gone, verdict.run_reason).astype(np.uint8),
        score=score,
        own=own,
        favored=favored or {},
    )


_READERS: dict[str, Callable[[Page, LearnedSite | None, Verdict], DialReading]] = {
    "combined": _read_probability,
    "page": _read_probability,
    **dict.fromkeys(NOISE_TREES, _read_sst),
    "cst": _read_cst,
    "repeated": _read_repeated,
}
_NEED_A_SITE = frozenset({*NOISE_TREES, "cst"})
"""Methods that have no dial without site evidence."""
