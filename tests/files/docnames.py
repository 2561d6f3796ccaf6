"""What documents name: dotted names of webwinnow, files, links, commands and their options; and which do not exist."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer

from webwinnow.cli.app import app

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "webwinnow"


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


def broken_anchors(document: Path, text: str) -> list[str]:
    """Links to headings, of this document or of another, that do not exist."""
    links = re.findall(r"(?<!!)\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)", without_code(text))
    broken = []
    for target, anchor in links:
        other = document.parent / target if target else None
        if other is None or (other.suffix == ".md" and other.exists()):
            named = anchors(text if other is None else other.read_text(encoding="utf-8"))
            broken += [] if anchor in named else [f"{target}#{anchor}"]
    return broken


def anchors(text: str) -> set[str]:
    """The anchors of a document's headings, as GitHub and the documentation site name them."""
    headings = re.findall(r"^#{1,6} (.+?)\s*$", without_code(text), re.MULTILINE)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "") for heading in headings)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in plain}


def without_code(text: str) -> str:
    """The text without fenced code, in which a line with # is no heading."""
    return re.sub(r"^\s*```.*?^\s*```$", "", text, flags=re.MULTILINE | re.DOTALL)


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


@cache
def _whole_command() -> Any:
    return typer.main.get_command(app)


def named_command(line: str) -> tuple[str, Any]:
    """The command that a line starts with, with its path; None if it does not exist."""
    command: Any = _whole_command()
    path = "webwinnow"
    for word in line.split()[1:]:
        if word.startswith("-") or not hasattr(command, "commands"):
            break
        path = f"{path} {word}"
        command = command.commands.get(word)
        if command is None:
            break
    return path, command


def _stale(line: str) -> Iterator[str]:
    path, command = named_command(line)
    if command is None:
        yield path
        return
    known = {"--help"}.union(*((*option.opts, *option.secondary_opts) for option in command.params))
    yield from (f"{path} {name}" for name in re.findall(r"(?<![\w-])--[a-z][\w-]*", line) if name not in known)
