"""Read Parquet files that nobody vouches for: in a process of their own, so that a crash costs only that file.

The process (`parquetprocess`) is started when the first file is opened, and reads one file after the other. A file that
ends it is an `InputError`, and the next file gets a new process.
"""

from __future__ import annotations

import atexit
import os
import select
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from webwinnow.childprocess import python_command
from webwinnow.errors import InputError, MissingExtra
from webwinnow.platforms import enlarge_pipe
from webwinnow.storage.encoding import read_frame, write_frame
from webwinnow.storage.parquetprocess import DAMAGED, END, REFUSED, STOPPED, RowRequest

ANSWER_SECONDS: Final = 600.0
"""The process is ended when an answer takes longer: it reads 16 rows at a time."""
PIPE_BYTES: Final = 1 << 20
_ENVIRONMENT: Final = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OPENBLAS_NUM_THREADS": "1",
    **dict.fromkeys(("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"), str(1 << 28)),
}
"""The process keeps the memory of one batch for the next one: asking the system again took a third of its time.

It computes nothing: threads that numpy's library would start for that only take time.
"""
MAX_RATIO: Final = 1000
RATIO_FLOOR: Final = 1 << 24
"""Bytes that any file may unpack to. Ours: no burden, and more than small files of pages that repeat have."""
LARGEST_VALUE: Final = 1 << 28
"""Bytes of one value: four times the largest page."""


class UnreadableValue(NamedTuple):
    """A value that is too long, or neither text, bytes, a number, a date nor a list of such: `reason` says what."""

    reason: str


class TableColumn(NamedTuple):
    """A column: its name, the name of its type, and whether it has text or bytes."""

    name: str
    kind: str
    is_text: bool
    is_bytes: bool


class ParquetReader:
    """A Parquet file. Errors are `InputError`s whose message continues the name of the file."""

    def __init__(self, path: Path | str, feature: str = "Parquet") -> None:
        if find_spec("pyarrow") is None:
            raise MissingExtra(feature, "parquet")
        self.path = os.path.abspath(path)  # noqa: PTH100 (a name that is not UTF-8 stays as it is)
        with _process() as process:
            columns, self.row_count = process.ask((self.path, None))
            self.columns = [TableColumn(name, *kind) for name, kind in columns]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def rows(
        self,
        columns: Sequence[str],
        *,
        groups: Sequence[int] | None = None,
        max_ratio: int = MAX_RATIO,
        max_value_bytes: int = LARGEST_VALUE,
    ) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Yield the row group and the values of each row, a few rows in memory at a time.

        Dates are ISO text; text that is not UTF-8 is bytes; a longer value than `max_value_bytes` is unreadable. A file
        whose rows unpack to more than `max_ratio` times its size, and more than `RATIO_FLOOR` bytes, is an `InputError`
        after the rows before.
        """
        wanted = None if groups is None else list(groups)
        request = RowRequest(self.path, list(columns), wanted, max_ratio, RATIO_FLOOR, max_value_bytes)
        with _process() as process:
            found = process.ask((request.path, tuple(request[1:])))
            while found is not None:
                for group, row in found:
                    yield group, tuple(UnreadableValue(*v) if isinstance(v, tuple) else v for v in row)
                found = process.receive()


class _Process:
    """A running `parquetprocess`."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            python_command("webwinnow.storage.parquetprocess", str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=os.environ | _ENVIRONMENT,
        )
        enlarge_pipe(self._pipe("stdout"), PIPE_BYTES)

    def ask(self, request: tuple[Any, ...]) -> Any:
        """Send a request; returns the first answer."""
        with suppress(BrokenPipeError):  # `receive` reports why it ended
            write_frame(self._pipe("stdin"), request)
        return self.receive()

    def receive(self) -> Any:
        """The next answer; None after the last row."""
        pipe = self._pipe("stdout")
        if not _is_ready(pipe, ANSWER_SECONDS):
            self.end()
            raise InputError(f"cannot be read (the Parquet library takes longer than {ANSWER_SECONDS:g} s)")
        try:
            kind, value = read_frame(pipe)
        except EOFError:
            status = self.process.wait()
            self.end()
            raise InputError(f"is a damaged Parquet file (it crashes the Parquet library, status {status})") from None
        if kind == DAMAGED:
            raise InputError(f"is a damaged Parquet file ({value})")
        if kind == STOPPED:
            raise InputError(f"cannot be read on ({value})")
        if kind == REFUSED:
            raise InputError(value)
        return None if kind == END else value

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def _pipe(self, name: str) -> IO[bytes]:
        pipe: IO[bytes] = getattr(self.process, name)
        return pipe


_idle: list[_Process] = []
"""Processes that wait for a request. Which one reads a file changes nothing: they keep no state."""


@contextmanager
def _process() -> Iterator[_Process]:
    """A process for one request. It is used again if it has answered completely."""
    _end_idle_at_exit()
    process = _idle.pop() if _idle else _Process()
    try:
        yield process
    except InputError:
        if process.process.returncode is None:
            _idle.append(process)
        raise
    except BaseException:  # also a caller that does not read to the end
        process.end()
        raise
    _idle.append(process)


@cache
def _end_idle_at_exit() -> None:
    atexit.register(_end_idle)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget_idle)


def _end_idle() -> None:
    while _idle:
        _idle.pop().end()


def _forget_idle() -> None:
    """In a forked process: those that wait belong to the parent."""
    for process in _idle:
        process.process.returncode = 0
    _idle.clear()


def _is_ready(pipe: IO[bytes], seconds: float) -> bool:
    """Whether there is something to read within some time; systems that cannot wait for a pipe (Windows) just read."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
