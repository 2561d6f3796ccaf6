"""Worker processes for jobs of one kind: what a job gives does not depend on how many there are."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from multiprocessing import connection
from typing import Any, TypeVar

from webwinnow.errors import MissingExtra, SettingsError, WebwinnowError

__all__ = ["Workers"]

Job = TypeVar("Job")
Found = TypeVar("Found")


class Workers(AbstractContextManager["Workers"]):
    """So many processes, 0 for one a core; with one, the work is done here. Each has one BLAS thread."""

    def __init__(self, jobs: int = 0) -> None:
        if jobs < 0:
            raise SettingsError(f"jobs is {jobs}: expected 0 (one a core) or more")
        self.count = jobs or len(os.sched_getaffinity(0))
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Workers:
        if self.count > 1:
            spawned = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self.count, mp_context=spawned, initializer=_begin)
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def run(self, work: Callable[[Job], Found], jobs: Iterable[Job]) -> Iterator[tuple[Job, Found]]:
        """Each job with what `work`, a function of a module, made of it, in whatever order they come."""
        if self._pool is None:
            with _one_thread():
                for job in jobs:
                    yield job, work(job)
            return
        waiting: dict[Any, Job] = {}
        for job in jobs:
            waiting[self._pool.submit(work, job)] = job
            if len(waiting) > 2 * self.count:
                yield from _done(waiting)
        while waiting:
            yield from _done(waiting)


def _done(waiting: dict[Any, Job]) -> Iterator[tuple[Job, Any]]:
    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
        try:
            found = future.result()
        except BrokenProcessPool:
            raise WebwinnowError(
                "a worker process died, for want of memory perhaps; try again with fewer --jobs"
            ) from None
        yield waiting.pop(future), found


def _begin() -> None:
    """What a worker process does first."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _one_thread()


def _end_with_parent() -> None:
    """Wait until the process that started this one is gone, killed perhaps, and go too."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _one_thread() -> Any:
    """One BLAS thread from here on: processes share the cores already, and sums come in one order."""
    try:
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 (comes with scikit-learn)
    except ImportError:
        raise MissingExtra("webwinnow experiment mining", "mining") from None
    return threadpool_limits(1)
