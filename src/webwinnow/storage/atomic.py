"""Atomic writes: a file or folder appears complete, or what was there before stays.

What is written goes to a temporary name in the same folder and is renamed when it is complete; on any error, a full
disk or Ctrl-C it is removed. Readers and a killed process therefore never see half a file.

fsync policy: by default the file is synced before the rename and its folder after, so a finished output survives a
power failure; this is for what users asked for (outputs, models, reports). `durable=False` leaves out both syncs, for
scratch files of a run, which are written by the thousand and can be made again: these survive the death of the process
but not of the machine. Files inside an atomic folder are not synced one by one.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_file(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends, and is removed on any error."""
    path = path.resolve()
    unfinished = _temporary(path)
    try:
        with unfinished.open("xb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    if durable:
        _sync_folder(path.parent)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Make a folder that replaces `path`, new or empty, when the block ends, and is removed on any error."""
    path = path.resolve()
    unfinished = _temporary(path)
    unfinished.mkdir()
    try:
        yield unfinished
        _sync_folder(unfinished)
        unfinished.replace(path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    _sync_folder(path.parent)


def write_file(path: Path | str, data: bytes, *, durable: bool = True) -> None:
    """Write a whole file atomically."""
    with atomic_file(Path(path), durable=durable) as file:
        file.write(data)


def _temporary(path: Path) -> Path:
    return path.with_name(f".webwinnow-{secrets.token_hex(8)}.unfinished")


def _sync_folder(folder: Path) -> None:
    """Sync the names in a folder; systems that cannot open a folder (Windows) do without."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
