"""Small generated crawls, and the real command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest


def generated_page(site: str, number: int) -> dict[str, str]:
    """A page with a menu and a footer of its site around a text of its own."""
    menu = "".join(f"<li><a href='/s{k}'>{site} section {k}</a>" for k in range(6))
    story = " ".join(f"word{number * 7 + k} of story {number}" for k in range(40))
    html = (
        f"<!doctype html><title>Page {number} of {site}</title><body><ul class=menu>{menu}</ul>"
        f"<main><h1>Story {number}</h1><p>{story}</p></main><footer>About {site}</footer>"
    )
    return {"url": f"http://{site}/p/{number}", "page_id": f"{site}/{number}", "html": html}


@pytest.fixture
def make_pages() -> Callable[[str, int], list[dict[str, str]]]:
    return lambda site, count: [generated_page(site, number) for number in range(count)]


@pytest.fixture
def write_crawl(tmp_path: Path) -> Callable[[Iterable[dict[str, Any]], str], Path]:
    def write(pages: Iterable[dict[str, Any]], name: str = "crawl.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
        return path

    return write


@pytest.fixture
def command() -> list[str]:
    return [sys.executable, "-c", "from webwinnow.cli import main; main()"]


@pytest.fixture
def webwinnow(command: list[str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the real command to its end."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = os.environ | options.pop("env", {})
        given = {"capture_output": True} | options
        return subprocess.run(
            [*command, *map(str, arguments)], text=True, check=False, timeout=240, env=environment, **given
        )

    return run


@pytest.fixture
def records() -> Callable[[Path], list[dict[str, Any]]]:
    return lambda path: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
