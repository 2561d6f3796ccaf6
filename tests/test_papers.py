"""docs/papers.md: every row names code, commands and tests that exist; every parameter has the default it states."""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

import pytest
from docnames import ROOT, exists, named_command, stale_commands

from webwinnow.errors import SettingsError
from webwinnow.methods.registry import CleaningSettings, method_names
from webwinnow.papers.mining.words import mined_methods
from webwinnow.papers.sites.settings import SiteTrialSettings
from webwinnow.settings import Settings
from webwinnow.topics.settings import LearningSettings, SiteSettings
from webwinnow.topics.sitetopics import METHODS as TOPIC_METHODS

PAPERS = ROOT / "docs" / "papers.md"
ROW = ("section", "the paper", "code", "command", "test", "where ours differs")
PARAMETER = ("parameter", "source", "published", "default", "command line", "Python", "why")
SETTINGS: dict[str, type[Settings]] = {
    "webwinnow sites train": LearningSettings,
    "webwinnow sites mine": SiteSettings,
    "webwinnow experiment sites": SiteTrialSettings,
}
"""The settings of commands that do not take those of cleaning."""


def settings_of(line: str) -> type[Settings]:
    """The settings that a command takes."""
    return next((groups for start, groups in SETTINGS.items() if line.startswith(start)), CleaningSettings)


def rows(text: str, header: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """The rows of all tables with this header."""
    inside = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if not cells:
            inside = False
        elif tuple(cells) == header:
            inside = True
        elif inside and not set("".join(cells)) <= set("-: "):
            yield dict(zip(header, cells, strict=True))


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def problems(text: str) -> list[str]:
    """What the tables name and does not exist, each with the row it is in."""
    found = []
    for row in rows(text, ROW):
        found += [f"{row['section']}: {problem}" for problem in _row_problems(row)]
    for row in rows(text, PARAMETER):
        found += [f"{row['parameter']}: {problem}" for problem in _parameter_problems(row)]
    return found


def _row_problems(row: dict[str, str]) -> Iterator[str]:
    for column in ("code", "command", "test"):
        if not quoted(row[column]):
            yield f"no {column}"
    yield from (f"no code {name}" for name in quoted(row["code"]) if not exists(f"webwinnow.{name}"))
    yield from (f"no test {name}" for name in quoted(row["test"]) if not is_test(name))
    for line in quoted(row["command"]):
        if not line.startswith("webwinnow "):
            yield f"no command {line}"
        yield from (f"no option {problem}" for problem in stale_commands(f"`{line}`"))
        yield from _value_problems(line)


def _value_problems(line: str) -> Iterator[str]:
    """Settings and methods in a command that do not exist."""
    for name, _, value in (pair.partition("=") for pair in re.findall(r"--set ([\w.]+(?:=\S+)?)", line)):
        groups = settings_of(line)
        if name not in {setting.name for setting in groups.listed()}:
            yield f"no setting {name}"
        elif value:
            try:
                groups.from_pairs([f"{name}={value}"])
            except SettingsError as error:
                yield str(error)
    methods = TOPIC_METHODS if line.startswith(("webwinnow sites", "webwinnow experiment sites")) else method_names()
    yield from (f"no method {name}" for name in re.findall(r"--method (\S+)", line) if name not in methods)
    for names in re.findall(r"--methods (\S+)", line):
        for name in names.split(","):
            if methods is TOPIC_METHODS:
                if name not in TOPIC_METHODS:
                    yield f"no method {name}"
            elif line.startswith("webwinnow experiment mining"):
                try:
                    mined_methods([name])
                except SettingsError as error:
                    yield str(error)
            elif name not in method_names():
                yield f"no method {name}"


def _parameter_problems(row: dict[str, str]) -> Iterator[str]:
    default = row["default"].replace("`", "")
    if not quoted(row["command line"]) or not quoted(row["Python"]):
        yield "cannot be set from the command line and from Python"
    for line in quoted(row["command line"]):
        stale = [*stale_commands(f"`{line}`"), *_value_problems(line)]
        yield from stale
        if not stale:
            found = shown(option_default(line))
            if found != default:
                yield f"{line} defaults to {found}, not {default}"
    for name in quoted(row["Python"]):
        try:
            found = shown(python_default(name))
        except (ImportError, AttributeError, LookupError) as error:
            yield f"no Python name {name}: {error}"
            continue
        if found != default:
            yield f"{name} defaults to {found}, not {default}"
    if row["published"] not in (row["default"], "none", "") and not row["why"]:
        yield "differs from the published value without a reason"


def is_test(name: str) -> bool:
    """Whether `papers/test_x.py::test_y` or `papers/test_x.py::TestZ::test_y` is a test below `tests/`."""
    path, *names = name.split("::")
    return bool(names) and tuple(names) in _tests(path)


@cache
def _tests(path: str) -> frozenset[tuple[str, ...]]:
    """The names of tests in a file, without running it."""
    file = ROOT / "tests" / path
    if not file.is_file():
        return frozenset()
    found: set[tuple[str, ...]] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            found.add((node.name,))
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            methods = [inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)]
            found.update((node.name, method) for method in methods if method.startswith("test"))
    return frozenset(found)


def option_default(line: str) -> Any:
    """The default of the setting, or of the last option, that a command names."""
    setting = re.search(r"--set ([\w.]+)", line)
    if setting is not None:
        return next(one.default for one in settings_of(line).listed() if one.name == setting[1])
    name = re.findall(r"--?[a-z][\w-]*", line.split(maxsplit=1)[1])[-1]
    _, command = named_command(line)
    (option,) = [one for one in command.params if name in (*one.opts, *one.secondary_opts)]
    return option.default


def python_default(name: str) -> Any:
    """The default of `package.Class.field`, `package.function(parameter)` or `package.CONSTANT`."""
    path, _, parameter = name.removesuffix(")").partition("(")
    owner, _, last = f"webwinnow.{path}".rpartition(".")
    holder = _imported(owner)
    if parameter:
        return inspect.signature(getattr(holder, last)).parameters[parameter].default
    if is_dataclass(holder):
        (field,) = [one for one in fields(holder) if one.name == last] or [None]
        if field is None:
            raise LookupError(f"{owner} has no field {last}")
        return field.default if field.default is not MISSING else field.default_factory()  # type: ignore[misc]
    return getattr(holder, last)


def _imported(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        owner, _, last = name.rpartition(".")
        return getattr(_imported(owner), last)


def shown(value: Any) -> str:
    """A default as the table writes it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, tuple):
        return ",".join(map(shown, value))
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:g}"
    return str(value)


@pytest.fixture(scope="module")
def text() -> str:
    return PAPERS.read_text(encoding="utf-8")


def test_every_row_names_code_commands_and_tests_that_exist(text: str) -> None:
    assert problems(text) == []


def test_the_tables_cover_the_four_papers(text: str) -> None:
    titles = re.findall(r"^## (.+)", text, re.MULTILINE)
    sections = [list(rows(part, ROW)) for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]]
    found = {title.split(":")[0]: len(part) for title, part in zip(titles, sections, strict=True) if part}
    assert list(found) == ["Thesis", "Weights", "DocView", "Sites"]
    assert len(list(rows(text, PARAMETER))) >= 50


NUMBERED = {
    "Thesis": {
        "eq.": {"4-1", "4-2", *(f"5-{n}" for n in range(1, 11)), *(f"6-{n}" for n in range(1, 8))},
        "Figure": {"2-4", "3-1", "3-2", "3-3", *(f"4-{n}" for n in range(1, 11)), *(f"5-{n}" for n in range(1, 9))},
        "Table": {"4-1", *(f"5-{n}" for n in range(1, 17))},
    },
    "Weights": {"eq.": set("12345"), "Figure": set("123"), "Table": set("12")},
    "DocView": {"eq.": set("123456"), "Figure": set("123456"), "Table": set("123"), "Algorithm": {"1"}},
    "Sites": {
        "eq.": {str(n) for n in range(1, 17)},
        "Figure": {str(n) for n in range(1, 12)},
        "Table": {"1"},
        "Algorithm": {"1"},
        "Definition": set("12345"),
        "Assumption": set("1234"),
    },
}
"""What the papers number; of the thesis's figures, those that show an algorithm, a worked example or a result."""


@pytest.mark.parametrize("paper", NUMBERED)
def test_every_equation_figure_and_table_of_a_paper_has_a_row(text: str, paper: str) -> None:
    part = text.split(f"\n## {paper}:", 1)[1].split("\n## ", 1)[0]
    sections = " ; ".join(row["section"] for row in rows(part, ROW))
    missing = {word: sorted(expected - numbers(sections, word)) for word, expected in NUMBERED[paper].items()}
    assert {word: found for word, found in missing.items() if found} == {}


def numbers(sections: str, word: str) -> set[str]:
    """The numbers after a word: `Tables 5-5 to 5-7 and 5-9` is written out."""
    found = set()
    number = r"\d+(?:-\d+)?"
    for match in re.finditer(rf"{re.escape(word)}s? ({number}(?:(?: to | and |, ){number})*)", sections):
        last = ""
        for to, one in re.findall(rf"( to )?({number})", match[1]):
            if to:
                chapter = one.rpartition("-")[0]
                between = range(int(last.rpartition("-")[2]), int(one.rpartition("-")[2]))
                found.update(f"{chapter}-{n}" if chapter else str(n) for n in between)
            found.add(one)
            last = one
    return found


GOOD_ROW = (
    "| 4.2.2 | importance | `site.importance.node_importance` | `webwinnow clean --method sst` "
    "| `test_papers.py::test_a_wrong_parameter_is_found` | |"
)
GOOD_PARAMETER = (
    "| pages | 5.3 | 500 | 500 | `webwinnow learn --pages` | `run.settings.CollectionSettings.learn_pages` | |"
)


def table(*lines: str) -> str:
    headers = {True: ROW, False: PARAMETER}
    header = headers[lines[0].count("|") == len(ROW) + 1]
    return "\n".join([f"| {' | '.join(header)} |", "|" + "---|" * len(header), *lines])


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("node_importance`", "node_importances`", "4.2.2: no code site.importance.node_importances"),
        ("is_found`", "is_lost`", "4.2.2: no test test_papers.py::test_a_wrong_parameter_is_lost"),
        ("`test_papers.py", "`papers/test_papers.py", "4.2.2: no test papers/"),
        ("webwinnow clean ", "webwinnow polish ", "4.2.2: no option webwinnow polish"),
        ("--method sst", "--mode sst", "4.2.2: no option webwinnow clean --mode"),
        ("--method sst", "--method sts", "4.2.2: no method sts"),
        ("--method sst", "--set sst.treshold=0.5", "4.2.2: no setting sst.treshold"),
        ("clean --method sst", "sites mine --set rules.crawled=1", "4.2.2: no setting rules.crawled"),
        ("--method sst", "--set sst.threshold=5", "4.2.2: threshold is 5.0"),
        ("`site.importance.node_importance`", "", "4.2.2: no code"),
    ],
)
def test_a_wrong_name_in_a_row_is_found(right: str, wrong: str, problem: str) -> None:
    assert problems(table(GOOD_ROW)) == []
    assert right in GOOD_ROW
    (found,) = problems(table(GOOD_ROW.replace(right, wrong)))
    assert found.startswith(problem)


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("| 500 | 500 |", "| 500 | 400 |", "pages: webwinnow learn --pages defaults to 500, not 400"),
        ("learn_pages", "pages", "pages: no Python name"),
        ("--pages", "--page-count", "pages: webwinnow learn --page-count"),
        ("| 500 | 500 |", "| 300 | 500 |", "pages: differs from the published value without a reason"),
        ("`webwinnow learn --pages`", "", "pages: cannot be set"),
    ],
)
def test_a_wrong_parameter_is_found(right: str, wrong: str, problem: str) -> None:
    assert problems(table(GOOD_PARAMETER)) == []
    assert right in GOOD_PARAMETER
    assert problems(table(GOOD_PARAMETER.replace(right, wrong)))[0].startswith(problem)


def test_a_test_in_a_class_and_a_function_that_is_no_test_are_distinguished() -> None:
    assert is_test("test_papers.py::test_a_wrong_parameter_is_found")
    assert not is_test("test_papers.py::is_test")
    assert not is_test("test_papers.py")


def test_ranges_of_numbers_are_written_out() -> None:
    assert numbers("5.5, Tables 5-5 to 5-7 and 5-9", "Table") == {"5-5", "5-6", "5-7", "5-9"}
    assert numbers("4.1, eq. 9 to 11; 3.2, Figure 4, eq. 1", "eq.") == {"9", "10", "11", "1"}
