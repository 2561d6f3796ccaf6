"""The command line as a whole: one meaning for each option, panels, examples, old spellings, completion."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main
from warmcommand import run_command
from webwinnow.cli.spellings import OLD_SPELLINGS, check_spelling

from webwinnow.cli.app import PANELS, app, main
from webwinnow.errors import SettingsError
from webwinnow.methods.registry import all_methods, method_names

OPTION_PANELS = {None, "Input", "Cleaning", "Corpus", "Output", "Run", "Crawl", "Cluster"}
TWO_MEANINGS = {
    "--method": {"Cleaning method", "Topic method"},
    "--keep": {"Folder that keeps finished work", "Keep the elements that a CSS selector or XPath selects"},
    "--algorithm": {"k-means", "Scores to compute"},
    "--none": {
        "Least probability of none of the classes for that answer",
        "Least probability of none of the topics for that answer",
    },
}
"""`--method` names a method of what the command does: of cleaning, or of site topics (`sites`). `--keep` keeps parts of
pages, as `--drop` removes them, or the work of an experiment. `--algorithm` clusters, or
ranks; `--none` is for classes, or for topics."""


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands with the words that call them."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands())


def options(command: Any) -> Iterator[Any]:
    return (parameter for parameter in command.params if parameter.param_type_name == "option")


def ran(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_command(*arguments, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"} | environment)


def test_an_option_means_the_same_in_every_command() -> None:
    """The help of an option begins with the same clause everywhere; details may follow."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for command in COMMANDS.values():
        for option in options(command):
            if option.name != "help":
                meaning = re.split(r"[.:;,]", option.help)[0]
                for name in (*option.opts, *option.secondary_opts):
                    meanings[name].add(meaning)
    several = {name: found for name, found in meanings.items() if len(found) > 1}
    assert several == TWO_MEANINGS


def test_a_short_name_belongs_to_one_option() -> None:
    longs: dict[str, set[str]] = defaultdict(set)
    for command in COMMANDS.values():
        for option in options(command):
            for name in option.opts:
                if not name.startswith("--"):
                    longs[name].add(option.name)
    assert {name: found for name, found in longs.items() if len(found) > 1} == {}


def test_commands_are_in_the_help_panels() -> None:
    shown = ran("--help").stdout
    for panel in PANELS:
        assert f"─ {panel} ─" in shown
    assert sum(map(len, PANELS.values())) == len({path[0] for path in COMMANDS})


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_options_are_in_the_help_panels_and_explained(path: tuple[str, ...]) -> None:
    for option in options(COMMANDS[path]):
        assert getattr(option, "rich_help_panel", None) in OPTION_PANELS
        assert option.help


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_shows_an_example(path: tuple[str, ...]) -> None:
    text = COMMANDS[path].help
    assert re.search(rf"Examples?:\s+(?:.*\n\s*)*.*webwinnow {' '.join(path)}\b", text), text


def test_the_examples_of_help_have_options_that_exist() -> None:
    for path, command in COMMANDS.items():
        for words in re.findall(r"^ *(?:.*[;|] *)?(webwinnow .*)$", command.help, re.MULTILINE):
            called = re.split(r" [|>] |; ", words)[0].split()[1:]
            target = next(COMMANDS[tuple(called[:n])] for n in (2, 1) if tuple(called[:n]) in COMMANDS)
            known = {name for option in options(target) for name in (*option.opts, *option.secondary_opts)}
            used = {word for word in called if re.fullmatch(r"--?[a-z][a-z-]*", word)}
            assert used <= known | {"-css"}, (path, words)


@pytest.mark.parametrize("old", OLD_SPELLINGS)
def test_an_old_spelling_is_rejected_with_the_new_one(
    old: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command, dashes, option = old.partition(" --")
    given = [*command.split(), "x", *(f"--{option}".split() if dashes else [])]
    monkeypatch.setattr(sys, "argv", ["webwinnow", *given])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2
    message = capsys.readouterr().err
    new = OLD_SPELLINGS[old]
    assert message == f"webwinnow: webwinnow {old} is now webwinnow {f'{command} {new}' if dashes else new}\n"


@pytest.mark.parametrize("old", OLD_SPELLINGS)
def test_the_new_spelling_of_an_old_one_exists_and_the_old_one_is_gone(old: str) -> None:
    command, dashes, option = old.partition(" --")
    new = f"{command} {OLD_SPELLINGS[old]}" if dashes else OLD_SPELLINGS[old]
    words = new.split()
    path = next(tuple(words[:n]) for n in (2, 1) if tuple(words[:n]) in COMMANDS)
    known = {name for found in options(COMMANDS[path]) for name in (*found.opts, *found.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known
    if not dashes:
        assert (old,) not in COMMANDS
    elif " " not in option:
        assert f"--{option}" not in known


@pytest.mark.parametrize("given", ["clean x --share=0.4", "clean --share 0.4 x", "replicas x --method=published"])
def test_an_old_option_is_found_in_all_its_forms(given: str) -> None:
    with pytest.raises(SettingsError, match="is now"):
        check_spelling(given.split())


@pytest.mark.parametrize(
    "given", ["clean x -- --share", "page x --share", "replicas x --method page", "clean templates -o x", "--help", ""]
)
def test_other_command_lines_pass(given: str) -> None:
    check_spelling(given.split())


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("webwinnow cl", {"clean", "cluster", "classify"}), ("webwinnow clean --site-b", {"--site-by"})],
)
def test_the_shell_completes_commands_and_options(typed: str, expected: set[str]) -> None:
    words = typed.split()
    done = ran(_WEBWINNOW_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(len(words) - 1))
    assert set(done.stdout.split()) == expected


def test_the_completion_script_can_be_shown() -> None:
    done = ran("--show-completion", "bash", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert "_WEBWINNOW_COMPLETE=complete_bash" in done.stdout


def test_methods_are_listed_with_their_settings() -> None:
    shown = ran("methods").stdout
    for name, method in all_methods().items():
        assert re.search(rf"^{name}( \(the default\))?: ", shown, re.MULTILINE)
        for setting in method.listed():
            assert f"    {setting.name}=" in shown


def test_methods_are_listed_for_machines_too() -> None:
    found = [json.loads(line) for line in ran("methods", "--json").stdout.splitlines()]
    assert [method["name"] for method in found] == method_names()
    (only,) = [json.loads(line) for line in ran("methods", "sst", "--json").stdout.splitlines()]
    assert only["settings"][0]["name"] == "sst.threshold"


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("sst.treshold=0.9", "there is no setting 'sst.treshold=0.9'"),
        ("sst.threshold", "there is no setting 'sst.threshold'"),
        ("sst.threshold=high", "expected a number from 0 to 1"),
    ],
)
def test_a_setting_that_does_not_exist_is_rejected(pair: str, message: str) -> None:
    done = ran("page", "samples/pages/sqlite-whentouse.html", "--set", pair)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_setting_changes_what_a_method_does() -> None:
    page = "samples/pages/sqlite-whentouse.html"
    assert ran("page", page, "--set", "page.favor=recall").stdout == ran("page", page, "--favor", "recall").stdout
    assert (
        ran("page", page, "--method", "items", "--set", "items.noisy=0.99").stdout
        != ran("page", page, "--method", "items").stdout
    )
