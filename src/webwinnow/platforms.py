"""What differs between operating systems. Worker processes, resumable runs and the service need Linux or macOS."""

from __future__ import annotations

import os
from typing import IO, Any

from webwinnow.errors import SettingsError

try:
    import fcntl
    import resource
except ImportError:  # Windows
    fcntl = resource = None  # type: ignore[assignment]


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
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
