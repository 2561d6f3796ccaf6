"""Run `clean` with a fault at a record: `python tests/faults/faultyrun.py CRAWL OUT FAULT STAGE COUNT [--resume]`.

The fault happens when the run has reported this many records of a stage: the speed of the machine does not matter. With
`--engine ray` or `--engine spark`, it happens when a task of the stages `parse` and `clean` has the record with this
number, and in all processes of the run.

    kill        SIGKILL to this process            term      SIGTERM to this process
    worker      SIGKILL to a worker                clock:S   the clock jumps by S seconds
    read-only   nothing can be made, renamed or opened for writing in the folder of OUT any more
    stop        SIGSTOP to both workers when they are ready; prints their numbers and waits to be killed
    room:N      no file may grow beyond N bytes, from the beginning
    error:NAME  what opens a file for writing in the folder of OUT fails with this error (EDQUOT, EIO, ENOSPC)
    none        nothing
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

WORKERS = 2
READY = threading.Semaphore(0)  # released by each worker that has started
VARIABLE = "WEBWINNOW_FAULT"
"""The fault, for the processes of a cluster."""
POSITIONS = 1 << 32
"""The number of a record in a file is its ordinal modulo this."""


@dataclass(frozen=True)
class Fault:
    """A fault of the run whose process is `driver`. There is a file `note` as soon as it has happened."""

    name: str
    stage: str
    count: int
    folder: str
    note: str
    driver: int

    def prepare(self) -> None:
        """Make this process one in which the fault has its effect from its moment on."""
        if self.name == "read-only":
            sys.addaudithook(self._refusing(errno.EROFS))
        elif self.name.startswith("error:"):
            sys.addaudithook(self._refusing(getattr(errno, self.name.partition(":")[2])))
        elif self.name.startswith("clock:"):
            jump = int(self.name.partition(":")[2])
            # Not the old `time.time`: Ray pickles the clock, and that function would have no name any more.
            time.time = lambda: time.clock_gettime(time.CLOCK_REALTIME) + jump * os.path.exists(self.note)  # noqa: PTH110

    def limit(self) -> None:
        """Limit the size of the files of this process."""
        if self.name.startswith("room:"):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit is an error, as on a full disk
            most = int(self.name.partition(":")[2])
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    def cause(self) -> None:
        """Let it happen, once."""
        try:
            os.close(os.open(self.note, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        match self.name:
            case "kill":
                os.kill(self.driver, signal.SIGKILL)
            case "term":
                os.kill(self.driver, signal.SIGTERM)
            case "worker":
                for worker in workers()[:1] if os.getpid() == self.driver else [os.getpid()]:
                    os.kill(worker, signal.SIGKILL)
            case "stop":
                for _ in range(WORKERS):  # one that still imports has not yet asked to die with its run
                    READY.acquire()
                for worker in workers():
                    os.kill(worker, signal.SIGSTOP)
                sys.stdout.write(" ".join(map(str, workers())) + "\n")
                sys.stdout.flush()
                signal.pause()

    def _refusing(self, code: int) -> Callable[[str, tuple[Any, ...]], None]:
        """Refuse as a file system that is mounted read-only, over quota or broken does, also to root."""

        def refuse(event: str, given: tuple[Any, ...]) -> None:
            changes = event in ("os.rename", "os.mkdir", "os.remove", "os.truncate")
            if event == "open" and isinstance(given[2], int):
                changes = bool(given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            if changes and isinstance(given[0], str | bytes | os.PathLike):
                path = os.path.abspath(os.fsdecode(given[0]))  # noqa: PTH100
                if path.startswith(self.folder + os.sep) and os.path.exists(self.note):  # noqa: PTH110
                    raise OSError(code, os.strerror(code), os.fsdecode(given[0]))

        return refuse


def workers() -> list[int]:
    """The worker processes of this process."""
    threads = Path("/proc/self/task").iterdir()
    children = [child for thread in threads for child in map(int, (thread / "children").read_text().split())]
    name = b"webwinnow.run.pageworker"
    return sorted(child for child in children if name in Path(f"/proc/{child}/cmdline").read_bytes())


def watch_tasks(batchjobs: dict[str, Any]) -> None:
    """Let the fault of a cluster happen in a process that imports the functions of tasks."""
    fault = Fault(*json.loads(os.environ[VARIABLE]))
    if os.getpid() == fault.driver:
        return
    fault.prepare()
    fault.limit()

    def watched(stage: str, rows: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def seen(*given: Any) -> Iterator[Any]:
            for row, packed in rows(*given):
                if (stage, row.ordinal % POSITIONS + 1) == (fault.stage, fault.count):
                    fault.cause()
                yield row, packed

        return seen

    batchjobs["parsed_pages"] = watched("parse", batchjobs["parsed_pages"])
    batchjobs["rows_of"] = watched("clean", batchjobs["rows_of"])


def main() -> None:
    from webwinnow.cli.app import main as webwinnow
    from webwinnow.cli.terminal import ShownProgress
    from webwinnow.run.workerpool import _Worker

    crawl, out, name, stage, count, *further = sys.argv[1:]
    folder = os.path.dirname(os.path.abspath(out))  # noqa: PTH100, PTH120
    fault = Fault(name, stage, int(count), folder, f"{folder}.fault", os.getpid())
    with suppress(OSError):
        os.unlink(fault.note)  # noqa: PTH108
    is_cluster = "--engine" in further
    if is_cluster:
        os.environ[VARIABLE] = json.dumps(astuple(fault))
    else:
        fault.limit()
    fault.prepare()
    shown = ShownProgress.update
    start = _Worker.start
    seen = 0

    def started(self: _Worker, message: Any) -> None:
        running = self.process
        start(self, message)
        if self.process is not running:
            READY.release()

    def update(self: ShownProgress, at: str, done: int, total: int | None) -> None:
        nonlocal seen
        fault.limit()  # the cluster has started: only this process is limited
        is_watched = at == stage and not (is_cluster and at in ("parse", "clean"))
        seen += is_watched
        if is_watched and seen == fault.count:
            fault.cause()
        shown(self, at, done, total)

    ShownProgress.update = update  # type: ignore[method-assign]
    _Worker.start = started  # type: ignore[method-assign]
    sys.argv = ["webwinnow", "clean", crawl, "-o", out, f"--jobs={WORKERS}", f"--rejected={out}.rejected", *further]
    webwinnow()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))  # not searched where Python is started safely
    import faultyrun  # Ray pickles the clock, which it could not do with an object of __main__

    faultyrun.main()
