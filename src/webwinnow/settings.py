"""Settings, each declared once: its type, default, meaning, valid values and, where it has one, its option.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Learning(Settings):
        pages: Annotated[int, setting("Pages that a site is learned from, at most.", "--learn-pages", least=1)] = 500

The class is a plain frozen dataclass. From the declaration follow:

- the check on construction: `Learning(pages=0)` raises `SettingsError`, "pages is 0: expected 1 or more";
- plain values for files and processes: `to_plain`, `from_plain`;
- values written as text: `Declared.read`, and `NAME=VALUE` in `from_pairs`;
- the schema of JSON requests: `json_schema`;
- lists for people: `listed`;
- options of commands: `webwinnow.cli.options`.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache, reduce
from operator import or_
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, Union, get_args, get_origin, get_type_hints

import msgspec

from webwinnow.errors import SettingsError
from webwinnow.plugins import meant

IN_AND_OUT, SITE, METHOD, KEEP = "Input and output", "Site", "Method", "What to keep"
RUN, CRAWL, CLUSTER = "Run", "Crawl", "Cluster"
"""The panels of `--help`, in their order. The option of a setting without a panel works, but is not shown."""
HIDDEN = ""
PANELS = (IN_AND_OUT, SITE, METHOD, KEEP, RUN, CRAWL, CLUSTER)

_WORDS = {"true": True, "yes": True, "false": False, "no": False}


class Listed(NamedTuple):
    """One setting, as lists for people show it: its name (`sst.threshold`), default, values and meaning."""

    name: str
    default: Any
    expected: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a field's annotation says of it; see `setting`."""

    help: str
    options: tuple[str, ...] = ()
    panel: str | None = None
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    expected: str | None = None
    read: Callable[[str], Any] | None = None
    known: Callable[[], Iterable[str]] | None = None
    shown: str | None = None


def setting(help: str, *options: str, **more: Any) -> Setting:
    """Declare a field of a settings class in its annotation, `help` being its meaning.

    - `options`: the names of its option, if it has one, which the help shows in `panel`, with `metavar`.
    - `least`, `most`, `above`, `below`: the range of a number, or of each number of a tuple.
    - `known`: returns the names of which the value must be one.
    - `read`: reads the value from text, where its type does not say how; `ValueError` for other text.
    - `expected`: the valid values in words, where type and range do not say it.
    - `shown`: the default in words, in the help.
    """
    return Setting(help=help, options=options, **more)


def share(help: str, *options: str, **more: Any) -> Setting:
    """Declare a number from 0 to 1."""
    return setting(help, *options, least=0, most=1, **more)


@dataclass(frozen=True, slots=True)
class Declared:
    """One field of a settings class: its declaration with its name, type and default."""

    name: str
    type: Any
    default: Any
    setting: Setting
    panel: str | None
    """The panel of the help that shows its option."""

    @property
    def is_optional(self) -> bool:
        """Whether None is a valid value."""
        return type(None) in _members(self.type)

    @property
    def kind(self) -> Any:
        """The type of a value that is not None; of a tuple the type of its values."""
        kind = next(member for member in _members(self.type) if member is not type(None))
        return get_args(kind)[0] if get_origin(kind) is tuple else kind

    @property
    def is_several(self) -> bool:
        """Whether the value is a tuple."""
        return any(get_origin(member) is tuple for member in _members(self.type))

    @property
    def expected(self) -> str:
        """The valid values in words."""
        words = self.setting.expected or self._kind_in_words()
        return f"{words}, or none" if self.is_optional else words

    def _kind_in_words(self) -> str:
        one, kind = self.setting, self.kind
        if self.is_several and kind in (int, float) and one.least is not None:
            return f"numbers of {one.least:g} or more, separated by commas"
        if get_origin(kind) is Literal:
            *others, last = map(str, get_args(kind))
            return f"{', '.join(others)} or {last}" if others else last
        if kind is bool:
            return "true or false"
        if kind in (int, float):
            return _range_in_words(one, "a whole number" if kind is int else "a number")
        one_in_words = "a file" if kind is Path else "text"
        return f"{one_in_words}, or several separated by commas" if self.is_several else one_in_words

    def checked(self, value: Any) -> Any:
        """The value if it is valid, a list as a tuple. Raises `SettingsError`."""
        try:
            found = msgspec.convert(value, _checked_type(self.type, self.setting), dec_hook=_kept)
        except msgspec.ValidationError:
            raise self._wrong(value) from None
        known = self.setting.known
        if known is not None and found is not None:
            for name in found if self.is_several else (found,):
                if name not in (names := list(known())):
                    raise SettingsError(f"there is no {self.name.replace('_', ' ')} {name!r}; {meant(name, names)}")
        return found

    def read(self, text: str) -> Any:
        """The value that a text gives. Raises `SettingsError`."""
        if self.is_optional and text.lower() == "none":
            return None
        reader = self.setting.read or _reader(self.kind)
        try:
            if self.is_several and self.setting.read is None:
                return tuple(reader(part.strip()) for part in text.split(","))
            return reader(text)
        except (ValueError, KeyError):
            raise self._wrong(text) from None

    def _wrong(self, value: Any) -> SettingsError:
        return SettingsError(f"{self.name} is {value!r}: expected {self.expected}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Base class of settings: frozen dataclasses whose declared fields are checked on construction.

    A field that is itself a settings class is a group: with `sst: SstSettings` the settings of `SstSettings` are named
    `sst.threshold`. Those of the class itself have the name of `GROUP` before the dot.
    """

    GROUP: ClassVar[str] = ""
    PANEL: ClassVar[str | None] = None
    """The panel of the help for settings that name none."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not field.default and (one := declared(type(self)).get(field.name)) is not None:
                object.__setattr__(self, field.name, one.checked(value))
        self.validate()

    def validate(self) -> None:
        """Raise `SettingsError` if values are invalid that a declaration cannot express."""

    def to_plain(self) -> dict[str, Any]:
        """Plain values, for JSON and for `from_plain`."""
        plain: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Self:
        """Read what `to_plain` or `dataclasses.asdict` returned. Raises `SettingsError`."""
        types = _described(cls).types  # type: ignore[arg-type]
        for name in plain:
            if name not in types:
                raise SettingsError(f"there is no setting {name!r}; {meant(name, list(types))}")
        try:
            return cls(**{name: _from_plain(types[name], value) for name, value in plain.items()})
        except (msgspec.ValidationError, TypeError) as error:
            raise SettingsError(f"these are no {cls.__name__}: {error}") from None

    @classmethod
    def group(cls, name: str) -> type[Settings] | None:
        """The class of the group of this name; None if there is none."""
        return cls.groups().get(name)

    @classmethod
    def groups(cls, *, options: bool = False) -> dict[str, type[Settings]]:
        """The class of each group of settings, by the name that `sst.threshold` has before the dot.

        With `options` only those of which commands have options.
        """
        found: dict[str, type[Settings]] = {cls.GROUP: cls} if declared(cls) else {}
        for name, group in _nested(cls).items():
            inner = group.groups(options=options)
            found |= ({name: group} if declared(group) else {}) | {own: inner[own] for own in inner if own}
        return found

    @classmethod
    def listed(cls, group: str = "") -> tuple[Listed, ...]:
        """All settings by their full names; `group` is the name of the class in another one."""
        return tuple(
            Listed(full_name(name or group, one.name), one.default, one.expected, one.setting.help)
            for name, of in cls.groups().items()
            for one in declared(of).values()
        )

    @classmethod
    def from_pairs(cls, pairs: Iterable[str], **known: Mapping[str, Any]) -> Self:
        """Read settings written as `sst.threshold=0.9`, the last of a name winning over earlier ones and over `known`.

        `known` are values by group: `page={"favor": "recall"}`. Raises `SettingsError`, with a similar name.
        """
        groups = cls.groups()
        values = {name: dict(given) for name, given in known.items()}
        for group, name, text in map(split_pair, pairs):
            one = declared(groups[group]).get(name) if group in groups else None
            if one is None:
                raise unknown_setting(full_name(group, name), [one.name for one in cls.listed()])
            values.setdefault(group, {})[name] = one.read(text)
        return cls.from_groups(values)

    @classmethod
    def from_groups(cls, values: Mapping[str, Mapping[str, Any]], before: Settings | None = None) -> Self:
        """Settings with these values, by group; the others are those `before`, or the defaults."""
        given = dict(values.get(cls.GROUP, {}))
        for name, group in _nested(cls).items():
            inner = {**values, group.GROUP: values.get(name, {})}
            given.setdefault(name, group.from_groups(inner, getattr(before, name, None)))
        return cls(**given) if before is None else replace(before, **given)  # type: ignore[return-value]


def declared(cls: type[Settings]) -> dict[str, Declared]:
    """The declared settings of a class, by name."""
    return _described(cls).declared  # type: ignore[arg-type]  # mypy takes the classes of dataclasses for unhashable


def full_name(group: str, name: str) -> str:
    """The name of a setting of a group: `sst.threshold`."""
    return f"{group}.{name}" if group else name


def split_pair(pair: str) -> tuple[str, str, str]:
    """The group, name and value of `sst.threshold=0.9`. Raises `SettingsError`."""
    name, equals, text = pair.partition("=")
    if not equals:
        raise SettingsError(f"setting {pair!r} has no value; expected NAME=VALUE")
    group, dot, own = name.strip().partition(".")
    return (group, own, text.strip()) if dot else ("", group, text.strip())


def unknown_setting(name: str, known: Sequence[str]) -> SettingsError:
    """The error for a setting that there is not, with what may have been meant."""
    group = [one for one in known if one.startswith(name.partition(".")[0] + ".")]
    return SettingsError(f"there is no setting {name!r}; {meant(name, group or list(known))}")


def json_schema(*classes: type[Settings]) -> dict[str, Any]:
    """The JSON schema of an object with the declared settings of these classes, which all have a default."""
    properties = {}
    for one in (one for cls in classes for one in declared(cls).values()):
        schema = msgspec.json.schema(_checked_type(one.type, one.setting), schema_hook=lambda _: {"type": "string"})
        if one.setting.known is not None:
            schema |= {"enum": list(one.setting.known())}
        default = msgspec.to_builtins(one.default, enc_hook=str)
        properties[one.name] = schema | {"description": one.setting.help, "default": default}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _range_in_words(one: Setting, number: str) -> str:
    if one.least is not None and one.most is not None:
        return f"{number if number == 'a number' else ''} from {one.least:g} to {one.most:,}".strip()
    if one.above is not None:
        return f"a number above {one.above:g}" + ("" if one.most is None else f", at most {one.most:g}")
    if one.least is not None and one.below is not None:
        return f"at least {one.least:g} and less than {one.below:g}"
    return number if one.least is None else f"{one.least:,} or more"


class _Description(NamedTuple):
    """The fields of a settings class by name: their types, those that are declared, those that are settings classes."""

    types: dict[str, Any]
    declared: dict[str, Declared]
    nested: dict[str, type[Settings]]


def _hints(cls: type) -> dict[str, Any]:
    """The annotations of fields, evaluated in the modules of their classes, whose names functions in them can use."""
    names = {field.name for field in fields(cls)}
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        own = {name: text for name, text in vars(base).get("__annotations__", {}).items() if name in names}
        module = vars(sys.modules[base.__module__])
        hints |= get_type_hints(SimpleNamespace(__annotations__=own), globalns=module, include_extras=True)
    return hints


@cache
def _described(cls: Any) -> _Description:
    hints = _hints(cls)
    types, found, nested = {}, {}, {}
    for field in fields(cls):
        kind, *notes = get_args(hint) if get_origin(hint := hints[field.name]) is Annotated else (hint,)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        kind = kind | None if default is None and type(None) not in _members(kind) else kind
        types[field.name] = kind
        if isinstance(kind, type) and issubclass(kind, Settings):
            nested[field.name] = kind
        for note in notes:
            if isinstance(note, Setting):
                found[field.name] = Declared(
                    field.name, kind, default, note, cls.PANEL if note.panel is None else note.panel
                )
    return _Description(types, found, nested)


def _nested(cls: type[Settings]) -> dict[str, type[Settings]]:
    return _described(cls).nested  # type: ignore[arg-type]


def _members(kind: Any) -> tuple[Any, ...]:
    """The types of a union; a type that is none is its only one."""
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


@cache
def _checked_type(kind: Any, one: Setting) -> Any:
    """The type with the range of its numbers, as msgspec checks it."""
    if kind in (int, float):
        limits = {"ge": one.least, "le": one.most, "gt": one.above, "lt": one.below}
        given: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
        return Annotated[kind, msgspec.Meta(**given)] if given else kind
    if get_origin(kind) is tuple and one.least is not None:
        checked = tuple[_checked_type(get_args(kind)[0], one), ...]  # type: ignore[misc, valid-type]
        return Annotated[checked, msgspec.Meta(min_length=1)]
    members = _members(kind)
    return reduce(or_, (_checked_type(member, one) for member in members)) if len(members) > 1 else kind


def _reader(kind: Any) -> Callable[[str], Any]:
    """The function that reads a value of this type from text."""
    if kind is bool:
        return lambda text: _WORDS[text.lower()]
    return kind if kind in (int, float, Path) else str


def _from_plain(kind: Any, value: Any) -> Any:
    """A value as its type has it; declared settings are checked by the class."""
    for member in _members(kind):
        if isinstance(member, type) and issubclass(member, Settings) and isinstance(value, Mapping):
            return member.from_plain(value)
    return msgspec.convert(value, kind, dec_hook=lambda wanted, given: wanted(given))


def _kept(wanted: Any, value: Any) -> Any:
    """A value of a type that msgspec does not know, which must have that type already."""
    if isinstance(value, wanted):
        return value
    raise msgspec.ValidationError(f"{value!r} is no {wanted}")
