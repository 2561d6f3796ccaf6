"""Method `template`: drop the pagelets that pages share (Bar-Yossef and Rajagopalan, WWW 2002; thesis 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webwinnow.cleaning import verdict as reasons
from webwinnow.cleaning.settings import MethodSettings, absolute_path, setting
from webwinnow.cleaning.verdict import Verdict, keep_by_reason, keep_visible, without_site
from webwinnow.errors import InputError
from webwinnow.pagemodel import PageContext
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.pagelets import TEMPLATE_PAGES, Pagelets, pagelets_of
from webwinnow.templates import TemplateList


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSettings(MethodSettings):
    """Settings of method `template`."""

    pages: int = setting(
        TEMPLATE_PAGES,
        "a pagelet on at least this many learned pages of the site is a template",
        f"{TEMPLATE_PAGES} or more",
        int,
        lambda v: v >= TEMPLATE_PAGES,
    )
    found: str | None = setting(
        None, "a list that `webwinnow lists templates` wrote; it decides instead of the site", "a file", absolute_path
    )


def clean(page: PageContext, model: LearnedSite | None, settings: TemplateSettings) -> Verdict:
    """Drop the pagelets that are templates; keep the others and what is in no pagelet."""
    tree = page.tree
    note = without_site(model, settings.pages) if settings.found is None else None
    if note is not None:
        return keep_visible(tree, "template", note)
    pagelets = pagelets_of(tree)
    dropped = pagelets.marked(_templates(tree, pagelets, model, settings))
    reason = np.where(dropped, reasons.TEMPLATE_REASON, reasons.KEPT_REASON)[tree.run_owner]
    score = (~dropped).astype(np.float32)
    return keep_by_reason(
        tree, "template", reason, (reasons.KEPT_REASON,), reasons.TEMPLATE_REASON, score, drop=dropped
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
    """The list in a file, read again if the file has changed."""
    try:
        about = Path(path).stat()
    except OSError as error:
        raise InputError(f"{path} cannot be read as a list of templates: {error.strerror}") from None
    return _read(path, about.st_size, about.st_mtime_ns)


@lru_cache(maxsize=2)
def _read(path: str, _size: int, _changed: int) -> TemplateList:
    return TemplateList.load(path)
