"""What a killed process leaves unfinished is taken over by the next one that writes to the same destination."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from webwinnow.platforms import lock_handle
from webwinnow.storage import atomic
from webwinnow.storage.atomic import atomic_file, atomic_folder, scratch_folder, write_file

KILLED_WRITER = """
import os, sys
from pathlib import Path
from webwinnow.storage.atomic import atomic_file, atomic_folder
path = Path(sys.argv[1])
if sys.argv[2] == "file":
    with atomic_file(path) as file:
        file.write(b"x" * 100_000)
        file.flush()
        os.kill(os.getpid(), 9)
with atomic_folder(path) as folder:
    (folder / "a").write_bytes(b"old")
    (folder / "below").mkdir()
    (folder / "below" / "b").write_bytes(b"old")
    os.kill(os.getpid(), 9)
"""


def killed_writer(path: Path, kind: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED_WRITER, str(path), kind], check=False)
    assert done.returncode == -signal.SIGKILL


def test_a_file_after_a_kill_is_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a"
    killed_writer(path, "file")
    assert [left.name.endswith(".unfinished") for left in tmp_path.iterdir()] == [True]
    write_file(path, b"new")
    assert {left.name: left.read_bytes() for left in tmp_path.iterdir()} == {"a": b"new"}


def test_a_folder_after_a_kill_is_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "out"
    killed_writer(path, "folder")
    assert not path.exists()
    with atomic_folder(path) as folder:
        (folder / "c").write_bytes(b"new")
    assert [left.name for left in tmp_path.iterdir()] == ["out"]
    assert [left.name for left in path.iterdir()] == ["c"]


def test_two_writers_of_one_file_do_not_share_what_is_unfinished(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with atomic_file(path) as first:
        first.write(b"first")
        with atomic_file(path) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert [left.name for left in tmp_path.iterdir()] == ["a"]


def unfinished_name(folder: Path) -> Path:
    with atomic_file(folder / "a"):
        [found] = folder.glob("*.unfinished")
    (folder / "a").unlink()
    return found


@pytest.mark.parametrize("how", ["link", "second name", "folder"])
def test_a_name_that_somebody_else_has_taken_is_not_written_to(tmp_path: Path, how: str) -> None:
    name, victim = unfinished_name(tmp_path), tmp_path / "victim"
    victim.write_bytes(b"precious")
    if how == "link":
        name.symlink_to(victim)
    elif how == "second name":
        os.link(victim, name)
    else:
        name.mkdir()
    write_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_bytes() == b"new"
    assert victim.read_bytes() == b"precious"


SCRATCH = """
import os, shutil, sys
from pathlib import Path
from webwinnow.storage import atomic

def kill(*_, **__):
    os.kill(os.getpid(), 9)

def kill_while_removing(folder, **_):
    (folder / "lock").unlink()
    kill()

when, parent = sys.argv[1], Path(sys.argv[2])
if when == "before its lock":
    atomic.lock_handle = kill
with atomic.scratch_folder(parent) as folder:
    (folder / "a").write_text("x")
    if when == "in use":
        kill()
    shutil.rmtree = kill_while_removing
"""


@pytest.mark.parametrize("when", ["before its lock", "in use", "while removing"])
def test_the_scratch_folder_of_a_killed_process_is_removed_by_the_next_and_no_other(tmp_path: Path, when: str) -> None:
    (tmp_path / ".webwinnow-scratch-own" / "letters").mkdir(parents=True)
    own = set(tmp_path.iterdir())
    done = subprocess.run([sys.executable, "-c", SCRATCH, when, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(set(tmp_path.iterdir()) - own) == 1
    with scratch_folder(tmp_path) as folder, scratch_folder(tmp_path) as other:
        assert [*folder.iterdir(), *other.iterdir()] == []
        assert set(tmp_path.iterdir()) == own | {folder.parent, other.parent}
    assert set(tmp_path.iterdir()) == own


def test_a_scratch_folder_that_another_process_removes_at_once_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed = []

    def late(handle: int) -> bool:
        if not removed:
            removed.extend(tmp_path.iterdir())
            shutil.rmtree(removed[0])
        return lock_handle(handle)

    monkeypatch.setattr(atomic, "lock_handle", late)
    with scratch_folder(tmp_path) as folder:
        assert list(tmp_path.iterdir()) == [folder.parent]
    assert not list(tmp_path.iterdir())


def test_processes_that_make_and_remove_scratch_folders_at_once_leave_none_behind(tmp_path: Path) -> None:
    def make(number: int) -> None:
        with scratch_folder(tmp_path) as folder:
            (folder / str(number)).mkdir()

    with ThreadPoolExecutor(4) as threads:  # each opens its own lock file, as processes do
        list(threads.map(make, range(200)))
    with scratch_folder(tmp_path):
        pass
    assert not list(tmp_path.iterdir())
