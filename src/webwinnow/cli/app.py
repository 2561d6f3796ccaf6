"""The command itself: subcommands in help panels, `--version`, and errors turned into messages and exit codes."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from webwinnow import plugins
from webwinnow._version import __version__
from webwinnow.cli.terminal import UNCHANGED, stoppable
from webwinnow.counted import printable
from webwinnow.errors import SettingsError, WebwinnowError

PANELS = ("Clean", "Learn", "Inspect", "Mine", "Search", "Sites", "Serve", "Research", "Help")
"""The help panels in the order in which they are shown; those of plug-ins follow."""
SLEEPING_THREADS = ("OPENBLAS_THREAD_TIMEOUT", "4")
"""Threads of numpy's library sleep until they are needed: by default each is busy for 20 ms first."""


class _Commands(Mapping[str, Any]):
    """The commands by name, each imported and built when it is looked up."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(plugins.names("command"))

    def __iter__(self) -> Iterator[str]:
        return iter(plugins.names("command"))

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            try:
                module = plugins.load("command", name)
            except SettingsError as error:
                raise KeyError(str(error)) from None
            command: Callable[..., None] | typer.Typer = getattr(module, name.replace("-", "_"))
            alone = typer.Typer(rich_markup_mode=app.rich_markup_mode)
            panel = getattr(module, "PANEL", "Plug-ins")
            if isinstance(command, typer.Typer):
                alone.add_typer(command, rich_help_panel=panel)
            else:
                alone.command(name, rich_help_panel=panel)(command)
            self._built[name] = typer.main.get_group(alone).commands[name]
        return self._built[name]


class _LazyGroup(TyperGroup):
    """A group that builds only the command that is called."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given | {"commands": _Commands()})

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands with the first sentence of each one's help, read from its source: none is imported."""
        listed = [(name, *described(name, module)) for name, module in plugins.built_in("command").items()]
        listed += [
            (name, f"From {module.partition('.')[0]}.", "Plug-ins")
            for name, module in plugins.installed("command").items()
        ]
        listed.sort(key=lambda one: PANELS.index(one[2]) if one[2] in PANELS else len(PANELS))
        self.commands = {
            name: TyperCommand(name, help=about, rich_help_panel=panel, rich_markup_mode="markdown")
            for name, about, panel in listed
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


def described(name: str, module: str) -> tuple[str, str]:
    """The first paragraph of a command's help and its panel, from the source of its module."""
    source = Path(__file__).parents[1].joinpath(*module.split(".")[1:]).with_suffix(".py").read_text(encoding="utf-8")
    function = name.replace("-", "_")
    described = (
        rf'^def {function}\(.*?^\) -> None:\n    r?"""(.*?)(?:\n\n|""")|'
        rf'^{function} = typer\.Typer\([^)]*?help="([^"]*)"'
    )
    found = re.search(described, source, re.DOTALL | re.MULTILINE)
    panel = re.search(r'^PANEL = "(\w+)"', source, re.MULTILINE)
    assert found is not None and panel is not None, f"{module} is no command"
    return " ".join((found[1] or found[2]).split()), panel[1]


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
    os.environ["PYTHONSAFEPATH"] = "1"  # the processes of Spark, Ray and pools import nothing from the working folder
    try:
        try:
            app(_with_values(sys.argv[1:]), prog_name="webwinnow")
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


def _with_values(arguments: list[str]) -> list[str]:
    """The command line with the value of `--render`, which may be given without one."""
    ours = arguments.index("--") if "--" in arguments else len(arguments)
    return ["--render=all" if given == "--render" and at < ours else given for at, given in enumerate(arguments)]


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
