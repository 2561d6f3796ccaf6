"""The cleaning methods by name, and their settings. A method is the constant `METHOD` of its file `method_NAME.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from webwinnow import plugins
from webwinnow.errors import SettingsError
from webwinnow.judge.wholes import WholesSettings
from webwinnow.settings import Listed, Settings

if TYPE_CHECKING:
    from webwinnow.judge.explanations import Causes
    from webwinnow.judge.verdict import Verdict
    from webwinnow.page.page import Page
    from webwinnow.site.learned import LearnedSite

DEFAULT_METHOD = "combined"
WHOLES = "wholes"
"""The group of settings that is no method's: it applies to every method except those that use the group `page`."""


@dataclass(frozen=True, slots=True)
class Method:
    """A cleaning method: `clean(page, model, settings)` returns the verdict on a page.

    `parts` are the learned parts of the site that it needs. `settings` is the class of its settings, `group` their name
    in `CleaningSettings`, by default that of the method. `explain(page, model, settings)` returns the causes of the
    blocks' scores, where a method can.
    """

    name: str
    about: str
    clean: Callable[[Page, LearnedSite | None, Any], Verdict]
    parts: frozenset[str] = frozenset()
    settings: type[Settings] | None = None
    explain: Callable[[Page, LearnedSite | None, Any], Causes] | None = None
    group: str | None = None

    def __post_init__(self) -> None:
        if self.group is None and self.settings is not None:
            object.__setattr__(self, "group", self.name)

    @property
    def learns(self) -> bool:
        """Whether it needs a model of the site."""
        return bool(self.parts)

    @property
    def scores(self) -> bool:
        """Whether it learns a site from the page model's scores of its pages alone."""
        return self.parts == {"blocks"}

    def reads(self, group: str) -> bool:
        """Whether settings of this group have an effect with this method; `docview` has one on every record."""
        return group in (self.group, "docview") or (group == WHOLES and self.group != "page")

    def listed(self) -> tuple[Listed, ...]:
        """Its settings; empty if it has none."""
        return () if self.settings is None or self.group is None else self.settings.listed(self.group)


def method_named(name: str) -> Method:
    """The method of that name, ours or a plug-in. Raises `SettingsError` with the names that there are."""
    method: Method = plugins.load("method", name).METHOD
    return method


def method_names(*, ours: bool = True) -> list[str]:
    """The names of the methods, the default first; with `ours=False` also those that other packages install."""
    return sorted(
        plugins.built_in("method") if ours else plugins.names("method"), key=lambda n: (n != DEFAULT_METHOD, n)
    )


def all_methods() -> dict[str, Method]:
    """Every method by name, those of other packages too."""
    return {name: method_named(name) for name in method_names(ours=False)}


@cache
def _names() -> frozenset[str]:
    return frozenset(plugins.names("method"))


@cache
def _defaults(group: str) -> Settings:
    """The default settings of a group. Raises `SettingsError` for an unknown one."""
    if group == WHOLES:
        return WholesSettings()
    method = method_named(group)
    if method.settings is None or method.group != group:
        raise SettingsError(f"method {group} has no settings of its own")
    return method.settings()


@dataclass(frozen=True, init=False)
class CleaningSettings(Settings):
    """The settings of all methods, in groups by method: `CleaningSettings(sst=SstSettings(threshold=0.9)).sst`.

    Each method reads its own group; `combined` reads `page`. `docview` are also the settings of type, keywords,
    abstract and relevant links in the records of every method. `wholes` applies to every method except `page` and
    `combined`. A group that is not given has the defaults of its method; `chosen` are those that differ from these.
    """

    chosen: dict[str, Settings] = field(default_factory=dict)

    def __init__(self, chosen: dict[str, Settings] | None = None, **groups: Settings) -> None:
        given = {**(chosen or {}), **groups}
        for group, settings in given.items():
            if not isinstance(settings, type(_defaults(group))):
                raise SettingsError(f"{group} is {settings!r}: expected {type(_defaults(group)).__name__}")
        changed = {group: given[group] for group in sorted(given) if given[group] != _defaults(group)}
        object.__setattr__(self, "chosen", changed)

    def __getattr__(self, group: str) -> Any:
        if group == "chosen" or group.startswith("_"):
            raise AttributeError(group)
        found = self.chosen.get(group)
        if found is not None:
            return found
        try:
            return _defaults(group)
        except SettingsError as error:
            raise AttributeError(f"there are no cleaning settings {group!r}: {error}") from None

    def __hash__(self) -> int:
        return hash(tuple(self.chosen.items()))

    @classmethod
    def group(cls, name: str) -> type[Settings] | None:
        """The class of the group of this name; None if there is none. No other method is imported."""
        try:
            return type(_defaults(name)) if name == WHOLES or name in _names() else None
        except SettingsError:
            return None

    @classmethod
    def groups(cls, *, options: bool = False) -> dict[str, type[Settings]]:
        """The class of each group of settings, by the name that `sst.threshold` has before the dot.

        With `options` only those that all records have, so that no other method is imported.
        """
        if options:
            return {name: type(_defaults(name)) for name in ("page", "docview")}
        found = {one.name: one.settings for one in all_methods().values() if one.settings and one.group == one.name}
        return found | {WHOLES: WholesSettings}

    @classmethod
    def listed(cls, _group: str = "") -> tuple[Listed, ...]:
        """All settings, with full names, defaults and meanings."""
        return tuple(setting for name, group in cls.groups().items() for setting in group.listed(name))

    @property
    def finishes_otherwise(self) -> bool:
        """Whether gamma or overlap, which are read only when a site's trees are finished, is not the default."""
        read = ("gamma", "overlap")
        return any(
            getattr(own, name, None) != getattr(_defaults(group), name, None)
            for group, own in self.chosen.items()
            for name in read
        )

    def to_plain(self) -> dict[str, Any]:
        """The groups that differ from the defaults, as plain values by name."""
        return {group: settings.to_plain() for group, settings in self.chosen.items()}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Read the result of `to_plain`, or of `dataclasses.asdict`."""
        groups: Mapping[str, Any] = plain.get("chosen", plain)
        return cls({group: type(_defaults(group)).from_plain(values) for group, values in groups.items()})

    @classmethod
    def from_groups(cls, values: Mapping[str, Mapping[str, Any]], before: Settings | None = None) -> Self:
        """Settings with these values, by group; others are those of `before`, by default the default ones."""
        known = before if isinstance(before, cls) else cls()
        groups = [group for group, given in values.items() if given and (group == WHOLES or group in _names())]
        return cls(known.chosen | {group: replace(getattr(known, group), **values[group]) for group in groups})


DEFAULT_SETTINGS = CleaningSettings()


def check_settings(pairs: Iterable[str], method: str) -> None:
    """Raise `SettingsError` for a setting written as `sst.threshold=0.9` that this method does not read."""
    for pair in pairs:
        name = pair.partition("=")[0].strip()
        check_read_by(method, name.partition(".")[0], name)


def check_read_by(method: str, group: str, given: str) -> None:
    """Raise `SettingsError` for what was `given` of a group of settings, if this method does not read it."""
    if method_named(method).reads(group):
        return
    readers = [known.name for known in all_methods().values() if known.reads(group)]
    if readers:
        one = f"method {readers[0]}" if len(readers) == 1 else f"the methods {', '.join(readers)}"
        raise SettingsError(f"{given} is read by {one}, not by {method}; give another --method, or leave it out")
