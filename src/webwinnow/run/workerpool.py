"""Worker processes under supervision: one that hangs is killed, one that dies is replaced, each job gets one answer."""

from __future__ import annotations

import os
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import IO, Any, NamedTuple, Self

from webwinnow.childprocess import child_command
from webwinnow.errors import WebwinnowError
from webwinnow.platforms import enlarge_pipe
from webwinnow.run.settings import CollectionSettings
from webwinnow.run.workerjobs import DONE, FAILED, HEARTBEAT, LEARNS, READY, RESULT_OF, Shared, encode_task
from webwinnow.storage.encoding import read_frame, write_frame

DEATHS_ALLOWED = 2
"""A job fails when this many workers died on it: the first may have been killed by somebody else."""
START_SECONDS = 120.0
STARTS_ALLOWED = 3
WATCH_SECONDS = 0.02
"""The most by which a worker outlives its deadline."""
LOG_SHOWN = 2_000
PIPE_BYTES = 1 << 20
"""Buffer of the pipes to a worker, the most that Linux allows every user: a page fits in one write."""


@dataclass(slots=True)
class Task:
    """Jobs of one type that one worker does in turn. `about` is for the caller; `shared` goes to the worker once."""

    about: Any
    jobs: list[Any]
    shared: Shared = Shared()  # noqa: RUF009 (immutable)


class Answer(NamedTuple):
    """The answer to a job of a task, or an error. `is_last`: of this task."""

    task: Task
    at: int
    result: Any
    error: str | None
    is_last: bool


class WorkerPool:
    """Worker processes. `submit` tasks, take `answers` in any order, `close` at the end."""

    def __init__(self, settings: CollectionSettings, workers: int | None = None) -> None:
        self._start_message = (settings.to_plain(), settings.worker_memory)
        self._page_seconds = settings.page_seconds
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer | WebwinnowError] = queue.SimpleQueue()
        self._workers = [_Worker() for _ in range(settings.workers if workers is None else workers)]
        self._closing = threading.Event()
        self._threads = [threading.Thread(target=self._serve, args=(worker,), daemon=True) for worker in self._workers]
        self._threads.append(threading.Thread(target=self._watch_clock, daemon=True))
        self.waiting = 0
        """Tasks that were submitted and are not answered completely."""

    def __enter__(self) -> Self:
        for thread in self._threads:
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
        """Queue a task; it must have a job."""
        self.waiting += 1
        self._tasks.put(task)

    def answer(self) -> Answer:
        """Wait for the next answer. Raises `WebwinnowError` where a worker could not answer at all."""
        answer = self._answers.get()
        if isinstance(answer, WebwinnowError):
            raise answer
        self.waiting -= answer.is_last
        return answer

    def answers(self) -> Iterator[Answer]:
        """All answers until no task waits."""
        while self.waiting:
            yield self.answer()

    def run(self, tasks: Iterable[Task]) -> Iterator[Answer]:
        """Submit tasks as there is room, and yield their answers as they come."""
        for task in tasks:
            self.submit(task)
            while not self.has_room:
                yield self.answer()
        yield from self.answers()

    def close(self) -> None:
        """Stop the workers, whatever they are doing."""
        self._closing.set()
        for worker in self._workers:
            worker.kill()
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.end()
        self._answers.put(WebwinnowError("the workers were stopped"))  # for a thread that still waits

    def _serve(self, worker: _Worker) -> None:
        """The thread of one worker: one task after the other, with as many processes as it takes."""
        while not self._closing.is_set():
            task = self._tasks.get()
            if task is None:
                return
            try:
                self._do(worker, task)
            except BaseException as error:  # raised in `answer`; the worker keeps running if the caller continues
                failure = error if isinstance(error, WebwinnowError) else WebwinnowError(f"a worker failed: {error!r}")
                failure.__cause__ = error.__cause__ if failure is error else error
                self._answers.put(failure)

    def _do(self, worker: _Worker, task: Task) -> None:
        done, deaths, count = 0, 0, len(task.jobs)
        result_type = RESULT_OF[type(task.jobs[0])]
        shared = task.shared
        while done < count:
            if self._closing.is_set():
                return
            learns = None
            try:
                worker.start(self._start_message)
                worker.send(encode_task(task.jobs[done:], shared), self._page_seconds)
                while done < count:
                    kind, value = worker.receive(self._page_seconds)
                    if kind == LEARNS:
                        learns = value
                    if kind in (HEARTBEAT, LEARNS):
                        continue
                    result = result_type(*value) if kind == DONE else None
                    self._answers.put(Answer(task, done, result, value if kind == FAILED else None, done + 1 == count))
                    done, deaths = done + 1, 0
                worker.deadline = None
            except (EOFError, OSError):
                if self._closing.is_set():
                    return
                deaths += 1
                error = worker.cause_of_death(self._page_seconds)
                if not worker.timed_out and deaths < DEATHS_ALLOWED:
                    continue
                deaths = 0
                if learns is not None:  # its pages are cleaned without what the site repeats
                    shared = shared.without_model_of(learns)
                else:
                    self._answers.put(Answer(task, done, None, error, done + 1 == count))
                    done += 1

    def _watch_clock(self) -> None:
        """Kill workers whose time for a page is up: nothing gentler interrupts the parser.

        A deadline that is set during a wait is later than its end.
        """
        shortest = wait = min(self._page_seconds, START_SECONDS)
        while not self._closing.wait(wait + WATCH_SECONDS):
            now = time.monotonic()
            wait = min(shortest, *(worker.kill_if_late(now) for worker in self._workers))


class _Worker:
    """One worker process at a time, with the deadline of its current job."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.log: IO[bytes] | None = None
        self.deadline: float | None = None
        self.timed_out = False
        self.closed = False
        self.lock = threading.Lock()

    def start(self, message: Any) -> None:
        """Start a process unless one runs. One that dies while it starts is started again, except after `kill`."""
        self.timed_out = False
        if self.process is not None and self.process.poll() is None:
            return
        words = ""
        for _ in range(STARTS_ALLOWED):
            if self.closed:
                raise EOFError
            self._launch()
            try:
                write_frame(self._pipe("stdin"), message)
                if read_frame(self._pipe("stdout"))[0] == READY:
                    self.deadline = None
                    return
            except (EOFError, OSError):
                words = self._log_tail()
        self.end()
        raise WebwinnowError(f"a worker process cannot start: {words or 'it wrote no message'}")

    def _launch(self) -> None:
        self.end()
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `end`)
        one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        process = subprocess.Popen(
            child_command("webwinnow.run.pageworker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=os.environ | one_thread,
        )
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            enlarge_pipe(pipe, PIPE_BYTES)
        with self.lock:
            self.process = process
            self.deadline = time.monotonic() + START_SECONDS
            if self.closed:
                process.kill()

    def send(self, message: Any, seconds: float) -> None:
        self.deadline = time.monotonic() + seconds
        write_frame(self._pipe("stdin"), message)

    def receive(self, seconds: float) -> Any:
        self.deadline = time.monotonic() + seconds
        return read_frame(self._pipe("stdout"))

    def kill_if_late(self, now: float) -> float:
        """Kill the process if its deadline has passed; returns the seconds up to the deadline, inf if there is none."""
        with self.lock:
            left = inf if self.deadline is None else self.deadline - now
            if left < 0 and self.process is not None:
                self.timed_out = True
                self.deadline = None
                self.process.kill()
            return inf if left < 0 else left

    def kill(self) -> None:
        """Kill the process for good, from another thread; the worker's own thread finds the pipe closed."""
        with self.lock:
            self.closed = True
            if self.process is not None:
                self.process.kill()

    def cause_of_death(self, seconds: float) -> str:
        """Clean up after a dead process and return why it died."""
        status = self.end()
        if self.timed_out:
            return f"the page took longer than {seconds:g} s"
        return f"the worker process died twice on this page (status {status}): memory or a fault of the parser"

    def end(self) -> int | None:
        """End the process, if one runs, and close its files; returns its status."""
        self.deadline = None
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

    def _log_tail(self) -> str:
        if self.log is None:
            return ""
        self.log.seek(0)
        return self.log.read()[-LOG_SHOWN:].decode("utf-8", "replace").strip()
