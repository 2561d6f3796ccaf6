"""Method `sst`: pages laid over the simplified site style tree (thesis 4.2.3 to 4.2.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from webwinnow._words import count_words
from webwinnow.blocks import cut
from webwinnow.cleaning.verdict import (
    HIDDEN_REASON,
    LOCALLY_NOISY_REASON,
    MEANINGFUL_REASON,
    NOISY_REASON,
    POSSIBLY_REASON,
    Verdict,
    keep_around,
    keep_visible,
    reasons_of_nodes,
    without_site,
)
from webwinnow.errors import SettingsError
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.mapping import NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class SstSettings:
    """`threshold`: importance up to which an element is noise, None for the site's own.

    Below `min_pages` pages nothing is known.
    """

    threshold: float | None = None
    min_pages: int = 3

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0.0 <= self.threshold <= 1.0:
            raise SettingsError(f"the threshold must lie between 0 and 1, not at {self.threshold}")


def clean(tree: PageTree, model: LearnedSite | None, settings: SstSettings | None = None) -> Verdict:
    """Drop what maps onto noisy elements and what is locally noisy; what the tree does not know may be meaningful."""
    settings = settings or SstSettings()
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        return keep_visible(tree, method="sst", note=note)
    threshold = model.threshold if settings.threshold is None else settings.threshold
    mapped = model.noise.lay(tree, threshold)
    visible = tree.visible[tree.run_owner]
    run_reason = np.select(
        [~visible, mapped.noisy, mapped.unmatched, mapped.dull],
        [HIDDEN_REASON, NOISY_REASON, POSSIBLY_REASON, LOCALLY_NOISY_REASON],
        MEANINGFUL_REASON,
    ).astype(np.uint8)
    keep_runs = (run_reason == MEANINGFUL_REASON) | (run_reason == POSSIBLY_REASON)
    keep = keep_around(tree, keep_runs)
    importance = np.where(mapped.element == NOWHERE, 1.0, model.noise.importance.composite[mapped.element])
    return Verdict(
        method="sst",
        keep=keep,
        keep_runs=keep_runs,
        reason=reasons_of_nodes(tree, keep, run_reason, MEANINGFUL_REASON, NOISY_REASON),
        run_reason=run_reason,
        score=importance.astype(np.float32),
        weight=keep.astype(np.float32),
        kind=np.zeros(len(tree), np.uint8),
    )


TRIED = (0.0, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
EXAMPLES = 3
SHOWN_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Trial:
    """One threshold: kept words of each page, and the longest texts that go here and did not at the one before."""

    threshold: float
    kept_words: tuple[int, ...]
    goes: tuple[str, ...]


def try_thresholds(model: LearnedSite, trees: Sequence[PageTree], tried: Sequence[float] = TRIED) -> list[Trial]:
    """Clean some pages at each threshold, the model's own among them."""
    row = sorted({*tried, model.threshold})
    kept_before = [tree.visible[tree.run_owner] for tree in trees]
    trials = []
    for threshold in row:
        masks = [clean(tree, model, SstSettings(threshold=threshold, min_pages=1)).keep_runs for tree in trees]
        words = tuple(count_words(tree.text, tree.run_start, mask) for tree, mask in zip(trees, masks, strict=True))
        gone: set[str] = set()
        for tree, before, mask in zip(trees, kept_before, masks, strict=True):
            blocks = cut(tree)
            texts = blocks.texts()
            went = np.flatnonzero(np.bincount(blocks.of_run(), weights=before & ~mask, minlength=len(blocks)))
            gone.update(texts[b] for b in went.tolist() if texts[b])
        longest = sorted(gone, key=lambda text: (-len(text), text))[:EXAMPLES]
        trials.append(Trial(threshold, words, tuple(longest)))
        kept_before = masks
    return trials


def shown_trials(model: LearnedSite, trees: Sequence[PageTree], trials: Sequence[Trial]) -> Iterator[str]:
    """The trials as lines for people."""
    every = [count_words(tree.text, tree.run_start, tree.visible[tree.run_owner]) for tree in trees]
    yield f"{model.shown_name}: {len(trees)} pages, {sum(every):,} words; threshold {model.threshold:.3f}"
    for trial in trials:
        sign = "*" if trial.threshold == model.threshold else " "
        share = sum(trial.kept_words) / max(sum(every), 1)
        yield f"{sign} {trial.threshold:.3f}  keeps {share:6.1%}"
        for text in trial.goes:
            shown = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
            yield f"            goes: {''.join(c if c.isprintable() else ' ' for c in shown)}"
    yield "  share of each page's words that stays, a row a page, a column a threshold:"
    yield "         " + "".join(f"{trial.threshold:7.3f}" for trial in trials)
    for number, (tree, words) in enumerate(zip(trees, every, strict=True)):
        row = "".join(f"{trial.kept_words[number] / max(words, 1):7.0%}" for trial in trials)
        yield f"  {words:6,} {row}  {''.join(c if c.isprintable() else ' ' for c in tree.url)}"
