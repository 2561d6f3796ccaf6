"""Worker processes for the jobs of an experiment, and finished results on disk.

The result of a job does not depend on the number of processes. A killed run resumes from the stored results. The key of
a result covers everything it depends on: rows or packed trees, settings, the version of webwinnow.
"""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from numpy.typing import NDArray
from xxhash import xxh3_128_hexdigest

from webwinnow._version import __version__
from webwinnow.errors import WebwinnowError
from webwinnow.platforms import cpu_count, die_with_process
from webwinnow.storage.atomic import write_file
from webwinnow.storage.modelfile import pack_arrays, read_arrays

FORMAT = 1
"""Increase it when the form or meaning of a result changes."""
LARGEST_ARRAY = 1 << 34
"""Larger arrays, in bytes, are not unpacked."""

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
            self._pool = ProcessPoolExecutor(
                self.count, mp_context=spawned, initializer=_start_worker, initargs=(os.getpid(),)
            )
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


def _start_worker(parent: int) -> None:
    die_with_process(parent)
    _one_blas_thread()


def _one_blas_thread() -> Any:
    """Limit BLAS to one thread: the processes share the cores already, and sums keep one order."""
    try:
        from threadpoolctl import threadpool_limits  # noqa: PLC0415 (installed with scikit-learn)
    except ImportError:
        return nullcontext()
    return threadpool_limits(1)


# Finished results


def cache_key(*parts: bytes | str) -> str:
    """Return the key of a result that depends on these parts."""
    encoded = [part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts]
    lengths = ",".join(str(len(part)) for part in encoded).encode()
    return xxh3_128_hexdigest(b"".join([f"{FORMAT} {__version__} ".encode(), lengths, *encoded]))


class AnswerCache:
    """A folder of results by key; without a folder, nothing is stored. A damaged file counts as missing."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def __bool__(self) -> bool:
        return self.folder is not None

    def get(self, key: str) -> Any:
        """Return a stored JSON value, or None."""
        if self.folder is None:
            return None
        try:
            return json.loads((self.folder / f"{key}.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Store a JSON value."""
        if self.folder is not None:
            write_file(self.folder / f"{key}.json", json.dumps(value).encode(), durable=False)

    def get_arrays(self, key: str, names: tuple[str, ...]) -> dict[str, NDArray[Any]] | None:
        """Return stored arrays, or None."""
        if self.folder is None:
            return None
        try:
            return read_arrays(self.folder / f"{key}.npz", names, largest=LARGEST_ARRAY)
        except ValueError:
            return None

    def put_arrays(self, key: str, **arrays: NDArray[Any]) -> None:
        """Store arrays."""
        if self.folder is not None:
            write_file(self.folder / f"{key}.npz", pack_arrays(arrays), durable=False)
