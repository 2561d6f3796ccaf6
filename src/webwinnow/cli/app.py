"""The command itself: subcommands in help panels, `--version`, and errors turned into messages and exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from webwinnow import __version__
from webwinnow.cli.spellings import check_spelling
from webwinnow.errors import WebwinnowError

PANELS = {
    "Clean": {"page": "page", "clean": "clean"},
    "Learn": {"learn": "learn", "learn-items": "learn", "models": "learn", "lists": "lists"},
    "Inspect": {"inspect": "inspect", "methods": "inspect"},
    "Mine": dict.fromkeys(("features", "links", "rank", "replicas", "cluster"), "mine") | {"classify": "classify"},
    "Search": {"index": "search", "search": "search"},
    "Sites": {"crawl": "crawl", "sites": "sites"},
    "Serve": {"serve": "serve"},
    "Research": {"experiment": "experiment"},
}
"""The commands, by help panel, and the module of each, which is imported when the command is called or listed."""


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
    """A group that builds only the command that is called, unless all are listed."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given | {"commands": _Commands()})


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
