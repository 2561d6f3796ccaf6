"""The documentation names things that exist: files, links, dotted names of webwinnow, commands and their options."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from webwinnow.cli.app import app

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "webwinnow"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "samples/README.md", "benchmarks/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]


def missing_names(text: str) -> list[str]:
    """Dotted names (`webwinnow.a.b`) that cannot be imported."""
    return [name for name in re.findall(r"`(webwinnow(?:\.\w+)+)", text) if not exists(name)]


def exists(name: str) -> bool:
    parts = name.split(".")
    for at in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:at]))
        except ModuleNotFoundError as error:
            if str(error.name).partition(".")[0] != "webwinnow":
                return True  # a module of an extra that is not installed
            continue
        for attribute in parts[at:]:
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False


def missing_files(text: str) -> list[str]:
    """Paths of our own sources (`site/pagelets.py`, `tests/oracles`) that do not exist."""
    paths = re.findall(r"`((?:\w+/)+[\w.-]*\.(?:py|pyx|npz))`|`((?:tests|tools|benchmarks)/[\w./-]+)`", text)
    named = [first or second for first, second in paths]
    return [
        path
        for path in named
        if not ((ROOT / path).exists() or (SOURCE / path).exists() or (ROOT / "src" / path).exists())
    ]


def broken_links(document: Path, text: str) -> list[str]:
    targets = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    return [target for target in targets if not (document.parent / target).exists()]


def command_lines(text: str) -> Iterator[str]:
    """Commands in indented or fenced code, each with the lines that continue it, and those in back quotes."""
    fenced, line, indent = False, "", 0
    for raw in [*text.splitlines(), ""]:
        fence = raw.lstrip().startswith("```")
        code = (fenced or raw.startswith("    ")) and not fence and raw.strip() != ""
        fenced ^= fence
        here = len(raw) - len(raw.lstrip())
        words = re.sub(r"\s#\s.*", "", raw).strip().removeprefix("$ ")
        begins = words.startswith("webwinnow ")
        if line and code and not begins and (line.endswith("\\") or here > indent):
            line = f"{line.removesuffix(chr(92))} {words}"
            continue
        if line:
            yield line
        line, indent = (words, here) if code and begins else ("", 0)
    yield from re.findall(r"`(webwinnow [a-z][^`\n]*)`", text)


def stale_commands(text: str) -> list[str]:
    """Commands and options in code that the command line does not have."""
    return [problem for line in command_lines(text) for problem in _stale(line)]


def _stale(line: str) -> Iterator[str]:
    command: Any = typer.main.get_command(app)
    path = "webwinnow"
    for word in line.split()[1:]:
        if word.startswith("-") or not hasattr(command, "commands"):
            break
        path = f"{path} {word}"
        if word not in command.commands:
            yield path
            return
        command = command.commands[word]
    known = {"--help"}.union(*((*option.opts, *option.secondary_opts) for option in command.params))
    yield from (f"{path} {name}" for name in re.findall(r"(?<![\w-])--[a-z][\w-]*", line) if name not in known)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_document_names_what_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert missing_names(text) == []
    assert missing_files(text) == []
    assert broken_links(document, text) == []
    assert stale_commands(text) == []


def test_a_command_that_does_not_exist_is_found() -> None:
    text = """
    webwinnow clean IN -o OUT [--format jsonl] [--threshold T]  # --not an option
        [--site-by host] [--nothing N]

```console
$ webwinnow models paint
$ webwinnow learn IN \\
    --blocks
126 pages --learned
```

`webwinnow page --rules`, and prose about webwinnow clean --nothing-here.
"""
    assert stale_commands(text) == [
        "webwinnow clean --threshold",
        "webwinnow clean --nothing",
        "webwinnow models paint",
        "webwinnow learn --blocks",
        "webwinnow page --rules",
    ]


@pytest.mark.parametrize("command", ["page", "clean", "learn", "cluster", "search", "serve", "crawl"])
def test_the_commands_have_a_synopsis(command: str) -> None:
    lines = [line for path in DOCUMENTS for line in command_lines(path.read_text(encoding="utf-8"))]
    assert any(re.match(rf"webwinnow {command} .*\[--", line) for line in lines)


def test_what_does_not_exist_is_found() -> None:
    assert missing_names("`webwinnow.nothing.here` and `webwinnow.parse`") == ["webwinnow.nothing.here"]
    assert missing_files("`site/nothing.py`, `tests/oracles`, `tests/nothing`") == ["site/nothing.py", "tests/nothing"]
    assert broken_links(ROOT / "README.md", "[a](docs/clean.md) [b](docs/nothing.md)") == ["docs/nothing.md"]
