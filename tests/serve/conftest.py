"""A real server in its own process, and small crawls to upload."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi", reason="the extra `serve` is not installed")

START_SECONDS = 240
JOB_SECONDS = 480
ANNOUNCED = re.compile(r"http://\S+:(\d+)/ serves .*\n")
WORDS = "river stone market winter letter garden engine window history music paper field copper bridge valley".split()


def prose(chance: random.Random, words: int) -> str:
    ends = ("ed", "er", "ing", "less", "like", "ly", "s", "side", "ward", "work")
    return " ".join(chance.choice(WORDS) + chance.choice(ends) for _ in range(words)).capitalize() + "."


def article(number: int) -> str:
    chance = random.Random(number)
    said = "".join(f"<p>{prose(chance, 60)}</p>" for _ in range(4))
    return f"""<!doctype html><html lang=en><title>Report {number}</title><body>
      <ul class=menu><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/about>About us</a></ul>
      <div class=main><h1>Report {number} on {prose(chance, 3)}</h1>{said}</div>
      <div class=foot><p>All rights reserved by the example company, founded in another century.</p></div>"""


def crawl(pages: int, site: str = "news.example") -> bytes:
    rows = ({"url": f"http://{site}/{n}.html", "page_id": f"p{n}", "html": article(n)} for n in range(pages))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


class Server:
    """A server and a client of it."""

    def __init__(self, folder: Path, *options: str, token: str | None = None) -> None:
        self.folder, self.options, self.token = folder, options, token
        self.port, self.base = 0, ""
        self.process: subprocess.Popen[bytes] | None = None
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.client = httpx.Client(timeout=240, headers=headers)
        self.log = folder.with_name(folder.name + ".log")

    def start(self) -> Server:
        """Start the server on a port that the system chooses, another one each time."""
        command = [sys.executable, "-m", "webwinnow", "serve", "--folder", str(self.folder), "--port", "0"]
        env = os.environ | ({} if self.token is None else {"WEBWINNOW_TOKEN": self.token})
        with self.log.open("ab") as log:
            before = log.tell()
            self.process = subprocess.Popen([*command, "--jobs", "1", *self.options], stderr=log, env=env)
        self.port = self._announced_port(before)
        self.base = f"http://127.0.0.1:{self.port}"
        self.client.base_url = self.base
        assert self.client.get("/health").status_code == 200  # it listens: this waits until it serves
        return self

    def _announced_port(self, before: int) -> int:
        """The port in the log, which had `before` bytes when the server was started."""
        assert self.process is not None
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            has_ended = self.process.poll() is not None
            written = self.log.read_bytes()[before:].decode()
            if announced := ANNOUNCED.search(written):
                return int(announced[1])
            assert not has_ended, written
            time.sleep(0.05)
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        """Kill the server as `kill -9` does, without cleanup."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.client.close()
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(START_SECONDS)

    def hand_in(self, body: bytes, name: str = "crawl.jsonl", where: str = "/jobs", **options: Any) -> dict[str, Any]:
        asked = {"name": name, **options}
        answer = self.client.post(
            where, content=body, params=asked, headers={"Content-Type": "application/octet-stream"}
        )
        assert answer.status_code == 201, answer.text
        state: dict[str, Any] = answer.json()
        return state

    def job(self, name: str) -> dict[str, Any]:
        state: dict[str, Any] = self.client.get(f"/jobs/{name}").json()
        return state

    def wait_for_records(self, name: str) -> dict[str, Any]:
        """Wait until the cleaning step is done; the report, the index and the clusters come later."""
        state = self.wait(name, lambda state: "clean" in state["steps"] or state["status"] == "failed")
        assert state["steps"].get("clean", "not yet") is None, state
        return state

    def wait(self, name: str, until: Callable[[dict[str, Any]], bool] | None = None) -> dict[str, Any]:
        over = until or (lambda state: state["status"] not in ("queued", "running"))
        latest = time.monotonic() + JOB_SECONDS
        while time.monotonic() < latest:
            state = self.job(name)
            if over(state):
                return state
            time.sleep(0.05)
        raise AssertionError(f"the job is not over: {state}")


@pytest.fixture(scope="session")
def make_crawl() -> Callable[..., bytes]:
    return crawl


@pytest.fixture(scope="session")
def make_page() -> Callable[[int], str]:
    return article


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers that end with the test."""
    started: list[Server] = []

    def make(*options: str, token: str | None = None) -> Server:
        server = Server(tmp_path / f"data{len(started)}", *options, token=token)
        started.append(server)
        return server.start()

    yield make
    for server in started:
        server.stop()


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the shared server may read, with a link out of it, and one to itself."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "crawl.jsonl").write_bytes(crawl(3))
    (folder / "out").symlink_to("/etc")
    (folder / "loop").symlink_to("loop")
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, inputs: Path) -> Iterator[Server]:
    """One server for all tests that do not change its state."""
    options = ("--inputs", str(inputs), "--max-bytes", "300000", "--upload-bytes", "3000000")
    running = Server(tmp_path_factory.mktemp("service") / "data", *options).start()
    yield running
    running.stop()


@pytest.fixture(scope="session")
def done(server: Server) -> dict[str, Any]:
    """A finished job."""
    state = server.wait(server.hand_in(crawl(12), "news.jsonl")["id"])
    assert state["status"] == "done", state
    return state
