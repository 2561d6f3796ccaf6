"""The queue of jobs: one process at a time, ended when it is cancelled, started again after a kill."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from webwinnow.childprocess import python_command
from webwinnow.counted import counted
from webwinnow.serve.jobs import ACTIVE, Job, JobState, JobStore, QueueFull
from webwinnow.serve.settings import ServiceSettings

STARTS_ALLOWED = 3
"""A job whose process ended with the server this many times fails."""
LOG_SHOWN = 1_000
JOB_RETRY_SECONDS = 30
"""When to try again where the queue is full: a place is free when a job is done."""
log = logging.getLogger("webwinnow.serve")


class JobRunner:
    """Runs the jobs of a store, one after the other; `start` continues those of an earlier server."""

    def __init__(self, store: JobStore, settings: ServiceSettings) -> None:
        self.store, self.settings = store, settings
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._running: Job | None = None
        self._taken = 0

    def start(self) -> None:
        """Queue the jobs again that ran when the last server ended, and begin."""
        for job in list(self.store):
            state = self.store.state(job)
            if state.status != "running":
                continue
            if state.starts >= STARTS_ALLOWED:
                with suppress(OSError):
                    self._over(job, "failed", f"its process was ended {state.starts} times before it was done")
            else:
                log.info("job %s continues after a restart", job.id)
                with suppress(OSError):  # on a full disk it is queued only in memory
                    self.store.set_state(job, replace(state, status="queued"))
        self._task = asyncio.create_task(self._serve())

    async def stop(self) -> None:
        """End the running process; the next server continues its job."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self._end_process()
        if self._process is not None:
            await self._process.wait()

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Reserve a place in the queue while the input of a job comes. Raises `QueueFull`."""
        waiting = self._taken + sum(self.store.state(job).status in ACTIVE for job in self.store)
        if waiting >= self.settings.queued_jobs:
            full = f"{counted(waiting, 'job waits', 'jobs wait')} already; try again when one is done"
            raise QueueFull(full, JOB_RETRY_SECONDS)
        self._taken += 1
        try:
            yield
        finally:
            self._taken -= 1

    def put(self, job: Job) -> None:
        """Add a job to the queue."""
        self.store.add(job)
        log.info("job %s queued: %s", job.id, job.kind)
        self._wake.set()

    def cancel(self, job: Job) -> None:
        """End a job that is not over."""
        if self.store.state(job).status in ACTIVE:
            if self._running is not None and self._running.id == job.id:
                self._end_process()
            with suppress(OSError):  # on a full disk it is cancelled only in memory
                self._over(job, "cancelled", None)

    async def _serve(self) -> None:
        while True:
            waiting = self.store.waiting()
            if not waiting:
                self._wake.clear()
                await self._wake.wait()
                continue
            self._running = waiting[0]
            try:
                await self._run(waiting[0])
            except Exception as error:  # a full disk, no process: this job fails, the queue continues
                log.exception("job %s could not be run", waiting[0].id)
                self._fail(waiting[0], error)
            finally:
                self._running = None

    async def _run(self, job: Job) -> None:
        folder, before = self.store.path(job), self.store.state(job)
        started = replace(before, status="running", starts=before.starts + 1, started=before.started or time.time())
        self.store.set_state(job, started)
        log.info("job %s started", job.id)
        with (folder / "log.txt").open("wb") as job_log:
            self._process = await asyncio.create_subprocess_exec(
                *python_command("webwinnow.serve.jobprocess", str(folder), str(self.settings.models_folder)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=job_log,
                start_new_session=True,
            )
            try:
                if not self._is_wanted(job):  # cancelled while its process was being made
                    self._end_process()
                status = await self._process.wait()
            finally:
                self._end_process()
        self._process = None
        if not self._is_wanted(job):
            return  # cancelled meanwhile
        if status == 0:
            self._over(job, "done", None)
        else:
            self._over(job, "failed", log_tail(folder / "log.txt") or f"its process ended with status {status}")

    def _fail(self, job: Job, error: Exception) -> None:
        """Mark a job that could not be run, unless it is over or removed."""
        if self.store.find(job.id) is not None and self.store.state(job).status in ACTIVE:
            why = getattr(error, "strerror", None) or type(error).__name__
            with suppress(OSError):  # on a full disk it fails only in memory
                self._over(job, "failed", f"the server could not run it: {why}")

    def _is_wanted(self, job: Job) -> bool:
        return self.store.find(job.id) is not None and self.store.state(job).status == "running"

    def _over(self, job: Job, status: str, error: str | None) -> None:
        assert status in ("done", "failed", "cancelled")
        state: JobState = replace(self.store.state(job), status=status, error=error, finished=time.time())  # type: ignore[arg-type]
        self.store.set_state(job, state)
        log.info("job %s %s", job.id, status)

    def _end_process(self) -> None:
        """Kill the process and its children."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)


def log_tail(path: Path) -> str | None:
    """The last line of a log."""
    try:
        lines = path.read_bytes()[-LOG_SHOWN:].decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return None
    return lines[-1] if lines else None
