"""The queue of jobs outlives what goes wrong around it: a full disk, no process to be had, a cancel in between."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from webwinnow.service import jobs as jobs_module
from webwinnow.service.app import create_app
from webwinnow.service.jobs import Job, JobState, JobStore
from webwinnow.service.runner import JobRunner
from webwinnow.service.settings import ServiceSettings

WAIT_SECONDS = 20.0


def alone(work: Coroutine[Any, Any, None]) -> None:
    """Run in a thread of its own: the browser's loop may run in this one."""
    wrong: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(asyncio.wait_for(work, WAIT_SECONDS))
        except BaseException as error:
            wrong.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if wrong:
        raise wrong[0]


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        await asyncio.sleep(0.01)


def queued(store: JobStore, kind: str = "clean") -> Job:
    name, _ = store.new_folder()
    job = Job(id=name, kind=kind, name="x", created=time.time(), inputs=("/nowhere",))  # type: ignore[arg-type]
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


def test_on_a_full_disk_jobs_fail_and_the_queue_does_not_spin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = JobStore(tmp_path / "jobs")
    runner = JobRunner(store, ServiceSettings(folder=tmp_path))
    job, writes = queued(store), []

    def full(path: Path, _: bytes) -> None:
        writes.append(path)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(jobs_module, "write_whole", full)

    async def work() -> None:
        runner.start()
        await until(lambda: store.state(job).status == "failed")
        await asyncio.sleep(0.05)
        await runner.stop()

    alone(work())
    assert len(writes) == 2  # as it was started, and as it failed


def test_a_job_that_cannot_be_written_down_leaves_no_ghost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = JobStore(tmp_path / "jobs")
    written = jobs_module.write_whole

    def full(path: Path, data: bytes) -> None:
        if path.name == "job.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written(path, data)

    monkeypatch.setattr(jobs_module, "write_whole", full)
    with pytest.raises(OSError, match="space"):
        queued(store)
    for folder in list(store.folder.iterdir()):
        store.give_up(folder.name)
    assert not list(store)


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
            await asyncio.wait_for(made[0].wait(), 10)
        finally:
            await runner.stop()

    alone(work())
    assert made[0].returncode == -signal.SIGKILL
    assert store.state(job).status == "cancelled"


def test_a_removed_job_leaves_the_list_in_the_event_loop(tmp_path: Path) -> None:
    """Another thread that changed the list could do so while the loop goes through it."""
    app = create_app(ServiceSettings(folder=tmp_path))
    store: JobStore = app.state.parts.jobs
    job, threads = queued(store), []
    store.set_state(job, JobState(status="done"))

    class Watched(dict[str, Any]):
        def pop(self, *given: Any) -> Any:
            threads.append(threading.current_thread().name)
            return super().pop(*given)

    store._jobs = Watched(store._jobs)
    client = TestClient(app, base_url="http://localhost")
    assert client.delete(f"/jobs/{job.id}").status_code == 200
    assert not store.path(job).exists()
    assert threads
    assert not [name for name in threads if name.startswith("AnyIO worker")]
