"""The examples of the documentation run and print what the documents show."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import run_examples
from docnames import ROOT
from run_examples import Reader, bash, blocks, commands, end_background, examples, matches
from warmcommand import run_command

DOCUMENTS = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if any(blocks(path.read_text(encoding="utf-8")))),
]
QUICK = {
    "README.md",
    "start.md",
    "guides/language-model.md",
    "guides/classes.md",
    "concepts/page-tree.md",
    "concepts/site-tree.md",
    "concepts/verdict.md",
    "denoising.md",
    "hmt.md",
}
"""Documents whose examples `make test` runs; the others take a minute of one core and are left to `make test-all`."""


def warm(command: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a plain call of webwinnow in a forked process, and anything else in the shell."""
    if not command.startswith("webwinnow ") or set(command) & set("|<>&;$\n*"):
        return bash(command, folder, environment)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
    done = run_command(*shlex.split(command)[1:], cwd=folder, env=environment, **streams)
    return done.returncode, done.stdout.decode()


def name(document: Path) -> str:
    return str(document.relative_to(ROOT if document.parent == ROOT else ROOT / "docs"))


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(document, id=name(document), marks=[] if name(document) in QUICK else [pytest.mark.slow])
        for document in DOCUMENTS
    ],
)
def test_examples_do_what_the_document_says(document: Path, tmp_path: Path) -> None:
    try:
        results = list(Reader(tmp_path, sys.executable, warm).follow(document.read_text(encoding="utf-8")))
    finally:
        end_background(tmp_path)
    problems = [
        f"{name(document)}:{result.line}: {result.what}\n{result.problem}" for result in results if result.problem
    ]
    assert problems == []
    if results and all(result.skipped for result in results):
        pytest.skip("; ".join(sorted({str(result.skipped) for result in results})))


def test_examples_that_are_not_run_have_a_reason_and_are_few() -> None:
    excluded = [
        block for document in DOCUMENTS for block in blocks(document.read_text(encoding="utf-8")) if block.not_run
    ]
    assert all(len(str(block.not_run)) > 10 for block in excluded)
    assert len(excluded) <= 12


DOCUMENT = """
```console
$ printf 'a 1\\nb 2\\n'
a 1
b ...
$ false
```
<!-- not run: it needs a network -->
```console
$ curl http://a.example
```
```python
x = 1
```

```python
print(x)  # 2
```
<!-- needs: a_package_that_nobody_has -->
```python
import a_package_that_nobody_has
```
"""


def test_the_server_of_the_guide_to_mining_needs_no_extra() -> None:
    """The guide names the extra `crawl` only; pyarrow is for Parquet."""
    without = "import runpy, sys; sys.modules['pyarrow'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"
    command = [sys.executable, "-c", without, str(ROOT / "tools" / "serve_sites.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--linked" in done.stdout


def test_a_wrong_example_is_found_and_its_reason_shown(tmp_path: Path) -> None:
    results = list(Reader(tmp_path).follow(DOCUMENT))
    assert [(result.what, bool(result.problem), bool(result.skipped)) for result in results] == [
        ("printf 'a 1\\nb 2\\n'", False, False),
        ("false", True, False),
        ("python", True, False),
        ("python", False, True),
    ]
    assert "expected ['2'], printed ['1']" in str(results[2].problem)


def test_an_example_that_hangs_ends_and_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_examples, "SECONDS", 0.2)
    (result,) = Reader(tmp_path).follow("```console\n$ sleep 1000 | cat\n```\n")
    assert str(result.problem).startswith("exit code 124")


def test_a_server_that_an_example_left_is_ended(tmp_path: Path) -> None:
    (result,) = Reader(tmp_path).follow("```console\n$ sleep 1000 & echo $! > server.pid\n```\n")
    assert result.problem is None
    process = int((tmp_path / "server.pid").read_text(encoding="ascii"))
    end_background(tmp_path)
    gone = Path(f"/proc/{process}/cwd")
    with suppress(OSError):  # it may go between two looks
        while gone.exists() and "zombie" not in Path(f"/proc/{process}/status").read_text(encoding="ascii"):
            os.sched_yield()


def test_commands_continue_after_a_backslash_and_in_a_here_document() -> None:
    code = "$ webwinnow clean \\\n    -o out\n3 pages\n$ cat > a <<'END'\nline\nEND\n$ ls\n"
    assert list(commands(code)) == [
        ("webwinnow clean \\\n    -o out", "3 pages"),
        ("cat > a <<'END'\nline\nEND", ""),
        ("ls", ""),
    ]


def test_commands_of_several_lines_are_copied_whole() -> None:
    """The button of the site copies lines after a backslash; those of a here-document look like output."""
    for document in DOCUMENTS:
        for block in blocks(document.read_text(encoding="utf-8")):
            for command, _ in commands(block.code) if block.language == "console" else ():
                assert all(line.endswith("\\") for line in command.splitlines()[:-1]), (document.name, command)


def test_output_is_compared_without_times_and_progress() -> None:
    shown = "3 pages in 1.6 s, 81 pages/s\n  ...\nkept 2"
    assert matches(shown, "webwinnow: cleaning site by site: 1 of 30\n3 pages in 9 s, 1 pages/s\nx\ny\nkept 2\n")
    assert not matches(shown, "3 pages in 9 s, 1 pages/s\nx\nkept 3\n")
    assert not matches("a ... c", "a b d")


def test_python_blocks_in_a_row_are_one_script() -> None:
    languages = [(example.language, example.code.count("\n")) for example in examples(DOCUMENT)]
    assert languages == [("console", 4), ("python", 3), ("python", 1)]
