"""Jobs on disk: each a folder, so that what was done, and what is left to do, outlives the server.

    jobs/ID/job.json        what is to be done; never changes
    jobs/ID/state.json      how it stands, written by the server
    jobs/ID/progress.json   how far it is, written by the job's process
    jobs/ID/input/          what was uploaded
    jobs/ID/result/         what came out; a step's files are there whole once the step is told as done

Every file appears whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from webwinnow.errors import InputError, WebwinnowError
from webwinnow.storage import write_file

__all__ = ["ACTIVE", "Job", "JobKind", "JobProgress", "JobState", "JobStatus", "JobStore", "QueueFull"]

JobKind = Literal["clean", "learn"]
JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ACTIVE: tuple[JobStatus, ...] = ("queued", "running")
"""Jobs that are not over."""
LONGEST_NAME = 120
_ID = re.compile(r"[0-9a-f]{16}")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9._-]+")


class QueueFull(WebwinnowError):
    """No more jobs are taken for now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What is to be done: `inputs` are files or folders, `options` what the kind of job is told."""

    id: str
    kind: JobKind
    name: str
    created: float
    inputs: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """How a job stands. `starts` counts how often its process was started."""

    status: JobStatus = "queued"
    error: str | None = None
    starts: int = 0
    started: float | None = None
    finished: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress:
    """How far a job's process is: `steps` by name with what became of them, None for those that went well."""

    step: str | None = None
    stage: str | None = None
    done: int = 0
    total: int | None = None
    steps: dict[str, str | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)


class JobStore:
    """The jobs of a folder; the server alone writes their states."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._jobs: dict[str, tuple[Job, JobState]] = {}
        for path in sorted(folder.iterdir()):
            if _ID.fullmatch(path.name):
                self._load(path)

    def _load(self, path: Path) -> None:
        """Take up a job of an earlier server; one that was still being handed in is cleared away."""
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
        """A fresh id, and its folder with room for input. The job is there once `add` was called."""
        name = secrets.token_hex(8)
        path = self.folder / name
        (path / "input").mkdir(parents=True)
        return name, path

    def give_up(self, name: str) -> None:
        """Clear a folder away whose job never came, or could not be written down."""
        self.forget(name)
        self.clear(name)

    def add(self, job: Job) -> None:
        """Take a job into the queue."""
        self.set_state(job, JobState())
        write_file(self.path(job) / "job.json", json.dumps(asdict(job)).encode())

    def set_state(self, job: Job, state: JobState) -> None:
        """Note how a job stands, and write it; on a full disk, where writing fails, it stands so all the same."""
        self._jobs[job.id] = (job, state)
        write_file(self.path(job) / "state.json", json.dumps(asdict(state)).encode())

    def forget(self, name: str) -> None:
        """Take a job out of the store; its files are for `clear`, which may run in another thread."""
        self._jobs.pop(name, None)

    def clear(self, name: str) -> None:
        """Take all files of a job away."""
        with suppress(OSError):  # first of all what makes it a job: what is left after a kill is cleared at the start
            (self.folder / name / "job.json").unlink()
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def find(self, name: str) -> Job | None:
        """The job of an id."""
        found = self._jobs.get(name)
        return None if found is None else found[0]

    def state(self, job: Job) -> JobState:
        """How a job stands."""
        return self._jobs[job.id][1]

    def path(self, job: Job) -> Path:
        """A job's folder."""
        return self.folder / job.id

    def progress(self, job: Job) -> JobProgress:
        """How far a job is, as its process last told."""
        plain = _read(self.path(job) / "progress.json")
        try:
            return JobProgress(**plain) if plain else JobProgress()
        except TypeError:
            return JobProgress()

    def result(self, job: Job, step: str, name: str) -> Path | None:
        """A file that a step left; None where the step is not done or left none."""
        if self.progress(job).steps.get(step, "not yet") is not None:
            return None
        path = self.path(job) / "result" / name
        return path if path.exists() else None

    def __iter__(self) -> Iterator[Job]:
        """All jobs, the newest first."""
        yield from sorted((job for job, _ in self._jobs.values()), key=lambda job: (-job.created, job.id))

    def waiting(self) -> list[Job]:
        """Jobs that wait for their turn, oldest first."""
        return [job for job in reversed(list(self)) if self.state(job).status == "queued"]


def safe_name(name: str) -> str:
    """A file name out of what a client called its file: no folders, nothing hidden, nothing a shell would read."""
    last = re.split(r"[/\\]", name)[-1]
    return _NOT_IN_NAME.sub("-", last).lstrip(".-")[-LONGEST_NAME:] or "upload"


def allowed_input(named: str, roots: tuple[Path, ...]) -> Path:
    """A file or folder that a client names, if it and all that its links lead to lie in a folder that jobs may read."""
    if not roots:
        raise InputError("this server reads no folders of its machine; start it with --inputs FOLDER, or upload")
    if "\0" in named:
        raise InputError("a path holds no NUL byte")
    for root in (root.resolve() for root in roots):
        path = _found(named, root)
        if path is not None:
            _check_links(path, root)
            return path
    raise InputError("there is no such file or folder among those that this server may read")


def _found(named: str, root: Path) -> Path | None:
    """What a client names in a folder; links are followed first."""
    try:
        path = (root / named).resolve()
        return path if path.is_relative_to(root) and path.exists() else None
    except (OSError, RuntimeError, ValueError):  # a name that is too long, a loop of links, no name of a file at all
        return None


def _check_links(path: Path, root: Path) -> None:
    """`InputError` if a link leads out of `root` among what the reader of folders will find under `path`."""
    waiting, entered = [path], set[Path]()
    while waiting:
        folder = waiting.pop()
        if folder in entered or not folder.is_dir():
            continue
        entered.add(folder)
        with suppress(OSError):  # the reader tells what cannot be read
            for entry in folder.iterdir():
                if entry.name.startswith("."):  # the reader passes it over
                    continue
                target = Path(os.path.realpath(entry))
                if not target.is_relative_to(root):
                    raise InputError(
                        f"{entry.relative_to(root)} is a link that leads out of the folder that this server may read"
                    )
                waiting.append(target)


def age(job: Job) -> float:
    """Seconds since a job was handed in."""
    return max(0.0, time.time() - job.created)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
