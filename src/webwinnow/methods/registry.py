"""The cleaning methods by name, and their settings. Each is a module of `cleaning/`; `docview` has its own package."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from webwinnow.errors import SettingsError
from webwinnow.judge import combined, explanations, page
from webwinnow.judge.evidence import PageContext
from webwinnow.judge.page import PageSettings
from webwinnow.judge.verdict import Verdict, keep_visible
from webwinnow.judge.wholes import WholesSettings
from webwinnow.methods import method_cst as cst
from webwinnow.methods import method_items as items
from webwinnow.methods import method_repeated as repeated
from webwinnow.methods import method_segments as segments
from webwinnow.methods import method_sst as sst
from webwinnow.methods import method_template as template
from webwinnow.methods import method_visual as visual
from webwinnow.methods.method_cst import CstSettings
from webwinnow.methods.method_items import ItemSettings
from webwinnow.methods.method_repeated import RepeatedSettings
from webwinnow.methods.method_segments import SegmentSettings
from webwinnow.methods.method_sst import AlignedSettings, SstSettings
from webwinnow.methods.method_template import TemplateSettings
from webwinnow.methods.method_visual import VisualSettings
from webwinnow.methods.viewsettings import ViewSettings
from webwinnow.plugins import meant
from webwinnow.settings import Listed, Settings
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sitetree import JoinSettings
from webwinnow.site.sums import BLOCKS, PAGELETS, SEGMENTS, TEXTS, SiteSums


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningSettings(Settings):
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
    visual: VisualSettings = field(default_factory=VisualSettings)
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
    model, settings)` returns the causes of the blocks' scores, where a method can.
    """

    name: str
    about: str
    parts: frozenset[str]
    clean: Callable[[PageContext, LearnedSite | None, Any], Verdict]
    group: str | None = None
    explain: Callable[[PageContext, LearnedSite | None, Any], explanations.Causes] | None = None
    learns: bool = field(init=False)
    """Whether it needs a model of the site."""
    scores: bool = field(init=False)
    """Whether it learns a site from the page model's scores of its pages."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "learns", bool(self.parts))
        object.__setattr__(self, "scores", BLOCKS in self.parts)

    def reads(self, group: str) -> bool:
        """Whether settings of this group have an effect with this method; `docview` has one on every record."""
        return group in (self.group, "docview") or (group == "wholes" and self.group != "page")

    @property
    def settings(self) -> tuple[Listed, ...]:
        """Its settings; empty if it has none."""
        if self.group is None:
            return ()
        return CleaningSettings.groups()[self.group].listed(self.group)


def _clean_by_page_type(page: PageContext, _model: LearnedSite | None, settings: ViewSettings) -> Verdict:
    from webwinnow.methods.method_docview import clean  # noqa: PLC0415 (only for this method)

    return clean(page.tree, settings)


_NOTHING: frozenset[str] = frozenset()
_JOIN = "combine evidence from the page with evidence from its site"
_SST = "remove what is noise in the site style tree, as published (thesis 4.2)"
_ALIGNED = "remove what is noise in our variant of the site style tree, whose pages are aligned by tag and role"
_CST = "keep blocks whose words have a high weight in the compressed structure tree (thesis 4.3)"
_PAGE = "keep the main content, judged by the page alone"
_TEMPLATE = "remove the pagelets that pages share (Bar-Yossef and Rajagopalan; thesis 3.3)"
_SEGMENTS = "keep tables whose words distinguish pages (Lin and Ho; thesis 3.2)"
_ITEMS = "remove nepotistic links and advertisement images, found by decision trees (thesis 3.1)"
_VISUAL = "keep the central text-rich part of a rendered page, segmented along visual separators (VIPS)"
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
        Method("visual", _VISUAL, _NOTHING, visual.clean, "visual"),
        Method("docview", _DOCVIEW, _NOTHING, _clean_by_page_type, "docview"),
    )
}

DEFAULT_METHOD = "combined"
DEFAULT_SETTINGS = CleaningSettings()


def check_settings(pairs: Iterable[str], method: str) -> None:
    """Raise `SettingsError` for a setting written as `sst.threshold=0.9` that this method does not read."""
    for pair in pairs:
        name = pair.partition("=")[0].strip()
        check_read_by(method, name.partition(".")[0], name)


def check_read_by(method: str, group: str, given: str) -> None:
    """Raise `SettingsError` for what was `given` of a group of settings, if this method does not read it."""
    readers = [known.name for known in METHODS.values() if known.reads(group)]
    if readers and not method_named(method).reads(group):
        one = f"method {readers[0]}" if len(readers) == 1 else f"the methods {', '.join(readers)}"
        raise SettingsError(f"{given} is read by {one}, not by {method}; give another --method, or leave it out")


def method_named(name: str) -> Method:
    """The method of that name. Raises `SettingsError` with the names that there are."""
    if name not in METHODS:
        raise SettingsError(f"there is no cleaning method {name!r}; {meant(name, list(METHODS))}")
    return METHODS[name]
