"""Method `cst`: keep the blocks whose words have a high weight in the compressed structure tree (thesis 4.3)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.verdict import Reason, Verdict, keep_by_reason, keep_visible, without_site
from webwinnow.methods.registry import Method
from webwinnow.methods.settings import Gamma, MinPages, Overlap
from webwinnow.page.blocks import Blocks
from webwinnow.page.page import Page
from webwinnow.settings import Settings, setting, share
from webwinnow.site.featureweights import CstWeightSettings, FeatureWeights
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sitetree import JoinSettings

_WEIGHTS = CstWeightSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class CstSettings(Settings):
    """Settings of method `cst`. The default weight is the best on `sites-news`, and flat around: `run.py sst`."""

    weight: Annotated[float, share("keep a block whose words have at least this mean weight")] = 0.5
    min_pages: MinPages = 3
    gamma: Gamma = JoinSettings().gamma
    overlap: Overlap = JoinSettings().overlap
    mapped: Annotated[bool, setting("weight as MapCST does (4.3.3) rather than exactly (5-10)")] = _WEIGHTS.mapped
    informative: Annotated[float, share("if mapped, weights of at least this count as 1 (u of 4.3.3)")] = (
        _WEIGHTS.informative
    )
    meaningless: Annotated[float, share("if mapped, weights below this count as 0 (m of 4.3.3)")] = _WEIGHTS.meaningless
    alone: Annotated[
        float, share("NodeImp of an element with one tag node: 0 in the thesis (5-6), 1 in Yi and Liu (eq. 1)")
    ] = _WEIGHTS.alone

    def validate(self) -> None:
        """Raise `SettingsError` if the weights cannot be as these settings say."""
        _ = self.weights

    @property
    def weights(self) -> CstWeightSettings:
        """The settings of the weights."""
        return CstWeightSettings(**{one.name: getattr(self, one.name) for one in fields(CstWeightSettings)})


def clean(page: Page, model: LearnedSite | None, settings: CstSettings) -> Verdict:
    """Keep the blocks whose mean weight per word (5-10) is high; a block without words follows the one before."""
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        return keep_visible(page.tree, "cst", note)
    tree, of_run = page.tree, page.blocks.of_run()
    mean = block_weights(page.blocks, model.feature_weights(settings.weights))
    kept, removed = Reason.WEIGHTY, Reason.LIGHT
    reason = np.where(mean >= settings.weight, kept, removed)[of_run]
    verdict = keep_by_reason(tree, "cst", reason, (kept,), removed, np.zeros(0, np.float32))
    score = verdict.keep.astype(np.float32)
    score[tree.run_owner] = mean[of_run]
    return replace(verdict, score=score, weight=score)


METHOD = Method(
    "cst",
    "keep blocks whose words have a high weight in the compressed structure tree (thesis 4.3)",
    clean,
    parts=frozenset({"cst"}),
    settings=CstSettings,
)


def block_weights(blocks: Blocks, weights: FeatureWeights) -> NDArray[np.float64]:
    """The mean weight per word of each block; a block without words has that of the last block with words."""
    of_run = blocks.of_run()
    runs, weight = weights.of_words(blocks.tree)
    words = np.bincount(of_run[runs], minlength=len(blocks))
    mean = np.bincount(of_run[runs], weights=weight, minlength=len(blocks)) / np.maximum(words, 1)
    last = np.maximum.accumulate(np.where(words > 0, np.arange(len(blocks)), -1))
    found: NDArray[np.float64] = np.where(last >= 0, np.round(mean, 6)[last], 0.0)
    return found
