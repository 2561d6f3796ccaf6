"""Most tests run the command through `warmcommand`: it must do what a new interpreter does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import warmcommand
from warmcommand import run_command

PAGE = "<title>Größe</title><p>A sentence that is on the page, with ä and 漢.</p>"


def cold(*arguments: object, **options: Any) -> subprocess.CompletedProcess[Any]:
    return subprocess.run([sys.executable, "-m", "webwinnow", *map(str, arguments)], check=False, **options)


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (["--version"], {}),
        (["page", "-", "--method", "none"], {"input": PAGE, "encoding": "utf-8"}),
        (["page", "-", "--format", "json"], {"input": PAGE.encode()}),
        (["page", "page.html"], {}),
        (["clean", "nowhere.jsonl", "-o", "out.jsonl"], {}),
        (["pgae"], {}),
        (["clean", "--help"], {"env": os.environ | {"COLUMNS": "70", "NO_COLOR": "1"}, "text": True}),
        (
            ["page", "-", "--method", "none"],
            {"input": PAGE.encode(), "env": os.environ | {"PYTHONIOENCODING": "ascii"}},
        ),
    ],
)
def test_exit_code_and_output_are_those_of_a_new_interpreter(
    arguments: list[str], given: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    options = {"capture_output": True, "cwd": tmp_path, **given}
    warm, usual = run_command(*arguments, **options), cold(*arguments, **options)
    assert (warm.returncode, warm.stdout, warm.stderr) == (usual.returncode, usual.stdout, usual.stderr)
    assert warm.stdout or warm.stderr


def test_a_run_is_a_process_with_its_own_workers_and_files(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    for run, name in ((run_command, "warm"), (cold, "cold")):
        with (tmp_path / f"{name}.txt").open("wb") as file:
            given = ("clean", "page.html", "-o", f"{name}.jsonl", "--jobs", "1")
            assert run(*given, cwd=tmp_path, stdout=file, stderr=subprocess.STDOUT).returncode == 0
    for kind in ("jsonl", "txt"):
        warm, usual = ((tmp_path / f"{name}.{kind}").read_text(encoding="utf-8") for name in ("warm", "cold"))
        assert without_time(warm) == without_time(usual) != ""


def without_time(summary: str) -> str:
    return re.sub(r"in [\d.]+ s, [\d,]+ pages/s", "", summary)


def test_commands_in_a_row_have_different_hash_seeds() -> None:
    seen = set()
    for server in (next(warmcommand._servers()), next(warmcommand._servers())):
        variables = Path(f"/proc/{server.process.pid}/environ").read_bytes().split(b"\0")
        seen |= {variable for variable in variables if variable.startswith(b"PYTHONHASHSEED=")}
    assert len(seen) == 2


def test_a_run_that_takes_too_long_is_killed_and_the_next_one_works() -> None:
    read, write = os.pipe()  # nothing is written: the command waits
    with pytest.raises(subprocess.TimeoutExpired):
        run_command("page", "-", stdin=read, timeout=0.5, capture_output=True)
    os.close(read)
    os.close(write)
    for _ in warmcommand.HASH_SEEDS:
        assert run_command("--version", capture_output=True).returncode == 0
