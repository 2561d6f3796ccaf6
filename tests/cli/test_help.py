"""The list of commands: what it says is what each command says, and it starts quickly."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

from webwinnow import plugins
from webwinnow.cli.app import PANELS, app, described

SHORTEST = len("webwinnow serve")
"""Characters of the shortest example."""
COMMANDS = plugins.names("command")


def test_every_command_is_in_a_panel() -> None:
    assert {described(name, module)[1] for name, module in plugins.built_in("command").items()} == set(PANELS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_is_the_beginning_of_the_help_of_its_command(name: str) -> None:
    own = get_command(app).commands[name].help  # type: ignore[attr-defined]
    assert " ".join(own.split("\n\n")[0].split()) == described(name, plugins.built_in("command")[name])[0]


def all_commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, one in group.commands.items():
        yield from all_commands(one, (*path, name)) if hasattr(one, "commands") else [((*path, name), one)]


@pytest.mark.parametrize("path", [" ".join(path) for path, _ in all_commands(get_command(app))])
def test_each_example_of_the_help_begins_its_own_line(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        app([*path.split(), "--help"])
    shown = [line.strip() for line in capsys.readouterr().out.splitlines() if len(line.strip()) >= SHORTEST]
    command = dict(all_commands(get_command(app)))[tuple(path.split())]
    examples = [line.strip() for line in command.help.splitlines() if line.startswith("    ")]
    joined = [example for example in examples if not any(example.startswith(line) for line in shown)]
    assert joined == []


def test_the_list_of_commands_imports_none_of_them() -> None:
    main = "from webwinnow.cli import main\ntry: main()\nfinally: print(*sys.modules)"
    asked = f"import sys; sys.argv[1:] = ['--help']\n{main}"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert all(f" {name} " in said for name in COMMANDS)
    loaded = said.splitlines()[-1].split()
    assert "typer" in loaded
    assert not {"numpy", "webwinnow.cli.command_clean", "webwinnow.record.cleaner"} & set(loaded)
