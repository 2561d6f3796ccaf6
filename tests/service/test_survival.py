"""Jobs outlive the server: kill -9, restart, cancel, a queue that is full."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from typing import Any


def test_a_killed_server_goes_on_with_its_job(
    make_server: Callable[..., Any], make_crawl: Callable[..., bytes]
) -> None:
    server = make_server()
    done = server.wait_for_records(server.hand_in(make_crawl(2), "first.jsonl")["id"])
    before = server.client.get(f"/jobs/{done['id']}/records").content
    body = make_crawl(150)
    job = server.hand_in(body, "second.jsonl")["id"]
    server.wait(job, lambda told: told["step"] == "clean")
    server.kill()
    server.start()
    assert server.client.get(f"/jobs/{done['id']}/records").content == before  # nothing that was finished is lost
    assert server.client.get(f"/jobs/{job}/records").status_code in (404, 200)
    server.wait_for_records(job)
    records = [json.loads(line) for line in server.client.get(f"/jobs/{job}/records").text.splitlines()]
    assert sorted(record["page_id"] for record in records) == sorted(f"p{n}" for n in range(150))


def test_a_half_written_result_is_never_served(
    make_server: Callable[..., Any], make_crawl: Callable[..., bytes]
) -> None:
    server = make_server()
    job = server.hand_in(make_crawl(60))["id"]
    seen = set()

    def looked(told: dict[str, Any]) -> bool:
        answer = server.client.get(f"/jobs/{job}/records")
        seen.add((answer.status_code, len(answer.text.splitlines()) if answer.status_code == 200 else 0))
        return "clean" in told["steps"]

    server.wait(job, looked)
    server.wait_for_records(job)
    assert seen <= {(404, 0), (200, 60)}
    assert (404, 0) in seen


def test_a_running_job_can_be_cancelled(make_server: Callable[..., Any], make_crawl: Callable[..., bytes]) -> None:
    server = make_server("--queue", "2")
    running = server.hand_in(make_crawl(300))["id"]
    waiting = server.hand_in(make_crawl(1))["id"]
    refused = server.client.post("/jobs", content=b"x", headers={"Content-Type": "application/octet-stream"})
    assert refused.status_code == 429  # two are in the queue
    server.wait(running, lambda told: told["status"] == "running" and told["step"] is not None)
    assert server.client.delete(f"/jobs/{running}").json()["status"] == "cancelled"
    server.wait_for_records(waiting)
    assert server.job(running)["status"] == "cancelled"
    assert server.client.get(f"/jobs/{running}/records").status_code == 404


def test_a_stopped_server_leaves_no_process_behind(
    make_server: Callable[..., Any], make_crawl: Callable[..., bytes]
) -> None:
    server = make_server()
    job = server.hand_in(make_crawl(300))["id"]
    server.wait(job, lambda told: told["step"] is not None)
    server.process.terminate()
    server.process.wait(30)
    lock = server.folder / "jobs" / job / "lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # given up by the job's process: this would wait for ever otherwise
    server.start()
    server.wait_for_records(job)
