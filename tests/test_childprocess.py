"""Processes that another one needs end with it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from webwinnow.childprocess import child_command

PATIENCE_MS = 240_000
PARENT = """
import subprocess, sys
from webwinnow.childprocess import child_command
child = subprocess.Popen(child_command("never_imported"), stdout=sys.stdout)
child.wait()
"""
MODULE = """
import os, time
print(os.getpid(), flush=True)
while True:
    time.sleep(1000)
"""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
def test_a_process_that_still_imports_dies_with_its_parent(tmp_path: Path) -> None:
    (tmp_path / "never_imported.py").write_text(MODULE)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        assert parent.stdout is not None
        handle = os.pidfd_open(int(parent.stdout.readline()))
        parent.kill()
    ended = select.poll()
    ended.register(handle, select.POLLIN)
    assert ended.poll(PATIENCE_MS)
    os.close(handle)


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_a_process_whose_parent_has_ended_before_does_nothing(tmp_path: Path) -> None:
    (tmp_path / "never_imported.py").write_text("raise AssertionError")
    another = str(os.getppid())
    command = [*child_command("never_imported")[:-1], another]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


def test_the_status_is_that_of_the_module(tmp_path: Path) -> None:
    (tmp_path / "answers.py").write_text("def main(): return 7")
    done = subprocess.run(
        child_command("answers"), env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, check=False
    )
    assert done.returncode == 7
