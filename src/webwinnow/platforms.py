"""What differs between operating systems. Worker processes, resumable runs and the service need Linux or macOS."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

from webwinnow.errors import SettingsError

try:
    import fcntl
    import resource
except ImportError:  # Windows
    fcntl = resource = None  # type: ignore[assignment]

PARENT_SECONDS: Final = 0.5
"""How often a process looks whether its parent still runs."""

MOST_JOBS: Final = 1024
"""Worker processes of a command at most: more than machines have cores; each takes memory from the start."""


def cpu_count() -> int:
    """The number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def lock_file(file: IO[Any], *, wait: bool) -> bool:
    """Lock an open file for this process; return False if another process has it and `wait` is False."""
    if fcntl is None:
        raise SettingsError("runs over many pages lock their folder, which needs Linux or macOS")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def locked_file(path: Path) -> IO[bytes] | None:
    """Open a file for its lock, made if there is none; None if another process has it, or moved it in the meantime."""
    with suppress(FileNotFoundError), ExitStack() as opened:  # its folder was moved
        file = opened.enter_context(path.open("ab"))
        if lock_file(file, wait=False) and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            opened.pop_all()
            return file
    return None


@contextmanager
def locked_folder(folder: Path) -> Iterator[bool]:
    """Lock a folder for the block; False if another process has it. Systems without locks (Windows) allow."""
    if fcntl is None:
        yield True
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield lock_handle(handle)
    finally:
        os.close(handle)


def lock_handle(handle: int) -> bool:
    """Lock an open file or folder; False if another process has it. Systems without locks (Windows, some NFS) allow."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def die_with_parent(parent: int) -> None:
    """End this process as soon as its parent does, whatever it is doing: Linux kills it, elsewhere a thread looks.

    For children that the parent waits for. On Linux the parent is the thread that started the process.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:  # it had ended before
            os._exit(1)
    else:
        die_with_process(parent)


def die_with_process(parent: int) -> None:
    """End this process within a second of the end of its parent, whichever thread of the parent started it."""
    if hasattr(os, "getppid"):
        threading.Thread(target=_end_without, args=(parent,), daemon=True).start()


def _end_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)


def enlarge_pipe(pipe: IO[bytes], size: int) -> None:
    """Ask for a larger pipe buffer (Linux only); a system that gives less works too."""
    if fcntl is not None and hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, size)
        except OSError:
            return


def limit_memory(size: int) -> None:
    """Limit the address space of this process and write no core dumps. Only Linux enforces the first."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if hasattr(resource, "RLIMIT_AS"):
            _, most = resource.getrlimit(resource.RLIMIT_AS)
            size = size if most == resource.RLIM_INFINITY else min(size, most)
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
