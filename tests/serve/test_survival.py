"""Jobs survive the server: kill -9, restart, cancel, a full queue."""

from __future__ import annotations

import fcntl
import json
import random
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_a_killed_server_continues_with_its_job(
    make_server: Callable[..., Any], make_crawl: Callable[..., bytes]
) -> None:
    server = make_server()
    done = server.wait_for_records(server.hand_in(make_crawl(2), "first.jsonl")["id"])
    before = server.client.get(f"/jobs/{done['id']}/records").content
    body = make_crawl(150)
    job = server.hand_in(body, "second.jsonl")["id"]
    server.wait(job, lambda state: state["step"] == "clean")
    server.kill()
    server.start()
    assert server.client.get(f"/jobs/{done['id']}/records").content == before  # no finished work is lost
    assert server.client.get(f"/jobs/{job}/records").status_code in (404, 200)
    server.wait_for_records(job)
    records = [json.loads(line) for line in server.client.get(f"/jobs/{job}/records").text.splitlines()]
    assert sorted(record["page_id"] for record in records) == sorted(f"p{n}" for n in range(150))


@pytest.mark.slow  # three servers and two jobs for each seed
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_server_killed_at_random_moments_makes_the_bytes_of_one_that_was_not(
    make_server: Callable[..., Any], make_crawl: Callable[..., bytes], seed: int
) -> None:
    dice, server, body = random.Random(seed), make_server(), make_crawl(150)
    whole = server.client.get(f"/jobs/{server.wait_for_records(server.hand_in(body)['id'])['id']}/records").content
    job = server.hand_in(body)["id"]
    for _ in range(2):
        parts, files = dice.randint(0, 40), server.folder / "jobs" / job
        server.wait(job, lambda state: "clean" in state["steps"] or len(list(files.rglob("*"))) >= parts)  # noqa: B023
        server.kill()
        server.start()
    server.wait_for_records(job)
    assert server.client.get(f"/jobs/{job}/records").content == whole
    assert sorted(json.loads(line)["page_id"] for line in whole.splitlines()) == sorted(f"p{n}" for n in range(150))


def test_a_half_written_result_is_never_served(
    make_server: Callable[..., Any], make_crawl: Callable[..., bytes]
) -> None:
    server = make_server()
    job = server.hand_in(make_crawl(60))["id"]
    seen = set()

    def looked(state: dict[str, Any]) -> bool:
        answer = server.client.get(f"/jobs/{job}/records")
        seen.add((answer.status_code, len(answer.text.splitlines()) if answer.status_code == 200 else 0))
        return "clean" in state["steps"]

    server.wait(job, looked)
    server.wait_for_records(job)
    assert seen <= {(404, 0), (200, 60)}
    assert (404, 0) in seen


def test_a_running_job_can_be_cancelled(make_server: Callable[..., Any], make_crawl: Callable[..., bytes]) -> None:
    server = make_server("--queue", "2")
    running = server.hand_in(make_crawl(300))["id"]
    held = (server.folder / "jobs" / running / "lock").open("w")
    fcntl.flock(held, fcntl.LOCK_EX)  # before the job's process has it: it waits for this, so it cannot end
    waiting = server.hand_in(make_crawl(1))["id"]
    refused = server.client.post("/jobs", content=b"x", headers={"Content-Type": "application/octet-stream"})
    assert refused.status_code == 429  # two are in the queue
    assert int(refused.headers["retry-after"]) > 0
    server.wait(running, lambda state: state["status"] == "running")
    assert server.client.delete(f"/jobs/{running}").json()["status"] == "cancelled"
    server.wait_for_records(waiting)
    held.close()
    assert server.job(running)["status"] == "cancelled"
    assert server.client.get(f"/jobs/{running}/records").status_code == 404


def test_a_stopped_server_leaves_no_process_behind(
    make_server: Callable[..., Any], make_crawl: Callable[..., bytes]
) -> None:
    server = make_server()
    job = server.hand_in(make_crawl(300))["id"]
    server.wait(job, lambda state: state["step"] is not None)
    server.process.terminate()
    server.process.wait(240)
    lock = server.folder / "jobs" / job / "lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # the job's process gives up: otherwise this would wait forever
    server.start()
    server.wait_for_records(job)


def served(*options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "webwinnow", "serve", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)


def test_a_port_in_use_is_reported_in_a_sentence_and_nothing_is_announced(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = served("--folder", tmp_path, "--port", port)
    assert done.returncode == 2
    assert done.stderr == f"webwinnow: port {port} of 127.0.0.1 is in use; choose another with --port\n"


def test_a_folder_that_is_a_file_is_reported_and_nothing_is_announced(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    done = served("--folder", tmp_path / "file", "--port", "0")
    assert done.returncode == 2
    assert "--folder" in done.stderr
    assert "http://" not in done.stderr


def test_an_address_of_another_machine_is_reported(tmp_path: Path) -> None:
    done = served("--folder", tmp_path, "--host", "192.0.2.1", "--token-file", _token(tmp_path))
    assert done.returncode == 2
    assert done.stderr == "webwinnow: 192.0.2.1 is no address of this machine; choose another with --host\n"


def test_the_port_that_the_system_chose_is_announced(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "webwinnow", "serve", "--folder", str(tmp_path), "--port", "0", "--jobs", "1"]
    with subprocess.Popen([*command], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        port = int(process.stderr.readline().split("http://127.0.0.1:")[1].split("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=240) as wire:
            wire.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert wire.recv(12, socket.MSG_WAITALL) == b"HTTP/1.1 200"
        process.terminate()


def _token(folder: Path) -> Path:
    path = folder / "token"
    path.write_text("a-token-of-some-length")
    return path
