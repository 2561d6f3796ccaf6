"""The command itself: subcommands in help panels, `--version`, and errors turned into messages and exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from webwinnow import __version__
from webwinnow.cli import classify, clean, crawl, experiment, inspect, learn, lists, mine, page, search, serve, sites
from webwinnow.cli.spellings import check_spelling
from webwinnow.errors import WebwinnowError

app = typer.Typer(
    name="webwinnow",
    help="Remove boilerplate from web pages with what their own site shows, and prepare them for web mining.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)

PANELS: dict[str, list[Callable[..., None] | typer.Typer]] = {
    "Clean": [page.page, clean.clean],
    "Learn": [learn.learn, learn.models, lists.lists, learn.learn_items],
    "Inspect": [inspect.inspect, inspect.methods],
    "Mine": [mine.features, mine.links, mine.rank, mine.replicas, mine.cluster, classify.classify],
    "Search": [search.index, search.search],
    "Sites": [crawl.crawl, sites.sites],
    "Serve": [serve.serve],
    "Research": [experiment.experiment],
}
"""The commands, by help panel."""

for panel, commands in PANELS.items():
    for command in commands:
        if isinstance(command, typer.Typer):
            app.add_typer(command, rich_help_panel=panel)
        else:
            app.command(rich_help_panel=panel)(command)


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
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        try:
            check_spelling(sys.argv[1:])
            app(prog_name="webwinnow")
        finally:
            sys.stdout.flush()  # here, where a full disk is reported, not while the interpreter exits
    except WebwinnowError as error:
        sys.stderr.write(f"webwinnow: {error}\n")
        raise SystemExit(2) from None
    except BrokenPipeError:  # the reader of our output went away (head, less): not an error
        _discard_output()
        raise SystemExit(0) from None
    except OSError as error:
        _discard_output()
        sys.stderr.write(f"webwinnow: {error.filename or 'output'}: {error.strerror or error}\n")
        raise SystemExit(2) from None


def _discard_output() -> None:
    """Let the interpreter flush what could not be written without a further error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
