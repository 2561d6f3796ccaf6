"""A worker process: takes tasks on standard input, answers on standard output, and touches nothing else.

python -m webwinnow.collection.workerprocess
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from typing import IO, Any

from webwinnow.collection.pageworker import PageWorker
from webwinnow.collection.workermessages import BEAT, FAILED, READY, RESULT
from webwinnow.storage import read_frame, write_frame

__all__ = ["main"]

GARBAGE_THRESHOLD = 50_000


def main() -> None:
    """Serve until standard input ends."""
    inbox: IO[bytes] = os.fdopen(os.dup(0), "rb", buffering=1 << 20)
    outbox: IO[bytes] = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)  # whatever prints by mistake goes to the log, not into a frame
    settings, memory = read_frame(inbox)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run, which ends its workers itself
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)  # pages make many objects and hardly any cycles
    workshop = PageWorker(settings, beat=lambda: write_frame(outbox, (BEAT, None)))
    write_frame(outbox, (READY, None))
    while True:
        try:
            kind, shared, items = read_frame(inbox)
        except EOFError:
            return
        for item in items:
            write_frame(outbox, _outcome(workshop, kind, shared, item))


def _outcome(workshop: PageWorker, kind: str, shared: Any, item: Any) -> tuple[str, Any]:
    """The boundary around one record: whatever goes wrong inside is that record's failure and nobody else's."""
    try:
        return RESULT, workshop.do(kind, shared, item)
    except MemoryError:
        return FAILED, "the page needs more memory than a worker may use"
    except Exception as error:
        return FAILED, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    main()
