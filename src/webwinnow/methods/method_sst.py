"""Methods `sst` and `aligned`: pages mapped onto a simplified site style tree (thesis 4.2.3 to 4.2.5).

`sst` uses the published tree, `aligned` our variant (`site.alignedtree`). The thesis lets the user choose the
threshold; the learned one is ours (`choose_threshold`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from webwinnow.counted import counted
from webwinnow.judge.verdict import Reason, Verdict, keep_by_reason, keep_visible, without_site
from webwinnow.methods.registry import Method
from webwinnow.methods.settings import Gamma, MinPages, Overlap
from webwinnow.page.blocks import cut
from webwinnow.page.markup import TAG_CODE
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.settings import Settings, setting, share
from webwinnow.site.learned import LearnedSite
from webwinnow.site.mapping import NOWHERE
from webwinnow.site.noisemap import Mapped, NoiseSettings
from webwinnow.site.sitetree import JoinSettings

_WholeRuns = Annotated[
    bool, setting("remove locally noisy words (1 - H below epsilon) only where all words of a run are")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SstSettings(Settings):
    """Settings of method `sst`, by default those of the thesis; it has no value for the threshold."""

    TREE: ClassVar[str] = "sst"

    threshold: Annotated[float | None, share("remove elements up to this importance; none for the site's own")] = None
    min_pages: MinPages = 3
    gamma: Gamma = JoinSettings().gamma
    overlap: Overlap = JoinSettings().overlap
    attenuation: Annotated[float, share("weight of the styles below an element (5-2)")] = NoiseSettings().attenuation
    epsilon: Annotated[float, share("a word with 1 - H below this is locally noisy (4.2.5)")] = NoiseSettings().epsilon
    whole_runs: _WholeRuns = False

    @property
    def noise(self) -> NoiseSettings:
        """The settings of the tree's importance."""
        return NoiseSettings(attenuation=self.attenuation, epsilon=self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedSettings(SstSettings):
    """Settings of method `aligned`."""

    TREE: ClassVar[str] = "aligned"

    whole_runs: _WholeRuns = True


def clean(page: Page, model: LearnedSite | None, settings: SstSettings) -> Verdict:
    """Drop what maps onto noisy elements and what is locally noisy; what the tree does not know may be meaningful."""
    tree, name = page.tree, settings.TREE
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        return keep_visible(tree, name, note)
    noise = model.noise_map(name, settings.noise)
    mapped = noise.lay(tree, model.thresholds[name] if settings.threshold is None else settings.threshold)
    runs = tree.words.run
    noisy, unmatched = mapped.noisy[tree.run_owner], mapped.unmatched[tree.run_owner]
    reason = np.select(
        [noisy, unmatched, mapped.dull_runs(runs, tree.run_count)],
        [Reason.NOISY, Reason.POSSIBLY, Reason.LOCALLY_NOISY],
        Reason.MEANINGFUL,
    )
    importance = np.where(mapped.element == NOWHERE, 1.0, noise.importance.composite[mapped.element])
    kept = (Reason.MEANINGFUL, Reason.POSSIBLY)
    drop = None if name == AlignedSettings.TREE else _noisy_images(tree, mapped)
    verdict = keep_by_reason(tree, name, reason, kept, Reason.NOISY, importance.astype(np.float32), drop=drop)
    if settings.whole_runs:
        return verdict
    outputs = np.concatenate((verdict.keep_runs[runs], verdict.keep[mapped.owner[len(runs) :]]))
    return replace(verdict, removed_features=mapped.dull & outputs)


METHOD = Method(
    "sst",
    "remove what is noise in the site style tree, as published (thesis 4.2)",
    clean,
    parts=frozenset({"sst"}),
    settings=SstSettings,
)


def _noisy_images(tree: PageTree, mapped: Mapped) -> NDArray[np.bool_]:
    """The images of noisy elements, and those that are locally noisy features."""
    noisy = mapped.noisy.copy()
    noisy[mapped.owner[mapped.dull]] = True
    images: NDArray[np.bool_] = noisy & (tree.tag == TAG_CODE["img"])
    return images


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
    model: LearnedSite,
    trees: Sequence[PageTree],
    tried: Sequence[float] = TRIED,
    settings: SstSettings | None = None,
) -> list[ThresholdTrial]:
    """Clean some pages at each threshold and at the model's own, with the other settings of `sst` or `aligned`."""
    settings = replace(settings or SstSettings(), min_pages=1)
    blocks = [cut(tree) for tree in trees]
    kept_before = [tree.visible_runs for tree in trees]
    trials = []
    for threshold in sorted({*tried, model.thresholds[settings.TREE]}):
        verdicts = [clean(Page(tree), model, replace(settings, threshold=threshold)) for tree in trees]
        masks = [verdict.keep_runs for verdict in verdicts]
        reduced = [verdict.reduced(tree) for tree, verdict in zip(trees, verdicts, strict=True)]
        words = tuple(int(tree.run_words[mask].sum()) for tree, mask in zip(reduced, masks, strict=True))
        gone: set[str] = set()
        for page, before, mask in zip(blocks, kept_before, masks, strict=True):
            texts = page.texts()
            removed = np.flatnonzero(np.bincount(page.of_run(), weights=before & ~mask, minlength=len(page)))
            gone.update(texts[b] for b in removed.tolist() if texts[b])
        longest = sorted(gone, key=lambda text: (-len(text), text))[:EXAMPLES]
        trials.append(ThresholdTrial(threshold, words, tuple(longest)))
        kept_before = masks
    return trials


def shown_trials(
    model: LearnedSite, trees: Sequence[PageTree], trials: Sequence[ThresholdTrial], name: str = SstSettings.TREE
) -> Iterator[str]:
    """The trials of a tree as lines of text."""
    own = model.thresholds[name]
    every = [tree.all_words for tree in trees]
    size = f"{counted(len(trees), 'page')}, {counted(sum(every), 'word')}"
    yield f"{model.shown_name}: {size}; threshold of {name} {own:.3f}"
    for trial in trials:
        sign = "*" if trial.threshold == own else " "
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
