"""The cleaning methods by name; modules of higher layers may add theirs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from webwinnow.cleaning import none, page, repeated
from webwinnow.cleaning.page import PageSettings
from webwinnow.cleaning.repeated import RepeatedSettings
from webwinnow.cleaning.verdict import Verdict
from webwinnow.errors import SettingsError
from webwinnow.pagetree import PageTree
from webwinnow.site.model import SiteModel

__all__ = ["METHODS", "CleaningSettings", "Method", "method"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CleaningSettings:
    """What the methods may be told; each reads its own."""

    repeated: RepeatedSettings = field(default_factory=RepeatedSettings)
    page: PageSettings = field(default_factory=PageSettings)


@dataclass(frozen=True, slots=True)
class Method:
    """A way of cleaning: `clean(tree, model, settings)`; `learns` if it wants a model of the site."""

    name: str
    about: str
    learns: bool
    clean: Callable[[PageTree, SiteModel | None, CleaningSettings], Verdict]


METHODS: dict[str, Method] = {
    found.name: found
    for found in (
        Method("none", "keep everything visible", False, lambda tree, _, __: none.clean(tree)),
        Method(
            "repeated",
            "drop only what the site repeats",
            True,
            lambda tree, model, settings: repeated.clean(tree, model, settings.repeated),
        ),
        Method(
            "page",
            "keep what the page alone shows to be its main content",
            False,
            lambda tree, _, settings: page.clean(tree, settings.page),
        ),
    )
}


def method(name: str) -> Method:
    """The method of that name. Raises `SettingsError` with the names there are."""
    if name not in METHODS:
        raise SettingsError(f"there is no cleaning method {name!r}; there are: {', '.join(METHODS)}")
    return METHODS[name]
