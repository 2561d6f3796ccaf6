"""The command itself: subcommands in help panels, `--version`, and errors turned into messages and exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from webwinnow._version import __version__
from webwinnow.cli.spellings import check_spelling, spelled_out
from webwinnow.cli.terminal import UNCHANGED, printable, stoppable
from webwinnow.errors import WebwinnowError

PANELS = {
    "Clean": {"page": "page", "clean": "clean"},
    "Learn": {"learn": "learn", "learn-items": "learn", "models": "learn", "lists": "lists"},
    "Inspect": {"inspect": "inspect", "methods": "inspect"},
    "Mine": dict.fromkeys(("features", "links", "rank", "replicas"), "mine")
    | {"cluster": "cluster", "classify": "classify"},
    "Search": {"index": "search", "search": "search"},
    "Sites": {"crawl": "crawl", "sites": "sites"},
    "Serve": {"serve": "serve"},
    "Research": {"experiment": "experiment"},
    "Help": {"doctor": "doctor"},
}
"""The commands, by help panel, and the module of each, which is imported when the command is called."""
SUMMARIES = {
    "page": "Turn one page into text, Markdown, sanitised HTML or its record.",
    "clean": "Clean a crawl: one record for each page, in the order (site, input).",
    "learn": "Learn how each site of a crawl is built, and save one model per site to clean its pages with.",
    "learn-items": "Learn the decision trees of method items from labelled images and links, and measure them on "
    "sites left out.",
    "models": "Show, merge or pack site models.",
    "lists": "Derive a list from a collection: its templates, or its stop words.",
    "inspect": "Show the sites of a crawl and a sample of their pages, what is kept, what is removed and why, "
    "in one HTML page.",
    "methods": "List the cleaning methods, what each does, and its settings with default and meaning.",
    "features": "Write the features of a collection: a sparse matrix, one row per page, weighted by the page's site.",
    "links": "Export the link graph without the links of menus, footers and advertisements; `webwinnow rank` "
    "ranks its pages.",
    "rank": "Rank pages by PageRank and HITS, over all links and over the links that cleaning leaves.",
    "replicas": "Find near-duplicates: one line per page, with its cluster and, unless it is the copy to keep, "
    "`replica_of`.",
    "cluster": "Cluster pages by subject: one line per page with its cluster, and an HTML page with a map to browse.",
    "classify": "Learn classes from labelled pages, and predict those of other pages.",
    "index": "Make a search index of clean pages, or update one.",
    "search": "Search an index.",
    "crawl": "Crawl sites into a WARC file: up to 500 pages of each, a random sample, below the start page, politely.",
    "sites": "Learn the topics of whole sites, predict those of others, find more.",
    "serve": "Serve a REST API (/page, /sites, /jobs, /search, /inspect) and a web page to upload crawls to.",
    "experiment": "Run the papers' experiments on labelled pages.",
    "doctor": "Report what this installation can do: versions, compiled parts, extras, programs, disk space, memory "
    "and cores.",
}
"""What the list of commands says of each: the first sentence of its own help."""
SLEEPING_THREADS = ("OPENBLAS_THREAD_TIMEOUT", "4")
"""Threads of numpy's library sleep until they are needed: by default each is busy for 20 ms first."""


class _Commands(Mapping[str, Any]):
    """The commands by name, each built when it is looked up."""

    def __init__(self) -> None:
        self._panels = {name: panel for panel, commands in PANELS.items() for name in commands}
        self._built: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self._panels)

    def __iter__(self) -> Iterator[str]:
        return iter(self._panels)

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            panel = self._panels[name]
            module = import_module(f"webwinnow.cli.{PANELS[panel][name]}")
            command: Callable[..., None] | typer.Typer = getattr(module, name.replace("-", "_"))
            alone = typer.Typer(rich_markup_mode=app.rich_markup_mode)
            if isinstance(command, typer.Typer):
                alone.add_typer(command, rich_help_panel=panel)
            else:
                alone.command(rich_help_panel=panel)(command)
            self._built[name] = typer.main.get_group(alone).commands[name]
        return self._built[name]


class _LazyGroup(TyperGroup):
    """A group that builds only the command that is called."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given | {"commands": _Commands()})

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands by their summaries: none is imported."""
        self.commands = {
            name: TyperCommand(name, help=SUMMARIES[name], rich_help_panel=panel, rich_markup_mode="markdown")
            for panel, names in PANELS.items()
            for name in names
        }
        super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Import and run the command. Ctrl-C ends it with a message, unless the command has a better one."""
        with stoppable(UNCHANGED):
            try:
                return super().invoke(ctx)
            except BrokenPipeError:  # the reader of our output went away (head, less); typer would exit with 1
                _discard_output()
                raise typer.Exit from None


app = typer.Typer(
    name="webwinnow",
    help="Remove boilerplate from web pages with what their own site shows, and prepare them for web mining.",
    cls=_LazyGroup,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"webwinnow {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line. stdout is UTF-8 whatever the locale: it is for machines."""
    _open_closed_streams()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    os.environ.setdefault(*SLEEPING_THREADS)
    try:
        try:
            check_spelling(sys.argv[1:])
            app(spelled_out(sys.argv[1:]), prog_name="webwinnow")
        finally:
            sys.stdout.flush()  # here, where a full disk is reported, not while the interpreter exits
    except WebwinnowError as error:
        sys.stderr.write(f"webwinnow: {printable(str(error))}\n")  # it may name columns or values of an input
        raise SystemExit(2) from None
    except KeyboardInterrupt:  # before or after the command itself
        raise SystemExit(130) from None
    except BrokenPipeError:  # the same when the rest is flushed
        _discard_output()
        raise SystemExit(0) from None
    except OSError as error:
        _discard_output()
        sys.stderr.write(f"webwinnow: {printable(str(error.filename or 'output'))}: {error.strerror or error}\n")
        raise SystemExit(2) from None
    except MemoryError as error:
        advice = "give it less at once, or more memory"
        sys.stderr.write(f"webwinnow: there is not enough memory ({printable(str(error)) or 'no details'}); {advice}\n")
        raise SystemExit(2) from None


def _open_closed_streams() -> None:
    """Open the standard streams that the caller has closed (`<&-`, `>&-`), before a file takes their numbers.

    stdin cannot be read then and stdout cannot be written, which is reported if the command does so.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            wrong_way = {"stdin": os.O_WRONLY, "stdout": os.O_RDONLY}.get(name, os.O_WRONLY)
            opened = os.open(os.devnull, wrong_way)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, encoding="utf-8", errors="backslashreplace"))  # noqa: SIM115, PTH123


def _discard_output() -> None:
    """Let the interpreter flush what could not be written without a further error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
