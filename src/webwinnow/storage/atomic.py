"""Atomic writes: a file or folder appears complete, or what was there before stays.

What is written goes to a temporary name in the same folder and is renamed when it is complete; on any error, a full
disk or Ctrl-C it is removed. Readers and a killed process therefore never see half a file. What a killed process leaves
(`.webwinnow-*.unfinished`) is taken over by the next one that writes to the same destination.

fsync policy: by default the file is synced before the rename and its folder after, so a finished output survives a
power failure; this is for what users asked for (outputs, models, reports). `durable=False` leaves out both syncs, for
scratch files of a run, which are written by the thousand and can be made again: these survive the death of the process
but not of the machine. Files inside an atomic folder are not synced one by one.
"""

from __future__ import annotations

import errno
import filecmp
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from webwinnow.platforms import lock_file, lock_handle

LOCKS: Final = os.name != "nt"
"""Whether files and folders can be locked, and renamed while they are open."""
ATTEMPTS: Final = 8
"""Other names that are tried where another process writes to the same destination."""
_SCRATCH: Final = ".webwinnow-scratch-"


@contextmanager
def atomic_file(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends, and is removed on any error."""
    path = path.resolve()
    unfinished, handle = _claimed(path, _open_file)
    with os.fdopen(handle, "wb") as file:
        try:
            file.truncate()
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
            if LOCKS:  # while it is locked
                unfinished.replace(path)
        except BaseException:
            with suppress(PermissionError):  # Windows removes no open file
                unfinished.unlink(missing_ok=True)
            raise
    if not LOCKS:
        unfinished.replace(path)
    if durable:
        _sync_folder(path.parent)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Make a folder that replaces `path`, new or empty, when the block ends, and is removed on any error.

    If `path` already has the same files, as after a kill, it stays.
    """
    path = path.resolve()
    unfinished, handle = _claimed(path, _open_folder)
    try:
        _clear(unfinished)
        yield unfinished
        _sync_folder(unfinished)
        if path.is_dir() and any(path.iterdir()) and _is_same(unfinished, path):
            shutil.rmtree(unfinished)
        else:
            unfinished.replace(path)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    finally:
        os.close(handle)
    _sync_folder(path.parent)


@contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """Make an empty folder in `parent`, or where the system has such, that is removed when the block ends.

    What killed processes left in `parent` is removed first. Only the user can read the folder.
    """
    if parent is None:
        from tempfile import gettempdir  # noqa: PLC0415 (loads libraries; most commands need none)

        parent = Path(gettempdir())
    for left in parent.glob(f"{_SCRATCH}*") if LOCKS else ():
        with suppress(OSError):  # not ours, or removed meanwhile
            _remove_if_left(left)
    folder, lock = _new_scratch(parent)
    try:
        (folder / "files").mkdir()
        yield folder / "files"
    finally:
        if not LOCKS:
            lock.close()
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def _new_scratch(parent: Path) -> tuple[Path, BinaryIO]:
    """A new folder and its lock; another one where `_remove_if_left` had the lock first."""
    from tempfile import mkdtemp  # noqa: PLC0415

    while True:
        folder = Path(mkdtemp(prefix=_SCRATCH, dir=parent))
        with suppress(FileNotFoundError), ExitStack() as opened:
            lock = opened.enter_context((folder / "lock").open("ab"))
            if lock_handle(lock.fileno()) and os.path.samestat(os.fstat(lock.fileno()), (folder / "lock").stat()):
                opened.pop_all()
                return folder, lock


def _remove_if_left(folder: Path) -> None:
    """Remove a scratch folder whose process is gone, wherever it was killed: a live one has the lock."""
    if folder.lstat().st_uid != os.geteuid() or not {path.name for path in folder.iterdir()} <= {"files", "lock"}:
        return
    with (folder / "lock").open("ab") as lock:
        if lock_file(lock, wait=False):
            shutil.rmtree(folder, ignore_errors=True)


def write_file(path: Path | str, data: bytes, *, durable: bool = True) -> None:
    """Write a whole file atomically."""
    with atomic_file(Path(path), durable=durable) as file:
        file.write(data)


# A killed process leaves its unfinished file. The name depends on the destination: the next process that writes there
# takes it over, unless the writer is alive and has it locked.


def _claimed(path: Path, opened: Callable[[Path], int]) -> tuple[Path, int]:
    """An unfinished file or folder for a destination, open and locked."""
    from hashlib import sha256  # noqa: PLC0415 (loads a library; most commands need none)

    known = sha256(os.fsencode(path.name)).hexdigest()[:16]
    for name in (*([known] * 2 * LOCKS), *(os.urandom(8).hex() for _ in range(ATTEMPTS))):
        unfinished = path.with_name(f".webwinnow-{name}.unfinished")
        try:
            handle = opened(unfinished)
        except (FileExistsError, IsADirectoryError, NotADirectoryError):  # made by somebody else
            continue
        except OSError as error:
            if error.errno != errno.ELOOP:  # a link
                raise
            continue
        if _is_ours(unfinished, handle):
            return unfinished, handle
        os.close(handle)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path.parent))


def _is_same(one: Path, other: Path) -> bool:
    """Whether two folders of files have the same names and contents."""
    names = sorted(path.name for path in one.iterdir())
    if names != sorted(path.name for path in other.iterdir()):
        return False
    return all(filecmp.cmp(one / name, other / name, shallow=False) for name in names)


def _clear(folder: Path) -> None:
    for left in folder.iterdir():
        shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()


def _open_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), 0o666)


def _open_folder(path: Path) -> int:
    if not LOCKS:
        path.mkdir()
        return os.open(os.devnull, os.O_RDONLY)
    with suppress(FileExistsError):
        path.mkdir()
    return os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0))


def _is_ours(path: Path, handle: int) -> bool:
    """Lock an open file or folder; False if another process has it, has renamed it, or could change it."""
    if not LOCKS:
        return True
    if not lock_handle(handle):
        return False
    mine = os.fstat(handle)
    try:
        there = path.lstat()
    except OSError:
        return False
    is_private = mine.st_nlink == 1 or stat.S_ISDIR(mine.st_mode)
    is_own = not hasattr(os, "geteuid") or mine.st_uid == os.geteuid()
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino) and is_private and is_own


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
