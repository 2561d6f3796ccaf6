"""Run a command and wait for every process that it started: `python tests/faults/wholefamily.py SECONDS COMMAND...`.

Processes whose parent has ended become children of this one, so it knows when the last has ended. The exit status is
that of the command, 128 + N if signal N ended it. After SECONDS the processes that are left are named and killed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType

PR_SET_CHILD_SUBREAPER = 36
LEFT_BEHIND = 99


def below(pid: int) -> Iterator[int]:
    """All descendants of a process."""
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield child
                yield from below(child)


def give_up(_number: int, _frame: FrameType | None) -> None:
    for pid in list(below(os.getpid())):
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            sys.stderr.write(f"left behind: {pid} {command}\n")
            os.kill(pid, signal.SIGKILL)
    sys.stderr.flush()
    os._exit(LEFT_BEHIND)


def main() -> None:
    seconds, *command = sys.argv[1:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(int(seconds))
    first = subprocess.Popen(command).pid
    status = 0
    with suppress(ChildProcessError):  # the last has ended
        while True:
            pid, ended = os.wait()
            if pid == first:
                status = os.waitstatus_to_exitcode(ended)
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
