"""Worker processes of a warm command, forked from one that has done the imports (`warmcommand`).

`WarmWorker` is what `WorkerPool` needs of `subprocess.Popen`. A worker is a process with its own environment, files and
limits, which the kernel kills with its command; it saves the half second that a new interpreter takes to import it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping
from typing import IO, Any

MOST_BYTES = 1 << 18


def prepare() -> None:
    """Fork the process that forks workers, and let the pool of this process, which has one thread, start them so."""
    from webwinnow.run import pageworker, workerpool

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = os.getpid()
    if not os.fork():
        ours.close()
        _fork_workers(theirs, command, pageworker.main)
    theirs.close()
    WarmWorker.wire, WarmWorker.module = ours, pageworker.__name__
    workerpool.subprocess = _Subprocess()  # type: ignore[attr-defined]


class _Subprocess:
    """The module `subprocess`, but for the start of a page worker."""

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)

    def Popen(self, command: list[str], **given: Any) -> Any:  # noqa: N802
        is_worker = command[0] == sys.executable and WarmWorker.module in command
        return (WarmWorker if is_worker else subprocess.Popen)(command, **given)


class WarmWorker:
    """A forked worker process."""

    wire: socket.socket
    module: str
    lock = threading.Lock()

    def __init__(
        self, command: list[str], *, stdin: int, stdout: int, stderr: IO[bytes], env: Mapping[str, str]
    ) -> None:
        assert stdin == stdout == subprocess.PIPE
        self.returncode: int | None = None
        read, to_worker = os.pipe()
        from_worker, write = os.pipe()
        self.pid = self._ask({"environment": dict(env)}, [read, write, stderr.fileno()])
        os.close(read)
        os.close(write)
        self.stdin, self.stdout = os.fdopen(to_worker, "wb"), os.fdopen(from_worker, "rb")
        self.end = os.pidfd_open(self.pid)

    def _ask(self, request: dict[str, Any], files: list[int]) -> int:
        with self.lock:
            socket.send_fds(self.wire, [json.dumps(request).encode()], files)
            return int(self.wire.recv(MOST_BYTES))

    def poll(self) -> int | None:
        return self._after(0)

    def wait(self) -> int:
        status = self._after(None)
        assert status is not None
        return status

    def _after(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self.end], [], [], seconds)[0]:
            self.returncode = self._ask({"ended": self.pid}, [])
            os.close(self.end)
        return self.returncode

    def kill(self) -> None:
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def _fork_workers(wire: socket.socket, command: int, main: Any) -> None:
    """Fork for each request until the command ends; returns never."""
    from webwinnow.platforms import die_with_parent

    die_with_parent(command)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(null, standard)
    while True:
        message, files, _, _ = socket.recv_fds(wire, MOST_BYTES, 3)
        if not message:
            os._exit(0)
        request = json.loads(message)
        if "ended" in request:
            wire.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(request["ended"], 0)[1]))
            continue
        parent = os.getpid()
        if not (pid := os.fork()):
            break
        for file in files:
            os.close(file)
        wire.send(b"%d" % pid)
    wire.close()
    for standard, file in enumerate(files):
        os.dup2(file, standard)
        os.close(file)
    status = 1
    try:
        die_with_parent(parent)
        os.environ.clear()
        os.environ.update(request["environment"])
        tempfile.tempdir = None  # to be chosen by the new environment
        sys.stdin, sys.stdout = os.fdopen(0, "r"), os.fdopen(1, "w")
        sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace")
        status = main() or 0
    except BaseException:
        traceback.print_exc()
    os._exit(status)
