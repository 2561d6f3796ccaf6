"""Method `leads`: remove the blocks that begin as blocks of other pages do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from webwinnow.judge.verdict import Reason, Verdict, keep_by_reason, keep_visible, without_site
from webwinnow.methods.registry import Method
from webwinnow.methods.settings import MinPages
from webwinnow.page.page import Page
from webwinnow.settings import Settings, setting, share
from webwinnow.site.learned import LearnedSite
from webwinnow_leads.part_leads import lead_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadSettings(Settings):
    """Settings of method `leads`."""

    words: Annotated[int, setting("words that a block begins with; read when a site is learned", least=1)] = 3
    share: Annotated[float, share("remove what begins as blocks on this share of the pages do")] = 0.5
    min_pages: MinPages = 3


def clean(page: Page, model: LearnedSite | None, settings: LeadSettings) -> Verdict:
    """Keep the blocks whose first words are on few pages of the site."""
    note = without_site(model, settings.min_pages)
    if note is not None or model is None:
        return keep_visible(page.tree, "leads", note)
    pages = model.part("leads").pages_with(lead_keys(page.blocks, settings.words))
    repeated = (pages >= settings.share * model.pages)[page.blocks.of_run()]
    reason = np.where(repeated, Reason.REPEATED, Reason.KEPT)
    score = np.ones(len(page.tree), np.float32)
    return keep_by_reason(page.tree, "leads", reason, (Reason.KEPT,), Reason.REPEATED, score)


METHOD = Method(
    "leads",
    "remove what begins as other pages do",
    clean,
    parts=frozenset({"leads"}),
    settings=LeadSettings,
)
