"""Every option that several commands have, declared once, with the help panel it is shown in.

An option means the same in all commands. Where a detail differs, such as the formats of an output, a function makes the
option: `out("an .npz file")`. The help of such an option starts with the same words everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import fields
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_args, get_origin

import typer
from typer.models import OptionInfo

from webwinnow.errors import MissingExtra, SettingsError
from webwinnow.judge.models import Favor
from webwinnow.judge.page import PageSettings
from webwinnow.methods.registry import CleaningSettings, check_read_by, check_settings, method_named
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.urls import SiteKey
from webwinnow.page.words import StopList
from webwinnow.run.settings import CollectionSettings, RunSettings
from webwinnow.settings import (
    CRAWL,
    IN_AND_OUT,
    KEEP,
    METHOD,
    PANELS,
    RUN,
    SITE,
    Declared,
    declared,
    full_name,
    split_pair,
    unknown_setting,
)
from webwinnow.settings import Settings as Declarations
from webwinnow.site.sums import LEARNED_PAGES

if TYPE_CHECKING:
    from webwinnow.run.engines.clusterengine import ClusterEngine

INPUT = OUTPUT = IN_AND_OUT

LEARNED_GROUPS = ("sst", "aligned", "cst", "template", "segments")
"""Methods with settings that are read when a site is learned."""
OTHER_SUFFIXES = (".npz", ".html", ".htm", ".md", ".txt", ".tsv", ".xml", ".warc")
"""Suffixes of formats that some command writes, beyond those of records."""

MAX_BYTES = ParseLimits().max_bytes
PAGES = "HTML, WARC, WACZ, JSONL or Parquet files, folders"


def option(panel: str | None, help: str, *names: str, **more: Any) -> Any:
    """An option in a help panel."""
    return typer.Option(*names, help=help, rich_help_panel=panel, **more)


setting = partial(option, None)
reading, cleaning, writing = partial(option, INPUT), partial(option, METHOD), partial(option, OUTPUT)
keeping = partial(option, KEEP)
running, crawling, computing = partial(option, RUN), partial(option, CRAWL), partial(option, RUN)


def of(settings: type[Declarations], name: str, panel: str | None = None, **more: Any) -> Any:
    """The option of a declared setting, for a parameter that a command has itself."""
    one = declared(settings)[name]
    help = more.pop("help", one.setting.help)
    return _option(one, panel or one.panel, help=help, **{"show_default": "[default:" not in help} | more)


def _option(one: Declared, panel: str | None, **more: Any) -> Any:
    own = one.setting
    is_number = one.kind in (int, float) and own.read is None and not one.is_several
    limits: dict[str, Any] = {"min": own.least, "max": own.most} if is_number else {}
    default = own.shown or ("" if one.is_several or one.default in (None, False, "") else str(one.default))
    if default == "True":
        default = own.options[0].partition("/")[0]
    help = own.help if not default or "[default:" in own.help else f"{own.help} [default: {default}]"
    metavar = own.metavar or {int: "N", float: "X", str: "TEXT"}.get(one.kind)
    if one.kind is bool or (own.metavar is None and own.read is None and get_origin(one.kind) is Literal):
        metavar = None
    given = {"help": help, "metavar": metavar, "show_default": False} | limits | more
    return typer.Option(*own.options, rich_help_panel=panel or None, **given)


def _detailed(panel: str, help: str, *names: str, **more: Any) -> Callable[..., Any]:
    """A function that makes the option, given the detail of its help text that differs between commands."""
    return lambda detail="", panel=panel, **own: option(panel, help.format(detail), *names, **more | own)


def written(suffix: str | None = None) -> Callable[[typer.Context, Any], Any]:
    """The callback of an option that names a file to write: whether it can be written is checked before the work.

    With a `suffix`, which is that of the only format, names of other formats are refused.
    """

    def check(context: typer.Context, value: Any) -> Any:
        if value is None or context.resilient_parsing:
            return value
        from webwinnow.run.outputs import STDOUT, SUFFIXES, check_name, check_writable  # noqa: PLC0415 (not every command writes)

        if str(value) == STDOUT:
            return value
        check_name(value)
        found = Path(value).suffix.lower()
        if suffix is not None and found != suffix and found in (*SUFFIXES, *OTHER_SUFFIXES):
            raise SettingsError(f"{value}: the output is {suffix} only, not {found}; give a name in {suffix}")
        check_writable(value)
        return value

    return check


def written_folder(context: typer.Context, value: Any) -> Any:
    """The callback of an option that names a folder to write, which is checked before the work."""
    if value is None or context.resilient_parsing:
        return value
    from webwinnow.run.outputs import STDOUT, check_folder, check_name  # noqa: PLC0415 (not every command writes)

    if str(value) == STDOUT:
        raise SettingsError("the output is a folder of files; give one with -o, not -")
    check_name(value)
    check_folder(value)
    return value


def existing_folder(context: typer.Context, value: Any) -> Any:
    """The callback of an option that names a folder for temporary files: it is not made, so it is not left behind."""
    if value is None or context.resilient_parsing:
        return value
    if not Path(value).is_dir():
        what = "is a file" if Path(value).exists() else "does not exist"
        raise SettingsError(f"{value}: the folder for temporary files {what}; expected one that exists")
    return value


out = _detailed(OUTPUT, "Output: {}.", "--out", "-o", callback=written())
out_folder = _detailed(OUTPUT, "Output: {}.", "--out", "-o", callback=written_folder)
format = _detailed(OUTPUT, "Output format: {}; by default that of the output's name.", "--format", "-f")
report = _detailed(OUTPUT, "Write a report as an HTML page{}.", "--report", callback=written(".html"))
label = _detailed(INPUT, "Column of JSONL or Parquet files with the label of a page{}.", "--label")
most_pages = _detailed(INPUT, "Pages of each site, at most{}.", "--pages", min=1)
site = _detailed(INPUT, "Only this site{}.", "--site")
methods = _detailed(METHOD, "Methods to compare, separated by commas: {}.", "--methods")
runs = _detailed(RUN, "Runs of k-means: {}.", "--runs", min=0)


def pages_argument(*others: str) -> Any:
    """The argument INPUT..., for pages and `others`."""
    return typer.Argument(metavar="INPUT...", help=f"{', '.join([PAGES, *others])}, or - for standard input.")


# Input

Inputs = Annotated[list[str], pages_argument()]
SiteBy = Annotated[str, of(CollectionSettings, "site_by")]
SiteByOfModel = Annotated[
    str | None, of(CollectionSettings, "site_by", help="What makes pages one site. [default: as in training]")
]
Labels = Annotated[
    Path | None, reading("File with the labels of pages, if the input has no such column: CSV, TSV, JSONL or Parquet.")
]
SiteColumn = Annotated[str, reading("Column that names the site of a page.", "--site-column")]
Css = Annotated[bool, of(ParseLimits, "css", INPUT)]
MaxBytes = Annotated[int, of(ParseLimits, "max_bytes", INPUT)]

# Cleaning

Method = Annotated[str, of(RunSettings, "method")]
Settings = Annotated[
    list[str] | None,
    cleaning(
        "Setting of a method, as in sst.threshold=0.9; repeatable. `webwinnow methods` lists them.",
        "--set",
        metavar="NAME=VALUE",
    ),
]
Favoring = Annotated[Favor | None, of(PageSettings, "favor")]
Comments = Annotated[bool | None, of(PageSettings, "comments")]
Task = Annotated[str, of(RunSettings, "task")]
LearnPages = Annotated[int, of(CollectionSettings, "learn_pages", SITE)]
Models = Annotated[Path | None, of(RunSettings, "models")]

# Mining

_STOP_WORDS = "File of stop words, one per line, as `webwinnow lists stopwords` writes it. [default: {}]"
stop_words = _detailed(METHOD, _STOP_WORDS, "--stop-words", metavar="FILE")
StopWords = Annotated[Path | None, stop_words("a built-in list per language")]
_THESAURUS = "Terms for denoising: SKOS (.rdf, .ttl, .nt), or one term per line, below lines [topic] for each topic's"
thesaurus = _detailed(METHOD, _THESAURUS + " own. [default: {}]", "--thesaurus", metavar="FILE")
Thesaurus = Annotated[Path | None, thesaurus("no denoising")]

# Output

AsJson = Annotated[bool, writing("Print JSON, one object per line.", "--json")]

# Run

Jobs = Annotated[int, of(CollectionSettings, "jobs")]
Tmp = Annotated[
    Path | None,
    running("Folder for temporary files; with a cluster, one that all machines share.", callback=existing_folder),
]
Quiet = Annotated[bool, running("No progress and no summary.", "--quiet", "-q")]
Seed = Annotated[int, running("Seed of random choices.", min=0)]
Resume = Annotated[bool, running("Continue a run that was stopped.", "--resume")]

# Cluster

Engine = Annotated[str, computing("Where to run: local (this machine), ray or spark.")]
Address = Annotated[str | None, computing("Address of a running Ray or Spark cluster; without it one is started here.")]


# Options of declared settings

Chosens = TypeVar("Chosens", bound=Declarations)


def _parameter(group: str, one: Declared, panel: str | None, is_hidden: bool) -> Parameter:
    kind, default = one.type, one.default
    if one.is_several:
        kind, default = list[str] | None, None
    elif one.setting.read is not None:
        kind, default = str | None, None
    annotation: Any = Annotated[kind, _option(one, panel, hidden=is_hidden or not panel)]
    return Parameter(f"{group}__{one.name}", Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def settings_options(
    *sections: type[Declarations],
    hidden: Collection[type[Declarations]] = (),
    shown: Mapping[str, str] = MappingProxyType({}),
    only: str = "",
    without: str = "",
    hide: str = "",
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of all declared settings of these classes; `Chosen` has their values.

    The help does not show the options of `hidden` classes, except those `shown` in another panel. With `only` a command
    has the options of these settings, otherwise all but those of `without`. The help does not show the command's own
    parameters of `hide`. All are names, separated by spaces.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        parameters = [
            (_hidden(parameter) if parameter.name in hide.split() else parameter).replace(kind=Parameter.KEYWORD_ONLY)
            for parameter in signature(command, eval_str=True).parameters.values()
            if parameter.kind is not Parameter.VAR_KEYWORD
        ]
        for section in sections:
            for group, settings in section.groups(options=True).items():
                for name, one in declared(settings).items():
                    full = full_name(group, name)
                    is_chosen = full in only.split() if only else full not in without.split()
                    if one.setting.options and is_chosen:
                        is_hidden = section in hidden and full not in shown
                        parameters.append(_parameter(group, one, shown.get(full, one.panel), is_hidden))
        parameters.sort(key=_panel_order)
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return decorated


def _hidden(parameter: Parameter) -> Parameter:
    """A parameter whose option the help does not show."""
    kind, own = get_args(parameter.annotation)
    own = copy(own)
    own.hidden = True
    annotation: Any = Annotated[kind, own]
    return parameter.replace(annotation=annotation)


def _panel_order(parameter: Parameter) -> tuple[int, bool]:
    """The place of an option in the help: by its panel; the output first, and other options of the command last."""
    notes = getattr(parameter.annotation, "__metadata__", ())
    panel = next((one.rich_help_panel for one in notes if isinstance(one, OptionInfo)), "")
    return PANELS.index(panel) if panel in PANELS else -1, panel != OUTPUT and "__" not in parameter.name


class Chosen:
    """The settings that the user chose by options and by --set, which takes precedence.

    `given` has each of them by group and name, with the name that the user gave.
    """

    def __init__(
        self, context: typer.Context, *sections: type[Declarations], pairs: Iterable[str] | None = None
    ) -> None:
        self.values: dict[str, dict[str, Any]] = {}
        self.given: dict[tuple[str, str], str] = {}
        known = {
            (group, name): one
            for section in sections
            for group, settings in section.groups(options=True).items()
            for name, one in declared(settings).items()
        }
        for parameter in context.command.params:
            group, is_setting, name = (parameter.name or "").partition("__")
            if is_setting and is_given(context, parameter.name or ""):
                chosen = known[group, name]
                self._choose(group, chosen, _option_value(chosen, context.params[parameter.name or ""]))
                self.given[group, name] = _given_name(context, parameter)
        for group, name, text in map(split_pair, pairs or ()):
            settings = next((own for section in sections if (own := section.group(group)) is not None), None)
            one = None if settings is None else declared(settings).get(name)
            if one is None:
                groups = {own: kind for section in sections for own, kind in section.groups().items()}
                names = [full_name(own, each) for own, kind in groups.items() for each in declared(kind)]
                raise unknown_setting(full_name(group, name), names)
            self._choose(group, one, one.read(text))
            self.given[group, name] = full_name(group, name)

    def _choose(self, group: str, one: Declared, value: Any) -> None:
        self.values.setdefault(group, {})[one.name] = value

    def settings(self, kind: type[Chosens], before: Chosens | None = None, **own: Any) -> Chosens:
        """The settings of a class, those `before` with what was chosen; `own` are further values of its fields."""
        return kind.from_groups(self.values | {kind.GROUP: self.values.get(kind.GROUP, {}) | own}, before)

    def suppose(self, group: str, **values: Any) -> None:
        """Set values of a group that the user did not choose."""
        self.values[group] = values | self.values.get(group, {})

    def suppose_stop_words(self, path: Path) -> None:
        """Use the words of a file in the records, and in methods that have a list of stop words."""
        for group in ("docview", "segments"):
            self.suppose(group, stop_words=stop_list(path).own)

    def refuse(self, choice: str, *names: str) -> None:
        """Raise `SettingsError` if one of these settings was given: it has no effect with a `choice`, or without it."""
        for (group, name), given in self.given.items():
            if full_name(group, name) in names or group in names:
                raise SettingsError(f"{given} has no effect {choice}; leave it out")

    def check_method(self, method: str) -> None:
        """Raise `SettingsError` for the setting of a cleaning method that this one does not read."""
        for (group, _), given in self.given.items():
            if CleaningSettings.group(group) is not None:
                check_read_by(method, group, given)


def _option_value(one: Declared, value: Any) -> Any:
    """The value of a setting that its option gives."""
    if one.is_several:
        return tuple(part for text in value for part in one.read(text))
    return one.read(value) if one.setting.read is not None else value


# What options stand for


def cleaning_settings(
    pairs: list[str] | None,
    favor: Favor | None = None,
    comments: bool | None = None,
    stop_words: Path | None = None,
    *,
    method: str | None = None,
    **docview: int | None,
) -> CleaningSettings:
    """The settings that --set, --favor, --comments and --stop-words give; `docview` are settings of that group.

    With a `method`, what it does not read is a `SettingsError`.
    """
    page = {"favor": favor, "comments": comments}
    if method is not None:
        for name, value in page.items():
            if value is not None:
                check_read_by(method, "page", f"--{name}")
    stops = {"stop_words": stop_list(stop_words).own}
    settings = CleaningSettings.from_pairs(
        pairs or (),
        page={name: value for name, value in page.items() if value is not None},
        docview=docview | stops,
        segments=stops,
    )
    if method is not None:
        check_settings(pairs or (), method)
    return settings


def stop_list(path: Path | None) -> StopList:
    """The stop words that --stop-words gives."""
    return StopList() if path is None else StopList.read(path)


def learning_settings(pairs: list[str] | None, stop_words: Path | None = None) -> CleaningSettings:
    """The settings that --set and --stop-words give to a command that learns sites; others are a `SettingsError`."""
    for pair in pairs or ():
        group = pair.partition(".")[0].strip()
        if group in CleaningSettings.groups() and group not in LEARNED_GROUPS:
            read = f"settings of {', '.join(LEARNED_GROUPS)} are read when a site is learned"
            raise SettingsError(f"{pair.partition('=')[0].strip()}: {read}; give this one to webwinnow clean")
    return cleaning_settings(pairs, stop_words=stop_words)


def check_read(context: typer.Context, choice: str, *ignored: str) -> None:
    """Raise `SettingsError` if an option was given that has no effect with another, as in `--algorithm hdbscan`."""
    _check_effect(context, f"with {choice}", ignored)


def check_needs(context: typer.Context, needed: str, *ignored: str) -> None:
    """Raise `SettingsError` if an option was given that has no effect without something else, as in `--update`."""
    _check_effect(context, f"without {needed}", ignored)


def check_learns(context: typer.Context, method: str) -> None:
    """Raise `SettingsError` if an option about site models was given, and the method learns no sites."""
    if not method_named(method).learns:
        check_read(context, f"--method {method}", "models", "learn_pages")


def _check_effect(context: typer.Context, choice: str, ignored: tuple[str, ...]) -> None:
    for parameter in context.command.params:
        if parameter.name in ignored and is_given(context, parameter.name):
            raise SettingsError(f"{_given_name(context, parameter)} has no effect {choice}; leave it out")


def _given_name(context: typer.Context, parameter: Any) -> str:
    """The name of an option as the user gave it."""
    is_off = context.params[parameter.name] is False and parameter.secondary_opts
    return str(max(parameter.secondary_opts if is_off else parameter.opts, key=len))


def is_given(context: typer.Context, name: str) -> bool:
    """Whether the user gave the option with the parameter of this name."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def parsing_settings(
    site_by: str, jobs: int, *, css: bool = False, learn_pages: int = LEARNED_PAGES
) -> CollectionSettings:
    """Settings to parse a collection without cleaning it."""
    limits = ParseLimits(css=css)
    return CollectionSettings(site_by=SiteKey.parse(site_by), limits=limits, jobs=jobs, learn_pages=learn_pages)


def fields_of(settings: type, values: dict[str, Any]) -> dict[str, Any]:
    """The values whose names are fields of a settings class: `CrawlSettings(**fields_of(CrawlSettings, locals()))`."""
    return {name: values[name] for name in (field.name for field in fields(settings)) if name in values}


def names_in(text: str) -> tuple[str, ...]:
    """The names in a list that is separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def chosen_engine(name: str, address: str | None, jobs: int) -> ClusterEngine | None:
    """The compute cluster that the user asked for, None for local workers. pyarrow is needed only for a cluster."""
    if name == "local" and address is None:
        return None
    try:
        from webwinnow.run.engines import engine_named  # noqa: PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra(f"the engine {name}", name) from error
    return engine_named(name, address=address, jobs=jobs)
