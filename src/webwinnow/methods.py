"""The cleaning methods by name, and their settings. Each is a module of `cleaning/`; `docview` has its own package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from webwinnow.cleaning import combined, cst, explanations, items, page, repeated, segments, sst, template
from webwinnow.cleaning.cst import CstSettings
from webwinnow.cleaning.items import ItemSettings
from webwinnow.cleaning.page import PageSettings
from webwinnow.cleaning.repeated import RepeatedSettings
from webwinnow.cleaning.segments import SegmentSettings
from webwinnow.cleaning.settings import Setting, SettingGroups
from webwinnow.cleaning.sst import AlignedSettings, SstSettings
from webwinnow.cleaning.template import TemplateSettings
from webwinnow.cleaning.verdict import Verdict, keep_visible
from webwinnow.cleaning.wholes import WholesSettings
from webwinnow.docview.contentblocks import clean as clean_by_page_type
from webwinnow.docview.settings import ViewSettings
from webwinnow.errors import SettingsError
from webwinnow.pagemodel import PageContext
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sitetree import JoinSettings
from webwinnow.site.sums import BLOCKS, PAGELETS, SEGMENTS, TEXTS, SiteSums


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningSettings(SettingGroups):
    """The settings of all methods; each method reads its own. `combined` reads those of `page`.

    `docview` are also the settings of type, keywords, abstract and relevant links in the records of every method.
    `wholes` applies to every method except `page` and `combined`.
    """

    repeated: RepeatedSettings = field(default_factory=RepeatedSettings)
    sst: SstSettings = field(default_factory=SstSettings)
    aligned: AlignedSettings = field(default_factory=AlignedSettings)
    cst: CstSettings = field(default_factory=CstSettings)
    page: PageSettings = field(default_factory=PageSettings)
    template: TemplateSettings = field(default_factory=TemplateSettings)
    segments: SegmentSettings = field(default_factory=SegmentSettings)
    items: ItemSettings = field(default_factory=ItemSettings)
    docview: ViewSettings = field(default_factory=ViewSettings)
    wholes: WholesSettings = field(default_factory=WholesSettings)

    @property
    def joins(self) -> dict[str, JoinSettings]:
        """How the trees of a site are finished when it is learned (`LearnedSite.of`)."""
        trees: dict[str, SstSettings | CstSettings] = {"sst": self.sst, "aligned": self.aligned, "cst": self.cst}
        return {name: JoinSettings(gamma=own.gamma, overlap=own.overlap) for name, own in trees.items()}

    def learned(self, sums: SiteSums) -> LearnedSite:
        """The model of a site from its sums, with the thresholds of these settings where they have some."""
        model = LearnedSite.of(sums, self.joins)
        for own in (self.sst, self.aligned):
            if own.threshold is not None and own.TREE in model.noise_trees:
                model = model.with_threshold(own.threshold, own.TREE)
        return model


@dataclass(frozen=True, slots=True)
class Method:
    """A cleaning method: `clean(page, model, settings)` returns the verdict on a page.

    `parts` are what it needs learned of the site. `group` names its settings in `CleaningSettings`. `explain(page,
    model)` returns the causes of the blocks' scores, where a method can.
    """

    name: str
    about: str
    parts: frozenset[str]
    clean: Callable[[PageContext, LearnedSite | None, Any], Verdict]
    group: str | None = None
    explain: Callable[[PageContext, LearnedSite | None], explanations.Causes] | None = None
    learns: bool = field(init=False)
    """Whether it needs a model of the site."""
    scores: bool = field(init=False)
    """Whether it learns a site from the page model's scores of its pages."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "learns", bool(self.parts))
        object.__setattr__(self, "scores", BLOCKS in self.parts)

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Its settings; empty if it has none."""
        return () if self.group is None else CleaningSettings.groups()[self.group].listed(self.group)


_NOTHING: frozenset[str] = frozenset()
_JOIN = "combine evidence from the page with evidence from its site"
_SST = "remove what is noise in the site style tree, as published (thesis 4.2)"
_ALIGNED = "remove what is noise in our variant of the site style tree, whose pages are aligned by tag and role"
_CST = "keep blocks whose words have a high weight in the compressed structure tree (thesis 4.3)"
_PAGE = "keep the main content, judged by the page alone"
_TEMPLATE = "remove the pagelets that pages share (Bar-Yossef and Rajagopalan; thesis 3.3)"
_SEGMENTS = "keep tables whose words distinguish pages (Lin and Ho; thesis 3.2)"
_ITEMS = "remove nepotistic links and advertisement images, found by decision trees (thesis 3.1)"
_DOCVIEW = "keep blocks by the type of the page (DocView 4.2), judged by the page alone"

METHODS: dict[str, Method] = {
    found.name: found
    for found in (
        Method("combined", _JOIN, frozenset({BLOCKS}), combined.clean, "page", explanations.of_combined),
        Method("none", "keep everything visible", _NOTHING, lambda given, *_: keep_visible(given.tree)),
        Method("repeated", "remove only what the site repeats", frozenset({TEXTS}), repeated.clean, "repeated"),
        Method("sst", _SST, frozenset({"sst"}), sst.clean, "sst"),
        Method("aligned", _ALIGNED, frozenset({"aligned"}), sst.clean, "aligned"),
        Method("cst", _CST, frozenset({"cst"}), cst.clean, "cst"),
        Method("page", _PAGE, _NOTHING, page.clean, "page", explanations.of_page),
        Method("template", _TEMPLATE, frozenset({PAGELETS}), template.clean, "template"),
        Method("segments", _SEGMENTS, frozenset({SEGMENTS}), segments.clean, "segments"),
        Method("items", _ITEMS, _NOTHING, items.clean, "items"),
        Method("docview", _DOCVIEW, _NOTHING, lambda given, _, own: clean_by_page_type(given.tree, own), "docview"),
    )
}

DEFAULT_METHOD = "combined"


def method_named(name: str) -> Method:
    """The method of that name. Raises `SettingsError` with the names that there are."""
    if name not in METHODS:
        raise SettingsError(f"there is no cleaning method {name!r}; there are: {', '.join(METHODS)}")
    return METHODS[name]
