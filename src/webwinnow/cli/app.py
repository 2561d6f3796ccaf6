"""The command itself: subcommands, `--version`, and the one place where errors become messages and exit codes."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from webwinnow import __version__
from webwinnow.cli import (
    categories,
    classify,
    clean,
    crawl,
    experiment,
    features,
    inspect,
    items,
    learn,
    links,
    page,
    replicas,
    search,
    serve,
    stopwords,
    templates,
)
from webwinnow.errors import WebwinnowError

__all__ = ["app", "main"]

app = typer.Typer(
    name="webwinnow",
    help="Learn how a web site is built from its own pages, keep the grain, show why the chaff went.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command("categories")(categories.categories)
app.add_typer(classify.classify, name="classify")
app.command("clean")(clean.clean)
app.command("crawl")(crawl.crawl)
app.add_typer(experiment.experiment, name="experiment")
app.command("features")(features.features)
app.command("index")(search.index)
app.command("inspect")(inspect.inspect)
app.command("items")(items.items)
app.command("learn")(learn.learn)
app.add_typer(learn.models, name="models")
app.command("links")(links.links)
app.command("page")(page.page)
app.command("replicas")(replicas.replicas)
app.command("search")(search.search)
app.command("serve")(serve.serve)
app.command("stopwords")(stopwords.stopwords)
app.command("templates")(templates.templates)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"webwinnow {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Hold the options that stand before a subcommand."""


def main() -> None:
    """Run the command line. stdout is UTF-8 whatever the locale: it is for machines."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        app()
    except WebwinnowError as error:
        sys.stderr.write(f"webwinnow: {error}\n")
        raise SystemExit(2) from None
    except BrokenPipeError:  # the reader of our output went away (head, less): not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except OSError as error:
        sys.stderr.write(f"webwinnow: {error.filename or 'output'}: {error.strerror or error}\n")
        raise SystemExit(2) from None
