"""Settings of cleaning methods: each field states its default, its meaning and its valid values, once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, Self

from webwinnow.errors import SettingsError
from webwinnow.page.words import StopList
from webwinnow.site.sitetree import JoinSettings


class Setting(NamedTuple):
    """One setting of a method, as help texts show it: its name (`sst.threshold`), default, values and meaning."""

    name: str
    default: Any
    expected: str
    help: str


def setting(
    default: Any, help: str, expected: str, read: Callable[[str], Any], valid: Callable[[Any], bool] | None = None
) -> Any:
    """A field of a `MethodSettings`; `read` parses it from text. A setting whose default is None accepts `none`."""
    return field(default=default, metadata={"help": help, "expected": expected, "read": read, "valid": valid})


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSettings:
    """The settings of one method, validated on construction."""

    def __post_init__(self) -> None:
        for one in fields(self):
            if isinstance(getattr(self, one.name), list):  # read from JSON
                object.__setattr__(self, one.name, tuple(getattr(self, one.name)))
            value, valid = getattr(self, one.name), one.metadata["valid"]
            if not (value is None and one.default is None) and valid is not None and not valid(value):
                raise SettingsError(f"{one.name} is {value!r}: expected {_expected(one)}")

    @classmethod
    def listed(cls, group: str) -> tuple[Setting, ...]:
        """The settings with their full names."""
        return tuple(
            Setting(f"{group}.{one.name}", one.default, _expected(one), one.metadata["help"]) for one in fields(cls)
        )

    @classmethod
    def read(cls, name: str, text: str) -> Any:
        """The value that a text gives for a setting of this name. Raises `SettingsError`."""
        one = next(one for one in fields(cls) if one.name == name)
        if one.default is None and text.lower() == "none":
            return None
        try:
            return one.metadata["read"](text)
        except ValueError:
            raise SettingsError(f"{name} is {text!r}: expected {_expected(one)}") from None


class SettingGroups:
    """Base of frozen dataclasses whose fields are `MethodSettings`: groups of settings, named as in `sst.threshold`."""

    __slots__ = ()

    @classmethod
    def groups(cls) -> dict[str, type[MethodSettings]]:
        """The class of each group of settings, by the name that `sst.threshold` has before the dot."""
        return {one.name: one.default_factory for one in fields(cls)}  # type: ignore[arg-type, misc]

    @classmethod
    def listed(cls) -> tuple[Setting, ...]:
        """All settings, with full names, defaults and meanings."""
        return tuple(setting for name, group in cls.groups().items() for setting in group.listed(name))

    @classmethod
    def from_plain(cls, plain: dict[str, dict[str, Any]]) -> Self:
        """Read what `dataclasses.asdict` made of settings."""
        groups = cls.groups()
        return cls(**{name: groups[name](**values) for name, values in plain.items()})

    @classmethod
    def from_pairs(cls, pairs: Iterable[str], **known: dict[str, Any]) -> Self:
        """Read settings written as `sst.threshold=0.9`, the last of a name winning over earlier ones and over `known`.

        `known` are values by group: `page={"favor": "recall"}`. Raises `SettingsError` with the names that there are.
        """
        groups = cls.groups()
        values = {name: dict(known.get(name, {})) for name in groups}
        names = {setting.name for setting in cls.listed()}
        for pair in pairs:
            name, equals, text = pair.partition("=")
            if not equals or name.strip() not in names:
                expected = ", ".join(f"{known_name}=..." for known_name in sorted(names))
                raise SettingsError(f"there is no setting {pair!r}; expected one of {expected}")
            group, _, own = name.strip().partition(".")
            values[group][own] = groups[group].read(own, text.strip())
        return cls.from_plain(values)


def _expected(one: Field[Any]) -> str:
    assert one.default is not MISSING
    return f"{one.metadata['expected']}, or none" if one.default is None else str(one.metadata["expected"])


def absolute_path(text: str) -> str:
    """A file name that means the same in every working directory."""
    return str(Path(text).absolute())


def yes_or_no(text: str) -> bool:
    """The truth value of `true`, `yes`, `false` or `no`."""
    known = {"true": True, "yes": True, "false": False, "no": False}
    if text.lower() not in known:
        raise ValueError(text)
    return known[text.lower()]


def stop_words() -> Any:
    """A setting that is a list of stop words, read from a file."""
    about = "stop words of this file, one per line, instead of a list per language"
    return setting(None, about, "a file", lambda text: StopList.read(Path(text)).own)


def share(default: float | None, help: str) -> Any:
    """A setting that is a number from 0 to 1."""
    return setting(default, help, "a number from 0 to 1", float, lambda v: 0.0 <= v <= 1.0)


def gamma() -> Any:
    """The setting of trees that join elements: gamma of thesis 4.2.5 and 4.3.1."""
    about = "gamma: a feature on this share of an element's pages is characteristic; read when a site is learned"
    return share(JoinSettings().gamma, about)


def overlap() -> Any:
    """The setting of trees that join elements: lambda of thesis 4.2.5 and 4.3.1."""
    about = "lambda: join elements whose characteristic features overlap by this share; read when a site is learned"
    return setting(JoinSettings().overlap, about, "a number above 0, 1 at most", float, lambda v: 0.0 < v <= 1.0)


def numbers(default: tuple[float, ...], help: str, kind: type[int] | type[float], least: float) -> Any:
    """A setting that is several numbers, separated by commas."""
    return setting(
        default,
        help,
        f"numbers of {least} or more, separated by commas",
        lambda text: tuple(map(kind, text.split(","))),
        lambda given: bool(given) and all(v >= least for v in given),
    )


def min_pages() -> Any:
    """The setting of methods that need several pages of a site."""
    about = "below this number of learned pages the method keeps everything"
    return setting(3, about, "1 or more", int, lambda v: v >= 1)
