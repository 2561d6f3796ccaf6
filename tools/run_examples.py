"""Run the examples of documents as a reader would: `python tools/run_examples.py docs/start.md docs/guides/*.md`.

Blocks marked `console` and `python` are run in a new folder that contains only the samples and tools of the source.

- In a console block, lines after `$ ` are commands (bash). Output that a block shows must be that of the command,
  standard error included; `...` stands for anything, seconds and pages per second may differ.
- Python blocks that follow each other are one script. `print(...)  # text` must print that text.
- `<!-- not run: REASON -->` before a block excludes it; `<!-- needs: NAME -->` skips it where that package is missing.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300
"""One example may take this long."""
TIMED_OUT = 124
"""Exit code of an example that took longer, as of timeout(1)."""
Shell = Callable[[str, Path, dict[str, str]], tuple[int, str]]
"""Runs a command in a folder with an environment; returns its exit code and all of its output."""
_MARK = re.compile(r"\s*<!-- (not run|needs): (.+?) -->\s*$")
_FENCE = re.compile(r"(\s*)```(\w*)")
_TIMES = re.compile(r"\b\d[\d.,]*(?= (?:s|ms|pages/s)\b)")
_PROGRESS = re.compile(r"webwinnow: [a-z ,]+: [\d,]+(?: of [\d,]+)?\b.*$")
_PRINTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One block of code of a document, or several Python blocks in a row."""

    language: str
    code: str
    line: int
    not_run: str | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one command or script: `problem` is None if it did what the document says."""

    line: int
    what: str
    problem: str | None
    skipped: str | None = None


def blocks(text: str) -> Iterator[Example]:
    """The console and Python blocks of a document."""
    lines = iter(enumerate(text.splitlines(), 1))
    marks: dict[str, str] = {}
    for number, line in lines:
        if mark := _MARK.match(line):
            marks[mark[1]] = mark[2]
        elif fence := _FENCE.match(line):
            code = []
            for _, inner in lines:
                if inner.strip() == "```":
                    break
                code.append(inner.removeprefix(fence[1]))
            if fence[2] in ("console", "python"):
                yield Example(
                    language=fence[2],
                    code="\n".join(code) + "\n",
                    line=number,
                    not_run=marks.get("not run"),
                    needs=tuple(marks.get("needs", "").split()),
                )
            marks = {}
        elif line.strip():
            marks = {}


def examples(text: str) -> Iterator[Example]:
    """The blocks to run, with Python blocks that follow each other as one."""

    def together(block: Example) -> tuple[object, ...]:
        return ("python", block.needs) if block.language == "python" else (block.line,)

    runnable = (block for block in blocks(text) if block.not_run is None)
    for _, group in groupby(runnable, together):
        members = list(group)
        code = "\n".join(member.code for member in members)
        first = members[0]
        yield Example(language=first.language, code=code, line=first.line, needs=first.needs)


def commands(code: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output that it shows."""
    for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        command = [lines.pop(0)]
        while lines and (command[-1].endswith("\\") or _unfinished("\n".join(command))):
            command.append(lines.pop(0).removeprefix("> "))
        yield "\n".join(command), "\n".join(lines)


def _unfinished(command: str) -> bool:
    """Whether the text of a here-document or of a quoted argument has not ended yet."""
    if here := re.search(r"<<\s*'?(\w+)'?", command):
        return command.splitlines()[-1] != here[1]
    return command.count("'") % 2 == 1


def matches(shown: str, output: str) -> bool:
    """Whether a document shows the output of a command."""
    if not shown.strip():
        return True

    def plain(text: str) -> str:
        lines = (line.rstrip() for line in _TIMES.sub("0", text).splitlines())
        return "\n".join(line for line in lines if line and not _PROGRESS.match(line))

    pattern = ".*".join(re.escape(part) for part in re.split(r"\s*\.\.\.\s*", plain(shown)))
    return re.fullmatch(rf"\s*{pattern}\s*", plain(output), re.DOTALL) is not None


def bash(command: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a command as a reader's shell does. What it leaves in the background is not waited for."""
    with tempfile.TemporaryFile() as output:
        with subprocess.Popen(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        ) as shell:
            try:
                code = shell.wait(SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(shell.pid, signal.SIGKILL)
                code = TIMED_OUT
        output.seek(0)
        return code, output.read().decode("utf-8", "replace")


class Reader:
    """Someone who follows documents in one folder with one interpreter."""

    def __init__(self, folder: Path, python: str = sys.executable, shell: Shell = bash) -> None:
        self.folder, self.python, self.shell = folder, python, shell
        for name in ("samples", "tools"):
            (folder / name).symlink_to(ROOT / name)
        programs = folder / ".programs"
        programs.mkdir()
        for name, command in (("python", ""), ("webwinnow", " -m webwinnow")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec {shlex.quote(python)}{command} "$@"\n', encoding="utf-8")
            program.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}

    def follow(self, text: str) -> Iterator[Result]:
        """Run the examples of a document in their order."""
        for example in examples(text):
            missing = [name for name in example.needs if not self.has(name)]
            if missing:
                yield Result(
                    line=example.line,
                    what=example.language,
                    problem=None,
                    skipped=f"{', '.join(missing)} is not installed",
                )
            elif example.language == "python":
                yield self.script(example)
            else:
                yield from self.console(example)

    def has(self, name: str) -> bool:
        """Whether the interpreter has a package, or the machine a program."""
        if shutil.which(name, path=self.environment["PATH"]):
            return True
        if self.python == sys.executable:
            return importlib.util.find_spec(name) is not None
        return subprocess.run([self.python, "-c", f"import {name}"], check=False, capture_output=True).returncode == 0

    def script(self, example: Example) -> Result:
        """Run Python blocks as one script."""
        script = self.folder / f"example-{example.line}.py"
        script.write_text(example.code, encoding="utf-8")
        code, output = bash(f"python {script.name}", self.folder, self.environment)
        expected = _PRINTED.findall(example.code)
        problem = None
        if code:
            problem = f"exit code {code}\n{output}"
        elif expected:
            printed = output.splitlines()
            same = [said == line or said.startswith(f"{line}:") for said, line in zip(expected, printed, strict=False)]
            if len(printed) != len(expected) or not all(same):
                problem = f"expected {expected}, printed {printed}"
        return Result(line=example.line, what="python", problem=problem)

    def console(self, example: Example) -> Iterator[Result]:
        """Run the commands of a block; after one that fails the others are not run."""
        for command, shown in commands(example.code):
            code, output = self.shell(command, self.folder, self.environment)
            problem = None
            if code:
                problem = f"exit code {code}\n{output}"
            elif not matches(shown, output):
                problem = f"the document shows\n{shown}\nand the command wrote\n{output}"
            yield Result(line=example.line, what=command, problem=problem)
            if problem:
                return


def followed(document: Path, python: str) -> tuple[list[Result], float]:
    """The results of a document in a folder of its own, and the seconds that it took."""
    with tempfile.TemporaryDirectory(prefix="webwinnow-reader-") as folder:
        began = time.monotonic()
        try:
            results = list(Reader(Path(folder), python).follow(document.read_text(encoding="utf-8")))
        finally:
            end_background(Path(folder))
        return results, time.monotonic() - began


def end_background(folder: Path) -> None:
    """End the servers that examples started, whose process ids they wrote to `*.pid`."""
    for file in folder.glob("*.pid"):
        process = file.read_text(encoding="ascii").strip()
        try:
            if Path(f"/proc/{process}/cwd").readlink() == folder.resolve():  # still the same process
                os.kill(int(process), signal.SIGTERM)
        except (OSError, ValueError):
            continue


def table_line(document: Path, results: Sequence[Result], seconds: float) -> str:
    """One line of the protocol."""
    name = os.path.relpath(document.resolve(), ROOT / "docs")
    done = [result for result in results if result.skipped is None]
    failed = [result for result in done if result.problem]
    skipped = sorted({result.skipped for result in results if result.skipped})
    outcome = "as written" if not failed else f"line {failed[0].line} differs"
    outcome += f"; not run here: {'; '.join(skipped)}" if skipped else ""
    return f"| [{name}]({name}) | {len(done)} | {seconds:.0f} s | {outcome} |"


def main() -> int:
    """Follow the documents and print what became of each; with --table, put the lines into the protocol."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path, nargs="+")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has webwinnow installed")
    parser.add_argument("--table", type=Path, help="a document whose table is replaced by the results")
    given = parser.parse_args()
    lines, failures = ["| guide | examples | time | outcome |", "|---|---|---|---|"], 0
    for document in given.documents:
        results, seconds = followed(document, given.python)
        lines.append(table_line(document, results, seconds))
        print(lines[-1], flush=True)
        for result in results:
            if result.problem:
                failures += 1
                print(f"{document}:{result.line}: {result.what}\n{result.problem}", file=sys.stderr)
    if given.table:
        text = given.table.read_text(encoding="utf-8")
        between = "(?<=<!-- begin results -->\n).*(?=<!-- end results -->)"
        table = "\n".join(lines) + "\n"
        given.table.write_text(re.sub(between, lambda _: table, text, flags=re.DOTALL), encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
