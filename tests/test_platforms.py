"""The library and `webwinnow page` work on systems without the modules and functions of Linux."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT_LINUX = """
import os, sys
for name in ("fcntl", "resource"):
    sys.modules[name] = None  # importing it raises ImportError
del os.sched_getaffinity
import webwinnow
assert webwinnow.extract("<p>A sentence of the page.</p>").strip() == "A sentence of the page."
sys.argv[0] = "webwinnow"
from webwinnow.__main__ import main
main()
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_LINUX, *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text("<!doctype html><title>T</title><p>" + "One sentence of the page. " * 20, encoding="utf-8")
    return path


def test_page_works_without_fcntl_resource_and_sched_getaffinity(page: Path) -> None:
    done = run("page", str(page))
    assert done.returncode == 0, done.stderr
    assert "One sentence of the page." in done.stdout


def test_a_run_over_many_pages_says_what_it_needs(page: Path, tmp_path: Path) -> None:
    done = run("clean", str(page), "-o", str(tmp_path / "out.jsonl"))
    assert done.returncode == 2
    assert "needs Linux or macOS" in done.stderr
