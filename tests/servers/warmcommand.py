"""The command `webwinnow`, run to its end in a process forked from one that has done the imports.

As with `subprocess.run`, each run is a process with its own arguments, environment, folder, standard streams and exit
code. It saves the second that a new interpreter takes to import the command.
Commands in a row are forked from processes with different hash seeds, so output that depends on the order of a set
still differs between two runs.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import IO, Any

from warmworker import prepare

HASH_SEEDS = ("1", "2")
NEEDED_LATER = (
    "typer._adapters",
    "pyarrow.parquet",
    "rdflib",
    "scipy.sparse",
    "sklearn.cluster",
    "sklearn.metrics",
    "sklearn.svm",
)
"""Modules that commands import when they need them."""
READ_AT_START = ("PYTHON", "LC_", "LANG", "OMP_", "OPENBLAS_", "MKL_")
"""Variables that an interpreter or its libraries read when they start: another value needs another interpreter."""
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""As workers have it: they share the libraries that the server has loaded."""
COLD = [sys.executable, "-m", "webwinnow"]
MOST_BYTES = 1 << 20


def run_command(
    *arguments: object,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    timeout: float | None = None,
    check: bool = False,
    **streams: Any,
) -> subprocess.CompletedProcess[Any]:
    """Run `webwinnow ARGUMENTS` to its end, with the options of `subprocess.run`; `env` is the whole environment."""
    given = [str(argument) for argument in arguments]
    environment = dict(os.environ if env is None else env)
    server = next(_servers())
    if _read_at_start(environment) != server.read_at_start:
        return subprocess.run([*COLD, *given], env=environment, cwd=cwd, timeout=timeout, check=check, **streams)
    request = {"arguments": given, "environment": environment, "folder": str(Path(cwd or Path.cwd()).resolve())}
    done = server.run(request, timeout, **streams)
    if check:
        done.check_returncode()
    return done


def command(*arguments: object, code: int | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `webwinnow ARGUMENTS` and return what it wrote, as text; it must end with `code` if that is given."""
    done = run_command(*arguments, **({"capture_output": True, "encoding": "utf-8"} | options))
    assert code in (None, done.returncode), done.stderr
    return done


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(READ_AT_START)}


@cache
def _servers() -> Iterator[CommandServer]:
    return itertools.cycle([CommandServer(seed) for seed in HASH_SEEDS])


class CommandServer:
    """A process that forks one command at a time."""

    def __init__(self, hash_seed: str) -> None:
        self.read_at_start = _read_at_start(os.environ)
        self.wire, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=os.environ | ONE_THREAD | {"PYTHONHASHSEED": hash_seed},
            )
        atexit.register(self.close)

    def close(self) -> None:
        """End the process."""
        self.wire.close()
        self.process.wait()

    def run(self, request: dict[str, Any], timeout: float | None, **streams: Any) -> subprocess.CompletedProcess[Any]:
        """Run one command to its end."""
        with _Streams(**streams) as ours:
            socket.send_fds(self.wire, [json.dumps(request).encode()], ours.given)
            ours.start()
            pid = int(self.wire.recv(MOST_BYTES))
            self.wire.settimeout(timeout)
            try:
                status = int(self.wire.recv(MOST_BYTES))
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self.wire.settimeout(None)
                self.wire.recv(MOST_BYTES)
                raise subprocess.TimeoutExpired(request["arguments"], timeout or 0) from None
            finally:
                self.wire.settimeout(None)
        return subprocess.CompletedProcess(request["arguments"], status, *ours.output())


class _Streams:
    """Standard input, output and error of a command, with the arguments of `subprocess.run`."""

    def __init__(
        self,
        *,
        input: bytes | str | None = None,
        stdin: int | IO[Any] | None = None,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
        capture_output: bool = False,
        text: bool = False,
        encoding: str | None = None,
    ) -> None:
        if capture_output:
            stdout = stderr = subprocess.PIPE
        self.text, self.encoding = text or encoding is not None, encoding or ("locale" if text else None)
        self.input = input.encode(encoding or "utf-8") if isinstance(input, str) else input
        self.given: list[int] = []
        self.to_close: list[int] = []
        self.threads: list[threading.Thread] = []
        self.received: dict[int, bytes] = {}
        self.ends: dict[int, int] = {}
        for number, stream in enumerate((subprocess.PIPE if input is not None else stdin, stdout, stderr)):
            self.given.append(self._end_of(number, stream))

    def _end_of(self, number: int, stream: int | IO[Any] | None) -> int:
        if stream is None:
            return number
        if stream == subprocess.STDOUT:
            return self.given[1]
        if stream == subprocess.DEVNULL:
            self.to_close.append(null := os.open(os.devnull, os.O_RDWR))
            return null
        if stream != subprocess.PIPE:
            return stream if isinstance(stream, int) else stream.fileno()
        read, write = os.pipe()
        self.ends[number], theirs = (write, read) if number == 0 else (read, write)
        self.to_close.append(theirs)
        return theirs

    def __enter__(self) -> _Streams:
        return self

    def start(self) -> None:
        """Close the ends that the command has now, and transfer what goes through the others."""
        while self.to_close:
            os.close(self.to_close.pop())
        self.threads = [
            threading.Thread(target=self._write if number == 0 else self._read, args=(number, end), daemon=True)
            for number, end in self.ends.items()
        ]
        for thread in self.threads:
            thread.start()

    def _write(self, _: int, end: int) -> None:
        with contextlib.suppress(BrokenPipeError), open(end, "wb") as pipe:
            pipe.write(self.input or b"")

    def _read(self, number: int, end: int) -> None:
        with open(end, "rb") as pipe:
            self.received[number] = pipe.read()

    def __exit__(self, *_: object) -> None:
        while self.to_close:
            os.close(self.to_close.pop())
        for thread in self.threads:
            thread.join()

    def output(self) -> list[bytes | str | None]:
        """What the command wrote to standard output and standard error, `None` where that is not ours to read."""
        found: list[bytes | str | None] = []
        for number in (1, 2):
            data = self.received.get(number)
            if data is None or not self.text:
                found.append(data)
            else:
                words = data.decode("utf-8" if self.encoding == "locale" else str(self.encoding))
                found.append(words.replace("\r\n", "\n").replace("\r", "\n"))
        return found


def wait_for_a_command(wire: socket.socket) -> dict[str, Any]:
    """Fork for each request; returns in the process that does it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, files, _, _ = socket.recv_fds(wire, MOST_BYTES, 3)
        if not message:
            os._exit(0)
        if not (pid := os.fork()):
            break
        for file in files:
            os.close(file)
        wire.send(b"%d" % pid)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with contextlib.suppress(BrokenPipeError):
            wire.send(b"%d" % status)
    wire.close()
    for standard, file in enumerate(files):
        os.dup2(file, standard)
        os.close(file)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    request: dict[str, Any] = json.loads(message)
    if "--worker-memory" not in request["arguments"]:  # which limits an address space: ours has every library
        prepare()
    return request


def open_streams() -> None:
    """Open the standard streams again: those of the process before the fork know other files."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        before, line_buffered = getattr(sys, name), 1 if number == 2 else -1
        mode = "w" if number else "r"
        stream = open(number, mode, line_buffered, before.encoding, before.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def end_with(main: Callable[[], None]) -> None:
    """Run `main` and end as the interpreter does, without taking the modules apart that were there before the fork."""
    status = 0
    try:
        main()
    except SystemExit as ended:
        status = 0 if ended.code is None else ended.code if isinstance(ended.code, int) else 1
        if isinstance(ended.code, str):
            sys.stderr.write(f"{ended.code}\n")
    except BaseException:
        status = 1
        traceback.print_exc()
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    import webwinnow.cli

    commands = [f"webwinnow.cli.{module.name}" for module in iter_modules(webwinnow.cli.__path__)]
    for name in (*commands, *NEEDED_LATER):
        with contextlib.suppress(ImportError):
            import_module(name)
    gc.freeze()
    asked = wait_for_a_command(socket.socket(fileno=int(sys.argv[1])))
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    tempfile.tempdir = None  # to be chosen by the new environment
    open_streams()
    sys.argv[1:] = asked["arguments"]
    end_with(webwinnow.cli.main)
