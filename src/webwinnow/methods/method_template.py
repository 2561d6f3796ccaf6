"""Method `template`: drop the pagelets that pages share (Bar-Yossef and Rajagopalan, WWW 2002; thesis 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import numpy as np

from webwinnow.errors import InputError
from webwinnow.judge.verdict import Reason, Verdict, keep_by_reason, keep_visible, without_site
from webwinnow.methods.registry import Method
from webwinnow.methods.settings import file_setting
from webwinnow.page.page import Page
from webwinnow.page.words import SHINGLE_SIZE
from webwinnow.settings import Setting, Settings, setting
from webwinnow.site.learned import LearnedSite
from webwinnow.site.pagelets import (
    MOST,
    PAGELET_LINKS,
    SKETCH_HASHES,
    TEMPLATE_PAGES,
    PageletCounts,
    PageletSettings,
    pagelets_of,
)
from webwinnow.site.templates import TemplateList


def _count(about: str) -> Setting:
    return setting(f"{about}; read when a site is learned", least=1, most=MOST)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSettings(Settings):
    """Settings of method `template`. `links`, `shingle` and `hashes` are read when a site is learned."""

    links: Annotated[int, _count("k: an element with a child of so many links is not a pagelet")] = PAGELET_LINKS
    shingle: Annotated[int, _count("words, links or images in a row that are hashed together")] = SHINGLE_SIZE
    hashes: Annotated[int, _count("smallest hashes that two pagelets must share to be equal")] = SKETCH_HASHES
    pages: Annotated[
        int, setting("a pagelet on at least this many learned pages of the site is a template", least=TEMPLATE_PAGES)
    ] = TEMPLATE_PAGES
    found: Annotated[
        str | None, file_setting("a list that `webwinnow lists templates` wrote; it decides instead of the site")
    ] = None

    @property
    def pagelets(self) -> PageletSettings:
        """How pages are split into pagelets."""
        return PageletSettings(links=self.links, shingle=self.shingle, hashes=self.hashes)


def clean(page: Page, model: LearnedSite | None, settings: TemplateSettings) -> Verdict:
    """Drop the pagelets that are templates; keep the others and what is in no pagelet."""
    tree = page.tree
    note = without_site(model, settings.pages) if settings.found is None else None
    if note is not None:
        return keep_visible(tree, "template", note)
    if settings.found is not None:
        listed = _list(settings.found)
        pagelets = pagelets_of(tree, listed.settings)
        is_template = listed.marked(tree.url, pagelets.fingerprint)
    else:
        assert model is not None
        counts: PageletCounts = model.part("pagelets")
        pagelets = pagelets_of(tree, counts.settings)
        is_template = counts.pages_with(pagelets.fingerprint) >= settings.pages
    dropped = pagelets.marked(is_template)
    reason = np.where(dropped, Reason.TEMPLATE, Reason.KEPT)[tree.run_owner]
    score = (~dropped).astype(np.float32)
    return keep_by_reason(tree, "template", reason, (Reason.KEPT,), Reason.TEMPLATE, score, drop=dropped)


METHOD = Method(
    "template",
    "remove the pagelets that pages share (Bar-Yossef and Rajagopalan; thesis 3.3)",
    clean,
    parts=frozenset({"pagelets"}),
    settings=TemplateSettings,
)


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
