"""Jobs are accepted and run despite faults: a full disk, no process available, a cancel in between."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from ownloop import Answer, awaited
from plantedmodules import plant

from webwinnow.errors import WebwinnowError
from webwinnow.run import workerpool as pool_module
from webwinnow.serve import api, requests
from webwinnow.serve import jobs as jobs_module
from webwinnow.serve.app import create_app
from webwinnow.serve.jobs import Job, JobRunner, JobState, JobStore, QueueFull
from webwinnow.serve.requestworkers import RequestWorkers
from webwinnow.serve.settings import ServiceSettings

WAIT_SECONDS = 240.0


def client_of(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


def asked(app: Any, method: str, path: str, **given: Any) -> httpx.Response:
    """Return the response of an application, without a server."""

    async def ask() -> httpx.Response:
        async with client_of(app) as client:
            return await client.request(method, path, **given)

    return alone(ask())


def alone(work: Coroutine[Any, Any, Answer]) -> Answer:
    """What a coroutine returns, if that does not take forever."""
    return awaited(asyncio.wait_for(work, WAIT_SECONDS))


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.01)


def queued(store: JobStore, kind: str = "clean", inputs: tuple[str, ...] = ("/nowhere",)) -> Job:
    name, _ = store.new_folder()
    job = Job(id=name, kind=kind, name="x", created=time.time(), inputs=inputs)  # type: ignore[arg-type]
    store.add(job)
    return job


def test_a_job_whose_process_cannot_be_made_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = JobStore(tmp_path / "jobs")
    runner = JobRunner(store, ServiceSettings(folder=tmp_path))

    async def refuse(*_: Any, **__: Any) -> Any:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refuse)
    both = queued(store), queued(store)

    async def work() -> None:
        runner.start()
        await until(lambda: all(store.state(job).status == "failed" for job in both))
        await runner.stop()

    alone(work())
    assert "temporarily unavailable" in (store.state(both[0]).error or "")


def test_a_job_imports_no_module_from_the_folder_of_the_server(
    tmp_path: Path, make_crawl: Callable[..., bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = tmp_path / "crawl.jsonl"
    crawl.write_bytes(make_crawl(12))
    imported = plant(tmp_path / "planted")
    monkeypatch.chdir(tmp_path / "planted")
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    store = JobStore(tmp_path / "jobs")
    runner = JobRunner(store, ServiceSettings(folder=tmp_path))
    job = queued(store, inputs=(str(crawl),))

    async def work() -> None:
        runner.start()
        await until(lambda: store.state(job).status not in ("queued", "running"))
        await runner.stop()

    alone(work())
    assert imported() == []
    assert store.state(job).status == "done"


def test_on_a_full_disk_jobs_fail_and_the_queue_does_not_spin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = JobStore(tmp_path / "jobs")
    runner = JobRunner(store, ServiceSettings(folder=tmp_path))
    job, writes, rests = queued(store), [], []

    class Wake(asyncio.Event):
        async def wait(self) -> Literal[True]:
            rests.append(len(writes))
            return await super().wait()

    def full(path: Path, _: bytes) -> None:
        writes.append(path)
        if len(writes) > 10:
            rests.append(len(writes))
            pytest.fail("the queue spins")  # ends its task
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(jobs_module, "write_file", full)
    runner._wake = Wake()

    async def work() -> None:
        runner.start()
        await until(lambda: bool(rests))
        runner._wake.set()  # as when another job comes
        await until(lambda: len(rests) > 1 or len(writes) > 10)
        await runner.stop()

    alone(work())
    assert store.state(job).status == "failed"
    assert rests == [2, 2]  # it was written as it was started and as it failed, and not again


def test_a_job_that_cannot_be_written_down_leaves_no_ghost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = JobStore(tmp_path / "jobs")
    written = jobs_module.write_file

    def full(path: Path, data: bytes) -> None:
        if path.name == "job.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written(path, data)

    monkeypatch.setattr(jobs_module, "write_file", full)
    with pytest.raises(OSError, match="space"):
        queued(store)
    for folder in list(store.folder.iterdir()):
        store.give_up(folder.name)
    assert not list(store)


def test_an_upload_to_a_full_disk_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    app = create_app(ServiceSettings(folder=tmp_path))
    monkeypatch.setattr(jobs_module, "write_file", full)
    answer = asked(app, "POST", "/jobs", content=b"<p>Hello")
    assert (answer.status_code, "full" in answer.json()["error"]) == (507, True)
    assert not list((tmp_path / "jobs").iterdir())


def test_a_job_is_cancelled_though_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    app = create_app(ServiceSettings(folder=tmp_path))
    job = queued(app.state.context.jobs)
    monkeypatch.setattr(jobs_module, "write_file", full)
    answer = asked(app, "DELETE", f"/jobs/{job.id}")
    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")


def test_a_job_cancelled_while_its_process_is_being_made_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = JobStore(tmp_path / "jobs")
    runner = JobRunner(store, ServiceSettings(folder=tmp_path))
    job, real, made = queued(store), asyncio.create_subprocess_exec, []

    async def cancelled_meanwhile(*_: str, **options: Any) -> Any:
        process = await real("sleep", str(4 * WAIT_SECONDS), **options)
        runner.cancel(job)
        made.append(process)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", cancelled_meanwhile)

    async def work() -> None:
        runner.start()
        try:
            await until(lambda: bool(made))
            await asyncio.wait_for(made[0].wait(), WAIT_SECONDS)
        finally:
            await runner.stop()

    alone(work())
    assert made[0].returncode == -signal.SIGKILL
    assert store.state(job).status == "cancelled"


def test_a_removed_job_leaves_the_list_in_the_event_loop(tmp_path: Path) -> None:
    """Another thread could change the list while the loop iterates over it."""
    app = create_app(ServiceSettings(folder=tmp_path))
    store: JobStore = app.state.context.jobs
    job, threads = queued(store), []
    store.set_state(job, JobState(status="done"))

    class Watched(dict[str, Any]):
        def pop(self, *given: Any) -> Any:
            threads.append(threading.current_thread().name)
            return super().pop(*given)

    store._jobs = Watched(store._jobs)
    assert asked(app, "DELETE", f"/jobs/{job.id}").status_code == 200
    assert not store.path(job).exists()
    assert threads
    assert not [name for name in threads if name.startswith("AnyIO worker")]


def test_long_json_is_refused_with_a_word_on_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "LONGEST_JSON", 1_000)
    app = create_app(ServiceSettings(folder=tmp_path))
    answer = asked(app, "POST", "/jobs", json={"pages": [{"url": "http://a.example/", "html": "x" * 1_000}]})
    assert answer.status_code == 413
    assert "as a file" in answer.json()["error"]
    assert not list((tmp_path / "jobs").iterdir())
    short = {"pages": [{"url": "http://a.example/", "html": "x" * 100}]}
    assert asked(app, "POST", "/jobs", json=short).status_code == 201


@pytest.mark.parametrize("media", [b"application/json", b"application/octet-stream"])
def test_a_body_that_breaks_off_is_no_failure_of_the_server(tmp_path: Path, media: bytes) -> None:
    app = create_app(ServiceSettings(folder=tmp_path))
    messages: list[Any] = []
    coming = iter([{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}])
    headers = [(b"host", b"localhost"), (b"content-type", media), (b"content-length", b"10")]
    scope = {"type": "http", "method": "POST", "path": "/jobs", "query_string": b"", "headers": headers}

    async def receive() -> Any:
        return next(coming)

    async def send(message: Any) -> None:
        messages.append(message)

    alone(app(scope, receive, send))  # type: ignore[arg-type]
    assert messages[0]["status"] == 400
    assert not list((tmp_path / "jobs").iterdir())


def test_uploads_under_way_count_in_the_queue(tmp_path: Path) -> None:
    app = create_app(ServiceSettings(folder=tmp_path, queued_jobs=1))
    second: list[tuple[int, str]] = []

    async def slow() -> Any:
        yield b"<p>"
        async with client_of(app) as client:
            refused = await client.post("/jobs", content=b"<p>x")
            second.append((refused.status_code, refused.headers["retry-after"]))
        yield b"x"

    assert asked(app, "POST", "/jobs", content=slow()).status_code == 201
    assert second == [(429, "30")]
    with pytest.raises(QueueFull), app.state.context.runner.taking():
        pass  # now the job itself has the place


def test_pages_beyond_the_limits_are_refused_until_the_next_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = create_app(ServiceSettings(folder=tmp_path, waiting_pages=1))
    monkeypatch.setattr(RequestWorkers, "waiting", 1)
    refused = asked(app, "POST", "/page", json={"html": "<p>x"})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    app.state.context.fetching._value = 0
    refused = asked(app, "POST", "/page", json={"url": "http://example.org/"})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")


def test_an_upload_that_fills_the_disk_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "DISK_CHECKED_EVERY", 1_000, raising=False)
    monkeypatch.setattr(api, "WRITE_AT_ONCE", 100)
    app = create_app(ServiceSettings(folder=tmp_path, disk_bytes=10_000))

    async def long() -> Any:
        for _ in range(1_000):
            yield b"x" * 1_000

    answer = asked(app, "POST", "/jobs", content=long())
    assert answer.status_code == 507
    assert not list((tmp_path / "jobs").iterdir())


def test_a_worker_that_cannot_start_once_fails_its_pages_and_cleans_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, refused = pool_module._Worker.start, []

    def start(worker: Any, settings: Any) -> None:
        if not refused:
            refused.append(worker)
            raise WebwinnowError("a worker process cannot start: no memory")
        real(worker, settings)

    monkeypatch.setattr(pool_module._Worker, "start", start)
    app = create_app(ServiceSettings(folder=tmp_path, workers=1))

    async def ask_twice() -> list[httpx.Response]:
        async with app.router.lifespan_context(app), client_of(app) as client:
            return [await client.post("/page", json={"html": "<p>x"}) for _ in range(2)]

    failed, cleaned = alone(ask_twice())
    assert cleaned.status_code == 200
    assert failed.status_code == 503
    assert "try again" in failed.json()["error"]
