"""The cleaning methods by name, with their settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from webwinnow.cleaning import combined, cst, explanations, items, page, repeated, segments, sst, template
from webwinnow.cleaning.cst import CstSettings
from webwinnow.cleaning.explanations import Causes
from webwinnow.cleaning.items import ItemSettings
from webwinnow.cleaning.page import PageSettings
from webwinnow.cleaning.repeated import RepeatedSettings
from webwinnow.cleaning.segments import SegmentSettings
from webwinnow.cleaning.sst import SstSettings
from webwinnow.cleaning.template import TemplateSettings
from webwinnow.cleaning.verdict import Verdict, keep_visible
from webwinnow.docview.pagetype import clean as docview_clean
from webwinnow.errors import SettingsError
from webwinnow.pagemodel import PageEvidence
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sums import BLOCKS, PAGELETS, SEGMENTS, TEXTS


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningSettings:
    """What the methods may be told; each reads its own."""

    repeated: RepeatedSettings = field(default_factory=RepeatedSettings)
    sst: SstSettings = field(default_factory=SstSettings)
    cst: CstSettings = field(default_factory=CstSettings)
    page: PageSettings = field(default_factory=PageSettings)
    template: TemplateSettings = field(default_factory=TemplateSettings)
    segments: SegmentSettings = field(default_factory=SegmentSettings)
    items: ItemSettings = field(default_factory=ItemSettings)

    @classmethod
    def from_plain(cls, plain: dict[str, dict[str, Any]]) -> CleaningSettings:
        """Read what `dataclasses.asdict` made of settings."""
        kinds = {found.name: found.default_factory for found in fields(cls)}
        return cls(**{name: kinds[name](**told) for name, told in plain.items()})  # type: ignore[operator]


@dataclass(frozen=True, slots=True)
class Method:
    """A way of cleaning: `clean(tree, model, settings, evidence)`; `parts` are what it wants to be learned of the site.

    `evidence` is what the page model has said of the page already, if it has been asked. `explain(tree, model)` tells
    what moved the scores of a page's blocks, where a method can.
    """

    name: str
    about: str
    parts: frozenset[str]
    clean: Callable[[PageTree, LearnedSite | None, CleaningSettings, PageEvidence | None], Verdict]
    explain: Callable[[PageTree, LearnedSite | None], Causes] | None = None

    @property
    def learns(self) -> bool:
        """Whether it wants a model of the site."""
        return bool(self.parts)

    @property
    def scores(self) -> bool:
        """Whether it learns a site from what the page model says of its pages."""
        return BLOCKS in self.parts


METHODS: dict[str, Method] = {
    found.name: found
    for found in (
        Method(
            "combined",
            "join what the page shows with what its site does",
            frozenset({BLOCKS}),
            lambda tree, model, settings, evidence: combined.clean(tree, model, settings.page, evidence),
            explanations.of_combined,
        ),
        Method("none", "keep everything visible", frozenset(), lambda tree, *_: keep_visible(tree)),
        Method(
            "repeated",
            "drop only what the site repeats",
            frozenset({TEXTS}),
            lambda tree, model, settings, _: repeated.clean(tree, model, settings.repeated),
        ),
        Method(
            "sst",
            "drop what is noise in the site style tree (thesis 4.2)",
            frozenset({"sst"}),
            lambda tree, model, settings, _: sst.clean(tree, model, settings.sst),
        ),
        Method(
            "cst",
            "keep blocks whose words weigh much in the compressed structure tree (thesis 4.3)",
            frozenset({"cst"}),
            lambda tree, model, settings, _: cst.clean(tree, model, settings.cst),
        ),
        Method(
            "page",
            "keep what the page alone shows to be its main content",
            frozenset(),
            lambda tree, _, settings, __: page.clean(tree, settings.page),
            explanations.of_page,
        ),
        Method(
            "template",
            "drop the pagelets that pages share (Bar-Yossef and Rajagopalan; thesis 3.3)",
            frozenset({PAGELETS}),
            lambda tree, model, settings, _: template.clean(tree, model, settings.template),
        ),
        Method(
            "segments",
            "keep tables whose words tell pages apart (Lin and Ho; thesis 3.2)",
            frozenset({SEGMENTS}),
            lambda tree, model, settings, _: segments.clean(tree, model, settings.segments),
        ),
        Method(
            "items",
            "drop links and pictures that decision trees call noisy (thesis 3.1)",
            frozenset(),
            lambda tree, _, settings, __: items.clean(tree, settings.items),
        ),
        Method(
            "docview",
            "keep blocks by the type of the page (DocView 4.2), the page alone",
            frozenset(),
            lambda tree, *_: docview_clean(tree),
        ),
    )
}


DEFAULT_METHOD = "combined"


def method_named(name: str) -> Method:
    """The method of that name. Raises `SettingsError` with the names there are."""
    if name not in METHODS:
        raise SettingsError(f"there is no cleaning method {name!r}; there are: {', '.join(METHODS)}")
    return METHODS[name]
