"""Method `sst`: pages mapped onto the simplified site style tree (thesis 4.2.3 to 4.2.5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from webwinnow._words import count_words
from webwinnow.blocks import cut
from webwinnow.cleaning import verdict as reasons
from webwinnow.cleaning.settings import MethodSettings, min_pages, share
from webwinnow.cleaning.verdict import Verdict, keep_by_reason, keep_visible, without_site
from webwinnow.pagemodel import PageContext
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.mapping import NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class SstSettings(MethodSettings):
    """Settings of method `sst`."""

    threshold: float | None = share(None, "remove elements up to this importance; none for the site's own")
    min_pages: int = min_pages()


def clean(page: PageContext, model: LearnedSite | None, settings: SstSettings) -> Verdict:
    """Drop what maps onto noisy elements and what is locally noisy; what the tree does not know may be meaningful."""
    tree = page.tree
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        return keep_visible(tree, "sst", note)
    threshold = model.threshold if settings.threshold is None else settings.threshold
    mapped = model.noise.lay(tree, threshold)
    reason = np.select(
        [mapped.noisy, mapped.unmatched, mapped.dull],
        [reasons.NOISY_REASON, reasons.POSSIBLY_REASON, reasons.LOCALLY_NOISY_REASON],
        reasons.MEANINGFUL_REASON,
    )
    importance = np.where(mapped.element == NOWHERE, 1.0, model.noise.importance.composite[mapped.element])
    kept = (reasons.MEANINGFUL_REASON, reasons.POSSIBLY_REASON)
    return keep_by_reason(tree, "sst", reason, kept, reasons.NOISY_REASON, importance.astype(np.float32))


# Which threshold to choose (thesis 5.3)

TRIED = (0.0, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
EXAMPLES = 3
SHOWN_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class ThresholdTrial:
    """One threshold: kept words of each page, and the longest texts removed here and kept at the threshold before."""

    threshold: float
    kept_words: tuple[int, ...]
    removed: tuple[str, ...]


def try_thresholds(
    model: LearnedSite, trees: Sequence[PageTree], tried: Sequence[float] = TRIED
) -> list[ThresholdTrial]:
    """Clean some pages at each threshold and at the model's own."""
    blocks = [cut(tree) for tree in trees]
    kept_before = [tree.visible[tree.run_owner] for tree in trees]
    trials = []
    for threshold in sorted({*tried, model.threshold}):
        masks = [
            clean(PageContext(tree), model, SstSettings(threshold=threshold, min_pages=1)).keep_runs for tree in trees
        ]
        words = tuple(count_words(tree.text, tree.run_start, mask) for tree, mask in zip(trees, masks, strict=True))
        gone: set[str] = set()
        for page, before, mask in zip(blocks, kept_before, masks, strict=True):
            texts = page.texts()
            removed = np.flatnonzero(np.bincount(page.of_run(), weights=before & ~mask, minlength=len(page)))
            gone.update(texts[b] for b in removed.tolist() if texts[b])
        longest = sorted(gone, key=lambda text: (-len(text), text))[:EXAMPLES]
        trials.append(ThresholdTrial(threshold, words, tuple(longest)))
        kept_before = masks
    return trials


def shown_trials(model: LearnedSite, trees: Sequence[PageTree], trials: Sequence[ThresholdTrial]) -> Iterator[str]:
    """The trials as lines of text."""
    every = [count_words(tree.text, tree.run_start, tree.visible[tree.run_owner]) for tree in trees]
    yield f"{model.shown_name}: {len(trees)} pages, {sum(every):,} words; threshold {model.threshold:.3f}"
    for trial in trials:
        sign = "*" if trial.threshold == model.threshold else " "
        share = sum(trial.kept_words) / max(sum(every), 1)
        yield f"{sign} {trial.threshold:.3f}  keeps {share:6.1%}"
        for text in trial.removed:
            shown = text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
            yield f"            removed: {''.join(c if c.isprintable() else ' ' for c in shown)}"
    yield "  share of the words kept, one row per page, one column per threshold:"
    yield "         " + "".join(f"{trial.threshold:7.3f}" for trial in trials)
    for number, (tree, words) in enumerate(zip(trees, every, strict=True)):
        row = "".join(f"{trial.kept_words[number] / max(words, 1):7.0%}" for trial in trials)
        yield f"  {words:6,} {row}  {''.join(c if c.isprintable() else ' ' for c in tree.url)}"
