"""Jobs on disk, one folder each: they survive the server.

    jobs/ID/job.json        the order; never changes
    jobs/ID/state.json      its state, written by the server
    jobs/ID/progress.json   its progress, written by the job's process
    jobs/ID/input/          what was uploaded
    jobs/ID/result/         the results; the files of a step are complete once the step is done

Every file is written atomically.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from webwinnow.errors import InputError, WebwinnowError
from webwinnow.storage.atomic import write_file

JobKind = Literal["clean", "learn"]
JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ACTIVE: tuple[JobStatus, ...] = ("queued", "running")
"""States of jobs that are not over."""
LONGEST_NAME = 120
_ID = re.compile(r"[0-9a-f]{16}")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9._-]+")


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
        plain = _read(path / "job.json")
        if plain is None:
            shutil.rmtree(path, ignore_errors=True)
            return
        state = _read(path / "state.json") or {}
        try:
            job = Job(**plain | {"inputs": tuple(plain["inputs"])})
            self._jobs[job.id] = (job, JobState(**state))
        except (TypeError, KeyError):
            shutil.rmtree(path, ignore_errors=True)

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
        write_file(self.path(job) / "job.json", json.dumps(asdict(job)).encode())

    def set_state(self, job: Job, state: JobState) -> None:
        """Set the state of a job and write it; if writing fails, the state in memory is set."""
        self._jobs[job.id] = (job, state)
        write_file(self.path(job) / "state.json", json.dumps(asdict(state)).encode())

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
        plain = _read(self.path(job) / "progress.json")
        try:
            return JobProgress(**plain) if plain else JobProgress()
        except TypeError:
            return JobProgress()

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


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
