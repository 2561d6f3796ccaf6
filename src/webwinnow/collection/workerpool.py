"""Worker processes under watch: what hangs is killed, what dies is replaced, and each item gets exactly one answer."""

from __future__ import annotations

import fcntl
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from webwinnow.collection.workermessages import BEAT, FAILED, READY, RESULT
from webwinnow.errors import WebwinnowError
from webwinnow.storage import read_frame, write_frame

__all__ = ["Answer", "Task", "WorkerPool"]

DEATHS_ALLOWED = 2
"""An item at which so many workers died is given up: once may have been somebody else's kill."""
START_SECONDS = 120.0
STARTS_ALLOWED = 3
WATCH_SECONDS = 0.02
LOG_SHOWN = 2_000
PIPE_BYTES = 1 << 20
"""Room in the pipes to a worker (the most that Linux gives anybody): a page passes in one go instead of five."""


@dataclass(slots=True)
class Task:
    """Items that one worker does in turn. `name` is the caller's; `shared` goes along with every item."""

    name: Any
    kind: str
    shared: Any
    items: list[Any] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one item of a task: a value, or an error. `last` with the task's last answer."""

    task: Task
    index: int
    value: Any
    error: str | None
    last: bool


class WorkerPool:
    """So many workers. `submit` tasks, take `answers` in whatever order they come, `close` at the end."""

    def __init__(self, workers: int, settings: dict[str, Any], *, page_seconds: float, memory: int) -> None:
        self._settings = (settings, memory)
        self._page_seconds = page_seconds
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer | BaseException] = queue.SimpleQueue()
        self._workers = [_Worker() for _ in range(workers)]
        self._closing = threading.Event()
        self._threads = [threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in self._workers]
        self._watch = threading.Thread(target=self._watch_clock, daemon=True)
        self.waiting = 0
        """Tasks submitted and not answered in full."""

    def __enter__(self) -> WorkerPool:
        for thread in (*self._threads, self._watch):
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_closing(self) -> bool:
        """Whether the workers are being stopped, or were."""
        return self._closing.is_set()

    @property
    def has_room(self) -> bool:
        """Whether another task keeps the workers busy without piling up."""
        return self.waiting < 2 * len(self._workers) + 1

    def submit(self, task: Task) -> None:
        """Hand in a task; it must have an item."""
        self.waiting += 1
        self._tasks.put(task)

    def answer(self) -> Answer:
        """Wait for the next answer. What kept a worker from answering at all is raised; its task stays unanswered."""
        answer = self._answers.get()
        if isinstance(answer, BaseException):
            raise answer
        self.waiting -= answer.last
        return answer

    def answers(self) -> Iterator[Answer]:
        """All answers until no task waits."""
        while self.waiting:
            yield self.answer()

    def close(self) -> None:
        """Stop the workers, whatever they are doing."""
        self._closing.set()
        for worker in self._workers:
            worker.kill()
            self._tasks.put(None)
        for thread in (*self._threads, self._watch):
            thread.join()
        for worker in self._workers:
            worker.end()
        self._answers.put(WebwinnowError("the workers were stopped"))  # for whoever still waits

    def _serve(self, worker: _Worker) -> None:
        """One worker's thread: tasks one after the other, with as many processes as it takes."""
        while not self._closing.is_set():
            task = self._tasks.get()
            if task is None:
                return
            try:
                self._do(worker, task)
            except BaseException as error:  # told to whoever waits for answers; who goes on finds the worker at work
                self._answers.put(error)

    def _do(self, worker: _Worker, task: Task) -> None:
        done, deaths = 0, 0
        while done < len(task.items):
            if self._closing.is_set():
                return
            try:
                worker.start(self._settings)
                worker.give(task, done, self._page_seconds)
                while done < len(task.items):
                    kind, value = worker.hear(self._page_seconds)
                    if kind == BEAT:
                        continue
                    self._tell(task, done, value if kind == RESULT else None, value if kind == FAILED else None)
                    done, deaths = done + 1, 0
                worker.rest()
            except (EOFError, OSError):
                if self._closing.is_set():
                    return
                deaths += 1
                error = worker.bury(self._page_seconds)
                if worker.timed_out or deaths >= DEATHS_ALLOWED:
                    self._tell(task, done, None, error)
                    done, deaths = done + 1, 0

    def _tell(self, task: Task, index: int, value: Any, error: str | None) -> None:
        self._answers.put(Answer(task, index, value, error, index + 1 == len(task.items)))

    def _watch_clock(self) -> None:
        """Kill workers whose time for a page is up: nothing gentler interrupts the parser."""
        while not self._closing.wait(WATCH_SECONDS):
            now = time.monotonic()
            for worker in self._workers:
                worker.kill_if_late(now)


class _Worker:
    """One worker process at a time, and the clock it is watched by."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.log: IO[bytes] | None = None
        self.deadline: float | None = None
        self.timed_out = False
        self.closed = False
        self.lock = threading.Lock()

    def start(self, settings: Any) -> None:
        """Start a process unless one runs. One that is killed while it starts is started again, but for `kill`."""
        self.timed_out = False
        if self.process is not None and self.process.poll() is None:
            return
        words = ""
        for _ in range(STARTS_ALLOWED):
            if self.closed:
                raise EOFError
            self._launch()
            try:
                write_frame(self._pipe("stdin"), settings)
                if read_frame(self._pipe("stdout"))[0] == READY:
                    self.rest()
                    return
            except (EOFError, OSError):
                words = self._last_words()
        self.end()
        raise WebwinnowError(f"a worker process cannot start: {words or 'it died without a word'}")

    def _launch(self) -> None:
        self.end()
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `end`)
        one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        process = subprocess.Popen(
            [sys.executable, "-m", "webwinnow.collection.workerprocess"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=os.environ | one_thread,
        )
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # a system that gives less works too
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)  # type: ignore[arg-type]
        with self.lock:
            self.process = process
            self.deadline = time.monotonic() + START_SECONDS
            if self.closed:
                process.kill()

    def give(self, task: Task, first: int, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        write_frame(self._pipe("stdin"), (task.kind, task.shared, task.items[first:]))

    def hear(self, seconds: float) -> Any:
        self.deadline = time.monotonic() + seconds
        return read_frame(self._pipe("stdout"))

    def rest(self) -> None:
        self.deadline = None

    def kill_if_late(self, now: float) -> None:
        with self.lock:
            if self.deadline is not None and now > self.deadline and self.process is not None:
                self.timed_out = True
                self.deadline = None
                self.process.kill()

    def kill(self) -> None:
        """Kill the process from another thread, for good; whoever talks to it finds the pipe closed."""
        with self.lock:
            self.closed = True
            if self.process is not None:
                self.process.kill()

    def bury(self, seconds: float) -> str:
        """Clear away a dead process and say what it died of."""
        status = self.end()
        if self.timed_out:
            return f"the page took longer than {seconds:g} s"
        return f"the worker process died twice on this page (status {status}): memory or a fault of the parser"

    def end(self) -> int | None:
        """End the process, if one runs, and close all that belongs to it; returns its status."""
        self.rest()
        with self.lock:
            process, self.process = self.process, None
        if process is None:
            return None
        process.kill()
        status = process.wait()
        for pipe in (process.stdin, process.stdout, self.log):
            if pipe is not None:
                with suppress(OSError):  # unsent bytes to a process that is gone
                    pipe.close()
        return status

    def _pipe(self, name: str) -> IO[bytes]:
        pipe: IO[bytes] | None = getattr(self.process, name, None)
        if pipe is None:
            raise EOFError
        return pipe

    def _last_words(self) -> str:
        if self.log is None:
            return ""
        self.log.seek(0)
        return self.log.read()[-LOG_SHOWN:].decode("utf-8", "replace").strip()
