"""A worker process: reads tasks from standard input and writes answers to standard output.

python -m webwinnow.collection.workerprocess
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import IO, Any

from webwinnow.collection.pageworker import PageWorker
from webwinnow.collection.settings import CollectionSettings
from webwinnow.collection.workerjobs import DONE, FAILED, HEARTBEAT, READY, Job, Shared, decode_task
from webwinnow.platforms import limit_memory
from webwinnow.storage import read_frame, write_frame

GARBAGE_THRESHOLD = 50_000


def main() -> None:
    """Serve until standard input ends."""
    inbox: IO[bytes] = os.fdopen(os.dup(0), "rb", buffering=1 << 20)
    outbox: IO[bytes] = os.fdopen(os.dup(1), "wb", buffering=1 << 16)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)  # anything printed by mistake goes to the log, not into a frame
    settings, memory = read_frame(inbox)
    limit_memory(memory)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process, which ends its workers itself
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)  # pages make many objects and hardly any cycles
    worker = PageWorker(CollectionSettings.from_plain(settings), lambda: write_frame(outbox, (HEARTBEAT, None)))
    write_frame(outbox, (READY, None))
    while True:
        try:
            jobs, shared = decode_task(read_frame(inbox))
        except EOFError:
            return
        for job in jobs:
            write_frame(outbox, _outcome(worker, job, shared))


def _outcome(worker: PageWorker, job: Job, shared: Shared) -> tuple[int, Any]:
    """The boundary around one record: any error inside is the failure of this record only."""
    try:
        return DONE, tuple(worker.do(job, shared))
    except MemoryError:
        return FAILED, "the page needs more memory than a worker may use"
    except Exception as error:
        return FAILED, f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    main()
