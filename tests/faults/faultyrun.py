"""Run `clean` with a fault at a record: `python tests/faults/faultyrun.py CRAWL OUT FAULT STAGE COUNT [--resume]`.

The fault happens when the run has reported this many records of a stage: the speed of the machine does not matter.

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
import os
import resource
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

from webwinnow.cli import main as webwinnow
from webwinnow.cli.terminal import ShownProgress
from webwinnow.collection.workerpool import _Worker

WORKERS = 2
OUT = os.path.dirname(os.path.abspath(sys.argv[2]))  # noqa: PTH100, PTH120
READY = threading.Semaphore(0)  # released by each worker that has started


def workers() -> list[int]:
    """The worker processes of this process."""
    threads = Path("/proc/self/task").iterdir()
    children = [child for thread in threads for child in map(int, (thread / "children").read_text().split())]
    name = b"webwinnow.collection.pageworker"
    return sorted(child for child in children if name in Path(f"/proc/{child}/cmdline").read_bytes())


def _refused(event: str, given: tuple[Any, ...], code: int = errno.EROFS) -> None:
    """Refuse as a file system that is mounted read-only, over quota or broken does, also to root."""
    changes = event in ("os.rename", "os.mkdir", "os.remove", "os.truncate")
    if event == "open" and isinstance(given[2], int):
        changes = bool(given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    if changes and isinstance(given[0], str | bytes | os.PathLike) and OUT in os.path.abspath(os.fsdecode(given[0])):  # noqa: PTH100
        raise OSError(code, os.strerror(code), os.fsdecode(given[0]))


def cause(fault: str) -> None:
    now = time.time
    match fault:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "term":
            os.kill(os.getpid(), signal.SIGTERM)
        case "worker":
            for worker in workers()[:1]:
                os.kill(worker, signal.SIGKILL)
        case "read-only":
            sys.addaudithook(_refused)
        case _ if fault.startswith("error:"):
            sys.addaudithook(partial(_refused, code=getattr(errno, fault.partition(":")[2])))
        case _ if fault.startswith("clock:"):
            time.time = lambda: now() + int(fault.partition(":")[2])
        case "stop":
            for _ in range(WORKERS):  # one that still imports has not yet asked to die with its run
                READY.acquire()
            for worker in workers():
                os.kill(worker, signal.SIGSTOP)
            sys.stdout.write(" ".join(map(str, workers())) + "\n")
            sys.stdout.flush()
            signal.pause()


def main() -> None:
    crawl, out, fault, stage, count, *further = sys.argv[1:]
    if fault.startswith("room:"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit is an error, as on a full disk
        most = int(fault.partition(":")[2])
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
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
        seen += at == stage
        if at == stage and seen == int(count):
            cause(fault)
        shown(self, at, done, total)

    ShownProgress.update = update  # type: ignore[method-assign]
    _Worker.start = started  # type: ignore[method-assign]
    sys.argv = ["webwinnow", "clean", crawl, "-o", out, f"--jobs={WORKERS}", f"--rejected={out}.rejected", *further]
    webwinnow()


if __name__ == "__main__":
    main()
