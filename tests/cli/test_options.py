"""The command line as a whole: one meaning for each option, panels, examples, completion."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
from warmcommand import run_command

from webwinnow import plugins
from webwinnow.cli.app import PANELS, app
from webwinnow.methods.registry import all_methods, method_names
from webwinnow.settings import PANELS as OPTIONS_IN_PANELS

OPTION_PANELS = {None, *OPTIONS_IN_PANELS}
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
    assert set(plugins.names("command")) == {path[0] for path in COMMANDS}


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
        ("sst.treshold=0.9", "there is no setting 'sst.treshold'; did you mean 'sst.threshold'?"),
        ("sst.threshold", "setting 'sst.threshold' has no value; expected NAME=VALUE"),
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


MOST_ROWS = 24
"""Options that the help of `clean` shows at most: one screen."""


def test_the_help_of_clean_shows_what_most_people_need_in_panels_in_order() -> None:
    shown = [option for option in options(COMMANDS["clean",]) if not option.hidden and option.name != "help"]
    assert len(shown) <= MOST_ROWS
    panels = list(dict.fromkeys(option.rich_help_panel for option in shown))
    assert panels == ["Input and output", "Site", "Method", "What to keep", "Run"]


def test_an_option_that_the_help_of_clean_does_not_show_works_and_is_a_setting_too(tmp_path: Path) -> None:
    ways = (("--url-column", "u"), ("--set", "columns.url=u"))
    (tmp_path / "in.jsonl").write_text('{"u": "http://a.test/", "html": "<p>Some text"}\n')
    records = []
    for way in ways:
        out = tmp_path / "out.jsonl"
        assert ran("clean", str(tmp_path / "in.jsonl"), "-o", str(out), "--jobs", "1", *way).returncode == 0
        records.append(json.loads(out.read_text()))
    assert records[0] == records[1]
    assert records[0]["url"] == "http://a.test/"


def test_the_settings_of_a_run_are_listed_with_their_options() -> None:
    listed = {one["name"]: one for one in map(json.loads, ran("methods", "--run", "--json").stdout.splitlines())}
    assert listed["columns.url"]["options"] == ["--url-column"]
    assert {"run.page_seconds", "limits.max_bytes", "corpus.min_words", "crawl.pages", "guard.allow"} <= set(listed)
    assert not any(name.startswith("sst.") for name in listed)


def test_a_setting_of_clean_that_does_not_exist_is_refused_with_what_was_meant() -> None:
    done = ran("clean", "x.jsonl", "-o", "-", "--set", "run.page_second=3")
    assert (done.returncode, done.stderr) == (
        2,
        "webwinnow: there is no setting 'run.page_second'; did you mean 'run.page_seconds'?\n",
    )
