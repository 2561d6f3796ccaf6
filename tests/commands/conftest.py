"""Small generated crawls, and the real command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from warmcommand import run_command


def generated_page(site: str, number: int) -> dict[str, str]:
    """A page with its site's menu and footer around a unique text."""
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
def webwinnow() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the real command to completion."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = os.environ | options.pop("env", {})
        given = {"capture_output": True} | options
        return run_command(*arguments, text=True, timeout=240, env=environment, **given)

    return run


HELD_COMMAND = """
import pathlib, sys
from webwinnow.cli import main
from webwinnow.collection.pagestore import CollectionStore

folder, method, calls = pathlib.Path(sys.argv.pop(1)), sys.argv.pop(1), int(sys.argv.pop(1))
original, left = getattr(CollectionStore, method), calls

def held(self, *given, **options):
    global left
    original(self, *given, **options)
    left -= 1
    if left == 0:
        (folder / "held").touch()
        (folder / "gate").read_bytes()  # a FIFO: waits until the test opens it

setattr(CollectionStore, method, held)
main()
"""
HOLD_SECONDS = 240


@pytest.fixture
def held_run(tmp_path: Path) -> Callable[..., Any]:
    """Start a run that stops after a number of calls of a store's method, and continues if the test calls `release`.

    A run that the test kills or interrupts can therefore not end earlier.
    """

    @contextmanager
    def hold(*arguments: object, after: tuple[str, int], **options: Any) -> Iterator[Any]:
        folder = tmp_path / "hold"
        folder.mkdir()
        os.mkfifo(folder / "gate")
        command = [sys.executable, "-c", HELD_COMMAND, str(folder), after[0], str(after[1]), *map(str, arguments)]
        heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
        process = subprocess.Popen(command, text=True, **options)
        signal.signal(signal.SIGINT, heard)
        with process:
            deadline = time.monotonic() + HOLD_SECONDS
            while not (folder / "held").exists():
                assert process.poll() is None, "the run ended before it was held"
                assert time.monotonic() < deadline, "waited too long"
                time.sleep(0.01)
            process.release = lambda: (folder / "gate").write_bytes(b"")  # type: ignore[attr-defined]
            try:
                yield process
            except BaseException:
                process.kill()
                raise

    return hold


@pytest.fixture
def records() -> Callable[[Path], list[dict[str, Any]]]:
    return lambda path: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
