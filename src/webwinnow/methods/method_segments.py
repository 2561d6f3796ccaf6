"""Method `segments`: keep the tables whose words distinguish pages (Lin and Ho, KDD 2002; thesis 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from webwinnow.errors import SettingsError
from webwinnow.judge.verdict import Reason, Verdict, keep_by_reason, keep_visible, without_site
from webwinnow.methods.registry import Method
from webwinnow.methods.settings import MinPages, StopWords
from webwinnow.page.page import Page
from webwinnow.page.words import StopList, stop_list_of
from webwinnow.settings import Settings, setting, share
from webwinnow.site.learned import LearnedSite
from webwinnow.site.segmenttable import GRID, LITTLE_GAIN, MOST_FEATURES, STEP, Segmentation, SegmentTable

_STEP_EXPECTED = f"a multiple of {1 / GRID} up to 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentSettings(Settings):
    """Settings of method `segments`."""

    by: Annotated[Segmentation, setting("what divides a page into blocks")] = "tables"
    threshold: Annotated[float | None, share("keep a block up to this entropy; none for the site's own")] = None
    step: Annotated[
        float,
        setting(
            "the site's own threshold: interval of the thresholds tried, from 0 to 1",
            above=0,
            most=1,
            expected=_STEP_EXPECTED,
        ),
    ] = STEP
    features: Annotated[float, share("the site's own threshold: least share of the site's words that it includes")] = (
        MOST_FEATURES
    )
    gain: Annotated[float, share("the site's own threshold: largest share of words that the next step may add")] = (
        LITTLE_GAIN
    )
    stop_words: StopWords = None
    min_pages: MinPages = 3

    def validate(self) -> None:
        """Raise `SettingsError` if the thresholds tried are not those of a table."""
        if round(self.step * GRID) != round(self.step * GRID, 6):
            raise SettingsError(f"step is {self.step}: expected {_STEP_EXPECTED}")

    @property
    def stop_list(self) -> StopList:
        """The words that do not count, read where a site is learned; a model keeps them."""
        return stop_list_of(self.stop_words)


def clean(page: Page, model: LearnedSite | None, settings: SegmentSettings) -> Verdict:
    """Keep the blocks whose entropy (4-2) is at most the threshold."""
    tree = page.tree
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        return keep_visible(tree, "segments", note)
    table: SegmentTable = model.part("segments")
    threshold = settings.threshold
    if threshold is None:
        threshold = table.threshold_of(settings.by, settings.step, settings.features, settings.gain)
    block, entropy = table.block_entropy(tree, settings.by)
    entropy = entropy[block]
    reason = np.where(entropy <= threshold, Reason.INFORMATIVE, Reason.REDUNDANT)[tree.run_owner]
    score = (1.0 - entropy).astype(np.float32)
    return keep_by_reason(tree, "segments", reason, (Reason.INFORMATIVE,), Reason.REDUNDANT, score)


METHOD = Method(
    "segments",
    "keep tables whose words distinguish pages (Lin and Ho; thesis 3.2)",
    clean,
    parts=frozenset({"segments"}),
    settings=SegmentSettings,
)
