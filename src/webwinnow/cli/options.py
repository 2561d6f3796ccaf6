"""Every option that several commands have, declared once, with the help panel it is shown in.

An option means the same in all commands. Where a detail differs, such as the formats of an output, a function makes the
option: `out("an .npz file")`. The help of such an option starts with the same words everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, fields, replace
from functools import partial
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.models import OptionInfo

from webwinnow.crawl.settings import RenderWhen, ScopeKind
from webwinnow.errors import MissingExtra, SettingsError
from webwinnow.features.vectors import FEATURE_KINDS, VectorSettings
from webwinnow.judge.models import Favor
from webwinnow.judge.selection import Selection
from webwinnow.judge.tasks import TASKS
from webwinnow.methods.registry import CleaningSettings, check_read_by, check_settings, method_named, method_names
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.urls import SiteKey
from webwinnow.page.words import StopList
from webwinnow.platforms import MOST_JOBS
from webwinnow.record.textquality import QualityRules
from webwinnow.run.settings import CollectionSettings
from webwinnow.settings import PANELS, Declared, declared, full_name, split_pair, unknown_setting
from webwinnow.settings import Settings as Declarations
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.site.sums import LEARNED_PAGES

if TYPE_CHECKING:
    from webwinnow.crawl.guard import AddressGuard
    from webwinnow.run.engines.clusterengine import ClusterEngine

INPUT, CLEANING, CORPUS, OUTPUT = "Input", "Cleaning", "Corpus", "Output"
RUN, CRAWL, CLUSTER = "Run", "Crawl", "Cluster"

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
reading, cleaning, writing = partial(option, INPUT), partial(option, CLEANING), partial(option, OUTPUT)
running, crawling, computing = partial(option, RUN), partial(option, CRAWL), partial(option, CLUSTER)


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
methods = _detailed(CLEANING, "Methods to compare, separated by commas: {}.", "--methods")
runs = _detailed(RUN, "Runs of k-means: {}.", "--runs", min=0)


def pages_argument(*others: str) -> Any:
    """The argument INPUT..., for pages and `others`."""
    return typer.Argument(metavar="INPUT...", help=f"{', '.join([PAGES, *others])}, or - for standard input.")


# Input

Inputs = Annotated[list[str], pages_argument()]
_SITE_BY = "What makes pages one site: host, domain, prefix:N, column, all (one site) or none (every page on its own)"
SiteBy = Annotated[str, reading(f"{_SITE_BY}.")]
SiteByOfModel = Annotated[str | None, reading(f"{_SITE_BY}. [default: as in training]")]
Labels = Annotated[
    Path | None, reading("File with the labels of pages, if the input has no such column: CSV, TSV, JSONL or Parquet.")
]
UrlColumn = Annotated[str, reading("Column of JSONL or Parquet files with the URL.", "--url-column")]
HtmlColumn = Annotated[str, reading("Column of JSONL or Parquet files with the HTML.", "--html-column")]
IdColumn = Annotated[str, reading("Column of JSONL or Parquet files with the page id.", "--id-column")]
SiteColumn = Annotated[str, reading("Column that names the site of a page.", "--site-column")]
Css = Annotated[
    bool, reading("Rules of style sheets in the page count as display properties, as in Yi and Liu (slower).", "--css")
]
MaxBytes = Annotated[int, reading("Refuse pages that are longer than this many bytes.", "--max-bytes", min=0)]

# Cleaning

Method = Annotated[str, cleaning(f"Cleaning method: {', '.join(method_names())}.")]
Settings = Annotated[
    list[str] | None,
    cleaning(
        "Setting of a method, as in sst.threshold=0.9; repeatable. `webwinnow methods` lists them.",
        "--set",
        metavar="NAME=VALUE",
    ),
]
WeightSettings = Annotated[
    list[str] | None,
    setting(
        "Setting of a method, as in cst.informative=0.2; repeatable. Only those of the weights apply.",
        "--set",
        metavar="NAME=VALUE",
    ),
]
Favoring = Annotated[
    Favor | None, cleaning("Prefer precision (less boilerplate) or recall (less content lost).", "--favor")
]
Comments = Annotated[
    bool | None,
    cleaning(
        "Keep what readers wrote (comments, reviews, forum posts) on every page, or on none. "
        "[default: where it is the content]",
        "--comments/--no-comments",
    ),
]
Task = Annotated[
    str, cleaning(f"Use of the output, which decides the boilerplate to keep: {', '.join(TASKS)}, or a file.")
]
LearnPages = Annotated[int, cleaning("Pages that a site is learned from, at most.", "--learn-pages", min=1)]
Keep = Annotated[
    list[str] | None,
    cleaning("Keep the elements that a CSS selector or XPath selects; repeatable.", "--keep", metavar="SELECTOR"),
]
Drop = Annotated[
    list[str] | None,
    cleaning("Remove the elements that a CSS selector or XPath selects; repeatable.", "--drop", metavar="SELECTOR"),
]
Tables = Annotated[bool, cleaning("Keep data tables that are content.", "--tables/--no-tables")]
Models = Annotated[Path | None, cleaning("Clean with the site models of this folder or table.")]

# Corpus

Languages = Annotated[str | None, option(CORPUS, "Only pages in this language, or in several: en,de.", "--lang")]
MinWords = Annotated[int, option(CORPUS, "Drop pages with fewer words of content.", "--min-words", min=0)]
Quality = Annotated[
    QualityRules,
    option(CORPUS, "Drop pages by the published rules of Gopher, or of FineWeb, which include Gopher's.", "--quality"),
]
Signals = Annotated[bool, option(CORPUS, "Add the quality signals of the text to each record.", "--signals")]

# Mining

_WEIGHTING = (
    "How features are weighted: by their site (cst), by their site and all sites (wplus), by counts (tfidf), or by "
    "counts in cleaned pages so that subjects count and sites do not (topic)"
)
Weighting = Annotated[str, setting(f"{_WEIGHTING}.")]
WeightingUnlessGiven = Annotated[str | None, setting(f"{_WEIGHTING}. [default: topic, or that of the .npz file]")]
Kinds = Annotated[str, setting(f"Kinds of features, separated by commas: {', '.join(FEATURE_KINDS)}.")]

_STOP_WORDS = "File of stop words, one per line, as `webwinnow lists stopwords` writes it. [default: {}]"
stop_words = _detailed(CLEANING, _STOP_WORDS, "--stop-words", metavar="FILE")
StopWords = Annotated[Path | None, stop_words("a built-in list per language")]
_THESAURUS = "Terms for denoising: SKOS (.rdf, .ttl, .nt), or one term per line, below lines [topic] for each topic's"
thesaurus = _detailed(CLEANING, _THESAURUS + " own. [default: {}]", "--thesaurus", metavar="FILE")
Thesaurus = Annotated[Path | None, thesaurus("no denoising")]

# Output

AsJson = Annotated[bool, writing("Print JSON, one object per line.", "--json")]

# Run

Jobs = Annotated[int, running("Worker processes; 0 for one per core.", "--jobs", min=0, max=MOST_JOBS)]
Tmp = Annotated[
    Path | None,
    running("Folder for temporary files; with a cluster, one that all machines share.", callback=existing_folder),
]
Quiet = Annotated[bool, running("No progress and no summary.", "--quiet", "-q")]
Seed = Annotated[int, running("Seed of random choices.", min=0)]
Resume = Annotated[bool, running("Continue a run that was stopped.", "--resume")]
PageSeconds = Annotated[float, running("Seconds to clean a page; one that takes longer fails.")]
Time = Annotated[float | None, running("Stop after this many seconds; the run can be continued.", "--time")]

# Crawl

Scope = Annotated[
    ScopeKind, crawling("Pages to crawl: below the start page's folder, of its host, of its domain, or any.")
]
Delay = Annotated[float, crawling("Seconds between requests to a host; robots.txt may ask for more.", min=0)]
Hosts = Annotated[int, crawling("Hosts to fetch from at the same time.", min=1)]
Robots = Annotated[bool, crawling("Obey robots.txt.")]
UserAgent = Annotated[str, crawling("User agent to send.")]
AllowPrivate = Annotated[
    bool, crawling("Allow private, loopback and link-local IP addresses: your own network.", "--allow-private")
]
Allow = Annotated[
    list[str] | None, crawling("Allow the IP addresses of this network only; repeatable.", metavar="NETWORK")
]
AllowUrls = Annotated[
    list[str] | None,
    crawling(
        "Follow only links whose URL this regular expression matches; repeatable.", "--allow-url", metavar="REGEX"
    ),
]
DenyUrls = Annotated[
    list[str] | None,
    crawling("Follow no link whose URL this regular expression matches; repeatable.", "--deny-url", metavar="REGEX"),
]
Sitemaps = Annotated[
    bool, crawling("Also take the pages in the site's sitemaps and feeds.", "--sitemaps/--no-sitemaps")
]
Resolve = Annotated[
    list[str] | None,
    crawling(
        "Connect there for this host, instead of what its name resolves to; HOST may begin with '*.'. Repeatable.",
        metavar="HOST=ADDRESS[:PORT]",
    ),
]

Render = Annotated[
    RenderWhen,
    crawling(
        "Render pages in a browser: all, or with =auto those whose HTML shows little. [default: never]",
        "--render",
        metavar="[=auto]",
        show_default=False,
    ),
]
Browsers = Annotated[int, crawling("Browsers that render at the same time.", min=1)]
Screenshots = Annotated[bool, crawling("Store a picture of each rendered page, for inspect.")]
RenderSet = Annotated[
    list[str] | None,
    crawling("Limit of rendering, as in load_seconds=40; repeatable.", "--render-set", metavar="NAME=VALUE"),
]

# Cluster

Engine = Annotated[str, computing("Where to run: local (this machine), ray or spark.")]
Address = Annotated[str | None, computing("Address of a running Ray or Spark cluster; without it one is started here.")]


# Options of declared settings

Chosens = TypeVar("Chosens", bound=Declarations)


def of(settings: type[Declarations], name: str, *, hidden: bool = False, **changes: Any) -> Any:
    """The option of a declared setting, for a parameter that a command has itself."""
    return _option(declared(settings)[name], hidden=hidden, **changes)


def _option(one: Declared, *, hidden: bool, **changes: Any) -> Any:
    own = one.setting
    is_number = one.kind in (int, float) and own.read is None and not one.is_several
    given: dict[str, Any] = {"min": own.least, "max": own.most} if is_number else {}
    given["show_default"] = own.shown or not (one.is_several or own.read or "[default:" in own.help)
    help = own.help if own.help[0].isupper() else f"{own.help[0].upper()}{own.help[1:]}."
    return option(own.panel, help, *own.options, metavar=own.metavar, hidden=hidden, **given | changes)


def _parameter(group: str, one: Declared, *, hidden: bool) -> Parameter:
    kind, default = one.type, one.default
    if one.is_several:
        kind, default = list[str] | None, None
    elif one.setting.read is not None:
        kind, default = str | None, None
    annotation: Any = Annotated[kind, _option(one, hidden=hidden or one.setting.panel is None)]
    return Parameter(f"{group}__{one.name}", Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def settings_options(
    *sections: type[Declarations], hidden: Collection[type[Declarations]] = (), only: str = "", without: str = ""
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of all declared settings of these classes; `Chosen` has their values.

    `hidden` classes have options that the help does not show. `only` and `without` are names of settings.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        parameters = [
            parameter.replace(kind=Parameter.KEYWORD_ONLY)
            for parameter in signature(command, eval_str=True).parameters.values()
            if parameter.kind is not Parameter.VAR_KEYWORD
        ]
        for section in sections:
            for group, settings in section.groups().items():
                for name, one in declared(settings).items():
                    is_chosen = name in only.split() if only else name not in without.split()
                    if one.setting.options and is_chosen:
                        parameters.append(_parameter(group, one, hidden=section in hidden))
        parameters.sort(key=_panel_order)
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        return command

    return decorated


def _panel_order(parameter: Parameter) -> int:
    """The place of a parameter's panel in the help; what is no option comes first."""
    notes = getattr(parameter.annotation, "__metadata__", ())
    panel = next((one.rich_help_panel for one in notes if isinstance(one, OptionInfo)), None)
    return PANELS.index(panel) + 1 if panel in PANELS else 0 if panel is None and not _is_hidden(notes) else len(PANELS)


def _is_hidden(notes: Iterable[Any]) -> bool:
    return any(isinstance(one, OptionInfo) and one.hidden for one in notes)


class Chosen:
    """The settings that the user chose by options and by --set, which takes precedence.

    `given` has each of them by group and name, with the name that the user gave.
    """

    def __init__(
        self, context: typer.Context, *sections: type[Declarations], pairs: Iterable[str] | None = None
    ) -> None:
        self.values: dict[str, dict[str, Any]] = {}
        self.given: dict[tuple[str, str], str] = {}
        self.groups = {group: settings for section in sections for group, settings in section.groups().items()}
        for parameter in context.command.params:
            group, is_setting, name = (parameter.name or "").partition("__")
            if is_setting and is_given(context, parameter.name or ""):
                chosen = declared(self.groups[group])[name]
                self._choose(group, chosen, _option_value(chosen, context.params[parameter.name or ""]))
                self.given[group, name] = _given_name(context, parameter)
        for group, name, text in map(split_pair, pairs or ()):
            one = declared(self.groups[group]).get(name) if group in self.groups else None
            if one is None:
                known = [full_name(own, name) for own, settings in self.groups.items() for name in declared(settings)]
                raise unknown_setting(full_name(group, name), known)
            self._choose(group, one, one.read(text))
            self.given[group, name] = full_name(group, name)

    def _choose(self, group: str, one: Declared, value: Any) -> None:
        self.values.setdefault(group, {})[one.name] = value

    def settings(self, kind: type[Chosens], **own: Any) -> Chosens:
        """The settings of a class; `own` are further values of its fields."""
        return kind.from_groups(self.values | {kind.GROUP: self.values.get(kind.GROUP, {}) | own})

    def suppose(self, group: str, **values: Any) -> None:
        """Set values of a group that the user did not choose."""
        self.values[group] = values | self.values.get(group, {})

    def refuse(self, choice: str, *names: str) -> None:
        """Raise `SettingsError` if one of these settings was given: it has no effect with a `choice`, or without it."""
        for (group, name), given in self.given.items():
            if full_name(group, name) in names or group in names:
                raise SettingsError(f"{given} has no effect {choice}; leave it out")

    def check_method(self, method: str) -> None:
        """Raise `SettingsError` for the setting of a cleaning method that this one does not read."""
        for (group, _), given in self.given.items():
            if group in CleaningSettings.groups():
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


def selection_of(keep: list[str] | None, drop: list[str] | None, *, tables: bool) -> Selection:
    """The selection that --keep, --drop and --no-tables give."""
    return Selection(keep=tuple(keep or ()), drop=tuple(drop or ()), tables=tables)


def weight_settings(pairs: list[str] | None, weighting: str, *, mapped: bool = True) -> CstWeightSettings:
    """The settings of feature weights that --set and --mapped give to a weighting; `SettingsError` if it reads none."""
    if pairs and not VectorSettings(weighting=weighting).learns_sites:
        name = pairs[0].partition("=")[0].strip()
        raise SettingsError(f"{name} has no effect with --weighting {weighting}; leave it out")
    known = asdict(replace(VectorSettings().weights, mapped=mapped))
    for pair in pairs or ():
        if pair.partition("=")[0].strip().removeprefix("cst.") not in known:
            expected = ", ".join(f"cst.{name}=..." for name in known)
            raise SettingsError(f"there is no setting {pair!r} of the weights; expected one of {expected}")
    weights: CstWeightSettings = CleaningSettings.from_pairs(pairs or (), cst=known).cst.weights
    return weights


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


def guard_of(allow_private: bool, allow: list[str] | None, resolve: list[str] | None) -> AddressGuard:
    """The guard of connections that the options ask for."""
    from webwinnow.crawl.guard import AddressGuard, Route  # noqa: PLC0415 (not every command connects)

    routes = tuple(Route.parse(text) for text in resolve or ())
    return AddressGuard(allow_private=allow_private, allow=tuple(allow or ()), routes=routes)


def check_rendering(render: str, pairs: list[str] | None) -> tuple[str, ...]:
    """The settings of rendering; `SettingsError` if nothing is rendered."""
    if pairs and render == "never":
        raise SettingsError("--render-set: nothing is rendered; give --render or --render=auto too")
    return tuple(pairs or ())


def chosen_engine(name: str, address: str | None, jobs: int) -> ClusterEngine | None:
    """The compute cluster that the user asked for, None for local workers. pyarrow is needed only for a cluster."""
    if name == "local" and address is None:
        return None
    try:
        from webwinnow.run.engines import engine_named  # noqa: PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra(f"the engine {name}", name) from error
    return engine_named(name, address=address, jobs=jobs)
