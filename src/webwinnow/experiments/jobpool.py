"""Worker processes for the jobs of an experiment. The result of a job does not depend on the number of processes."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import connection
from typing import Any, TypeVar

from webwinnow.errors import WebwinnowError
from webwinnow.platforms import cpu_count

Job = TypeVar("Job")
Result = TypeVar("Result")


class JobPool(AbstractContextManager["JobPool"]):
    """A number of worker processes, 0 for one per core. With one, jobs run in this process."""

    def __init__(self, jobs: int = 0) -> None:
        self.count = jobs or cpu_count()
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> JobPool:
        if self.count > 1:
            spawned = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.count, mp_context=spawned, initializer=_start_worker)
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def run(self, work: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[tuple[Job, Result]]:
        """Yield each job with its result, in any order. `work` is a function of a module."""
        if self._pool is None:
            with _one_blas_thread():
                for job in jobs:
                    yield job, work(job)
            return
        waiting: dict[Future[Result], Job] = {}
        for job in jobs:
            waiting[self._pool.submit(work, job)] = job
            if len(waiting) > 2 * self.count:
                yield from _finished(waiting)
        while waiting:
            yield from _finished(waiting)


def _finished(waiting: dict[Future[Result], Job]) -> Iterator[tuple[Job, Result]]:
    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
        try:
            result = future.result()
        except BrokenProcessPool:
            raise WebwinnowError("a worker process died, possibly out of memory; try again with fewer --jobs") from None
        yield waiting.pop(future), result


def _start_worker() -> None:
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    _one_blas_thread()


def _exit_with_parent() -> None:
    """Exit when the parent process is gone, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _one_blas_thread() -> Any:
    """Limit BLAS to one thread: the processes share the cores already, and sums keep one order."""
    try:
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 (installed with scikit-learn)
    except ImportError:
        return nullcontext()
    return threadpool_limits(1)
