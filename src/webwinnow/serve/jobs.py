"""Jobs on disk, one folder each, which survive the server; and their queue, which runs one process at a time.

    jobs/ID/job.json        the order; never changes
    jobs/ID/state.json      its state, written by the server
    jobs/ID/progress.json   its progress, written by the job's process
    jobs/ID/input/          what was uploaded
    jobs/ID/result/         the results; the files of a step are complete once the step is done

Every file is written atomically.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import secrets
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from webwinnow.childprocess import child_command
from webwinnow.counted import counted
from webwinnow.errors import InputError, WebwinnowError
from webwinnow.serve.settings import ServiceSettings
from webwinnow.storage.atomic import write_file

JobKind = Literal["clean", "learn"]
JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ACTIVE: tuple[JobStatus, ...] = ("queued", "running")
"""States of jobs that are not over."""
LONGEST_NAME = 120
STARTS_ALLOWED = 3
"""A job whose process ended with the server this many times fails."""
LOG_SHOWN = 1_000
JOB_RETRY_SECONDS = 30
"""When to try again where the queue is full: a place is free when a job is done."""
log = logging.getLogger("webwinnow.serve")
_ID = re.compile(r"[0-9a-f]{16}")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9._-]+")
Kept = TypeVar("Kept")


class QueueFull(WebwinnowError):
    """Too many jobs or pages are waiting; after `retry_seconds` there may be a place."""

    def __init__(self, message: str, retry_seconds: int) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An order: `inputs` are files or folders, `options` those of `JobOptions`, `stop_words` an own list or None.

    `private` says whether a crawl may connect to private addresses, `page_bytes` and `crawl_bytes` limit what it
    receives of a page and in total; the server decides these, not its client.
    """

    id: str
    kind: JobKind
    name: str
    created: float
    inputs: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    stop_words: Sequence[str] | None = None
    private: bool = False
    page_bytes: int = 10_000_000
    crawl_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """The state of a job. `starts` counts the starts of its process."""

    status: JobStatus = "queued"
    error: str | None = None
    starts: int = 0
    started: float | None = None
    finished: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """The progress of a job: `steps` that are over by name, with the error, or None for those that went well.
    `rendered` is the number of crawled pages that a browser has rendered, None if none was to be.
    """

    step: str | None = None
    stage: str | None = None
    done: int = 0
    total: int | None = None
    steps: dict[str, str | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    rendered: int | None = None


class JobStore:
    """The jobs of a folder. Only the server writes their states."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._jobs: dict[str, tuple[Job, JobState]] = {}
        for path in sorted(folder.iterdir()):
            if _ID.fullmatch(path.name):
                self._load(path)

    def _load(self, path: Path) -> None:
        """Load a job of an earlier server; one that was not complete is removed."""
        job = read_kept(path / "job.json", Job)
        if job is None:
            shutil.rmtree(path, ignore_errors=True)
        else:
            self._jobs[job.id] = (job, read_kept(path / "state.json", JobState) or JobState())

    def new_folder(self) -> tuple[str, Path]:
        """A new id and its folder. The job exists once `add` was called."""
        name = secrets.token_hex(8)
        path = self.folder / name
        (path / "input").mkdir(parents=True)
        return name, path

    def give_up(self, name: str) -> None:
        """Remove the folder of a job that did not come or could not be written."""
        self.forget(name)
        self.clear(name)

    def add(self, job: Job) -> None:
        """Add a job to the queue."""
        self.set_state(job, JobState())
        write_file(self.path(job) / "job.json", msgspec.json.encode(job))

    def set_state(self, job: Job, state: JobState) -> None:
        """Set the state of a job and write it; if writing fails, the state in memory is set."""
        self._jobs[job.id] = (job, state)
        write_file(self.path(job) / "state.json", msgspec.json.encode(state))

    def forget(self, name: str) -> None:
        """Remove a job from the store; `clear`, which may run in another thread, removes its files."""
        self._jobs.pop(name, None)

    def clear(self, name: str) -> None:
        """Remove all files of a job."""
        with suppress(OSError):  # first: without it, the next server removes what a kill leaves
            (self.folder / name / "job.json").unlink()
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def find(self, name: str) -> Job | None:
        """The job with an id."""
        found = self._jobs.get(name)
        return None if found is None else found[0]

    def state(self, job: Job) -> JobState:
        """The state of a job."""
        return self._jobs[job.id][1]

    def path(self, job: Job) -> Path:
        """The folder of a job."""
        return self.folder / job.id

    def progress(self, job: Job) -> JobProgress:
        """The progress of a job, as last written by its process."""
        return read_kept(self.path(job) / "progress.json", JobProgress) or JobProgress()

    def result(self, job: Job, step: str, name: str) -> Path | None:
        """A result file of a step; None if the step is not done or has no such file."""
        if self.progress(job).steps.get(step, "not yet") is not None:
            return None
        path = self.path(job) / "result" / name
        return path if path.exists() else None

    def __iter__(self) -> Iterator[Job]:
        """All jobs, the newest first."""
        yield from sorted((job for job, _ in self._jobs.values()), key=lambda job: (-job.created, job.id))

    def waiting(self) -> list[Job]:
        """Queued jobs, the oldest first."""
        return [job for job in reversed(list(self)) if self.state(job).status == "queued"]


def safe_name(name: str) -> str:
    """A safe file name from a client's: no folders, not hidden, no special characters."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return _NOT_IN_NAME.sub("-", last).lstrip(".-")[-LONGEST_NAME:] or "upload"


def allowed_input(named: str, roots: tuple[Path, ...]) -> Path:
    """A file or folder that a client names, if it and the targets of its links are in a folder that jobs may read."""
    if not roots:
        raise InputError("this server reads no folders of its machine; start it with --inputs FOLDER, or upload")
    if "\0" in named:
        raise InputError("a path has no NUL byte")
    for root in (root.resolve() for root in roots):
        path = _found(named, root)
        if path is not None:
            _check_links(path, root)
            return path
    raise InputError("there is no such file or folder among those that this server may read")


def _found(named: str, root: Path) -> Path | None:
    try:
        path = (root / named).resolve()
        return path if path.is_relative_to(root) and path.exists() else None
    except (OSError, RuntimeError, ValueError):  # a name that is too long, a loop of links, no name of a file at all
        return None


def _check_links(path: Path, root: Path) -> None:
    """Raise `InputError` if a link under `path` leads out of `root`."""
    waiting, entered = [path], set[Path]()
    while waiting:
        folder = waiting.pop()
        if folder in entered or not folder.is_dir():
            continue
        entered.add(folder)
        with suppress(OSError):  # the reader reports what cannot be read
            for entry in folder.iterdir():
                if entry.name.startswith("."):  # the reader ignores it
                    continue
                target = Path(os.path.realpath(entry))
                if not target.is_relative_to(root):
                    raise InputError(
                        f"{entry.relative_to(root)} is a link that leads out of the folder that this server may read"
                    )
                waiting.append(target)


def read_kept(path: Path, kind: type[Kept]) -> Kept | None:
    """What a file of a job has; None if there is none, or one of another version."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError):
        return None


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
                *child_command("webwinnow.serve.jobprocess", str(folder), str(self.settings.models_folder)),
                stdin=asyncio.subprocess.DEVNULL,
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
