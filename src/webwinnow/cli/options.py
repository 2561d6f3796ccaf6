"""Every option that several commands have, declared once, with the help panel it is shown in.

An option means the same in all commands. Where a detail differs, such as the formats of an output, a function makes the
option: `out("an .npz file")`. The help of such an option starts with the same words everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from webwinnow.cleaning.tasks import TASKS
from webwinnow.collection.settings import CollectionSettings
from webwinnow.crawl import AddressGuard, Route
from webwinnow.crawl.crawlsettings import ScopeKind
from webwinnow.errors import MissingExtra, SettingsError
from webwinnow.methods import METHODS, CleaningSettings
from webwinnow.pagemodel import Favor
from webwinnow.parsing import ParseLimits
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.site.sums import LEARNED_PAGES
from webwinnow.urls import SiteKey
from webwinnow.vectors import FEATURE_KINDS, VectorSettings
from webwinnow.words import StopList

if TYPE_CHECKING:
    from webwinnow.engines import ClusterEngine

INPUT, CLEANING, OUTPUT, RUN, CRAWL, CLUSTER = "Input", "Cleaning", "Output", "Run", "Crawl", "Cluster"

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
    return lambda detail="", panel=panel: option(panel, help.format(detail), *names, **more)


out = _detailed(OUTPUT, "Output: {}.", "--out", "-o")
format = _detailed(OUTPUT, "Output format: {}; by default that of the output's name.", "--format", "-f")
report = _detailed(OUTPUT, "Write a report as an HTML page{}.", "--report")
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
SiteColumn = Annotated[str, reading("Column that names the site of a page.", "--site-column")]
Css = Annotated[
    bool, reading("Rules of style sheets in the page count as display properties, as in Yi and Liu (slower).", "--css")
]
MaxBytes = Annotated[int, reading("Refuse pages that are longer than this many bytes.", "--max-bytes", min=0)]

# Cleaning

Method = Annotated[str, cleaning(f"Cleaning method: {', '.join(METHODS)}.")]
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
Models = Annotated[Path | None, cleaning("Clean with the site models of this folder or table.")]

# Mining

_WEIGHTING = "How features are weighted: by their site (cst), by their site and all sites (wplus), or by counts (tfidf)"
Weighting = Annotated[str, setting(f"{_WEIGHTING}.")]
WeightingUnlessGiven = Annotated[str | None, setting(f"{_WEIGHTING}. [default: cst, or that of the .npz file]")]
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

Jobs = Annotated[int, running("Worker processes; 0 for one per core.", "--jobs", min=0)]
Tmp = Annotated[Path | None, running("Folder for temporary files; with a cluster, one that all machines share.")]
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
Resolve = Annotated[
    list[str] | None,
    crawling(
        "Connect there for this host, instead of what its name resolves to; HOST may begin with '*.'. Repeatable.",
        metavar="HOST=ADDRESS[:PORT]",
    ),
]

# Cluster

Engine = Annotated[str, computing("Where to run: local (this machine), ray or spark.")]
Address = Annotated[str | None, computing("Address of a running Ray or Spark cluster; without it one is started here.")]


# What options stand for


def cleaning_settings(
    pairs: list[str] | None,
    favor: Favor | None = None,
    comments: bool | None = None,
    stop_words: Path | None = None,
    **docview: int | None,
) -> CleaningSettings:
    """The settings that --set, --favor, --comments and --stop-words give; `docview` are settings of that group."""
    page = {"favor": favor, "comments": comments}
    stops = {"stop_words": stop_list(stop_words).own}
    return CleaningSettings.from_pairs(
        pairs or (),
        page={name: value for name, value in page.items() if value is not None},
        docview=docview | stops,
        segments=stops,
    )


def weight_settings(pairs: list[str] | None, *, mapped: bool = True) -> CstWeightSettings:
    """The settings of feature weights that --set and --mapped give."""
    known = asdict(replace(VectorSettings().weights, mapped=mapped))
    for pair in pairs or ():
        if pair.partition("=")[0].strip().removeprefix("cst.") not in known:
            expected = ", ".join(f"cst.{name}=..." for name in known)
            raise SettingsError(f"there is no setting {pair!r} of the weights; expected one of {expected}")
    return CleaningSettings.from_pairs(pairs or (), cst=known).cst.weights


def stop_list(path: Path | None) -> StopList:
    """The stop words that --stop-words gives."""
    return StopList() if path is None else StopList.read(path)


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
    routes = tuple(Route.parse(text) for text in resolve or ())
    return AddressGuard(allow_private=allow_private, allow=tuple(allow or ()), routes=routes)


def chosen_engine(name: str, address: str | None, jobs: int) -> ClusterEngine | None:
    """The compute cluster that the user asked for, None for local workers. pyarrow is needed only for a cluster."""
    if name == "local" and address is None:
        return None
    try:
        from webwinnow.engines import engine_named  # noqa: PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra(f"the engine {name}", name) from error
    return engine_named(name, address=address, jobs=jobs)
