"""Method `template`: drop the pagelets that pages share (Bar-Yossef and Rajagopalan, WWW 2002; thesis 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webwinnow.cleaning.verdict import (
    HIDDEN_REASON,
    KEPT_REASON,
    TEMPLATE_REASON,
    Verdict,
    keep_around,
    keep_visible,
    reasons_of_nodes,
    without_site,
)
from webwinnow.errors import InputError, SettingsError
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.pagelets import TEMPLATE_PAGES, Pagelets, pagelets_of
from webwinnow.templates import TemplateList

__all__ = ["TemplateSettings", "clean"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSettings:
    """`pages`: a pagelet on at least so many of the site's learned pages is a template (local detection).

    `found`: a list that `webwinnow templates` wrote over a whole collection; it decides instead of the site.
    """

    pages: int = TEMPLATE_PAGES
    found: str | None = None

    def __post_init__(self) -> None:
        if self.pages < TEMPLATE_PAGES:
            raise SettingsError(f"a template stands on {TEMPLATE_PAGES} pages or more, not on {self.pages}")


def clean(tree: PageTree, model: LearnedSite | None, settings: TemplateSettings | None = None) -> Verdict:
    """Drop the pagelets that are templates, whole; the rest, and what is in no pagelet, stays."""
    settings = settings or TemplateSettings()
    note = without_site(model, settings.pages) if settings.found is None else None
    if note is not None:
        return keep_visible(tree, method="template", note=note)
    pagelets = pagelets_of(tree)
    dropped = pagelets.marked(_templates(tree, pagelets, model, settings))
    visible = tree.visible[tree.run_owner]
    run_reason = np.where(
        visible, np.where(dropped, TEMPLATE_REASON, KEPT_REASON)[tree.run_owner], HIDDEN_REASON
    ).astype(np.uint8)
    keep_runs = run_reason == KEPT_REASON
    keep = keep_around(tree, keep_runs) & ~dropped
    return Verdict(
        method="template",
        keep=keep,
        keep_runs=keep_runs,
        reason=reasons_of_nodes(tree, keep, run_reason, KEPT_REASON, TEMPLATE_REASON),
        run_reason=run_reason,
        score=(~dropped).astype(np.float32),
        weight=keep.astype(np.float32),
        kind=np.zeros(len(tree), np.uint8),
        note=note,
    )


def _templates(
    tree: PageTree, pagelets: Pagelets, model: LearnedSite | None, settings: TemplateSettings
) -> NDArray[np.bool_]:
    """Which pagelets of a page are templates."""
    if settings.found is not None:
        return _list(settings.found).marked(tree.url, pagelets.fingerprint)
    assert model is not None
    is_template: NDArray[np.bool_] = model.pagelet_counts.pages_with(pagelets.fingerprint) >= settings.pages
    return is_template


def _list(path: str) -> TemplateList:
    """The list in a file, read again when the file has changed."""
    try:
        about = Path(path).stat()
    except OSError as error:
        raise InputError(f"{path} cannot be read as a list of templates: {error.strerror}") from None
    return _read(path, about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=2)
def _read(path: str, _size: int, _changed: int) -> TemplateList:
    return TemplateList.load(path)
