"""Method `leads`: remove the blocks that begin as blocks of other pages do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from webwinnow.judge.verdict import Reason, Verdict, keep_by_reason, keep_visible, without_site
from webwinnow.methods.registry import Method
from webwinnow.methods.settings import MethodSettings, min_pages, setting, share
from webwinnow.page.page import Page
from webwinnow.site.learned import LearnedSite
from webwinnow_leads.part_leads import lead_keys


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadSettings(MethodSettings):
    """Settings of method `leads`."""

    words: int = setting(3, "words that a block begins with; read when a site is learned", "1 or more", int)
    share: float = share(0.5, "remove what begins as blocks on this share of the pages do")
    min_pages: int = min_pages()


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
